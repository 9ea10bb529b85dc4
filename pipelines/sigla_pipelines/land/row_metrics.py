"""What a task has counted: records by partition, rows by table and schema."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from sigla_pipelines.land.landed import Met, Metric, Span

_KEYS = ("subject", "schema_id", "version", "reason")
_SUMS = (
    ("rows", "sum"),
    ("bytes", "sum"),
    ("unchecked", "sum"),
    ("offset", "min"),
    ("offset", "max"),
    ("ts", "min"),
    ("ts", "max"),
    ("additional", "sum"),
    ("left_out", "sum"),
)


@dataclass(frozen=True, slots=True)
class _Sum:
    rows: int
    bytes: int
    unchecked: int
    first_offset: int
    last_offset: int
    first_ts: int
    last_ts: int
    additional: int
    left_out: int

    def plus(self, other: "_Sum") -> "_Sum":
        return _Sum(
            self.rows + other.rows,
            self.bytes + other.bytes,
            self.unchecked + other.unchecked,
            min(self.first_offset, other.first_offset),
            max(self.last_offset, other.last_offset),
            min(self.first_ts, other.first_ts),
            max(self.last_ts, other.last_ts),
            self.additional + other.additional,
            self.left_out + other.left_out,
        )


class Tally:
    def __init__(self) -> None:
        self._spans: dict[tuple[str, int], tuple[int, int, int]] = {}
        self._metrics: dict[tuple[Any, ...], _Sum] = {}
        self._met: set[Met] = set()

    def read(self, records: pa.RecordBatch) -> None:
        """Records of RAW, each once."""
        table = pa.Table.from_batches([records.select(["topic", "partition", "offset"])])
        found = table.group_by(["topic", "partition"], use_threads=False).aggregate(
            [("offset", "min"), ("offset", "max"), ("offset", "count")]
        )
        for row in found.to_pylist():
            key = row["topic"], row["partition"]
            first, last, count = self._spans.get(key, (row["offset_min"], row["offset_max"], 0))
            self._spans[key] = (
                min(first, row["offset_min"]),
                max(last, row["offset_max"]),
                count + row["offset_count"],
            )

    def wrote(self, table: str, topic: str, columns: Mapping[str, Any]) -> None:
        """Rows of a table. columns: each of _KEYS, and of what _SUMS adds up but rows."""
        rows = pa.table({**columns, "rows": pa.repeat(pa.scalar(1, pa.int64()), len(columns["offset"]))})
        for row in rows.group_by(list(_KEYS), use_threads=False).aggregate(list(_SUMS)).to_pylist():
            key = table, topic, *(row[name] for name in _KEYS)
            added = _Sum(*(row[f"{name}_{how}"] for name, how in _SUMS))
            self._metrics[key] = self._metrics[key].plus(added) if key in self._metrics else added

    def meets(self, message: Met) -> None:
        """Records of the message can be read."""
        self._met.add(message)

    @property
    def met(self) -> tuple[Met, ...]:
        return tuple(sorted(self._met))

    @property
    def spans(self) -> tuple[Span, ...]:
        return tuple(Span(*key, *counted) for key, counted in sorted(self._spans.items()))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """In the order in which they were met."""
        names = ("table", "topic", *_KEYS)
        return tuple(
            Metric(**dict(zip(names, key, strict=True)), **asdict(counted)) for key, counted in self._metrics.items()
        )
