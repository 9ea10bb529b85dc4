"""A batch is landed whole or not at all, and what stops it says what to do."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from sigla_pipelines.land.batch import Attempt, Batch, StopIf, check_new, check_same, land_once, manifest_of
from sigla_pipelines.land.landed import QUARANTINE, DataFile, Landed, Metric, Span
from sigla_pipelines.land.manifest import Entry, Manifest, Manifests, Range, RecordCounts, Stopped
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.places import open_place

pytestmark = pytest.mark.usefixtures("unsynced")

ALL = StopIf(bad_ratio=1.0)
ORDERS = Range("orders", "u", 0, 10, 20)
BATCH = Batch("q", 0, (ORDERS,))


def metric(table: str, rows: int, reason: str = "", topic: str = "orders") -> Metric:
    return Metric(table, topic, "orders-value", 1, 1, reason, rows, 0, 0, 0, 0, 0, 0)


def landed(*spans: Span, good: int, bad: int = 0) -> Landed:
    files = [DataFile("orders", "data/a", good, 1)] if good else []
    metrics = [metric("orders", good)] if good else []
    if bad:
        files.append(DataFile(QUARANTINE, "data/b", bad, 1))
        metrics.append(metric(QUARANTINE, bad, "UNKNOWN_ID"))
    return Landed(tuple(files), spans, tuple(metrics))


def span(first: int, last: int, records: int | None = None, partition: int = 0, topic: str = "orders") -> Span:
    return Span(topic, partition, first, last, last - first + 1 if records is None else records)


def attempt(*several: Landed) -> Attempt:
    return Attempt(several, {})


def test_what_several_tasks_did_becomes_one_manifest() -> None:
    manifest = manifest_of(BATCH, attempt(landed(span(15, 19), good=3, bad=2), landed(span(10, 14), good=5)), ALL)
    assert manifest.counts == RecordCounts(read=10, landed=8, quarantined=2)
    assert [file.rows for file in manifest.files] == [3, 2, 5]


@pytest.mark.parametrize(
    "spans, says",
    [
        ((span(10, 18),), "read 9 records of offsets 10 to 20 of orders, partition 0: some are gone"),
        ((), "read 0 records of offsets 10 to 20"),
        ((span(10, 19, 8),), "read 8 records"),
        ((span(10, 19), span(15, 19)), "beside or twice"),
        ((span(10, 14), span(14, 19)), "beside or twice"),
        ((span(9, 18),), "beside or twice"),
        ((span(11, 20),), "beside or twice"),
        ((span(10, 19, 11),), "beside or twice"),
        ((span(10, 19), span(0, 0, partition=1)), "read records of orders, partition 1, which is not part of it"),
        ((span(10, 19), span(0, 0, topic="other")), "read records of other, partition 0"),
    ],
)
def test_records_that_were_not_read_once_stop_the_query(spans: tuple[Span, ...], says: str) -> None:
    with pytest.raises(Stopped, match=says):
        manifest_of(BATCH, attempt(landed(*spans, good=sum(each.records for each in spans))), ALL)


def test_holes_are_allowed_only_where_the_topic_may_have_them() -> None:
    compacted = replace(BATCH, gaps=frozenset({"orders"}))
    assert manifest_of(compacted, attempt(landed(span(12, 18, 4), good=4)), ALL).counts.read == 4
    with pytest.raises(Stopped, match="`gaps`"):
        manifest_of(replace(BATCH, gaps=frozenset({"other"})), attempt(landed(span(12, 18, 4), good=4)), ALL)
    with pytest.raises(Stopped, match="twice"):  # a hole excuses nothing else
        manifest_of(compacted, attempt(landed(span(12, 18, 4), span(18, 19, 1), good=5)), ALL)


def test_files_are_whole_when_every_record_of_them_was_read() -> None:
    """Files of raw records may hold any offsets in any order."""
    batch = Batch("q", 0, entries=(Entry("a", "t", 1, 4), Entry("b", "t", 1, 2)))
    assert manifest_of(batch, attempt(landed(span(0, 100, 5), span(0, 3, 1), good=6)), ALL).counts.read == 6
    with pytest.raises(Stopped, match="read 5 records of files that have 6"):
        manifest_of(batch, attempt(landed(span(0, 100, 5), good=5)), ALL)


@pytest.mark.parametrize(
    "wrong",
    [
        landed(span(10, 19), good=9),
        landed(span(10, 19), good=9, bad=2),
        replace(landed(span(10, 19), good=10), files=(DataFile("orders", "data/a", 9, 1),)),
        replace(landed(span(10, 19), good=10), files=(DataFile("payments", "data/a", 10, 1),)),
        replace(landed(span(10, 19), good=10), metrics=(metric("orders", 10, topic="payments"),)),
    ],
)
def test_a_job_that_lost_a_record_lands_nothing(wrong: Landed) -> None:
    with pytest.raises(Stopped, match="fault of the job"):
        manifest_of(BATCH, attempt(wrong), ALL)


def test_too_many_bad_records_stop_the_query_before_anything_is_decided(tmp_path: Path) -> None:
    """A wrong deployment should not quarantine a day of data."""
    manifests = Manifests(open_place(tmp_path))
    stop = StopIf(bad_ratio=0.2, min_rows=10)
    bad = attempt(landed(span(10, 19), good=7, bad=3))
    with pytest.raises(Stopped, match=r"3 of 10 records cannot be read, 3 of them because of UNKNOWN_ID.*`stop_if"):
        land_once(BATCH, lambda: bad, manifests, Parquet(open_place(tmp_path), manifests), stop_if=stop)
    assert list(manifests.all()) == []
    fine = attempt(landed(span(10, 19), good=8, bad=2))
    assert manifest_of(BATCH, fine, stop).counts.quarantined == 2
    assert manifest_of(BATCH, bad, StopIf(0.2, 11)).counts.quarantined == 3  # of few nothing can be told


def test_a_manifest_knows_the_columns_of_all_tables_that_its_query_has_written_to() -> None:
    """The last one is enough to know them: a hundred thousand are not read."""
    columns = {name: pa.schema([pa.field(name, pa.int32())]) for name in ("orders", "payments", "unwritten")}
    done = Attempt([landed(span(10, 19), good=10)], columns)
    wider = pa.schema([pa.field("old", pa.string())])
    before = replace(a_manifest(BATCH), columns={"orders": wider, "payments": wider})
    found = manifest_of(BATCH, done, ALL, before).columns
    assert found == {"orders": columns["orders"], "payments": wider}


def test_a_landed_batch_is_not_attempted_again(tmp_path: Path) -> None:
    manifests = Manifests(open_place(tmp_path))
    sink = Parquet(open_place(tmp_path), manifests)
    first = land_once(BATCH, lambda: attempt(landed(span(10, 19), good=10)), manifests, sink)

    def again() -> Attempt:
        raise AssertionError

    assert land_once(BATCH, again, manifests, sink) == first


def a_manifest(batch: Batch) -> Manifest:
    counts = RecordCounts(0, 0)
    return Manifest(batch.query, batch.number, batch.ranges, batch.entries, (), {}, (), (), (), counts)


@pytest.mark.parametrize(
    "theirs, says",
    [
        (replace(ORDERS, end=25), "other records than the source gives.*another driver"),
        (replace(ORDERS, start=0), "other records than the source gives.*checkpoint was reset"),
        (replace(ORDERS, uuid="v"), "deleted and made anew"),
        (replace(ORDERS, partition=1), "offsets 10 to 20 of orders, partition 1"),
    ],
)
def test_a_manifest_of_other_records_stops_the_query(theirs: Range, says: str) -> None:
    check_same(BATCH, a_manifest(BATCH))
    with pytest.raises(Stopped, match=says):
        check_same(BATCH, a_manifest(replace(BATCH, ranges=(theirs,))))


def test_a_manifest_of_other_files_stops_the_query() -> None:
    batch = Batch("q", 0, entries=(Entry("a", "t", 1, 4),))
    with pytest.raises(Stopped, match="b of 1 bytes"):
        check_same(batch, a_manifest(replace(batch, entries=(*batch.entries, Entry("b", "t", 1, 4)))))


def new(batch: Batch, manifests: Manifests) -> None:
    check_new(batch, manifests.get(batch.query, batch.number - 1) if batch.number else None, manifests)


NEXT = Batch("q", 1, (replace(ORDERS, start=20, end=30),))


@pytest.fixture
def begun(tmp_path: Path) -> Manifests:
    """A work directory that has the first batch."""
    manifests = Manifests(open_place(tmp_path))
    manifests.put(a_manifest(BATCH))
    return manifests


@pytest.mark.parametrize(
    "batch, says",
    [
        (replace(NEXT, number=2), "comes after one that has no manifest"),
        (replace(NEXT, query="other"), "comes after one that has no manifest"),
        (replace(NEXT, ranges=(replace(ORDERS, uuid="v", start=0, end=5),)), "deleted and made anew"),
        (replace(NEXT, ranges=(replace(ORDERS, start=19, end=30),)), "ended at 20: its checkpoint was changed"),
        (replace(NEXT, ranges=(replace(ORDERS, start=21, end=30),)), "begins at offset 21"),
        (Batch("other", 0, (replace(ORDERS, start=15, end=30),)), "again: the query q has landed them up to 20"),
        (Batch("other", 0, (replace(ORDERS, topic="renamed", start=0, end=11),)), "again"),
    ],
)
def test_a_batch_that_does_not_go_on_where_the_query_was_stops_it(batch: Batch, says: str, begun: Manifests) -> None:
    with pytest.raises(Stopped, match=says):
        new(batch, begun)


@pytest.mark.parametrize(
    "batch",
    [
        NEXT,
        replace(NEXT, ranges=(replace(ORDERS, start=20, end=20), Range("orders", "u", 1, 0, 9))),
        Batch("other", 0, (replace(ORDERS, start=20, end=30),)),
        Batch("other", 0, (replace(ORDERS, start=0, end=10),)),
        Batch("other", 0, (replace(ORDERS, uuid="v"),)),
        Batch("other", 0, (replace(ORDERS, start=15, end=15),)),
    ],
    ids=["next", "new partition", "where the other ended", "before the other", "another topic", "nothing"],
)
def test_a_batch_that_lands_nothing_twice_is_let_pass(batch: Batch, begun: Manifests) -> None:
    new(batch, begun)


def test_a_file_is_landed_once_in_a_work_directory(tmp_path: Path) -> None:
    manifests = Manifests(open_place(tmp_path))
    manifests.put(a_manifest(Batch("q", 0, entries=(Entry("a", "t", 1, 4),))))
    new(Batch("q", 1, entries=(Entry("b", "t", 1, 4),)), manifests)
    with pytest.raises(Stopped, match="would land a again: list the files anew"):
        new(Batch("q", 1, entries=(Entry("a", "t", 1, 4),)), manifests)


def test_a_topic_that_comes_back_is_not_landed_from_its_beginning_again(begun: Manifests) -> None:
    """Left out of a batch, and subscribed again: the checkpoint has forgotten it, the work directory has not."""
    other = Range("payments", "p", 0, 0, 1)
    begun.put(a_manifest(replace(NEXT, ranges=(other,))))
    back = Batch("q", 2, (replace(other, start=1, end=2), replace(ORDERS, start=0, end=40)))
    with pytest.raises(Stopped, match="again"):
        new(back, begun)
