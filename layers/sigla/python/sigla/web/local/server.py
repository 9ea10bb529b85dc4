"""What only the server on one machine has: health, metrics, a writing thread, and a port to listen on."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from sigla.auth.credentials import Authenticator
from sigla.observe import Gathered
from sigla.registry import Registry
from sigla.web import app
from sigla.web.api.beside import description, for_keys
from sigla.web.console import docs_page
from sigla.web.http.guard import is_loopback
from sigla.web.http.headers import Uuids
from sigla.web.http.packing import Packing
from sigla.web.local.connection import Connection
from sigla.web.local.crowd import ARRIVING_BYTES, LAST_WORD_S, MOST_CONNECTIONS, Crowd
from sigla.web.local.handshakes import Handshakes
from sigla.web.local.metrics import CONTENT_TYPE, Counters, Source
from sigla.web.local.pair import Pair
from sigla.web.local.secured import Secured
from sigla.web.local.supervisor import READY, STOPPING
from sigla.web.paired import PairedTable, no_pair
from sigla.web.threads.thinkers import Thinkers
from sigla.web.threads.worker import Scope, Worker
from sigla.web.threads.workers import Workers

Application = ASGIApp
Build = Callable[..., Application]
"""Makes an application of what a store has for it: the keywords of `application` but `options`."""


def application(
    registry: Registry,
    *,
    group: Scope = nullcontext,
    step: Scope = nullcontext,
    options: app.HttpOptions | None = None,
    stored: Callable[[], int] | None = None,
    dropped: Callable[[], int] = lambda: 0,
    ready: Callable[[], bool] = lambda: True,
    thinkers: Thinkers | None = None,
    more: Sequence[Source] = (),
    table: Callable[..., ASGIApp] | None = None,
    routes: Sequence[Route] = (),
) -> FastAPI:
    """The API with all that belongs to one machine.

    group, step: the store's scopes of a write, see `Worker`. stored: how many versions there are. dropped: how many
    lines the log has lost. ready: whether the store would answer. thinkers: for what takes long; whoever hands them
    over closes them before the end. more: what else `/metrics` tells. table, routes: what answers, and what
    stands beside it, where another region has a part in it.
    """
    options = options or app.HttpOptions()
    writer, reader = Worker(group, step), Worker(name="sigla-reader")
    counters = Counters(stored=stored, dropped=dropped, ready=ready, more=more)
    gathered = Gathered((counters, *options.watchers))
    return app.build(
        registry,
        workers=Workers(writer, reader, thinkers or Thinkers()),
        options=replace(options, watchers=(gathered,), fresh_id=Uuids(), packing=Packing()),
        beside=[*routes, *beside(counters, gathered, ready, options)],
        table=table or partial(PairedTable, no_pair),
        lifespan=lambda _: running([writer, reader], [gathered]),
    )


@asynccontextmanager
async def running(workers: Sequence[Worker], gathered: Sequence[Gathered]) -> AsyncIterator[None]:
    """The life of a server: its threads, which finish what was handed to them, and what it has still to tell."""
    for worker in workers:
        worker.start()
    try:
        yield
        for worker in workers:
            worker.stop()
    finally:  # also where a second signal cancels what is running
        for each in gathered:
            each.tell()


def beside(counters: Counters, gathered: Gathered, ready: Callable[[], bool], options: app.HttpOptions) -> list[Route]:
    """Free of content negotiation: probes and scrapers ask as they like. Metrics ask for a key, whatever it may."""

    def metrics() -> Response:
        gathered.tell()
        return Response(counters.text(), headers={"content-type": CONTENT_TYPE})

    asked = for_keys(metrics, options.authenticate, options.guesses)
    return [Route("/metrics", asked), *health(ready, options.authenticate)]


def health(ready: Callable[[], bool], authenticate: Authenticator | None) -> list[Route]:
    """What is beside the API for everybody, its description included: that page has no key when it reads it."""

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "up"})

    async def is_ready(_: Request) -> Response:
        up = ready()
        return JSONResponse({"status": "up" if up else "down"}, status_code=200 if up else 503)

    return [
        Route("/health", is_ready),
        Route("/health/live", live),
        Route("/health/ready", is_ready),
        description(authenticate, for_everybody=True),
        *docs_page.routes(),
    ]


LONGEST_FAREWELL_S = 20
"""What is not answered then, counted from SIGTERM, is given up."""

SWITCH_S = 0.0005
"""How long a thread that computes keeps one that has an answer waiting."""

TICK_S = 0.1

LOOK_S = 0.01
"""How often it is looked whether a client has asked for the last time."""

BACKLOG = 2048
"""Connections that may wait to be accepted."""


class CannotListen(OSError):
    """The address is taken, or not this machine's; the message is a sentence."""


@contextmanager
def listening(
    host: str, ports: Sequence[int], handed_over: Sequence[socket.socket] = ()
) -> Iterator[list[socket.socket]]:
    """A socket for each port, on all of which clients may wait already; port 0 is a free one. Raises CannotListen.

    handed_over: by a supervisor, which listens on them and goes on with it after this process: they are taken instead.
    """
    with ExitStack() as opened:
        if handed_over and len(handed_over) != len(ports):
            raise CannotListen(
                f"The supervisor hands over {len(handed_over)} sockets, and {len(ports)} are needed: one, or one for "
                "each of --zones."
            )
        sockets = handed_over or (_listen(host, port) for port in ports)
        yield [opened.enter_context(each) for each in sockets]


