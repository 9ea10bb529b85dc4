"""Jobs on Spark, run as a person runs them: how long they take, and how much memory their processes hold.

Each is measured with so many schemas beside a tenth of them: its memory must not grow with the registry.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import IO, Self

import psutil

from benchmarks.harness import ROOT, Goal, Line, Lines, NotHere, arguments, report, stop
from sigla_pipelines.connectors.maven import Unavailable, java

SCHEMAS = 100_000
"""So many take minutes; a million, on request, the better part of an hour."""
FEW = 400
FLAT = Goal(1.5)
"""Caches, which have their bounds, fill up on the way to the first hundred thousand."""
LOOKED_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that were resident at most: of the command's own process, of the largest of Python's workers, of Java.

    How many workers there are is a matter of tasks, and of the minute that old ones wait for more work. They are forks:
    of what they share with each other each holds its part. Java's forks are not counted: until they become another
    program they share all that Java has.
    """

    driver: int = 0
    worker: int = 0
    java: int = 0

    def most(self, other: "Memory") -> "Memory":
        return Memory(max(self.driver, other.driver), max(self.worker, other.worker), max(self.java, other.java))


@dataclass(frozen=True, slots=True)
class Ran:
    """printed: on standard output. seconds: of the whole command, Java's start and all."""

    printed: str
    seconds: float
    memory: Memory


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Ran:
    """A Python command in a process of its own. folder: for what it puts aside. Raises RuntimeError."""
    environ = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder)} | dict(environment or {})
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as complaints:
        begun = perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=environ, stdout=printed, stderr=complaints, start_new_session=True
        )
        try:
            with _Watched(psutil.Process(process.pid)) as watched:
                status = process.wait()
        finally:
            stop(process)
        seconds = perf_counter() - begun
        if status:
            raise RuntimeError(f"{' '.join(command)} ended with {status}\n{_read(complaints)[-2_000:]}")
        return Ran(_read(printed), seconds, watched.most)


class _Watched:
    """Looks every second at what a process and its children hold."""

    def __init__(self, process: psutil.Process) -> None:
        self.most = Memory()
        self._process = process
        self._over = Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(LOOKED_EVERY_S):
            self.most = self.most.most(held(self._process))


def held(process: psutil.Process) -> Memory:
    """What it and all that it started hold now."""
    found = Memory()
    with suppress(psutil.NoSuchProcess):
        for each in [process, *process.children(recursive=True)]:
            with suppress(psutil.Error):
                found = found.most(_of(each, own=each == process))
    return found


def _of(each: psutil.Process, *, own: bool) -> Memory:
    name = each.name()
    if own:
        return Memory(driver=_own(each))
    if name == "java":
        return Memory(java=_own(each))
    return Memory(worker=each.memory_full_info().pss if name.startswith("python") else 0)


def _own(process: psutil.Process) -> int:
    """Without pages of files, which the system takes back when it needs them: a table that is read is mapped."""
    memory = process.memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


# --- sizes ------------------------------------------------------------------------------------------------------------


def sizes(schemas: int, *, quick: bool) -> tuple[int, int]:
    """A tenth of them, and all. Raises NotHere where Spark finds no Java."""
    try:
        java()
    except Unavailable as reason:
        raise NotHere(str(reason)) from reason
    most = FEW if quick else schemas
    return most // 10, most


def memory(job: str, large: Ran, small: Ran, sizes: tuple[int, int]) -> Lines:
    few, many = (f"{size:,} schemas" for size in sizes)
    ours, beside = large.memory, small.memory
    yield Line(f"{job}, memory of its own process: {many}", ours.driver, "B", beside.driver, few, FLAT)
    yield Line(f"{job}, memory of Python's largest worker: {many}", ours.worker, "B", beside.worker, few, FLAT)
    # It takes what its heap may take, 1 GB, before it collects: the bound is Spark's own.
    yield Line(f"{job}, memory of Java: {many}", ours.java, "B", beside.java, few)


def main(lines: Callable[..., Lines], description: str | None) -> None:
    """One of these benchmarks as a command: `python -m benchmarks.audit 1000000`."""
    parser = arguments(description)
    parser.add_argument("schemas", nargs="?", type=int, default=SCHEMAS, help="how many schemas (%(default)s)")
    args = parser.parse_args()
    try:
        report(lines(quick=args.quick, schemas=args.schemas), as_json=args.json)
    except NotHere as reason:
        print(reason, file=sys.stderr)
        sys.exit(2)
