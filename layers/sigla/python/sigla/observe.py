"""One line per request, in JSON, written at the edge: facts to query, never schema text or credentials.

Where that is wanted, the line is a CloudWatch metric too (embedded metric format): counting then costs no call.
"""

import asyncio
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from sigla.errors import StoreError
from sigla.ports import Clock

NO_PARAMS: Mapping[str, str] = {}


class Seen(NamedTuple):
    """A request as it is told afterwards.

    route: the template, or empty where no route was found. sent: bytes of body. params: of the path.
    """

    method: str
    route: str
    status: int
    took_ns: int
    request_id: bytes
    sent: int
    error_code: int | None = None
    params: Mapping[str, str] = NO_PARAMS


Watcher = Callable[[Seen], None]
"""What is told of every request: the log, the counters."""


class Gathered:
    """Tells watchers a moment later, of many requests in a row: a third of what it costs between answer and answer.

    To be called on the event loop. `tell()` tells at once what is still to be told.
    """

    def __init__(self, watchers: Sequence[Watcher], *, delay_s: float = 0.05, most: int = 250) -> None:
        self._watchers = watchers
        self._delay_s = delay_s
        self._most = most
        self._seen: list[Seen] = []
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, seen: Seen) -> None:
        self._seen.append(seen)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._delay_s, self.tell)
        elif len(self._seen) >= self._most:
            self.tell()

    def tell(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        told, self._seen = self._seen, []
        for watcher in self._watchers:
            for seen in told:
                watcher(seen)


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


_TOLD_PARAMS = ("subject", "id")


class Log:
    """Writes the line of each request.

    clock: dates the lines, by when they are written. release: of the code that runs. metrics: if lines are counted.
    """

    def __init__(
        self,
        write: Callable[[bytes], None] = to_stdout,
        *,
        clock: Clock | None = None,
        release: str = "",
        metrics: Metrics | None = None,
    ) -> None:
        self._write = write
        self._clock = clock
        self._release = release
        self._metrics = metrics
        self._cold = True

    def __call__(self, seen: Seen) -> None:
        line: dict[str, object] = {
            "event": "request",
            "route": f"{seen.method} {seen.route}",
            "status": seen.status,
            "took_ms": seen.took_ns // 1000 / 1000,
            "bytes": seen.sent,
            "request_id": seen.request_id.decode("latin-1"),
        }
        if self._clock is not None:
            line["ts"] = self._clock.now()
        if seen.error_code is not None:
            line["error_code"] = seen.error_code
        for name in _TOLD_PARAMS:
            if name in seen.params:
                line[name] = seen.params[name]
        if self._cold:
            self._cold = False
            line["cold"] = True
        if self._release:
            line["release"] = self._release
        if self._metrics:
            line["_aws"] = self._metrics.directive()
        self._write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def failure(error: BaseException, *, request_id: str, write: Callable[[bytes], None] = to_stdout) -> None:
    """A fault of ours, with where it happened. Of storage also the reason; other messages may quote a schema."""
    frames = traceback.extract_tb(error.__traceback__)
    line: dict[str, object] = {
        "event": "failure",
        "request_id": request_id,
        "error": type(error).__qualname__,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    if isinstance(error, StoreError):
        line["reason"] = f"{error}: {error.__cause__}" if error.__cause__ else str(error)
    write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
