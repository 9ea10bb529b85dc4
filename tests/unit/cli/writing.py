"""A registry behind a URL that is written to, in this process; its calls can be made to fail, and be counted."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sigla.registry import Registry
from sigla.web.app import build
from tests.protocol import conversations
from tests.protocol.judge import Ids

WRITES = ("POST", "PUT", "DELETE")


class Died(Exception):
    """No answer is sent: the connection ends."""


@dataclass
class Served:
    """registry: what is served. before, after: are called around each write, and may raise Died. ours: as Sigla has it.

    writes: method and path of each that arrived.
    """

    registry: Registry
    ours: bool = True
    before: Callable[[int], None] = lambda _: None
    after: Callable[[int], None] = lambda _: None
    writes: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, method: str, path: str, headers: dict[str, str], body: str) -> tuple[int, str]:
        if not self.ours:
            headers = {name: value for name, value in headers.items() if name != "If-Match"}
            if path.startswith("/settings") or path.endswith("/usage"):
                return 404, json.dumps({"error_code": 404, "message": "HTTP 404 Not Found"})
        number = len(self.writes)
        if method in WRITES:
            self.writes.append(f"{method} {path}")
            self.before(number)
        step = {"method": method, "path": path, "headers": headers, "content": body or None}
        found = asyncio.run(conversations._ask(build(self.registry), step, Ids()))
        if method in WRITES:
            self.after(number)
        return found


@contextmanager
def behind_a_url(served: Served) -> Iterator[Served]:
    class Request(BaseHTTPRequestHandler):
        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            sent = {name: self.headers[name] for name in ("If-Match",) if name in self.headers}
            with suppress(Died):
                status, text = served.answer(self.command, self.path, sent, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

        do_GET = do_POST = do_PUT = do_DELETE = _any  # noqa: N815 - as the server calls them

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Request) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        served.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
