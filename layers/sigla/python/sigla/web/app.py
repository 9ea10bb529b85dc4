"""The application: FastAPI around one table of routes that sends raw ASGI messages.

FastAPI brings the lifespan. Before the table stands nothing: a request by id costs less
than a stack of middleware. Everything asynchronous about the API is in this file.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from sigla import observe
from sigla.auth.api_keys import Keys
from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.auth.permissions import OPEN, READ
from sigla.effort import Limits, OutOfTime, Unwanted
from sigla.errors import (
    DeniedEverywhere,
    Refusal,
    StoreError,
    TimedOut,
    Unauthorized,
)
from sigla.keks.refusals import KmsDenied, KmsFailed
from sigla.ports.kms import KmsFailed as KeyServiceFailed
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.web.api.admission import admitted
from sigla.web.api.beside import description
from sigla.web.api.call import NONE, Call
from sigla.web.api.callers import caller_of
from sigla.web.api.dispatch import Dispatch
from sigla.web.api.exchange import Exchange, Service
from sigla.web.api.rendered import MOST_BYTES as RENDERED_BYTES
from sigla.web.api.rendered import Rendered, etag
from sigla.web.api.replies import refused
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES
from sigla.web.api.unserved import unserved
from sigla.web.api.waiting import keep_waiting
from sigla.web.console import door
from sigla.web.console.front_page import front_page
from sigla.web.http import headers
from sigla.web.http.answer import Answer, fits
from sigla.web.http.guard import Guard
from sigla.web.http.negotiate import names_html, negotiate
from sigla.web.http.packing import Packing
from sigla.web.http.rate import Rate
from sigla.web.http.refusals import AnswerTooLarge, BodyTooLarge, TargetTooLong, Unexpected
from sigla.web.threads.worker import Job, Task
from sigla.web.threads.workers import Workers, effort_of

LONGEST_TARGET = 8 * 2**10
"""Bytes of path and query."""

LEAST_PART = 8 * 2**10
"""Bytes of a body that are kept as they came; smaller parts are put together, each would cost more than it holds."""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What an operator may decide about HTTP.

    answer_bytes: the most that fits through the front door, counted as it counts; None for no limit. gzip: off where a
    front door takes text only. cors_origins: who may call from a browser. watchers: are told of every request.
    fresh_id: makes an id for a request that comes without one. authenticate: names the caller; None: every caller may
    do everything. guesses: keeps wrong secrets waiting; None where waiting is paid for, as in a function.
    guard: raises a refusal of what comes to a wrong name, or from a wrong page; None: everything passes.
    limits: how long a request may compute and wait. rate: how many requests of callers who may ask are answered; None:
    as many as come. packing: packs long answers beside the event loop; None: where they are made. rendered_bytes: what
    answers by id that are kept at hand may take. console: whether there are pages below `/console/`.
    """

    body_bytes: int = 4_000_000
    answer_bytes: int | None = None
    gzip: bool = True
    cors_origins: tuple[str, ...] = ()
    watchers: tuple[observe.Watcher, ...] = ()
    log_failure: observe.Teller = observe.tell
    fresh_id: Callable[[], bytes] = headers.uuid
    service: Service = field(default_factory=Service)
    authenticate: Authenticator | None = None
    guesses: Guesses | None = None
    guard: Guard | None = None
    packing: Packing | None = None
    limits: Limits = field(default_factory=Limits)
    rate: Rate | None = None
    console: bool = False
    keys: Keys | None = None
    logins: tuple[door.Login, ...] = ()
    rendered_bytes: int = RENDERED_BYTES


class Gone(Exception):
    """The client left before its request was complete: no answer can be sent."""


def build(
    registry: Registry,
    *,
    workers: Workers | None = None,
    options: HttpOptions | None = None,
    beside: Sequence[BaseRoute] | None = None,
    lifespan: Lifespan[Any] | None = None,
    table: "MakeTable | None" = None,
) -> FastAPI:
    """The ASGI application over a registry.

    workers: for all that parses or writes; without them everything runs where it arrives. beside: routes that are not
    the API's (health, metrics), each with a `path`; without them its description alone, for those who may ask. table:
    makes what answers; a `RouteTable` without it.
    """
    options = options or HttpOptions()
    beside = [description(options.authenticate, options.guesses)] if beside is None else beside
    return Application((table or RouteTable)(registry, workers, options, paths_of(beside)), options, beside, lifespan)


MakeTable = Callable[[Registry, Workers | None, HttpOptions, Collection[str]], ASGIApp]
"""Makes what answers."""


def paths_of(beside: Sequence[BaseRoute]) -> frozenset[str]:
    """Where something else than the table answers."""
    return frozenset(getattr(route, "path", "") for route in beside)


