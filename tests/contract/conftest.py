"""The adapters that the suites are run on."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from sigla.embedded.store import EmbeddedStore
from sigla.ports import Bodies, Catalog, Journal


class Stores(Protocol):
    """What an adapter provides: the three ports over one fresh registry."""

    @property
    def catalog(self) -> Catalog: ...
    @property
    def bodies(self) -> Bodies: ...
    @property
    def journal(self) -> Journal: ...


def on_disk(folder: Path) -> Iterator[Stores]:
    with EmbeddedStore(folder / "data") as store:
        yield store


def in_memory(folder: Path) -> Iterator[Stores]:
    with EmbeddedStore() as store:
        yield store


ADAPTERS: dict[str, Callable[[Path], Iterator[Stores]]] = {"embedded-disk": on_disk, "embedded-memory": in_memory}


@pytest.fixture(params=ADAPTERS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    yield from ADAPTERS[request.param](tmp_path)


@pytest.fixture
def catalog(stores: Stores) -> Catalog:
    return stores.catalog


@pytest.fixture
def bodies(stores: Stores) -> Bodies:
    return stores.bodies


@pytest.fixture
def journal(stores: Stores) -> Journal:
    return stores.journal
