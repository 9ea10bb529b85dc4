"""The quarantine once more, when a reason may be gone: a schema was registered, a reader mended, a limit raised.

A replay is a batch of a query of its own, with its own manifest. What can be read now is appended to the typed tables
and named in `_resolved`, by the same manifest; the quarantine itself is never changed. Replays of a work directory come
one after another: each begins with what all before it have resolved, and of two at once one manifest stands.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.land.batch import Attempt, columns_since, resume
from pipelines.land.landed import QUARANTINE, DataFile
from pipelines.land.manifest import Counts, Manifest, Manifests, Stopped
from pipelines.land.offsets import Offsets
from pipelines.land.outputs import Outputs
from pipelines.land.quarantine import RESOLVED, RESOLVED_TABLE
from pipelines.land.raw import RAW
from pipelines.land.sinks.sink import Sink, folder
from pipelines.places import Place

NAME: Final = "replay"
"""Of the query, in its work directory."""

_PARTITION: Final = ("topic", "partition")
_BATCH: Final = (*_PARTITION, "_sr_query", "_sr_batch")
"""What names a row of the quarantine, with its offset; of one query the partition is enough, because the query is bound
to its topics' UUIDs."""

Land = Callable[[str, int, Iterable[pa.RecordBatch]], Attempt]
"""Query and number of the replay's batch, and batches of RAW, each identity once → what became of them."""


def run(
    manifests: Manifests, sink: Sink, lake: Place, land: Land, *, now: datetime, reasons: Iterable[str] = ()
) -> Manifest | None:
    """Lands what can be landed now; None if that is nothing.

    reasons: records of which a part has one of these; () for all. Raises Stopped if another replay was faster.
    """
    query = manifests.query(NAME)
    number = resume(query, manifests, sink)
    resolved = Offsets(_BATCH)
    for batch in sink.rows(RESOLVED_TABLE):
        resolved.add(batch)
    waiting = Waiting(sink, frozenset(reasons), resolved)
    attempts, files = [], list[DataFile]()
    with Outputs(lake, query, number) as outputs:
        for origin in waiting.queries():
            read, failed = Offsets(_PARTITION), Offsets(_PARTITION)
            attempt = land(query, number, waiting.records(origin, read))
            for batch in _quarantined(attempt, lake):
                failed.add(batch)
            for batch in waiting.rows(origin):  # there may be more of them by now
                landed = batch.filter(pc.and_not(read.has(batch), failed.has(batch)))
                outputs.write(RESOLVED_TABLE, _resolved(landed, number, now))
            attempts.append(attempt)
        files += outputs.close()
    before = manifests.get(query, number - 1) if number else None
    manifest = _decided(query, number, before, attempts, files)
    if not manifest.counts.resolved:
        return None
    stands = manifests.put(manifest)
    sink.commit(stands)
    if stands != manifest:
        raise Stopped(f"Another replay was faster, and is batch {number}: start again for what it has left.")
    return stands


class Waiting:
    """What is in the quarantine, is not resolved and has one of some reasons."""

    def __init__(self, sink: Sink, reasons: frozenset[str], resolved: Offsets) -> None:
        self._sink = sink
        self._reasons = reasons
        self._resolved = resolved

    def queries(self) -> list[str]:
        return sorted({query for batch in self._batches() for query in batch["_sr_query"].to_pylist()})

    def rows(self, query: str) -> Iterator[pa.RecordBatch]:
        """Whole rows of those that a query has quarantined."""
        for batch in self._batches():
            of_query = batch.filter(pc.equal(batch["_sr_query"], query))
            if len(of_query):
                yield of_query

    def records(self, query: str, read: Offsets) -> Iterator[pa.RecordBatch]:
        """The records of these rows; who they are is added to `read`."""
        for batch in self.rows(query):
            read.add(batch)
            yield batch.select(RAW.names).cast(RAW)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._sink.rows(QUARANTINE):
            waits = batch.filter(pc.invert(self._resolved.has(batch)))
            yield waits.filter(self._wanted(waits["reasons"])) if self._reasons else waits

    def _wanted(self, reasons: pa.Array) -> pa.BooleanArray:
        """Of each record whether one of its parts has one of the reasons."""
        wanted = [any(each["reason"] in self._reasons for each in several) for several in reasons.to_pylist()]
        return pa.array(wanted, pa.bool_())


def _quarantined(attempt: Attempt, lake: Place) -> Iterator[pa.RecordBatch]:
    """What an attempt could not read: files that no manifest will name."""
    for landed in attempt.landed:
        for file in landed.files:
            if file.table == QUARANTINE:
                path = lake.under(folder(file.table)).path(file.path)
                with lake.filesystem.open_input_file(path) as opened, pq.ParquetFile(opened) as parquet:
                    yield from parquet.iter_batches(columns=[*_PARTITION, "offset"])


def _resolved(rows: pa.RecordBatch, number: int, now: datetime) -> pa.RecordBatch:
    names = (*_PARTITION, "offset", "_sr_query", "_sr_batch")
    columns = [*(rows[name] for name in names), pa.repeat(number, len(rows)), pa.array([now] * len(rows))]
    arrays = [column.cast(kind.type) for column, kind in zip(columns, RESOLVED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=RESOLVED)


def _decided(
    query: str, number: int, before: Manifest | None, attempts: Sequence[Attempt], resolved: Iterable[DataFile]
) -> Manifest:
    """Raises Stopped if what was landed is not what is called resolved."""
    landed = [each for attempt in attempts for each in attempt.landed]
    typed = [file for each in landed for file in each.files if file.table != QUARANTINE]
    marks = [file for file in resolved if file.rows]
    rows, marked = sum(file.rows for file in typed), sum(file.rows for file in marks)
    if rows != marked:
        raise Stopped(f"Replay {number} landed {rows} records and resolved {marked}: nothing was changed. Report it.")
    return Manifest(
        query=query,
        number=number,
        ranges=(),
        entries=(),
        files=(*typed, *marks),
        columns=columns_since(before, attempts, typed),
        spans=(),
        metrics=tuple(metric for each in landed for metric in each.metrics if metric.table != QUARANTINE),
        reads=tuple(dict.fromkeys(read for attempt in attempts for read in attempt.reads)),
        counts=Counts(read=0, landed=rows, resolved=marked),
    )
