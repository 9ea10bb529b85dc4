"""What the catalog answered, remembered until a commit."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from sigla.changes import ConfigChanged, SubjectDeleted
from sigla.model import Config, Metadata, SchemaId, Settings, Version
from sigla.ports.catalog import Catalog
from sigla.registry import Registry
from sigla.stores.sqlite.recalled import Recalled, of_a_snapshot
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW, FixedClock, a_draft, a_nonce, a_subject, registered

ORDERS, PAYMENTS = a_subject(), a_subject("payments-value")


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


@pytest.fixture
def catalog(store: EmbeddedStore) -> Catalog:
    return store.catalog


def test_the_same_question_has_the_same_answer_until_a_commit(catalog: Catalog) -> None:
    """Also until one that concerns another subject: it need not be known which answer rests on what."""
    registered(catalog, ORDERS, id=1)
    seen = catalog.snapshot(ORDERS)
    assert catalog.snapshot(ORDERS) is seen
    registered(catalog, PAYMENTS, id=2)
    again = catalog.snapshot(ORDERS)
    assert again is not seen
    assert again == seen


def test_a_group_that_writes_nothing_makes_nobody_forget(store: EmbeddedStore) -> None:
    """Refusals and known schemas pass through the writer, too."""
    registered(store.catalog, ORDERS, id=1)
    seen = store.catalog.snapshot(ORDERS)
    with store.group():
        store.catalog.history(ORDERS)
    assert store.catalog.snapshot(ORDERS) is seen


def test_inside_a_group_nothing_is_remembered(store: EmbeddedStore) -> None:
    """It sees what it wrote, and if that is undone, no other reader ever has."""
    registered(store.catalog, ORDERS, id=1)
    before = store.catalog.snapshot(ORDERS)
    with suppress(ZeroDivisionError), store.group():
        store.catalog.commit(SubjectDeleted(before.head, Version(1), NOW, a_nonce()))
        assert store.catalog.snapshot(ORDERS).head.newest is None
        raise ZeroDivisionError
    assert store.catalog.snapshot(ORDERS).head == before.head


def test_a_subject_that_becomes_another_name_answers_no_more(store: EmbeddedStore) -> None:
    """`?subject=` is asked with the name that a client knows, whatever it leads to by now."""
    registry = Registry(store.catalog, store.bodies, FixedClock())
    registry.register(ORDERS, a_draft())
    key, _, holder = registry.meaning_in(SchemaId(1), ORDERS)
    assert registry.catalog.speaker(key, ORDERS) is holder
    change = ConfigChanged(ORDERS, Settings(), Config(alias="payments-value"), NOW, a_nonce())
    registry.catalog.commit(change)
    assert registry.catalog.speaker(key, ORDERS) is None


def test_an_answer_read_beside_a_commit_is_never_old_afterwards(catalog: Catalog) -> None:
    """Readers race with the writer; whoever reads after the commit sees it."""
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            catalog.snapshot(ORDERS)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for number in range(1, 100):
            registered(catalog, ORDERS, id=number)
            assert catalog.snapshot(ORDERS).head.highest == number
    finally:
        stop.set()
        for reader in readers:
            reader.join()


class Counting:
    """A state that stays, and how often it was asked for."""

    state = 1
    asked = 0

    def __call__(self) -> int:
        self.asked += 1
        return self.asked


def test_what_was_remembered_first_goes_first() -> None:
    """Names come from clients: there is a bound in bytes."""
    counting = Counting()
    recalled = Recalled(counting, most=2)
    for question in ("a", "b", "c"):
        recalled.answer(question, counting, lambda _: 1)
    assert [recalled.answer(question, counting, lambda _: 1) for question in ("c", "b", "a")] == [3, 2, 4]


def test_a_snapshot_weighs_what_its_config_says(catalog: Catalog) -> None:
    """A config may hold rules of a megabyte, and a registry thousands of subjects under it."""
    registered(catalog, ORDERS, id=1)
    light = catalog.snapshot(ORDERS)
    config = Config(default_metadata=Metadata(properties={"note": "x" * 10_000}))
    heavy = replace(light, chain=replace(light.chain, own=replace(light.chain.own, config=config)))
    assert of_a_snapshot(heavy) > of_a_snapshot(light) + 10_000
