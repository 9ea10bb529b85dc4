"""A function is closed before a snapshot of it is taken, and built anew after each restore."""

import sys
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import pytest

from sigla.functions.lifecycle import Handler, Renewed


class Building:
    """Builds handlers, each of which answers with its number, and notes what is open."""

    def __init__(self) -> None:
        self.built = 0
        self.open: list[int] = []
        self.broken = False

    def __call__(self, opened: ExitStack) -> Handler:
        self.built += 1
        number = self.built
        self.open.append(number)
        opened.callback(self.open.remove, number)
        if self.broken:
            raise OSError
        return lambda event, context: {"number": number, "event": event, "context": context}


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a function gives to Lambda's runtime, by when it is called."""
    given: dict[str, Any] = {}
    library: Any = ModuleType("snapshot_restore_py")
    library.register_before_snapshot = lambda hook: given.update(before=hook)
    library.register_after_restore = lambda hook: given.update(after=hook)
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", library)
    return given


def test_nothing_is_open_in_a_snapshot_and_everything_is_new_after_a_restore(hooks: dict[str, Any]) -> None:
    """However often it is restored."""
    building = Building()
    handler = Renewed(building)
    assert handler("event", "context") == {"number": 1, "event": "event", "context": "context"}
    hooks["before"]()
    assert building.open == []
    for number in (2, 3):
        hooks["after"]()
        assert handler({}, None)["number"] == number
        assert building.open == [number]


def test_what_was_opened_by_a_start_that_fails_is_closed(hooks: dict[str, Any]) -> None:
    """Lambda tries again in the same process; nothing may be held by the one that failed."""
    building = Building()
    building.broken = True
    with pytest.raises(OSError):
        Renewed(building)
    assert building.open == []
    assert not hooks


def test_where_nobody_takes_snapshots_a_function_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is Lambda's own: LocalStack and tests have none."""
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", None)
    assert Renewed(Building())({}, None)["number"] == 1
