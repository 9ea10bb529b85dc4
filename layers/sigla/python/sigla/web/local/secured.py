"""A connection over TLS: what arrives is opened for the protocol behind it, what is answered is sealed.

The handshake is computed in threads, and counts as a connection from its first byte: who begins one and does not end it
has to leave as who is idle does. After it everything is done at once, on the event loop: of what one read brought, all
is opened and handed on in one piece, so the bounds of `Connection` hold here as they do without TLS.
"""

import asyncio
import ssl
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from sigla.web.http.refusals import BadRequest
from sigla.web.local.connection import Connection
from sigla.web.local.crowd import Crowd
from sigla.web.local.handshakes import LATE, PLAIN, Handshakes
from sigla.web.local.spoken import refusal_bytes

PATIENCE_S = 10.0
"""How long a handshake may take: it is two short messages of the client's."""

HANDSHAKE = 22
"""The first byte of a connection of TLS."""

RECORD = 16 * 2**10
"""Bytes of the longest record: more cannot be opened at once."""

NO_TLS = "This port speaks TLS: use a URL that begins with https://"


class Secured(asyncio.Protocol):
    """One connection. behind: what sees it in the clear, once the handshake is done."""

    def __init__(self, behind: Connection, handshakes: Handshakes, crowd: Crowd) -> None:
        self._behind = behind
        self._handshakes = handshakes
        self._crowd = crowd
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._secured = handshakes.begin(self._incoming, self._outgoing)
        self._begun = False
        self._open = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        self._raw = transport
        self._behind.connections.add(self)  # type: ignore[arg-type]  # what is counted, and shut down
        # Where nothing makes room, it is told so in HTTP after its handshake, unless the next one comes before that.
        if len(self._behind.connections) > self._crowd.connections:
            self._crowd.make_room()
        self._crowd.rests(self, self._behind.loop.time())
        self._timer = self._behind.loop.call_later(PATIENCE_S, self._give_up, LATE)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_handshake()
        if self._open:
            self._behind.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._begun and data[0] != HANDSHAKE:
            self._refuse(data)
            return
        self._begun = True
        self._incoming.write(data)
        if self._open:
            self._read()
        else:
            self._step()

    def pause_writing(self) -> None:
        if self._open:
            self._behind.pause_writing()

    def resume_writing(self) -> None:
        if self._open:
            self._behind.resume_writing()

    def shutdown(self) -> None:
        """The server stops: what a handshake would lead to is not there any more."""
        self._raw.abort()

    def untaken(self) -> int:
        return 0

    def unsent(self) -> int:
        return 0

    def leave_idle(self) -> None:
        self._raw.abort()

    def give_up(self) -> None:
        self._raw.abort()

    def _step(self) -> None:
        """Nothing is read meanwhile: the thread has it all to itself."""
        self._raw.pause_reading()
        loop = self._behind.loop
        step = self._handshakes.step(self._secured)
        step.add_done_callback(lambda done: _safely(loop, self._stepped, done))

    def _stepped(self, step: "Future[None]") -> None:
        if self._raw.is_closing() or step.cancelled():
            return
        problem = step.exception()
        self._send()  # also what tells the client why it failed
        if problem is None:
            self._handshakes.done += 1
            self._end_handshake()
            self._open = True
            self._behind.connection_made(Sealed(self._raw, self._secured, self._send))
            if not self._raw.is_closing():
                self._raw.resume_reading()
                self._read()
        elif isinstance(problem, ssl.SSLWantReadError):
            self._raw.resume_reading()
        else:
            reason = problem.reason if isinstance(problem, ssl.SSLError) else type(problem).__name__
            self._handshakes.fails(reason or "unknown", self._client)
            self._raw.close()

    def _end_handshake(self) -> None:
        self._behind.connections.discard(self)
        self._crowd.idle.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, data: bytes) -> None:
        """Who speaks HTTP here is told so in HTTP; others would not understand it."""
        if data[:1].isalpha():
            self._raw.write(refusal_bytes(BadRequest(reason=NO_TLS)))
        self._handshakes.fails(PLAIN, self._client)
        self._raw.close()

    def _give_up(self, reason: str) -> None:
        self._handshakes.fails(reason, self._client)
        self._raw.abort()

    @property
    def _client(self) -> str:
        return str((self._raw.get_extra_info("peername") or ("unknown",))[0])

    def _read(self) -> None:
        opened, over = [], False
        try:
            while not over and (self._incoming.pending or self._secured.pending()):
                opened.append(self._secured.read(RECORD))
                over = not opened[-1]
        except ssl.SSLWantReadError:
            pass  # the rest of a record is on its way
        except ssl.SSLError:
            self._raw.abort()  # what came is not what was sent
            return
        if data := b"".join(opened):
            self._behind.data_received(data)
        if over:
            self._behind.transport.close()
        else:
            self._send()  # an answer to a change of keys

    def _send(self) -> None:
        if self._outgoing.pending and not self._raw.is_closing():
            self._raw.write(self._outgoing.read())


class Sealed(asyncio.Transport):
    """What the protocol behind writes to. send: takes what is sealed to the client."""

    def __init__(self, raw: asyncio.Transport, secured: ssl.SSLObject, send: Callable[[], None]) -> None:
        super().__init__()
        self._raw = raw
        self._secured = secured
        self._send = send

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "sslcontext":
            return self._secured.context
        return self._raw.get_extra_info(name, default)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if data and not self._raw.is_closing():
            self._secured.write(data)
            self._send()

    def close(self) -> None:
        """Says that nothing follows, so that a client knows it has everything; an answer to that is not waited for."""
        if not self._raw.is_closing():
            with suppress(ssl.SSLError):
                self._secured.unwrap()
            self._send()
            self._raw.close()

    # As they are: bytes that wait are counted sealed, and reading stops where it begins.

    def abort(self) -> None:
        self._raw.abort()

    def is_closing(self) -> bool:
        return self._raw.is_closing()

    def pause_reading(self) -> None:
        self._raw.pause_reading()

    def resume_reading(self) -> None:
        self._raw.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._raw.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._raw.set_write_buffer_limits(high, low)


def _safely(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: object) -> None:
    """On the loop, unless it has ended meanwhile."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *arguments)
