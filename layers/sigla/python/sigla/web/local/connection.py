"""One connection of the local server: uvicorn's protocol, with bounds, and with our envelope for what is not HTTP.

What arrives is given to the parser in small pieces, and none while an answer waits: for its turn behind another one, or
for the client to take it. Then reading stops as well, and the client's own system holds the rest. So a connection costs
the request that is being answered, the few of the same piece, and what one read brings; `Crowd` counts them all.
"""

import asyncio
from collections import deque
from typing import Any

import httptools
from uvicorn import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from sigla.web.http.refusals import (
    BadRequest,
    HeadTooLarge,
    HttpRefusal,
    MethodNotAllowed,
    NoConnectionFree,
    RequestTooSlow,
    TargetTooLong,
    TooMuchArrives,
    TrailersTooLarge,
)
from sigla.web.local.crowd import LAST_PATIENCE_S, Crowd
from sigla.web.local.flow import Flow, until_given_up
from sigla.web.local.spoken import NO_HTTP, begins_as_request, escaped, in_the_system, is_request_line, refusal_bytes

LARGEST_HEAD = 64 * 2**10
"""Bytes of request line and headers beyond the packet they begin in, and of trailers; what is longer is given up."""

MOST_HEADERS = 512
"""Lines of one head, which cost more than their bytes."""

LONGEST_TARGET = 8 * 2**10

PATIENCE_S = 60.0
"""How long a request may take to arrive: who sends a byte now and then must not hold a connection for ever."""

PIECE = 4 * 2**10
"""Bytes that the parser gets at once: it cannot stop before their end, however many requests they hold."""

MOST_CHUNKS = 256
"""Pieces of a body that are taken at once; then it is the turn of the other connections."""

LEAST_COST = 2 * 2**10
"""Bytes that a request costs beside its own, in objects."""

HIGH_WATER = 16 * 2**10
"""Bytes of an answer that may wait before nothing is read and nothing else is answered."""


