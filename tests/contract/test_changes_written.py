"""After an unknown outcome a writer asks the catalog whether its change is there: each change knows how that shows."""

from collections.abc import Callable

import pytest

from sigla.changes import (
    Change,
    ConfigChanged,
    ContextDropped,
    ContextListed,
    Displaced,
    IdBuried,
    ImportBegun,
    ImportedVersion,
    ModeChanged,
    NumberingSet,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.model import Config, Guid, SchemaId, Settings, Version
from sigla.ports.catalog import Catalog
from tests.associated import a_weak
from tests.build import NOW, a_nonce, a_registered, a_row, an_import, registered
from tests.contract.observing import ORDERS, PAYMENTS, delete, head

LISTED, EMPTY = ".listed", ".empty"

CHANGES: dict[str, Callable[[Catalog], Change]] = {
    "Registered": lambda catalog: a_registered(head(catalog), id=9, text="text 9"),
    "Imported": lambda catalog: an_import(head(catalog), ImportedVersion(a_row(7, 9, "text 9"))),
    "Displaced": lambda catalog: Displaced(
        head(catalog), a_row(1, 9, "text 9", revision=head(catalog).revision + 1), (), NOW, a_nonce()
    ),
    "VersionDeleted": lambda catalog: VersionDeleted(head(catalog), catalog.history(ORDERS)[0], NOW, a_nonce()),
    "SubjectDeleted": lambda catalog: SubjectDeleted(head(catalog), Version(2), NOW, a_nonce()),
    "VersionPurged": lambda catalog: VersionPurged(
        head(catalog, PAYMENTS), catalog.history(PAYMENTS)[0], NOW, a_nonce()
    ),
    "SubjectPurged": lambda catalog: SubjectPurged(head(catalog, PAYMENTS), catalog.history(PAYMENTS), NOW, a_nonce()),
    "ConfigChanged": lambda _: ConfigChanged(ORDERS, Settings(), Config(level="FULL"), NOW, a_nonce()),
    "ModeChanged": lambda _: ModeChanged(ORDERS, Settings(), "READONLY", NOW, a_nonce()),
    "ImportBegun": lambda _: ImportBegun(PAYMENTS, Settings(), NOW, a_nonce()),
    "ContextListed": lambda _: ContextListed(EMPTY, NOW, a_nonce()),
    "ContextDropped": lambda _: ContextDropped(LISTED, NOW, a_nonce()),
    "AssociationsChanged": lambda catalog: a_weak(head(catalog)),
    "IdBuried": lambda _: IdBuried(ORDERS, Version(7), SchemaId(9), Guid("g"), NOW, a_nonce()),
    "NumberingSet": lambda catalog: NumberingSet(".", catalog.max_id("."), SchemaId(1_000), NOW, a_nonce()),
}


@pytest.fixture
def lived_in(catalog: Catalog) -> Catalog:
    """Two active versions, a subject that is soft-deleted, and a context without anything in it."""
    for number in (1, 2):
        registered(catalog, ORDERS, id=number)
    registered(catalog, PAYMENTS, id=3)
    delete(catalog, PAYMENTS)
    catalog.commit(ContextListed(LISTED, NOW, a_nonce()))
    return catalog


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_shows_in_the_catalog_once_it_is_written(lived_in: Catalog, kind: str) -> None:
    """Else a client would be told 50002 for what was done, or success for what was not."""
    change = CHANGES[kind](lived_in)
    assert type(change).__name__ == kind
    assert not change.was_written(lived_in)
    lived_in.commit(change)
    assert change.was_written(lived_in)
