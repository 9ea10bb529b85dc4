"""A driver that dies once, or is overtaken: every record is landed once. Each of its steps: tests/attack/landing."""

from pathlib import Path

import pytest

from sigla_pipelines.land.landed import QUARANTINE
from tests.pipelines.land.crash_rig import NEW_ID, Fate, Killed, World, drive, files_of, is_landed_once, raising, tables

pytestmark = pytest.mark.usefixtures("unsynced")


@pytest.fixture
def parquet(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_decision_stands_though_a_schema_was_registered_after_it(parquet: World) -> None:
    """Killed right after the put: what was unknown then is quarantined, though a new attempt would land it."""
    fate = Fate(11, raising(Killed()))
    with pytest.raises(Killed):
        drive(parquet, fate)
    assert fate.steps[-1] == "after put"
    parquet.known.add(NEW_ID)
    decided = files_of(parquet)
    drive(parquet)
    assert decided < files_of(parquet)
    assert {row["offset"] for row in tables(parquet)[QUARANTINE]} == {2, 5, 101}


def test_two_that_are_overtaken_by_turns_land_every_record_once(parquet: World) -> None:
    """The second driver is killed in the midst of its overtaking, a third one takes over; then the first goes on."""

    def overtake() -> None:
        parquet.known.add(NEW_ID)
        with pytest.raises(Killed):
            drive(parquet, Fate(11, raising(Killed())))
        drive(parquet)

    drive(parquet, Fate(10, overtake))
    is_landed_once(parquet)
