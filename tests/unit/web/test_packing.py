"""Long answers are packed while others are answered."""

import asyncio
import gzip
import json
from collections.abc import Awaitable
from dataclasses import replace

import pytest

from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.model import DEFAULT_CONTEXT, Draft, Subject
from sigla.registry import Registry
from sigla.web import app
from sigla.web.http.answer import Answer
from sigla.web.http.packing import LONG, PIECE, Packing, pack
from tests.unit.web.conftest import Client, Response

LATEST, BY_ID = "/subjects/orders/versions/latest", "/schemas/ids/1"
READS_GZIP = {"accept-encoding": "gzip"}


@pytest.fixture
def client(registry: Registry) -> Client:
    """Over one schema that is about as long as one may be."""
    doc = " ".join(map(str, range(130_000)))
    registry.register(
        Subject(DEFAULT_CONTEXT, "orders"), Draft(json.dumps({"type": "record", "name": "R", "doc": doc, "fields": []}))
    )
    return Client(app.build(registry, options=app.HttpOptions(packing=Packing())))


def answered(client: Client, *asked: tuple[str, dict[str, str]]) -> list[tuple[str, Response]]:
    """What is asked at the same time, in the order in which it is answered."""
    told: list[tuple[str, Response]] = []

    async def ask(path: str, headers: dict[str, str]) -> None:
        told.append((path, await client.send("GET", path, [b""], headers)))

    async def all_of_it() -> None:
        await asyncio.gather(*(ask(*each) for each in asked))

    asyncio.run(all_of_it())
    return told


def test_who_asks_for_little_does_not_wait_while_a_long_answer_is_packed(client: Client) -> None:
    """Half a minute of silence for everybody is what a page of large schemas was."""
    told = answered(client, (LATEST, READS_GZIP), ("/subjects", {}))
    assert [path for path, _ in told] == ["/subjects", LATEST]


@pytest.mark.parametrize("path", [LATEST, BY_ID, "/schemas", "/subjects"])
def test_what_is_packed_says_the_same(client: Client, path: str) -> None:
    """Long or short, kept or not."""
    plain = client("GET", path)
    for _ in range(2):
        packed = client("GET", path, headers=READS_GZIP)
        assert packed.headers["content-encoding"] == "gzip"
        assert len(packed.body) == int(packed.headers["content-length"]) < len(plain.body) + 50
        assert gzip.decompress(packed.body) == plain.body
    assert client("HEAD", path, headers=READS_GZIP).body == b""


def test_answers_by_id_are_packed_once(client: Client, registry: Registry) -> None:
    """Most of what a registry is asked: the second time it waits for no thread."""
    memory = Memory(2**25, registry.clock)
    kept = Tiers(memory, SingleFlight(Ring({}, registry.clock), registry.clock), registry.bodies)
    client = Client(app.build(replace(registry, bodies=kept), options=app.HttpOptions(packing=Packing())))
    answered(client, (BY_ID, READS_GZIP))
    told = answered(client, (BY_ID, READS_GZIP), ("/subjects", {}))
    assert [path for path, _ in told] == [BY_ID, "/subjects"]


def run(*packed: Awaitable[bool]) -> list[bool]:
    async def all_of_it() -> list[bool]:
        return await asyncio.gather(*packed)

    return asyncio.run(all_of_it())


def test_a_short_one_overtakes_a_long_one() -> None:
    """One thread, in turns."""
    packing, done = Packing(), list[int]()

    async def packed(size: int) -> bool:
        answer = Answer(200, b"x" * size)
        told = await packing(answer)
        assert gzip.decompress(pack(answer)) == answer.body
        done.append(size)
        return told

    assert run(packed(8 * PIECE), packed(LONG)) == [True, True]
    assert done == [LONG, 8 * PIECE]


def test_what_waits_to_be_packed_is_bounded() -> None:
    """The rest goes out as it is: who offers gzip reads that, too. A single one is packed, however long."""
    packing = Packing(most=3 * LONG)
    answers = [Answer(200, b"x" * size) for size in (4 * LONG, LONG, 2 * LONG)]
    assert run(*map(packing, answers)) == [True, False, False]
    assert answers[1].packed is None
    assert run(*map(packing, answers[1:])) == [True, True]


def test_an_answer_that_there_is_no_room_to_pack_goes_out_as_it_is(client: Client, registry: Registry) -> None:
    """With no word of gzip."""
    small = Client(app.build(registry, options=app.HttpOptions(packing=Packing(most=LONG))))
    told = answered(small, (LATEST, READS_GZIP), ("/subjects/orders/versions/1", READS_GZIP))
    assert [answer.headers.get("content-encoding") for _, answer in told] == [None, "gzip"]
    plain, packed = (answer.body for _, answer in told)
    assert json.loads(plain) == json.loads(gzip.decompress(packed)) == client("GET", LATEST).json
