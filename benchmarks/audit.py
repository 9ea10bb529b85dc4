"""What an audit costs that looks through 100,000 or a million schemas: time, pairs a second, and memory.

Each registry is a data directory that a bare writer fills with what an audit reads: ten versions of each subject, every
pair of which is compared in both directions. The job runs as a process of its own, with a JVM of 1 GB and two threads;
memory is that of its whole tree, looked at every two seconds. Its peer is the smaller registry: memory must not grow.

It may mislead: bodies are files in the memory of the operating system; in S3 each would be a GET of its own.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import psutil

from benchmarks import filled
from benchmarks.harness import ROOT, Goal, Line, Lines, NotHere, main
from sigla import keys, records
from sigla.embedded.store import EmbeddedStore
from sigla.keys import utf16
from sigla.languages import LANGUAGES
from sigla.model import Body, BodyKey, Schema, SchemaId, Subject, Version
from sigla.rules.guid import guid_of

GROUP = 10_000
AT = 1_700_000_000_000
FLAT = Goal(1.3)
LOOKED_EVERY_S = 2.0
CONTEXT = "."


@dataclass(frozen=True, slots=True)
class Run:
    """seconds: as the job tells them, without the start of Spark. driver, tree: most bytes of memory at one time."""

    pairs: int
    seconds: float
    driver: int
    tree: int


def lines(*, quick: bool = False, sizes: tuple[int, int] = (100_000, 1_000_000)) -> Lines:
    small, large = (200, 400) if quick else sizes
    with filled.workspace() as path:
        first, second = (measured(path, size) for size in (small, large))
    of, beside = f"{large:,} schemas", f"{small:,} schemas"
    yield Line(f"audit, a schema: {of}", second.seconds / large, "s", first.seconds / small, beside)
    yield Line(f"pairs compared in both directions, in all: {of}", second.pairs / second.seconds, "/s")
    yield Line(f"memory of the driver: {of}", second.driver, "B", first.driver, beside, FLAT)
    yield Line(f"memory of driver, JVM and workers: {of}", second.tree, "B", first.tree, beside)


def measured(path: Path, schemas: int) -> Run:
    data, out = path / f"data-{schemas}", path / f"audit-{schemas}"
    fill(data, schemas)
    command = [sys.executable, "-m", "pipelines.audit.job", "--data", str(data), "--out", str(out)]
    environ = {**os.environ, "PYSPARK_SUBMIT_ARGS": "--driver-memory 1g pyspark-shell"}
    with (
        tempfile.TemporaryFile("w+") as printed,
        subprocess.Popen(command, cwd=ROOT, env=environ, stdout=printed, stderr=subprocess.DEVNULL) as process,
    ):
        driver, tree = _watched(process)
        printed.seek(0)
        told = printed.read()
    if process.returncode != 0:
        raise NotHere(f"the audit ended with {process.returncode}; Spark needs Java 17")
    pairs, seconds = (re.search(pattern, told) for pattern in (r"compared: ([\d,]+)", r"took: (\d+) s"))
    assert pairs  # noqa: S101 - the job tells it
    assert seconds  # noqa: S101 - as above
    return Run(int(pairs[1].replace(",", "")), max(1.0, float(seconds[1])), driver, tree)


def _watched(process: "subprocess.Popen[bytes]") -> tuple[int, int]:
    """The most memory that the driver, and its whole tree, had at one time."""
    driver, tree = 0, 0
    while process.poll() is None:
        try:
            root = psutil.Process(process.pid)
            own = root.memory_info().rss
            driver, tree = max(driver, own), max(tree, own + sum(map(_memory, root.children(recursive=True))))
        except psutil.NoSuchProcess:
            break
        time.sleep(LOOKED_EVERY_S)
    process.wait()
    return driver, tree


def _memory(process: psutil.Process) -> int:
    """Its own share: workers are forks that have most pages in common."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0


def fill(path: Path, schemas: int) -> None:
    """Subjects, versions and bodies, past the verbs: those would take ten times as long."""
    with patch("os.fsync"), EmbeddedStore(path) as store:
        database = store._unit._database.writer  # noqa: SLF001 - there is no way in that is faster
        numbers = iter(range(schemas))
        while some := list(islice(numbers, GROUP)):
            database.execute("BEGIN")
            database.executemany(
                "INSERT INTO subject VALUES (?, ?, '.', ?, ?, ?, 0, 0, ?, ?, '')", _subjects(some, schemas)
            )
            database.executemany(
                "INSERT INTO version VALUES (?, ?, '.', ?, ?, 'AVRO', '[]', FALSE, ?, ?, ?)", _versions(path, some)
            )
            database.execute("COMMIT")


def _subjects(numbers: Iterable[int], schemas: int) -> Iterator[tuple[object, ...]]:
    for number in numbers:
        of, version = divmod(number, filled.VERSIONS)
        if version == 0:
            name, last = filled.subject(of), min(filled.VERSIONS, schemas - number)
            yield of, utf16(name.qualified), name.name, utf16(name.name), last, last, last


def _versions(path: Path, numbers: Iterable[int]) -> Iterator[tuple[object, ...]]:
    for number in numbers:
        of, version = divmod(number, filled.VERSIONS)
        id, name = SchemaId(number + 1), filled.subject(of)
        schema = Schema("AVRO", _canonical(of, version + 1))
        body = Body(schema, guid_of(schema), (), Subject(CONTEXT, name.name), Version(version + 1), AT, "n")
        file = path / keys.body_file("default", BodyKey(CONTEXT, id))
        if number == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(records.body_bytes(body))
        yield of, version + 1, id, body.guid, AT, version + 1, utf16(name.qualified)


def _canonical(of: int, version: int) -> str:
    """Parsed once, then only its two numbers change."""
    return _TEMPLATE.replace("_98765432", f"_{version}").replace("Order12345678", f"Order{of}")


_TEMPLATE = LANGUAGES["AVRO"].parse(filled.text(12_345_678, 98_765_432), (), True).canonical  # noqa: FBT003 - strictly


if __name__ == "__main__":
    main(lines, __doc__)
