"""The same for files: batches are not logged, and a driver finds out by itself what the last one left undone."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigla_pipelines.land import files
from sigla_pipelines.land.batch import Attempt, Batch, StopIf, land_once, next_number
from sigla_pipelines.land.manifest import Manifests, Stopped
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.targets import evolve
from sigla_pipelines.places import Folder
from tests.pipelines.land.crash_rig import (
    NEW_ID,
    READER,
    Fate,
    Fated,
    Killed,
    World,
    identities,
    identity,
    raising,
    raw,
    tables,
    task,
)

pytestmark = pytest.mark.usefixtures("unsynced")

FILES = {"a": ("orders", 0, 6), "b": ("payments", 100, 104), "c": ("orders", 6, 9)}
PARQUET_STEPS, ICEBERG_STEPS = 23, 32


def write(folder: Folder, name: str, records: pa.RecordBatch) -> None:
    pq.write_table(pa.Table.from_batches([records]), folder.folder_for(f"{name}.parquet"))


def source(world: World) -> Folder:
    """The files of raw records: each becomes a batch."""
    folder = Folder(str(world.root / "raw"))
    for name, (topic, start, end) in FILES.items():
        if folder.read(f"{name}.parquet") is None:
            write(folder, name, raw(topic, 0, start, end))
    return folder


def drive(world: World, fate: Fate | None = None) -> None:
    fate = fate or Fate()
    world.fates.append(fate)
    try:
        manifests = Manifests(Fated(world.work, fate))
        sink = world.sink(manifests)
        folder = source(world)
        query = manifests.query("files")
        number = next_number(query, manifests, sink)
        for new in files.new(folder, manifests.entries()):

            def attempt(new: files.New = new, number: int = number) -> Attempt:
                records = pq.read_table(folder.path(new.entry.path)).combine_chunks().to_batches()[0]
                outputs = Outputs(world.staging, query, number, layouts=world.layouts)
                fate.step("before files")
                landed = task(records, query, number, world, outputs)
                fate.step("after files")
                return Attempt([landed], {records["topic"][0].as_py(): evolve(None, READER, version=1)})

            land_once(Batch(query, number, entries=(new.entry,)), attempt, manifests, sink, stop_if=StopIf(1.0))
            number += 1
    finally:
        world.fates.pop()


def is_landed_once(world: World) -> None:
    assert Counter(identity(row) for rows in tables(world).values() for row in rows) == Counter(identities())


@pytest.fixture
def parquet(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def iceberg(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=True)) as world:
        yield world


def killed(world: World, at: int) -> None:
    with pytest.raises(Killed):
        drive(world, Fate(at, raising(Killed())))
    world.known.add(NEW_ID)
    drive(world)
    is_landed_once(world)


def overtaken(world: World, at: int) -> None:
    """At a step where nothing of the next batches is known yet; it goes on with the same files."""

    def overtake() -> None:
        world.known.add(NEW_ID)
        drive(world)

    drive(world, Fate(at, overtake))
    is_landed_once(world)


@pytest.mark.parametrize(
    "sort, steps", [("parquet", PARQUET_STEPS), pytest.param("iceberg", ICEBERG_STEPS, marks=pytest.mark.soak)]
)
def test_without_any_trouble_the_steps_are_as_many_as_are_tried(
    sort: str, steps: int, request: pytest.FixtureRequest
) -> None:
    world, fate = request.getfixturevalue(sort), Fate()
    drive(world, fate)
    assert len(fate.steps) == steps
    is_landed_once(world)


@pytest.mark.parametrize("at", range(PARQUET_STEPS))
@pytest.mark.parametrize("befalls", [killed, overtaken])
def test_parquet_has_every_record_once(befalls: Callable[[World, int], None], at: int, parquet: World) -> None:
    befalls(parquet, at)


@pytest.mark.soak
@pytest.mark.parametrize("at", range(ICEBERG_STEPS))
@pytest.mark.parametrize("befalls", [killed, overtaken])
def test_iceberg_has_every_record_once(befalls: Callable[[World, int], None], at: int, iceberg: World) -> None:
    befalls(iceberg, at)


def test_a_last_batch_that_was_decided_and_not_committed_is_committed_by_the_next_driver(iceberg: World) -> None:
    """Without a new file, it would never be taken up again."""
    fate = Fate(ICEBERG_STEPS - 2, raising(Killed()))
    with pytest.raises(Killed):
        drive(iceberg, fate)
    assert fate.steps[-1] == "before commit"
    fate = Fate()
    drive(iceberg, fate)
    assert fate.steps == ["before commit", "after commit"]
    is_landed_once(iceberg)


def test_a_driver_that_stands_still_before_its_commit_loses_nothing(iceberg: World) -> None:
    """Another one commits its batch before it decides the next: a table that has a batch has all before it."""
    fate = Fate(6, lambda: drive(iceberg))
    drive(iceberg, fate)
    assert fate.steps[6] == "before commit"
    is_landed_once(iceberg)


def test_a_file_that_comes_while_another_driver_is_faster_stops_the_slower(parquet: World) -> None:
    """Both are at the same batch, of other files."""

    def overtake() -> None:
        write(source(parquet), "0", raw("orders", 0, 50, 51))
        drive(parquet)

    with pytest.raises(Stopped, match="other records than the source gives"):
        drive(parquet, Fate("before files", overtake))
