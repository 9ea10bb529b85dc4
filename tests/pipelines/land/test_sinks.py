"""What is committed is the table, whatever else lies in its folder; and it grows without forgetting."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.backoff import Backoff
from sigla_pipelines.land.batch import settle_queries
from sigla_pipelines.land.bindings import Layout
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.gc import KEPT, remove_orphans
from sigla_pipelines.land.landed import QUARANTINE, DataFile
from sigla_pipelines.land.manifest import Manifest, Manifests, Range, RecordCounts
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.partitions import DAILY
from sigla_pipelines.land.sinks import iceberg
from sigla_pipelines.land.sinks.iceberg import Iceberg
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.sinks.sink import STAGED, Sink, folder_of, staged_name, table_schema
from sigla_pipelines.land.targets import SYSTEM, TargetTable, evolve, project
from sigla_pipelines.places import open_place
from tests.build import FixedClock
from tests.pipelines.land.crash_rig import World, drive, is_landed_once, tables

pytestmark = pytest.mark.usefixtures("unsynced")

MIDNIGHT = datetime(2026, 11, 22, tzinfo=UTC)
OLD = pa.struct([pa.field("n", pa.int32()), pa.field("s", pa.struct([pa.field("x", pa.float32())]))])
NEW = pa.struct(
    [
        pa.field("n", pa.int64()),
        pa.field("s", pa.struct([pa.field("x", pa.float64()), pa.field("y", pa.decimal128(9, 2))])),
        pa.field("m", pa.map_(pa.string(), pa.list_(pa.string()))),
    ]
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=True)) as world:
        yield world


@pytest.fixture(params=["parquet", "iceberg"])
def sink(request: pytest.FixtureRequest, world: World) -> Sink:
    world.iceberg = request.param == "iceberg"
    return world.sink(Manifests(world.work))


def land(
    world: World,
    sink: Sink,
    number: int,
    reader: pa.StructType,
    rows: list[Any],
    *,
    query: str = "q",
    commit: bool = True,
) -> Manifest:
    """One batch of the table `t`."""
    columns = evolve(sink.columns("t"), reader, version=number + 1)
    system = {
        "_sr_topic": "t",
        "_sr_partition": 0,
        "_sr_offset": number,
        "_sr_ts": MIDNIGHT,
        "_sr_key": None,
        "_sr_headers": None,
        "_sr_schema_id": 1,
        "_sr_reader_version": 1,
        "_sr_op": "U",
        "_sr_batch": number,
    }
    arrays = [
        *project(pa.array(rows, reader), TargetTable(columns)),
        *(pa.array([system[kind.name]] * len(rows), kind.type) for kind in SYSTEM),
    ]
    with Outputs(sink.staging, query, number, layouts={"t": Layout(DAILY)}) as outputs:
        outputs.write("t", pa.RecordBatch.from_arrays(arrays, schema=table_schema(columns)))
        files = outputs.close()
    ranges = (Range("t", "u", 0, number, number + 1),)
    counts = RecordCounts(len(rows), len(rows))
    manifest = Manifest(query, number, ranges, (), files, {"t": columns}, (), (), (), counts)
    manifest = Manifests(world.work).put(manifest)
    if commit:
        sink.commit(manifest)
    return manifest


def values(sink: Sink) -> list[dict[str, Any]]:
    rows = [row for batch in sink.rows("t") for row in batch.to_pylist()]
    kept = [{name: row[name] for name in row if not name.startswith("_sr_")} for row in rows]
    return sorted(kept, key=lambda row: int(row["n"]))


class InBucket(World):
    """Work directory and lake in S3."""

    bucket = ""

    @property
    def lake(self) -> Any:
        return open_place(f"s3://{self.bucket}/{self.root.name}/lake")

    @property
    def work(self) -> Any:
        return open_place(f"s3://{self.bucket}/{self.root.name}/work")


@pytest.mark.parametrize("kind", ["parquet", pytest.param("iceberg", marks=pytest.mark.soak)])
def test_batches_are_landed_into_a_bucket_as_into_a_folder(kind: str, bucket: str, tmp_path: Path) -> None:
    """Arrow writes the data, boto3 the decisions; Iceberg finds the files by their addresses."""
    with closing(InBucket(tmp_path, kind == "iceberg")) as world:
        world.bucket = bucket
        drive(world)
        is_landed_once(world)
        assert remove_orphans(world.lake, Manifests(world.work), MIDNIGHT + KEPT * 9) == []


def test_what_a_query_decided_last_is_landed_by_whoever_comes_next(world: World, sink: Sink) -> None:
    """Its driver died before the commit, and another checkpoint, or another source, is another query."""
    land(world, sink, 0, OLD, [{"n": 1, "s": None}], query="before", commit=False)
    settle_queries(Manifests(world.work), sink)
    land(world, sink, 0, OLD, [{"n": 2, "s": None}], query="after")
    assert [row["n"] for row in values(sink)] == [1, 2]


def test_a_table_that_was_taken_away_stays_away(world: World) -> None:
    """What has settled is not committed again, however often a job begins."""
    land(world, world.sink(Manifests(world.work)), 0, OLD, [{"n": 1, "s": None}], query="before")
    settle_queries(Manifests(world.work), world.sink(Manifests(world.work)))
    world.catalog.drop_table("sigla.t")
    settle_queries(Manifests(world.work), world.sink(Manifests(world.work)))
    assert world.sink(Manifests(world.work)).columns("t") is None


def test_a_table_that_nobody_wrote_has_nothing(sink: Sink) -> None:
    assert sink.columns("t") is None
    assert list(sink.rows("t")) == []


def test_a_table_grows_between_two_batches_and_keeps_what_it_had(world: World, sink: Sink) -> None:
    """No restart, no rewriting: a wider number, a member of a struct, a map."""
    land(world, sink, 0, OLD, [{"n": 1, "s": {"x": 1.5}}])
    assert sink.columns("t") == evolve(None, OLD, version=1)
    land(world, sink, 1, NEW, [{"n": 2**40, "s": {"x": 2.5, "y": None}, "m": [("k", ["v"])]}])
    assert sink.columns("t") == evolve(evolve(None, OLD, version=1), NEW, version=2)
    assert values(sink) == [
        {"n": 1, "s": {"x": 1.5, "y": None}, "m": None},
        {"n": 2**40, "s": {"x": 2.5, "y": None}, "m": [("k", ["v"])]},
    ]
    land(world, sink, 2, OLD, [{"n": 3, "s": None}])
    assert [row["n"] for row in values(sink)] == [1, 3, 2**40]


def test_json_text_never_gets_into_a_column_of_strings(world: World, sink: Sink) -> None:
    """There, 12 might be a text, or the JSON of a number. Items and values of maps have no names, and no comments."""

    def reader(text: pa.DataType) -> pa.StructType:
        inner = pa.list_(pa.struct([pa.field("x", pa.list_(text))]))
        return pa.struct([("n", pa.int32()), ("a", text), ("m", pa.map_(pa.string(), pa.list_(text))), ("s", inner)])

    row = {"a": "12", "m": [("k", ["12"])], "s": [{"x": ["12"]}]}
    for number, text in enumerate((pa.string(), JSON, pa.string(), JSON)):
        land(world, sink, number, reader(text), [{"n": number, **row}])
    strings = row | {"s": [{"x": ["12"], "x__v2": None}], "a__v2": None, "m__v2": None}
    texts = {"a__v2": "12", "m__v2": row["m"], "a": None, "m": None, "s": [{"x": None, "x__v2": ["12"]}]}
    assert values(sink) == [{"n": number, **(texts if number % 2 else strings)} for number in range(4)]


def test_a_batch_that_is_committed_again_changes_nothing(world: World, sink: Sink) -> None:
    manifests = [land(world, sink, number, OLD, [{"n": number, "s": None}]) for number in range(3)]
    for manifest in (*manifests, *reversed(manifests)):
        sink.commit(manifest)
    assert [row["n"] for row in values(sink)] == [0, 1, 2]


def test_two_queries_may_write_to_one_table(world: World, sink: Sink) -> None:
    """A stream and its replay number their batches alike."""
    land(world, sink, 0, OLD, [{"n": 1, "s": None}])
    land(world, sink, 0, NEW, [{"n": 2, "s": None, "m": None}], query="replay")
    land(world, sink, 1, OLD, [{"n": 3, "s": None}])
    assert [row["n"] for row in values(sink)] == [1, 2, 3]
    assert sink.columns("t") == evolve(evolve(None, OLD, version=1), NEW, version=2)


def test_files_that_no_manifest_names_are_not_in_the_table(world: World) -> None:
    """The files of a task that was lost, or of a batch that was never decided."""
    manifests = Manifests(world.work)
    parquet = Parquet(world.lake, manifests)
    land(world, parquet, 0, OLD, [{"n": 1, "s": None}])
    lost = world.lake.folder_for(f"{folder_of('t')}/{staged_name('q', 1, 'lost')}")
    Path(lost).write_bytes(Path(parquet.files("t")[0]).read_bytes())
    assert len(list(world.lake.names("t/data/"))) == 2
    assert len(parquet.files("t")) == 1
    assert [row["n"] for row in values(parquet)] == [1]


def test_arrow_reads_a_table_of_parquet_as_one(world: World) -> None:
    """Old files under the newest columns."""
    parquet = Parquet(world.lake, Manifests(world.work))
    land(world, parquet, 0, OLD, [{"n": 1, "s": {"x": 1.5}}])
    land(world, parquet, 1, NEW, [{"n": 2, "s": None, "m": None}])
    read = parquet.dataset("t").to_table()
    assert read.schema == table_schema(evolve(evolve(None, OLD, version=1), NEW, version=2))
    assert read.column("s").to_pylist() == [{"x": 1.5, "y": None}, None]
    with pytest.raises(KeyError):
        parquet.dataset("nobody's")


def test_iceberg_says_of_each_snapshot_which_batch_it_is(world: World) -> None:
    sink = Iceberg(world.catalog, "sigla", world.lake)
    land(world, sink, 0, OLD, [{"n": 1, "s": None}])
    land(world, sink, 1, OLD, [{"n": 2, "s": None}])
    table = world.catalog.load_table(("sigla", "t"))
    said = [snapshot.summary.additional_properties for snapshot in table.snapshots()]
    assert [(each["sigla.query"], each["sigla.batch"], each["sigla.offsets"]) for each in said] == [
        ("q", "0", '{"t":{"0":1}}'),
        ("q", "1", '{"t":{"0":2}}'),
    ]
    assert table.properties["sigla.batch.q"] == "1"
    assert "commit.retry.num-retries" not in table.properties  # engines may try again what is theirs
    loaded = sink.load("t")
    assert loaded is not None
    assert loaded.properties["commit.retry.num-retries"] == "0"  # and pyiceberg may not


def test_iceberg_is_partitioned_by_day_and_a_file_is_of_one(world: World) -> None:
    """Records of both sides of midnight in one batch."""
    drive(world)
    table = world.catalog.load_table(("sigla", "orders"))
    days = [file.file.partition[0] for file in table.scan().plan_files()]
    assert len(set(days)) == 2
    assert [field.name for field in table.spec().fields] == ["_sr_ts_day"]
    quarantine = world.catalog.load_table(("sigla", QUARANTINE))
    assert quarantine.spec().is_unpartitioned()


def test_a_batch_is_known_after_its_snapshots_were_expired(world: World) -> None:
    """The table's property outlives them."""
    sink = Iceberg(world.catalog, "sigla", world.lake)
    first = land(world, sink, 0, OLD, [{"n": 1, "s": None}])
    land(world, sink, 1, OLD, [{"n": 2, "s": None}])
    table = world.catalog.load_table(("sigla", "t"))
    table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    sink.commit(first)
    assert [row["n"] for row in values(sink)] == [1, 2]


