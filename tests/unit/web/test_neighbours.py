"""Two registries of one server: what one is asked changes no byte of what the other one answers.

Nor do those who read the same registry beside its writer, whatever they have it remember, and wherever a turn ends.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count as counted
from math import inf
from random import Random
from time import sleep
from typing import Any, Final

import pytest

from sigla import effort
from sigla.effort import Effort, Limits
from sigla.registry import Registry
from sigla.stores.sqlite.database import Connection
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app, registries
from sigla.web.local.several import Served, Several
from tests.build import FixedClock
from tests.unit.web.conftest import Client, Response

Request = tuple[str, str, Any]
Told = tuple[int, bytes, str | None]
"""Status, body and ETag of an answer."""

NO_LIMITS: Final = Limits(86_400.0, 86_400.0)
"""Seconds. How long a request may wait is the one clock behind these answers: a machine that is so busy, or is put to
sleep, that a thread stands still for twenty seconds has a request answered with 50002, whoever else is asked."""

PUT_OFF: Final = 0.05
"""How many of all calls of SQLite begin late, and how many end late: by up to two thousandths of a second."""

SUBJECTS = ("orders-value", "payments-value", ":.team:orders-value", ":.other:x")
LEVELS = ("NONE", "BACKWARD", "FULL", "FORWARD_TRANSITIVE")
MODES = ("READWRITE", "READONLY", "IMPORT", "READWRITE")
K = "/dek-registry/v1/keks"


def a_schema(random: Random) -> dict[str, Any]:
    """One of few, so that both registries have the same ones, and the same subject gets them again."""
    kind = random.choice(("AVRO", "AVRO", "JSON", "PROTOBUF"))
    name, fields = random.choice("ABC"), random.sample(("a", "b", "c"), random.randint(0, 3))
    texts = {
        "AVRO": json.dumps(
            {"type": "record", "name": name, "fields": [{"name": n, "type": "int", "default": 0} for n in fields]}
        ),
        "JSON": json.dumps({"title": name, "properties": {n: {"type": "integer"} for n in fields}}),
        "PROTOBUF": f'syntax = "proto3"; message {name} {{'
        + "".join(f" int32 {n} = {at};" for at, n in enumerate(fields, 1))
        + " }",
    }
    return {"schema": texts[kind], "schemaType": kind}


def a_topic(number: int, subject: str) -> dict[str, Any]:
    """One of three, that is to use the subject."""
    topic = {"resourceName": f"t{number % 3}", "resourceNamespace": "lkc", "resourceId": f"id-{number % 3}"}
    return {**topic, "associations": [{"subject": subject, "lifecycle": "WEAK"}]}


def requests(seed: int, count: int) -> Iterator[Request]:
    random = Random(seed)
    makes: Sequence[Callable[[str, int, str], Request]] = (
        lambda s, _id, _v: ("POST", f"/subjects/{s}/versions", a_schema(random)),
        lambda s, _id, _v: ("POST", f"/subjects/{s}/versions?normalize=true", a_schema(random)),
        lambda s, _n, _v: ("POST", f"/subjects/{s}", a_schema(random)),
        lambda s, _n, v: ("POST", f"/compatibility/subjects/{s}/versions/{v}?verbose=true", a_schema(random)),
        lambda _s, n, _v: ("GET", f"/schemas/ids/{n}?fetchMaxId=true", None),
        lambda s, n, _v: ("GET", f"/schemas/ids/{n}?subject={s}", None),
        lambda _s, n, _v: ("GET", f"/schemas/ids/{n}/versions?deleted=true", None),
        lambda s, _n, v: ("GET", f"/subjects/{s}/versions/{v}", None),
        lambda s, _n, _v: ("GET", f"/subjects/{s}/versions?deleted=true", None),
        lambda _s, _n, _v: ("GET", "/subjects?deleted=true", None),
        lambda _s, _n, _v: ("GET", "/schemas", None),
        lambda _s, _n, _v: ("GET", "/contexts", None),
        lambda s, _n, v: ("DELETE", f"/subjects/{s}/versions/{v}", None),
        lambda s, _n, v: ("DELETE", f"/subjects/{s}/versions/{v}?permanent=true", None),
        lambda s, _n, _v: ("DELETE", f"/subjects/{s}", None),
        lambda s, _n, _v: ("DELETE", f"/subjects/{s}?permanent=true", None),
        lambda s, _n, _v: ("PUT", f"/config/{s}", {"compatibility": random.choice(LEVELS)}),
        lambda _s, _n, _v: ("PUT", "/config", {"compatibility": random.choice(LEVELS)}),
        lambda s, _n, _v: ("PUT", f"/mode/{s}?force=true", {"mode": random.choice(MODES)}),
        lambda s, _n, _v: ("DELETE", f"/mode/{s}", None),
        lambda s, _n, _v: ("GET", f"/config/{s}?defaultToGlobal=true", None),
        lambda _s, n, _v: ("POST", K, {"name": f"k{n % 3}", "kmsType": "local-kms", "kmsKeyId": f"{n}"}),
        lambda s, n, _v: ("POST", f"{K}/k{n % 3}/deks", {"subject": s, "encryptedKeyMaterial": "bQ=="}),
        lambda s, n, _v: ("GET", f"{K}/k{n % 3}/deks/{s}/versions", None),
        lambda s, n, _v: ("DELETE", f"{K}/k{n % 3}/deks/{s}", None),
        lambda s, _n, v: ("GET", f"/subjects/{s}/diff/1/{v}?deleted=true", None),
        lambda s, _n, v: ("GET", f"/subjects/{s}/versions/{v}/referencedby", None),
        lambda s, _n, v: ("POST", f"/subjects/{s}/versions/{v}/tags", {"metadata": {"properties": {"of": s}}}),
        lambda _s, _n, _v: ("GET", "/settings?subjectPrefix=:*:", None),
        lambda _s, n, _v: ("GET", f"/console/api/subjects?contains=O&type=AVRO&offset={n % 2}", None),
        lambda s, _n, _v: ("POST", f"/console/api/subjects/{s}/verdict", a_schema(random)),
        lambda _s, n, _v: ("GET", f"/dek-registry/v1/keks?subjectPrefix=o&deleted=true&offset={n % 2}", None),
        lambda s, n, _v: ("POST", "/associations", a_topic(n, s)),
        lambda _s, n, _v: ("DELETE", f"/associations/resources/id-{n % 3}", None),
    )
    for _ in range(count):
        subject, version = random.choice(SUBJECTS), random.choice(("latest", "1", "2", "3"))
        yield random.choice(makes)(subject, random.randint(1, 12), version)


@contextmanager
def neighbours() -> Iterator[Several]:
    """Registries as `sigla serve` has them, but for the clock, which stands, and limits of time, which are far."""
    hosts = registries.read(["a", "b"])
    with EmbeddedStore() as a, EmbeddedStore() as b:
        served = [
            Served(
                name,
                Registry(store.catalog, store.bodies, FixedClock(), secrets=store.secrets),
                app.HttpOptions(limits=NO_LIMITS),
                group=store.group,
                step=store.step,
            )
            for name, store in (("a", a), ("b", b))
        ]
        unchosen = app.HttpOptions(authenticate=registries.Unchosen())
        yield Several(served, registries.Choice(hosts), unchosen, is_open=True)


async def ask(client: Client, name: str, request: Request) -> Response:
    method, target, body = request
    content = b"" if body is None else json.dumps(body).encode()
    return await client.send(method, target, [content], {"host": f"{name}.localhost"})


Traffic = tuple[str, Iterable[Request]]
"""A registry, and what it is asked for as long as the walk goes on."""


def told_by_a(seed: int, count: int, *beside: Traffic) -> list[Told]:
    """What a answers, one request after the other, with or without other clients beside."""

    async def go_on(client: Client, traffic: Traffic, is_over: asyncio.Event) -> None:
        name, asked = traffic
        for number, request in enumerate(asked):
            await ask(client, name, request)
            if is_over.is_set():
                assert number, f"{name} was asked nothing"
                return

    async def run() -> list[Told]:
        with neighbours() as made:
            client, is_over = Client(made.application), asyncio.Event()
            async with made.application.router.lifespan_context(made.application):
                noise = [asyncio.create_task(go_on(client, each, is_over)) for each in beside]
                told = []
                for request in requests(seed, count):
                    reply = await ask(client, "a", request)
                    told.append((reply.status, reply.body, reply.headers.get("etag")))
                is_over.set()
                await asyncio.gather(*noise)
                made.close()
                return told

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as own:
        return own.run(run())


def walk_of_b(seed: int, count: int) -> Traffic:
    return "b", requests(seed + 1, 10 * count)


def readers_of_a(seed: int) -> Traffic:
    """What writes nothing of the same kind of walk, without an end."""
    endless = (request for more in counted(1) for request in requests(seed + 1_000 * more, 10_000))
    return "a", (each for each in endless if writes_nothing(each))


def writes_nothing(request: Request) -> bool:
    method, target, _ = request
    is_lookup = target.startswith("/subjects/") and "/versions" not in target
    return method == "GET" or (method == "POST" and (is_lookup or target.startswith("/compatibility/")))


@contextmanager
def trouble(seed: int) -> Iterator[None]:
    """What a busy machine does, drawn by lot.

    Half of all turns of the writer and the reader end at some pulse, and their jobs begin anew elsewhere. Some
    questions and commits begin or end late: then other threads come in between.
    """
    lot, turn, execute = Random(seed), Effort.turn, Connection.execute

    @contextmanager
    def short(own: Effort, seconds: float | None = None, share: Any = None, *, asks: bool = True) -> Iterator[None]:
        with turn(own, seconds, share, asks=asks):
            if seconds is not None and lot.random() < 0.5:
                own._turn_ends, own.ahead = -inf, lot.choice((1, 10, 500, 1_500))
            yield

    def late(own: Connection, sql: str, parameters: Any = (), /) -> Any:
        drawn = lot.random()
        if drawn < PUT_OFF:
            sleep(drawn / 25)
        try:
            return execute(own, sql, parameters)
        finally:
            if drawn > 1 - PUT_OFF:
                sleep((1 - drawn) / 25)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(effort, "STEPS_PER_LOOK", 1)
        patched.setattr(Effort, "turn", short)
        patched.setattr(Connection, "execute", late)
        yield


def compare(seed: int, count: int, alone: Sequence[Told], beside: Sequence[Told]) -> None:
    assert len(alone) == len(beside) == count
    for at, (request, one, other) in enumerate(zip(requests(seed, count), alone, beside, strict=True)):
        assert one == other, f"walk {seed}, request {at}, {request}: {one} alone, {other} beside others"
    statuses = {status for status, _, _ in alone}
    assert {200, 404, 409, 422} <= statuses, "a walk that is refused everywhere shows nothing"
    assert 500 not in statuses


def test_a_neighbour_changes_no_byte_of_what_a_registry_answers() -> None:
    """The same ids, versions, lists and refusals as if it were alone, whatever the other one registers and deletes."""
    seed, count = 20261124, 600
    compare(seed, count, told_by_a(seed, count), told_by_a(seed, count, walk_of_b(seed, count)))


def test_readers_change_no_byte_of_what_a_writer_is_answered() -> None:
    """What they have the registry remember is never older than an answer that the writer has got."""
    seed, count = 20261128, 400
    alone = told_by_a(seed, count)
    with trouble(seed):
        compare(seed, count, alone, told_by_a(seed, count, readers_of_a(seed), readers_of_a(seed + 1)))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_no_byte_in_a_hundred_thousand_requests(seed: int) -> None:
    """The same, in ten walks of ten thousand; then with readers as well, on a busy machine."""
    count = 10_000
    alone = told_by_a(seed, count)
    compare(seed, count, alone, told_by_a(seed, count, walk_of_b(seed, count)))
    with trouble(seed):
        beside = told_by_a(seed, count, walk_of_b(seed, count), readers_of_a(seed), readers_of_a(seed + 1))
    compare(seed, count, alone, beside)
