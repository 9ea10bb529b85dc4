"""Every route × every principal, through every door, by key and by token: no door is easier than another."""

from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest

from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.unit.auth.guarded import DOORS, Unchanged
from tests.unit.web.test_permissions import ALL_DOORS, EACH_ONCE, ROWS, Row, everybody_asks, keys

__all__ = ["keys"]

OTHERS = [way for way in ALL_DOORS if way not in EACH_ONCE]
"""All ways but those of tests/unit/web/test_permissions.py."""


@pytest.fixture(scope="module", params=OTHERS, ids=" ".join)
def unchanged(keys: tuple[EmbeddedKeys, Mapping[str, str]], request: pytest.FixtureRequest) -> Iterator[Unchanged]:
    door, credentials = request.param
    with closing(Unchanged(keys, DOORS[door], by_token=credentials == "by token")) as made:
        yield made


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_no_door_lets_anybody_in_whom_another_refuses(unchanged: Unchanged, row: Row) -> None:
    """A success changes things for the next one: then the world is made anew."""
    everybody_asks(unchanged, row)
