"""Lambda's Runtime API: where a function fetches its next event and leaves its answer; and its Extensions API.

One server per environment, on a port of its own, because the runtime is told a host and a port and no path. It is the
metadata endpoint too, which tells an environment in which zone it runs. Sources: AWS Lambda Developer Guide, "Using the
Lambda runtime API for custom runtimes" (2018-06-01), "Using the Lambda Extensions API" (2020-01-01), "Using the Lambda
metadata endpoint" (2026-01-15).
"""

import json
import secrets
import threading
import time
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

PREFIX = "/2018-06-01/runtime"
METADATA = "/2026-01-15/metadata/execution-environment"
EXTENSION = "/2020-01-01/extension"
ANSWER_BYTES = 6_291_556
"""The most that Lambda hands on of an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an invocation came to. failed: the body tells of an error, as JSON."""

    body: bytes
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Invocation:
    """An event on its way through the function. timeout: seconds it may take from when the runtime has it."""

    request_id: str
    event: bytes
    arn: str
    timeout: float
    answer: "Future[Answer]" = field(default_factory=Future)


def error(kind: str, message: str) -> Answer:
    """A failure in the form that Lambda gives it."""
    return Answer(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True)


class Extensions:
    """Those of one environment, which belong to the process of its runtime. Any thread may use it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._events: dict[str, SimpleQueue[dict[str, Any] | None]] = {}
        self._asking: set[str] = set()
        self._is_open = True
        self._is_closed = False

    def register(self) -> str | None:
        """The identifier of a new one; None once the runtime has asked for its first event."""
        with self._changed:
            if not self._is_open:
                return None
            identifier = secrets.token_hex(16)
            self._events[identifier] = SimpleQueue()
            return identifier

    def next(self, identifier: str) -> dict[str, Any] | None:
        """Waits for what one of them is told; None when no more will come. Raises KeyError."""
        events = self._events[identifier]
        with self._changed:
            self._asking.add(identifier)
            self._changed.notify_all()
        return events.get()

    @property
    def are_asking(self) -> bool:
        """Whether each of them has asked for what comes next, which it does when its work is done."""
        return self._asking == self._events.keys()

    def start(self) -> None:
        """The runtime is ready."""
        with self._changed:
            self._is_open = False

    def tell(self, event: dict[str, Any]) -> None:
        """Waits until each of them has asked for what comes next, and tells it."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self.are_asking)
            self._asking.clear()
        for events in self._events.values():
            events.put(event)

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for events in self._events.values():
            events.put(None)


class RuntimeApi(ThreadingHTTPServer):
    """The API for one process of a runtime; it takes one event at a time.

    zone: the id of the one it runs in; empty if it runs in none. ready: has nothing in it when the runtime asks for its
    first event; an Answer when it could not begin.
    """

    daemon_threads = True

    def __init__(self, zone: str = "", extensions: Extensions | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.zone = zone
        self.token = secrets.token_urlsafe()
        self.ready: Future[Answer | None] = Future()
        self._waiting: SimpleQueue[Invocation | None] = SimpleQueue()
        self._current: Invocation | None = None
        self.extensions = extensions or Extensions()
        threading.Thread(target=self.serve_forever, args=(0.05,), name="runtime-api", daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """What the process must find in its environment."""
        located = {"AWS_LAMBDA_METADATA_API": self.address, "AWS_LAMBDA_METADATA_TOKEN": self.token}
        return {"AWS_LAMBDA_RUNTIME_API": self.address, **(located if self.zone else {})}

    def submit(self, invocation: Invocation) -> None:
        self._waiting.put(invocation)

    def next(self) -> Invocation | None:
        """Waits for an event; None when no more will come."""
        with suppress(InvalidStateError):
            self.ready.set_result(None)
        self.extensions.start()
        invocation = self._waiting.get()
        if invocation is not None:
            told = {"requestId": invocation.request_id, "deadlineMs": deadline_ms(invocation)}
            self.extensions.tell({"eventType": "INVOKE", "invokedFunctionArn": invocation.arn, **told})
        self._current = invocation
        return invocation

    def settle(self, answer: Answer, request_id: str | None = None) -> bool:
        """Whether a process waited to be told. Without a request id the process speaks of itself: it failed."""
        with suppress(InvalidStateError):
            if request_id is None:
                self.ready.set_result(answer)
        current = self._current
        if current is None or request_id not in (None, current.request_id):
            return False
        with suppress(InvalidStateError):
            current.answer.set_result(answer)
            return True
        return False

    def close(self) -> None:
        """Whoever waits for an event is sent away."""
        self._waiting.put(None)
        self.extensions.close()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A runtime that is killed resets its connection: no news."""


def deadline_ms(invocation: Invocation) -> int:
    """Since 1970, of one that begins now."""
    return round((time.time() + invocation.timeout) * 1000)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: RuntimeApi

    def do_GET(self) -> None:
        asked = {
            f"{PREFIX}/invocation/next": self._next,
            f"{EXTENSION}/event/next": self._next_of_extension,
            METADATA: self._metadata,
        }.get(self.path)
        if asked:
            asked()
        else:
            self._send(404)

    def _metadata(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {self.server.token}":
            self._send(401)
        else:
            self._send(200, json.dumps({"AvailabilityZoneID": self.server.zone}).encode())

    def _next(self) -> None:
        invocation = self.server.next()
        if invocation is None:
            self._send(410)
            return
        headers = {
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(deadline_ms(invocation)),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.arn,
        }
        self._send(200, invocation.event, headers)

    def _next_of_extension(self) -> None:
        try:
            event = self.server.extensions.next(self.headers.get("Lambda-Extension-Identifier", ""))
        except KeyError:
            self._send(403)
            return
        self._send(410) if event is None else self._send(200, json.dumps(event).encode())

    def _register(self, body: bytes) -> None:
        named, events = self.headers.get("Lambda-Extension-Name"), json.loads(body)["events"]
        identifier = self.server.extensions.register() if named and events == ["INVOKE"] else None
        if identifier is None:
            self._send(403)
        else:
            self._send(200, headers={"Lambda-Extension-Identifier": identifier})

    def do_POST(self) -> None:
        body = self._body()
        if self.path == f"{EXTENSION}/register":
            self._register(body)
            return
        if self.path == f"{PREFIX}/init/error":
            self.server.settle(Answer(body, failed=True))
            self._send(202)
            return
        request_id, _, what = self.path.removeprefix(f"{PREFIX}/invocation/").partition("/")
        if len(body) > ANSWER_BYTES:
            told = f"Response payload size ({len(body)} bytes) exceeded maximum allowed payload size."
            self.server.settle(error("Function.ResponseSizeTooLarge", told), request_id)
            self._send(413)
            return
        self._send(202 if self.server.settle(Answer(body, failed=what == "error"), request_id) else 400)

    def _body(self) -> bytes:
        """However it is framed: answers come in chunks."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = bytearray()
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _send(self, status: int, body: bytes = b"{}", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: LocalStack's log tells of requests."""
