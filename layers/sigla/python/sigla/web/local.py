"""What only the server on one machine has: health, metrics, a writing thread, and a port to listen on."""

import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace

import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sigla.auth.credentials import Authenticator
from sigla.errors import Refusal, StoreError, StoreFailed, Unauthorized
from sigla.observe import Gathered
from sigla.registry import Registry
from sigla.web import app
from sigla.web.answer import refused
from sigla.web.connection import Connection
from sigla.web.headers import Uuids
from sigla.web.metrics import CONTENT_TYPE, Counters
from sigla.web.worker import Scope, Worker


def application(
    registry: Registry,
    *,
    group: Scope = nullcontext,
    step: Scope = nullcontext,
    options: app.Options | None = None,
    stored: Callable[[], int] | None = None,
    ready: Callable[[], bool] = lambda: True,
) -> FastAPI:
    """The API with all that belongs to one machine.

    group, step: the store's scopes of a write, see `Worker`. stored: how many versions there are. ready: whether the
    store would answer.
    """
    options = options or app.Options()
    worker, counters = Worker(group, step), Counters(stored=stored)
    gathered = Gathered((counters, *options.watchers))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        worker.start()
        try:
            yield
            worker.stop()
        finally:  # also where a second signal cancels what is running
            gathered.tell()

    return app.build(
        registry,
        worker=worker,
        options=replace(options, watchers=(gathered,), fresh_id=Uuids()),
        beside=_routes(counters, gathered, ready, options.authenticate),
        lifespan=lifespan,
    )


def _routes(
    counters: Counters, gathered: Gathered, ready: Callable[[], bool], authenticate: Authenticator | None
) -> list[Route]:
    """Free of content negotiation: probes and scrapers ask as they like. Metrics ask for a key, whatever it may."""

    async def metrics(request: Request) -> Response:
        if refusal := _stranger(request, authenticate):
            answer = refused(refusal)
            headers = {
                name.decode(): value.decode()
                for name, value in (*answer.headers, (b"content-type", b"application/json"))
            }
            return Response(answer.body, answer.status, headers)
        gathered.tell()
        return Response(counters.text(), headers={"content-type": CONTENT_TYPE})

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "up"})

    async def health(_: Request) -> Response:
        up = ready()
        return JSONResponse({"status": "up" if up else "down"}, status_code=200 if up else 503)

    return [
        Route("/metrics", metrics),
        Route("/health", health),
        Route("/health/live", live),
        Route("/health/ready", health),
    ]


def _stranger(request: Request, authenticate: Authenticator | None) -> Refusal | None:
    """Why whoever asks is not let in, if he is not."""
    if authenticate is None:
        return None
    said = request.headers.get("authorization")
    try:
        principal = authenticate(None if said is None else said.encode("latin-1"))
    except StoreError:
        return StoreFailed(operation="The request")
    return None if principal else Unauthorized()


BACKLOG = 2048
"""Connections that may wait to be accepted."""


class CannotListen(OSError):
    """The address is taken, or not this machine's; the message is a sentence."""


def serve(application: FastAPI, *, host: str, port: int, started: Callable[[str], None] | None = None) -> None:
    """Listens until SIGTERM or SIGINT, then finishes what has begun and comes back.

    started: is told the address once requests are answered; port 0 is a free one. Raises CannotListen.
    """
    listening = _listen(host, port)
    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        lifespan="on",
        access_log=False,  # ours is the one line
        log_level="warning",
        server_header=False,
        timeout_keep_alive=75,  # longer than the idle time of common load balancers, which must be the first to hang up
        timeout_graceful_shutdown=30,
    )
    # uvicorn raises the signal again when it is done, for whoever handled it before: nobody, or the exit code is not 0.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    with listening:
        _Server(config, started or (lambda _: None)).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise CannotListen(f"Cannot listen on {host}:{port} ({reason}); choose another --host or --port.") from None


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[str], None]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        self._tell(f"http://{f'[{host}]' if ':' in host else host}:{port}")
