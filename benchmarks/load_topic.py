"""A topic of 100,000 and of a million schemas, loaded by Spark into a registry in a directory; 20,000 of them on AWS.

Two versions of each subject, each schema with an id of its own, one in a hundred with a reference. Time is that of the
whole command, Java's start and all; memory is the most that its Python processes held at a time, and Java's beside it.
In turn with the directory the same bodies and rows are written bare: files and one table, as durable as ours.

It may mislead: DynamoDB's engine and moto's S3 share this machine's processors with those who write to them.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

import psutil
import pyarrow as pa
from pyarrow import parquet

from benchmarks import filled
from benchmarks.account import BUCKET, account
from benchmarks.harness import ROOT, Goal, Line, Lines, NotHere, main
from pipelines.connectors.installation import Unavailable, java

BUNCH = 10_000
VERSIONS = 2
REFERRING = 100
SIDE_BY_SIDE = 8
DUMP = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("timestamp", pa.int64()),
        pa.field("offset", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Ran:
    """seconds: in all. python, java: bytes that were resident at most."""

    seconds: float
    python: int
    java: int


def lines(*, quick: bool = False) -> Lines:
    try:
        java()
    except Unavailable as reason:
        raise NotHere(str(reason)) from reason
    sizes, on_aws = ((300,), 0) if quick else ((100_000, 1_000_000), 20_000)
    before: Ran | None = None
    for size in sizes:
        with filled.workspace() as space:
            _write(space / "dump", size)
            ran = _load(space, size, "--data", str(space / "data"))
            bare = _bare(space / "bare", space / "dump")
        told = f"of {size:,} schemas into a directory"
        yield Line(f"load {told}", ran.seconds / size, "s", bare / size, "files and rows, written bare")
        if before is not None:
            held = f"of {sizes[0]:,}"
            yield Line(f"memory of Python, load {told}", ran.python, "B", before.python, held, Goal(1.2))
            yield Line(f"memory of Java, load {told}", ran.java, "B", before.java, held)
        before = before or ran
    if on_aws:
        with filled.workspace() as space, account() as made:
            _write(space / "dump", on_aws)
            place = ["--bucket", BUCKET, "--table", made.table, "--writers", str(SIDE_BY_SIDE)]
            ran = _load(space, on_aws, *place, environment=made.environment)
        yield Line(f"load of {on_aws:,} schemas on AWS's engines, {SIDE_BY_SIDE} tasks", on_aws / ran.seconds, "/s")


# --- the topic --------------------------------------------------------------------------------------------------------


def _write(folder: Path, schemas: int) -> None:
    folder.mkdir()
    for number, begin in enumerate(range(0, schemas, BUNCH)):
        rows = [_record(at) for at in range(begin, min(begin + BUNCH, schemas))]
        parquet.write_table(pa.Table.from_pylist(rows, DUMP), folder / f"{number:06}.parquet")


def _record(number: int) -> Mapping[str, object]:
    of, version = divmod(number, VERSIONS)
    subject = filled.subject(of).name
    key = {"keytype": "SCHEMA", "subject": subject, "version": version + 1, "magic": 1}
    value = {"subject": subject, "version": version + 1, "id": number + 1, "schema": filled.text(of, version + 1)}
    if number % REFERRING == REFERRING - 1:
        used = {"name": f"shop.orders.Order{of - 1}", "subject": filled.subject(of - 1).name, "version": 1}
        value["references"] = [used]
    return {
        "key": json.dumps(key).encode(),
        "value": json.dumps(value | {"deleted": False}).encode(),
        "timestamp": 1_700_000_000_000 + number,
        "offset": number,
    }


# --- loading ----------------------------------------------------------------------------------------------------------


def _load(space: Path, schemas: int, *place: str, environment: Mapping[str, str] | None = None) -> Ran:
    """Raises RuntimeError if not all of it was imported."""
    command = [sys.executable, "-m", "pipelines", "load", str(space / "dump"), "--work", str(space / "work"), "--json"]
    environ = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(space)} | dict(environment or {})
    begun = time.perf_counter()
    with (space / "told").open("wb") as complaints:
        process = subprocess.Popen(
            [*command, *place], cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=complaints, start_new_session=True
        )
        with _Watched(psutil.Process(process.pid)) as watched:
            told, _ = process.communicate()
    seconds = time.perf_counter() - begun
    imported = json.loads(told)["imported"].get("version") if process.returncode == 0 else None
    if imported != schemas:
        raise RuntimeError(f"{imported} of {schemas} were imported\n{(space / 'told').read_text()[-2_000:]}")
    return Ran(seconds, watched.python, watched.java)


class _Watched:
    """Looks every second at what a process and its children hold."""

    def __init__(self, process: psutil.Process) -> None:
        self.python = self.java = 0
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
        while not self._over.wait(1):
            held = {"java": 0, "python": 0}
            for each in self._processes():
                try:
                    if each.name() == "java":
                        held["java"] += each.memory_info().rss
                    else:  # of what forked workers share with each other each holds its part
                        held["python"] += each.memory_full_info().pss
                except psutil.Error:
                    continue
            self.python, self.java = max(self.python, held["python"]), max(self.java, held["java"])

    def _processes(self) -> list[psutil.Process]:
        try:
            return [self._process, *self._process.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []


# --- the least --------------------------------------------------------------------------------------------------------


def _bare(folder: Path, dump: Path) -> float:
    """Seconds for files of the same texts and a row for each, two hundred made durable together."""
    folder.mkdir()
    begun = time.perf_counter()
    with ExitStack() as opened:
        db = sqlite3.connect(folder / "rows.sqlite")
        opened.callback(db.close)
        db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE v (id, subject, row)")
        for some in _records(dump):
            files = [os.open(folder / f"{row['offset']}", os.O_WRONLY | os.O_CREAT) for row in some]
            for file, row in zip(files, some, strict=True):
                os.write(file, row["value"])
            for file in files:
                os.fsync(file)
                os.close(file)
            db.executemany("INSERT INTO v VALUES (?, ?, ?)", [(row["offset"], row["key"], row["key"]) for row in some])
            db.commit()
    return time.perf_counter() - begun


def _records(dump: Path) -> Iterator[list[dict[str, Any]]]:
    for path in sorted(dump.iterdir()):
        with parquet.ParquetFile(path) as file:
            yield from (batch.to_pylist() for batch in file.iter_batches(200))


if __name__ == "__main__":
    main(lines, __doc__)
