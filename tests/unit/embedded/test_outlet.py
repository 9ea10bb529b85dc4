"""Lines of a server that no request may have to wait for, whether they are read or not."""

import errno
import json
import os
import sys
import threading
from pathlib import Path

import pytest

from sigla.web.local.outlet import Outlet, standard
from tests.build import FixedClock
from tests.waiting import PATIENCE_S, eventually


class Sink:
    """What is written to: it can be held, can fail, and takes a part of a large piece only."""

    def __init__(self) -> None:
        self.written = b""
        self.calls = 0
        self.fails: OSError | None = None
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.reached = threading.Event()

    def __call__(self, piece: memoryview) -> int:
        self.calls += 1
        self.reached.set()
        assert self.goes_on.wait(PATIENCE_S)
        if self.fails:
            raise self.fails
        self.written += piece[:64]
        return min(len(piece), 64)


def outlet(sink: Sink, *, most: int = 1_000) -> Outlet:
    return Outlet(
        sink,
        FixedClock(7),
        gap=lambda lost: b"lost %d since %d\n" % (lost.lines, lost.since),
        most=most,
        patience_s=0.1,
    )


def test_a_busy_server_writes_many_lines_at_once() -> None:
    """A system call for each would be what a request costs most; none is forgotten at the end."""
    sink = Sink()
    with outlet(sink) as tell:
        for number in range(10):
            tell(b"%d\n" % number)
        eventually(lambda: len(sink.written) == 20)
        tell(b"the last\n")
    assert sink.written == b"".join(b"%d\n" % number for number in range(10)) + b"the last\n"
    assert sink.calls <= 4


def test_every_line_says_when_it_was_written() -> None:
    """A trace of an exporter is compared with what the destination did at that moment."""
    sink = Sink()
    with outlet(sink) as lines:
        lines.tell({"event": "exporter-waits"})
        lines.tell({"event": "failure", "ts": 5})
    told = [json.loads(line) for line in sink.written.splitlines()]
    assert told == [{"event": "exporter-waits", "ts": 7}, {"event": "failure", "ts": 5}]


def test_what_nobody_takes_is_bounded_and_the_gap_is_told_in_its_place() -> None:
    """Memory is not for logs. Whoever reads again must know that lines are missing, how many, and since when."""
    sink = Sink()
    with outlet(sink, most=20) as tell:
        sink.goes_on.clear()
        tell(b"taken\n")
        assert sink.reached.wait(PATIENCE_S)
        for number in range(10):
            tell(b"waits %d\n" % number)
        assert tell.dropped == 8
        assert tell.unwritten == 11
        sink.goes_on.set()
        eventually(lambda: b"lost" in sink.written)
        tell(b"after\n")
    assert sink.written == b"taken\nwaits 0\nwaits 1\nlost 8 since 7\nafter\n"
    assert tell.unwritten == 0


def test_nothing_is_lost_while_a_full_disk_is_cleared() -> None:
    """What failed is tried again; a line is never cut in two."""
    sink = Sink()
    with outlet(sink) as tell:
        tell(b"a\n")
        eventually(lambda: sink.written == b"a\n")
        sink.fails = OSError(errno.ENOSPC, "No space left on device")
        tell(b"b\n" * 50)
        tried = sink.calls
        eventually(lambda: sink.calls > tried + 1)
        sink.fails = None
        eventually(lambda: sink.written == b"a\n" + b"b\n" * 50)
    assert tell.dropped == 0


def test_the_end_does_not_wait_for_a_disk_that_stays_full() -> None:
    """What is left is counted."""
    sink = Sink()
    sink.fails = OSError(errno.ENOSPC, "No space left on device")
    with outlet(sink) as tell:
        tell(b"a\n")
        tell(b"b\n")
    assert tell.unwritten == 2


def test_a_line_that_is_too_long_stops_no_other() -> None:
    """Lost alone, and told."""
    sink = Sink()
    with outlet(sink, most=20) as tell:
        tell(b"x" * 21)
        eventually(lambda: sink.written == b"lost 1 since 7\n")
        tell(b"after\n")
    assert sink.written == b"lost 1 since 7\nafter\n"


def test_lines_of_many_threads_stay_whole() -> None:
    """The event loop tells requests, others tell failures."""
    sink = Sink()
    with outlet(sink, most=2**20) as tell:

        def tell_all(name: int) -> None:
            for number in range(200):
                tell(b"%d %d\n" % (name, number))

        threads = [threading.Thread(target=tell_all, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = sink.written.splitlines()
    assert sorted(lines) == sorted(b"%d %d" % (name, n) for name in range(4) for n in range(200))


def test_complaints_on_standard_error_block_nobody_either() -> None:
    """Libraries print there: a pipe that both outputs share may be full of the log."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        with standard(nowhere, pipe, FixedClock(7)) as log:
            assert (sys.stderr.fileno(), sys.stderr.isatty(), sys.stderr.writable()) == (writing, False, True)
            print("half a line,", end=" ", file=sys.stderr)
            print("and the rest \udcff", file=sys.stderr)
            log.tell({"event": "open"})
        assert os.read(reading, 1000) == b"half a line, and the rest \\udcff\n"
    os.close(reading)


@pytest.mark.parametrize("which", ["out", "error"])
def test_both_outputs_say_what_they_lost(which: str) -> None:
    """The log for machines, standard error for people."""
    reading, writing = os.pipe()
    line = "x" * 2**20 + "\n"
    with (
        os.fdopen(reading, encoding="utf-8") as read,
        os.fdopen(writing, "w", encoding="utf-8") as pipe,
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
    ):
        out, error = (pipe, nowhere) if which == "out" else (nowhere, pipe)
        with standard(out, error, FixedClock(7)) as log:
            for _ in range(12):
                log(line.encode()) if which == "out" else sys.stderr.write(line)
            told = next(line for line in read if not line.startswith("x"))
    if which == "out":
        assert json.loads(told).items() >= {"event": "gap", "since": 7, "ts": 7}.items()
    else:
        assert "lines could not be written here since 1970-01-01T00:00:00+00:00" in told


def test_the_end_says_how_much_of_the_log_nobody_read(capfd: pytest.CaptureFixture[str]) -> None:
    """A log that ends in the middle of things looks as if nothing had happened afterwards."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe, standard(pipe, sys.stderr, FixedClock(7)) as log:
        for _ in range(3):
            log(b"x" * 2**20 + b"\n")
    assert "its last 3 lines were not written" in capfd.readouterr().err
    os.close(reading)
