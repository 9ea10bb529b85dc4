"""The real `sigla serve` in a process of its own, and what tests say to it."""

import gzip
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPSConnection, parse_headers
from pathlib import Path
from typing import Any, Self

import psutil

from tests.protocol.clients.forked import Forked
from tests.waiting import PATIENCE_S, eventually

SIGLA = Path(sys.executable).parent / "sigla"

V1 = "application/vnd.schemaregistry.v1+json"

_URL = re.compile(r"\burl\s+(https?://(\S+):(\d+))")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        packed = self.headers.get("content-encoding") == "gzip"
        return json.loads(gzip.decompress(self.body) if packed else self.body)


Asks = Callable[..., Answer]
"""What `Server.ask` is: method, path, body, headers to an answer."""


class Server:
    """A running registry. Its output is read all the time, so that a full pipe never stops it.

    authority: whose certificates are trusted, where it speaks TLS.
    """

    def __init__(self, process: "subprocess.Popen[bytes] | Forked", authority: Path | None = None) -> None:
        self.process = process
        self.trusting = ssl.create_default_context(cafile=authority) if authority else None
        self.lines: list[str] = []
        self.complaints: list[str] = []
        self._news = threading.Condition()
        self._over = 0
        self._readers = [
            threading.Thread(target=self._read, args=(process.stdout, self.lines), daemon=True),
            threading.Thread(target=self._read, args=(process.stderr, self.complaints), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self.url, self.host, self.port = "", "", 0

    def _read(self, pipe: Any, lines: list[str]) -> None:
        for line in pipe:
            with self._news:
                lines.append(line.decode(errors="replace").rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._over += 1
            self._news.notify_all()

    @property
    def output(self) -> str:
        """What it writes for machines: a line of JSON per request."""
        return "\n".join(self.lines)

    @property
    def banner(self) -> str:
        """What it writes for people."""
        return "\n".join(self.complaints)

    @property
    def said(self) -> str:
        """Everything, for the message of a test that fails."""
        return f"{self.output}\n--- standard error:\n{self.banner}"

    def wait_for(self, happened: Callable[["Server"], object]) -> None:
        """Returns as soon as something is true of what the server has printed."""
        with self._news:
            told = self._news.wait_for(lambda: happened(self) or self._over == len(self._readers), PATIENCE_S)
        assert told, f"the server never said it:\n{self.said}"
        assert happened(self), f"the server ended without saying it:\n{self.said}"

    def wait_until_ready(self) -> None:
        """The banner tells where, `/health/ready` tells when."""
        self.wait_for(lambda server: _URL.search(server.banner))
        found = _URL.search(self.banner)
        assert found
        self.url, self.host, self.port = found[1], found[2], int(found[3])
        eventually(lambda: self.process.poll() is not None or self._answers_ready())
        assert self.process.poll() is None, f"the server ended at once:\n{self.said}"

    def _answers_ready(self) -> bool:
        try:
            return self.ask("GET", "/health/ready").status == 200
        except OSError:
            return False

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, **query: object
    ) -> Answer:
        """One request on a connection of its own. A body that is not bytes is sent as JSON."""
        connection = self.connection()
        try:
            return ask(connection, method, path, body, headers, **query)
        finally:
            connection.close()

    def connection(self) -> HTTPConnection:
        """Opened by its first request."""
        if self.trusting:
            return HTTPSConnection(self.host, self.port, timeout=PATIENCE_S, context=self.trusting)
        return HTTPConnection(self.host, self.port, timeout=PATIENCE_S)

    @contextmanager
    def kept(self) -> Iterator[Asks]:
        """Like `ask`, on one connection for all."""
        connection = self.connection()
        try:
            yield partial(ask, connection)
        finally:
            connection.close()

    def raw(self, *pieces: bytes, method: str = "GET") -> Answer:
        """The first answer to bytes as they are. OSError without an answer."""
        with self.connected() as wire:
            wire.send(*pieces)
            return wire.receive(method)

    def connected(self) -> "Wire":
        plain = socket.create_connection((self.host, self.port), PATIENCE_S)
        return Wire(self.trusting.wrap_socket(plain, server_hostname=self.host) if self.trusting else plain)

    @property
    def memory(self) -> int:
        """Resident bytes, of the process and its children."""
        process = psutil.Process(self.process.pid)
        return sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))

    @property
    def cpu_s(self) -> float:
        """Seconds of user time, of all threads."""
        return float(psutil.Process(self.process.pid).cpu_times().user)

    def stop(self) -> None:
        """As an operator does. It must end well and leave no process behind."""
        self.process.send_signal(signal.SIGTERM)
        status = self.wait()
        assert status == 0, f"stopped with status {status}:\n{self.said}"
        assert not self.alive(), "the server left a child behind"

    def kill(self) -> None:
        """As a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        status = self.process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        return status

    def alive(self) -> bool:
        """Whether any process of the server's group still runs."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True