class Application(FastAPI):
    """The table for every path but those of the routes beside it.

    table: a `RouteTable`, or what shares requests out among several.
    """

    def __init__(
        self, table: ASGIApp, options: HttpOptions, beside: Sequence[BaseRoute], lifespan: Lifespan[Any] | None
    ) -> None:
        super().__init__(title="Sigla", lifespan=lifespan, openapi_url=None)
        self.router.routes[:0] = beside
        self._table = table
        self._elsewhere = paths_of(beside)
        self._cors_origins = options.cors_origins
        self._guard = options.guard
        self._console = partial(door.show, gzip=options.gzip, logins=options.logins) if options.console else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """FastAPI first asks the environment whether it is traced; our log is the one that tells of requests."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        await self.middleware_stack(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Nothing, unless browsers of other sites may call."""
        if not self._cors_origins:
            return self._chosen
        shared = CORSMiddleware(
            self._chosen,
            allow_origins=self._cors_origins,
            allow_methods=sorted({route.method for route in ROUTES}),
            allow_headers=["*"],
            expose_headers=["ETag", "X-Request-ID"],
        )
        if self._guard is None:
            return shared

        def guarded(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
            """A preflight is answered by the middleware itself, so the guard comes first."""
            return (self._table if self._refused(scope) else shared)(scope, receive, send)

        return guarded

    def _chosen(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and (beside := self._beside(scope["path"])) is not None:
            return (self._table if self._refused(scope) else beside)(scope, receive, send)
        return (self._table if scope["type"] == "http" else self.router)(scope, receive, send)

    def _beside(self, path: str) -> ASGIApp | None:
        """What else than the table answers there to GET and HEAD."""
        if path in self._elsewhere:
            return self.router
        return self._console if self._console and door.is_page(path) else None

    def _refused(self, scope: Scope) -> bool:
        """Whether the method is another one, or the guard refuses every request: the table answers what is refused."""
        if scope["method"] not in ("GET", "HEAD"):
            return True
        if self._guard is None:
            return False
        try:
            self._guard(scope["method"], headers.picked(scope["headers"]))
        except Refusal:
            return True
        return False


@cache
def dispatch_of(beside: frozenset[str]) -> Dispatch:
    """The table with these paths beside it: a tree that never changes, and one for all applications that have them."""
    return Dispatch(ROUTES, beside)


class RouteTable:
    """All of `ROUTES`. beside: `paths_of` what is beside it. The other parameters are those of `build`."""

    def __init__(
        self, registry: Registry, workers: Workers | None, options: HttpOptions, beside: Collection[str] = ()
    ) -> None:
        self._registry = registry
        self._workers = workers
        self._options = options
        self._beside = frozenset(beside)
        self._dispatch = dispatch_of(self._beside)
        self._front_page = front_page([door.CONSOLE, *beside] if options.console else beside)
        self._rendered = Rendered(most=options.rendered_bytes)
        self._authenticate = options.authenticate
        self._guard = options.guard
        self._packing = options.packing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, then tells the watchers. Whatever goes wrong on the way becomes an answer here."""
        call = Call(scope, self._options.fresh_id)
        try:
            answer = await self._answer(call, receive)
        except Gone:
            return
        except Exception as error:  # noqa: BLE001 - the last place where a fault can become an answer
            answer = self._failed(call, error)
            _forget_frames(error)
        gzip, error_code, deleted, read = self._options.gzip, answer.error_code, answer.deleted, answer.read
        if answer.told is not None:
            self._options.log_failure({**answer.told, "request_id": call.request_id.decode("latin-1")})
        if self._packing is not None and call.packs_long(answer):
            gzip = await self._packing(answer)
        status, head, body = call.prepared(answer, gzip=gzip)
        del answer  # a long one would stay as long as the client takes to read what it was packed into
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body})
        if self._options.watchers:
            if call.found is None:
                call.family = self._dispatch.family(call.raw_path)
            seen = call.seen(status, len(body), error_code, deleted, read)
            for watcher in self._options.watchers:
                watcher(seen)

    async def _answer(self, call: Call, receive: Receive) -> Answer:
        """The order is the contract's: path, method, caller, media types, body, then the verb."""
        self._check_wanted(call)
        if call.method == "OPTIONS":
            return _options(self._dispatch.methods(call.raw_path))
        found = call.found = self._dispatch.find(call.method, call.raw_path)
        route, sent = found.route, call.headers
        if call.raw_path == b"/" and call.method in ("GET", "HEAD") and names_html(sent.get(b"accept", NONE)):
            return self._front_page
        registry, service = self._registry, self._options.service
        exchange = Exchange(
            found.params,
            call.query,
            self._rendered,
            service,
            found.prefix,
            found.context,
            self._options.keys,
            self._beside,
        )
        if self._authenticate is not None and route.access is not OPEN:
            principal = await caller_of(self._authenticate, sent.get(b"authorization"))
            if principal is None:
                if not call.relayed:
                    await keep_waiting(self._options.guesses, sent)
                raise Unauthorized(schemes=self._authenticate.schemes)
            call.principal = principal.name
            if self._options.rate is not None and principal.may:  # what it is denied counts: each is a line of the log
                self._options.rate.spend()
            registry = admitted(registry, route, exchange, principal)
        elif self._options.rate is not None and route.access is not OPEN:
            self._options.rate.spend()
        if route.of_server and not _may_ask_of_server(route, sent):
            raise DeniedEverywhere(operation=route.access.operation)
        if route.access not in (OPEN, READ):
            registry = attributed(registry, call.author(registry.options))
            exchange.if_match = sent.get(b"if-match", NONE)
        call.media = negotiate(
            sent.get(b"accept", NONE), sent.get(b"content-type", NONE), reads_body=route.body is not None
        )
        if route.body is not None:
            exchange.operation = route.body.operation
            exchange.body = await self._read(call, receive)
        if route.of_server and self._workers is not None:
            return await asyncio.to_thread(self._ask, route, exchange, registry)
        if self._is_answered_here(route, exchange):
            return self._ask(route, exchange, registry)
        try:
            return await self._work(partial(self._ask, route, exchange, registry), route, call, exchange, receive)
        except Unwanted:
            raise Gone from None
        except OutOfTime:
            raise TimedOut(operation=route.operation) from None

    def _check_wanted(self, call: Call) -> None:
        """Before anything is read or sent on. Raises what the guard raises, TargetTooLong."""
        if self._guard is not None:
            self._guard(call.method, call.headers)
        if len(call.raw_path) + len(call.query) > LONGEST_TARGET:
            raise TargetTooLong

    def _is_answered_here(self, route: Route, exchange: Exchange) -> bool:
        """Whether nothing would be won by giving the work to others, and no clock is needed for it."""
        return route.is_quick(exchange) and (self._workers is None or not self._workers.every_read)

    async def _work(self, job: Job, route: Route, call: Call, exchange: Exchange, receive: Receive) -> Answer:
        """What the job answers, wherever that is found out."""
        effort = effort_of(self._options.limits)
        if self._workers is None:
            with effort.turn():
                return job()
        size = len(exchange.body)
        answer = self._workers.glance(route, job, effort, size)
        if answer is not None:
            return answer
        return await self._workers(self._workers.of(route), Task(job, effort, call.asker, size), receive)

    def _ask(self, route: Route, exchange: Exchange, registry: Registry) -> Answer:
        answer = route.ask(exchange, registry)
        if route.validated and not answer.etag:
            answer.etag = etag(answer.body)
        limit = self._options.answer_bytes
        return answer if limit is None or fits(answer.body, limit) else refused(AnswerTooLarge(limit=limit))

    def _failed(self, call: Call, error: Exception) -> Answer:
        """Refusals say what they say. Storage that fails is named; any other fault is told to the log alone."""
        fault = error.__cause__ if isinstance(error, Refusal) else error
        if isinstance(error, KmsFailed | KmsDenied):
            fault = fault or error
        if fault is error or isinstance(fault, StoreError | KeyServiceFailed):
            self._options.log_failure(observe.failure(fault, request_id=call.request_id.decode("latin-1")))
        if isinstance(error, Refusal):
            return refused(error)
        if isinstance(error, StoreError):
            return refused(unserved(call.found.route if call.found else None, error))
        return refused(Unexpected())

    async def _read(self, call: Call, receive: Receive) -> bytes:
        """The whole body. Raises BodyTooLarge as soon as that is known."""
        limit = self._options.body_bytes
        length = call.headers.get(b"content-length", NONE)
        if length.isdigit() and int(length) > limit:
            raise BodyTooLarge(limit=limit)
        parts: list[bytes] = []
        small = bytearray()  # a body may come a byte at a time
        size = 0
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise Gone
            part = message.get("body", NONE)
            size += len(part)
            if size > limit:
                raise BodyTooLarge(limit=limit)
            if len(small) + len(part) < LEAST_PART:
                small += part
            else:
                parts += (bytes(small), part)
                small.clear()
            more = message.get("more_body", False)
        call.body_read = True
        return NONE.join((*parts, small))


def _may_ask_of_server(route: Route, sent: Mapping[bytes, bytes]) -> bool:
    """Not a page, perhaps of another site, but the registry's own: no registry asks as browsers do."""
    site = sent.get(b"sec-fetch-site")
    return site is None or (route.in_console and site == b"same-origin")


def _forget_frames(error: BaseException | None) -> None:
    """An error that was answered for holds the frames of its way, they hold it, and its body, too."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def _options(methods: Sequence[str]) -> Answer:
    """What OPTIONS tells of a path: its methods, in the body too."""
    listed = ", ".join(methods).encode()
    return Answer(200, listed, media=b"text/plain", headers=((b"allow", listed),))
