"""A ring of real members under attack, in front of it whole instances: no client is refused, and no answer is wrong."""

import asyncio
import itertools
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from valkey import Valkey, ValkeyError

from benchmarks import filled
from benchmarks.environments import Watched
from benchmarks.warm_get import CONTEXT, FUNCTION_URL
from sigla import keys
from sigla.cache.breaker import REST_MS
from sigla.cache.counts import Counts
from sigla.cache.members import member
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring, owner
from sigla.cache.servers import CacheServer
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId
from sigla.ports.clock import Clock
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import gateway
from tests.build import FixedClock
from tests.caches import a_cache, frozen, needs_valkey
from tests.waiting import eventually

pytestmark = needs_valkey

SCHEMAS, DOOMED = 30, 12
"""Registered at the start; of them, how many are deleted for good meanwhile."""
READERS, READS = 4, 50
"""READS: each reader reads so often at least."""
PATIENCE = 20
"""A trouble that disturbs too little is repeated so many times as often before the test gives up."""


def address(server: CacheServer) -> str:
    return f"valkey://127.0.0.1:{server.port}"


class Instance:
    """A function's instance as API Gateway sees it, with a ring and connections of its own."""

    def __init__(
        self, store: EmbeddedStore, servers: list[CacheServer], clock: Clock, *, memory: int = 0, rest_ms: int = REST_MS
    ) -> None:
        self.failed: list[float] = []
        made = dict(member(address(each), token=lambda _user, _group: "") for each in servers)
        self.ring = Ring({name: Watched(each, [], self.failed) for name, each in made.items()}, clock, rest_ms=rest_ms)
        self.counts = Counts()
        flight = SingleFlight(self.ring, clock, counts=self.counts)
        self.bodies = Tiers(Memory(memory, clock), flight, store.bodies, unsettled=store.bodies.unsettled)
        self._handler = gateway.handler(Registry(store.catalog, self.bodies, clock))

    def ask(self, method: str, path: str, content: Any = None) -> tuple[int, Any]:
        http = FUNCTION_URL["requestContext"] | {"http": {"method": method, "path": path, "sourceIp": "203.0.113.7"}}
        path, _, query = path.partition("?")
        event = FUNCTION_URL | {"rawPath": path, "rawQueryString": query, "requestContext": http}
        answer = self._handler(event | {"body": json.dumps(content)} if content else event, CONTEXT)
        return answer["statusCode"], json.loads(answer["body"])

    def text(self, id: int) -> tuple[int, str]:
        """Status and schema."""
        status, answer = self.ask("GET", f"/schemas/ids/{id}")
        return status, answer.get("schema", "")

    def close(self) -> None:
        self.ring.close()


@contextmanager
def a_loop() -> Iterator[None]:
    """For this thread, as Lambda's process has one."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@dataclass
class Zone:
    """Two real members, a store behind them, and what is true: texts by id, and ids whose delete has begun or ended."""

    store: EmbeddedStore
    servers: list[CacheServer]
    opened: ExitStack
    texts: dict[int, str] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)

    def instance(self, clock: Clock | None = None, *, memory: int = 0, rest_ms: int = REST_MS) -> Instance:
        made = Instance(self.store, self.servers, clock or SystemClock(), memory=memory, rest_ms=rest_ms)
        return self.opened.enter_context(closing(made))

    def register(self, through: Instance, number: int) -> int:
        subject, text = f"orders-{number}-value", filled.text(number)
        status, answer = through.ask("POST", f"/subjects/{subject}/versions", {"schema": text})
        assert status == 200, answer
        assert through.text(answer["id"])[0] == 200, "registered, and not to be read"
        self.texts[answer["id"]] = self.store.bodies.get(BodyKey(DEFAULT_CONTEXT, SchemaId(answer["id"]))).schema.text
        return int(answer["id"])

    def delete(self, through: Instance, number: int, id: int) -> None:
        self.begun.add(id)
        for permanent in ("false", "true"):
            status, answer = through.ask("DELETE", f"/subjects/orders-{number}-value?permanent={permanent}")
            assert status == 200, answer
        self.ended.add(id)

    def check(self, through: Instance, id: int) -> None:
        """What is told of an id is what was true at some moment of the question."""
        gone = id in self.ended
        status, text = through.text(id)
        if status == 200:
            assert text == self.texts[id]
            assert not gone, f"id {id} was deleted for good before it was asked for"
        else:
            assert status == 404
            assert id in self.begun, f"id {id} was never deleted"

    def owned(self, server: CacheServer) -> list[int]:
        """The ids that a member keeps."""
        names = [f"127.0.0.1:{each.port}" for each in self.servers]
        mine = f"127.0.0.1:{server.port}"
        return [id for id in self.texts if owner(names, ring_key(id)) == mine]


def ring_key(id: int) -> str:
    return keys.ring_key("default", BodyKey(DEFAULT_CONTEXT, SchemaId(id)))


@pytest.fixture
def arguments(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The arguments of the members."""
    return getattr(request, "param", ())


