"""The application: FastAPI around one route that stands for the whole table, and sends raw ASGI messages.

FastAPI brings the lifespan, `/openapi.json` and `/docs`. Between it and the table stands nothing: a request by id costs
less than a stack of middleware. Everything asynchronous about the API is in this file.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter_ns
from typing import Any
from zlib import compress

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from sigla import observe
from sigla.errors import Refusal, StoreError, StoreFailed
from sigla.registry import Registry
from sigla.web import openapi
from sigla.web.answer import Answer, refused
from sigla.web.dispatch import Dispatch, Found
from sigla.web.exchange import Exchange, Service
from sigla.web.headers import Header, names, picked, request_id
from sigla.web.negotiate import V1, answer_type, negotiate, offers_gzip
from sigla.web.refusals import AnswerTooLarge, BodyTooLarge, TargetTooLong, Unexpected
from sigla.web.rendered import Rendered, etag
from sigla.web.routes import ROUTES, Route

Worker = Callable[[Callable[[], Answer]], Awaitable[Answer]]
"""Runs a job elsewhere and yields its answer: the local server's one writing thread."""

NONE = b""
ENCODING_VARIES: Header = (b"vary", b"Accept-Encoding")
PACKED: Header = (b"content-encoding", b"gzip")
CLOSE: Header = (b"connection", b"close")
DOCUMENTS = ("/openapi.json", "/docs")
DRAINED = 64 * 2**20
"""A refused body up to this size is read to its end by the server, so that the connection can go on."""


LONGEST_TARGET = 8 * 2**10
"""Bytes of path and query."""


@dataclass(frozen=True, slots=True)
class Options:
    """What an operator may decide about HTTP.

    answer_bytes: the most that fits through the front door, counted as it counts; None for no limit. gzip: off where a
    front door takes text only. cors_origins: who may call from a browser. watchers: are told of every request.
    """

    body_bytes: int = 4_000_000
    answer_bytes: int | None = None
    gzip: bool = True
    cors_origins: tuple[str, ...] = ()
    watchers: tuple[observe.Watcher, ...] = ()
    log_failure: Callable[[bytes], None] = observe.to_stdout
    service: Service = field(default_factory=Service)


class Gone(Exception):  # noqa: N818 - says what became of the client
    """The client left before its request was complete: nobody is there to answer."""


def build(
    registry: Registry,
    *,
    worker: Worker | None = None,
    options: Options | None = None,
    beside: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Any] | None = None,
) -> FastAPI:
    """The ASGI application over a registry.

    worker: for all that parses or writes; without one everything runs where it arrives. beside: routes that are not the
    API's (health, metrics), each with a `path`.
    """
    options = options or Options()
    app = Application(options, lifespan)
    elsewhere = frozenset({*DOCUMENTS, *(getattr(route, "path", "") for route in beside)})
    app.router.routes[:0] = [Table(registry, worker, options, elsewhere), *beside]
    return app


