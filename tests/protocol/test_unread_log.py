"""`sigla serve` with a log that is not read: a paused collector, a terminal after Ctrl-S, a full disk, no reader."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.clients.forked import Fork
from tests.protocol.clients.server import command, environment
from tests.servers import two_free_ports
from tests.waiting import PATIENCE_S, eventually

PAGE = 4_096
SIZED = hasattr(fcntl, "F_SETPIPE_SZ")
MANY = 200 if SIZED else 2_000
"""Requests whose lines no pipe holds: 22 lines fill a page, 340 what a pipe holds where it cannot be made smaller."""

FULL = Path("/dev/full")
"""Takes nothing, as a disk without room."""

LONG = "x" * 4_000
"""A subject that makes lines long, so that few requests tell more than what may wait."""


def small_pipe() -> tuple[int, int]:
    """Where to read and where to write: of one page, where the system lets its size be chosen."""
    reading, writing = os.pipe()
    if SIZED:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PAGE)
    return reading, writing


@contextmanager
def begun(stdout: int, stderr: int | None = None) -> Iterator["Unread"]:
    """A registry whose outputs are these descriptors."""
    port = two_free_ports()
    with Path(os.devnull).open("wb") as unheard:
        outputs = (stdout, unheard.fileno() if stderr is None else stderr)
        process = Fork(["serve", "--memory", "--port", str(port)], environment(), outputs)
    server = Unread(process, port)
    try:
        eventually(lambda: process.poll() is not None or server.answers())
        yield server
    finally:
        process.kill()
        process.wait(PATIENCE_S)


class Unread:
    """A server whose output is the test's own business."""

    def __init__(self, process: "subprocess.Popen[bytes] | Fork", port: int) -> None:
        self.process = process
        self.port = port

    def ask(self, path: str, *, times: int = 1, patience_s: float = PATIENCE_S) -> bytes:
        """The last answer's body, of several requests on one connection."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=patience_s)
        told = b""
        for _ in range(times):
            connection.request("GET", path)
            told = connection.getresponse().read()
        connection.close()
        return told

    def ask_nonsense(self) -> None:
        """Sends nonsense instead of HTTP, until it is refused."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE_S) as wire:
            wire.sendall(b"nonsense\r\n\r\n")
            while wire.recv(1000):
                pass

    def answers(self) -> bool:
        try:
            return self.ask("/health") == b'{"status":"up"}'
        except OSError:
            return False

    def dropped(self) -> int:
        told = self.ask("/metrics").decode()
        return int(next(line.split()[1] for line in told.splitlines() if line.startswith("sigla_log_lines_dropped")))

    def fill(self) -> None:
        """Asks until lines are lost."""
        while not self.dropped():
            self.ask(f"/subjects/{LONG}/versions", times=250)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


def test_a_log_that_nobody_reads_stops_no_request_and_no_end() -> None:
    """A collector that hangs must not take the registry with it: health is asked by who would then restart it."""
    reading, writing = small_pipe()
    with begun(writing) as server:
        server.ask("/subjects", times=MANY)
        assert server.answers()
        assert server.stop() == 0
    os.close(writing)
    os.close(reading)


def test_both_outputs_in_one_pipe_that_nobody_reads_stop_nothing() -> None:
    """`2>&1` into a paused collector: complaints about invalid requests must not block, either."""
    reading, writing = small_pipe()
    with begun(writing, writing) as server:
        for _ in range(MANY):
            server.ask_nonsense()
        assert server.answers()
        assert server.stop() == 0
    os.close(writing)
    os.close(reading)


def test_a_reader_that_comes_back_is_told_how_much_it_missed() -> None:
    """What waited is there in its order; behind it stands how many lines were lost since when, then it goes on."""
    reading, writing = small_pipe()
    with begun(writing) as server:
        server.fill()
        lost = server.dropped()
        lines: list[Any] = []
        with os.fdopen(reading, "rb") as log:
            reader = threading.Thread(target=lambda: lines.extend(json.loads(line) for line in log), daemon=True)
            reader.start()
            eventually(lambda: any(line["event"] == "gap" for line in lines))
            server.ask("/contexts")
            eventually(lambda: lines[-1].get("route") == "GET /contexts")
            assert server.stop() == 0
            os.close(writing)
            reader.join(PATIENCE_S)
        gaps = [line for line in lines if line["event"] == "gap"]
        assert sum(gap["lines"] for gap in gaps) >= lost
        before = lines[lines.index(gaps[0]) - 1]
        assert before["ts"] <= gaps[0]["since"] <= gaps[0]["ts"]


def test_a_log_whose_reader_has_gone_stops_nothing() -> None:
    """`sigla serve | head`."""
    reading, writing = small_pipe()
    with begun(writing) as server:
        os.close(reading)
        server.ask("/subjects", times=MANY)
        assert server.answers()
        assert server.stop() == 0
    os.close(writing)


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")
def test_a_log_on_a_full_disk_stops_nothing() -> None:
    with FULL.open("wb") as full, begun(full.fileno()) as server:
        server.ask("/subjects", times=MANY)
        assert server.answers()
        assert server.stop() == 0


def test_a_registry_without_any_output_serves() -> None:
    """A service manager may close what it does not want; what a log would be written to must not be a file of ours."""
    port = two_free_ports()
    started = " ".join(command("serve", "--memory", "--port", str(port)))
    process = subprocess.Popen(["sh", "-c", f"exec {started} <&- >&- 2>&-"], env=environment())
    server = Unread(process, port)
    try:
        eventually(lambda: process.poll() is not None or server.answers())
        server.ask("/subjects", times=10)
        assert server.stop() == 0
    finally:
        process.kill()
        process.wait()