@pytest.fixture
def zone(arguments: tuple[str, ...]) -> Iterator[Zone]:
    with ExitStack() as opened:
        opened.enter_context(a_loop())
        servers = [opened.enter_context(a_cache("valkey", *arguments)) for _ in range(2)]
        yield Zone(opened.enter_context(EmbeddedStore(None)), servers, opened)


# --- trouble ---------------------------------------------------------------------------------------------------------

Trouble = Callable[[Zone, random.Random], None]
"""What befalls the ring at one moment."""


def killed_and_started_empty(zone: Zone, draw: random.Random) -> None:
    victim = draw.randrange(len(zone.servers))
    zone.servers[victim].stop()
    time.sleep(draw.uniform(0, 0.2))
    zone.servers[victim] = zone.opened.enter_context(a_cache("valkey", port=zone.servers[victim].port))


def killed(zone: Zone, draw: random.Random) -> None:
    """For good; again and again is as good as once."""
    zone.servers[0].stop()


def stopped(zone: Zone, draw: random.Random) -> None:
    with frozen(draw.choice(zone.servers)):
        time.sleep(draw.uniform(0.05, 0.3))


def flushed(zone: Zone, draw: random.Random) -> None:
    with client(draw.choice(zone.servers)) as asked:
        asked.flushall()


def garbage(zone: Zone, draw: random.Random) -> None:
    """Anything at all under any key: other bodies' bytes as well."""
    server = draw.choice(zone.servers)
    with client(server) as asked:
        for id in draw.sample(zone.owned(server), 3):
            other = asked.get(ring_key(draw.choice(zone.owned(server))))
            anything = [draw.randbytes(draw.randrange(200)), b"L", b"B", b"X", b"B" + draw.randbytes(900), other]
            # What looks like another reader's lease is waited for; here not for as long as a body stands.
            asked.set(ring_key(id), draw.choice(anything) or b"", px=200)


def wrong_type(zone: Zone, draw: random.Random) -> None:
    """A list, where bytes are expected: the member refuses aloud."""
    server = draw.choice(zone.servers)
    with client(server) as asked:
        key = ring_key(draw.choice(zone.owned(server)))
        asked.delete(key)
        asked.rpush(key, "a list")
        time.sleep(0.05)
        asked.delete(key)


def nothing(zone: Zone, draw: random.Random) -> None:
    """What befalls it is in its arguments."""


@contextmanager
def client(server: CacheServer) -> Iterator[Any]:
    """Its failures do not matter while the member is being disturbed."""
    asked = Valkey(port=server.port, socket_timeout=5)
    try:
        yield asked
    except ValkeyError:
        pass
    finally:
        asked.close()


TINY = ("--maxmemory", "1100kb", "--maxmemory-policy", "allkeys-lru")
"""Just more than it takes with nothing in it: what is put goes soon."""


