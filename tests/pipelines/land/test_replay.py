"""What is in the quarantine is landed when its reason is gone: once, whoever dies on the way."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from sigla_pipelines.land import replay
from sigla_pipelines.land.batch import Attempt
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.manifest import Manifest, Manifests, RecordCounts, Stopped
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.quarantine import RESOLVED_TABLE
from sigla_pipelines.land.targets import evolve
from tests.pipelines.land.crash_rig import (
    NEW_ID,
    READER,
    Fate,
    Fated,
    Killed,
    World,
    drive,
    identities,
    identity,
    is_landed_once,
    raising,
    tables,
    task,
)

pytestmark = pytest.mark.usefixtures("unsynced")

NOW = datetime(2026, 11, 22, tzinfo=UTC)
STEPS = 18
"""The moves of a replay with Parquet: the put of its name, four tasks, the put of its manifest, each before and after;
five files are moved, and then they are all moved.
"""


@pytest.fixture(params=[False, True], ids=["parquet", "iceberg"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=request.param)) as world:
        drive(world)
        yield world


@pytest.fixture
def parquet(tmp_path: Path) -> World:
    world = World(tmp_path)
    drive(world)
    return world


def replayed(
    world: World,
    fate: Fate | None = None,
    reasons: Iterable[str] = (),
    topics: Sequence[str] = ("orders", "payments"),
    unbound: Counter[str] | None = None,
) -> Manifest | None:
    """One replay, from its start."""
    fate = fate or Fate()
    unbound = Counter() if unbound is None else unbound

    def land(query: str, number: int, batches: replay.Records) -> Attempt:
        landed = []
        for batch in batches():
            assert {*batch["topic"].to_pylist()} <= {*topics}
            for topic in topics:
                rows = batch.filter(pa.compute.equal(batch["topic"], topic))
                if len(rows):
                    outputs = Outputs(world.staging, query, number, layouts=world.layouts)
                    fate.step("before files")
                    landed.append(task(rows, query, number, world, outputs))
                    fate.step("after files")
        return Attempt(landed, {topic: evolve(None, READER, version=1) for topic in topics})

    world.fates.append(fate)
    try:
        manifests = Manifests(Fated(world.work, fate))
        sink = world.sink(manifests)
        return replay.replay_quarantine(manifests, sink, land, now=NOW, topics=topics, unbound=unbound, reasons=reasons)
    finally:
        world.fates.pop()


def overtaking(world: World) -> Callable[[], None]:
    """A stroke of fate: another replay is begun and done."""

    def strike() -> None:
        replayed(world)

    return strike


def balances(world: World) -> None:
    """Asserts in = landed + quarantined - resolved, by the manifests, by the tables and by identity."""
    found = tables(world)
    resolved = [row for batch in world.sink(Manifests(world.work)).rows(RESOLVED_TABLE) for row in batch.to_pylist()]
    landed = [identity(row) for table in ("orders", "payments") for row in found[table]]
    left = {identity(row) for row in found[QUARANTINE]} - {identity(row) for row in resolved}
    assert len(landed) == len(set(landed))
    assert len(resolved) == len({identity(row) for row in resolved})
    assert set(landed) | left == identities()
    assert not set(landed) & left
    counts = [manifest.counts for manifest in Manifests(world.work).all()]
    assert all(each.read == each.landed + each.quarantined - each.resolved for each in counts)
    assert sum(each.landed for each in counts) == len(landed)
    assert sum(each.resolved for each in counts) == len(resolved)


def test_a_record_whose_schema_came_is_landed_and_stays_in_the_quarantine(world: World) -> None:
    """The quarantine is never changed; a table beside it says what is resolved."""
    before = tables(world)
    world.known.add(NEW_ID)
    manifest = replayed(world)
    assert manifest is not None
    assert manifest.counts == RecordCounts(read=0, landed=4, resolved=4)
    after = tables(world)
    assert after[QUARANTINE] == before[QUARANTINE]
    assert {row["n"] for row in after["orders"]} == {1, NEW_ID, None}
    balances(world)
    assert {identity(row) for table in ("orders", "payments") for row in after[table]} == identities()


def test_a_second_replay_finds_nothing_to_do(parquet: World) -> None:
    parquet.known.add(NEW_ID)
    replayed(parquet)
    files = list(parquet.lake.names())
    assert replayed(parquet) is None
    assert list(parquet.lake.names()) == files
    balances(parquet)


def test_what_still_cannot_be_read_stays_where_it_is(parquet: World) -> None:
    assert replayed(parquet) is None
    balances(parquet)
    is_landed_once(parquet)


def test_a_replay_may_be_of_some_reasons_alone(parquet: World) -> None:
    parquet.known.add(NEW_ID)
    assert replayed(parquet, reasons=["BAD_MAGIC", "EMPTY"]) is None
    manifest = replayed(parquet, reasons=["BAD_MAGIC", "UNKNOWN_ID"])
    assert manifest is not None
    assert manifest.counts.resolved == 4
    balances(parquet)


def test_records_of_a_topic_that_is_bound_no_more_go_on_waiting(parquet: World) -> None:
    """They are counted, and keep no other record from being landed; bound again, their topic lands as any other."""
    parquet.known.add(NEW_ID)
    unbound = Counter[str]()
    manifest = replayed(parquet, topics=["orders"], unbound=unbound)
    assert manifest is not None
    assert manifest.counts.resolved == 3
    assert unbound == {"payments": 1}
    assert replayed(parquet, topics=["orders"], reasons=["BAD_MAGIC"], unbound=unbound) is None
    assert unbound == {"payments": 1}
    assert replayed(parquet) is not None
    balances(parquet)


def test_what_comes_into_the_quarantine_meanwhile_is_not_taken_for_resolved(parquet: World) -> None:
    """A stream goes on while its quarantine is replayed; its next batch is committed between two looks."""
    parquet.root.joinpath("work/manifests/q/0000000001.json").unlink()
    parquet.done.remove(1)
    parquet.known.add(NEW_ID)

    def land_the_next_batch() -> None:
        parquet.known.discard(NEW_ID)
        drive(parquet)
        parquet.known.add(NEW_ID)

    manifest = replayed(parquet, Fate(3, land_the_next_batch))
    assert manifest is not None
    assert manifest.counts.resolved == 3
    balances(parquet)
    again = replayed(parquet)
    assert again is not None
    assert again.counts.resolved == 1
    balances(parquet)


def test_without_any_trouble_a_replay_has_as_many_steps_as_are_tried(parquet: World) -> None:
    parquet.known.add(NEW_ID)
    fate = Fate()
    replayed(parquet, fate)
    assert len(fate.steps) == STEPS


def test_a_replay_that_dies_is_done_by_the_next(parquet: World) -> None:
    """At the move of its first file; at each of its steps: tests/attack/landing."""
    dies(parquet, STEPS - 6)


def dies(world: World, at: int) -> None:
    """A replay is killed at that step, and another one does what it left."""
    world.known.add(NEW_ID)
    fate = Fate(at, raising(Killed()))
    with pytest.raises(Killed):
        replayed(world, fate)
    balances(world)
    replayed(world)
    balances(world)
    assert len(tables(world)["orders"]) + len(tables(world)["payments"]) == len(identities())


def test_the_slower_of_two_replays_is_told(parquet: World) -> None:
    parquet.known.add(NEW_ID)
    with pytest.raises(Stopped, match="Another replay was faster, and is batch 0"):
        replayed(parquet, Fate(3, overtaking(parquet)))


def test_a_replay_that_died_before_its_commits_is_committed_by_the_next(tmp_path: Path) -> None:
    """With Iceberg the manifest alone is not enough."""
    with closing(World(tmp_path, iceberg=True)) as world:
        drive(world)
        world.known.add(NEW_ID)
        with pytest.raises(Killed):
            replayed(world, Fate("before commit", raising(Killed())))
        assert Manifests(world.work).last(Manifests(world.work).query(replay.NAME)) is not None
        assert replayed(world) is None
        balances(world)
