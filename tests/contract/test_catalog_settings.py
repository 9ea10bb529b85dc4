"""Settings, imports and contexts: what a commit of theirs does, and what it refuses."""

import pytest

from sigla.changes import ConfigChanged, ContextDropped, ImportBegun, ModeChanged
from sigla.model import GLOBAL, BodyKey, Config, SchemaId, Search, Settings, Subject
from sigla.ports.catalog import Catalog
from tests.build import NOW, a_subject, registered
from tests.contract.conftest import Stores
from tests.contract.observing import ORDERS, delete, head, refer, refused


@pytest.mark.parametrize("scope", [ORDERS, GLOBAL, Subject(".eu", "")], ids=repr)
def test_settings_change_only_from_what_was_seen(stores: Stores, scope: Subject) -> None:
    """Config and mode share a revision; a removed entry keeps it."""
    catalog = stores.catalog
    catalog.commit(ConfigChanged(scope, Settings(), Config(level="FULL"), NOW, "n1"))
    refused(stores, ModeChanged(scope, Settings(), "READONLY", NOW, "n2"))
    refused(stores, ConfigChanged(scope, Settings(), None, NOW, "n2"))
    catalog.commit(ConfigChanged(scope, catalog.snapshot(scope).chain.own, None, NOW, "n3"))
    assert catalog.snapshot(scope).chain.own == Settings(None, None, "n3")
    refused(stores, ConfigChanged(scope, Settings(), Config(), NOW, "n4"))


def test_an_import_purges_what_is_soft_deleted_in_its_scope(catalog: Catalog) -> None:
    """And nothing beyond it; what is purged is buried."""
    inside, outside = a_subject("s", ".eu"), ORDERS
    for subject in (inside, outside):
        registered(catalog, subject, id=1)
        delete(catalog, subject)
    scope = Subject(".eu", "")
    buried = catalog.commit(ImportBegun(scope, Settings(), NOW, "n"))
    assert buried == (BodyKey(".eu", SchemaId(1)),)
    assert catalog.history(inside) == ()
    assert len(catalog.history(outside)) == 1
    assert catalog.snapshot(inside).chain.context == Settings(None, "IMPORT", "n")
    assert (head(catalog, inside).generation, head(catalog, inside).revision) == (1, 3)


def test_an_import_into_one_subject_leaves_its_longer_namesakes_alone(catalog: Catalog) -> None:
    """A scope of one subject is that subject, not what begins with its name."""
    longer = a_subject(ORDERS.name + "-2")
    for number, subject in enumerate((ORDERS, longer), start=1):
        registered(catalog, subject, id=number)
        delete(catalog, subject)
    assert catalog.commit(ImportBegun(ORDERS, Settings(), NOW, "n")) == (BodyKey(".", SchemaId(1)),)
    assert len(catalog.history(longer)) == 1


def test_an_import_does_not_begin_over_anything_alive(stores: Stores) -> None:
    """One active version in scope is enough."""
    registered(stores.catalog, ORDERS)
    refused(stores, ImportBegun(GLOBAL, Settings(), NOW, "n"))


def test_an_import_does_not_begin_over_anything_referenced(stores: Stores) -> None:
    """A stored schema elsewhere would lose its ground."""
    registered(stores.catalog, ORDERS)
    refer(stores.catalog, a_subject(context=".eu"), ORDERS, id=2)
    delete(stores.catalog)
    refused(stores, ImportBegun(ORDERS, Settings(), NOW, "n"))


def test_an_import_rests_on_the_settings_it_saw(stores: Stores) -> None:
    """As every change of settings."""
    stores.catalog.commit(ModeChanged(GLOBAL, Settings(), "READONLY", NOW, "n"))
    refused(stores, ImportBegun(GLOBAL, Settings(), NOW, "n2"))


def test_a_context_in_which_a_version_is_stored_is_not_dropped(stores: Stores) -> None:
    """Soft-deleted ones count."""
    subject = a_subject(context=".eu")
    registered(stores.catalog, subject)
    delete(stores.catalog, subject)
    refused(stores, ContextDropped(".eu", NOW, "n"))
    stores.catalog.commit(ContextDropped(".never", NOW, "n"))


def test_a_search_by_name_finds_settings_in_every_context(catalog: Catalog) -> None:
    """Also of subjects and contexts in which nothing was ever registered."""
    for subject in (a_subject("abc"), a_subject("abd", ".eu"), a_subject("x", ".us")):
        catalog.commit(ModeChanged(subject, Settings(), "IMPORT", NOW, "n"))
    found = dict(catalog.settings(Search(context=None, name_prefix="ab")))
    assert found.keys() == {a_subject("abc"), a_subject("abd", ".eu")}
