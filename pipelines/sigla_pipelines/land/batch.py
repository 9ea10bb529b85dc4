"""One batch, exactly once: an attempt, a decision, commits. What a driver calls for each batch (`land_once`).

    its manifest is there        → nothing is read again; its files are committed
    it is not there              → attempt: tasks write files that no manifest names
                                   judge:   is every record of the batch in one of them, and few enough quarantined?
                                   put:     the manifest; if another driver was faster, its manifest stands
                                   commit:  each table by itself, as often as it takes

Killed before the manifest is put, a batch has left files that `gc` finds; killed after, it is landed by whoever comes
next. A second driver of the same query does no harm: both put the same name, and one manifest stands.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sigla_pipelines.land.landed import QUARANTINE, DataFile, Landed, Span
from sigla_pipelines.land.manifest import Entry, Manifest, Manifests, Range, Read, RecordCounts, Stopped
from sigla_pipelines.land.sinks.sink import Sink


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be landed: offsets, or files.

    ranges: of all partitions of the source, also those that have nothing new. gaps: the topics whose offsets may have
    holes, because they are compacted or written in transactions. topics: those that there may be records of; files do
    not tell theirs where no pattern asks.
    """

    query: str
    number: int
    ranges: tuple[Range, ...] = ()
    entries: tuple[Entry, ...] = ()
    gaps: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()

    @property
    def called(self) -> str:
        return f"Batch {self.number} of the query {self.query}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What tasks did. columns: of typed tables, as they are from this batch on. reads: by what they were read.

    changes: what of tables is another than before, as sentences.
    """

    landed: Sequence[Landed]
    columns: Mapping[str, pa.Schema]
    reads: tuple[Read, ...] = ()
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StopIf:
    """A larger share of bad records in a batch of so many rows is a wrong deployment, and not landed."""

    bad_ratio: float = 0.2
    min_rows: int = 10_000


def land_once(
    batch: Batch, attempt: Callable[[], Attempt], manifests: Manifests, sink: Sink, *, stop_if: StopIf | None = None
) -> Manifest:
    """Lands the batch, unless it is landed. Whatever happened in between, it may be called again.

    Raises Stopped where the batch must not be landed as it is, and what the attempt, the manifests and the sink raise.
    """
    before = manifests.get(batch.query, batch.number - 1) if batch.number else None
    stands = manifests.get(batch.query, batch.number)
    if stands is None:
        # A table that has a batch has all before it: whoever decided the one before may have died, or stand still.
        if before is not None:
            sink.commit(before)
        check_new(batch, before, manifests)
        stands = manifests.put(manifest_of(batch, attempt(), stop_if or StopIf(), before))
    check_same(batch, stands)
    sink.commit(stands)
    return stands


def next_number(query: str, manifests: Manifests, sink: Sink) -> int:
    """The number of a query's next batch, where Spark does not count them; the batch before it is committed first."""
    last = manifests.last(query)
    if last is None:
        return 0
    sink.commit(last)
    return last.number + 1


def settle_queries(manifests: Manifests, sink: Sink) -> None:
    """Commits the last decision of each query of the work directory, also of one that no job continues.

    Whoever decided it may have died, and another checkpoint or another source be another query: what the manifest tells
    of counts as landed, and would be in no table. Once for each: a table that is removed later stays away.
    """
    for last in manifests.unsettled():
        sink.commit(last)
        manifests.settle(last)