def interfering(world: World, times: int, act: Callable[[], None]) -> None:
    """Before each of so many commits of ours, another writer does something."""
    commit, left = world.catalog.commit_table, [times]

    def commit_table(*what: Any) -> Any:
        if left[0]:
            left[0] -= 1
            world.catalog.commit_table = commit
            act()
            world.catalog.commit_table = commit_table
        return commit(*what)

    world.catalog.commit_table = commit_table


def test_a_commit_that_loses_a_race_is_made_on_what_the_winner_left(world: World) -> None:
    """Another query's batch comes between reading the table and writing it."""
    sink = Iceberg(world.catalog, "sigla", world.lake, backoff=Backoff(FixedClock(), 0))
    land(world, sink, 0, OLD, [{"n": 0, "s": None}])
    others = iter(range(3))

    def another() -> None:
        number = next(others)
        land(world, sink, number, NEW, [{"n": 10 + number, "s": None, "m": None}], query="other")

    interfering(world, 3, another)
    land(world, sink, 1, OLD, [{"n": 1, "s": None}])
    assert [row["n"] for row in values(sink)] == [0, 1, 10, 11, 12]


def test_a_commit_whose_answer_was_lost_is_not_made_again(world: World) -> None:
    sink = Iceberg(world.catalog, "sigla", world.lake, backoff=Backoff(FixedClock(), 0))
    commit, calls = world.catalog.commit_table, []

    def commit_table(*what: Any) -> Any:
        calls.append(commit(*what))
        raise TimeoutError

    world.catalog.commit_table = commit_table
    land(world, sink, 0, OLD, [{"n": 1, "s": None}])
    assert len(calls) == 2  # the creation, the files
    assert [row["n"] for row in values(sink)] == [1]


