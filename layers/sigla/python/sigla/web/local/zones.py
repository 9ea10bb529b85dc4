"""Several zones on one machine: an endpoint for each, told by its port, and a few instances behind each of them.

An instance is what an environment of a function is: a registry with a memory of its own that answers one request at a
time. Its reads have a thread, so that one that waits for its zone's ring keeps no other request waiting; all instances
of all zones write by the one thread of their store.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from random import Random

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asked

from sigla.observe import Gathered
from sigla.registry import Registry
from sigla.web import app
from sigla.web.console import live
from sigla.web.console.live import Watched
from sigla.web.http.headers import Uuids
from sigla.web.http.packing import Packing
from sigla.web.local import server
from sigla.web.local.metrics import Counters, Source
from sigla.web.paired import PairedTable, no_pair
from sigla.web.threads.thinkers import Thinkers
from sigla.web.threads.worker import Scope, Worker
from sigla.web.threads.workers import Workers


@dataclass(frozen=True, slots=True)
class LocalZone:
    """registries: one for each instance. watched: for the page of live counters."""

    registries: Sequence[Registry]
    watched: Watched


@dataclass(frozen=True, slots=True)
class Zones:
    """All of one machine. made_of: what their rings are made of, in words."""

    zones: Sequence[LocalZone]
    made_of: str

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(zone.watched.id for zone in self.zones)


class Instance:
    """busy: how many requests it has to answer."""

    __slots__ = ("busy", "reader", "table")

    def __init__(
        self, registry: Registry, writer: Worker, thinkers: Thinkers, options: app.HttpOptions, beside: Collection[str]
    ) -> None:
        self.reader = Worker(largest=1, name="sigla-reader")
        self.table = PairedTable(
            no_pair, registry, Workers(writer, self.reader, thinkers, every_read=True), options, beside
        )
        self.busy = 0


class Instances:
    """Stands where one `app.RouteTable` would: each request goes to one of the least busy ones, by chance."""

    def __init__(self, instances: Sequence[Instance]) -> None:
        self._instances = instances
        self._draw = Random().random  # noqa: S311 - which instance answers need not be secret

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        chosen = min(self._instances, key=lambda each: (each.busy, self._draw()))
        chosen.busy += 1
        try:
            await chosen.table(scope, receive, send)
        finally:
            chosen.busy -= 1


class Endpoint:
    """One zone's address, with all that belongs to it. The parameters are those of `application`."""

    def __init__(
        self,
        zone: LocalZone,
        writer: Worker,
        thinkers: Thinkers,
        options: app.HttpOptions,
        *,
        stored: Callable[[], int] | None,
        dropped: Callable[[], int],
        ready: Callable[[], bool],
        also: Sequence[Route],
        more: Sequence[Source],
    ) -> None:
        counters = Counters(stored=stored, dropped=dropped, ready=ready, more=more)
        self.gathered = Gathered((counters, *options.watchers))
        options = replace(options, watchers=(self.gathered,), fresh_id=Uuids(), packing=Packing())
        beside = [*server.beside(counters, self.gathered, ready, options), *also]
        paths = app.paths_of(beside)
        instances = [Instance(registry, writer, thinkers, options, paths) for registry in zone.registries]
        self.readers = [instance.reader for instance in instances]
        self.application = app.Application(Instances(instances), options, beside, None)


def application(
    zones: Zones,
    ports: Sequence[int],
    options: Callable[[str], app.HttpOptions],
    *,
    group: Scope = nullcontext,
    step: Scope = nullcontext,
    stored: Callable[[], int] | None = None,
    dropped: Callable[[], int] = lambda: 0,
    ready: Callable[[], bool] = lambda: True,
    thinkers: Thinkers | None = None,
    more: Sequence[Source] = (),
) -> ASGIApp:
    """All zones, each by the port that it listens on.

    options: of a zone's endpoint, by its id. The rest as for `server.application`.
    """
    writer, thinkers = Worker(group, step), thinkers or Thinkers()
    watched = [zone.watched for zone in zones.zones]

    def endpoint(zone: LocalZone) -> Endpoint:
        chosen = options(zone.watched.id)
        page = live.routes(watched, zones.made_of, chosen.authenticate, chosen.guesses)
        return Endpoint(
            zone, writer, thinkers, chosen, stored=stored, dropped=dropped, ready=ready, also=page, more=more
        )

    endpoints = {port: endpoint(zone) for port, zone in zip(ports, zones.zones, strict=True)}
    readers = [reader for each in endpoints.values() for reader in each.readers]
    gathered = [each.gathered for each in endpoints.values()]
    life = Router(lifespan=lambda _: server.running([writer, *readers], gathered))

    async def by_port(scope: Asked, receive: Receive, send: Send) -> None:
        asked = life if scope["type"] == "lifespan" else endpoints[scope["server"][1]].application
        await asked(scope, receive, send)

    return by_port