class Application(FastAPI):
    def __init__(self, options: Options, lifespan: Lifespan[Any] | None) -> None:
        super().__init__(
            title="Sigla", lifespan=lifespan, docs_url="/docs", redoc_url=None, swagger_ui_oauth2_redirect_url=None
        )
        self._cors_origins = options.cors_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """FastAPI first asks the environment whether somebody traces it; our log is the one that tells of requests."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        await self.middleware_stack(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        return openapi.document()

    def build_middleware_stack(self) -> ASGIApp:
        """Nothing, unless browsers of other sites may call."""
        if not self._cors_origins:
            return self.router
        return CORSMiddleware(
            self.router,
            allow_origins=self._cors_origins,
            allow_methods=sorted({route.method for route in ROUTES}),
            allow_headers=["*"],
            expose_headers=["ETag", "X-Request-ID"],
        )


class Table(BaseRoute):
    """All of `ROUTES` as one route. elsewhere: the few paths that are not its business."""

    def __init__(self, registry: Registry, worker: Worker | None, options: Options, elsewhere: frozenset[str]) -> None:
        self._registry = registry
        self._worker = worker
        self._options = options
        self._elsewhere = elsewhere
        self._dispatch = Dispatch(ROUTES)
        self._rendered = Rendered(registry)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        mine = scope["type"] == "http" and scope["path"] not in self._elsewhere
        return (Match.FULL, {}) if mine else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, then tells the watchers. Whatever goes wrong on the way becomes an answer here."""
        call = Call(scope)
        try:
            answer = await self._answer(call, receive)
        except Gone:
            return
        except Exception as error:  # noqa: BLE001 - the last place where a fault can become an answer
            answer = self._failed(call, error)
        sent = await self._send(call, answer, send)
        for watcher in self._options.watchers:
            watcher(call.seen(answer, sent))

    async def _answer(self, call: "Call", receive: Receive) -> Answer:
        """The order is the contract's: path, method, media types, body, then the verb."""
        if len(call.raw_path) + len(call.query) > LONGEST_TARGET:
            raise TargetTooLong
        if call.method == "OPTIONS":
            return _options(self._dispatch.methods(call.raw_path))
        found = call.found = self._dispatch.find(call.method, call.raw_path)
        route, headers = found.route, call.headers
        call.media = negotiate(
            headers.get(b"accept", NONE), headers.get(b"content-type", NONE), reads_body=route.body is not None
        )
        exchange = Exchange(found.params, call.query, self._rendered, self._options.service, found.prefix)
        if route.body is not None:
            exchange.operation = route.body.operation
            exchange.body = await self._read(call, receive)
        if self._worker is not None and (route.method != "GET" or _parses(call.query)):
            return await self._worker(partial(self._ask, route, exchange))
        return self._ask(route, exchange)

    def _ask(self, route: Route, exchange: Exchange) -> Answer:
        answer = route.endpoint(exchange, self._registry)
        if route.validated and not answer.etag:
            answer.etag = etag(answer.body)
        limit = self._options.answer_bytes
        return answer if limit is None or fits(answer.body, limit) else refused(AnswerTooLarge(limit=limit))

    def _failed(self, call: "Call", error: Exception) -> Answer:
        """Refusals say what they say. Storage that fails is named; any other fault is told to the log alone."""
        if isinstance(error, Refusal):
            return refused(error)
        observe.failure(error, request_id=call.request_id.decode("latin-1"), write=self._options.log_failure)
        if isinstance(error, StoreError):
            return refused(StoreFailed(operation=call.found.route.about if call.found else "The request"))
        return refused(Unexpected())

    async def _read(self, call: "Call", receive: Receive) -> bytes:
        """The whole body. Raises BodyTooLarge as soon as that is known."""
        limit = self._options.body_bytes
        length = call.headers.get(b"content-length", NONE)
        if length.isdigit() and int(length) > limit:
            raise BodyTooLarge(limit=limit)
        body = b""
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise Gone
            body = body + message["body"] if body else message.get("body", NONE)
            if len(body) > limit:
                raise BodyTooLarge(limit=limit)
            more = message.get("more_body", False)
        call.body_read = True
        return body

    async def _send(self, call: "Call", answer: Answer, send: Send) -> int:
        """Yields how many bytes of body were sent."""
        status, headers, body = self._prepared(call, answer)
        if not call.body_read and _must_close(call.headers):
            headers.append(CLOSE)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return len(body)

    def _prepared(self, call: "Call", answer: Answer) -> tuple[int, list[Header], bytes]:
        """Status, headers and body as they go out: packed, or not repeated to a client that has them."""
        body, tag = answer.body, answer.etag
        headers: list[Header] = [(b"x-request-id", call.request_id), *answer.headers]
        packable = self._options.gzip and call.method in ("GET", "POST")
        if packable:
            headers.append(ENCODING_VARIES)
        packs = packable and body and offers_gzip(call.headers.get(b"accept-encoding", NONE))
        if tag:
            tag = tag[:-1] + b'-gzip"' if packs else tag
            headers.append((b"etag", tag))
            known = call.headers.get(b"if-none-match")
            if known and names(known, tag):
                return 304, headers, NONE
        if packs:
            body = _packed(answer)
            headers.append(PACKED)
        media = call.media if answer.media is None else answer.media
        if media:
            headers.append((b"content-type", media))
        if answer.status != 204:
            headers.append((b"content-length", b"%d" % len(body)))
        return answer.status, headers, NONE if call.method == "HEAD" else body


class Call:
    """A request as it arrived. media: what to answer in; until that is negotiated, what the client would have liked."""

    __slots__ = ("_media", "body_read", "found", "headers", "method", "query", "raw_path", "request_id", "started")

    def __init__(self, scope: Scope) -> None:
        self.started = perf_counter_ns()
        self.method: str = scope["method"]
        self.raw_path: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.headers: Mapping[bytes, bytes] = picked(scope["headers"])
        self.request_id = request_id(self.headers)
        self.found: Found | None = None
        self.body_read = False
        self._media: bytes | None = None

    @property
    def media(self) -> bytes:
        return self._media or answer_type(self.headers.get(b"accept", NONE)) or V1.encode()

    @media.setter
    def media(self, negotiated: bytes) -> None:
        self._media = negotiated

    def seen(self, answer: Answer, sent: int) -> observe.Seen:
        params = self.found.params if self.found else {}
        return observe.Seen(
            self.method,
            self.found.route.path if self.found else "",
            answer.status,
            perf_counter_ns() - self.started,
            self.request_id.decode("latin-1"),
            sent,
            answer.error_code,
            params.get("subject"),
            params.get("id"),
        )


def _options(methods: Sequence[str]) -> Answer:
    """What OPTIONS tells of a path: its methods, in the body too."""
    listed = ", ".join(methods).encode()
    return Answer(200, listed, media=b"text/plain", headers=((b"allow", listed),))


def _parses(query: bytes) -> bool:
    """Whether a read makes a language read the schema: that may take long, so it is no work for the event loop."""
    return b"format=" in query or b"findTags=" in query


def _packed(answer: Answer) -> bytes:
    """The body in gzip, made once per answer: those by id are sent again and again."""
    if answer.packed is None:
        answer.packed = compress(answer.body, level=6, wbits=31)
    return answer.packed


def _must_close(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a body that was refused unread would be taken for the next request, or would never end."""
    length = headers.get(b"content-length", NONE)
    return b"expect" in headers or b"transfer-encoding" in headers or (length.isdigit() and int(length) > DRAINED)


def fits(body: bytes, limit: int) -> bool:
    """Whether an answer passes a front door that wraps it into a JSON string, where quotes and backslashes count twice."""
    if 2 * len(body) <= limit:
        return True
    return len(body) + body.count(b'"') + body.count(b"\\") <= limit
