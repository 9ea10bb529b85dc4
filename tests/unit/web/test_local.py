import asyncio
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from sigla.observe import Gathered, Seen
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.local import server
from sigla.web.local.connection import Connection
from tests.build import FixedClock
from tests.unit.web.conftest import Client


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready", "/metrics"])
def test_probes_ask_as_they_like(registry: Registry, path: str) -> None:
    """Free of content negotiation: a probe sends no Accept, or a strange one."""
    assert (
        Client(server.application(registry))(
            "GET", path, None, {"accept": "text/plain", "content-type": "text/plain"}
        ).status
        == 200
    )


def test_a_server_whose_store_is_silent_is_not_ready(registry: Registry) -> None:
    """It lives, and should get no requests."""
    client = Client(server.application(registry, ready=lambda: False))
    assert (client("GET", "/health/ready").status, client("GET", "/health/live").status) == (503, 200)


def test_metrics_tell_of_requests(registry: Registry) -> None:
    """And of what is stored."""
    client = Client(server.application(registry, stored=lambda: 7))
    client("GET", "/config")
    told = client("GET", "/metrics")
    assert told.headers["content-type"].startswith("text/plain")
    assert 'sigla_requests_total{method="GET",route="/config",status="200"} 1' in told.text
    assert "kafka_schema_registry_registered_count 7" in told.text


def test_watchers_of_the_operator_are_kept(registry: Registry) -> None:
    """The counters join the log, they do not replace it; a caller that asks for metrics gets all until now."""
    told: list[Any] = []
    options = app.HttpOptions(watchers=(told.append,))
    client = Client(server.application(registry, options=options))
    client("GET", "/")
    client("GET", "/metrics")
    assert len(told) == 1


class Transport:
    """The writing end of a connection that is a list."""

    def __init__(self) -> None:
        self.sent = b""
        self.closed = False
        self.ended = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True
        self.ended.set()

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def set_write_buffer_limits(self, high: int) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_extra_info(self, _: str) -> Any:
        return None


def refused(registry: Registry, *chunks: bytes) -> tuple[bytes, Any]:
    """The head and the JSON body of what a connection is answered."""

    async def talk() -> bytes:
        config = uvicorn.Config(server.application(registry), lifespan="off")
        config.load()
        protocol = Connection(config, ServerState(), {}, asyncio.get_running_loop())
        transport: Any = Transport()
        protocol.connection_made(transport)
        for chunk in chunks:
            if not transport.closed:
                protocol.data_received(chunk)
        await transport.ended.wait()
        return bytes(transport.sent)

    head, _, body = asyncio.run(talk()).partition(b"\r\n\r\n")
    return head, json.loads(body)


@pytest.mark.parametrize(
    "request_line",
    [b"GARBAGE\r\n\r\n", b"GET /\x01 HTTP/1.1\r\nhost: h\r\n\r\n", b"GET / HTTP/1.1\r\nhost : h\r\n\r\n"],
)
def test_what_is_no_http_is_refused_in_the_envelope(registry: Registry, request_line: bytes) -> None:
    """HTTP-16: a sentence with a number, then the end of the connection."""
    head, told = refused(registry, request_line)
    assert head.startswith(b"HTTP/1.1 400 ")
    assert told["error_code"] == 400
    assert b"connection: close" in head


@pytest.mark.parametrize("cut", range(1, len("GET /schemas/ids/Größe HTTP/1.1\r\n".encode()), 3))
def test_a_first_line_means_the_same_wherever_it_is_cut(registry: Registry, cut: int) -> None:
    """HTTP-15, HTTP-16: where a network begins its next packet is up to the network."""
    end = b"host: h\r\nconnection: close\r\n\r\n"
    for line, status in (("GET /schemas/ids/Größe HTTP/1.1\r\n", 404), ("FETCH /schemas/ids/1 HTTP/1.1\r\n", 405)):
        head, told = refused(registry, line.encode()[:cut], line.encode()[cut:] + end)
        assert int(head.split()[1]) == status
        assert told["error_code"] == status


def test_endless_headers_are_given_up(registry: Registry) -> None:
    """Memory has a bound, whoever writes."""
    line = b"x-filler: " + b"a" * 8000 + b"\r\n"
    head, told = refused(registry, b"GET / HTTP/1.1\r\nhost: h\r\n", *[line] * 20)
    assert head.startswith(b"HTTP/1.1 431 ")
    assert told["error_code"] == 431


Talk = Callable[[socket.socket], None]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Seen]:
    """What the log of `served` was told: nothing until it has to be."""
    monkeypatch.setattr(server, "Gathered", partial(Gathered, delay_s=60))
    return []