def reached_at(sockets: Sequence[socket.socket]) -> str:
    """The address of a socket that other machines reach; of one that only this machine reaches where all are so."""
    hosts = [str(each.getsockname()[0]) for each in sockets]
    return next((host for host in hosts if not is_loopback(host)), hosts[0])


def url(listening: socket.socket, pair: Pair | None = None) -> str:
    """Where a client on this machine finds it; with TLS by a name that the certificate is for, if it has one."""
    host, port = listening.getsockname()[:2]
    host = _ANY.get(host, host)
    scheme, host = ("https", pair.host(host)) if pair else ("http", host)
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def told_url(listening: socket.socket, pair: Pair | None = None) -> str:
    """Where other machines may find it; without a host where that is whichever this machine has for them."""
    own = url(listening, pair)
    scheme, _, authority = own.partition("://")
    host, _, number = authority.rpartition(":")
    listens_everywhere = str(listening.getsockname()[0]) in _ANY
    return f"{scheme}://:{number}" if listens_everywhere and is_loopback(host.strip("[]")) else own


def port(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])


_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound to, told
"""What listens to every address, by one of this machine's own."""


def serve(
    application: ASGIApp,
    listening: Sequence[socket.socket],
    *,
    started: Callable[[], None] = lambda: None,
    stopping: Callable[[], None] = lambda: None,
    arriving_bytes: int = ARRIVING_BYTES,
    connections: int = MOST_CONNECTIONS,
    handshakes: Handshakes | None = None,
    supervisor: Callable[[str], None] = lambda _: None,
    handed_over: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Answers until SIGTERM or SIGINT, then finishes what has begun and comes back.

    started: is called once requests are answered. stopping: once no new ones come. arriving_bytes: what requests
    without an answer may hold in sum. connections: how many there may be at once. handshakes: for TLS; without them
    nothing is encrypted. supervisor: is told both as well. handed_over: whether it goes on listening, so that whoever
    comes during the end is for the next process. is_over: ends it as well, and the process goes on: no supervisor is
    told.
    """
    crowd = Crowd(arriving_bytes=arriving_bytes, connections=connections)
    config = uvicorn.Config(
        application,
        http=partial(_protocol, crowd, handshakes),  # type: ignore[arg-type]  # whatever makes a protocol will do
        ws="none",
        lifespan="on",
        access_log=False,  # ours is the one line
        log_level="warning",
        server_header=False,
        proxy_headers=False,  # whose turn it is, is the only use of an address; `Call.asker` reads what a proxy says
        timeout_graceful_shutdown=LONGEST_FAREWELL_S,
    )
    # uvicorn raises the signal again when it is done, for the handler before it: that does nothing, or the exit code is
    # not 0. It remembers, for what comes before uvicorn listens to signals, or while a process ends that is to go on.
    ending: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda which, _: ending.append(which))
    if handshakes is not None and sys.platform != "win32":
        signal.signal(signal.SIGHUP, lambda *_: handshakes.renewed.ask())
    # Between threads that compute and the loop that answers, Python changes this often; see the decision on readers.
    sys.setswitchinterval(SWITCH_S)

    def is_up() -> None:
        started()
        supervisor(READY)
        if ending:
            signal.raise_signal(ending[0])

    def leaves() -> None:
        if not is_over():
            supervisor(STOPPING)

    _Server(config, crowd, is_up, leaves, stopping, is_over=is_over, handed_over=handed_over).run(sockets=[*listening])
    if is_over():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(0))
        if ending:
            sys.exit(0)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as problem:
        # Python puts the address behind what the system says; here it stands before.
        number = getattr(problem, "errno", None)
        reason = problem if isinstance(problem, UnicodeError | socket.gaierror) or not number else os.strerror(number)
        raise CannotListen(f"Cannot listen on {host}:{port} ({reason}); choose another --host or --port.") from None


def _protocol(crowd: Crowd, handshakes: Handshakes | None, **of_uvicorn: Any) -> asyncio.Protocol:
    connection = Connection(crowd=crowd, **of_uvicorn)
    return connection if handshakes is None else Secured(connection, handshakes, crowd)


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        crowd: Crowd,
        started: Callable[[], None],
        leaving: Callable[[], None],
        stopping: Callable[[], None],
        *,
        is_over: Callable[[], bool],
        handed_over: bool,
    ) -> None:
        """started: is called once requests are answered. leaving: when the end begins. stopping: when none come."""
        super().__init__(config)
        self._crowd = crowd
        self._handed_over = handed_over
        self._is_over = is_over
        self._tell, self._tell_leaving, self._tell_end = started, leaving, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        self._crowd.look(asyncio.get_running_loop().time())
        return await super().on_tick(counter) or self._is_over()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._crowd.ends = True
        self._tell_leaving()
        looking = asyncio.create_task(self._look())
        try:
            await self._last_words()
            self._tell_end()
            await super().shutdown(sockets)
        finally:
            looking.cancel()

    async def _last_words(self) -> None:
        """Answers what is on its way on open connections: a connection that ends under a request is an error there.

        Each of these answers says that it is the last one of its connection.
        """
        if self._handed_over:
            for server in self.servers:
                server.close()
        loop = asyncio.get_running_loop()
        last = loop.time() + 2 * LAST_WORD_S
        while True:
            waits = self._crowd.let_go(loop.time())
            if not waits or loop.time() > last or self.force_exit:
                return
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> None:
        """As `on_tick` does until the end begins."""
        while True:
            self._crowd.look(asyncio.get_running_loop().time())
            await asyncio.sleep(TICK_S)
