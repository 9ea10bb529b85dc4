"""States under the crash matrix: a driver that is killed, or overtaken, at each step of following, and two at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from sigla_pipelines.land.sinks.iceberg import Iceberg
from sigla_pipelines.land.states import States
from sigla_pipelines.land.upsert import StateTable
from tests.pipelines.land.changes import Change, folded
from tests.pipelines.land.crash_rig import Fate, Killed, raising
from tests.pipelines.spark.state_rig import Histories

pytestmark = [
    pytest.mark.spark,
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

HISTORY = [
    Change(at, 0, at, key, value)
    for at, (key, value) in enumerate([("a", "a0"), ("b", "b1"), ("c", "c2"), ("a", None), ("b", "b4"), ("d", "d5")])
]
"""In the first round b is changed and a deleted; in the second a's first row comes late, c is deleted, d is new."""
ROUNDS = ([HISTORY[1], HISTORY[3], HISTORY[4]], [HISTORY[0], HISTORY[2], Change(6, 0, 6, "c", None), HISTORY[5]])
WHOLE = [*HISTORY, Change(6, 0, 6, "c", None)]
STEPS = 20


class FatedStates(States):
    """Fate strikes before and after each thing that another one could see."""

    def __init__(self, rig: Histories, fate: Fate) -> None:
        sink: Any = FatedSink(rig.sink, fate)
        super().__init__(rig.spark, sink, rig.manifests, [rig.state])
        self._spark = FatedSession(self._spark, fate)


class FatedSession:
    """A session of Spark's, at whose changes fate strikes."""

    def __init__(self, inner: SparkSession, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def sql(self, text: str) -> DataFrame:
        if not text.startswith(("MERGE", "DELETE")):
            return self._inner.sql(text)
        self._fate.step("before merge")
        done = self._inner.sql(text)
        self._fate.step("after merge")
        return done


class FatedSink:
    """A sink, at whose tables and notes fate strikes."""

    def __init__(self, inner: Iceberg, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in ("arrange", "note"):
            return found

        def fated(*what: Any) -> Any:
            self._fate.step(f"before {name}")
            answer = found(*what)
            self._fate.step(f"after {name}")
            return answer

        return fated


@pytest.fixture
def rig(tmp_path: Path, iceberg_spark: SparkSession) -> Iterator[Histories]:
    with closing(Histories(tmp_path, iceberg_spark, StateTable("t"))) as rig:
        yield rig


def drive(rig: Histories, fate: Fate | None = None) -> None:
    """Lands and follows, round by round; what is landed is not landed again."""
    for number, changes in enumerate(ROUNDS):
        if number >= rig.landed:
            rig.append([("", change) for change in changes])
            rig.landed += 1
        FatedStates(rig, fate or Fate()).follow()


def is_the_fold(rig: Histories) -> None:
    expected = {key: (change.value, *change.identity) for key, change in folded(WHOLE).items()}
    assert rig.rows() == expected


def killed(rig: Histories, at: int) -> None:
    with pytest.raises(Killed):
        drive(rig, Fate(at, raising(Killed())))
    drive(rig)
    is_the_fold(rig)


def overtaken(rig: Histories, at: int) -> None:
    """Another driver does everything meanwhile, the rounds to come included."""
    drive(rig, Fate(at, lambda: drive(rig)))
    is_the_fold(rig)


def test_without_any_trouble_the_steps_are_as_many_as_are_tried(rig: Histories) -> None:
    fate = Fate()
    drive(rig, fate)
    is_the_fold(rig)
    assert len(fate.steps) == STEPS, fate.steps


@pytest.mark.parametrize("at", range(STEPS))
@pytest.mark.parametrize("befalls", [killed, overtaken])
def test_a_state_is_the_fold_whatever_befalls_its_driver(
    befalls: Callable[[Histories, int], None], at: int, rig: Histories
) -> None:
    befalls(rig, at)


def test_two_drivers_that_follow_at_once_do_no_harm(rig: Histories) -> None:
    """Iceberg lets one of two merges stand; the other begins again."""
    for changes in ROUNDS:
        rig.append([("", change) for change in changes])
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: rig.follow(), range(2)))
    is_the_fold(rig)
