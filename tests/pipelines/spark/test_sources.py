"""What a batch holds, by what Spark's checkpoint says of it, or by the files that are there."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigla_pipelines.land import files, kafka
from sigla_pipelines.land.exit_status import SourceFailed
from sigla_pipelines.land.files import Piece
from sigla_pipelines.land.kafka import Checkpoint
from sigla_pipelines.land.manifest import Entry, Range, RecordCounts, Stopped
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.land.starts import Start
from sigla_pipelines.places import Place, open_place
from tests.pipelines.land.world import raw
from tests.pipelines.spark.estate import Estate

NO_TASKS: Any = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
"""A session of Spark that runs nothing."""


def log(root: Path, name: str, *lines: object, head: str = "v1") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *map(json.dumps, lines)]))


def test_a_batch_begins_where_the_one_before_it_ended(tmp_path: Path) -> None:
    """And the first one where Spark said that the query begins; a partition that is new, at its beginning."""
    log(tmp_path, "sources/0/0", {"orders": {"0": 5}}, head="\0v1")
    log(tmp_path, "offsets/0", {"batchWatermarkMs": 0}, {"orders": {"0": 9}})
    log(tmp_path, "offsets/1", {"batchWatermarkMs": 0}, {"orders": {"0": 9, "1": 3}})
    checkpoint = Checkpoint(open_place(tmp_path))
    assert checkpoint.offsets(0) == ({"orders": {"0": 5}}, {"orders": {"0": 9}})
    assert checkpoint.offsets(1) == ({"orders": {"0": 9, "1": 0}}, {"orders": {"0": 9, "1": 3}})


def test_a_checkpoint_that_nobody_can_read_stops_the_job(tmp_path: Path) -> None:
    log(tmp_path, "offsets/1", {}, {"orders": {"0": 9}}, head="v9")
    with pytest.raises(SourceFailed, match="v9"):
        Checkpoint(open_place(tmp_path)).offsets(1)
    with pytest.raises(SourceFailed, match=r"lacks .*metadata"):
        Checkpoint(open_place(tmp_path)).query()


def test_a_checkpoint_of_a_topic_that_is_bound_no_more_stops_the_job(tmp_path: Path) -> None:
    """Spark would call its records lost; and a batch that it has only planned may have left it out already."""
    checkpoint = Checkpoint(open_place(tmp_path))
    both, one = {"orders": {"0": 9}, "paid": {"0": 9}}, {"orders": {"0": 12}}
    for name, ends in (("sources/0/0", both), ("offsets/0", both), ("offsets/1", one)):
        log(tmp_path, name, ends)
        (tmp_path / Path(name).with_name(".0.crc")).touch()
        kafka.check_bound(checkpoint, ["orders", "paid", "new"])
        with pytest.raises(InvalidLanding, match="continues with paid, which `bind` no longer has: bind it again"):
            kafka.check_bound(checkpoint, ["orders"])
    log(tmp_path, "offsets/2", one)
    kafka.check_bound(checkpoint, ["orders"])


def test_a_query_without_a_checkpoint_goes_on_behind_what_others_have_landed() -> None:
    """Or, where Kafka has lost what came next, with what is left; a topic made anew begins as any other."""
    landed = [
        Range("orders", "uuid", 0, 0, 7),
        Range("orders", "uuid", 0, 7, 9),
        Range("orders", "uuid", 1, 0, 3),
        Range("anew", "old", 0, 0, 9),
    ]
    topics = {"orders": kafka.Topic("uuid", 3, compacted=False), "anew": kafka.Topic("new", 1, compacted=False)}
    there = {"orders": {"0": 5, "1": 8, "2": 0}, "anew": {"0": 0}}
    begins = json.loads(kafka.starting_offsets(Start("earliest"), landed, topics, lambda _: there))
    assert begins == {"orders": {"0": 9, "1": 8, "2": -2}, "anew": {"0": -2}}
    assert json.loads(kafka.starting_offsets(Start("latest"), landed, topics, lambda _: there))["orders"]["2"] == -1
    assert kafka.starting_offsets(Start("latest"), [], topics, lambda _: there) == "latest"


@pytest.fixture
def source(tmp_path: Path) -> Place:
    return open_place(tmp_path)


def write(source: Place, name: str, rows: int, group: int = 100) -> None:
    path = Path(source.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([raw([b"x" * 50] * rows)]), path, row_group_size=group)


def test_only_files_that_no_manifest_names_are_new(source: Place) -> None:
    write(source, "day/b.parquet", 20)
    write(source, "a.parquet", 10)
    write(source, "_temporary/c.parquet", 10)
    first, second = files.new(source, {})
    assert [(each.entry.path, each.entry.records) for each in (first, second)] == [
        ("a.parquet", 10),
        ("day/b.parquet", 20),
    ]
    assert files.new(source, {first.entry.place: first.entry}) == [second]


def test_a_file_that_changed_after_it_was_landed_stops_the_job(source: Place) -> None:
    write(source, "a.parquet", 10)
    [found] = files.new(source, {})
    write(source, "a.parquet", 11)
    with pytest.raises(Stopped, match=r"a\.parquet has changed since it was landed"):
        files.new(source, {found.entry.place: found.entry})


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more"])
def test_what_is_no_file_of_raw_records_is_named(source: Place, content: bytes) -> None:
    Path(source.path("a.parquet")).write_bytes(content)
    with pytest.raises(Stopped, match=r"a\.parquet is not a Parquet file"):
        files.new(source, {})
    pq.write_table(pa.table({"topic": ["orders"]}), source.path("a.parquet"))
    with pytest.raises(Stopped, match="lacks the column key, offset, partition, timestamp, value"):
        files.new(source, {})


def test_files_without_a_row_are_landed_as_they_are(tmp_path: Path) -> None:
    """Programs write one where they had nothing: a batch of such files alone asks nothing of Spark, and once."""
    estate = Estate(tmp_path)
    with estate.registry() as world:
        world.register("orders-value", '"string"')
    (tmp_path / "raw").mkdir()
    pq.ParquetWriter(tmp_path / "raw" / "none.parquet", RAW).close()
    for _ in range(2):
        outcome = estate.land(NO_TASKS, estate.config("orders"))
        assert [(each.number, each.counts) for each in outcome.manifests] == [(0, RecordCounts(read=0, landed=0))]
        assert outcome.total.read == 0


@pytest.mark.parametrize("setting, source", [("sink.lake", ""), ("sink.lake", "lake"), ("work", "work/")])
def test_a_source_that_would_find_what_is_landed_is_refused(setting: str, source: str, tmp_path: Path) -> None:
    """Before anything is written."""
    config = Estate(tmp_path).config("orders", source={"kind": "files", "path": f"{tmp_path}/{source}"})
    with pytest.raises(InvalidLanding, match=rf"`{setting}` .* is within `source\.path`"):
        Estate(tmp_path).land(NO_TASKS, config)
    assert list(tmp_path.iterdir()) == [config]


def test_what_is_landed_may_lie_where_no_source_looks(source: Place) -> None:
    """In a folder that is hidden, or beside the source, even if their names begin alike."""
    assert not files.finds(source, source.under("_lake"))
    assert not files.finds(source.under("raw"), source.under("raw-lake"))
    assert not files.finds(source.under("lake/raw"), source.under("lake"))
    assert files.finds(source, source.under("lake"))


def test_shares_hold_every_row_group_once_and_are_of_one_size() -> None:
    size = files.SHARE[0] // 2
    found = [files.New(Entry(name, "", 0, 0), (size,) * groups) for name, groups in (("a", 3), ("b", 1), ("c", 4))]
    shares = files.shares(found, workers=4)
    assert shares == [
        (Piece("a", (0, 1)),),
        (Piece("a", (2,)), Piece("b", (0,))),
        (Piece("c", (0, 1)),),
        (Piece("c", (2, 3)),),
    ]
    assert files.shares([], workers=4) == []


def test_a_share_is_read_as_raw_records_whatever_wrote_them(source: Place) -> None:
    """Headers may be missing, columns stand in another order, and times be in milliseconds."""
    batch = raw([b"v"] * 250)
    table = pa.Table.from_batches([batch]).select(["value", "key", "timestamp", "offset", "partition", "topic"])
    table = table.set_column(2, "timestamp", table.column("timestamp").cast(pa.timestamp("ms", tz="UTC")))
    pq.write_table(table, source.path("a.parquet"), row_group_size=100)
    read = list(files.read(source, (Piece("a.parquet", (0, 2)),)))
    assert [(each.schema, len(each)) for each in read] == [(RAW, 150)]
    whole = pa.Table.from_batches(read)
    assert whole.column("offset").to_pylist() == [*range(100), *range(200, 250)]
    assert whole.column("timestamp")[0] == batch.column("timestamp")[0]
    assert whole.column("headers").null_count == 150
