"""A topic of 100,000 schemas, loaded by Spark into a registry in a directory; 20,000 of them on AWS's engines.

    python -m benchmarks.load_topic [SCHEMAS] [--quick] [--json]

Two versions of each subject, each schema with an id of its own, one in a hundred with a reference. Time is that of the
whole command, Java's start and all. In turn with the directory the same bodies and rows are written bare: files and one
table, as durable as ours.

It may mislead: DynamoDB's engine and moto's S3 share this machine's processors with those who write to them.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from benchmarks import filled, jobs
from benchmarks.account import BUCKET, account
from benchmarks.harness import Line, Lines
from benchmarks.jobs import Ran

BUNCH = 10_000
VERSIONS = 2
REFERRING = 100
ON_AWS = 20_000
DUMP = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("timestamp", pa.int64()),
        pa.field("offset", pa.int64()),
    ]
)


def lines(*, quick: bool = False, schemas: int = jobs.SCHEMAS) -> Lines:
    sizes = jobs.sizes(schemas, quick=quick)
    (small, _), (large, bare) = (_into_a_directory(size) for size in sizes)
    many = f"{sizes[1]:,} schemas"
    yield Line(
        f"load, a schema: {many}", large.seconds / sizes[1], "s", bare / sizes[1], "files and rows, written bare"
    )
    yield from jobs.memory("load", large, small, sizes)
    if not quick:
        with filled.workspace() as space, account() as made:
            _write(space / "dump", ON_AWS)
            ran = _load(space, ON_AWS, "--bucket", BUCKET, "--table", made.table, environment=made.environment)
        yield Line(f"load of {ON_AWS:,} schemas on AWS's engines", ON_AWS / ran.seconds, "/s")


def _into_a_directory(schemas: int) -> tuple[Ran, float]:
    """And how many seconds it takes to write the same bare."""
    with filled.workspace() as space:
        _write(space / "dump", schemas)
        ran = _load(space, schemas, "--data", str(space / "data"))
        return ran, _bare(space / "bare", space / "dump")


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
    command = ["-m", "sigla_pipelines", "load", str(space / "dump"), "--work", str(space / "work"), "--json", *place]
    ran = jobs.run(command, space, environment)
    imported = json.loads(ran.printed)["imported"].get("version")
    if imported != schemas:
        raise RuntimeError(f"{imported} of {schemas} were imported")
    return ran


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
    jobs.main(lines, __doc__)
