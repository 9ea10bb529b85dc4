"""A copy takes the place of what a directory has, cut off at each step."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from sigla.backups.joining import BEFORE, BESIDE, change_places, is_copied
from sigla.model import SchemaId
from sigla.registry import Registry
from sigla.stores.sqlite.reading import CATALOG
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_draft, a_text
from tests.unit.registry.tell import s


class CutOff(BaseException):
    """The process ends."""


def written(path: Path, name: str) -> None:
    with EmbeddedStore(path) as store:
        assert Registry(store.catalog, store.bodies, FixedClock()).register(s(name), a_draft(a_text(name))).id


def dying(number: int, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> Callable[[], int]:
    """The process ends before or after a file is moved. How many were."""
    rename, moved = Path.rename, 0

    def rename_or_die(self: Path, target: Path) -> Path:
        nonlocal moved
        moved += 1
        if moved == number and not after:
            raise CutOff
        rename(self, target)
        if moved == number:
            raise CutOff
        return target

    monkeypatch.setattr(Path, "rename", rename_or_die)
    return lambda: moved


@pytest.mark.parametrize("after", [False, True])
def test_cut_off_anywhere_it_is_one_or_the_other_and_whole_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    for number in count(1):
        directory = tmp_path / str(number)
        written(directory, "old")
        written(directory / BESIDE, "new")
        with monkeypatch.context() as patched:
            moved = dying(number, patched, after=after)
            try:
                change_places(directory)
            except CutOff:
                assert is_copied(directory) or (directory / CATALOG).exists()
        if is_copied(directory):
            change_places(directory)
        for path, name in ((directory, "new"), (directory / f"{BEFORE}-1", "old")):
            with EmbeddedStore(path) as store:
                registry = Registry(store.catalog, store.bodies, FixedClock())
                assert [row.id for row in registry.catalog.history(s(name))] == [1]
                assert name in registry.schema_by_id(SchemaId(1)).schema.text
        assert not (directory / BESIDE / CATALOG).exists()
        if moved() < number:
            break
    assert number >= 4


def test_what_was_there_before_is_kept_with_a_number(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two"), 1):
        written(tmp_path, name) if number == 1 else None
        written(tmp_path / BESIDE, f"new{name}")
        assert change_places(tmp_path) == tmp_path / f"{BEFORE}-{number}"
