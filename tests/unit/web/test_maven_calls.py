"""The calls that the goals of Confluent's Maven plugin make, as its source has them: docs/ci.md lists them.

The plugin itself is not on Maven Central, so it is not run here.
"""

import json
import re
from typing import Any

import pytest

from tests.house import ROOT, text_of
from tests.unit.web.conftest import Client

JSON = {"content-type": "application/vnd.schemaregistry.v1+json"}
ADDRESS = {"type": "record", "name": "Address", "fields": []}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "to", "type": "Address"}]}
REFERENCE = {"name": "Address", "subject": "address", "version": 1}


def draft(schema: Any, **more: Any) -> dict[str, Any]:
    return {"schema": json.dumps(schema), "schemaType": "AVRO", "references": [], **more}


WRONG = draft({**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "int"}]}, references=[REFERENCE])
CALLS = (
    ("register", "POST", "/subjects/address/versions?normalize=false", draft(ADDRESS), {"id": 1}),
    ("register", "POST", "/subjects/order/versions?normalize=false", draft(ORDER, references=[REFERENCE]), {"id": 2}),
    ("register", "GET", "/subjects/address/versions/latest", None, {"version": 1}),
    ("test-compatibility", "GET", "/subjects/address/versions/1", None, {"id": 1}),
    ("test-compatibility", "POST", "/compatibility/subjects/order/versions/?normalize=false&verbose=true", WRONG,
     {"is_compatible": False}),
    ("test-compatibility", "POST", "/compatibility/subjects/new/versions/?normalize=false&verbose=true",
     draft(ADDRESS), {"is_compatible": True, "messages": []}),
    ("set-compatibility", "GET", "/subjects", None, ["address", "order"]),
    ("set-compatibility", "PUT", "/config/order", {"compatibility": "FULL"}, {"compatibility": "FULL"}),
    ("set-compatibility", "PUT", "/config", {"compatibility": "FORWARD"}, {"compatibility": "FORWARD"}),
    ("set-compatibility", "DELETE", "/config/order", None, {"compatibilityLevel": "FULL"}),
    ("download", "GET", "/subjects", None, ["address", "order"]),
    ("download", "GET", "/subjects/order/versions/latest", None, {"version": 1, "references": [REFERENCE]}),
    ("download", "GET", "/subjects/order/versions/1", None, {"id": 2}),
)  # fmt: skip


def test_each_call_of_a_goal_is_answered_as_the_goal_needs_it(client: Client) -> None:
    """One behind the other, as a build that registers, checks, sets levels and downloads."""
    for goal, method, target, body, expected in CALLS:
        answer = client(method, target, body, JSON)
        assert answer.status == 200, (goal, target, answer.text)
        told = answer.json
        assert {**told, **expected} == told if isinstance(expected, dict) else told == expected, (goal, target)


@pytest.mark.parametrize("goal", dict.fromkeys(goal for goal, *_ in CALLS))
def test_the_page_lists_the_calls_of_each_goal(goal: str) -> None:
    """Whoever has to open a proxy, or to make a key, reads it there."""
    (row,) = re.findall(rf"^\| `{goal}` \|.*$", text_of(ROOT / "docs" / "ci.md"), re.MULTILINE)
    for _, method, target, *_ in (each for each in CALLS if each[0] == goal):
        path = re.sub(r"/(address|order|new)\b", "/{subject}", target.partition("?")[0]).rstrip("/")
        path = re.sub(r"versions/(1|latest)$", "versions/{version}", path)
        assert f"`{method} {path}`" in row
