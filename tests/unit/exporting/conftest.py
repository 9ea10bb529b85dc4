"""Registries that were furnished once for all tests of this folder; each test has a copy of them."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.unit.exporting.places import Line, Place, opened_places
from tests.unit.exporting.stories import FURNISHED


@pytest.fixture(scope="session")
def furnished_data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A source with some of everything, and a destination that an exporter of the source has made equal to it."""
    source, target = (tmp_path_factory.mktemp("exporting") / name for name in ("source", "target"))
    with opened_places(source, target) as (one, other):
        for step in FURNISHED:
            step(one)
        Line(one, other).begin().run()
    return source, target


@pytest.fixture
def furnished(furnished_data: tuple[Path, Path], tmp_path: Path) -> Iterator[list[Place]]:
    """The source and the destination."""
    with opened_places(*copied(furnished_data, tmp_path)) as found:
        yield found


def copied(data: Sequence[Path], folder: Path) -> list[Path]:
    """The same data, in another folder."""
    return [Path(shutil.copytree(each, folder / each.name)) for each in data]
