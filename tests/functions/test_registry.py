"""Events in, answers out: as the doors of AWS send them, through the function as it is deployed."""

import copy
import importlib
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

EVENTS = Path(__file__).parent / "events"
DOORS = ("rest", "function_url")
SUBJECTS = ("a/b", "a:b", "a%b", "a%2Fb", "a b", "λ名前", "a+b", "a?b", "a#b", "a;b", "a//b", ":.ctx:a b", "..", "a\\b")


def event(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return loaded


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The function, imported afresh: a registry of its own."""
    monkeypatch.setenv("SIGLA_AUTH", "none")  # what is tested here is the doors
    for name in ("SIGLA_DATA", "SIGLA_LOG_REQUESTS"):
        monkeypatch.delenv(name, raising=False)
    sys.modules.pop("functions.registry.handler", None)
    return importlib.import_module("functions.registry.handler").handler


def sent(door: str, method: str, path: str, body: object = None) -> dict[str, Any]:
    """A recorded event of a door with another request in it."""
    template = copy.deepcopy(event(f"{door}_get_subjects"))
    text = None if body is None else json.dumps(body)
    if door == "rest":
        template |= {"path": path, "httpMethod": method, "pathParameters": {"proxy": path[1:]}, "body": text}
        template["requestContext"] |= {"path": f"/prod{path}", "httpMethod": method}
        return template
    template |= {"rawPath": path, "body": text}
    template["requestContext"]["http"] |= {"method": method}
    return template


@pytest.mark.parametrize("door", DOORS)
def test_a_recorded_conversation_is_answered(handler: Any, door: str) -> None:
    """Register, then read by id: the events are whole, as AWS sends them."""
    registered = handler(event(f"{door}_post_version"), None)
    assert registered["statusCode"] == 200, registered
    assert json.loads(registered["body"])["id"] == 1
    read = handler(event(f"{door}_get_by_id"), None)
    assert json.loads(read["body"])["subject"] == "orders/2024 value%"
    listed = handler(event(f"{door}_get_subjects"), None)
    assert json.loads(listed["body"]) == ["orders/2024 value%"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_subject_is_registered_under_its_own_name(handler: Any, door: str, subject: str) -> None:
    """What is percent-encoded in the path belongs to the name, through every door."""
    path = f"/subjects/{quote(subject, safe='')}/versions"
    answer = handler(sent(door, "POST", path, {"schema": '"int"'}), None)
    assert answer["statusCode"] == 200, answer
    read = handler(sent(door, "GET", f"{path}/1"), None)
    assert json.loads(read["body"])["subject"] == subject
    assert json.loads(handler(sent(door, "GET", path), None)["body"]) == [1]


@pytest.mark.parametrize("door", DOORS)
def test_a_refusal_passes_the_door_whole(handler: Any, door: str) -> None:
    """Status, number and sentence."""
    answer = handler(sent(door, "GET", "/subjects/nobody/versions"), None)
    assert answer["statusCode"] == 404
    assert json.loads(answer["body"]) == {"error_code": 40401, "message": "Subject 'nobody' not found."}
