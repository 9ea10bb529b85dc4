"""Ids whose last holder an import has written over: they mean what they did, as long as something stands there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from sigla.changes import Displaced, Head, ImportBegun, SubjectDeleted, SubjectPurged, VersionPurged
from sigla.model import BodyKey, Holder, Row, SchemaId, Settings, Subject, Version
from sigla.ports.catalog import Catalog
from tests.build import NOW, a_guid, a_nonce, a_registered, a_row, an_import, registered
from tests.contract.conftest import Stores
from tests.contract.observing import ONE, ORDERS, PAYMENTS, delete, head, refused
from tests.contract.test_catalog_imports import a_version


def displace(catalog: Catalog, *, id: int = 2, version: int = 1, subject: Subject = ORDERS) -> Row:
    """Writes over a version, as a client does in IMPORT."""
    change = a_registered(head(catalog, subject), id=id, text=f"text {id}", version=version, imported=True)
    assert catalog.commit(change) == ()
    return change.row


def told(head: Head, row: Row, standing: Row | None, **fields: Any) -> Displaced:
    again = () if standing is None else (standing,)
    return Displaced(head, replace(row, revision=head.revision + 1), again, NOW, a_nonce(), **fields)


def test_an_id_that_is_written_over_is_displaced_and_not_buried(catalog: Catalog) -> None:
    """Records in Kafka bear it: it has no holder, the version that did speaks for it, and its content is known."""
    old = registered(catalog, ORDERS, id=1)
    displace(catalog)
    last = Holder(ORDERS, Version(1), deleted=False, ts=old.ts, revision=old.revision, displaced=True)
    assert catalog.holders(ONE) == ()
    assert catalog.displaced(ONE) == catalog.speaker(ONE) == last
    assert catalog.speaker(ONE, ORDERS) is None
    assert catalog.id_of(".", a_guid("text 1")) == 1
    assert catalog.displaced(BodyKey(".", SchemaId(2))) is None


def test_an_id_that_others_hold_is_not_displaced(catalog: Catalog) -> None:
    """Nor one that was never heard of."""
    registered(catalog, PAYMENTS, id=1, text="text 1")
    registered(catalog, ORDERS, id=1, text="text 1")
    displace(catalog)
    assert catalog.displaced(ONE) is None
    assert catalog.speaker(ONE) == catalog.holders(ONE)[0]
    assert catalog.displaced(BodyKey(".", SchemaId(9))) is None


def test_who_deletes_what_stands_in_its_place_hides_it(catalog: Catalog) -> None:
    """A version alone, or with its subject; by id it is told all the same, since it cannot be given back."""
    registered(catalog, ORDERS, id=1)
    displace(catalog)
    delete(catalog)
    hidden, speaker = catalog.displaced(ONE), catalog.speaker(ONE)
    assert hidden is not None
    assert speaker is not None
    assert (hidden.deleted, speaker.deleted) == (True, False)
    registered(catalog, PAYMENTS, id=3)
    displace(catalog, id=4, subject=PAYMENTS)
    catalog.commit(SubjectDeleted(head(catalog, PAYMENTS), Version(1), NOW, a_nonce()))
    three = catalog.displaced(BodyKey(".", SchemaId(3)))
    assert three is not None
    assert three.deleted


def purge_version(catalog: Catalog) -> None:
    catalog.commit(VersionPurged(head(catalog), catalog.history(ORDERS)[0], NOW, a_nonce()))


def purge_subject(catalog: Catalog) -> None:
    catalog.commit(SubjectPurged(head(catalog), catalog.history(ORDERS), NOW, a_nonce()))


def begin_import(catalog: Catalog) -> None:
    catalog.commit(ImportBegun(ORDERS, Settings(), NOW, a_nonce()))


@pytest.mark.parametrize("purge", [purge_version, purge_subject, begin_import])
def test_when_its_place_is_gone_for_good_the_id_is_too(catalog: Catalog, purge: Any) -> None:
    """Whoever deletes a subject for good wants nothing of it told any more."""
    registered(catalog, ORDERS, id=1)
    displace(catalog)
    assert catalog.speaker(ONE) is not None
    delete(catalog)
    purge(catalog)
    assert (catalog.displaced(ONE), catalog.speaker(ONE), catalog.holders(ONE)) == (None, None, ())


def test_several_may_be_displaced_from_one_place(catalog: Catalog) -> None:
    """A record that an importer wrote again and again."""
    registered(catalog, ORDERS, id=1)
    for id in (2, 3):
        displace(catalog, id=id)
    for id in (1, 2):
        speaker = catalog.speaker(BodyKey(".", SchemaId(id)))
        assert speaker is not None
        assert speaker.displaced


def test_a_displaced_id_is_held_again_by_whoever_registers_its_content(catalog: Catalog) -> None:
    """Imported or not: then nothing of the displacement is left, also when the new holder goes."""
    registered(catalog, ORDERS, id=1)
    displace(catalog)
    catalog.commit(a_registered(Head(PAYMENTS), id=1, text="text 1"))
    assert catalog.displaced(ONE) is None
    assert catalog.speaker(ONE) == catalog.holders(ONE)[0]
    displace(catalog, id=5, subject=PAYMENTS)
    catalog.commit(an_import(head(catalog), a_version(7, 1, "text 1")))
    assert catalog.displaced(ONE) is None
    delete(catalog, version=7)
    purged = VersionPurged(head(catalog), catalog.history(ORDERS)[-1], NOW, a_nonce())
    assert catalog.commit(purged) == (ONE,)
    assert (catalog.displaced(ONE), catalog.speaker(ONE)) == (None, None)


def test_an_import_may_bring_a_displaced_id_back_to_its_place(catalog: Catalog) -> None:
    """Then the one that stood there is displaced."""
    registered(catalog, ORDERS, id=1)
    displace(catalog)
    displace(catalog, id=1)
    assert [holder.version for holder in catalog.holders(ONE)] == [1]
    assert catalog.displaced(ONE) is None
    assert catalog.displaced(BodyKey(".", SchemaId(2))) is not None


# --- as another registry had it --------------------------------------------------------------------------------------


def test_an_importer_may_tell_what_was_displaced_elsewhere(catalog: Catalog) -> None:
    """Its content is then known by it, or still by the id that it has here."""
    standing = registered(catalog, ORDERS, id=2)
    registered(catalog, PAYMENTS, id=5, text="t")
    catalog.commit(told(head(catalog), a_row(1, 1, "text 1", ts=NOW - 9), standing))
    catalog.commit(told(head(catalog), a_row(1, 6, "t"), standing))
    catalog.commit(told(head(catalog), a_row(1, 7, "t"), standing, known=True))
    last = catalog.displaced(ONE)
    assert last is not None
    assert (last.subject, last.version, last.ts) == (ORDERS, 1, NOW - 9)
    assert catalog.id_of(".", a_guid("text 1")) == 1
    assert catalog.id_of(".", a_guid("t")) == 7


def test_what_a_version_holds_cannot_be_said_to_be_displaced(stores: Stores) -> None:
    """Nor may the subject have moved."""
    catalog = stores.catalog
    seen = head(catalog)
    standing = registered(catalog, ORDERS, id=1)
    refused(stores, told(head(catalog), a_row(1, 1, "text 1"), standing))
    refused(stores, told(seen, a_row(1, 9, "text 9"), standing))


def test_what_was_buried_here_may_be_displaced_elsewhere(catalog: Catalog) -> None:
    """Its content is the same, so it may be told again."""
    registered(catalog, ORDERS, id=1)
    delete(catalog)
    purge_version(catalog)
    standing = registered(catalog, ORDERS, id=2)
    catalog.commit(told(head(catalog), a_row(1, 1, "text 1"), standing))
    assert catalog.displaced(ONE) is not None


def test_the_journal_tells_both_in_order(stores: Stores) -> None:
    """Whoever replays it comes to the same state."""
    standing = registered(stores.catalog, ORDERS, id=2, ts=NOW + 5)
    stores.catalog.commit(told(head(stores.catalog), a_row(1, 1, "text 1", ts=NOW - 9), standing))
    stores.catalog.commit(told(Head(PAYMENTS), a_row(4, 3, "text 3"), None))
    named: Mapping[str, object] = {"type": "SCHEMA", "context": ".", "name": "orders-value", "version": 1}
    rows: list[Any] = [row for _, row in stores.journal.read()]
    assert rows[1]["entries"] == [
        {**named, "id": 1, "deleted": False, "ts": NOW - 9},
        {**named, "id": 2, "deleted": False, "ts": NOW + 5},
    ]
    assert [(entry["version"], entry["id"]) for entry in rows[2]["entries"]] == [(4, 3), (4, None)]
