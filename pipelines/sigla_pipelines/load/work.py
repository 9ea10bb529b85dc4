"""Where the steps of a load run: here, one writer for a directory; or in the tasks of Spark, many for a table.

Between two steps everything lies in files, so that neither this process nor Spark holds more than a batch or a group.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from sigla import opening
from sigla.settings import Address
from sigla.upkeep.importing import SIDE_BY_SIDE
from sigla_pipelines.load.frames import STEP, batches, rows, spark_ddl
from sigla_pipelines.load.steps import Open, Step
from sigla_pipelines.progress import UNSEEN, Progress

GROUP_ROWS: Final = 2_000
"""The pieces in which a file is written; read back in the same pieces."""

OURS: Final = "sigla-load"
"""In the folder that was named: what else is there stays."""


@dataclass(frozen=True, slots=True)
class Files:
    """What lies between the steps. folder: one that this process and all tasks see."""

    spark: SparkSession
    folder: str
    progress: Progress = UNSEEN

    def path(self, name: str) -> str:
        return f"{self.folder.rstrip('/')}/{OURS}/{name}"

    def kept(self, name: str, frame: DataFrame) -> DataFrame:
        """The same frame, computed once."""
        self.progress.step(name)
        frame.write.mode("overwrite").parquet(self.path(name))
        return self.read(name, frame.schema)

    def read(self, name: str, schema: Any) -> DataFrame:
        return self.spark.read.schema(schema).parquet(self.path(name))


class LoadWorker(Protocol):
    """Runs a step on the rows of a frame, in its order within each part; what comes of it is kept under a name."""

    def run(self, step: Step, frame: DataFrame, name: str) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class Here:
    """In this process, one after the other."""

    files: Files
    open: Open

    def run(self, step: Step, frame: DataFrame, name: str) -> DataFrame:
        given, made = Path(self.files.path(f"{name}.given")), Path(self.files.path(name))
        progress = self.files.progress
        progress.step(name)
        frame.write.mode("overwrite").parquet(str(given))
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        progress.step(name, sum(parquet.read_metadata(path).num_rows for path in _parts(given)))
        found = step(self.open, progress.counted(rows(_stored_batches(given))))
        with parquet.ParquetWriter(made / "part.parquet", STEP) as writer:
            for batch in batches(found, STEP):
                writer.write_batch(batch)
        return self.files.read(name, spark_ddl(STEP))


@dataclass(frozen=True, slots=True)
class Everywhere:
    """In tasks, `writers` at a time at most, each with connections of its own."""

    files: Files
    address: Address
    writers: int

    def run(self, step: Step, frame: DataFrame, name: str) -> DataFrame:
        # Parts are put together whole, so that groups stay together.
        done = frame.coalesce(self.writers).mapInArrow(partial(_task, step, self.address), spark_ddl(STEP))
        return self.files.kept(name, done)


def _task(step: Step, address: Address, given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    with opening.writing(address) as writing:
        open = Open(writing.registry, writing.store.group, threads=SIDE_BY_SIDE)
        yield from batches(step(open, rows(given)), STEP)


def _stored_batches(folder: Path) -> Iterator[pa.RecordBatch]:
    for path in _parts(folder):
        with parquet.ParquetFile(path, memory_map=True) as file:
            yield from file.iter_batches(GROUP_ROWS)


def _parts(folder: Path) -> list[Path]:
    """In their order: Spark numbers its files by the part of the frame."""
    return sorted(folder.glob("part-*"))