class Connection(HttpToolsProtocol):
    """Refuses what is too long, too slow or no HTTP, but only after the requests before it have their answers."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        crowd: Crowd | None = None,
        patience_s: float = PATIENCE_S,
        last_patience_s: float = LAST_PATIENCE_S,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._crowd = crowd or Crowd()
        self._patience_s, self._last_patience_s = patience_s, last_patience_s
        self._heads = 0
        self._in_head = False
        self._arriving = False
        self._upgrading = False
        self._first_line = b""
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._trailer_bytes = 0
        self._running: RequestResponseCycle | None = None
        self._refusal: HttpRefusal | None = None
        self._farewell = b""
        self._unfed = b""
        self._chunks = 0
        self._turn: asyncio.Handle | None = None
        # What the crowd counts of this connection: a cost for each request in hand, the newest last, and the rest.
        self._costs: deque[int] = deque()
        self._beside = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's narrowing
        super().connection_made(transport)
        self.flow = Flow(transport, self._may_read)
        transport.set_write_buffer_limits(high=HIGH_WATER)
        if len(self.connections) > self._crowd.connections and not self._crowd.make_room():
            self._refuse(NoConnectionFree())
            return
        self._crowd.rests(self, self.loop.time())
        self._wait(self._patience_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._crowd.idle.pop(self, None)
        self._crowd.goes_on(self)
        for _ in self.pipeline:
            self._crowd.held -= self._costs.pop()
        self.pipeline.clear()
        self._unfed, self._first_line, self._in_head = b"", b"", False
        self._count()
        super().connection_lost(exc)
        if self.cycle is not None:
            self.cycle.body.clear()  # now, not when the circle of connection and request is found

    def pause_writing(self) -> None:
        super().pause_writing()
        self._crowd.waits(self, self.loop.time())
        self.flow.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._crowd.goes_on(self)
            self._go_on()

    def shutdown(self) -> None:
        """No further request is begun here; one that is still arriving has little time left."""
        super().shutdown()
        if self._arriving and not self._farewell:
            self._stop_waiting()
            self._wait(self._last_patience_s)
        if self.transport.is_closing():
            self._crowd.waits(self, self.loop.time())

    def untaken(self) -> int:
        return self.unsent() + in_the_system(self.transport)

    def unsent(self) -> int:
        return int(self.transport.get_write_buffer_size())

    def leave_idle(self) -> None:
        if self.unsent():
            self.transport.abort()
        else:
            self.transport.close()

    def give_up(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._farewell:
            return
        if self._unfed:
            self._unfed += data
        elif self._arriving and not self._first_line:
            self._feed(data)
        else:
            self._begin(data)
        self._settle()

    def _begin(self, data: bytes) -> None:
        """A request's first line is read as a whole: only then is it known what it means."""
        data = self._first_line + data
        self._arriving = b"\n" not in data and len(data) <= LONGEST_TARGET and begins_as_request(data)
        self._first_line = data if self._arriving else b""
        if not self._arriving:
            self._feed(data if data.isascii() else escaped(data))

    def _feed(self, data: bytes) -> None:
        """Has the parser read as much as may be answered now; the rest is kept."""
        if len(data) <= PIECE and not self._is_busy():
            self._unfed = b""
            self._parse(data)
            return
        rest = memoryview(data)
        self._chunks = 0
        while rest and not self._is_busy() and self._chunks < MOST_CHUNKS:
            self._parse(rest[:PIECE])
            rest = rest[PIECE:]
        self._unfed = b"" if self._farewell else bytes(rest)
        if self._unfed and not self._is_busy() and self._turn is None:
            self._turn = self.loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._turn = None
        self._go_on()

    def _parse(self, piece: bytes | memoryview) -> None:
        waiting, heads, whole, chunks = self._in_head, self._heads, not self._arriving, self._chunks
        size = len(piece)
        while piece:
            try:
                self.parser.feed_data(piece)
                break
            except httptools.HttpParserUpgrade as found:
                if self.parser.get_method() == b"CONNECT":
                    self._refuse(MethodNotAllowed())
                    return
                piece = self._without_upgrade() + bytes(piece[found.args[0] :])
            except httptools.HttpParserInvalidMethodError:
                unknown = whole and self._heads == heads + 1 and is_request_line(bytes(piece))
                self._refuse(MethodNotAllowed() if unknown else BadRequest(reason=NO_HTTP))
                return
            except httptools.HttpParserError:
                self._refuse(self._refusal or BadRequest(reason=NO_HTTP))
                return
        # Only whole packets of one and the same head count: a packet may also carry bodies and other requests.
        if waiting and self._in_head and heads == self._heads:
            self._head_bytes += size
            if self._head_bytes > LARGEST_HEAD:
                self._refuse(TargetTooLong() if len(self.url) > LONGEST_TARGET else HeadTooLarge())
        elif self._arriving and not self._in_head and chunks == self._chunks:
            # No byte of a body came: the parser keeps what may be a trailer, which is never read.
            self._trailer_bytes += size
            if self._trailer_bytes > LARGEST_HEAD:
                self._refuse(TrailersTooLarge())

    def _without_upgrade(self) -> bytes:
        """The head that asked for another protocol, as one that does not: a server may ignore that (RFC 9110, 7.8).

        The parser has left the rest of the message unread, for that other protocol; a new one reads it as HTTP.
        """
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        return b"\r\n".join([*lines, b"", b""])

    def on_message_begin(self) -> None:
        self._arriving = True
        self._upgrading = False
        self._heads += 1
        self._in_head, self._head_bytes, self._trailer_bytes = True, 0, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            if len(self.headers) >= MOST_HEADERS:
                self._stop_parsing(HeadTooLarge())
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            self._upgrading = True
            return
        if len(self.url) >= LARGEST_HEAD:  # the next parser could not read it
            self._stop_parsing(TargetTooLong())
        self._in_head = False
        self._crowd.idle.pop(self, None)
        cost = LEAST_COST + self._head_bytes
        super().on_headers_complete()
        if self._crowd.ends:
            self.cycle.keep_alive = False
        self._costs.append(cost)
        self._crowd.held += cost

    def on_body(self, body: bytes) -> None:
        self._chunks += 1
        self._trailer_bytes = 0
        cycle = self.cycle
        if cycle.response_complete or cycle.disconnected:
            return
        cycle.body += body
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()
        self._costs[-1] += len(body)
        self._crowd.held += len(body)
        if self._crowd.is_full_for(self._costs[-1]):
            self._stop_parsing(TooMuchArrives())

    def on_message_complete(self) -> None:
        if self._upgrading:
            return
        self._arriving = False
        super().on_message_complete()

    def _stop_parsing(self, refusal: HttpRefusal) -> None:
        """To be called within the parser, which then raises.

        What is kept is not what is raised: that holds the frames of its way, with all that they have read.
        """
        self._refusal = refusal
        raise httptools.HttpParserError

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        task = self.loop.create_task(cycle.run_asgi(until_given_up(app, cycle)))
        task.add_done_callback(self._done)
        self.tasks.add(task)

    def _done(self, task: "asyncio.Task[None]") -> None:
        """A request costs something until its work is done, also where its client has left."""
        self.tasks.discard(task)
        self._crowd.held -= self._costs.popleft()

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            self._crowd.waits(self, self.loop.time())
            return
        self._go_on()

    def _go_on(self) -> None:
        """Answers and reads what waits, unless another answer is in the way."""
        if self.flow.write_paused or self.transport.is_closing():
            return
        if self._is_idle() and self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._is_idle() and self._farewell:
            self._leave()
        if self._unfed and not self._is_busy():
            self._feed(self._unfed)
        self.flow.resume_reading()
        self._settle()

    def _settle(self) -> None:
        """After something was read or answered: what is counted, and what is waited for."""
        self._count()
        if self._farewell:
            return
        # A request that came in one packet, as nearly all do, needs no timer.
        if self._arriving and not self._unfed and not self._is_busy():
            if self._timer is None:
                self._wait(self._patience_s)
        elif self._timer is not None:
            self._stop_waiting()
        if self._unfed:
            self.flow.pause_reading()
        elif self not in self._crowd.idle and self._is_idle() and not self.pipeline:
            self._crowd.rests(self, self.loop.time())

    def _count(self) -> None:
        beside = len(self._unfed) + len(self._first_line) + (self._head_bytes if self._in_head else 0)
        if beside != self._beside:
            self._crowd.held += beside - self._beside
            self._beside = beside
            if self._crowd.is_full_for(beside) and not self._farewell:
                self._refuse(TooMuchArrives())

    def _wait(self, patience_s: float) -> None:
        self._timer = self.loop.call_later(patience_s, self._give_up_waiting)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up_waiting(self) -> None:
        self._timer = None
        if not self._farewell:
            self._refuse(RequestTooSlow())

    def _is_idle(self) -> bool:
        """Whether no answer is being made."""
        return self._running is None or self._running.response_complete or self._running.disconnected

    def _is_busy(self) -> bool:
        """Whether an answer waits, so that nothing else is read."""
        return bool(self.pipeline or self.flow.write_paused or self._farewell)

    def _may_read(self) -> bool:
        return not self._unfed and not self._is_busy()

    def _refuse(self, refusal: HttpRefusal) -> None:
        """The last answer of this connection, once those before it are sent."""
        self._farewell = refusal_bytes(refusal)
        self._unfed = self._first_line = b""
        self._crowd.idle.pop(self, None)
        self._stop_waiting()
        self._give_up_incomplete()
        if self._is_idle() and not self.pipeline and not self.flow.write_paused:
            self._leave()
        else:
            self.flow.pause_reading()

    def _give_up_incomplete(self) -> None:
        """The request whose body will never be complete: whoever waits for it is told that the client has gone."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.more_body:
            return
        cycle.disconnected = True
        cycle.body.clear()
        cycle.message_event.set()
        self._crowd.held -= self._costs[-1]
        self._costs[-1] = 0  # not when its task ends: one too many is refused, not all who come in the same moment
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()
            self._costs.pop()

    def _leave(self) -> None:
        if self.transport.is_closing():
            return
        half_told = self._running and self._running.response_started and not self._running.response_complete
        if not half_told:
            self.transport.write(self._farewell)
        self.transport.close()
        self._crowd.waits(self, self.loop.time())
