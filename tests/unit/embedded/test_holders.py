"""Who holds an id, remembered as long as it is true."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sigla.embedded import holders
from sigla.embedded.store import EmbeddedStore
from sigla.model import BodyKey, SchemaId, Version
from sigla.ports import Catalog, SubjectDeleted
from tests.build import NOW, a_nonce, a_subject, registered

ORDERS, PAYMENTS = a_subject(), a_subject("payments-value")
ONE, TWO = (BodyKey(".", SchemaId(id)) for id in (1, 2))


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


@pytest.fixture
def catalog(store: EmbeddedStore) -> Catalog:
    return store.catalog


def test_remembered_holders_are_the_same_object_until_they_change(catalog: Catalog) -> None:
    """Callers compare by identity before they compare what is inside."""
    registered(catalog, ORDERS, id=1)
    registered(catalog, PAYMENTS, id=2)
    first, other = catalog.holders(ONE), catalog.holders(TWO)
    assert catalog.holders(ONE) is first
    registered(catalog, PAYMENTS, id=1)
    assert catalog.holders(ONE) is not first
    assert len(catalog.holders(ONE)) == 2
    assert catalog.holders(TWO) is other


def test_only_so_many_are_remembered(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first remembered goes first."""
    monkeypatch.setattr(holders, "REMEMBERED", 1)
    registered(catalog, ORDERS, id=1)
    registered(catalog, ORDERS, id=2)
    first = catalog.holders(ONE)
    second = catalog.holders(TWO)
    assert catalog.holders(TWO) is second
    assert catalog.holders(ONE) == first
    assert catalog.holders(ONE) is not first


def test_inside_a_group_they_follow_its_writes(store: EmbeddedStore) -> None:
    """Nobody else sees them, and nobody remembers them."""
    registered(store.catalog, ORDERS, id=1)
    before = store.catalog.holders(ONE)
    with store.group(), ThreadPoolExecutor(1) as pool:
        head = store.catalog.snapshot(ORDERS).head
        store.catalog.commit(SubjectDeleted(head, Version(1), NOW, a_nonce()))
        assert [holder.deleted for holder in store.catalog.holders(ONE)] == [True]
        assert pool.submit(store.catalog.holders, ONE).result() is before
    assert [holder.deleted for holder in store.catalog.holders(ONE)] == [True]


def test_holders_read_while_a_commit_is_made_are_never_old_afterwards(catalog: Catalog) -> None:
    """Readers race with the writer; whoever reads after the commit sees it."""
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            catalog.holders(ONE)

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for number in range(1, 60):
            registered(catalog, a_subject(f"s{number}"), id=1)
            assert len(catalog.holders(ONE)) == number
        stop.set()
        for reader in readers:
            reader.result(10)