def manifest_of(batch: Batch, attempt: Attempt, stop_if: StopIf, before: Manifest | None = None) -> Manifest:
    """The manifest of an attempt that may stand; before: the query's last one. Raises Stopped."""
    files = tuple(file for landed in attempt.landed for file in landed.files)
    manifest = Manifest(
        query=batch.query,
        number=batch.number,
        ranges=tuple(sorted(batch.ranges)),
        entries=tuple(sorted(batch.entries)),
        files=files,
        columns=columns_since(before, [attempt], files),
        spans=tuple(span for landed in attempt.landed for span in landed.spans),
        metrics=tuple(metric for landed in attempt.landed for metric in landed.metrics),
        reads=attempt.reads,
        counts=RecordCounts(
            read=sum(span.records for landed in attempt.landed for span in landed.spans),
            landed=sum(file.rows for file in files if file.table != QUARANTINE),
            quarantined=sum(file.rows for file in files if file.table == QUARANTINE),
        ),
        changes=attempt.changes,
    )
    check_read(batch, manifest.spans)
    check_written(batch, manifest)
    check_quality(batch, manifest, stop_if)
    return manifest


def columns_since(
    before: Manifest | None, attempts: Iterable[Attempt], files: Iterable[DataFile]
) -> Mapping[str, pa.Schema]:
    """Those of all tables that the query has written to, these files among them."""
    tables = {file.table for file in files}
    new = {table: columns for each in attempts for table, columns in each.columns.items() if table in tables}
    return {**(before.columns if before else {}), **new}


def check_same(batch: Batch, manifest: Manifest) -> None:
    """Raises Stopped if the manifest that stands under the batch's number is of other records."""
    theirs, ours = set(manifest.ranges) | set(manifest.entries), set(batch.ranges) | set(batch.entries)
    if theirs == ours:
        return
    uuids = {each.topic: each.uuid for each in manifest.ranges}
    for each in batch.ranges:
        if uuids.get(each.topic, each.uuid) != each.uuid:
            raise Stopped(_of_another_topic(batch, each))
    differ = sorted(map(_words_of, theirs ^ ours))
    raise Stopped(
        f"{batch.called} was landed with other records than the source gives now ({_first_three(differ)}): its "
        "checkpoint was reset, or another driver uses it. Stop the other driver, or start with a new checkpoint from "
        "where the last manifest ends."
    )


def check_new(batch: Batch, before: Manifest | None, manifests: Manifests) -> None:
    """Raises Stopped if a batch without a manifest does not go on where the query was, or lands something again.

    before: of the batch that the query landed last.
    """
    if batch.number and before is None:
        raise Stopped(
            f"{batch.called} comes after one that has no manifest: the checkpoint belongs to another work directory. "
            "Give the query its own, or start with a new checkpoint."
        )
    ends = {(each.topic, each.partition): each for each in before.ranges} if before else {}
    for each in batch.ranges:
        last = ends.get((each.topic, each.partition))
        if last and last.uuid != each.uuid:
            raise Stopped(_of_another_topic(batch, each))
        if last and last.end != each.start:
            raise Stopped(
                f"{batch.called} begins at offset {each.start} of {each.topic}, partition {each.partition}, and the "
                f"batch before it ended at {last.end}: its checkpoint was changed. Start with a new checkpoint from "
                f"offset {last.end}."
            )
    landed = manifests.entries() if batch.entries else {}
    if again := sorted(entry.path for entry in batch.entries if entry.place in landed):
        raise Stopped(f"{batch.called} would land {_first_three(again)} again: list the files anew, and start again.")
    fresh = [each for each in batch.ranges if (each.topic, each.partition) not in ends and each.start < each.end]
    if fresh:
        _check_unlanded(batch, fresh, manifests.all())


def _check_unlanded(batch: Batch, fresh: Iterable[Range], manifests: Iterable[Manifest]) -> None:
    """What no batch before this one of the query led up to must be in no manifest of the whole work directory."""
    wanted = {(each.uuid, each.partition): each for each in fresh}
    for manifest in manifests:
        for known in manifest.ranges:
            mine = wanted.get((known.uuid, known.partition))
            if mine and max(mine.start, known.start) < min(mine.end, known.end):
                raise Stopped(
                    f"{batch.called} would land {_words_of(mine)} again: the query {manifest.query} has landed them up "
                    f"to {known.end}. Start after that, or take another work directory and other tables."
                )


