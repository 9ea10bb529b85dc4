"""The history of a subject: every commit that was about it, newest first, as the journal tells it."""

from dataclasses import replace
from itertools import islice

import pytest

from sigla.changes import (
    Author,
    Change,
    ConfigChanged,
    Displaced,
    Head,
    ImportBegun,
    ImportedVersion,
    ModeChanged,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
)
from sigla.errors import Conflict
from sigla.model import GLOBAL, Config, SchemaId, Settings, Subject, Version
from sigla.ports.log import MOST_MATTERS, LogEntry, Matter
from tests.associated import TOPIC, a_strong, a_weak
from tests.build import NOW, a_guid, a_nonce, a_registered, a_row, a_subject, an_import, registered
from tests.contract.conftest import Stores
from tests.contract.observing import ORDERS, PAYMENTS, delete, head

ABROAD = a_subject("orders-value", ".eu")
OWN, OWN_KEY = Subject(".lkc-1", "orders-value"), Subject(".lkc-1", "orders-key")
ADA = Author("ada", "api", "request-1", "192.0.2.1")


def history(stores: Stores, subject: Subject = ORDERS) -> list[LogEntry]:
    return list(stores.catalog.commits_about(subject))


def changes_of(stores: Stores, subject: Subject = ORDERS) -> list[str]:
    return [entry.change for entry in history(stores, subject)]


def purge(stores: Stores, subject: Subject = ORDERS) -> None:
    catalog = stores.catalog
    catalog.commit(SubjectPurged(head(catalog, subject), catalog.history(subject), NOW, a_nonce()))


def test_an_entry_says_when_what_and_by_whom(stores: Stores) -> None:
    stores.catalog.commit(replace(a_registered(Head(ORDERS), id=1, text="one", nonce="n1"), author=ADA))
    (kept,) = stores.principals.names(NOW)
    assert history(stores) == [
        LogEntry(
            at=NOW,
            nonce="n1",
            change="Registered",
            matters=(Matter("SCHEMA", ORDERS.name, version=1, id=1),),
            by=kept.token,
            via={"way": "api", "request": "request-1", "address": "192.0.2.1"},
            now=a_guid("one"),
        )
    ]


def test_a_subject_that_is_gone_still_has_its_history(stores: Stores) -> None:
    """Who deleted it is what is asked for most; and it goes on when the subject is registered anew."""
    registered(stores.catalog, ORDERS, id=1)
    delete(stores.catalog)
    purge(stores)
    assert changes_of(stores) == ["SubjectPurged", "VersionDeleted", "Registered"]
    registered(stores.catalog, ORDERS, id=2, text="another")
    assert changes_of(stores)[:2] == ["Registered", "SubjectPurged"]


def test_settings_of_the_subject_count_and_those_of_others_do_not(stores: Stores) -> None:
    """A subject may have settings before it has a version."""
    for scope in (ORDERS, GLOBAL, Subject(".eu", ""), PAYMENTS):
        stores.catalog.commit(ConfigChanged(scope, Settings(), Config(level="FULL"), NOW, a_nonce()))
    seen = stores.catalog.snapshot(ORDERS).chain.own
    stores.catalog.commit(ModeChanged(ORDERS, seen, "READONLY", NOW, a_nonce()))
    assert changes_of(stores) == ["ModeChanged", "ConfigChanged"]
    assert changes_of(stores, PAYMENTS) == ["ConfigChanged"]
    assert changes_of(stores, Subject(".eu", "")) == []


def test_a_commit_tells_each_subject_its_own_part_alone(stores: Stores) -> None:
    """A principal may see one of the two; a digest over both would tell of the other."""
    changes = [a_registered(Head(subject), id=5, text="own") for subject in (OWN_KEY, OWN)]
    strong = a_strong(Head(OWN_KEY), changes[0])
    value = a_strong(Head(OWN), changes[1])
    stores.catalog.commit(
        replace(
            value,
            heads=(*strong.heads, *value.heads),
            registered=tuple(changes),
            written=(replace(strong.written[0], type="key"), *value.written),
        )
    )
    for subject in (OWN_KEY, OWN):
        (entry,) = history(stores, subject)
        assert {matter.subject for matter in entry.matters} == {subject.qualified}
        assert [matter.type for matter in entry.matters] == ["SCHEMA", "ASSOC"]
        assert (entry.was, entry.now) == ("", "")


def test_an_association_is_told_to_its_subject(stores: Stores) -> None:
    registered(stores.catalog, ORDERS)
    stores.catalog.commit(a_weak(head(stores.catalog)))
    entry = history(stores)[0]
    assert entry.matters == (Matter("ASSOC", ORDERS.name, TOPIC.name),)
    assert entry.now


