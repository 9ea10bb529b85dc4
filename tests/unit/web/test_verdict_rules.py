"""By which rule a verdict was reached, and what it means for those who read."""

import json
from typing import Any

import pytest

from tests.unit.web.conftest import Client
from tests.unit.web.test_console_api import JSON, field, record, register, verdict


@pytest.mark.parametrize("level, against, accepted", [
    ("BACKWARD", "latest", False), ("FORWARD", "latest", True), ("FULL_TRANSITIVE", "all", False),
    ("NONE", "latest", True),
])  # fmt: skip
def test_the_rule_that_was_applied_is_told_and_who_reads_whom_whatever_it_asks(
    client: Client, level: str, against: str, accepted: bool
) -> None:
    """Accepted does not mean that everybody can read it: at FORWARD new readers may fail, at BACKWARD old ones."""
    register(client, "s", record(field("a")))
    client("PUT", "/config/s", {"compatibility": level}, JSON)
    told = verdict(client, "s", record(field("a"), field("b")))
    assert told["accepted"] is accepted
    applied = told["applied"]
    assert (applied["level"], applied["against"], applied["version"]) == (level, against, 1)
    assert applied["forward"] == {"compatible": True, "findings": []}
    assert [each["rule"] for each in applied["backward"]["findings"]] == ["READER_FIELD_MISSING_DEFAULT_VALUE"]


def test_a_verdict_says_the_same_of_readers_as_the_difference_of_the_versions(client: Client) -> None:
    register(client, "s", record(field("a"), field("b")))
    client("PUT", "/config/s", {"compatibility": "NONE"}, JSON)
    for schema, more in (
        (record(field("b"), field("c", "long")), {}),
        ('{"type": "string"}', {"schemaType": "JSON"}),
        ('"string"', {}),
    ):
        applied = verdict(client, "s", schema, **more)["applied"]
        made = register(client, "s", schema, **more)["version"]
        difference = client("GET", f"/subjects/s/diff/{made - 1}/{made}").json
        for name in ("backward", "forward"):
            assert without_places(applied[name]) == without_places(difference[name])


def without_places(reading: Any) -> Any:
    """Lines of a draft are those of its text as it was sent, and those of a version of its text as it is stored."""
    findings = [{**each, "line": None, "column": None} for each in reading["findings"]]
    return {**reading, "findings": findings}


def test_what_hinders_readers_is_found_in_the_text_that_was_sent_and_in_that_which_is_stored(client: Client) -> None:
    """New readers have the schema that is written, old ones the version before it."""
    register(client, "s", record(field("a"), field("zip")))
    client("PUT", "/config/s", {"compatibility": "NONE"}, JSON)
    draft = record(field("a"), field("b")).replace("{", "\n\n{", 1)
    applied = verdict(client, "s", draft)["applied"]
    stored = client("GET", "/subjects/s/versions/1").json["schema"]
    for reading, text, name in (("backward", draft, "b"), ("forward", stored, "zip")):
        (finding,) = applied[reading]["findings"]
        (place,) = (at for at in range(len(text)) if text[at:].startswith("{") and named(text[at:]) == name)
        before = text[:place]
        assert (finding["line"], finding["column"]) == (before.count("\n") + 1, place - (before.rfind("\n") + 1) + 1)


def named(text: str) -> Any:
    """The name of the field with which a text begins."""
    found, _ = json.JSONDecoder().raw_decode(text)
    return found["name"]


def test_what_old_readers_lack_is_looked_for_by_its_name(client: Client) -> None:
    """Another field has its place by now, and is not blamed."""
    register(client, "s", record(field("a"), field("zip"), field("total", "int")))
    client("PUT", "/config/s", {"compatibility": "FORWARD"}, JSON)
    draft = record(field("note", default=""), field("total", "long"), field("a"))
    told = verdict(client, "s", draft)
    lines = draft.split("\n")
    missing, other = sorted(told["problems"], key=lambda each: each["rule"])
    assert (missing["path"], other["path"]) == ("/fields/1", "/fields/2/type")
    assert lines[missing["line"] - 1].strip() == '"fields": ['
    assert lines[other["line"] - 1].strip() == '"type": "long"'


def test_where_nothing_is_compared_no_rule_is_told_to_be_applied(client: Client) -> None:
    first = verdict(client, "s", record(field("a")))["applied"]
    assert first == {"level": "BACKWARD", "against": "latest"}
    client("PUT", "/mode/s", {"mode": "IMPORT"}, JSON)
    assert "applied" not in verdict(client, "s", record(field("a")))
    client("DELETE", "/mode/s")
    register(client, "s", record(field("a")))
    assert "applied" not in verdict(client, "s", record(field("a")))
    assert "applied" not in verdict(client, "s", "no schema")


def test_versions_of_one_group_are_told_to_be_compared(client: Client) -> None:
    register(client, "s", record(field("a")), metadata={"properties": {"major": "1"}})
    client("PUT", "/config/s", {"compatibility": "BACKWARD", "compatibilityGroup": "major"}, JSON)
    told = verdict(client, "s", record(field("b", "long")), metadata={"properties": {"major": "2"}})
    assert (told["accepted"], told["applied"]["group"]) == (True, "major")
    assert told["applied"]["backward"]["compatible"] is False