class Wire:
    """A connection on which a client says what it likes."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._incoming = connection.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._incoming.close()
        self.socket.close()

    def send(self, *pieces: bytes) -> None:
        """As much as the server wants to have: it may have answered and left before the end."""
        with suppress(ConnectionError):
            for piece in pieces:
                self.socket.sendall(piece)

    def ends(self) -> None:
        """Nothing follows from this side."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def receive(self, method: str = "GET") -> Answer:
        """The next answer. OSError if the server left without one."""
        line = self._incoming.readline()
        if not line:
            raise ConnectionResetError("the server left without an answer")
        status = int(line.split()[1])
        headers = {name.lower(): value for name, value in parse_headers(self._incoming).items()}
        has_body = method != "HEAD" and status >= 200 and status not in (204, 304)
        body = self._incoming.read(int(headers.get("content-length", 0))) if has_body else b""
        return Answer(status, headers, body)

    def left(self) -> bool:
        """Whether the server hangs up without another word."""
        with suppress(ConnectionError):
            return self._incoming.read(1) == b""
        return True


def ask(
    connection: HTTPConnection,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    **query: object,
) -> Answer:
    """One request on a connection that stays open."""
    if query:
        path += "?" + "&".join(f"{name}={value}" for name, value in query.items())
    said = {"Content-Type": V1, **(headers or {})} if body is not None else dict(headers or {})
    sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, sent, said)
    answer = connection.getresponse()
    told = answer.read()
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, told)


def command(*arguments: str) -> list[str]:
    return [str(SIGLA), *arguments]


def environment(**settings: str) -> dict[str, str]:
    """The tests' own, without the settings of whoever runs them."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SIGLA_")}
    return {**inherited, "PYTHONUNBUFFERED": "1", **settings}


def start(
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    descriptors: int | None = None,
    authority: Path | None = None,
    typed: bool = False,
) -> Server:
    """Not ready yet; in a session of its own, so that its children can be counted.

    descriptors: how many it may have open. authority: as of `Server`. typed: begun by the command, as an operator
    begins it, and not as a fork.
    """
    words, environ = ["serve", *arguments], environment(**(settings or {}))
    if not typed:
        return Server(Forked(words, environ, cwd, descriptors), authority)
    pipe = subprocess.PIPE
    return Server(
        subprocess.Popen(
            command(*words), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environ, start_new_session=True
        ),
        authority,
    )


def run(*arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """A command that is expected to end by itself. It says less than fills a pipe."""
    process = Forked(arguments, environment(**settings))
    with process.stdout, process.stderr:
        output, complaints = process.stdout.read().decode(), process.stderr.read().decode()
    return subprocess.CompletedProcess(["sigla", *arguments], process.wait(PATIENCE_S), output, complaints)


@contextmanager
def serving(
    data: Path | None = None,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    descriptors: int | None = None,
    authority: Path | None = None,
    typed: bool = False,
) -> Iterator[Server]:
    """A registry that is ready, on a port of its own; without data in memory. It is stopped and has to end well.

    settings, cwd, descriptors, authority, typed: of `start`.
    """
    where: Sequence[str] = ["--memory"] if data is None else ["--data", str(data)]
    server = start(
        *("--port", "0", *where, *arguments),
        settings=settings,
        cwd=cwd,
        descriptors=descriptors,
        authority=authority,
        typed=typed,
    )
    try:
        server.wait_until_ready()
        yield server
        if server.process.poll() is None:
            server.stop()
    finally:
        if server.alive():
            server.kill()
