"""Tables as folders of Parquet files below a place: written by the driver in a stream or by tasks, read by tasks.

Spark never sees the place: a file is read and written where its rows are, so that S3 needs nothing of the JVM.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from sigla.settings import InvalidSetting
from sigla.terminal.statuses import MISUSED
from sigla_pipelines.exit_status import Kinds
from sigla_pipelines.places import Place, open_place

Schema = Any
"""Arrow's, which has no types of its own."""

ROWS_OF_A_BATCH: Final = 10_000
"""So many are held at a time."""
BATCHES_OF_A_FILE: Final = 5
"""What the driver writes into one file, and so what a task reads at least."""

NOT_WHOLE: Final = "The output in --out is incomplete: remove it, and start again when the store answers."
"""What to do when a store fell silent meanwhile."""

_NAME: Final = pa.schema([pa.field("name", pa.string())])
_WRITTEN: Final = pa.schema([pa.field("name", pa.string()), pa.field("rows", pa.int64())])


class NotEmpty(Exception):
    """There is something where tables are to be written; the sentence says where."""


OWN: Final[Kinds] = {NotEmpty: MISUSED}


def check_empty(place: Place) -> None:
    """Raises NotEmpty: whoever reads a place finds one run's tables there."""
    if next(place.names(), None) is not None:
        raise NotEmpty(f"{place.url} is not empty: choose an empty folder or prefix.")


def filled(url: str, ending: str) -> Place:
    """Where files of that ending are to be read. Raises InvalidSetting: of none at all nothing could be told."""
    found = open_place(url)
    if not any(name.endswith(ending) for name in found.names()):
        raise InvalidSetting(f"Found no files *{ending} in {found.url}.")
    return found


def stream(
    rows: Iterable[tuple[Any, ...]],
    schema: pa.Schema,
    place: Place,
    *,
    batch_rows: int = ROWS_OF_A_BATCH,
    file_batches: int = BATCHES_OF_A_FILE,
) -> int:
    """Writes what comes, a file after the other; how many rows there were."""
    coming, count = _batches(rows, schema, batch_rows), 0
    for number, first in enumerate(coming):
        some = chain([first], islice(coming, file_batches - 1))
        count += _write_file(some, schema, place, f"part-{number:06}.parquet")
    return count


def read(spark: SparkSession, place: Place, schema: pa.Schema) -> DataFrame:
    """The rows of all files of a table."""
    names = [(name,) for name in place.names() if name.endswith(".parquet")]
    files = spark.createDataFrame(names, from_arrow_schema(_NAME)).repartition(max(1, len(names)))
    return files.mapInArrow(partial(_rows_of, place=place, schema=schema), from_arrow_schema(schema))


def write(frame: DataFrame, schema: pa.Schema, place: Place) -> int:
    """A file for each partition that is not empty; how many rows there were. A task that is repeated overwrites."""
    written = frame.mapInArrow(partial(_write_part, place=place, schema=schema), from_arrow_schema(_WRITTEN))
    return sum(row.rows for row in written.collect())


def files(place: Place, name: str) -> Iterator[pa.RecordBatch]:
    with place.filesystem.open_input_file(place.path(name)) as opened:
        yield from pq.ParquetFile(opened).iter_batches(ROWS_OF_A_BATCH)


def _rows_of(batches: Iterable[pa.RecordBatch], *, place: Place, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for name in batch.column("name").to_pylist():
            yield from (rows.cast(schema) for rows in files(place, name))


def _write_part(batches: Iterable[pa.RecordBatch], *, place: Place, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    coming = (batch.cast(schema) for batch in batches if batch.num_rows)
    first = next(coming, None)
    if first is None:
        return
    name = f"part-{TaskContext.get().partitionId():06}.parquet"
    rows = _write_file(chain([first], coming), schema, place, name)
    yield pa.RecordBatch.from_pylist([{"name": name, "rows": rows}], _WRITTEN)


def _batches(rows: Iterable[tuple[Any, ...]], schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
    coming = iter(rows)
    while some := list(islice(coming, size)):
        columns = [pa.array(column, field.type) for column, field in zip(zip(*some, strict=True), schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _write_file(batches: Iterable[pa.RecordBatch], schema: pa.Schema, place: Place, name: str) -> int:
    rows = 0
    with (
        place.filesystem.open_output_stream(place.folder_for(name)) as opened,
        pq.ParquetWriter(opened, schema, compression="zstd") as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows
