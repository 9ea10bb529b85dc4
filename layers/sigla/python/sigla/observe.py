"""One line per request, in JSON, written at the edge: facts to query, never schema text or credentials.

What is told is here. `embedded.outlet` writes it on one machine, `aws.telemetry` in a function.
"""

import asyncio
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import orjson

from sigla.errors import StoreError
from sigla.keks.refusals import KmsDenied, KmsFailed
from sigla.model import BodyKey
from sigla.ports.clock import Clock
from sigla.ports.kms import KmsFailed as KeyServiceFailed

NO_PARAMS: Mapping[str, str] = {}

UNKNOWN_KEY: Final = 401
DENIED: Final = 403

MINUTE_MS: Final = 60_000
STRANGERS_LINES: Final = 10
"""How many lines a minute are written for requests without a known key, where not all are: a flood has no end."""


_CONTROL: Final = re.compile(rb"\xc2[\x80-\x9f]")
"""Control characters that JSON lets stand, in UTF-8: some terminals obey them."""


class Seen(NamedTuple):
    """A request as it is told afterwards.

    route: the template; where no route was found, the class of the path (`/subjects/*`). sent: bytes of body. params:
    of the path. principal: the name of the key that asked; empty where none was asked for, or none was right. deleted:
    how many versions it deleted, softly or for good. writes: whether its route may change something. address: where it
    came from, of a request that was refused for want of a key or of a right. read: the id whose schema was told, and
    the subject that was named for it and has it, or an empty name.
    """

    method: str
    route: str
    status: int
    took_ns: int
    request_id: bytes
    sent: int
    error_code: int | None = None
    params: Mapping[str, str] = NO_PARAMS
    principal: str = ""
    deleted: int = 0
    writes: bool = False
    address: str = ""
    read: tuple[BodyKey, str] | None = None

    @property
    def took_ms(self) -> float:
        """How long it took, to the microsecond."""
        return self.took_ns // 1000 / 1000

    @property
    def is_denied_write(self) -> bool:
        return self.status == DENIED and self.writes


Watcher = Callable[[Seen], None]
"""What is told of every request: the log, the counters."""

Facts = dict[str, object]
"""A line before it is written; what happened is its `event`."""

Teller = Callable[[Facts], None]

_TOLD_PARAMS = ("subject", "id")

BY_ID = ("/schemas/ids/{id}", "/schemas/guids/{guid}")
"""How the routes of reads by id begin: records name their schema by an id or by a GUID."""


def request(seen: Seen) -> Facts:
    """Who asked what, and what became of it."""
    facts: Facts = {
        "event": "request",
        "route": f"{seen.method} {seen.route}",
        "status": seen.status,
        "took_ms": seen.took_ms,
        "bytes": seen.sent,
        "request_id": seen.request_id.decode("latin-1"),
    }
    if seen.error_code is not None:
        facts["error_code"] = seen.error_code
    for name in _TOLD_PARAMS:
        if name in seen.params:
            facts[name] = seen.params[name]
    if seen.principal:
        facts["principal"] = seen.principal
    if seen.address:
        facts["address"] = seen.address
    return facts


def failure(error: BaseException, *, request_id: str) -> Facts:
    """A fault of ours, with where it happened.

    For storage and key services also the reason; other messages may quote a schema.
    """
    frames = traceback.extract_tb(error.__traceback__)
    facts: Facts = {
        "event": "failure",
        "request_id": request_id,
        "error": type(error).__qualname__,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    if isinstance(error, StoreError | KeyServiceFailed | KmsFailed | KmsDenied):
        facts["reason"] = f"{error}: {error.__cause__}" if error.__cause__ else str(error)
    return facts


def is_read_by_id(seen: Seen) -> bool:
    """What nearly all requests are once a registry is in use, when it goes well."""
    return seen.route.startswith(BY_ID) and seen.method in ("GET", "HEAD") and seen.status < 400


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


def as_line(facts: Facts) -> bytes:
    """Without control characters: names that callers have chosen must not steer the terminal that shows them."""
    line = orjson.dumps(facts, option=orjson.OPT_APPEND_NEWLINE)
    return line if line.isascii() else _CONTROL.sub(lambda found: b"\\u00%02x" % found[0][1], line)


def to_stdout(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def tell(facts: Facts) -> None:
    """A line on standard output, now."""
    to_stdout(as_line(facts))


def telling_of(registry: str, teller: Teller) -> Teller:
    """Tells of one of several registries, and says of which."""
    return lambda facts: teller({**facts, "registry": registry})


class Log:
    """Writes the line of each request.

    clock: dates the lines, by when they are written. release: of the code that runs. zone: where it was asked.
    registry: which one was, where there are several.
    """

    def __init__(
        self,
        write: Callable[[bytes], None] = to_stdout,
        *,
        clock: Clock | None = None,
        release: str = "",
        zone: str = "",
        registry: str = "",
    ) -> None:
        self._write = write
        self._registry = registry
        self._clock = clock
        self._release = release
        self._zone = zone
        self._cold = True

    def __call__(self, seen: Seen) -> None:
        facts = request(seen)
        if self._clock is not None:
            facts["ts"] = self._clock.now()
        if self._cold:
            self._cold = False
            facts["cold"] = True
        if self._release:
            facts["release"] = self._release
        if self._zone:
            facts["zone"] = self._zone
        if self._registry:
            facts["registry"] = self._registry
        self._write(as_line(facts))


class Ration:
    """So many in a minute; what is refused is counted until the next that is not."""

    def __init__(self, most: int, clock: Clock) -> None:
        self._most = most
        self._clock = clock
        self._since: int | None = None
        self._spent = 0
        self._refused = 0

    def spend(self) -> int | None:
        """How many were refused since the last one; None if this one is refused, too."""
        now = self._clock.now()
        if self._since is None or not 0 <= now - self._since < MINUTE_MS:
            self._since, self._spent = now, 0
        if self._spent == self._most:
            self._refused += 1
            return None
        self._spent += 1
        refused, self._refused = self._refused, 0
        return refused


class DeniedAlone:
    """Tells a log of every write that was denied, and of requests without a known key the first ones of each minute.

    For those who want no line per request: who has tried to change what, and may not, is to be found all the same.
    """

    def __init__(self, log: Watcher, clock: Clock) -> None:
        self._log = log
        self._strangers = Ration(STRANGERS_LINES, clock)

    def __call__(self, seen: Seen) -> None:
        if seen.is_denied_write or (seen.status == UNKNOWN_KEY and self._strangers.spend() is not None):
            self._log(seen)
