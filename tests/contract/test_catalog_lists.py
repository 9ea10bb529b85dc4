"""The lists of a catalog: what is in them, in which order, from where on."""

from dataclasses import replace
from itertools import islice

import pytest

from sigla import keys
from sigla.changes import ConfigChanged, ContextDropped, ModeChanged, SubjectDeleted, VersionDeleted, VersionPurged
from sigla.model import (
    GLOBAL,
    REGISTRY_WIDE,
    Config,
    Referrer,
    SchemaId,
    Search,
    Settings,
    Show,
    Subject,
    Version,
)
from sigla.ports.catalog import Catalog
from sigla.stores.dynamodb import looking
from sigla.stores.dynamodb.table import Table
from sigla.stores.sqlite import lists
from tests.build import NOW, a_nonce, a_subject, a_target, registered

ORDERS = a_subject()
EVERYWHERE = Search(context=None)


def utf16_order(subjects: list[Subject]) -> list[Subject]:
    return sorted(subjects, key=lambda each: each.qualified.encode("utf-16-be"))


def delete(catalog: Catalog, subject: Subject, version: int) -> None:
    head = catalog.snapshot(subject).head
    row = next(row for row in catalog.history(subject) if row.version == version)
    catalog.commit(VersionDeleted(head, row, NOW, a_nonce()))


NAMES = ["a", "ab", "B", ":c", "0", "é", "\uff5e", "\U0001f600", "x/y", "..", "%"]
CONTEXTS = [".", ".eu", ".europe", "..", ".\U0001f600", ".A"]


def many(catalog: Catalog) -> list[Subject]:
    subjects = [Subject(context, name) for context in CONTEXTS for name in NAMES]
    for number, subject in enumerate(subjects, 1):
        registered(catalog, subject, id=number)
    return subjects


SEARCHES = [
    EVERYWHERE,
    Search(),
    Search(name_prefix="a"),
    Search(name_prefix=":"),
    Search(context=".eu"),
    Search(context=".eu", name_prefix="\U0001f600"),
    Search(context=None, context_prefix=".eu"),
    Search(context=None, context_prefix="."),
    Search(context=None, name_prefix="a"),
    Search(context=".none"),
]


def test_a_search_finds_what_it_matches_in_utf16_order(catalog: Catalog) -> None:
    """Every list is ordered as the reference orders text: by UTF-16 code units of the qualified name."""
    subjects = many(catalog)
    for search in SEARCHES:
        expected = utf16_order([each for each in subjects if search.matches(each)])
        assert list(catalog.subjects(search)) == expected
        assert list(catalog.subjects(search, skip=3)) == expected[3:]
        rows = list(catalog.versions(search, deleted=False, latest_only=False, skip=2))
        assert [subject for subject, _ in rows] == expected[2:]


def looked_through(
    catalog: Catalog, search: Search, *, deleted: bool, most: int
) -> list[tuple[Subject, Version, bool]]:
    """What looks tell, each begun where the one before ended."""
    found: list[tuple[Subject, Version, bool]] = []
    while True:
        looked = catalog.look(search, deleted=deleted, most=most)
        assert len(looked.found) <= most
        found += ((subject, row.version, row.deleted) for subject, row in looked.found)
        if looked.through is None:
            return found
        search = replace(search, after=looked.through)


PARTS = ("", "a", "😀")


