"""By which rule a verdict was reached, and what it means for those who read."""

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
        assert {name: applied[name] for name in ("backward", "forward")} == {
            name: difference[name] for name in ("backward", "forward")
        }


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
