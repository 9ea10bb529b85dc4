"""Associations over HTTP: whatever a client sends is answered, and never with 5xx."""

from typing import Any

import pytest

from tests.unit.web.conftest import Client

SCHEMA = {"schema": '{"type":"record","name":"A","fields":[]}'}
TOPIC = {"resourceName": "t", "resourceNamespace": "lkc", "resourceId": "id-t"}
MEMBERS = ("subject", "associationType", "lifecycle", "frozen", "schema", "normalize", "opType", "cascadeLifecycle")
JUNK: tuple[Any, ...] = (None, 5, "x", [], {}, [None], [5], [[]], [{}], {"a": 1})


def hostile() -> list[Any]:
    """Bodies that no client of Confluent's sends."""
    weak, strong = ({"opType": "CREATE", **one} for one in ({"subject": "s"}, {"schema": SCHEMA}))
    inner = [{**one, name: junk} for one in (weak, strong) for name in MEMBERS for junk in JUNK]
    outer: list[dict[str, Any]] = [
        {"associations": [weak], name: junk} for name in TOPIC for junk in (*JUNK, "x" * 300_000, "a\nb")
    ]
    bodies: list[dict[str, Any]] = [{"associations": [one]} for one in inner]
    bodies += outer
    bodies += [{"associations": junk} for junk in JUNK]
    return [*({**TOPIC, **body} for body in bodies), *JUNK]


@pytest.mark.parametrize(
    "method, target",
    [
        ("POST", "/associations"),
        ("PUT", "/associations/resources/id-t"),
        ("POST", "/associations:batchMutate"),
        ("POST", "/associations:batchGet"),
    ],
)
def test_junk_from_a_client_never_fails_the_registry(client: Client, method: str, target: str) -> None:
    """Junk of every type in the place of every member, alone and in a batch."""
    client("POST", "/subjects/s/versions", SCHEMA)
    for body in hostile():
        sent = {"requests": [body]} if "batch" in target else body
        answer = client(method, f"{target}?dryRun=true", sent)
        assert answer.status < 500, (sent, answer.text)
        assert '"error_code":500' not in answer.text, (sent, answer.text)


@pytest.mark.parametrize(
    "target",
    [
        "/associations/resources/id?offset=-1",
        "/associations/resources/-/-?limit=-1",
        "/associations/resources/lkc/t?lifecycle=x",
        "/associations/subjects/:.:t?resourceType=",
        f"/associations/resources/{'x' * 5000}",
        f"/associations/subjects/{'x' * 5000}",
        "/schemas?lifecycle=",
        "/schemas?lifecycle=NONE&lifecycle=STRONG&resourceType=",
    ],
)
def test_a_question_about_associations_never_fails_the_registry(client: Client, target: str) -> None:
    """The reference answers some of them with 500."""
    assert client("GET", target).status < 500
