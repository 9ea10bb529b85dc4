"""A pool as it is deployed, over the stores of AWS and by the events of both doors: B's principals are strangers in A.

Every route of the table is asked, at one of the doors; principals and ways to name a registry take turns from route to
route. `tests/unit/auth/test_pool.py` tries every way for each route over an embedded store.
"""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.functions.pool_on_aws import FunctionDoors, pool_on_aws
from tests.unit.auth.pool_asked import (
    ask_inside,
    ask_nowhere,
    ask_strangely,
    ask_with_foreign_tokens,
    told_beside,
    turn_of,
)
from tests.unit.web.test_permissions import ROWS, Row

by_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")


@pytest.fixture(scope="module")
def filled() -> Iterator[FunctionDoors]:
    with pool_on_aws() as doors:
        yield doors


@pytest.fixture
def doors(filled: FunctionDoors, row: Row) -> FunctionDoors:
    """By the kind of event whose turn it is."""
    return filled.of_turn(turn_of(row))


@by_row
def test_inside_of_its_registry_a_principal_is_what_it_is_where_that_is_alone(doors: FunctionDoors, row: Row) -> None:
    """By its key or its token; and the neighbour has nothing of what it changed."""
    ask_inside(doors, row, 1)


@by_row
def test_whoever_is_of_another_registry_is_a_stranger(doors: FunctionDoors, row: Row) -> None:
    """Its key is unknown, and its token good for nothing; and whoever names no registry reaches none."""
    ask_strangely(doors, row, 2)
    ask_with_foreign_tokens(doors, row)
    ask_nowhere(doors, row)


def test_what_the_neighbour_has_cannot_be_told_from_what_nobody_has(filled: FunctionDoors) -> None:
    """Ids, GUIDs, subjects, contexts, keys and topics of a, asked for in b, which is empty, by its admin."""
    world, _ = filled()
    targets = [(row, world.target(row)) for row in ROWS]
    beside_a, beside_nothing = (
        [told_beside(partial(filled.of_turn(turn_of(row)), filled=which), row, target) for row, target in targets]
        for which in (True, False)
    )
    for row, one, other in zip(ROWS, beside_a, beside_nothing, strict=True):
        assert one == other, row