def test_an_import_tells_what_it_purged(stores: Stores) -> None:
    """Whatever the scope was: every subject in it has lost its versions."""
    for number, subject in enumerate((ORDERS, PAYMENTS, ABROAD), start=1):
        registered(stores.catalog, subject, id=number)
        delete(stores.catalog, subject)
    stores.catalog.commit(ImportBegun(GLOBAL, Settings(), NOW, "n"))
    for subject in (ORDERS, PAYMENTS, ABROAD):
        entry = history(stores, subject)[0]
        assert (entry.change, entry.was, entry.now) == ("ImportBegun", "", "")
        assert entry.matters == (Matter("SCHEMA", subject.qualified, version=1, is_gone=True),)


def test_imported_and_displaced_versions_are_told(stores: Stores) -> None:
    versions = [ImportedVersion(a_row(number, number, f"text {number}")) for number in (1, 2, 3)]
    stores.catalog.commit(an_import(Head(ORDERS), *versions))
    row = a_row(1, 9, "text 9", revision=head(stores.catalog).revision + 1)
    stores.catalog.commit(Displaced(head(stores.catalog), row, (), NOW, a_nonce()))
    displaced, imported = history(stores)
    assert [(matter.version, matter.id) for matter in imported.matters] == [(1, 1), (2, 2), (3, 3)]
    assert displaced.change == "Displaced"


def test_of_thousands_of_versions_the_first_are_named_and_the_others_counted(stores: Stores) -> None:
    """An entry stays one row of a kilobyte, whatever goes."""
    for first in range(1, 33, 8):
        versions = [ImportedVersion(a_row(number, number, f"text {number}")) for number in range(first, first + 8)]
        stores.catalog.commit(an_import(head(stores.catalog), *versions))
    stores.catalog.commit(SubjectDeleted(head(stores.catalog), Version(32), NOW, a_nonce()))
    purge(stores)
    entry = history(stores)[0]
    assert (len(entry.matters), entry.more) == (MOST_MATTERS, 32 - MOST_MATTERS)


def test_a_refused_change_is_in_no_history(stores: Stores) -> None:
    registered(stores.catalog, ORDERS)
    seen = head(stores.catalog)
    refused: list[Change] = [
        a_registered(replace(seen, revision=7), id=2, text="two"),
        VersionDeleted(replace(seen, revision=7), stores.catalog.history(ORDERS)[0], NOW, a_nonce()),
    ]
    for change in refused:
        with pytest.raises(Conflict):
            stores.catalog.commit(change)
    assert changes_of(stores) == ["Registered"]


def test_a_long_history_is_read_as_far_as_it_is_wanted(stores: Stores) -> None:
    """Page by page, each entry once."""
    for number in range(1, 131):
        seen = stores.catalog.snapshot(ORDERS).chain.own
        stores.catalog.commit(ModeChanged(ORDERS, seen, "READONLY", NOW + number, f"n{number}"))
    assert [entry.nonce for entry in islice(stores.catalog.commits_about(ORDERS), 3)] == ["n130", "n129", "n128"]
    assert [entry.nonce for entry in history(stores)] == [f"n{number}" for number in range(130, 0, -1)]


def test_names_that_begin_alike_have_histories_of_their_own(stores: Stores) -> None:
    """So do contexts: the same name in two of them is two subjects."""
    for number, name in enumerate(("o", "o-2", "O", "o%23"), start=1):
        registered(stores.catalog, a_subject(name), id=number, text=name)
    registered(stores.catalog, a_subject("o", ".eu"), id=1)
    assert [len(history(stores, a_subject(name))) for name in ("o", "o-2", "O", "o%23", "o-")] == [1, 1, 1, 1, 0]
    assert history(stores, a_subject("o", ".eu"))[0].matters == (Matter("SCHEMA", ":.eu:o", version=1, id=1),)


def test_histories_say_what_the_log_says(stores: Stores) -> None:
    """One by one and together: a history is the log, as one subject sees it."""
    registered(stores.catalog, ORDERS, id=1)
    registered(stores.catalog, ORDERS, id=2, text="two")
    registered(stores.catalog, PAYMENTS, id=SchemaId(3))
    stores.catalog.commit(a_weak(head(stores.catalog)))
    delete(stores.catalog, PAYMENTS)
    log = list(stores.log.entries())
    for subject in (ORDERS, PAYMENTS, ABROAD):
        own = [entry.as_seen_by(subject.qualified) for entry in log if entry.is_about(subject.qualified)]
        assert sorted(history(stores, subject), key=repr) == sorted(own, key=repr)
