"""A replay of the quarantine dies at each of its steps, or is overtaken there: every record is landed once."""

from contextlib import suppress

import pytest

from sigla_pipelines.land.manifest import Stopped
from tests.pipelines.land.crash_rig import NEW_ID, Fate, World
from tests.pipelines.land.test_replay import STEPS, balances, dies, overtaking, parquet, replayed

__all__ = ["parquet"]

pytestmark = pytest.mark.usefixtures("unsynced")


@pytest.mark.parametrize("at", range(STEPS))
def test_a_replay_that_dies_is_done_by_the_next(at: int, parquet: World) -> None:
    dies(parquet, at)


@pytest.mark.parametrize("at", [pytest.param(at, marks=[pytest.mark.soak] if at % 3 else []) for at in range(STEPS)])
def test_of_two_replays_at_once_one_stands(at: int, parquet: World) -> None:
    parquet.known.add(NEW_ID)
    with suppress(Stopped):
        replayed(parquet, Fate(at, overtaking(parquet)))
    balances(parquet)
    assert replayed(parquet) is None
