"""A DynamoDB that cannot be relied on: it refuses, fails, throttles for ever, or never answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REFUSING, FAILING, THROTTLING, HANGING = "refusing", "failing", "throttling", "hanging"
WAYS = (REFUSING, FAILING, THROTTLING, HANGING)

_ANSWERS = {
    FAILING: (500, "InternalServerError"),
    THROTTLING: (400, "ProvisionedThroughputExceededException"),
    HANGING: (400, "ValidationException"),
}
"""Status and error of each; what hangs is answered when the test is over, in a way that clients do not try again."""


@dataclass
class Unwell:
    """asked: how many requests have come; the SDK repeats most of them."""

    endpoint: str
    asked: int = 0
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def unwell(way: str) -> Iterator[Unwell]:
    if way == REFUSING:
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            nobody = Unwell(f"http://127.0.0.1:{taken.getsockname()[1]}")
        yield nobody
        return

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            patient.asked += 1
            self.rfile.read(int(self.headers["Content-Length"]))
            if way == HANGING:
                patient.over.wait()
            status, error = _ANSWERS[way]
            content = f'{{"__type": "com.amazonaws.dynamodb.v20120810#{error}"}}'.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """It says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        patient = Unwell(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield patient
        finally:
            patient.over.set()
            server.shutdown()
            thread.join()
