"""Work after the answer, by an extension of Lambda within the function's own process.

Lambda hands an answer on as soon as the runtime has posted it, and freezes the environment when the runtime and each
extension have asked for what comes next. So a thread that asks only when its work is done works after the answer: no
client waits for it, and it is paid for like the rest of the invocation.

Sources: AWS Lambda Developer Guide, "Using the Lambda Extensions API to create extensions" (2020-01-01); AWS Compute
Blog, "Running code after returning a response from an AWS Lambda function".
"""

import json
import socket
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from queue import SimpleQueue
from typing import Any, Final

from sigla.functions.lifecycle import Handler
from sigla.observe import Teller

NAME: Final = "sigla-after-answers"
PATH: Final = "/2020-01-01/extension"
WITHIN_S: Final = 1.0
"""So long a start waits for Lambda to register the extension: it takes less than a millisecond."""
POSTED_S: Final = 1.0
"""So long work waits for the runtime to let go of an invocation that it has answered."""

Work = Callable[[], None]
Left = Callable[[], Work | None]
"""Asked at the end of each invocation: what is left to do; None if nothing is."""

_FAILURES: Final = (OSError, HTTPException, ValueError)


@dataclass(slots=True)
class _Invocation:
    """An invocation that its handler has answered. work: what it left. watched: tells when the answer is posted."""

    work: Work
    posted: threading.Event = field(default_factory=threading.Event)
    watched: object = None


class Extension:
    """One of a process, registered while it begins, and never again: a snapshot has it within.

    address: host and port of Lambda's API within the environment; empty outside Lambda, where all work is done before
    the answer. That is so as well while Lambda does not answer; it is asked again at the end of each invocation.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._answered: SimpleQueue[_Invocation | None] = SimpleQueue()
        self._tell: Teller = lambda _: None
        self._failure = ""
        self._is_following = False
        if address:
            self._register()

    def around(self, handler: Handler, left: Left, tell: Teller) -> Handler:
        """The handler, after whose answers is done what they left. tell: of an extension that does not work."""
        self._tell = tell
        if self._failure:
            self._tell_failure()

        def handle(event: Any, context: Any) -> dict[str, Any]:
            try:
                return handler(event, context)
            finally:
                self._end(context, left())

        return handle

    def _register(self) -> None:
        connection = HTTPConnection(self._address, timeout=WITHIN_S)
        try:
            connection.request(
                "POST", f"{PATH}/register", json.dumps({"events": ["INVOKE"]}), {"Lambda-Extension-Name": NAME}
            )
            answer = connection.getresponse()
            answer.read()
            if answer.status == 404:  # what stands in for Lambda on a machine need not have extensions
                return
            _check_status(answer.status)
        except _FAILURES as failure:
            self._failure = str(failure)
            return
        finally:
            connection.close()
        self._is_following = True
        identifier = answer.headers.get("Lambda-Extension-Identifier", "")
        threading.Thread(target=self._run, args=(identifier,), name="sigla-extension", daemon=True).start()

    def _end(self, context: object, work: Work | None) -> None:
        invocation = None
        if work is not None and self._is_following:
            invocation = _Invocation(work)
            # The runtime holds the context until it has posted the answer: no API tells of that.
            try:
                invocation.watched = weakref.ref(context, lambda _: invocation.posted.set())
            except TypeError:
                invocation.posted.set()
        elif work is not None:
            work()
        self._answered.put(invocation)

    def _run(self, identifier: str) -> None:
        events = _Events(self._address, identifier)
        while True:
            is_asked = self._has_gone_well(events.ask, events)
            self._do_what_is_left()
            # The event of the invocation that has ended: it has been there for long.
            if is_asked and self._has_gone_well(events.take, events):
                self._is_following = True

    def _has_gone_well(self, step: Callable[[], None], events: "_Events") -> bool:
        try:
            step()
        except _FAILURES as failure:
            events.close()
            self._fail(failure)
            return False
        return True

    def _do_what_is_left(self) -> None:
        """When an invocation has ended."""
        invocation = self._answered.get()
        if invocation is not None:
            invocation.posted.wait(POSTED_S)
            invocation.work()

    def _fail(self, failure: Exception) -> None:
        is_new, self._is_following, self._failure = self._is_following, False, str(failure)
        if is_new:
            self._tell_failure()

    def _tell_failure(self) -> None:
        why = f"because Lambda tells its extension of no invocation: {self._failure}"
        self._tell({"event": "extension", "message": f"What is left to do after answers is done before them, {why}."})


class _Events:
    """What Lambda tells its extension, by one connection that is kept.

    `http.client` would take three times as long of each invocation, most of it for headers that have no reader.
    """

    def __init__(self, address: str, identifier: str) -> None:
        self._host, _, port = address.partition(":")
        self._port = int(port or 80)
        lines = [
            f"GET {PATH}/event/next HTTP/1.1",
            f"Host: {address}",
            f"Lambda-Extension-Identifier: {identifier}",
        ]
        self._request = "".join(f"{line}\r\n" for line in [*lines, ""]).encode()
        self._socket: socket.socket | None = None

    def ask(self) -> None:
        """Asks for the next event. Raises OSError."""
        if self._socket is None:
            self._socket = socket.create_connection((self._host, self._port), WITHIN_S)
            self._socket.settimeout(None)  # an environment sleeps for hours between two events
            self._answers = self._socket.makefile("rb")
        self._socket.sendall(self._request)

    def take(self) -> None:
        """Waits for the event that was asked for; what it says is known already. Raises OSError, ValueError."""
        status, size = self._answers.readline().split()[1:2], None
        while (line := self._answers.readline()).rstrip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        if not status or size is None:
            raise ValueError("no answer of Lambda's")
        self._answers.read(size)
        _check_status(int(status[0]))

    def close(self) -> None:
        if self._socket is not None:
            self._answers.close()
            self._socket.close()
            self._socket = None


def _check_status(status: int) -> None:
    """Raises ValueError."""
    if status != 200:
        raise ValueError(f"status {status}")
