"""Which schema ids occur in data: counted from landed tables, from the quarantine and from files of raw records.

A file is one of two kinds, which its columns tell: landed rows say their id themselves, raw records (the quarantine
keeps them whole) in the first bytes of their parts or in a header.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.places import Place
from sigla.decoding.frames import KEY_HEADER, VALUE_HEADER, Frame, frame

USAGE: Final = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("id", pa.int64()),
        pa.field("guid", pa.string()),
        pa.field("rows", pa.int64()),
        pa.field("last_seen", pa.int64()),
    ]
)
"""Rows of one file of one topic; a record says an id or a guid. last_seen: milliseconds since the epoch, of records."""

LANDED: Final = ("_sr_topic", "_sr_schema_id", "_sr_ts")
RAW: Final = ("topic", "timestamp", "key", "value", "headers")
_ROWS_AT_ONCE: Final = 10_000


class Use(NamedTuple):
    topic: str
    id: int | None
    guid: str | None


def usage(batches: Iterable[pa.RecordBatch], place: Place) -> Iterator[pa.RecordBatch]:
    """batches: with the `name` of each file. Files that are of neither kind have nothing to tell."""
    for batch in batches:
        for name in batch.column("name").to_pylist():
            rows = [use._asdict() | {"rows": rows, "last_seen": seen} for use, (rows, seen) in _of(place, name).items()]
            yield pa.RecordBatch.from_pylist(rows, USAGE)


def _of(place: Place, name: str) -> dict[Use, tuple[int, int]]:
    counted: Counter[Use] = Counter()
    last: dict[Use, int] = {}
    with place.filesystem.open_input_file(place.path(name)) as opened:
        file = pq.ParquetFile(opened)
        columns = set(file.schema_arrow.names)
        kind = next((kind for kind in (LANDED, RAW) if columns.issuperset(kind)), None)
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(kind)) if kind else ():
            for use, rows, seen in (_landed if kind is LANDED else _raw)(batch):
                counted[use] += rows
                last[use] = max(seen, last.get(use, 0))
    return {use: (rows, last[use]) for use, rows in counted.items()}


def _landed(batch: pa.RecordBatch) -> Iterator[tuple[Use, int, int]]:
    """Grouped by the engine; tombstones say no id."""
    times = batch.column("_sr_ts").cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64())
    table = pa.table({"topic": batch.column("_sr_topic"), "id": batch.column("_sr_schema_id"), "ts": times})
    grouped = table.group_by(["topic", "id"]).aggregate([("ts", "count"), ("ts", "max")])
    for row in grouped.to_pylist():
        if row["id"] is not None:
            yield Use(row["topic"], row["id"], None), row["ts_count"], row["ts_max"]


def _raw(batch: pa.RecordBatch) -> Iterator[tuple[Use, int, int]]:
    for row in batch.to_pylist():
        headers = [(header["key"], header["value"]) for header in row["headers"] or ()]
        seen = round(row["timestamp"].timestamp() * 1000)
        for part, header in ((row["value"], VALUE_HEADER), (row["key"], KEY_HEADER)):
            found: Any = frame(part, headers, header=header)
            if isinstance(found, Frame):
                said = found.schema
                use = Use(row["topic"], None, str(said)) if isinstance(said, UUID) else Use(row["topic"], said, None)
                yield use, 1, seen
