"""Two registries of one server: what one is asked changes no byte of what the other one answers."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app, registries
from sigla.web.local.several import Served, Several
from tests.build import FixedClock
from tests.unit.web.conftest import Client, Response

Request = tuple[str, str, Any]
Told = tuple[int, bytes, str | None]
"""Status, body and ETag of an answer."""

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
    )
    for _ in range(count):
        subject, version = random.choice(SUBJECTS), random.choice(("latest", "1", "2", "3"))
        yield random.choice(makes)(subject, random.randint(1, 12), version)


@contextmanager
def neighbours() -> Iterator[Several]:
    """Registries as `sigla serve` has them, but for the clock, which stands."""
    hosts = registries.read(["a", "b"])
    with EmbeddedStore() as a, EmbeddedStore() as b:
        served = [
            Served(
                name,
                Registry(store.catalog, store.bodies, FixedClock(), secrets=store.secrets),
                app.HttpOptions(),
                group=store.group,
                step=store.step,
            )
            for name, store in (("a", a), ("b", b))
        ]
        unchosen = app.HttpOptions(authenticate=registries.Unchosen())
        yield Several(served, registries.Choice(hosts), unchosen, is_open=True)


def told_by_a(seed: int, count: int, beside: int | None) -> list[Told]:
    """What a answers, one request after the other. beside: the seed of what b is asked all the time; None: nothing."""

    async def ask(client: Client, name: str, request: Request) -> Response:
        method, target, body = request
        content = b"" if body is None else json.dumps(body).encode()
        return await client.send(method, target, [content], {"host": f"{name}.localhost"})

    async def ask_b(client: Client, is_over: asyncio.Event) -> None:
        for number, request in enumerate(requests(beside or 0, 10 * count)):
            await ask(client, "b", request)
            if is_over.is_set():
                assert number, "b was asked nothing"
                return

    async def run() -> list[Told]:
        with neighbours() as made:
            client, is_over = Client(made.application), asyncio.Event()
            async with made.application.router.lifespan_context(made.application):
                noise = [asyncio.create_task(ask_b(client, is_over))] if beside is not None else []
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


def compare(seed: int, count: int) -> None:
    alone, beside = told_by_a(seed, count, None), told_by_a(seed, count, seed + 1)
    assert len(alone) == count
    for request, one, other in zip(requests(seed, count), alone, beside, strict=True):
        assert one == other, request
    statuses = {status for status, _, _ in alone}
    assert {200, 404, 409, 422} <= statuses, "a walk that is refused everywhere shows nothing"
    assert 500 not in statuses


def test_a_neighbour_changes_no_byte_of_what_a_registry_answers() -> None:
    """The same ids, versions, lists and refusals as if it were alone, whatever the other one registers and deletes."""
    compare(seed=20261124, count=600)


@pytest.mark.soak
def test_no_byte_in_a_hundred_thousand_requests() -> None:
    """The same, in ten walks of ten thousand."""
    for seed in range(10):
        compare(seed=seed, count=10_000)