@pytest.mark.parametrize("rounds", [8, pytest.param(100, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "trouble, arguments",
    [
        (killed, ()),
        (killed_and_started_empty, ()),
        (stopped, ()),
        (flushed, ()),
        (garbage, ()),
        (wrong_type, ()),
        (nothing, TINY),
    ],
    indirect=["arguments"],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_no_request_fails_and_nothing_wrong_is_told(
    zone: Zone, trouble: Trouble, arguments: tuple[str, ...], rounds: int
) -> None:
    """Reads, registrations and permanent deletes at once, while trouble befalls the members so often at least."""
    often = 50  # ms: so that a ring that failed is tried again, many times
    writer = zone.instance(rest_ms=often)
    zone.store.on_replaced(writer.bodies.forget)
    ids = [zone.register(writer, number) for number in range(SCHEMAS)]
    readers = [zone.instance(memory=2**20 if number == 0 else 0, rest_ms=often) for number in range(READERS)]
    attacked, over = threading.Event(), threading.Event()

    def read(number: int) -> None:
        draw = random.Random(number)
        with a_loop():
            for done in itertools.count():
                if done >= READS and attacked.is_set():
                    break
                zone.check(readers[number], draw.choice(ids))

    def write() -> None:
        with a_loop():
            for number in range(DOOMED):
                zone.delete(writer, number, ids[number])
                zone.check(writer, ids[number])
                zone.register(writer, SCHEMAS + number)

    def disturbed() -> int:
        return sum(len(each.failed) + each.counts.behind for each in readers)

    def disturb() -> None:
        draw = random.Random(trouble.__name__)
        for done in itertools.count(1):
            trouble(zone, draw)
            if done >= rounds and (disturbed() > DOOMED or done >= PATIENCE * rounds):
                attacked.set()
            if over.wait(0.03):
                break

    with ThreadPoolExecutor(READERS + 2) as pool:
        disturbing = pool.submit(disturb)
        try:
            done = [pool.submit(write), *(pool.submit(read, number) for number in range(READERS))]
            for ended in done:
                ended.result()
        finally:
            over.set()
        disturbing.result()
    assert sum(each.counts.ring for each in readers), "the ring was never of use: nothing was attacked"
    assert disturbed() > DOOMED, "no member failed and nothing had to be read again: nothing was attacked"
    for id in zone.texts:
        for each in readers:
            zone.check(each, id)


# --- what a lost member costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["dead", "hung"])
def test_a_lost_member_costs_one_time_out_per_cool_down(zone: Zone, how: signal.Signals) -> None:
    """However many reads its keys are asked for; then it is tried once, and left alone again."""
    clock = FixedClock()
    reader = zone.instance(clock)
    ids = [zone.register(zone.instance(clock), number) for number in range(SCHEMAS)]
    zone.check(reader, ids[0])
    lost = zone.servers[0]
    assert len(zone.owned(lost)) > 3
    os.kill(lost.pid, how)
    for cool_downs in (1, 2, 3):
        for id in ids:
            zone.check(reader, id)
        assert len(reader.failed) == reader.ring.failures == cool_downs
        clock.time += 2 * REST_MS
    # The operation's time-out is 0.1 s; this machine may be busy.
    assert max(reader.failed) < 2


def test_a_member_that_is_back_is_used_again(zone: Zone) -> None:
    """Started anew on the same address, with nothing in it: connections are made anew, and it fills."""
    clock = FixedClock()
    reader = zone.instance(clock)
    ids = [zone.register(reader, number) for number in range(SCHEMAS)]
    lost = zone.servers[0]
    mine = zone.owned(lost)
    lost.stop()
    for id in ids:
        zone.check(reader, id)
    zone.servers[0] = zone.opened.enter_context(a_cache("valkey", port=lost.port))
    clock.time += 2 * REST_MS
    for id in ids:
        zone.check(reader, id)
    behind = reader.counts.behind
    for id in mine:
        zone.check(reader, id)
    assert reader.counts.behind == behind, "what the new member was given is read from it"
    with client(zone.servers[0]) as asked:
        assert asked.dbsize() >= len(mine)


# --- whose key it is -------------------------------------------------------------------------------------------------


def test_members_have_equal_shares_and_a_new_one_moves_no_more_than_its_own() -> None:
    """10,000 keys in real members: each within a tenth of the mean; a third one takes a third, and 5 % more at most."""
    names = [ring_key(id) for id in range(1, 10_001)]
    with ExitStack() as opened:
        servers = [opened.enter_context(a_cache("valkey")) for _ in range(3)]
        members = dict(member(address(each), token=lambda _user, _group: "") for each in servers)
        two = opened.enter_context(closing(Ring(dict(list(members.items())[:2]), SystemClock())))
        three = opened.enter_context(closing(Ring(members, SystemClock())))
        batches = [names[at : at + 100] for at in range(0, len(names), 100)]
        for batch in batches:
            assert set(two.claim(batch, b"lease", lasts_ms=600_000).values()) == {None}
        assert all(0.9 * 5_000 < size < 1.1 * 5_000 for size in sizes(servers[:2]))
        stood = [value for batch in batches for value in three.claim(batch, b"lease", lasts_ms=600_000).values()]
        moved = stood.count(None) / len(names)
        assert moved <= 1 / 3 + 0.05
        assert stood.count(b"lease") == len(names) - stood.count(None), "nothing moved but to the new member"
        (new,) = sizes(servers[2:])
        assert new == stood.count(None)
        assert 0.9 / 3 < moved < 1.1 / 3


def sizes(servers: list[CacheServer]) -> list[int]:
    found = []
    for server in servers:
        with client(server) as asked:
            eventually(asked.ping)
            found.append(int(asked.dbsize()))
    return found
