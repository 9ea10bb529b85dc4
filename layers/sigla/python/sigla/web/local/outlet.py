"""Standard output and standard error of a server: a thread writes them, so that no answer waits for a reader.

A collector that is paused, a terminal after Ctrl-S, a full disk: what is told meanwhile waits, up to a bound, and is
written as soon as that works again. What finds no place is counted, and the count is told in its place.
"""

import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, Self, TextIO

from sigla.observe import Facts, as_line
from sigla.ports.clock import Clock

MOST_WAITING = 4 * 2**20
"""Bytes that wait; as many again may be on their way."""

GATHERED_S = 0.05
"""How long lines are gathered: a busy server writes many of them with one system call."""

AGAIN_S = 0.1
"""When what failed is tried again."""

PATIENCE_S = 2.0
"""How long the end waits for a reader; then what is left is given up."""


class Lost(NamedTuple):
    """lines: how many were not written. since: when the first of them was told."""

    lines: int = 0
    since: int = 0


class Outlet:
    """`outlet(line)` hands a line over and comes back at once, whatever becomes of it. Any thread may call it.

    write: takes bytes and tells how many it took; it may block, and it may fail. gap: the line about lines that were
    lost. The lines are written while the outlet is entered.
    """

    def __init__(
        self,
        write: Callable[[memoryview], int],
        clock: Clock,
        *,
        gap: Callable[[Lost], bytes],
        most: int = MOST_WAITING,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._write = write
        self._clock = clock
        self._gap = gap
        self._most = most
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._lines: list[bytes] = []
        self._size = 0
        self._lost = Lost()
        self._writing = 0
        self.dropped = 0
        """How many lines were lost since the start."""
        self._news = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sigla-outlet", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Gives what is left a moment. A thread that is stuck in a write stays behind, and ends with the process."""
        self._closing.set()
        self._news.set()
        self._thread.join(self._patience_s)

    def __call__(self, line: bytes) -> None:
        with self._lock:
            # Once a line is lost, so are all until the writer is told: the gap has one place in the order of lines.
            if self._lost.lines or self._size + len(line) > self._most:
                self._lost = Lost(self._lost.lines + 1, self._lost.since or self._clock.now())
                self.dropped += 1
            else:
                self._lines.append(line)
                self._size += len(line)
        if not self._news.is_set():
            self._news.set()

    def tell(self, facts: Facts) -> None:
        """Hands over another line than that of a request, dated if it is not: an `observe.Teller`."""
        self(as_line({**facts, "ts": facts.get("ts", self._clock.now())}))

    @property
    def unwritten(self) -> int:
        """How many lines are not written yet, lost ones that were not told included."""
        return len(self._lines) + self._lost.lines + self._writing

    def _run(self) -> None:
        while self._put(memoryview(self._take())) and (self.unwritten or not self._closing.is_set()):
            self._news.wait()
            self._closing.wait(GATHERED_S)
            self._news.clear()

    def _take(self) -> bytes:
        """All that waits, and behind it what was lost since."""
        with self._lock:
            lines, lost = self._lines, self._lost
            self._lines, self._size, self._lost = [], 0, Lost()
            self._writing = len(lines) + lost.lines
        return b"".join(lines) + (self._gap(lost) if lost.lines else b"")

    def _put(self, rest: memoryview) -> bool:
        """Tries until all is written. False if the end has come and it still does not work."""
        while rest:
            try:
                rest = rest[self._write(rest) :]
            except OSError:
                if self._closing.wait(AGAIN_S):
                    return False
        self._writing = 0
        return True


class _TextStream(io.TextIOBase):
    """What stands in for a stream of text: whole lines are handed over."""

    def __init__(self, outlet: Outlet, stands_for: TextIO) -> None:
        super().__init__()
        self._outlet = outlet
        self._stands_for = stands_for
        self._begun = ""
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        with self._lock:
            whole, newline, self._begun = (self._begun + text).rpartition("\n")
            if newline:
                self._outlet((whole + newline).encode(errors="backslashreplace"))
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._stands_for.isatty()

    def fileno(self) -> int:
        return self._stands_for.fileno()


@contextmanager
def standard(out: TextIO, error: TextIO, clock: Clock) -> Iterator[Outlet]:
    """An outlet for a log on `out`; what is printed on standard error meanwhile goes to `error` in this way, too."""
    with _outlet(error, clock, _gap_in_text) as complaints, redirect_stderr(_TextStream(complaints, error)):
        with _outlet(out, clock, partial(_gap_in_json, clock)) as log:
            yield log
        if log.unwritten:
            complaints(b"sigla: Nobody read the log: its last %d lines were not written.\n" % log.unwritten)


def _outlet(stream: TextIO, clock: Clock, gap: Callable[[Lost], bytes]) -> Outlet:
    stream.flush()
    return Outlet(partial(os.write, stream.fileno()), clock, gap=gap)


def _gap_in_json(clock: Clock, lost: Lost) -> bytes:
    return as_line({"event": "gap", "lines": lost.lines, "since": lost.since, "ts": clock.now()})


def _gap_in_text(lost: Lost) -> bytes:
    since = datetime.fromtimestamp(lost.since / 1000, UTC).isoformat(timespec="seconds")
    return f"sigla: {lost.lines} lines could not be written here since {since}.\n".encode()
