"""Which schema ids occur in data: counted from landed tables, from the quarantine and from files of raw records.

A file is one of two kinds, which its columns tell: landed rows say their id themselves, raw records (the quarantine
keeps them whole) in the first bytes of their parts or in a header.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sigla.decoding.frames import KEY_HEADER, VALUE_HEADER, Frame, frame
from sigla_pipelines.land.resolved import MARKED, Resolved
from sigla_pipelines.land.sinks.sink import STAGING
from sigla_pipelines.places import Place

USAGE: Final = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("id", pa.int64()),
        pa.field("guid", pa.string()),
        pa.field("rows", pa.int64()),
        pa.field("last_seen", pa.int64()),
        pa.field("quarantined", pa.bool_()),
    ]
)
"""Rows of one file of one topic; a record says an id or a guid. last_seen: milliseconds since the epoch, of records;
null where none says its time. quarantined: the file is one of the quarantine, where bytes may look like an id."""

LANDED: Final = ("_sr_topic", "_sr_schema_id", "_sr_ts")
RAW: Final = ("topic", "timestamp", "key", "value", "headers")
QUARANTINED: Final = (*MARKED, "reasons")
_ROWS_AT_ONCE: Final = 10_000


class NoRecords(Exception):
    """There is nothing to look through; the sentence says where."""


class Use(NamedTuple):
    topic: str
    id: int | None
    guid: str | None


def usage_of_files(
    batches: Iterable[pa.RecordBatch], places: Sequence[Place], resolved: Resolved | None = None
) -> Iterator[pa.RecordBatch]:
    """batches: with the `name` of each file, and in `place` which of the places has it.

    resolved: rows of the quarantine that count elsewhere, as landed ones. Files of neither kind have nothing to tell.
    """
    for batch in batches:
        for place, name in zip(*(batch.column(each).to_pylist() for each in ("place", "name")), strict=True):
            quarantined, found = _usage_of_file(places[place], name, resolved)
            rows = [
                use._asdict() | {"rows": rows, "last_seen": seen, "quarantined": quarantined}
                for use, (rows, seen) in found.items()
            ]
            yield pa.RecordBatch.from_pylist(rows, USAGE)


def check_records(place: Place) -> None:
    """Raises NoRecords: of data that are not there every schema would seem to be unused."""
    if not any(_is_told(place, name) for name in parquet_files(place)):
        raise NoRecords(f"Found no Parquet files of landed or raw records in {place.url}.")


def parquet_files(place: Place) -> Iterator[str]:
    """The Parquet files there, without those that tasks have staged and no commit has moved."""
    for name in place.names():
        if name.endswith(".parquet") and STAGING not in name.split("/"):
            yield name


def _is_told(place: Place, name: str) -> bool:
    with place.filesystem.open_input_file(place.path(name)) as opened:
        try:
            return _kind(pq.ParquetFile(opened)) is not None
        except pa.ArrowInvalid:  # the file is not Parquet
            return False


def _kind(file: pq.ParquetFile) -> tuple[str, ...] | None:
    columns = set(file.schema_arrow.names)
    return next((kind for kind in (LANDED, QUARANTINED, RAW) if columns.issuperset(kind)), None)


def _usage_of_file(
    place: Place, name: str, resolved: Resolved | None
) -> tuple[bool, dict[Use, tuple[int, int | None]]]:
    """Whether it is a file of the quarantine, and its rows and last time by what they name."""
    counted: Counter[Use] = Counter()
    last: dict[Use, int] = {}
    with place.filesystem.open_input_file(place.path(name)) as opened:
        file = pq.ParquetFile(opened)
        kind = _kind(file)
        if kind is None:
            return False, {}
        columns = list(MARKED if kind is QUARANTINED else kind)
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=columns):
            for use, rows, seen in _TOLD[kind](batch, resolved):
                counted[use] += rows
                if seen is not None:
                    last[use] = max(seen, last.get(use, seen))
    return kind is QUARANTINED, {use: (rows, last.get(use)) for use, rows in counted.items()}


_Uses = Iterator[tuple[Use, int, int | None]]


def _landed(batch: pa.RecordBatch, _: Resolved | None) -> _Uses:
    """Grouped by the engine; tombstones say no id."""
    times = _milliseconds_of(batch.column("_sr_ts"))
    table = pa.table({"topic": batch.column("_sr_topic"), "id": batch.column("_sr_schema_id"), "ts": times})
    counts = ("ts", "count", pc.CountOptions(mode="all"))
    grouped = table.group_by(["topic", "id"]).aggregate([counts, ("ts", "max")])
    for row in grouped.to_pylist():
        if row["id"] is not None:
            yield Use(row["topic"], row["id"], None), row["ts_count"], row["ts_max"]


def _waiting(batch: pa.RecordBatch, resolved: Resolved | None) -> _Uses:
    """What of the quarantine no replay has landed."""
    for rows in resolved.left(batch) if resolved else [batch]:
        yield from _raw_uses(rows, resolved)


def _raw_uses(batch: pa.RecordBatch, _: Resolved | None) -> _Uses:
    times = _milliseconds_of(batch.column("timestamp")).to_pylist()
    for row, seen in zip(batch.drop_columns(["timestamp"]).to_pylist(), times, strict=True):
        headers = [(header["key"], header["value"]) for header in row["headers"] or ()]
        for part, header in ((row["value"], VALUE_HEADER), (row["key"], KEY_HEADER)):
            found: Any = frame(part, headers, header=header)
            if isinstance(found, Frame):
                said = found.schema
                use = Use(row["topic"], None, str(said)) if isinstance(said, UUID) else Use(row["topic"], said, None)
                yield use, 1, seen


_TOLD: Final = {LANDED: _landed, QUARANTINED: _waiting, RAW: _raw_uses}


def _milliseconds_of(times: pa.Array) -> pa.Array:
    """Milliseconds since the epoch, as integers are already. Python knows no date after the year 9999, Kafka does."""
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("ms", times.type.tz), safe=False)
    elif not pa.types.is_integer(times.type):
        return pa.nulls(len(times), pa.int64())
    return times.cast(pa.int64(), safe=False)
