"""Files are applied to whatever store: twice, by two at once, and with calls that fail."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from sigla.errors import StoreError
from sigla.model import LATEST, Subject
from sigla.ports.progress import unseen
from sigla.registry import Registry
from sigla.schema_files.applying import Applied, apply_steps
from sigla.schema_files.declaration import read_declaration
from sigla.schema_files.file_sets import declared_files
from sigla.schema_files.foreseeing import foresee
from sigla.schema_files.scratch import rehearsed
from sigla.schema_files.steps import Step
from sigla.schema_files.store_facts import StoredRegistry
from sigla.schema_files.store_target import StoreTarget
from tests.build import FixedClock
from tests.contract.conftest import Stores
from tests.unit.schema_files.test_pull import tree_of

FILES = {
    "a.avsc": '{"type": "record", "name": "A", "fields": [{"name": "b", "type": "B"}]}',
    "b.avsc": '{"type": "record", "name": "B", "fields": []}',
}
DECLARATION = """
schemas:
- {files: '*.avsc', subject: '{stem}', compatibility: LEVEL, metadata: {properties: {owner: OWNER}}}
settings:
  other: {mode: READONLY}
"""
STEPS = 5
"""Two levels, two versions, a mode."""
SUBJECTS = [Subject(".", name) for name in ("a", "b")]

Wish = tuple[str, str]
OURS, THEIRS = ("FULL", "us"), ("BACKWARD", "them")
"""A level and an owner, by which two sets of files differ."""


def registry(stores: Stores) -> Registry:
    return Registry(stores.catalog, stores.bodies, FixedClock())


def steps(stores: Stores, wish: Wish = OURS) -> list[Step]:
    level, owner = wish
    declaration = read_declaration(DECLARATION.replace("LEVEL", level).replace("OWNER", owner).encode())
    files = declared_files(declaration, tree_of(FILES))
    facts = StoredRegistry(stores.catalog, stores.bodies, "here")
    found = rehearsed(facts, None, unseen, lambda scratched: foresee(scratched, declaration, files))
    assert found.is_accepted
    return found.steps


class Met(StoreTarget):
    """before: is called with the number of each write."""

    def __init__(self, registry: Registry, before: Callable[[int], None] = lambda _: None) -> None:
        super().__init__(registry)
        self._before = before
        self._writes = 0

    def write(self, step: Step) -> None:
        self._writes += 1
        self._before(self._writes - 1)
        super().write(step)


def applied(stores: Stores, planned: list[Step], before: Callable[[int], None] = lambda _: None) -> Applied:
    return apply_steps(Met(registry(stores), before), planned, FixedClock(), lambda _: None)


def at(number: int, do: Callable[[], object]) -> Callable[[int], None]:
    def hook(write: int) -> None:
        if write == number:
            do()

    return hook


def test_applied_twice_changes_nothing(stores: Stores) -> None:
    """The plan of what was applied is empty, and its steps find that they are done."""
    planned = steps(stores)
    assert len(planned) == STEPS
    assert applied(stores, planned).left == []
    assert steps(stores) == []
    assert applied(stores, planned).left == []
    assert [len(stores.catalog.history(subject)) for subject in SUBJECTS] == [1, 1]


@pytest.mark.parametrize("number", range(STEPS))
def test_two_applies_of_the_same_files_at_once_end_as_one(number: int, stores: Stores) -> None:
    """Two runs of CI for one commit: both are done, and nothing is there twice."""
    planned, other = steps(stores), steps(stores)
    met: list[Applied] = []
    first = applied(stores, planned, at(number, lambda: met.append(applied(stores, other))))
    assert [each.left for each in (first, *met)] == [[], []]
    assert steps(stores) == []
    assert [len(stores.catalog.history(subject)) for subject in SUBJECTS] == [1, 1]


@pytest.mark.parametrize("number", range(STEPS - 1))
def test_of_two_applies_of_different_files_one_loses_and_no_subject_is_half_of_each(
    number: int, stores: Stores
) -> None:
    """Whoever did not have its way stops, and says at which subject."""
    planned, other = steps(stores), steps(stores, THEIRS)
    met: list[Applied] = []
    first = applied(stores, planned, at(number, lambda: met.append(applied(stores, other))))
    assert [each.stopped is None for each in (first, *met)].count(False) >= 1
    for subject in SUBJECTS:
        if not stores.catalog.history(subject):
            continue
        found = registry(stores)
        metadata = found.version(subject, LATEST).schema.metadata
        assert metadata is not None
        assert (found.config(subject).level, metadata.properties["owner"]) in {OURS, THEIRS}
    assert applied(stores, steps(stores)).left == []
    assert steps(stores) == []


class Failing:
    """A port of which one call fails, or all from there on. after: whether it was done all the same."""

    def __init__(self, port: object, calls: list[str], number: int, *, after: bool, forever: bool) -> None:
        self._port, self._calls, self._number, self._after, self._forever = port, calls, number, after, forever

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            self._calls.append(name)
            turn = len(self._calls) - 1
            fails = turn == self._number or (self._forever and turn > self._number)
            if fails and not self._after:
                raise StoreError("it does not answer")
            answer = found(*given, **named)
            if fails:
                raise StoreError("its answer was lost")
            return answer

        return call


CALLS = 32
SOME = {5, 14}


@pytest.mark.parametrize("forever", [False, True], ids=["once", "from there on"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "number", [pytest.param(at, marks=() if at in SOME else pytest.mark.soak) for at in range(CALLS)]
)
def test_after_a_failure_at_any_call_the_next_apply_finishes(
    number: int, *, after: bool, forever: bool, stores: Stores
) -> None:
    """A failure that passes is got over at once."""
    calls: list[str] = []
    catalog, bodies = (
        cast("Any", Failing(port, calls, number, after=after, forever=forever))
        for port in (stores.catalog, stores.bodies)
    )
    target = StoreTarget(Registry(catalog, bodies, FixedClock()))
    found = apply_steps(target, steps(stores), FixedClock(), lambda _: None)
    assert (found.stopped is None) is (not forever or len(calls) <= number)
    assert applied(stores, steps(stores)).left == []
    assert steps(stores) == []
    assert [len(stores.catalog.history(subject)) for subject in SUBJECTS] == [1, 1]
