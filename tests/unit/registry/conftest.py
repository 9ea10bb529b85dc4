"""A registry on embedded stores in memory, with a clock that a test moves."""

from collections.abc import Iterator

import pytest

from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as opened:
        yield opened


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def registry(store: EmbeddedStore, clock: FixedClock) -> Registry:
    return Registry(store.catalog, store.bodies, clock)
