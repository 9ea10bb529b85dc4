"""What a task has counted: records by partition, rows by table and schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sigla_pipelines.land.framing import NONE, Ids
from sigla_pipelines.land.landed import Met, Metric, Span

_KEYS: Final = ("subject", "schema_id", "version", "reason")
_SUMS: Final[Mapping[str, tuple[str, str]]] = {
    "rows": ("rows", "sum"),
    "bytes": ("bytes", "sum"),
    "unchecked": ("unchecked", "sum"),
    "first_offset": ("offset", "min"),
    "last_offset": ("offset", "max"),
    "first_ts": ("ts", "min"),
    "last_ts": ("ts", "max"),
    "additional": ("additional", "sum"),
    "left_out": ("left_out", "sum"),
}
"""The figures of a metric, in its order, which the keys begin: of which column of rows, and how."""


@dataclass(frozen=True, slots=True)
class MetricKeys:
    """What metrics tell rows apart by: those that rows may have, and of each row where it has its own.

    ids: NONE of what names no schema.
    """

    subjects: Sequence[str] | pa.Array
    ids: Ids
    versions: npt.NDArray[np.int64]
    reasons: Sequence[str] | pa.Array
    of_rows: npt.NDArray[Any]

    def table(self) -> pa.Table:
        columns = (
            pa.array(self.subjects, pa.string()),
            pa.array(self.ids, pa.int64(), mask=self.ids == NONE),
            pa.array(self.versions, pa.int64()),
            pa.array(self.reasons, pa.string()),
        )
        return pa.table(columns, names=_KEYS)


def keys_of_each(ids: Ids, subjects: Sequence[str], reasons: Sequence[str]) -> MetricKeys:
    """One for each row, of rows without a version."""
    return MetricKeys(subjects, ids, np.zeros(len(ids), np.int64), reasons, np.arange(len(ids)))


_MOST_PENDING: Final = 2**16
"""Counted rows that wait to be added up."""


class Tally:
    def __init__(self) -> None:
        self._spans: dict[tuple[str, int], tuple[int, int, int]] = {}
        self._pending: dict[tuple[str, str], list[pa.Table]] = {}
        self._met: set[Met] = set()

    def read(self, topic: str, records: pa.RecordBatch) -> None:
        """Records of RAW, of one topic, each once."""
        partitions, offsets = (records.column(name).to_numpy() for name in ("partition", "offset"))
        several = (partitions != partitions[0]).any()
        for partition in np.unique(partitions).tolist() if several else [int(partitions[0])]:
            of_it = offsets[partitions == partition] if several else offsets
            lowest, highest = int(of_it.min()), int(of_it.max())
            first, last, count = self._spans.get((topic, partition), (lowest, highest, 0))
            self._spans[topic, partition] = min(first, lowest), max(last, highest), count + len(of_it)

    def wrote(self, table: str, topic: str, keys: "MetricKeys", columns: Mapping[str, Any]) -> None:
        """Rows of a table. columns: of rows, those of _SUMS but `rows`; one that is missing is 0."""
        rows = pa.table({"key": keys.of_rows, "rows": np.ones(len(keys.of_rows), np.int64), **columns})
        known = {name: each for name, each in _SUMS.items() if each[0] in rows.column_names}
        found = rows.group_by("key", use_threads=False).aggregate(list(known.values()))
        nothing = pa.repeat(pa.scalar(0, pa.int64()), len(found))
        figures = {
            name: found["_".join(each)].cast(pa.int64()) if name in known else nothing for name, each in _SUMS.items()
        }
        common = keys.table().take(found["key"])
        pending = self._pending.setdefault((table, topic), [])
        pending.append(pa.table({**dict(zip(_KEYS, common.columns, strict=True)), **figures}))
        if sum(map(len, pending)) > _MOST_PENDING:
            pending[:] = [_added_up(pending)]

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
        """Table by table, each in the order in which its keys were met."""
        return tuple(
            Metric(*where, *row)
            for where, pending in self._pending.items()
            for row in zip(*(column.to_pylist() for column in _added_up(pending).columns), strict=True)
        )


def _added_up(tables: Sequence[pa.Table]) -> pa.Table:
    """One row for each key."""
    sums = [(name, how) for name, (_, how) in _SUMS.items()]
    found = pa.concat_tables(tables).group_by(list(_KEYS), use_threads=False).aggregate(sums)
    return found.select([*_KEYS, *("_".join(each) for each in sums)]).rename_columns([*_KEYS, *_SUMS])
