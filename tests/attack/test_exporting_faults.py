"""An exporter that is cut off at any call, of its store or of the destination, and one that begins again."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.ports.store import Store
from tests.attack.ports import At, Between, Call, Recorder, client
from tests.unit.exporting.conftest import copied, furnished_data
from tests.unit.exporting.places import Line, Place, let_pass, opened_places
from tests.unit.exporting.stories import AFTERWARDS, Step

__all__ = ["furnished_data"]

QUICK = ("a number used anew", "a KEK of the same name made anew")
LONG = tuple(name for name in AFTERWARDS if name not in QUICK)
STORIES = [*QUICK, *(pytest.param(name, marks=pytest.mark.soak) for name in LONG)]


class Cut(Exception):
    """A process is killed."""


def cut_before(call: Call, _: Callable[[], Any]) -> Any:
    raise Cut(call.name)


def cut_after(call: Call, carry_out: Callable[[], Any]) -> Any:
    carry_out()
    raise Cut(call.name)


def silent_before(call: Call, _: Callable[[], Any]) -> Any:
    raise TimeoutError(call.name)


def silent_after(call: Call, carry_out: Callable[[], Any]) -> Any:
    """What was asked is done, and the answer was lost."""
    carry_out()
    raise TimeoutError(call.name)


def store_silent(call: Call, _: Callable[[], Any]) -> Any:
    raise StoreError(call.name)


def store_silent_after(call: Call, carry_out: Callable[[], Any]) -> Any:
    carry_out()
    raise StoreError(call.name)


OF_DESTINATION: dict[str, Between] = {
    each.__name__: each for each in (cut_before, cut_after, silent_before, silent_after)
}
OF_STORE: dict[str, Between] = {
    each.__name__: each for each in (cut_before, cut_after, store_silent, store_silent_after)
}


class WatchedStore:
    """A store with a `Between` before its catalog, its bodies and its journal."""

    def __init__(self, store: Store, between: Between) -> None:
        self._store = store
        for name in ("catalog", "bodies", "journal"):
            setattr(self, name, client(name, getattr(store, name), between))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def meanwhile(place: Place, story: str) -> None:
    step: Step
    for step in AFTERWARDS[story]:
        step(place)


@cache
def calls(story: str, data: tuple[Path, Path], scratch: Path) -> tuple[int, int]:
    """How many calls a turn makes that writes it: of the destination, of the store."""
    there, here = Recorder(), Recorder()
    with opened_places(*copied(data, scratch)) as (source, target):
        meanwhile(source, story)
        Line(source, target, between=there).turn(WatchedStore(source.store, here))
        assert target.picture() == source.picture()
    return len(there.calls), len(here.calls)


def begin_again(line: Line, expected: Any) -> None:
    """Another process. Nothing needs to be put right by hand."""
    line.between = let_pass
    line.run()
    assert line.target.picture() == expected


@pytest.mark.parametrize("kind", OF_DESTINATION)
@pytest.mark.parametrize("story", STORIES)
def test_whatever_call_of_the_destination_fails_the_next_turn_ends_where_it_should(
    story: str, kind: str, furnished_data: tuple[Path, Path], tmp_path: Path
) -> None:
    """A destination may be away, an answer lost and a process killed at any moment: nothing is lost, or there twice."""
    number, _ = calls(story, furnished_data, tmp_path / "measured")
    for at in range(number):
        with opened_places(*copied(furnished_data, tmp_path / str(at))) as (source, target):
            meanwhile(source, story)
            line = Line(source, target, between=At(at, OF_DESTINATION[kind]))
            failed(line, line.source.store)
            begin_again(line, source.picture())


@pytest.mark.parametrize("kind", OF_STORE)
@pytest.mark.parametrize("story", STORIES)
def test_whatever_call_of_the_store_fails_the_next_turn_ends_where_it_should(
    story: str, kind: str, furnished_data: tuple[Path, Path], tmp_path: Path
) -> None:
    """The position moves after the destination has it, and not before."""
    _, number = calls(story, furnished_data, tmp_path / "measured")
    for at in range(number):
        with opened_places(*copied(furnished_data, tmp_path / str(at))) as (source, target):
            meanwhile(source, story)
            line = Line(source, target)
            failed(line, WatchedStore(source.store, At(at, OF_STORE[kind])))
            begin_again(line, source.picture())


def failed(line: Line, store: Any) -> None:
    """A turn that does not come to its end; a silent destination is told in its trace."""
    try:
        done = line.turn(store)
    except (Cut, StoreError):
        return
    assert done.progress is not None
    assert not done.away or "does not answer" in done.progress.trace