def check_read(batch: Batch, spans: Iterable[Span]) -> None:
    """Raises Stopped if tasks have not read every record of the batch once."""
    by_partition: dict[tuple[str, int], list[Span]] = {}
    for span in spans:
        by_partition.setdefault((span.topic, span.partition), []).append(span)
    if not batch.ranges:
        read = sum(span.records for several in by_partition.values() for span in several)
        if read != (there := sum(entry.records for entry in batch.entries)):
            raise Stopped(f"{batch.called} read {read} records of files that have {there}: start it again.")
        return
    for each in batch.ranges:
        several = sorted(by_partition.pop((each.topic, each.partition), ()), key=lambda span: span.first)
        if wrong := _misread(each, several, holes=each.topic in batch.gaps):
            raise Stopped(f"{batch.called} {wrong}")
    if by_partition:
        topic, partition = min(by_partition)
        raise Stopped(f"{batch.called} read records of {topic}, partition {partition}, which is not part of it.")


def _misread(asked: Range, spans: Sequence[Span], *, holes: bool) -> str | None:
    """What is wrong with what was read of a partition: in order of offsets, all within the range, none twice."""
    read, end = sum(span.records for span in spans), asked.start
    for span in spans:
        if span.first < end or span.last >= asked.end or span.records > span.last - span.first + 1:
            return (
                f"read offsets {span.first} to {span.last} of {asked.topic}, partition {asked.partition}, beside or "
                f"twice within {asked.start} to {asked.end}: start it again."
            )
        end = span.last + 1
    if not holes and read != asked.end - asked.start:
        return (
            f"read {read} records of {_words_of(asked)}: some are gone. If the topic is compacted or written in "
            "transactions, say so in the source's `gaps`; else they are lost, and a new checkpoint begins after them."
        )
    return None


def check_written(batch: Batch, manifest: Manifest) -> None:
    """Raises Stopped if what was read is not what was written, by table and by topic."""
    rows: Counter[str] = Counter()
    for file in manifest.files:
        rows[file.table] += file.rows
    read: Counter[str] = Counter()
    for span in manifest.spans:
        read[span.topic] += span.records
    counted: Counter[str] = Counter()
    became: Counter[str] = Counter()
    for metric in manifest.metrics:
        counted[metric.table] += metric.rows
        became[metric.topic] += metric.rows
    if rows != counted or read != became:
        raise Stopped(
            f"{batch.called} read {manifest.counts.read} records and wrote {rows.total()}, counted as "
            f"{counted.total()}: this is a fault of the job, nothing was landed."
        )


def check_quality(batch: Batch, manifest: Manifest, stop_if: StopIf) -> None:
    """Raises Stopped if too many records cannot be read."""
    counts = manifest.counts
    if counts.read < stop_if.min_rows or counts.quarantined <= stop_if.bad_ratio * counts.read:
        return
    reasons: Counter[str] = Counter()
    for metric in manifest.metrics:
        reasons[metric.reason] += metric.rows if metric.table == QUARANTINE else 0
    [(reason, rows)] = reasons.most_common(1)
    raise Stopped(
        f"{batch.called} was not landed: {counts.quarantined} of {counts.read} records cannot be read, {rows} of them "
        f"because of {reason}. Mend what writes them, or raise `stop_if.bad_ratio`, and start again."
    )


def _of_another_topic(batch: Batch, each: Range) -> str:
    return (
        f"{batch.called} is of another topic {each.topic} than the batches before: it was deleted and made anew. Start "
        "with a new checkpoint."
    )


def _words_of(each: Range | Entry) -> str:
    if isinstance(each, Entry):
        return f"{each.path} of {each.size} bytes"
    return f"offsets {each.start} to {each.end} of {each.topic}, partition {each.partition}"


def _first_three(items: Sequence[str]) -> str:
    return ", ".join(items[:3]) + (f" and {len(items) - 3} more" if len(items) > 3 else "")
