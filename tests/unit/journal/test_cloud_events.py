"""A commit as an event, where a row says little or much."""

import json
from typing import Any

import pytest

from sigla.journal.cloud_events import bare, cloud_event
from sigla.ports.log import MOST_MATTERS

Line = dict[str, Any]


def line(part: int = 0, *, key: Line, value: Line | None, **more: Any) -> Line:
    """A line of a segment. more: what it says beside its record."""
    told = None if value is None else json.dumps(value)
    place = {"at": 1_700_000_000_123, "nonce": "abc", "part": part, "revision": 3}
    return {"form": 1, "timestamp": 1, "key": json.dumps(key), "value": told, **place, **more}


def schema(part: int, version: int, *, metadata: Line | None = None, **more: Any) -> Line:
    key = {"keytype": "SCHEMA", "subject": "s", "version": version, "magic": 1}
    value = {"subject": "s", "version": version, "id": version, "schema": '"long"', "deleted": False}
    return line(part, key=key, value=value | ({"metadata": metadata} if metadata else {}), **more)


def gone(part: int, version: int, **more: Any) -> Line:
    key = {"keytype": "SCHEMA", "subject": "s", "version": version, "magic": 1}
    return line(part, key=key, value=None, **more)


def test_a_row_of_an_earlier_release_is_told_as_far_as_it_goes() -> None:
    """Release 0.2.0 wrote neither a kind nor an author; its segments can be told again like any other."""
    event = cloud_event([schema(0, 1)], registry="r")
    assert (event["type"], event["source"], event["id"]) == ("sigla.commit", "/sigla/r", "1700000000123-abc")
    assert event["time"] == "2023-11-14T22:13:20.123Z"
    assert event["data"].keys() == {
        *("registry", "revision", "subject", "version", "id", "guid", "schemaType", "commit", "about")
    }
    assert event["data"]["schemaType"] == "AVRO"


def test_a_kind_that_a_newer_release_wrote_is_told_as_a_commit() -> None:
    """After a rollback the segments of the newer release are there."""
    event = cloud_event([schema(0, 1, change="SchemaTagged")], registry="r")
    assert (event["type"], event["data"]["change"]) == ("sigla.commit", "SchemaTagged")


def test_what_stands_goes_before_what_left() -> None:
    """A registration may take the place of versions that were deleted softly: rules ask for the new one."""
    event = cloud_event([gone(0, 1), gone(1, 2), schema(2, 3)], registry="r")
    assert event["data"]["version"] == 3
    assert [each["version"] for each in event["data"]["about"]] == [1, 2, 3]


def test_a_purge_of_thousands_is_a_short_event() -> None:
    """EventBridge bills each 64 KB, and takes no event without an end."""
    event = cloud_event([gone(part, 5_000 - part) for part in range(5_000)], registry="r")
    assert len(event["data"]["about"]) == MOST_MATTERS
    assert event["data"]["more"] == 5_000 - MOST_MATTERS
    assert len(json.dumps(event)) < 3_000


def test_a_schema_whose_metadata_came_encrypted_has_no_guid() -> None:
    """Its hash is that of what they were before: what could be computed here would be another one."""
    event = cloud_event([schema(0, 1, metadata={"properties": {"__enc__": "true"}})], registry="r")
    assert "guid" not in event["data"]
    assert event["data"]["id"] == 1


@pytest.mark.parametrize("key", [{"keytype": "CONFIG", "magic": 0}, {"keytype": "KEK", "name": "k"}])
def test_what_is_about_no_subject_has_none(key: Line) -> None:
    """A CloudEvent has a subject that is a text, or none."""
    event = cloud_event([line(key=key, value={}, revision=None)], registry="a/b")
    assert "subject" not in event
    assert "revision" not in event["data"]
    assert event["data"].get("name") == key.get("name")
    assert event["source"] == "/sigla/a%2Fb"


def test_a_bare_event_has_nothing_that_a_client_named() -> None:
    origin: Line = {"change": "Registered", "by": "p1", "via": {"way": "api", "request": "chosen"}, "is": "4b77"}
    event = cloud_event([schema(0, 1, **origin)], registry="r")
    stripped = bare(event)
    assert stripped["data"] == {"registry": "r", "revision": 3, "change": "Registered", "commit": "abc", "by": "p1"}
    assert {name: stripped[name] for name in ("id", "type", "source", "time")} == {
        name: event[name] for name in ("id", "type", "source", "time")
    }
    assert bare(stripped) == stripped
