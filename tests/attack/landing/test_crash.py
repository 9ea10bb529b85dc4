"""A driver dies at each of its steps, or another one overtakes it there: every record is landed once.

The whole matrix is {each step} x {it is killed, its answer is lost, a second driver does all its work meanwhile} x {the
same registry, a schema registered between the attempts} x {Parquet, Iceberg}. CI has the harder half of
Parquet's (the registry changes), each step for a driver that dies and every third for one that is overtaken; and of
Iceberg's three steps: a table's creation, and its first files.
"""

from collections.abc import Callable, Container, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sigla_pipelines.land.landed import QUARANTINE
from tests.pipelines.land.crash_rig import (
    NEW_ID,
    Fate,
    Killed,
    Lost,
    World,
    drive,
    is_landed_once,
    is_never_twice,
    raising,
    tables,
)

pytestmark = pytest.mark.usefixtures("unsynced")

PARQUET_STEPS, ICEBERG_STEPS = 34, 38


def survive(world: World, fate: Fate, grows: bool) -> None:
    """The driver, and as many after it as it takes; a schema is registered where fate strikes."""
    strike = fate.strike

    def struck() -> None:
        if grows:
            world.known.add(NEW_ID)
        strike()

    fate.strike = struck
    try:
        drive(world, fate)
    except (Killed, Lost):
        if not world.iceberg:
            is_never_twice(world)
        drive(world)
    is_landed_once(world)


def killed(world: World, at: int, grows: bool) -> None:
    survive(world, Fate(at, raising(Killed())), grows)


def lost(world: World, at: int, grows: bool) -> None:
    survive(world, Fate(at, raising(Lost())), grows)


def overtaken(world: World, at: int, grows: bool) -> None:
    """It stands still, another driver does all the work, and it goes on as if nothing had been: a zombie."""
    survive(world, Fate(at, lambda: drive(world)), grows)


Case = tuple[Callable[[World, int, bool], None], int, bool]


def matrix(steps: int, ordinary: Container[Case]) -> list[Any]:
    """All cases; the long attack alone has those that the ordinary run leaves out."""
    return [
        pytest.param(
            *case,
            id=f"{case[0].__name__}-at-{case[1]}-{'schema-registered' if case[2] else 'same-registry'}",
            marks=() if case in ordinary else pytest.mark.soak,
        )
        for case in product((killed, lost, overtaken), range(steps), (False, True))
    ]


@pytest.fixture
def parquet(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def iceberg(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=True)) as world:
        yield world


def test_without_any_trouble_the_steps_are_as_many_as_the_matrix_has(parquet: World) -> None:
    fate = Fate()
    drive(parquet, fate)
    assert len(fate.steps) == PARQUET_STEPS
    is_landed_once(parquet)
    assert len(tables(parquet)[QUARANTINE]) == 4


@pytest.mark.soak
def test_with_iceberg_they_are(iceberg: World) -> None:
    fate = Fate()
    drive(iceberg, fate)
    assert len(fate.steps) == ICEBERG_STEPS
    is_landed_once(iceberg)


@pytest.mark.parametrize(
    "befalls, at, grows",
    matrix(
        PARQUET_STEPS,
        {
            *product((killed,), range(PARQUET_STEPS), (True,)),
            *product((overtaken,), range(0, PARQUET_STEPS, 3), (True,)),
        },
    ),
)
def test_parquet_has_every_record_once(
    befalls: Callable[[World, int, bool], None], at: int, grows: bool, parquet: World
) -> None:
    befalls(parquet, at, grows)


@pytest.mark.parametrize(
    "befalls, at, grows", matrix(ICEBERG_STEPS, {(overtaken, 13, True), (lost, 15, True), (overtaken, 17, True)})
)
def test_iceberg_has_every_record_once(
    befalls: Callable[[World, int, bool], None], at: int, grows: bool, iceberg: World
) -> None:
    befalls(iceberg, at, grows)
