"""A registry behind a URL, in this process."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import MappingProxyType
from typing import Any

from sigla.registry import Registry
from sigla.web.app import build
from tests.protocol import conversations
from tests.protocol.judge import Ids

Answer = Callable[[str, str], tuple[int, str]]
"""Path and credentials → status and text."""


def registry(asked: Registry) -> Answer:
    app = build(asked)

    def answer(path: str, _: str) -> tuple[int, str]:
        return asyncio.run(conversations._ask(app, {"method": "GET", "path": path}, Ids()))

    return answer


def always(status: int, told: Any) -> Answer:
    return lambda _, __: (status, told if isinstance(told, str) else json.dumps(told))


def without_list_of_settings(answer: Answer) -> Answer:
    """As one of another product."""
    none = always(404, {"error_code": 404, "message": "HTTP 404 Not Found"})
    return lambda path, user: (none if path.startswith("/settings") else answer)(path, user)


class _Server(HTTPServer):
    """More connections may wait than a client opens at once: one that is turned away tries again after a second."""

    request_queue_size = 64


@contextmanager
def behind_a_url(answer: Answer, headers: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    class Request(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = answer(self.path, self.headers.get("Authorization", ""))
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for header in headers.items():
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with _Server(("127.0.0.1", 0), Request) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
