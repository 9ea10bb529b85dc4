"""Which rows of the quarantine replays have landed since: told by the query and the batch of a row, and by its mark."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.offsets import Offsets
from sigla_pipelines.land.quarantine import RESOLVED_TABLE
from sigla_pipelines.land.sinks.sink import Sink

MARK: Final = "mark"
"""The column that tells apart what has one offset; `quarantine.RESOLVED` says how."""

PARTITION: Final = ("topic", "partition")
BATCH: Final = (*PARTITION, "_sr_query", "_sr_batch")
"""What names a row of the quarantine, with its mark. To tell what became of a query's records the partition is enough:
where marks are the same, records are."""

MARKED: Final = (*BATCH, "offset", "timestamp", "key", "value", "headers")
"""The columns that marks are made of, and that are asked for."""


class Resolved:
    """rows: of the table `_resolved`. of_files: whether a query lands files, and not what a topic has."""

    def __init__(self, rows: Iterable[pa.RecordBatch], of_files: Callable[[str], bool]) -> None:
        self.of_files = of_files
        self._by_mark, self._by_offset = Offsets(BATCH, MARK), Offsets(BATCH)
        for batch in rows:
            if MARK not in batch.schema.names:  # a table of Iceberg that no replay has widened yet
                self._by_offset.add(batch)
                continue
            self._by_mark.add(batch.filter(pc.is_valid(batch[MARK])))
            self._by_offset.add(batch.filter(pc.is_null(batch[MARK])))

    def left(self, batch: pa.RecordBatch, only: str | None = None) -> Iterator[pa.RecordBatch]:
        """The rows that no replay has landed, query by query, with the column MARK.

        batch: of the quarantine, with MARKED. only: the query whose rows are wanted.
        """
        for query in batch["_sr_query"].unique().to_pylist():
            if only in (None, query):
                of_query = batch.filter(pc.equal(batch["_sr_query"], query))
                rows = marked(of_query, of_files=self.of_files(query))
                yield rows.filter(pc.invert(pc.or_(self._has(rows, query), self._by_offset.has(rows))))

    def _has(self, rows: pa.RecordBatch, query: str) -> pa.BooleanArray:
        """Says for each row whether it is resolved, by the mark that it has now, or had with null as a mark."""
        found = self._by_mark.has(rows)
        if not rows["headers"].null_count or not self.of_files(query):
            return found
        before = rows.set_column(rows.schema.names.index(MARK), MARK, _digests(rows, without_headers=None))
        return pc.or_(found, self._by_mark.has(before))


def resolved(manifests: Manifests, sink: Sink) -> Resolved:
    """What replays of a work directory have landed so far. Raises StoreError."""

    @cache
    def of_files(query: str) -> bool:
        last = manifests.last(query)
        return last is not None and bool(last.entries)

    return Resolved(sink.rows(RESOLVED_TABLE), of_files)


def marked(records: pa.RecordBatch, *, of_files: bool) -> pa.RecordBatch:
    """The same with the column MARK. Of Kafka's records an offset is enough: a query is bound to its topics' UUIDs."""
    return records.append_column(MARK, _digests(records) if of_files else records["offset"])


def _digests(records: pa.RecordBatch, without_headers: Sequence[Any] | None = ()) -> pa.Array:
    """Eight bytes for each record, by all that it says: files may be of two topics that had one name.

    without_headers: what stands for null. It means "no headers": pyiceberg up to 0.12 reads null as an empty list.
    """
    numbers = (records["offset"], records["timestamp"].cast(pa.int64()))
    columns = [column.to_pylist() for column in (*numbers, records["key"], records["value"], records["headers"])]
    absent = None if without_headers is None else [*without_headers]
    columns[-1] = [absent if each is None else each for each in columns[-1]]
    said = zip(*columns, strict=True)
    digests = (blake2b(repr(each).encode(), digest_size=8).digest() for each in said)
    return pa.array([int.from_bytes(digest, signed=True) for digest in digests], pa.int64())
