"""Lists from a place in them on: parts put together are the list, however much is read at once."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import Any, Final

import pytest

from sigla.associations.nouns import Resource, in_order
from sigla.changes import (
    ConfigChanged,
    ContextDropped,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.model import GLOBAL, REGISTRY_WIDE, BodyKey, Config, SchemaId, Search, Settings, Subject, Version
from sigla.ports.catalog import Catalog
from sigla.ports.glances import AssociationPlace, ReferrerPlace
from sigla.ports.subjects import VersionKey
from sigla.stores.sqlite import lists
from tests.associated import a_weak
from tests.build import NOW, a_nonce, a_subject, a_target, registered
from tests.contract.observing import ORDERS, head
from tests.contract.test_keks import a_kek, write_kek

NAMES: Final = ("a", "B", "\uff5e", "\U0001f600", "é", "x/y", "#", "a\tb")
"""In no order."""
IN_UTF16: Final = sorted(NAMES, key=lambda name: name.encode("utf-16-be"))


@pytest.fixture(params=[2, 50])
def glance(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(lists, "PAGE", request.param)
    return int(request.param)


def gone_through(ask: Callable[[Any], Iterator[Any]], begin: Any, place: Callable[[Any], Any], most: int) -> list[Any]:
    """The list in parts, each asked for from the end of the one before."""
    found: list[Any] = []
    while part := list(islice(ask(place(found[-1]) if found else begin), most)):
        found += part
    return found


def test_versions_go_on_below_a_version(catalog: Catalog, glance: int) -> None:
    """Soft-deleted ones too, by themselves and with their subject; none of a life before the last purge."""
    subject = a_subject(context=".eu")

    def told(after: Version | None) -> Iterator[Any]:
        return catalog.versions_below(subject, after, glance=glance)

    assert list(told(None)) == []
    for _ in range(11):
        registered(catalog, subject)
    gone = catalog.snapshot(subject).head
    catalog.commit(VersionDeleted(gone, catalog.history(subject)[4], NOW, a_nonce()))
    registered(catalog, Subject(".eu", f"{subject.name}-"))
    descending = list(reversed(catalog.history(subject)))
    assert [row.deleted for row in descending].index(True) == 6
    assert gone_through(told, None, lambda row: row.version, 3) == descending
    assert [row.version for row in told(Version(2))] == [1]
    assert [*told(Version(1)), *told(Version(0)), *told(Version(-3))] == []
    assert list(told(Version(2**31 - 1))) == descending
    head_of = catalog.snapshot(subject).head
    catalog.commit(SubjectDeleted(head_of, Version(head_of.highest), NOW, a_nonce()))
    registered(catalog, subject)
    assert list(told(None)) == list(reversed(catalog.history(subject)))
    assert [row.deleted for row in told(None)] == [False, *[True] * 11]
    head_of = catalog.snapshot(subject).head
    catalog.commit(SubjectDeleted(head_of, Version(head_of.highest), NOW, a_nonce()))
    head_of = catalog.snapshot(subject).head
    catalog.commit(SubjectPurged(head_of, catalog.history(subject), NOW, a_nonce()))
    assert list(told(None)) == []
    registered(catalog, subject)
    assert list(told(None)) == list(catalog.history(subject)) != []


def test_versions_of_several_subjects_are_told_by_their_places(catalog: Catalog) -> None:
    """Soft-deleted ones too; none that is gone, and in a second life of a subject those of that alone."""
    again, gone, other = (Subject(".", name) for name in ("again", "gone", "other"))
    for subject in (again, gone, other, other):
        registered(catalog, subject)
    catalog.commit(VersionDeleted(catalog.snapshot(other).head, catalog.history(other)[0], NOW, a_nonce()))
    for subject in (again, gone):
        head_of = catalog.snapshot(subject).head
        catalog.commit(SubjectDeleted(head_of, Version(head_of.highest), NOW, a_nonce()))
        catalog.commit(SubjectPurged(catalog.snapshot(subject).head, catalog.history(subject), NOW, a_nonce()))
    registered(catalog, again)
    stored = {VersionKey(each, row.version): row for each in (again, other) for row in catalog.history(each)}
    assert [row.deleted for row in stored.values()] == [False, True, False]
    absent = [VersionKey(gone, Version(1)), VersionKey(other, Version(9)), VersionKey(ORDERS, Version(1))]
    assert catalog.rows_of([*absent, *stored]) == stored
    assert catalog.rows_of([]) == {}


def test_contexts_go_on_behind_a_name(catalog: Catalog, glance: int) -> None:
    """Those that are listed; the default context is not among them."""
    for name in NAMES:
        registered(catalog, a_subject(context=f".{name}"))
    gone = a_subject(context=".0")
    registered(catalog, gone)
    catalog.commit(VersionPurged(catalog.snapshot(gone).head, catalog.history(gone)[0], NOW, a_nonce()))
    catalog.commit(ContextDropped(".0", NOW, a_nonce()))
    found = gone_through(lambda after: catalog.contexts_after(after, glance=glance), "", str, 3)
    assert tuple(found) == catalog.contexts() == tuple(f".{name}" for name in IN_UTF16)


def test_holders_go_on_behind_a_subject(catalog: Catalog, glance: int) -> None:
    """With every version of each that has the id, and without subjects that have another one."""
    for context in (".", ".eu"):
        for name in NAMES:
            subject = Subject(context, name)
            for _ in range(2):
                registered(catalog, subject, id=7)
                head_of = catalog.snapshot(subject).head
                catalog.commit(SubjectDeleted(head_of, Version(head_of.highest), NOW, a_nonce()))
        registered(catalog, Subject(context, "other"), id=8)
    for key in (BodyKey(".", SchemaId(7)), BodyKey(".eu", SchemaId(7))):

        def holders(after: Subject | None, key: BodyKey = key) -> Iterator[Any]:
            found = catalog.holders_after(key, after, glance=glance)
            return (tuple(of_one) for _, of_one in groupby(found, lambda holder: holder.subject))

        found = gone_through(holders, None, lambda of_one: of_one[0].subject, 3)
        assert tuple(chain.from_iterable(found)) == catalog.holders(key)
        assert [of_one[0].subject.name for of_one in found] == IN_UTF16
        assert {len(of_one) for of_one in found} == {2}
    assert list(catalog.holders_after(BodyKey(".", SchemaId(9)), None, glance=glance)) == []


def test_referrers_go_on_behind_a_place(catalog: Catalog, glance: int) -> None:
    """Those of a version, or of all; none whose own versions are gone for good, and soft-deleted ones as such."""
    first, second = (registered(catalog, ORDERS, id=id) for id in (1, 2))
    for target, context in ((first, "."), (first, ".eu"), (second, ".eu")):
        for name in NAMES:
            refers, seen = (a_target(ORDERS, target),), (catalog.snapshot(ORDERS).head,)
            registered(catalog, Subject(context, name), id=target.id + 6, targets=refers, seen=seen)
    gone = catalog.snapshot(Subject(".eu", "é")).head
    catalog.commit(SubjectDeleted(gone, Version(gone.highest), NOW, a_nonce()))
    for subject in (Subject(".", "B"), Subject(".eu", "B")):
        head_of = catalog.snapshot(subject).head
        catalog.commit(SubjectDeleted(head_of, Version(head_of.highest), NOW, a_nonce()))
        catalog.commit(SubjectPurged(catalog.snapshot(subject).head, catalog.history(subject), NOW, a_nonce()))
    for version in (None, Version(1), Version(2), Version(3)):

        def told(place: ReferrerPlace | None, version: Version | None = version) -> Iterator[Any]:
            return catalog.referrers_after(ORDERS, version, place, glance=glance)

        found = gone_through(told, None, ReferrerPlace.of, 3)
        assert sorted(found, key=str) == sorted(catalog.referrers(ORDERS, version), key=str)
        assert [number for number, _ in found] == sorted(number for number, _ in found)
        assert len(found) == {None: 21, 1: 14, 2: 7, 3: 0}[version]
        assert [each.subject.name for _, each in found if each.deleted] == ["é"] * {None: 2, 1: 1, 2: 1, 3: 0}[version]


def test_keks_go_on_behind_a_name(catalog: Catalog, glance: int) -> None:
    """Without those that were removed for good."""
    for name in NAMES:
        write_kek(catalog, a_kek(name))
    write_kek(catalog, None, catalog.kek("B"), unused=True)
    found = gone_through(lambda after: catalog.keks_after(after, glance=glance), "", lambda kek: kek.name, 3)
    assert found == list(catalog.keks())
    assert [kek.name for kek in found] == [name for name in IN_UTF16 if name != "B"]


def test_associations_go_on_behind_a_place(catalog: Catalog, glance: int) -> None:
    """Each once, in whichever order the store has."""
    registered(catalog, ORDERS)
    for name in NAMES:
        resource = Resource(name, "ns", f"id of {name}")
        for type in ("value", "key"):
            seen = catalog.associations_of_resource(resource.id)
            catalog.commit(a_weak(head(catalog), resource, seen=seen, type=type))
    found = gone_through(
        lambda after: catalog.associations_after(after, glance=glance), None, AssociationPlace.of, most=3
    )
    assert in_order(found) == tuple(catalog.associations_named())
    assert len(found) == 2 * len(NAMES)


def test_settings_go_on_behind_a_scope(catalog: Catalog, glance: int) -> None:
    """In every context, and in one."""
    scopes = [GLOBAL, REGISTRY_WIDE, *(Subject(context, name) for context in (".", ".eu") for name in ("", *NAMES))]
    for scope in dict.fromkeys(scopes):
        catalog.commit(ConfigChanged(scope, Settings(), Config(level="FULL"), NOW, a_nonce()))
    for search in (Search(context=None), Search(context=".eu"), Search()):

        def settings(after: Subject | None, search: Search = search) -> Iterator[Any]:
            return catalog.settings(replace(search, after=after, glance=glance))

        found = gone_through(settings, None, lambda each: each[0], 3)
        assert found == list(catalog.settings(search))
