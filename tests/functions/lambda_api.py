"""Lambda's `Invoke`, on this machine: as much of it as a heartbeat needs, spoken over HTTP."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Function = Callable[[Any], Any]
"""From an event to an answer. Raises what the function does not catch, or one of those below."""


class Throttled(Exception):
    """All that may run at once are running."""


class Hangs(Exception):
    """No answer comes; the connection stays open until the server ends."""


@contextmanager
def lambda_api(functions: Mapping[str, Function]) -> Iterator[str]:
    """An endpoint for a client of Lambda. functions: by ARN."""
    over = threading.Event()

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            _, version, _, name, verb = self.path.split("/")
            assert (version, verb) == ("2015-03-31", "invocations"), self.path
            function = functions.get(unquote(name))
            if function is None:
                self._refuse(404, "ResourceNotFoundException")
                return
            try:
                self._answer(200, function(event))
            except Throttled:
                self._refuse(429, "TooManyRequestsException")
            except Hangs:
                over.wait()
                self.close_connection = True
            except Exception as failure:  # noqa: BLE001 - whatever a function does not catch, Lambda tells so
                told = {"errorMessage": str(failure), "errorType": type(failure).__name__, "stackTrace": []}
                self._answer(200, told, {"X-Amz-Function-Error": "Unhandled"})

        def _refuse(self, status: int, code: str) -> None:
            self._answer(status, {"Type": "User", "Message": "no"}, {"x-amzn-ErrorType": code})

        def _answer(self, status: int, told: Any, headers: Mapping[str, str] | None = None) -> None:
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            for header, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            over.set()
            server.shutdown()
            thread.join()
