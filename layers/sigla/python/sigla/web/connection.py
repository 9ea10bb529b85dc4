"""One connection of the local server: uvicorn's protocol, with bounds, and with our envelope where it is no HTTP."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from sigla.web.negotiate import V1
from sigla.web.wire import answers, text

LARGEST_HEAD = 64 * 2**10
"""Bytes of request line and headers beyond the packet they begin in, and of trailers; what is longer is given up."""


PATIENCE_S = 60.0
"""How long a request may take to arrive: who sends a byte now and then must not hold a connection for ever."""


class Connection(HttpToolsProtocol):
    """Refuses what is too long, too slow or no HTTP, but only after the requests before it have their answers."""

    _heads = 0
    _in_head = False
    _arriving = True
    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _trailer_bytes = 0
    _running: RequestResponseCycle | None = None
    _farewell = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's narrowing
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._farewell:
            return
        waiting, heads = self._in_head, self._heads
        super().data_received(data)
        # Only whole packets of one and the same head count: a packet may also carry bodies and other requests.
        if waiting and self._in_head and heads == self._heads:
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD:
                self._refuse(431, "The head of the request is too large")
        # A request that came in one packet, as nearly all do, needs no timer.
        if self._arriving and self._timer is None:
            self._wait()
        elif not self._arriving and self._timer is not None:
            self._stop_waiting()

    def on_message_begin(self) -> None:
        self._arriving = True
        self._heads += 1
        self._in_head, self._head_bytes, self._trailer_bytes = True, 0, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            super().on_header(name, value)
            return
        # Trailers: nobody reads them, so they are counted and not kept.
        self._trailer_bytes += len(name) + len(value)
        if self._trailer_bytes > LARGEST_HEAD and not self._farewell:
            self._refuse(431, "The trailers of the request are too large")

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._arriving = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._farewell and self._is_idle():
            self._leave()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(PATIENCE_S, self._give_up_waiting)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up_waiting(self) -> None:
        self._timer = None
        if not self._farewell:
            self._refuse(408, "The request did not arrive in time")

    def _refuse(self, status: int, sentence: str) -> None:
        body = text.write(answers.error(status, sentence))
        head = b"content-type: %s\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % (V1.encode(), len(body))
        self._farewell = STATUS_LINE[status] + head + body
        self._give_up_incomplete()
        if self._is_idle():
            self._leave()
        else:
            self.flow.pause_reading()

    def _give_up_incomplete(self) -> None:
        """The request whose body will never be complete: whoever waits for it is told that the client has gone."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.more_body:
            return
        cycle.disconnected = True
        cycle.message_event.set()
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()

    def _is_idle(self) -> bool:
        return self._running is None or self._running.response_complete or self._running.disconnected

    def _leave(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self._farewell)
            self.transport.close()
