"""What is between two versions, over HTTP."""

import json
from typing import Any

import pytest

from sigla.web.api.routes import ROUTES
from tests.unit.web.conftest import Client

OLD = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "int"}]}
NEW = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "long", "doc": "In cents"}]}


@pytest.fixture
def orders(client: Client) -> Client:
    """Version 1, and version 2 that old readers do not understand."""
    for schema in (OLD, NEW):
        register(client, schema)
    return client


def register(client: Client, schema: Any, **more: Any) -> None:
    assert client("POST", "/subjects/orders/versions", {"schema": json.dumps(schema), **more}).status == 200


def test_a_difference_has_its_changes_and_who_reads_whom(orders: Client) -> None:
    """All that it takes to approve of a new version."""
    told = orders("GET", "/subjects/orders/diff/1/latest").json
    assert (told["subject"], told["old"]["version"], told["new"]["version"]) == ("orders", 1, 2)
    assert told["sameness"] == "DIFFERENT"
    assert told["changes"] == [
        {
            "path": "Order/fields/total/type",
            "kind": "changed",
            "what": "type",
            "was": "int",
            "is": "long",
            "documentation": False,
            "breaks": {"backward": [], "forward": ["TYPE_MISMATCH"]},
        },
        {
            "path": "Order/fields/total/doc",
            "kind": "added",
            "what": "doc",
            "is": "In cents",
            "documentation": True,
            "breaks": {"backward": [], "forward": []},
        },
    ]
    assert told["backward"] == {"compatible": True, "findings": []}
    (finding,) = told["forward"]["findings"]
    assert (finding["rule"], finding["path"], told["full"]) == ("TYPE_MISMATCH", "/fields/0/type", False)
    stored = orders("GET", "/subjects/orders/versions/1").json["schema"]
    assert (finding["line"], stored[finding["column"] - 1 :]) == (1, '"type":"int"}]}'), "in the text of the reader"


def test_a_difference_goes_either_way(orders: Client) -> None:
    """From new to old, what was added is removed, and readers have changed places."""
    there, back = (orders("GET", f"/subjects/orders/diff/{pair}").json for pair in ("1/2", "2/1"))
    assert there["forward"]["compatible"] is back["backward"]["compatible"] is False
    assert [change["kind"] for change in back["changes"]] == ["removed", "changed"]


def test_a_version_and_itself_are_identical(orders: Client) -> None:
    """And other metadata is told, though the schema is the same."""
    assert orders("GET", "/subjects/orders/diff/2/2").json["sameness"] == "IDENTICAL"
    register(orders, NEW, metadata={"properties": {"owner": "ada"}})
    told = orders("GET", "/subjects/orders/diff/2/3").json
    assert told["sameness"] == "IDENTICAL"
    assert [change["path"] for change in told["changes"]] == ["(metadata)/properties"]


@pytest.mark.parametrize(
    "target, refusal",
    [
        ("/subjects/none/diff/1/2", (404, 40401)),
        ("/subjects/orders/diff/9/1", (404, 40402)),
        ("/subjects/orders/diff/1/9", (404, 40402)),
        ("/subjects/orders/diff/1/0", (422, 42202)),
        ("/subjects/orders/diff/x/1", (422, 42202)),
    ],
)
def test_what_is_not_there_is_told_in_the_words_of_other_reads(
    orders: Client, target: str, refusal: tuple[int, int]
) -> None:
    """Clients know these refusals."""
    assert orders("GET", target).refusal[:2] == refusal


def test_a_deleted_version_is_compared_on_demand(orders: Client) -> None:
    """As one is read: with `deleted`."""
    assert orders("DELETE", "/subjects/orders/versions/1").status == 200
    assert orders("GET", "/subjects/orders/diff/1/2").refusal[:2] == (404, 40402)
    assert orders("GET", "/subjects/orders/diff/1/2?deleted=true").json["old"]["deleted"] is True


def test_the_policy_of_the_subject_counts(client: Client) -> None:
    """Or a diff and a registration would not agree."""
    models: list[dict[str, Any]] = [{"id": {}}, {"id": {}, "at": {"type": "string"}}]
    for properties in models:
        client("PUT", "/config/s", {"compatibility": "NONE"})
        schema = json.dumps({"type": "object", "properties": properties})
        assert client("POST", "/subjects/s/versions", {"schema": schema, "schemaType": "JSON"}).status == 200
    assert client("GET", "/subjects/s/diff/1/2").json["backward"]["compatible"] is False
    client("PUT", "/config/s", {"compatibilityPolicy": "LENIENT"})
    assert client("GET", "/subjects/s/diff/1/2").json["backward"]["compatible"] is True


def test_what_is_too_much_is_refused(client: Client) -> None:
    """In a sentence: it ends before a request runs out of its time."""
    client("PUT", "/config/s", {"compatibility": "NONE"})
    for letter in "AB":
        symbols = [f"{letter}{number}" for number in range(6_000)]
        schema = json.dumps({"type": "enum", "name": "E", "symbols": symbols})
        assert client("POST", "/subjects/s/versions", {"schema": schema}).status == 200
    refusal = client("GET", "/subjects/s/diff/1/2").refusal
    assert refusal == (422, 42201, "There are more than 10000 changes between the schemas")


def test_a_difference_is_not_computed_on_the_event_loop() -> None:
    """Its route says that a language reads schemas, whatever is asked."""
    (route,) = (route for route in ROUTES if route.path.endswith("/diff/{old}/{new}"))
    assert route.parses