@pytest.fixture
def served(told: list[Seen]) -> Iterator[Callable[[Talk], None]]:
    """Serves while a client talks, in another thread, to the server; comes back when the server has ended."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def serve(talk: Talk) -> None:
        failures: list[BaseException] = []

        def converse(url: str) -> None:
            try:
                with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=20) as connection:
                    talk(connection)
            except BaseException as failure:  # noqa: BLE001 - told to the test, which is another thread
                failures.append(failure)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

        with EmbeddedStore() as store:
            registry = Registry(store.catalog, store.bodies, FixedClock())
            options = app.HttpOptions(watchers=(told.append,))
            application = server.application(registry, group=store.group, step=store.step, options=options)
            with server.listening("127.0.0.1", [0]) as sockets:
                talking = threading.Thread(target=converse, args=(server.url(sockets[0]),))
                server.serve(application, sockets, started=talking.start)
        if failures:
            raise failures[0]

    yield serve
    for number, handler in before.items():
        signal.signal(number, handler)


def answer(connection: socket.socket) -> bytes:
    """One whole answer: its head and the body that the head announces."""
    head, received = b"", connection.recv(65536)
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def test_what_has_begun_is_finished_before_the_server_ends(served: Callable[[Talk], None]) -> None:
    """SIGTERM in the middle of a request: it is answered, and the server ends as if nothing had happened."""

    def talk(connection: socket.socket) -> None:
        body = b'{"schema":"\\"int\\""}'
        head = b"POST /subjects/s/versions HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n"
        connection.sendall(head % len(body))
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        os.kill(os.getpid(), signal.SIGTERM)
        connection.sendall(body)
        assert b'"id":1' in answer(connection)

    served(talk)


def test_the_log_is_told_of_every_request_before_the_server_ends(
    served: Callable[[Talk], None], told: list[Seen]
) -> None:
    """SIGTERM right after an answer: what is told a moment later is told then."""

    def talk(connection: socket.socket) -> None:
        for _ in range(300):
            connection.sendall(b"GET /subjects HTTP/1.1\r\nhost: h\r\n\r\n")
            answer(connection)

    served(talk)
    assert len(told) == 300


def test_a_server_that_is_not_given_time_to_end_tells_of_its_requests(
    served: Callable[[Talk], None], told: list[Seen]
) -> None:
    """A second signal cancels what is running."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(b"GET /subjects HTTP/1.1\r\nhost: h\r\n\r\n")
        answer(connection)
        connection.sendall(b"POST /subjects/s HTTP/1.1\r\nhost: h\r\ncontent-length: 9\r\n\r\n{")
        for number in (signal.SIGINT, signal.SIGINT):
            os.kill(os.getpid(), number)
            time.sleep(0.2)

    served(talk)
    assert len(told) == 1


def test_a_refused_request_does_not_harm_the_next_one(served: Callable[[Talk], None]) -> None:
    """HTTP-17: on the same connection, although the body of the first was not read."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(b"POST /nope HTTP/1.1\r\nhost: h\r\ncontent-length: 200000\r\n\r\n" + b"x" * 200_000)
        assert answer(connection).startswith(b"HTTP/1.1 404")
        connection.sendall(b"GET /subjects HTTP/1.1\r\nhost: h\r\n\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 200")

    served(talk)


@pytest.mark.parametrize("begun", [b"", b"GET / HT", b"POST /subjects/s HTTP/1.1\r\ncontent-length: 9\r\n\r\n{"])
def test_a_request_that_does_not_arrive_is_given_up(registry: Registry, begun: bytes) -> None:
    """Who begins and never ends must not keep a connection from others; the answer says what happened."""

    async def talk() -> bytes:
        config = uvicorn.Config(server.application(registry), lifespan="off")
        config.load()
        protocol = Connection(config, ServerState(), {}, asyncio.get_running_loop(), patience_s=0.01)
        transport: Any = Transport()
        protocol.connection_made(transport)
        if begun:
            protocol.data_received(begun)
        await transport.ended.wait()
        return bytes(transport.sent)

    assert asyncio.run(talk()).startswith(b"HTTP/1.1 408 ")


def test_a_request_that_does_not_arrive_keeps_no_server_from_its_end(registry: Registry) -> None:
    """Who sends nothing more has seconds, not as long as there is; the answer says what happened."""

    async def talk() -> bytes:
        config = uvicorn.Config(server.application(registry), lifespan="off")
        config.load()
        protocol = Connection(config, ServerState(), {}, asyncio.get_running_loop(), last_patience_s=0.01)
        transport: Any = Transport()
        protocol.connection_made(transport)
        protocol.data_received(b"POST /subjects/s HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
        protocol.shutdown()
        await transport.ended.wait()
        return bytes(transport.sent)

    assert asyncio.run(talk()).startswith(b"HTTP/1.1 408 ")


def test_what_a_server_gives_up_at_its_end_is_no_fault(registry: Registry, caplog: pytest.LogCaptureFixture) -> None:
    """An operator who stops it reads no frames, and its client is told nothing that is not so."""

    async def talk() -> bytes:
        config = uvicorn.Config(server.application(registry), lifespan="off")
        config.load()
        state = ServerState()
        protocol = Connection(config, state, {}, asyncio.get_running_loop())
        transport: Any = Transport()
        protocol.connection_made(transport)
        protocol.data_received(b"POST /subjects/s HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
        await asyncio.sleep(0)
        for task in state.tasks:
            task.cancel()
        await transport.ended.wait()
        return bytes(transport.sent)

    assert asyncio.run(talk()) == b""
    assert not caplog.records
