"""A furnished registry, for all tests of this folder, each of which has a copy of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.exporting.places import Place, opened_places, places
from tests.unit.exporting.stories import FURNISHED
from tests.unit.mirroring.mirrored import Mirrored


@pytest.fixture(scope="session")
def furnished_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with some of everything, each of another time."""
    data = tmp_path_factory.mktemp("mirroring") / "source"
    with opened_places(data) as (source,):
        for step in FURNISHED:
            step(source)
            source.clock.sleep(1)
    return data


@pytest.fixture
def source(furnished_data: Path, tmp_path: Path) -> Iterator[Place]:
    """A copy, whose clock is later than all that it holds."""
    with opened_places(Path(shutil.copytree(furnished_data, tmp_path / "source"))) as (found,):
        found.clock.sleep(1_000)
        yield found


@pytest.fixture
def mirrored(source: Place) -> Iterator[Mirrored]:
    """The source, and an empty registry that was made its mirror."""
    with places(1) as (target,):
        yield Mirrored(source, target)
