"""Files may have one identity several times: what is in the quarantine of them is resolved record by record."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigla_pipelines.land import resolved as marks
from sigla_pipelines.land.batch import Attempt, Batch, StopIf, land_once, next_number
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.manifest import Entry, Manifests
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.quarantine import RESOLVED, RESOLVED_TABLE
from sigla_pipelines.land.sinks.iceberg import Iceberg
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.targets import evolve
from tests.pipelines.land.crash_rig import NEW_ID, READER, World, framed_id, raw, tables, task
from tests.pipelines.land.test_replay import replayed

pytestmark = pytest.mark.usefixtures("unsynced")

UNKNOWN_ID = 77
"""How many records a topic that was made anew has: it begins with the offsets of the old one."""


@pytest.fixture(params=[False, True], ids=["parquet", "iceberg"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=request.param)) as world:
        yield world


def record(offset: int, id: int, **others: pa.Array) -> pa.RecordBatch:
    """A file of one. others: columns instead of those that records have."""
    ours = raw("orders", 0, offset, offset + 1)
    columns = {name: ours[name] for name in ours.schema.names} | {"value": pa.array([framed_id(id)])}
    return pa.RecordBatch.from_pydict(columns | others, schema=ours.schema)


def land(world: World, *files: pa.RecordBatch) -> None:
    """As one batch."""
    manifests = Manifests(world.work)
    sink = world.sink(manifests)
    query = manifests.query("files")
    number = next_number(query, manifests, sink)

    def attempt() -> Attempt:
        outputs = partial(Outputs, world.staging, query, number, layouts=world.layouts)
        landed = [task(each, query, number, world, outputs()) for each in files]
        return Attempt(landed, {"orders": evolve(None, READER, version=1)})

    entries = tuple(Entry(f"{number}-{at}", "t", 1, len(each)) for at, each in enumerate(files))
    land_once(Batch(query, number, entries=entries), attempt, manifests, sink, stop_if=StopIf(1.0))


def resolved(world: World) -> int:
    """By a replay; its manifest says as much as the table."""
    before = _marks(world)
    manifest = replayed(world)
    now = _marks(world) - before
    assert now == (manifest.counts.resolved if manifest else 0)
    counts = [each.counts for each in Manifests(world.work).all()]
    assert sum(each.read for each in counts) == sum(e.landed + e.quarantined - e.resolved for e in counts)
    return now


def _marks(world: World) -> int:
    return sum(len(batch) for batch in world.sink(Manifests(world.work)).rows(RESOLVED_TABLE))


def landed(world: World) -> list[tuple[int, int]]:
    """Offsets and ids."""
    return sorted((row["_sr_offset"], row["n"]) for row in tables(world)["orders"])


@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "in two"])
def test_of_two_records_with_one_identity_each_is_resolved_when_it_can_be(world: World, *, together: bool) -> None:
    """A topic was made anew, and both dumped into files; the schemas are registered one after the other."""
    old, more = record(0, NEW_ID), record(1, NEW_ID)
    new = record(0, UNKNOWN_ID, key=pa.nulls(1, pa.binary()), headers=pa.nulls(1, old.schema.field("headers").type))
    for files in [(old, new, more)] if together else [(old,), (new, more)]:
        land(world, *files)
    assert resolved(world) == 0
    world.known.add(NEW_ID)
    assert resolved(world) == 2
    assert resolved(world) == 0
    assert landed(world) == [(0, NEW_ID), (1, NEW_ID)]
    world.known.add(UNKNOWN_ID)
    assert resolved(world) == 1
    assert resolved(world) == 0
    assert landed(world) == [(0, NEW_ID), (0, UNKNOWN_ID), (1, NEW_ID)]
    assert len(tables(world)[QUARANTINE]) == 3


def test_records_that_say_the_same_are_resolved_together(world: World) -> None:
    """Landed twice, resolved twice: a replay counts what is there."""
    land(world, record(0, NEW_ID), record(0, NEW_ID))
    land(world, record(0, NEW_ID))
    world.known.add(NEW_ID)
    assert resolved(world) == 3
    assert resolved(world) == 0


@pytest.mark.parametrize("column", ["key", "timestamp", "headers"])
def test_records_differ_by_whatever_they_say(column: str, tmp_path: Path) -> None:
    """Where headers name schemas, all else may be the same."""
    world = World(tmp_path)
    kind = record(0, NEW_ID).schema.field(column).type
    other = record(0, NEW_ID, **{column: pa.nulls(1, kind) if column != "timestamp" else pa.array([0]).cast(kind)})
    land(world, record(0, NEW_ID), other)
    world.known.add(NEW_ID)
    assert resolved(world) == 2
    found = world.sink(Manifests(world.work)).rows(RESOLVED_TABLE)
    assert len({mark for batch in found for mark in batch["mark"].to_pylist()}) == 2
    assert resolved(world) == 0


def test_what_replays_have_resolved_before_they_marked_it_is_not_landed_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    land(world, record(0, NEW_ID), record(1, NEW_ID), record(2, UNKNOWN_ID))
    world.known.add(NEW_ID)
    assert resolved(world) == 2
    [path] = tmp_path.glob("lake/_resolved/data/*.parquet")
    pq.write_table(pq.read_table(path).drop_columns("mark"), path)
    world.known.add(UNKNOWN_ID)
    assert resolved(world) == 1
    assert resolved(world) == 0


def test_a_table_of_iceberg_from_before_marks_gets_them(tmp_path: Path) -> None:
    with closing(World(tmp_path, iceberg=True)) as world:
        land(world, record(0, NEW_ID), record(0, UNKNOWN_ID))
        unmarked = pa.schema([field for field in RESOLVED if field.name != "mark"])
        world.catalog.create_table(("sigla", RESOLVED_TABLE), unmarked, location=world.lake.uri(RESOLVED_TABLE))
        world.known.add(NEW_ID)
        assert resolved(world) == 1
        assert resolved(world) == 0


HEADERS = record(0, NEW_ID).schema.field("headers").type


def test_null_headers_are_no_headers_whatever_a_reader_makes_of_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One version of pyiceberg reads an empty list, and a later one may not: what was resolved stays resolved."""
    land(world, record(0, NEW_ID, headers=pa.nulls(1, HEADERS)))
    world.known.add(NEW_ID)
    assert resolved(world) == 1
    empty: list[Any] = []
    for headers in (empty, None):
        for sink in (Parquet, Iceberg):
            monkeypatch.setattr(sink, "rows", with_headers(sink.rows, headers))
        assert resolved(world) == 0


def with_headers(rows: Callable[[Any, str], Iterator[pa.RecordBatch]], made: Any) -> Callable[..., Any]:
    """The same rows of the quarantine, with other headers."""

    def read(sink: Any, table: str) -> Iterator[pa.RecordBatch]:
        for batch in rows(sink, table):
            if table != QUARANTINE:
                yield batch
            else:
                headers = pa.array([made] * len(batch), HEADERS)
                yield batch.set_column(batch.schema.names.index("headers"), batch.schema.field("headers"), headers)

    return read


def test_what_was_resolved_while_null_headers_were_a_mark_is_not_landed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    land(world, record(0, NEW_ID, headers=pa.nulls(1, HEADERS)))
    world.known.add(NEW_ID)
    with monkeypatch.context() as before:
        before.setattr(marks, "_digests", partial(marks._digests, without_headers=None))
        assert resolved(world) == 1
    assert resolved(world) == 0
