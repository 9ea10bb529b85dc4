"""Several zones in one process: who is asked, who waits for whom, and what the page of live counters is told."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sigla.auth.permissions import ADMIN, Principal
from sigla.cache.counts import Counts
from sigla.cache.member import Member, MemberFailed
from sigla.cache.members.local import LocalMember
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.model import Body, BodyKey
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.bodies import EmbeddedBodies
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.console import live
from sigla.web.console.live import Watched
from sigla.web.local import zones
from tests.build import Recognises, a_text
from tests.unit.web.conftest import Client, Response

AZ1, AZ2 = 8081, 8082
"""Ports of zones; nothing listens there."""


class Slow:
    """Stands before a store's bodies: those with one id come only once they are let through."""

    def __init__(self, bodies: EmbeddedBodies) -> None:
        self.slow = 0
        self.asked, self.let_through = threading.Event(), threading.Event()
        self._read = bodies.get_many
        bodies.get_many = self._get_many  # type: ignore[method-assign] # of this store alone

    def _get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        if self.slow in {key.id for key in keys}:
            self.asked.set()
            assert self.let_through.wait(60)
        return self._read(keys)


class Silent(LocalMember):
    """A member that never answers."""

    def _silent(self, *_: object, **__: object) -> Any:
        raise MemberFailed("it is silent")

    claim = swap = put = ping = _silent


class World:
    """Two zones of two instances each over one store, as `sigla serve --zones 2` has them."""

    def __init__(self, store: EmbeddedStore, options: app.HttpOptions | None = None) -> None:
        self.clock = SystemClock()
        self.behind = Slow(store.bodies)
        self.store = store
        self.counts: dict[str, list[Counts]] = {}
        zoned = [self.zone("az1", LocalMember(self.clock)), self.zone("az2", Silent(self.clock))]
        self.zones = zones.Zones(zoned, "two caches")
        self.application = zones.application(
            self.zones, [AZ1, AZ2], lambda _: options or app.HttpOptions(), group=store.group, step=store.step
        )

    def zone(self, id: str, member: Member) -> zones.LocalZone:
        rings = [Ring({"one": member}, self.clock) for _ in range(3)]
        flights = [SingleFlight(ring, self.clock) for ring in rings[1:]]
        self.counts[id] = [flight.counts for flight in flights]
        watched = Watched(
            id,
            id.upper(),
            f"http://{id}",
            self.counts[id],
            failures=lambda: sum(ring.failures for ring in rings[1:]),
            probe=rings[0].probe,
        )
        return zones.LocalZone([self.registry(flight) for flight in flights], watched)

    def registry(self, flight: SingleFlight) -> Registry:
        stored = self.store.bodies
        bodies = Tiers(Memory(2**20, self.clock), flight, stored, unsettled=stored.unsettled)
        self.store.on_replaced(bodies.forget)
        return Registry(self.store.catalog, bodies, self.clock)

    async def ask(self, port: int, method: str, target: str, body: Any = None, **headers: str) -> Response:
        async def at(scope: Any, receive: Any, send: Any) -> None:
            await self.application({**scope, "server": ("127.0.0.1", port)}, receive, send)

        content = b"" if body is None else json.dumps(body).encode()
        return await Client(at).send(method, target, [content], headers)

    async def register(self, name: str, port: int = AZ1) -> int:
        answer = await self.ask(port, "POST", f"/subjects/{name}/versions", {"schema": a_text(name)})
        assert answer.status == 200, answer.text
        return int(answer.json["id"])

    def total(self, zone: str, source: str) -> int:
        return sum(getattr(each, source) for each in self.counts[zone])


@asynccontextmanager
async def living(application: Any) -> AsyncIterator[None]:
    """As a server starts it, and ends it."""
    said: asyncio.Queue[Any] = asyncio.Queue()
    heard: asyncio.Queue[Any] = asyncio.Queue()
    life = asyncio.create_task(application({"type": "lifespan", "state": {}}, said.get, heard.put))
    await said.put({"type": "lifespan.startup"})
    assert (await heard.get())["type"] == "lifespan.startup.complete"
    yield
    await said.put({"type": "lifespan.shutdown"})
    assert (await heard.get())["type"] == "lifespan.shutdown.complete"
    await life


Story = Callable[[World], Awaitable[None]]


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


def lived(store: EmbeddedStore, story: Story, options: app.HttpOptions | None = None) -> None:
    async def live() -> None:
        world = World(store, options)
        async with living(world.application):
            await story(world)

    asyncio.run(asyncio.wait_for(live(), 60))


async def until(true: Callable[[], object]) -> None:
    while not true():  # noqa: ASYNC110 - a thread makes it true, without a signal
        await asyncio.sleep(0.002)


def test_the_zone_is_the_one_whose_port_is_asked(store: EmbeddedStore) -> None:
    """Each with its own metrics, over one store."""

    async def story(world: World) -> None:
        await world.register("orders", AZ1)
        assert (await world.ask(AZ2, "GET", "/subjects")).json == ["orders"]
        asked = 'sigla_requests_total{method="GET",route="/subjects",status="200"} 1'
        assert asked in (await world.ask(AZ2, "GET", "/metrics")).text
        assert asked not in (await world.ask(AZ1, "GET", "/metrics")).text

    lived(store, story)


