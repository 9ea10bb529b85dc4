"""A connection to another registry, whatever that does: it ends in time, and at once when another thread ends it."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse
from io import BufferedReader, RawIOBase
from ipaddress import IPv6Address, ip_address
from math import inf
from socket import IPPROTO_TCP, SHUT_RDWR, SOCK_STREAM, TCP_NODELAY, AddressFamily, SocketKind, getaddrinfo, socket
from threading import Lock
from typing import Any, Final

from sigla.ports.clock import Clock

HTTPS_PORT: Final = 443
HTTP_PORT: Final = 80


def may_reach_all(_: str) -> bool:
    """Whatever this machine reaches, itself included."""
    return True


def may_reach_others(address: str) -> bool:
    """Not this machine, nor what stands beside it: in Lambda the API of its runtime, and where credentials come from.

    address: an IP address, as a name was resolved.
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    return not (found.is_loopback or found.is_link_local or found.is_unspecified or found.is_multicast)


@dataclass(frozen=True, slots=True)
class RemoteLimits:
    """patience_s: for a connection, and for each piece of an answer. whole_s: from a request to the end of its answer.

    connect_s: until there is a connection, whatever addresses the name has. longest: bytes of an answer. may_reach:
    whether an IP address may be connected to.
    """

    patience_s: float
    whole_s: float = inf
    connect_s: float = inf
    longest: int = 2**28
    may_reach: Callable[[str], bool] = may_reach_all


class NotReached(OSError):
    """An address that must not be connected to."""


class RemoteConnection(HTTPConnection):
    """One thread has it. tls: None for plain HTTP."""

    def __init__(
        self, host: str, port: int | None, limits: RemoteLimits, clock: Clock, tls: ssl.SSLContext | None
    ) -> None:
        usual = HTTPS_PORT if tls else HTTP_PORT
        super().__init__(host, port or usual)
        self.default_port = usual
        self.response_class = partial(_AnswerInTime, self)  # type: ignore[assignment]  # called as the class would be
        self._limits = limits
        self._clock = clock
        self._tls = tls
        self._lock = Lock()
        self._under_way: socket | None = None
        self._interrupted = False
        self._since = clock.elapsed()

    def request(self, *arguments: Any, **members: Any) -> None:
        self._since = self._clock.elapsed()
        super().request(*arguments, **members)

    def connect(self) -> None:
        """To the addresses of a name as they were looked at: the name is not resolved once more."""
        failure: OSError = OSError("its name has no address")
        try:
            found = getaddrinfo(self.host, self.port, type=SOCK_STREAM)
        except UnicodeError:
            raise OSError("its name cannot be looked up") from None
        until = self._clock.elapsed() + 1000 * self._limits.connect_s
        for family, kind, protocol, _, address in found:
            if not self._limits.may_reach(str(address[0])):
                failure = NotReached(f"{address[0]} must not be reached from here")
                continue
            try:
                self.sock = self._connected(family, kind, protocol, address, until)
            except OSError as why:
                failure = why
            else:
                return
        raise failure

    def _connected(self, family: AddressFamily, kind: SocketKind, protocol: int, address: Any, until: float) -> socket:
        made = socket(family, kind, protocol)
        try:
            self._watch(made)
            left_s = min(self.time_left_s(), (until - self._clock.elapsed()) / 1000)
            if left_s <= 0:
                raise TimeoutError(f"not connected within {self._limits.connect_s:.0f} s")
            made.settimeout(left_s)
            made.connect(address)
            made.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
            if self._tls:
                made = self._tls.wrap_socket(made, server_hostname=self.host, do_handshake_on_connect=False)
                self._watch(made)
                made.do_handshake()
            made.settimeout(self.time_left_s())
            self._watch(made)
        except (OSError, ValueError):
            made.close()
            raise
        return made

    def time_left_s(self) -> float:
        """For the next piece of an answer. Raises TimeoutError."""
        left_s = self._limits.whole_s - (self._clock.elapsed() - self._since) / 1000
        if left_s <= 0:
            raise TimeoutError(f"not within {self._limits.whole_s:.0f} s")
        return min(self._limits.patience_s, left_s)

    def interrupt(self) -> None:
        """By another thread: ends what this one waits for, and every later request."""
        with self._lock:
            self._interrupted = True
            if self._under_way is not None:
                with suppress(OSError):
                    self._under_way.shutdown(SHUT_RDWR)

    def _watch(self, under_way: socket) -> None:
        with self._lock:
            self._under_way = under_way
            if self._interrupted:
                raise ConnectionAbortedError("interrupted")


class _AnswerInTime(HTTPResponse):
    """Its head and its body come in time, however small the pieces are."""

    def __init__(self, connection: RemoteConnection, sock: socket, **members: Any) -> None:
        super().__init__(sock, **members)
        self.fp = BufferedReader(_InTime(self.fp, sock, connection))


class _InTime(RawIOBase):
    """sent: what the socket sends, of which nothing is read yet. Reads no longer than there is time."""

    _sent: BufferedReader | None = None
    """Missing where Ctrl-C came while this was made."""

    def __init__(self, sent: BufferedReader, sock: socket, connection: RemoteConnection) -> None:
        self._sock = sock
        self._connection = connection
        self._raw = sent.raw
        self._sent = sent

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        self._sock.settimeout(self._connection.time_left_s())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if self._sent is not None:
            self._sent.close()
        super().close()


class AnswerBrokenOff(HTTPException):
    """An answer without its end, of which `read` says nothing to who gives it a length."""

    def __init__(self) -> None:
        super().__init__("its answer breaks off")


class AnswerTooLong(HTTPException):
    """An answer with more than is read of one."""


def answer_pieces(answer: HTTPResponse, size: int) -> Iterator[bytes]:
    """Raises AnswerBrokenOff."""
    with answer:
        while piece := answer.read(size):
            yield piece
        if answer.length:
            raise AnswerBrokenOff


def whole_answer(answer: HTTPResponse, longest: int) -> bytes:
    """Raises AnswerBrokenOff, AnswerTooLong."""
    with answer:  # one that ends with its connection holds the socket open
        body = answer.read(longest + 1)
        if len(body) > longest:
            raise AnswerTooLong(f"its answer has more than {longest // 2**20} MiB")
        if answer.length:
            raise AnswerBrokenOff
        return body
