"""Several registries behind one address: for each request the one that it names, as if it were alone.

Each has threads of its own, which write, read and compute, and counters: what one is asked keeps no other waiting, but
for the processor. The rest is of the whole server: the wait of those who guess secrets, health, the front page, the
description of the API. `/metrics` tells of the registry that the caller names, or of all where no keys are
asked for.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sigla.observe import Gathered
from sigla.ports.itself import Itself
from sigla.registry import Registry
from sigla.web import app
from sigla.web.api.beside import for_keys
from sigla.web.http.headers import Uuids, picked
from sigla.web.http.packing import Packing
from sigla.web.local import server
from sigla.web.local.metrics import CONTENT_TYPE, Counters, Source, as_page, dropped_lines, of_registries
from sigla.web.paired import PairedTable, no_pair
from sigla.web.registries import ByRegistry, Choice
from sigla.web.threads.thinkers import Thinkers
from sigla.web.threads.worker import Scope, Worker
from sigla.web.threads.workers import Workers


@dataclass(frozen=True, slots=True)
class Served:
    """One registry, with what `server.application` has for one that is alone."""

    name: str
    registry: Registry
    options: app.HttpOptions
    group: Scope = nullcontext
    step: Scope = nullcontext
    stored: Callable[[], int] | None = None
    ready: Callable[[], bool] = lambda: True
    more: Sequence[Source] = ()


class RegistryAtWork:
    """A registry at work."""

    def __init__(self, served: Served, packing: Packing, paths: frozenset[str]) -> None:
        self.name = served.name
        self.thinkers = Thinkers()
        self.workers = (Worker(served.group, served.step), Worker(name="sigla-reader"))
        self.counters = Counters(stored=served.stored, dropped=None, ready=served.ready, more=served.more)
        self.options, self.gathered = _watched(served.options, self.counters, packing)
        self.table = PairedTable(no_pair, served.registry, Workers(*self.workers, self.thinkers), self.options, paths)


class Several:
    """An application, and `close`, which gives up what still computes once no more requests come.

    choice: which registry a request is for. unchosen: for requests of which none was chosen; its authenticator says
    how to choose one. dropped: how many lines the log has lost. more: what else `/metrics` tells, of the process.
    """

    def __init__(
        self,
        served: Sequence[Served],
        choice: Choice,
        unchosen: app.HttpOptions,
        *,
        is_open: bool,
        dropped: Callable[[], int] = lambda: 0,
        more: Sequence[Source] = (),
    ) -> None:
        self._choice = choice
        self._more: tuple[Source, ...] = (partial(dropped_lines, dropped), *more)
        packing = Packing()
        self._counters = Counters(dropped=None)
        options, self._gathered = _watched(unchosen, self._counters, packing)
        health = server.health(lambda: all(each.ready() for each in served), options.authenticate)
        metrics = Route("/metrics", self._metrics)
        beside = [metrics, *health]
        paths = app.paths_of(beside)
        self._members = {each.name: RegistryAtWork(each, packing, paths) for each in served}
        # No route of it that lets everybody in says anything of a registry.
        nowhere = app.RouteTable(replace(served[0].registry, itself=Itself()), None, options, paths)
        tables = {name: member.table for name, member in self._members.items()}
        whole = for_keys(
            partial(self._told, [*self._members.values()]), None if is_open else options.authenticate, options.guesses
        )
        self._pages: dict[str, Callable[[Request], Awaitable[Response]]] = {"": whole}
        for name, member in self._members.items():
            own = for_keys(partial(self._told, [member]), member.options.authenticate, member.options.guesses)
            self._pages[name] = whole if is_open else own
        workers = [worker for member in self._members.values() for worker in member.workers]
        gathered = [self._gathered, *(member.gathered for member in self._members.values())]
        self.application = app.Application(
            ByRegistry(choice, tables.__getitem__, nowhere),
            options,
            beside,
            lambda _: server.running(workers, gathered),
        )

    async def _metrics(self, request: Request) -> Response:
        return await self._pages[self._choice(picked(request.scope["headers"]))](request)

    def _told(self, members: Sequence[RegistryAtWork]) -> Response:
        for gathered in (self._gathered, *(member.gathered for member in members)):
            gathered.tell()
        lines = of_registries(self._lines(members))
        return Response(as_page(lines), headers={"content-type": CONTENT_TYPE})

    def _lines(self, members: Sequence[RegistryAtWork]) -> Iterator[tuple[str, Iterator[str]]]:
        for member in members:
            yield member.name, member.counters.lines()
        yield "", self._counters.requests()
        for source in self._more:
            yield "", iter(source())

    def close(self) -> None:
        for member in self._members.values():
            member.thinkers.close()


def _watched(options: app.HttpOptions, counters: Counters, packing: Packing) -> tuple[app.HttpOptions, Gathered]:
    gathered = Gathered((counters, *options.watchers))
    return replace(options, watchers=(gathered,), fresh_id=Uuids(), packing=packing), gathered