def test_one_instance_reads_the_others_wait_and_nobody_else_is_kept_waiting(store: EmbeddedStore) -> None:
    """The store hangs under one schema: whoever wants that one waits; all other requests are answered meanwhile."""

    async def story(world: World) -> None:
        slow, quick = await world.register("slow"), await world.register("quick")
        world.behind.slow = slow
        both = [asyncio.create_task(world.ask(AZ1, "GET", f"/schemas/ids/{slow}")) for _ in range(2)]
        await until(lambda: world.behind.asked.is_set() and world.total("az1", "waits"))
        # Both instances of the zone are busy; the endpoint still listens, and the other zone answers at once.
        assert (await world.ask(AZ1, "GET", "/health/ready")).status == 200
        assert (await world.ask(AZ2, "GET", f"/schemas/ids/{quick}")).status == 200
        assert await world.register("another")
        assert not any(task.done() for task in both)
        world.behind.let_through.set()
        assert [answer.status for answer in await asyncio.gather(*both)] == [200, 200]
        assert (world.total("az1", "behind"), world.total("az1", "ring")) == (1, 1)

    lived(store, story)


def test_who_has_less_to_do_is_asked(store: EmbeddedStore) -> None:
    """An instance that hangs gets nothing more as long as another is free."""

    async def story(world: World) -> None:
        slow, quick = await world.register("slow"), await world.register("quick")
        world.behind.slow = slow
        hanging = asyncio.create_task(world.ask(AZ1, "GET", f"/schemas/ids/{slow}"))
        await until(world.behind.asked.is_set)
        for _ in range(50):
            assert (await world.ask(AZ1, "GET", f"/schemas/ids/{quick}")).status == 200
        assert not hanging.done()
        world.behind.let_through.set()
        assert (await hanging).status == 200

    lived(store, story)


def test_a_zone_without_its_ring_answers_from_behind_it(store: EmbeddedStore) -> None:
    """Clients do not find out; the page and the directory do."""

    async def story(world: World) -> None:
        ids = [await world.register(f"s{number}", AZ2) for number in range(5)]
        for id in ids * 4:
            assert (await world.ask(AZ2, "GET", f"/schemas/ids/{id}")).status == 200
        assert world.total("az2", "ring") == 0
        told = [zone.watched.beat(1) for zone in world.zones.zones]
        assert [(zone.healthy, zone.reason) for zone in told] == [
            (True, ""),
            (True, "1 of the 1 members of its ring do not answer"),
        ]
        facts = (await world.ask(AZ1, "GET", live.FACTS)).json
        one, two = facts["zones"]
        assert one["members"][0]["failure"] == ""
        assert two["members"][0]["failure"] == "it is silent"
        assert two["failures"] == 2, "one for each instance, which then leaves it alone"

    lived(store, story)


def test_every_read_is_counted_once_where_it_was_answered(store: EmbeddedStore) -> None:
    """If every client reads ten schemas, ten come from S3, whichever was first."""

    async def story(world: World) -> None:
        ids = [await world.register(f"s{number}") for number in range(10)]
        reads = [world.ask(AZ1, "GET", f"/schemas/ids/{id}") for _ in range(20) for id in ids]
        assert {answer.status for answer in await asyncio.gather(*reads)} == {200}
        (one, two) = (await world.ask(AZ2, "GET", live.FACTS)).json["zones"]
        assert one["s3"] == 10
        assert 0 < one["ring"] <= 10, "the other instance had each of them from the ring, if it was asked"
        assert one["memory"] == 200 - 10 - one["ring"]
        assert (one["id"], one["name"], one["url"], one["instances"]) == ("az1", "AZ1", "http://az1", 2)
        assert (two["s3"], two["ring"], two["memory"]) == (0, 0, 0)

    lived(store, story)


def test_a_permanent_delete_is_seen_by_every_instance_at_once(store: EmbeddedStore) -> None:
    """Whoever had it at hand, in its ring, or never."""

    async def story(world: World) -> None:
        id = await world.register("orders")
        for port in (AZ1, AZ2) * 8:
            assert (await world.ask(port, "GET", f"/schemas/ids/{id}")).status == 200
        for query in ("", "?permanent=true"):
            assert (await world.ask(AZ2, "DELETE", f"/subjects/orders{query}")).status == 200
        for port in (AZ1, AZ2) * 8:
            assert (await world.ask(port, "GET", f"/schemas/ids/{id}")).json["error_code"] == 40403

    lived(store, story)


def principal(said: bytes | None) -> Principal | None:
    return Principal("ada", may=(ADMIN,)) if said == b"let me in" else None


def test_who_may_see_metrics_may_see_the_page(store: EmbeddedStore) -> None:
    """With any key; without one, a browser asks its user for it."""

    async def story(world: World) -> None:
        for path in (live.PAGE, live.FACTS):
            stranger = await world.ask(AZ1, "GET", path)
            assert (stranger.status, stranger.json["error_code"]) == (401, 401)
            assert stranger.headers["www-authenticate"].startswith("Basic")
            assert (await world.ask(AZ1, "GET", path, authorization="let me in")).status == 200

    lived(store, story, app.HttpOptions(authenticate=Recognises(principal)))


def test_the_page_asks_nobody_but_its_own_server(store: EmbeddedStore) -> None:
    """It works where there is no internet, and tells no other server that a person looks."""

    async def story(world: World) -> None:
        answer = await world.ask(AZ2, "GET", live.PAGE)
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|live\.json)|url\(|@import""", answer.text)
        assert 'fetch("live.json"' in answer.text
        for column in ("S3 GETs", "ring hits", "memory hits", "waits", "members up"):
            assert column in answer.text

    lived(store, story)


def test_the_page_uses_every_fact_it_is_told(store: EmbeddedStore) -> None:
    """A fact that was renamed on one side only would be shown as nothing."""

    async def story(world: World) -> None:
        facts = (await world.ask(AZ1, "GET", live.FACTS)).json
        page = Path(live.__file__).with_suffix(".html").read_text("utf-8")
        for fact in {*facts, *facts["zones"][0]} - {"name"}:
            assert re.search(rf"""\.{fact}\b|"{fact}\"""", page), fact

    lived(store, story)
