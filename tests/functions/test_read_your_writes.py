"""What was acknowledged by one instance is there for every other, at once (promise 2).

Also where the other has just answered the same question otherwise. Through both doors, on DynamoDB's own engine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from sigla import instances
from tests.build import FixedClock
from tests.functions.deployed import Client, Deployment, Reply, deployed

DOORS = ("rest", "function_url")


def schema(*names: str) -> dict[str, str]:
    fields = ",".join(f'{{"name":"{name}","type":"int","default":0}}' for name in names)
    return {"schema": f'{{"type":"record","name":"Order","fields":[{fields}]}}'}


TEXT: dict[str, object] = {"schema": '"string"'}
ONE, TWO = schema("a"), schema("a", "b")
OUT_OF_ORDER = TEXT | {"version": 9}
"""Registered nowhere: it is refused for its number, unless it is refused before."""
GUID = "/schemas/guids/c28d34b8-1684-3f3f-be79-cbefe8167aa2"
"""Of ONE."""
NOBODY, NO_VERSION, NO_SCHEMA = {"error_code": 40401}, {"error_code": 40402}, {"error_code": 40403}

Expected = Mapping[str, Any] | list[Any] | bool
"""The fields of an object that matter."""


@dataclass(frozen=True)
class Step:
    """A change by one instance, and what another then says.

    told: to a GET. asked: to a POST of a schema. lags: what a remembered answer may say otherwise for a minute.
    """

    change: tuple[str, str] | tuple[str, str, object]
    told: Mapping[str, Expected]
    asked: Mapping[str, tuple[object, Expected]] = field(default_factory=dict)
    lags: tuple[str, ...] = ()


STEPS: Mapping[str, Step] = {
    "register": Step(
        ("POST", "/subjects/orders/versions", ONE),
        {
            "/schemas/ids/1": {"subject": "orders", "version": 1},
            "/schemas/ids/1?subject=orders": {"subject": "orders", "version": 1},
            "/schemas/ids/1/subjects": ["orders"],
            "/schemas/ids/1/versions": [{"subject": "orders", "version": 1}],
            GUID: ONE,
            f"{GUID}/ids": [{"context": ".", "id": 1}],
            "/subjects": ["orders"],
            "/subjects/orders/versions": [1],
            "/subjects/orders/versions/1": {"id": 1},
            "/subjects/orders/versions/latest": {"version": 1},
        },
        {"/subjects/orders": (ONE, {"id": 1, "version": 1})},
    ),
    "register another version": Step(
        ("POST", "/subjects/orders/versions", TWO),
        {
            "/schemas/ids/2": {"subject": "orders", "version": 2},
            "/schemas/ids/2?subject=orders": {"version": 2},
            "/subjects/orders/versions": [1, 2],
            "/subjects/orders/versions/2": {"id": 2},
            "/subjects/orders/versions/latest": {"version": 2},
        },
        {"/subjects/orders": (TWO, {"id": 2, "version": 2})},
    ),
    "register it under a smaller name": Step(
        ("POST", "/subjects/alpha/versions", ONE),
        {
            "/schemas/ids/1": {"subject": "alpha"},
            "/schemas/ids/1?subject=alpha": {"subject": "alpha", "version": 1},
            "/schemas/ids/1/subjects": ["alpha", "orders"],
            "/subjects": ["alpha", "orders"],
        },
        lags=("/schemas/ids/1",),
    ),
    "make an alias": Step(
        ("PUT", "/config/name", {"alias": "orders"}),
        {
            "/subjects/name/versions": [1, 2],
            "/config/name": {"alias": "orders"},
        },
        {"/subjects/name": (TWO, {"id": 2})},
    ),
    "make a holder another name": Step(
        ("PUT", "/config/alpha", {"alias": "orders"}),
        {"/schemas/ids/1?subject=alpha": {"subject": "orders"}, "/subjects/alpha/versions": [1, 2]},
        lags=("/schemas/ids/1?subject=alpha",),
    ),
    "loosen compatibility": Step(
        ("PUT", "/config/orders", {"compatibility": "NONE"}),
        {"/config/orders": {"compatibilityLevel": "NONE"}},
        {"/compatibility/subjects/orders/versions/latest": (TEXT, {"is_compatible": True})},
    ),
    "loosen it everywhere": Step(
        ("PUT", "/config", {"compatibility": "FULL"}), {"/config": {"compatibilityLevel": "FULL"}}
    ),
    "forbid writing": Step(
        ("PUT", "/mode/orders", {"mode": "READONLY"}),
        {"/mode/orders": {"mode": "READONLY"}},
        {"/subjects/orders/versions": (OUT_OF_ORDER, {"error_code": 42205})},
    ),
    "allow it again": Step(
        ("DELETE", "/mode/orders"),
        {"/mode/orders": {"error_code": 40409}},
    ),
    "delete a version": Step(
        ("DELETE", "/subjects/orders/versions/2"),
        {
            "/schemas/ids/2": {"deleted": True},
            "/schemas/ids/2?subject=orders": {"deleted": True},
            "/schemas/ids/2/subjects": [],
            "/subjects/orders/versions": [1],
            "/subjects/orders/versions?deletedOnly=true": [2],
            "/subjects/orders/versions/2": NO_VERSION,
            "/subjects/orders/versions/latest": {"version": 1},
        },
        {"/subjects/orders": (TWO, NO_SCHEMA)},
        lags=(
            "/schemas/ids/2",
            "/schemas/ids/2?subject=orders",
        ),
    ),
    "delete it for good": Step(
        ("DELETE", "/subjects/orders/versions/2?permanent=true"),
        {
            "/schemas/ids/2": NO_SCHEMA,
            "/schemas/ids/2?subject=orders": NO_SCHEMA,
            "/subjects/orders/versions?deleted=true": [1],
        },
        lags=(
            "/schemas/ids/2",
            "/schemas/ids/2?subject=orders",
        ),
    ),
    "delete the subject": Step(
        ("DELETE", "/subjects/orders"),
        {
            "/schemas/ids/1/subjects": ["alpha"],
            "/schemas/ids/1?subject=orders": {"deleted": True},
            "/subjects": ["alpha"],
            "/subjects?deletedOnly=true": ["orders"],
            "/subjects/orders/versions": NOBODY,
            "/subjects/orders/versions/latest": NOBODY,
        },
        {"/subjects/orders": (ONE, NOBODY)},
        lags=("/schemas/ids/1?subject=orders",),
    ),
    "register it again": Step(
        ("POST", "/subjects/orders/versions", ONE),
        {"/subjects/orders/versions": [2], "/schemas/ids/1?subject=orders": {"version": 2, "deleted": False}},
        {"/subjects/orders": (ONE, {"id": 1, "version": 2})},
        lags=("/schemas/ids/1?subject=orders",),
    ),
}
"""A story: each step goes on from the one before."""


def matches(reply: Reply, expected: Expected) -> bool:
    if isinstance(expected, Mapping):
        return isinstance(reply.body, dict) and expected.items() <= reply.body.items()
    return bool(reply.body == expected)


@dataclass(frozen=True, eq=False)
class Question:
    method: str
    target: str
    body: object
    expected: Expected

    def put_to(self, client: Client) -> Reply:
        return client(self.method, self.target, self.body)


def questions(step: Step) -> list[Question]:
    got = [Question("GET", target, None, expected) for target, expected in step.told.items()]
    return got + [Question("POST", target, body, expected) for target, (body, expected) in step.asked.items()]


def sees_at_once(other: Client, one: Client) -> None:
    """The whole story: what one does, another tells, and told otherwise a moment before."""
    for name, step in STEPS.items():
        for question in questions(step):
            assert not matches(question.put_to(other), question.expected), (name, question.target, "said so before")
        assert one(*step.change).status == 200, name
        for question in questions(step):
            assert matches(question.put_to(other), question.expected), (name, question.target)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FixedClock:
    """The clock of all instances."""
    clock = FixedClock()
    monkeypatch.setattr(instances, "SystemClock", lambda: clock)
    return clock


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch, dynamodb_local: str) -> Iterator[Deployment]:
    with deployed(monkeypatch, dynamodb_local) as made:
        yield made


@pytest.mark.parametrize("doors", [("rest", "function_url"), ("function_url", "rest")])
def test_another_instance_sees_at_once_what_one_has_done(deployment: Deployment, doors: tuple[str, str]) -> None:
    """Each question was answered otherwise by that instance a moment before."""
    one, other = (Client(deployment.instance(SIGLA_HOLDERS_SECONDS="0"), door) for door in doors)
    sees_at_once(other, one)


def test_what_is_remembered_lags_by_id_alone_and_never_for_the_writer(
    deployment: Deployment, clock: FixedClock
) -> None:
    """For a minute an id that was answered goes on to be, and means the same; that one is missing is not remembered."""
    one, other = (Client(deployment.instance(), door) for door in ("rest", "function_url"))
    for name, step in STEPS.items():
        before = {question: question.put_to(other).body for question in questions(step)}
        assert one(*step.change).status == 200, name
        clock.sleep(1)
        for question, reply in before.items():
            assert matches(question.put_to(one), question.expected), (name, question.target, "by the writer")
            after = question.put_to(other)
            if question.target in step.lags:
                assert after.body == reply, (name, question.target)
            else:
                assert matches(after, question.expected), (name, question.target)


def test_a_minute_later_everybody_knows(deployment: Deployment, clock: FixedClock) -> None:
    """Deleted, then gone; whoever has not asked before knows at once."""
    one, other = (Client(deployment.instance()) for _ in range(2))
    one("POST", "/subjects/orders/versions", ONE)
    for query, told in (("", {"deleted": True}), ("?permanent=true", NO_SCHEMA)):
        before = other.get("/schemas/ids/1").body
        one("DELETE", f"/subjects/orders{query}")
        clock.sleep(59)
        assert other.get("/schemas/ids/1").body == before
        assert matches(Client(deployment.instance()).get("/schemas/ids/1"), told)
        clock.sleep(1)
        assert matches(other.get("/schemas/ids/1"), told)
