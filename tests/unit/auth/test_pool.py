"""Two registries in one process, through every door: whoever is of one of them is a stranger in the other.

Every route is asked in every way to name a registry, and every way is tried at every door; principals and doors take
turns from route to route. `test_permissions` has every combination for a registry that is alone, and once a registry is
chosen, what follows is the same code. `tests/functions/test_pool_routes.py` asks the function as it is deployed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from typing import Any

import pytest

from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.unit.auth.guarded import cut
from tests.unit.auth.pool_asked import (
    Ask,
    ask_inside,
    ask_nowhere,
    ask_strangely,
    ask_with_foreign_tokens,
    told_beside,
    turn_of,
)
from tests.unit.auth.pooled import DOORS, Pool, pool
from tests.unit.web.test_permissions import ROWS, Row

Keys = tuple[EmbeddedKeys, Mapping[str, str]]


class PoolDoors:
    """The two registries behind a door: the same ones until a request has changed something, then others."""

    def __init__(self, keys: Mapping[str, Keys], door: Callable[[Pool], Any], *, filled: bool = True) -> None:
        self._keys, self._door, self._filled = keys, door, filled
        self._opened = ExitStack()
        self._world: tuple[Pool, Ask] | None = None

    def __call__(self) -> tuple[Pool, Ask]:
        if self._world and any(self._world[0].is_changed):
            self.close()
        if not self._world:
            world = self._opened.enter_context(pool(self._keys, filled=self._filled))
            self._world = world, self._opened.enter_context(self._door(world))
        return self._world

    def close(self) -> None:
        self._world = None
        self._opened.close()


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Keys]:
    return {name: cut(tmp_path_factory.mktemp(f"keys-{name}")) for name in ("a", "b")}


@pytest.fixture(scope="module")
def all_doors(keys: Mapping[str, Keys]) -> Iterator[list[PoolDoors]]:
    with ExitStack() as opened:
        yield [opened.enter_context(closing(PoolDoors(keys, door))) for door in DOORS.values()]


@pytest.fixture
def doors(all_doors: list[PoolDoors], row: Row) -> PoolDoors:
    """The one whose turn it is."""
    return all_doors[turn_of(row) % len(all_doors)]


by_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")


@by_row
def test_inside_of_its_registry_a_principal_is_what_it_is_where_that_is_alone(doors: PoolDoors, row: Row) -> None:
    """However it names its registry; and the neighbour has nothing of what it changed."""
    ask_inside(doors, row)


@by_row
def test_a_key_of_another_registry_is_unknown(doors: PoolDoors, row: Row) -> None:
    """In the words of a wrong secret, whether its name is that of a key here or not, and whatever registry it names."""
    ask_strangely(doors, row)


@by_row
def test_a_token_of_another_registry_is_good_for_nothing_here(doors: PoolDoors, row: Row) -> None:
    """As one that no row of the map knows: a refusal does not tell that it is good elsewhere."""
    ask_with_foreign_tokens(doors, row)


@by_row
def test_without_a_registry_a_request_reaches_none(doors: PoolDoors, row: Row) -> None:
    """It is told how to name one, and tries no key: 401 where credentials would have to change, 403 for a token."""
    ask_nowhere(doors, row)


@pytest.fixture(scope="module")
def all_bare(keys: Mapping[str, Keys]) -> Iterator[list[PoolDoors]]:
    """The same two registries, of which a was never filled."""
    with ExitStack() as opened:
        yield [opened.enter_context(closing(PoolDoors(keys, door, filled=False))) for door in DOORS.values()]


@pytest.fixture
def beside_nothing(all_bare: list[PoolDoors], row: Row) -> PoolDoors:
    return all_bare[turn_of(row) % len(all_bare)]


@by_row
def test_what_the_neighbour_has_cannot_be_told_from_what_nobody_has(
    doors: PoolDoors, beside_nothing: PoolDoors, row: Row
) -> None:
    """Ids, GUIDs, subjects, contexts, keys and topics of a, asked for in b, which is empty, by its admin."""
    target = doors()[0].target(row)
    assert told_beside(doors, row, target) == told_beside(beside_nothing, row, target)
