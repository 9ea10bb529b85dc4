"""Who speaks for an id, remembered as long as it is true."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sigla.changes import SubjectDeleted
from sigla.model import BodyKey, SchemaId, Version
from sigla.ports.catalog import Catalog
from sigla.stores.sqlite.speakers import Speakers
from sigla.stores.sqlite.store import EmbeddedStore
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


def test_a_remembered_speaker_is_the_same_object_until_it_changes(catalog: Catalog) -> None:
    """Callers compare by identity before they compare what is inside."""
    registered(catalog, PAYMENTS, id=1)
    registered(catalog, PAYMENTS, id=2)
    first, other = catalog.speaker(ONE), catalog.speaker(TWO)
    assert catalog.speaker(ONE) is first
    registered(catalog, ORDERS, id=1)
    changed = catalog.speaker(ONE)
    assert changed is not None
    assert changed.subject == ORDERS
    assert catalog.speaker(TWO) is other


def test_only_so_many_are_remembered(store: EmbeddedStore) -> None:
    """The first remembered goes first."""
    registered(store.catalog, ORDERS, id=1)
    registered(store.catalog, ORDERS, id=2)
    speakers = Speakers(store._unit, remembered=1)
    first = speakers.of(ONE)
    second = speakers.of(TWO)
    assert speakers.of(TWO) is second
    assert speakers.of(ONE) == first
    assert speakers.of(ONE) is not first


def test_inside_a_group_it_follows_the_groups_writes(store: EmbeddedStore) -> None:
    """No other reader sees them, and they are not remembered."""
    registered(store.catalog, ORDERS, id=1)
    before = store.catalog.speaker(ONE)
    with store.group(), ThreadPoolExecutor(1) as pool:
        head = store.catalog.snapshot(ORDERS).head
        store.catalog.commit(SubjectDeleted(head, Version(1), NOW, a_nonce()))
        assert is_deleted(store.catalog)
        assert pool.submit(store.catalog.speaker, ONE).result() is before
    assert is_deleted(store.catalog)


def is_deleted(catalog: Catalog) -> bool:
    speaker = catalog.speaker(ONE)
    assert speaker is not None
    return speaker.deleted


def test_a_speaker_read_while_a_commit_is_made_is_never_old_afterwards(catalog: Catalog) -> None:
    """Readers race with the writer; whoever reads after the commit sees it."""
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            catalog.speaker(ONE)

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for number in range(60, 0, -1):
            subject = a_subject(f"s{number:02}")
            registered(catalog, subject, id=1)
            speaker = catalog.speaker(ONE)
            assert speaker is not None
            assert speaker.subject == subject
        stop.set()
        for reader in readers:
            reader.result(10)
