"""What no reader will ever read is removed, and nothing else."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sigla_pipelines.land.gc import KEPT, remove_orphans
from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.sinks.sink import STAGING, folder_of, staged_name
from sigla_pipelines.places import Folder
from tests.pipelines.land.crash_rig import Fate, Killed, World, drive, files_of, is_landed_once, raising

pytestmark = pytest.mark.usefixtures("unsynced")

NOW = datetime(2026, 11, 22, tzinfo=UTC)
OLD = NOW - KEPT - timedelta(seconds=1)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A first attempt died after it had written its files, eight days ago; the next one landed everything."""
    world = World(tmp_path)
    with pytest.raises(Killed):
        drive(world, Fate(8, raising(Killed())))
    drive(world)
    aged(world.lake, OLD)
    return world


def aged(lake: Folder, when: datetime) -> None:
    for name in lake.names():
        os.utime(lake.path(name), (when.timestamp(), when.timestamp()))


def test_files_of_a_dead_attempt_are_found_and_those_of_tables_are_not(world: World) -> None:
    before = list(world.lake.names())
    found = remove_orphans(world.lake, Manifests(world.work), NOW)
    assert list(world.lake.names()) == before  # only shown
    named = {f"{folder_of(file.table)}/{file.path}" for file in files_of(world)}
    assert {name for name, _ in found} == set(before) - named
    assert len(found) == 7
    assert sum(size for _, size in found) > 0
    assert remove_orphans(world.lake, Manifests(world.work), NOW, dry_run=False) == found
    assert set(before) - set(world.lake.names()) == {name for name, _ in found}
    is_landed_once(world)
    assert remove_orphans(world.lake, Manifests(world.work), NOW) == []


def test_a_file_that_a_batch_may_still_name_is_kept(world: World) -> None:
    """A batch under way has no manifest; its files are young."""
    aged(world.lake, NOW - KEPT + timedelta(seconds=1))
    assert remove_orphans(world.lake, Manifests(world.work), NOW) == []


def test_what_waits_to_be_moved_into_its_table_is_kept(tmp_path: Path) -> None:
    """However old it is: a job that died after its decision may be started again after weeks."""
    world = World(tmp_path)
    with pytest.raises(Killed):
        drive(world, Fate("before move", raising(Killed())))
    aged(world.lake, OLD)
    assert remove_orphans(world.lake, Manifests(world.work), NOW, dry_run=False) == []
    drive(world)
    is_landed_once(world)


def test_the_second_copy_that_an_interrupted_move_has_left_is_removed(world: World) -> None:
    """S3 has no move: a copy, and then a removal that may not come."""
    file = f"{folder_of('orders')}/{next(file.path for file in files_of(world) if file.table == 'orders')}"
    copied = Path(world.lake.folder_for(f"{STAGING}/{file}"))
    copied.write_bytes(Path(world.lake.path(file)).read_bytes())
    aged(world.lake, OLD)
    assert f"{STAGING}/{file}" in dict(remove_orphans(world.lake, Manifests(world.work), NOW, dry_run=False))
    assert not copied.exists()
    is_landed_once(world)


@pytest.mark.parametrize(
    "name",
    [
        "orders/data/00000-0-of-a-compaction.parquet",
        "orders/metadata/00001.metadata.json",
        f"orders/{staged_name('another-jobs', 0, 'token')}",
        "orders/data/sigla-q-0-short.parquet",
    ],
)
def test_what_others_keep_in_the_lake_is_not_ours(name: str, world: World) -> None:
    world.lake.replace(name, b"")
    aged(world.lake, OLD)
    assert name not in dict(remove_orphans(world.lake, Manifests(world.work), NOW))


def test_what_is_decided_while_files_are_listed_is_kept(world: World) -> None:
    """A batch that took more than a week puts its manifest between the listing of files and that of manifests."""
    hidden = world.root / "work/manifests/q/0000000000.json"
    decided = hidden.read_bytes()
    hidden.unlink()
    assert len(remove_orphans(world.lake, Manifests(world.work), NOW)) == 14

    class Late(Manifests):
        def queries(self) -> list[str]:
            hidden.write_bytes(decided)
            return super().queries()

    assert len(remove_orphans(world.lake, Late(world.work), NOW)) == 7
