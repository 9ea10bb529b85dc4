"""What a body says of its id follows the catalog, whoever writes meanwhile."""

from collections.abc import Mapping
from itertools import cycle

import pytest

from sigla.errors import BodyLost, StoreError
from sigla.model import BodyKey, SchemaId
from sigla.registry import tombstones
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_body

KEY, MISSING = BodyKey(".", SchemaId(1)), BodyKey(".", SchemaId(2))


@pytest.fixture(autouse=True)
def body(store: EmbeddedStore) -> None:
    store.bodies.put(KEY, a_body())


def test_what_the_catalog_says_last_is_what_the_body_says(store: EmbeddedStore) -> None:
    """An import brings the id back while its tombstone is on the way: readers without a catalog must not miss it."""
    answers = iter([True, False, False])
    tombstones.settle(store.bodies, [KEY], lambda ids: dict.fromkeys(ids, next(answers)))
    assert not store.bodies.get(KEY).gone
    assert next(answers, None) is None


def test_an_id_that_comes_and_goes_is_given_up(store: EmbeddedStore) -> None:
    answers = cycle([True, False])
    with pytest.raises(StoreError, match="ids come and go"):
        tombstones.settle(store.bodies, [KEY], lambda ids: dict.fromkeys(ids, next(answers)))


def test_a_lost_body_keeps_no_other_from_agreeing(store: EmbeddedStore) -> None:
    """A scrub tells of it; the others are settled."""

    def says(ids: frozenset[BodyKey]) -> Mapping[BodyKey, bool]:
        return {key: key == KEY for key in ids}

    with pytest.raises(BodyLost):
        tombstones.settle(store.bodies, [MISSING], says)
    tombstones.settle(store.bodies, [KEY, MISSING], says, passed_over=(BodyLost,))
    assert store.bodies.get(KEY).gone


def test_an_id_of_which_the_catalog_says_nothing_stays_as_it_is(store: EmbeddedStore) -> None:
    store.bodies.bury(KEY)
    tombstones.settle(store.bodies, [KEY], lambda _: {})
    assert store.bodies.get(KEY).gone