def test_a_catalog_that_never_answers_is_told_of(world: World) -> None:
    def silent(*_: Any) -> Any:
        raise TimeoutError

    world.catalog.load_table = silent
    file = DataFile("t", "data/x.parquet", 1, 1)
    manifest = Manifest("q", 0, (), (), (file,), {"t": pa.schema([])}, (), (), (), RecordCounts(1, 1))
    with pytest.raises(TimeoutError):
        Iceberg(world.catalog, "sigla", world.lake, backoff=Backoff(FixedClock(), 0)).commit(manifest)


def test_glue_is_not_asked_twice_behind_our_back() -> None:
    """Botocore's repetition of a commit that was made meets its own result, and the library removes its files."""
    properties = {"type": "glue", "glue.region": "eu-west-1", "glue.access-key-id": "x", "glue.secret-access-key": "x"}
    found: Any = iceberg.catalog(properties, open_place("lake"))
    assert found.glue.meta.config.retries["total_max_attempts"] == 1
    found.glue.close()


@pytest.mark.parametrize(
    "table, name", [("orders", "orders"), ("_quarantine", "_quarantine"), ("a.b.C", "a_b_c_"), ("ORDERS", "orders_")]
)
def test_a_folder_is_called_as_its_table_where_that_can_be(table: str, name: str) -> None:
    assert folder_of(table).startswith(name)
    assert (folder_of(table) == table) == (name == table)


