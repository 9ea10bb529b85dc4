"""Doors to one registry, each on a port of its own, that can be shut, slowed and broken one by one."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket

from tests.protocol.clients.server import Server
from tests.waiting import PATIENCE_S


class Mood(Enum):
    WELL = "hands requests over, and answers back"
    HUNG = "takes a request and never answers"
    FAILING = "answers 503 itself"
    DYING = "hands a request over, and is killed before it has answered"


class Door:
    """asked: how many requests it got since the last look."""

    def __init__(self, behind: Server) -> None:
        self._behind = behind
        self.mood = Mood.WELL
        self.asked = 0
        self._lock = threading.Lock()
        self._open: set[socket] = set()
        self._ended = threading.Event()
        door = self

        class Request(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                with suppress(OSError), door._kept(self.connection):
                    super().handle()

            def _any(self) -> None:
                door._handle(self)

            do_GET = do_POST = do_PUT = do_DELETE = _any  # noqa: N815 - the library calls them by the method

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Request)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @contextmanager
    def _kept(self, connection: socket) -> Iterator[None]:
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def _handle(self, request: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.asked += 1
        mood = self.mood
        if mood is Mood.HUNG:
            self._ended.wait()
            request.close_connection = True
            return
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        status, media, answer = (503, "text/html", b"<html>") if mood is Mood.FAILING else self._forward(request, body)
        if mood is Mood.DYING:
            self.kill()
            return
        request.send_response(status)
        request.send_header("Content-Type", media)
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)

    def _forward(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, str, bytes]:
        connection = HTTPConnection(self._behind.host, self._behind.port, timeout=PATIENCE_S)
        try:
            passed = ("Content-Type", "Accept", "Authorization")
            headers = {name: request.headers[name] for name in passed if name in request.headers}
            connection.request(request.command, request.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type", ""), answer.read()
        finally:
            connection.close()

    def seen(self) -> int:
        """Requests since it was last asked this."""
        with self._lock:
            asked, self.asked = self.asked, 0
        return asked

    def kill(self) -> None:
        """As kill -9 would: the port is closed, connections are gone."""
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(SHUT_RDWR)

    def close(self) -> None:
        self.kill()
        self._thread.join()


@contextmanager
def doors(behind: Server, count: int = 3) -> Iterator[list[Door]]:
    with ExitStack() as opened:
        made = [Door(behind) for _ in range(count)]
        for door in made:
            opened.callback(door.close)
        yield made