# The fewer names of the more shards, the fewer a look tells: of two and sixteen it tells one, by twenty questions. With
# two, each part would ask all of them once more.
@pytest.mark.parametrize(
    "names, shards, parts", [(2, 4, PARTS[:1]), (3, 4, PARTS), (looking.NAMES, keys.LIST_SHARDS, PARTS)]
)
def test_looks_put_together_find_what_a_search_matches(
    catalog: Catalog, names: int, shards: int, parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few names of each shard a look reads, and however few it tells."""
    monkeypatch.setattr(looking, "NAMES", names)
    monkeypatch.setattr(keys, "LIST_SHARDS", shards)
    subjects = many(catalog)
    twice, gone = subjects[2], subjects[4]
    registered(catalog, twice, id=700)
    delete(catalog, twice, 2)
    registered(catalog, gone, id=701)
    catalog.commit(SubjectDeleted(catalog.snapshot(gone).head, Version(2), NOW, a_nonce()))
    for search in SEARCHES:
        for part in parts:
            expected = [
                (each, Version(2 if each == gone else 1), each == gone)
                for each in utf16_order(subjects)
                if search.matches(each) and part in each.name.casefold()
            ]
            parted = replace(search, part=part)
            assert looked_through(catalog, parted, deleted=True, most=5) == expected
            active = [each for each in expected if not each[2]]
            assert looked_through(catalog, parted, deleted=False, most=20) == active


def test_subjects_are_shown_by_what_is_stored_of_them(catalog: Catalog) -> None:
    """Active, wholly soft-deleted, or any; a subject with nothing stored is in no list."""
    active, hidden, both, gone = (a_subject(name) for name in ("active", "hidden", "both", "gone"))
    for number, subject in enumerate((active, hidden, both, gone), 1):
        registered(catalog, subject, id=number)
    registered(catalog, both, id=5)
    for subject in (hidden, both, gone):
        delete(catalog, subject, 1)
    row = catalog.history(gone)[0]
    catalog.commit(VersionPurged(catalog.snapshot(gone).head, row, NOW, a_nonce()))
    assert list(catalog.subjects(Search(), Show.ACTIVE)) == [active, both]
    assert list(catalog.subjects(Search(), Show.DELETED)) == [hidden]
    assert list(catalog.subjects(Search(), Show.ALL)) == [active, both, hidden]


def test_versions_are_listed_by_subject_then_number(catalog: Catalog) -> None:
    """Ten comes after nine."""
    for number in range(1, 12):
        registered(catalog, ORDERS, id=number)
    registered(catalog, a_subject("a"), id=12)
    delete(catalog, ORDERS, 11)
    listed = [(s.name, row.version) for s, row in catalog.versions(Search(), deleted=True, latest_only=False)]
    assert listed == [("a", 1)] + [("orders-value", number) for number in range(1, 12)]
    without = [row.version for _, row in catalog.versions(Search(), deleted=False, latest_only=False, skip=1)]
    assert without == list(range(1, 11))


def test_only_the_highest_included_version_is_the_latest(catalog: Catalog) -> None:
    """With soft-deleted ones included it may be one of them."""
    for number in (1, 2, 3):
        registered(catalog, ORDERS, id=number)
    delete(catalog, ORDERS, 3)
    hidden = a_subject("hidden")
    registered(catalog, hidden, id=4)
    delete(catalog, hidden, 1)
    active = catalog.versions(Search(), deleted=False, latest_only=True)
    assert [(s.name, row.version) for s, row in active] == [("orders-value", 2)]
    stored = catalog.versions(Search(), deleted=True, latest_only=True)
    assert [(s.name, row.version) for s, row in stored] == [("hidden", 1), ("orders-value", 3)]


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty rows of the embedded store; in AWS, where a list is merged of sixteen, two rows, then eight, of each."""
    monkeypatch.setattr(lists, "PAGE", 50)
    assert Table.query.__kwdefaults__
    monkeypatch.setitem(Table.query.__kwdefaults__, "page", 2)


def test_a_list_longer_than_a_page_is_whole(catalog: Catalog, short_pages: None) -> None:
    """Nothing is lost or doubled where pages meet, and reading may stop anywhere."""
    for number in range(1, 123):
        registered(catalog, a_subject(f"s{number % 41:03}"), id=number)
    listed = list(catalog.versions(Search(), deleted=True, latest_only=False))
    assert len(listed) == len({(s.name, row.version) for s, row in listed}) == 122
    assert list(catalog.versions(Search(), deleted=True, latest_only=False, skip=70)) == listed[70:]
    assert list(islice(catalog.versions(Search(), deleted=True, latest_only=False), 3)) == listed[:3]


def test_commits_between_two_items_of_a_list_are_seen_by_other_questions(catalog: Catalog) -> None:
    """A list under way does not hold other readers to an old view."""
    registered(catalog, a_subject("a"), id=1)
    registered(catalog, a_subject("b"), id=2)
    listing = catalog.subjects(Search())
    next(listing)
    registered(catalog, ORDERS, id=3)
    assert catalog.snapshot(ORDERS).head.revision == 1
    assert a_subject("b") in list(listing)


def test_every_scope_with_an_entry_is_listed(catalog: Catalog) -> None:
    """Subjects without versions, contexts, the global entry; not those whose entries were removed."""
    scopes = [GLOBAL, REGISTRY_WIDE, Subject(".eu", ""), Subject(".eu", "s"), ORDERS]
    for scope in scopes:
        catalog.commit(ConfigChanged(scope, Settings(), Config(level="FULL"), NOW, "n1"))
    catalog.commit(ModeChanged(ORDERS, Settings(Config(level="FULL"), None, "n1"), "IMPORT", NOW, "n2"))
    removed = a_subject("removed")
    catalog.commit(ModeChanged(removed, Settings(), "IMPORT", NOW, "n1"))
    catalog.commit(ModeChanged(removed, Settings(None, "IMPORT", "n1"), None, NOW, "n2"))
    found = dict(catalog.settings(EVERYWHERE))
    assert found.keys() == set(scopes)
    assert found[ORDERS] == Settings(Config(level="FULL"), "IMPORT", "n2")
    assert dict(catalog.settings(Search(context=".eu"))).keys() == {Subject(".eu", ""), Subject(".eu", "s")}
    assert dict(catalog.settings(Search())).keys() == {GLOBAL, ORDERS}


def test_a_context_is_listed_from_its_first_registration_until_it_is_dropped(catalog: Catalog) -> None:
    """Settings and drawn ids do not make one; a purge does not end one; the default context is never listed."""
    catalog.commit(ConfigChanged(Subject(".set", ""), Settings(), Config(level="FULL"), NOW, "n"))
    catalog.next_id(".drawn")
    subject = a_subject(context=".b")
    for each in (ORDERS, subject, a_subject(context=".\U0001f600"), a_subject(context=".\uff5e")):
        registered(catalog, each)
    assert catalog.contexts() == (".b", ".\U0001f600", ".\uff5e")
    delete(catalog, subject, 1)
    catalog.commit(VersionPurged(catalog.snapshot(subject).head, catalog.history(subject)[0], NOW, a_nonce()))
    assert ".b" in catalog.contexts()
    catalog.commit(ContextDropped(".b", NOW, a_nonce()))
    assert ".b" not in catalog.contexts()


def test_a_name_is_found_in_the_named_contexts_that_store_it(catalog: Catalog) -> None:
    """Soft-deleted versions are stored; the default context is not named."""
    for context in (".\uff5e", ".\U0001f600", ".a", "."):
        registered(catalog, a_subject("s", context))
    registered(catalog, a_subject("s2", ".b"))
    delete(catalog, a_subject("s", ".a"), 1)
    assert catalog.contexts_of("s") == (".a", ".\U0001f600", ".\uff5e")
    assert catalog.contexts_of("nobody") == ()


def test_referrers_come_by_context_and_id_the_default_context_first(catalog: Catalog) -> None:
    """Soft-deleted referrers are among them; with a version only those that reference it."""
    first = registered(catalog, ORDERS, id=1)
    second = registered(catalog, ORDERS, id=2)
    users = [(Subject(".b", "x"), 1, first), (a_subject("z"), 10, second), (a_subject("a"), 9, first)]
    for subject, id, target in users:
        seen = (catalog.snapshot(ORDERS).head,)
        registered(catalog, subject, id=id, targets=(a_target(ORDERS, target),), seen=seen)
    delete(catalog, a_subject("a"), 1)
    everybody = [
        (1, Referrer(a_subject("a"), Version(1), SchemaId(9), deleted=True)),
        (2, Referrer(a_subject("z"), Version(1), SchemaId(10), deleted=False)),
        (1, Referrer(Subject(".b", "x"), Version(1), SchemaId(1), deleted=False)),
    ]
    assert list(catalog.referrers(ORDERS)) == everybody
    assert list(catalog.referrers(ORDERS, Version(1))) == [everybody[0], everybody[2]]
    assert list(catalog.referrers(a_subject("nobody"))) == []


def test_a_deleted_subject_leaves_the_active_list(catalog: Catalog) -> None:
    """And comes back with the next registration."""
    registered(catalog, ORDERS, id=1)
    catalog.commit(SubjectDeleted(catalog.snapshot(ORDERS).head, Version(1), NOW, a_nonce()))
    assert list(catalog.subjects(Search(), Show.ACTIVE)) == []
    registered(catalog, ORDERS, id=2)
    assert list(catalog.subjects(Search(), Show.ACTIVE)) == [ORDERS]
