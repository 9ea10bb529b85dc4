"""A mirror that is cut off at any call of its own store, and one that begins again."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import OutcomeUnknown, StoreError
from sigla.registry import Registry
from sigla.upkeep.mirroring import Mirror
from tests.attack.ports import At, Between, Call, Recorder, watched
from tests.unit.exporting.places import Place, opened_places
from tests.unit.exporting.stories import AFTERWARDS
from tests.unit.mirroring.conftest import furnished_data
from tests.unit.mirroring.mirrored import Mirrored, held, meanings, told

__all__ = ["furnished_data"]

QUICK = ("a number used anew", "the same content again", "a KEK of the same name made anew")
STORIES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.soak) for name in AFTERWARDS]


class Cut(Exception):
    """The process is killed."""


def cut_before(call: Call, _: Callable[[], Any]) -> Any:
    raise Cut(call.name)


def cut_after(call: Call, carry_out: Callable[[], Any]) -> Any:
    carry_out()
    raise Cut(call.name)


def unknown(call: Call, carry_out: Callable[[], Any]) -> Any:
    """What was asked is done, and the answer was lost."""
    carry_out()
    raise OutcomeUnknown(call.name) if call.is_commit else StoreError(call.name)


KINDS: dict[str, Between] = {each.__name__: each for each in (cut_before, cut_after, unknown)}


@pytest.fixture(scope="session")
def pair(furnished_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source, and its mirror."""
    folder = tmp_path_factory.mktemp("mirrors")
    shutil.copytree(furnished_data, folder / "source")
    with opened_places(folder / "source", folder / "target") as (source, target):
        Mirrored(source, target).turn()
    return folder


def copied(pair: Path, to: Path) -> list[Path]:
    shutil.copytree(pair, to)
    return [to / "source", to / "target"]


def meanwhile(place: Place, story: str) -> None:
    place.clock.sleep(1_000)
    for step in AFTERWARDS[story]:
        step(place)


def turn(source: Place, target: Place, between: Between) -> None:
    store = target.store
    Mirror(Registry(*watched(store.catalog, store.bodies, between), target.clock), store.group).turn(told(source))


@cache
def calls(story: str, pair: Path, scratch: Path) -> int:
    """How many calls a turn makes that is about the story."""
    recorder = Recorder()
    with opened_places(*copied(pair, scratch)) as (source, target):
        meanwhile(source, story)
        turn(source, target, recorder)
        assert held(target) == held(source)
        assert meanings(target) == meanings(source)
    return len(recorder.calls)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("story", STORIES)
def test_wherever_a_mirror_is_cut_off_the_next_one_ends_as_its_source(
    story: str, kind: str, pair: Path, tmp_path: Path
) -> None:
    """It looks at what stands and not at what was meant: nothing has to be put right by hand."""
    number = calls(story, pair, tmp_path / "measured")
    for at in range(number):
        with opened_places(*copied(pair, tmp_path / str(at))) as (source, target):
            meanwhile(source, story)
            with suppress(Cut, StoreError):
                turn(source, target, At(at, KINDS[kind]))
            mirrored = Mirrored(source, target)
            mirrored.turn()
            mirrored.check()
            # In a group of a directory no commit's answer is lost, and in AWS the journal function buries.
            assert kind == "unknown" or meanings(target) == meanings(source)
            assert mirrored.turn().is_quiet
