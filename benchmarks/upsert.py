"""A state beside its history: what `mode: upsert` costs, beside the same changes appended alone, in the same run.

    python -m benchmarks.upsert [--quick] [--json]

A million changes on 100,000 keys, in ten batches: one in twenty is a delete, one in a hundred cannot be read. Spark has
two threads. CPU is that of all processes; what a batch takes by the clock depends on how large the state is, so it is
shown for the first batch and for the last. Reading is Spark's: the whole state, and what is newest of the history.
Both must have the same rows: the state is the fold of its history, or the benchmark fails.
"""

import os
import random
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import fastavro
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.harness import Line, Lines, NotHere, main
from benchmarks.land import cpu
from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.connectors.installation import iceberg
from sigla_pipelines.connectors.maven import Unavailable, java
from sigla_pipelines.land import settings
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sinks.iceberg import catalog
from sigla_pipelines.land.sources import Stopping
from sigla_pipelines.land.spark_catalog import with_catalog
from sigla_pipelines.places import open_place
from sigla_pipelines.spark import session

CHANGES: Final = 1_000_000
KEYS: Final = 100_000
BATCHES: Final = 10
SCHEMA: Final = {
    "type": "record",
    "name": "Account",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "owner", "type": "string"},
        {"name": "balance", "type": "double"},
        {"name": "status", "type": "string"},
    ],
}
STATE: Final = "SELECT id, owner, balance, status FROM sigla.sigla.accounts_state"
NEWEST: Final = """SELECT id, owner, balance, status FROM (
    SELECT *, row_number() OVER (PARTITION BY _sr_key ORDER BY _sr_offset DESC) AS place FROM sigla.sigla.accounts
) WHERE place = 1 AND _sr_op = 'U'"""
READ: Final = "SELECT sum(balance), count(*) AS rows FROM ({rows})"
DIFFERENT: Final = "SELECT count(*) AS rows FROM (({left} EXCEPT ALL {right}) UNION ALL ({right} EXCEPT ALL {left}))"
TS: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Ran:
    """seconds: of each batch, by the clock."""

    cpu: float
    seconds: list[float] = field(default_factory=list)


def lines(*, quick: bool) -> Lines:
    changes, keys = (CHANGES // 100, KEYS // 100) if quick else (CHANGES, KEYS)
    try:
        java()
        jars = iceberg()
    except Unavailable as reason:
        raise NotHere(str(reason)) from None
    with tempfile.TemporaryDirectory() as folder:
        spark = session(os.environ, name="bench", master="local[2]", jars=jars, settings={"spark.driver.memory": "4g"})
        try:
            yield from _lines(spark, Path(folder), changes, keys)
        finally:
            spark.stop()


def _lines(spark: SparkSession, root: Path, changes: int, keys: int) -> Lines:
    write(root, changes, keys)
    landed(spark, root, "upsert", batches=1)  # once unmeasured: compilers, and what workers import
    append, upsert = (landed(spark, root, mode) for mode in ("append", "upsert"))
    size = f"{changes:,} changes on {keys:,} keys"
    yield Line(f"upsert, {size}: CPU for each", upsert.cpu / changes, "s", append.cpu / changes, "append")
    yield Line(
        f"upsert, {size}: by the clock", sum(upsert.seconds) / changes, "s", sum(append.seconds) / changes, "append"
    )
    yield Line("upsert, the first batch", upsert.seconds[0], "s", append.seconds[0], "append")
    yield Line("upsert, the last batch", upsert.seconds[-1], "s", append.seconds[-1], "append")
    state, newest = read(spark, root)
    yield Line("the whole state, read by Spark", state, "s", newest, "the newest of the history, read by Spark")


def write(root: Path, changes: int, keys: int) -> None:
    """A registry, and a file of raw records for each batch."""
    with embedded(Settings(), root / "registry") as (registry, _):
        draft = Draft(text=orjson.dumps(SCHEMA).decode())
        id = int(registry.register(Subject(".", "accounts-value"), draft).id or 0)
    (root / "raw").mkdir()
    frame, schema, chance = struct.pack(">bI", 0, id), fastavro.parse_schema(SCHEMA), random.Random(7)
    each = changes // BATCHES
    for number in range(BATCHES):
        drawn = [chance.randrange(keys) for _ in range(each)]
        columns: dict[str, Any] = {
            "topic": ["accounts"] * each,
            "partition": [0] * each,
            "offset": range(number * each, (number + 1) * each),
            "timestamp": [TS] * each,
            "key": [b"%d" % key for key in drawn],
            "value": [_value(at, key, frame, schema) for at, key in enumerate(drawn)],
            "headers": [None] * each,
        }
        rows = pa.RecordBatch.from_arrays([pa.array(columns[kind.name], kind.type) for kind in RAW], schema=RAW)
        pq.write_table(pa.Table.from_batches([rows]), root / "raw" / f"{number}.parquet", row_group_size=each // 2)


def _value(at: int, key: int, frame: bytes, schema: Any) -> bytes | None:
    if at % 20 == 19:
        return None
    if at % 100 == 50:
        return frame + b"\x01"
    stream = BytesIO(frame)
    stream.seek(len(frame))
    record = {"id": key, "owner": f"owner {key % 977}", "balance": at / 7, "status": ("open", "closed")[at % 2]}
    fastavro.schemaless_writer(stream, schema, record)
    return stream.getvalue()


def landed(spark: SparkSession, root: Path, mode: str, *, batches: int = BATCHES) -> Ran:
    """All changes as the job lands them, one file after another."""
    home = root / mode
    shutil.rmtree(home, ignore_errors=True)
    (home / "raw").mkdir(parents=True)
    ran, before = Ran(0), cpu()
    with closing(driver(settings.read_settings(config(root, mode)))) as opened:
        for number in range(batches):
            (home / "raw" / f"{number}.parquet").hardlink_to(root / "raw" / f"{number}.parquet")
            begun, total = time.perf_counter(), Sum()
            run(spark, opened, total, Stopping())
            ran.seconds.append(time.perf_counter() - begun)
            if not total.landed or bool(total.states) != (mode == "upsert"):
                raise AssertionError(f"batch {number} was not landed")
    ran.cpu = cpu() - before
    return ran


def config(root: Path, mode: str) -> Path:
    form = {
        "registry": {"data": str(root / "registry")},
        "source": {"kind": "files", "path": str(root / mode / "raw")},
        "bind": [{"topic": "accounts", "mode": mode}],
        "sink": {"kind": "iceberg", "lake": str(root / mode / "lake")},
        "work": str(root / mode / "work"),
    }
    path = root / f"{mode}.yaml"
    path.write_bytes(orjson.dumps(form))
    return path


def read(spark: SparkSession, root: Path) -> Iterator[float]:
    """Seconds to sum up the state, and the same of the history alone."""
    lake = open_place(root / "upsert" / "lake")
    with closing(catalog({}, lake)) as known:
        mine = with_catalog(spark, known, lake)
        for rows in (STATE, NEWEST):
            timed: Callable[[], list[Any]] = mine.sql(READ.format(rows=rows)).collect
            timed()
            begun = time.perf_counter()
            timed()
            yield time.perf_counter() - begun
        [different] = mine.sql(DIFFERENT.format(left=f"({STATE})", right=f"({NEWEST})")).collect()
    if different.rows:
        raise AssertionError(f"{different.rows:,} rows differ between the state and what its history says")


if __name__ == "__main__":
    main(lines, __doc__)