@given(st.sets(st.text(min_size=1, max_size=6), min_size=2))
def test_distinct_tables_have_distinct_folders(names: set[str]) -> None:
    assert len({folder_of(name) for name in names}) == len(names)
    assert all(part.isidentifier() or part[0].isdigit() for part in map(folder_of, names))


def test_a_staged_file_is_recognised_and_no_other() -> None:
    found = STAGED.fullmatch(f"orders/{staged_name('a-b', 3, 'token')}")
    assert found
    assert found["query"] == "a-b"
    for other in (
        "orders/data/00000-0-x.parquet",
        "orders/metadata/sigla-q-0000000001-x.avro",
        "orders/data/sigla.parquet",
    ):
        assert not STAGED.fullmatch(other)


def test_what_the_quarantine_keeps_is_read_back_whole(world: World) -> None:
    world.iceberg = False
    drive(world)
    row = next(row for row in tables(world)[QUARANTINE] if row["offset"] == 2)
    assert (row["topic"], row["value"], row["headers"]) == ("orders", b"\0\0\0\0\t\x12", [{"key": "h", "value": b"1"}])
    assert [reason["reason"] for reason in row["reasons"]] == ["UNKNOWN_ID"]
    assert (row["_sr_query"], row["_sr_batch"]) == ("q", 0)
