"""One line per request, in JSON, written at the edge: facts to query, never schema text or credentials.

Where that is wanted, the line is a CloudWatch metric too (embedded metric format): counting then costs no call.
"""

import asyncio
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from sigla.ports import Clock


@dataclass(slots=True)
class Seen:
    """A request as it is told afterwards. route: the template, or empty where no route was found."""

    method: str
    route: str
    status: int
    took_ns: int
    request_id: str
    bytes: int
    error_code: int | None = None
    subject: str | None = None
    id: str | None = None


Watcher = Callable[[Seen], None]
"""What is told of every request: the log, the counters."""


def to_stdout(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


class Buffered:
    """Standard output for a server that answers thousands a second: many lines with one write, a moment later.

    To be called on the event loop. What is not written yet at the end, the interpreter writes.
    """

    def __init__(self, *, delay_s: float = 0.05) -> None:
        self._delay_s = delay_s
        self._waiting = False

    def __call__(self, line: bytes) -> None:
        sys.stdout.buffer.write(line)
        if not self._waiting:
            self._waiting = True
            asyncio.get_running_loop().call_later(self._delay_s, self._flush)

    def _flush(self) -> None:
        self._waiting = False
        sys.stdout.buffer.flush()


@dataclass(frozen=True, slots=True)
class Metrics:
    """Under which name the lines are metrics, and the clock they are dated by."""

    namespace: str
    clock: Clock

    def directive(self) -> dict[str, object]:
        metrics = [{"Name": "took_ms", "Unit": "Milliseconds"}, {"Name": "bytes", "Unit": "Bytes"}]
        directive = {"Namespace": self.namespace, "Dimensions": [["route"]], "Metrics": metrics}
        return {"Timestamp": self.clock.now(), "CloudWatchMetrics": [directive]}


class Log:
    """Writes the line of each request. release: of the code that runs. metrics: if the lines are to be counted."""

    def __init__(
        self, write: Callable[[bytes], None] = to_stdout, *, release: str = "", metrics: Metrics | None = None
    ) -> None:
        self._write = write
        self._release = release
        self._metrics = metrics
        self._cold = True

    def __call__(self, seen: Seen) -> None:
        line: dict[str, object] = {
            "event": "request",
            "route": f"{seen.method} {seen.route}",
            "status": seen.status,
            "took_ms": seen.took_ns // 1000 / 1000,
            "bytes": seen.bytes,
            "request_id": seen.request_id,
        }
        if seen.error_code is not None:
            line["error_code"] = seen.error_code
        if seen.subject is not None:
            line["subject"] = seen.subject
        if seen.id is not None:
            line["id"] = seen.id
        if self._cold:
            self._cold = False
            line["cold"] = True
        if self._release:
            line["release"] = self._release
        if self._metrics:
            line["_aws"] = self._metrics.directive()
        self._write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def failure(error: BaseException, *, request_id: str, write: Callable[[bytes], None] = to_stdout) -> None:
    """A fault of ours, with where it happened. Not its message: that may quote a schema."""
    frames = traceback.extract_tb(error.__traceback__)
    line = {
        "event": "failure",
        "request_id": request_id,
        "error": type(error).__qualname__,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
