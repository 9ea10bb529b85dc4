"""The quarantine once more, when a reason may be gone: a schema was registered, a reader mended, a limit raised.

A replay is a batch of a query of its own, with its own manifest. What can be read now is appended to the typed tables
and named in `_resolved`, by the same manifest; the quarantine itself is never changed. Replays of a work directory come
one after another: each begins with what all before it have resolved, and of two at once one manifest stands.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sigla_pipelines.land.batch import Attempt, columns_since, next_number
from sigla_pipelines.land.landed import QUARANTINE, DataFile
from sigla_pipelines.land.manifest import Manifest, Manifests, RecordCounts, Stopped
from sigla_pipelines.land.offsets import Offsets
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.quarantine import RESOLVED, RESOLVED_TABLE
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.resolved import BATCH, MARK, PARTITION, marked, resolved
from sigla_pipelines.land.sinks.sink import Sink, in_table
from sigla_pipelines.places import Place

NAME: Final = "replay"
"""The objects of a query, in its work directory."""

Records = Callable[[], Iterable[pa.RecordBatch]]
"""Batches of RAW, from their beginning each time."""

Land = Callable[[str, int, Records], Attempt]
"""Query and number of the replay's batch, and its records → what became of them."""


def replay_quarantine(
    manifests: Manifests,
    sink: Sink,
    land: Land,
    *,
    now: datetime,
    topics: Container[str],
    unbound: Counter[str],
    reasons: Iterable[str] = (),
) -> Manifest | None:
    """Lands what can be landed now; None if that is nothing.

    topics: those that are bound. unbound: records of others, which go on waiting, are counted here. reasons: records of
    which a part has one of these; () for all. Raises Stopped if another replay was faster.
    """
    query = manifests.query(NAME)
    number = next_number(query, manifests, sink)
    waiting = Waiting(manifests, sink, topics, frozenset(reasons))
    attempts, files = [], list[DataFile]()
    with Outputs(sink.staging, query, number) as outputs:
        for origin in waiting.queries(unbound):
            read, failed = Offsets(BATCH, MARK), Offsets(PARTITION, MARK)
            attempt = land(query, number, partial(waiting.records, origin, read))
            for batch in _quarantined(attempt, sink.staging, of_files=waiting.of_files(origin)):
                failed.add(batch)
            for batch in waiting.rows(origin):  # there may be more of them by now
                landed = batch.filter(pc.and_not(read.has(batch), failed.has(batch)))
                outputs.write(RESOLVED_TABLE, _resolved(landed, number, now))
            attempts.append(attempt)
        files += outputs.close()
    before = manifests.get(query, number - 1) if number else None
    manifest = _manifest_of(query, number, before, attempts, files)
    if not manifest.counts.resolved:
        return None
    stands = manifests.put(manifest)
    sink.commit(stands)
    if stands != manifest:
        raise Stopped(f"Another replay was faster, and is batch {number}: start again for what it has left.")
    return stands


class Waiting:
    """What is in the quarantine, is not resolved and has one of some reasons. Batches have the column MARK, too."""

    def __init__(self, manifests: Manifests, sink: Sink, topics: Container[str], reasons: frozenset[str]) -> None:
        self._sink = sink
        self._topics = topics
        self._reasons = reasons
        self._resolved = resolved(manifests, sink)
        self.of_files = self._resolved.of_files

    def queries(self, unbound: Counter[str]) -> list[str]:
        """Those that have quarantined it. unbound: by topic, how much of it no binding speaks of."""
        found = set[str]()
        for batch in self._batches():
            bound = self._bound(batch)
            found.update(batch.filter(bound)["_sr_query"].unique().to_pylist())
            for each in batch.filter(pc.invert(bound))["topic"].value_counts().to_pylist():
                unbound[each["values"]] += each["counts"]
        return sorted(found)

    def rows(self, query: str) -> Iterator[pa.RecordBatch]:
        """Whole rows of those that a query has quarantined, of bound topics."""
        for batch in self._batches(query):
            bound = batch.filter(self._bound(batch))
            if len(bound):
                yield bound

    def records(self, query: str, read: Offsets) -> Iterator[pa.RecordBatch]:
        """The records of these rows; who they are is added to `read`."""
        for batch in self.rows(query):
            read.add(batch)
            yield batch.select(RAW.names).cast(RAW)

    def _batches(self, only: str | None = None) -> Iterator[pa.RecordBatch]:
        for batch in self._sink.rows(QUARANTINE):
            for waits in self._resolved.left(batch, only):
                yield waits.filter(self._wanted(waits["reasons"])) if self._reasons else waits

    def _bound(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        bound = [topic for topic in batch["topic"].unique().to_pylist() if topic in self._topics]
        return pc.is_in(batch["topic"], value_set=pa.array(bound, pa.string()))

    def _wanted(self, reasons: pa.Array) -> pa.BooleanArray:
        """Says for each record whether one of its parts has one of the reasons."""
        wanted = [any(each["reason"] in self._reasons for each in several) for several in reasons.to_pylist()]
        return pa.array(wanted, pa.bool_())


def _quarantined(attempt: Attempt, staging: Place, *, of_files: bool) -> Iterator[pa.RecordBatch]:
    """What an attempt could not read: files that no manifest will name. Batches have the column MARK, too."""
    names = RAW.names if of_files else [*PARTITION, "offset"]
    for landed in attempt.landed:
        for file in landed.files:
            if file.table == QUARANTINE:
                path = staging.path(in_table(file))
                with staging.filesystem.open_input_file(path) as opened, pq.ParquetFile(opened) as parquet:
                    for batch in parquet.iter_batches(columns=names):
                        yield marked(batch, of_files=of_files)


def _resolved(rows: pa.RecordBatch, number: int, now: datetime) -> pa.RecordBatch:
    names = (*PARTITION, "offset", "_sr_query", "_sr_batch")
    ours = [pa.repeat(number, len(rows)), pa.array([now] * len(rows)), rows[MARK]]
    columns = [*(rows[name] for name in names), *ours]
    arrays = [column.cast(kind.type) for column, kind in zip(columns, RESOLVED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=RESOLVED)


def _manifest_of(
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
        counts=RecordCounts(read=0, landed=rows, resolved=marked),
    )
