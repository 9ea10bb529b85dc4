"""Memory in front of a store keeps the store's promises."""

from collections.abc import Iterator, Sequence

import pytest

from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.errors import BodyMissing, ForeignData, StoreError, Taken
from sigla.model import Body, BodyKey, SchemaId
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_body, a_guid, tiers_before

ONE, TWO = BodyKey(".", SchemaId(1)), BodyKey(".", SchemaId(2))


class Undone(Exception):
    pass


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


@pytest.fixture
def tiers(store: EmbeddedStore) -> Tiers:
    tiers = tiers_before(store.bodies, unsettled=store.bodies.unsettled)
    store.on_replaced(tiers.forget)
    return tiers


def test_a_body_is_the_same_object_while_it_is_remembered(tiers: Tiers) -> None:
    """Callers compare by identity before they render."""
    tiers.put(ONE, a_body("a"))
    tiers.put(TWO, a_body("b"))
    first = tiers.get(ONE)
    assert tiers.get(ONE) is first
    assert tiers.get_many([TWO, ONE, TWO])[1] is first
    assert tiers.get_many([TWO])[0] is tiers.get(TWO)
    assert tiers.get_many([]) == []


def test_absence_is_never_remembered(tiers: Tiers, store: EmbeddedStore) -> None:
    """What was not there may be there now."""
    with pytest.raises(BodyMissing):
        tiers.get(ONE)
    store.bodies.put(ONE, a_body("a"))
    assert tiers.get(ONE).schema.text == "a"


def test_a_refused_put_does_not_show(tiers: Tiers) -> None:
    """Nor does the one who lost."""
    tiers.put(ONE, a_body("a"))
    with pytest.raises(Taken):
        tiers.put(ONE, a_body("b"))
    assert tiers.get(ONE).schema.text == "a"
    assert tiers.named(a_guid("a")) == (ONE,)
    assert tiers.last(".") == 1


def test_tombstones_are_seen_at_once(tiers: Tiers) -> None:
    """And so is a new life."""
    tiers.put(ONE, a_body("a"))
    assert not tiers.get(ONE).gone
    tiers.bury(ONE)
    assert tiers.get(ONE).gone
    tiers.revive(ONE, a_body("a"))
    assert not tiers.get(ONE).gone


def test_what_is_undone_was_never_remembered(tiers: Tiers, store: EmbeddedStore) -> None:
    """An id given to another content must not mean the old one."""

    def undone() -> None:
        with store.step():
            tiers.put(ONE, a_body("a"))
            assert tiers.get(ONE).schema.text == tiers.get_many([ONE])[0].schema.text == "a"
            raise Undone

    with store.group():
        with pytest.raises(Undone):
            undone()
        tiers.put(ONE, a_body("b"))
    assert tiers.get(ONE).schema.text == "b"


def test_what_a_group_replaces_is_read_anew_after_it(tiers: Tiers, store: EmbeddedStore) -> None:
    """Also if a reader read the old one in between."""
    tiers.put(ONE, a_body("a"))
    with store.group():
        tiers.bury(ONE)
        assert tiers.get(ONE).gone
    assert tiers.get(ONE).gone
    assert tiers.get(ONE) is tiers.get(ONE)


def test_what_a_silent_store_had_is_told_on_and_what_another_ones_had_is_not(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket that turns out to be another deployment's has other schemas under our ids."""
    clock, trouble = FixedClock(), [StoreError("it is silent"), ForeignData("bucket", "bodies", "", "a" * 32)]

    def troubled(_: Sequence[BodyKey]) -> list[Body]:
        raise trouble[0]

    memory = Memory(2**24, clock, presence_ms=60_000)
    tiers = Tiers(memory, SingleFlight(Ring({}, clock), clock), store.bodies)
    tiers.put(ONE, a_body("a"))
    assert tiers.get(ONE).schema.text == "a"
    monkeypatch.setattr(store.bodies, "get_many", troubled)
    clock.sleep(60)
    assert tiers.get(ONE).schema.text == "a"
    clock.sleep(10)
    trouble.reverse()
    with pytest.raises(ForeignData):
        tiers.get(ONE)
