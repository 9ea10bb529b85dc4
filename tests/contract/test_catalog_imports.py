"""Several versions in one commit, as another registry had them: what becomes of them, and when nothing does."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from sigla.changes import (
    IMPORTED_AT_ONCE,
    REFERENCED_AT_ONCE,
    ContextDropped,
    ContextListed,
    Head,
    Imported,
    ImportedVersion,
    SubjectDeleted,
    SubjectPurged,
    VersionPurged,
)
from sigla.errors import Conflict, InvalidSubject
from sigla.model import BodyKey, Holder, SchemaId, Show, Subject, Version
from sigla.ports.catalog import Catalog
from tests.build import NOW, a_guid, a_nonce, a_registered, a_row, a_subject, a_target, an_import, registered
from tests.contract.conftest import Stores
from tests.contract.observing import BASE, EVERYWHERE, ONE, ORDERS, PAYMENTS, delete, head, refer, refused

ABROAD = a_subject(context=".eu")


def a_version(version: int, id: int, text: str | None = None, *, deleted: bool = False, ts: int = 0) -> ImportedVersion:
    row = a_row(version, id, f"text {id}" if text is None else text, deleted=deleted, ts=ts or NOW + version)
    return ImportedVersion(row, digests=("d", f"d{version}"))


def imported(catalog: Catalog, *versions: ImportedVersion, subject: Subject = ORDERS, nonce: str = "n") -> Imported:
    change = an_import(head(catalog, subject), *versions, nonce=nonce)
    assert catalog.commit(change) == ()
    return change


def shown(holders: Sequence[Holder]) -> list[tuple[str, int, bool, int]]:
    return [(str(each.subject), each.version, each.deleted, each.ts) for each in holders]


# --- what it does ----------------------------------------------------------------------------------------------------


def test_versions_come_as_they_were(catalog: Catalog) -> None:
    """Their numbers with gaps, their ids, their times, whether they were deleted; one revision for them all."""
    change = imported(catalog, a_version(2, 7), a_version(5, 3, deleted=True), a_version(4, 9), nonce="here")
    rows = {each.row.version: each.row for each in change.versions}
    assert catalog.history(ORDERS) == tuple(rows[version] for version in sorted(rows))
    assert {row.revision for row in catalog.history(ORDERS)} == {1}
    assert head(catalog) == Head(ORDERS, revision=1, highest=5, newest=rows[Version(4)], nonce="here")
    assert shown(catalog.holders(BodyKey(".", SchemaId(3)))) == [("orders-value", 5, True, NOW + 5)]
    assert list(catalog.subjects(EVERYWHERE, Show.ACTIVE)) == [ORDERS]


def test_they_are_found_by_content_and_by_digest(catalog: Catalog) -> None:
    """So that whoever registers them here again gets their ids."""
    imported(catalog, a_version(1, 7), a_version(2, 3))
    assert [catalog.id_of(".", a_guid(f"text {id}")) for id in (7, 3)] == [7, 3]
    assert [row.version for row in catalog.candidates(ORDERS, ["d"])] == [2, 1]
    assert [row.version for row in catalog.candidates(ORDERS, ["d1"])] == [1]
    catalog.commit(a_registered(Head(PAYMENTS), id=7, text="text 7"))


def test_a_subject_may_be_continued(catalog: Catalog) -> None:
    """Below, between and above what is stored: the newest is the newest of them all."""
    stored = registered(catalog, ORDERS, id=1, version=3)
    imported(catalog, a_version(1, 4), a_version(2, 5))
    assert (head(catalog).highest, head(catalog).newest) == (3, stored)
    above = imported(catalog, a_version(7, 6), a_version(6, 8, deleted=True))
    assert (head(catalog).highest, head(catalog).newest) == (7, above.versions[0].row)
    assert [row.version for row in catalog.history(ORDERS)] == [1, 2, 3, 6, 7]
    assert registered(catalog, ORDERS, id=9).version == 8


def test_what_comes_deleted_is_deleted(catalog: Catalog) -> None:
    """A subject of deleted versions alone is stored and not active, until an active one comes."""
    imported(catalog, a_version(1, 1, deleted=True), a_version(2, 2, deleted=True))
    assert (head(catalog).highest, head(catalog).newest) == (2, None)
    assert list(catalog.subjects(EVERYWHERE, Show.DELETED)) == [ORDERS]
    imported(catalog, a_version(4, 4, deleted=True))
    assert list(catalog.subjects(EVERYWHERE, Show.ACTIVE)) == []
    imported(catalog, a_version(3, 3))
    assert list(catalog.subjects(EVERYWHERE, Show.ACTIVE)) == [ORDERS]


def test_what_comes_after_the_delete_of_its_subject_is_alive(catalog: Catalog) -> None:
    """The mark of a delete is about what was there."""
    registered(catalog, ORDERS, id=1, version=5)
    catalog.commit(SubjectDeleted(head(catalog), Version(5), NOW, a_nonce()))
    change = imported(catalog, a_version(2, 2))
    assert [(row.version, row.deleted) for row in catalog.history(ORDERS)] == [(2, False), (5, True)]
    assert head(catalog).newest == change.versions[0].row


def test_a_new_generation_knows_nothing_of_the_old(catalog: Catalog) -> None:
    """A purged subject is imported as if it had never been."""
    registered(catalog, ORDERS, id=1)
    delete(catalog)
    catalog.commit(SubjectPurged(head(catalog), catalog.history(ORDERS), NOW, a_nonce()))
    change = imported(catalog, a_version(1, 2))
    assert catalog.history(ORDERS) == (change.versions[0].row,)
    assert head(catalog).generation == 1


def test_the_first_versions_of_a_context_list_it(stores: Stores) -> None:
    """And the name leads to it; the second commit says nothing of it any more."""
    catalog = stores.catalog
    imported(catalog, a_version(1, 1), subject=ABROAD)
    assert catalog.contexts() == (".eu",)
    assert catalog.contexts_of(ABROAD.name) == (".eu",)
    imported(catalog, a_version(2, 2), subject=ABROAD)
    entries = [[entry["type"] for entry in row["entries"]] for _, row in stores.journal.read()]  # type: ignore[attr-defined]  # JSON
    assert entries == [["CONTEXT", "SCHEMA"], ["SCHEMA"]]
    refused(stores, ContextDropped(".eu", NOW, a_nonce()))


def test_one_commit_is_one_row_of_the_journal(stores: Stores) -> None:
    """With an entry for each version, which has its own time and tells whether it is deleted."""
    imported(stores.catalog, a_version(2, 7, ts=NOW + 70), a_version(1, 3, deleted=True, ts=NOW + 30), nonce="once")
    [(_, row)] = stores.journal.read()
    named = {"type": "SCHEMA", "context": ".", "name": "orders-value"}
    row = {name: row[name] for name in row if name not in {"by", "is"}}  # which have tests of their own
    assert row == {
        "form": 1,
        "change": "Imported",
        "ts": NOW,
        "nonce": "once",
        "revision": 1,
        "entries": [
            named | {"version": 2, "id": 7, "deleted": False, "ts": NOW + 70},
            named | {"version": 1, "id": 3, "deleted": True, "ts": NOW + 30},
        ],
    }


# --- ids -------------------------------------------------------------------------------------------------------------


def test_a_content_may_have_several_ids(catalog: Catalog) -> None:
    """It is known by the one written last, here or elsewhere, deleted or not: by their order, not by their numbers."""
    imported(catalog, a_version(2, 5, "t"), a_version(1, 9, "t"))
    assert catalog.id_of(".", a_guid("t")) == 9
    imported(catalog, a_version(1, 8, "t", deleted=True), subject=PAYMENTS)
    assert catalog.id_of(".", a_guid("t")) == 8
    imported(catalog, a_version(2, 7, "t"), a_version(3, 6, "t", deleted=True), subject=PAYMENTS)
    assert catalog.id_of(".", a_guid("t")) == 6
    assert [len(catalog.holders(BodyKey(".", SchemaId(id)))) for id in range(5, 10)] == [1] * 5


def test_an_id_may_have_holders_here_and_elsewhere(catalog: Catalog) -> None:
    """The same id twice in one commit, and in a subject that has it already: all are counted."""
    registered(catalog, PAYMENTS, id=1, text="t")
    imported(catalog, a_version(1, 1, "t"), a_version(2, 1, "t"))
    assert [(str(each.subject), each.version) for each in catalog.holders(ONE)] == [
        ("orders-value", 1), ("orders-value", 2), ("payments-value", 1)
    ]  # fmt: skip
    delete(catalog, PAYMENTS)
    assert catalog.commit(VersionPurged(head(catalog, PAYMENTS), catalog.history(PAYMENTS)[0], NOW, a_nonce())) == ()
    for version in (1, 2):
        delete(catalog, version=version)
    rows = catalog.history(ORDERS)
    assert catalog.commit(VersionPurged(head(catalog), rows[0], NOW, a_nonce())) == ()
    assert catalog.commit(VersionPurged(head(catalog), rows[1], NOW, a_nonce())) == (ONE,)


def test_of_versions_with_one_id_the_highest_speaks(catalog: Catalog) -> None:
    """They were written at once, so the number decides; by id alone and by the subject's name."""
    imported(catalog, a_version(3, 1, "t"), a_version(4, 1, "t"), a_version(2, 1, "t"), a_version(5, 1, deleted=True))
    for speaker in (catalog.speaker(ONE), catalog.speaker(ONE, ORDERS)):
        assert speaker is not None
    assert catalog.speaker(ONE) == next(each for each in catalog.holders(ONE) if each.version == 4)
    imported(catalog, a_version(1, 1, "t"))
    assert catalog.speaker(ONE) == next(each for each in catalog.holders(ONE) if each.version == 1)


def test_a_buried_id_comes_back_to_life(catalog: Catalog) -> None:
    """Then others may register its content under it again."""
    registered(catalog, ORDERS, id=1, text="t")
    delete(catalog)
    assert catalog.commit(VersionPurged(head(catalog), catalog.history(ORDERS)[0], NOW, a_nonce())) == (ONE,)
    imported(catalog, a_version(1, 1, "t"), a_version(2, 2))
    catalog.commit(a_registered(Head(PAYMENTS), id=1, text="t"))
    assert len(catalog.holders(ONE)) == 2


# --- references ------------------------------------------------------------------------------------------------------


def using(version: int, id: int, *targets: tuple[Subject, int]) -> ImportedVersion:
    used = tuple(a_target(subject, a_row(number, 100 + number)) for subject, number in targets)
    return replace(a_version(version, id), targets=used)


def test_every_version_tells_whom_it_references(catalog: Catalog) -> None:
    """Other subjects, its own, and one twice: each of them is told once a commit."""
    for id in (1, 2):
        registered(catalog, BASE, id=id)
    versions = [using(1, 3), using(2, 4, (BASE, 1), (ORDERS, 1)), using(3, 5, (BASE, 1), (BASE, 2))]
    catalog.commit(an_import(Head(ORDERS), *versions, seen=(head(catalog, BASE),)))
    told = [(version, referrer.version, referrer.id) for version, referrer in catalog.referrers(BASE)]
    assert told == [(1, 2, 4), (1, 3, 5), (2, 3, 5)]
    assert [(version, referrer.version) for version, referrer in catalog.referrers(ORDERS)] == [(1, 2)]
    assert (head(catalog, BASE).referred, head(catalog).referred) == (1, 1)


def test_an_import_rests_on_the_subjects_it_references(stores: Stores) -> None:
    """A target may have been deleted since."""
    registered(stores.catalog, BASE, id=1)
    seen = head(stores.catalog, BASE)
    delete(stores.catalog, BASE)
    refused(stores, an_import(Head(ORDERS), a_version(1, 2), using(2, 3, (BASE, 1)), seen=(seen,)))


def test_a_delete_rests_on_the_references_of_an_import(stores: Stores) -> None:
    """Who looked before it came must look again."""
    catalog = stores.catalog
    registered(catalog, BASE, id=1)
    delete(catalog, BASE)
    seen, rows = head(catalog, BASE), catalog.history(BASE)
    catalog.commit(an_import(Head(ORDERS), using(1, 2, (BASE, 1)), seen=(seen,)))
    refused(stores, VersionPurged(seen, rows[0], NOW, a_nonce()))
    assert seen == replace(head(catalog, BASE), referred=0)


def test_the_most_that_is_allowed_fits(catalog: Catalog) -> None:
    """So many versions, each with an id and a content of its own, that reference so many subjects; in a new context."""
    bases = [Subject(".", f"base-{number}") for number in range(REFERENCED_AT_ONCE)]
    shares = [bases[at::IMPORTED_AT_ONCE] for at in range(IMPORTED_AT_ONCE)]
    versions = [using(n, n, *((base, 1) for base in share), (ABROAD, 1)) for n, share in enumerate(shares, 1)]
    seen = tuple(Head(base) for base in bases)
    catalog.commit(an_import(Head(ABROAD), *versions, seen=seen))
    assert len(catalog.history(ABROAD)) == IMPORTED_AT_ONCE
    assert all(len(list(catalog.referrers(base))) == 1 for base in bases)


def test_a_version_alone_may_reference_as_many_as_any(catalog: Catalog) -> None:
    """Eighty subjects, as a registration."""
    bases = [Subject(".", f"base-{number}") for number in range(80)]
    catalog.commit(an_import(Head(ABROAD), using(1, 1, *((base, 1) for base in bases)), seen=tuple(map(Head, bases))))
    assert len(list(catalog.referrers(bases[-1]))) == 1


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deleted", [False, True])
def test_a_stored_number_is_never_written_over(stores: Stores, *, deleted: bool) -> None:
    """Not even where the head is as it was seen: nothing of such a change is done."""
    registered(stores.catalog, ORDERS, id=1)
    if deleted:
        delete(stores.catalog)
    refused(stores, an_import(head(stores.catalog), a_version(2, 2), a_version(1, 3)))
    refused(stores, an_import(head(stores.catalog), a_version(1, 1)))


def test_two_importers_of_one_subject_do_not_both_win(stores: Stores) -> None:
    """Not even with different versions: the second did not see the first one's."""
    imported(stores.catalog, a_version(1, 1), a_version(2, 2))
    refused(stores, an_import(Head(ORDERS), a_version(3, 3)))


def test_an_importer_and_a_registration_do_not_both_win(stores: Stores) -> None:
    """Whoever is second."""
    seen = head(stores.catalog)
    registered(stores.catalog, ORDERS, id=1)
    refused(stores, an_import(seen, a_version(2, 2)))
    seen = head(stores.catalog)
    imported(stores.catalog, a_version(2, 2))
    refused(stores, a_registered(seen, id=3, text="u"))


def test_a_new_referrer_does_not_disturb_an_importer(stores: Stores) -> None:
    """What is shared is referenced while it is imported."""
    registered(stores.catalog, ORDERS, id=1)
    seen = head(stores.catalog)
    refer(stores.catalog, PAYMENTS, ORDERS, id=2)
    stores.catalog.commit(an_import(seen, a_version(2, 3)))


def test_a_name_that_no_store_can_hold_is_refused(catalog: Catalog) -> None:
    """700 encoded bytes are the limit."""
    with pytest.raises(InvalidSubject):
        catalog.commit(an_import(Head(a_subject("x" * 701)), a_version(1, 1)))


# --- at once ---------------------------------------------------------------------------------------------------------


def test_of_many_importers_of_one_subject_each_comes_to_his_turn(stores: Stores) -> None:
    """Who lost looks again and goes on; no version is lost or doubled, and every id has its holders."""
    catalog, at_once = stores.catalog, Barrier(4, timeout=60)

    def work(number: int) -> int:
        at_once.wait()
        lost = 0
        while True:
            try:
                catalog.commit(
                    an_import(head(catalog), a_version(2 * number + 1, 1, "t"), a_version(2 * number + 2, 2))
                )
            except Conflict:
                lost += 1
            else:
                return lost

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert [row.version for row in catalog.history(ORDERS)] == list(range(1, 9))
    assert head(catalog).revision == 4
    assert [len(catalog.holders(BodyKey(".", SchemaId(id)))) for id in (1, 2)] == [4, 4]
    assert len(list(stores.journal.read())) == 4


def test_importers_of_many_subjects_share_their_ids(stores: Stores) -> None:
    """One schema in every subject: writers are not in each other's way for long, and all are counted."""
    catalog, at_once = stores.catalog, Barrier(4, timeout=60)
    imported(catalog, a_version(1, 1, "t"))

    def work(number: int) -> None:
        at_once.wait()
        catalog.commit(an_import(Head(a_subject(f"s{number}")), a_version(1, 1, "t"), a_version(2, 10 + number)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(catalog.holders(ONE)) == 5
    assert len(list(catalog.subjects(EVERYWHERE))) == 5


# --- contexts --------------------------------------------------------------------------------------------------------


def test_a_context_may_be_listed_without_a_version(stores: Stores) -> None:
    """As another registry listed it; twice is once, it can be dropped again, and the default one never is listed."""
    catalog = stores.catalog
    for nonce in ("a", "b"):
        catalog.commit(ContextListed(".eu", NOW, nonce))
    catalog.commit(ContextListed(".", NOW, "c"))
    assert catalog.contexts() == (".eu",)
    assert next(row["entries"] for _, row in stores.journal.read()) == [
        {"type": "CONTEXT", "context": ".eu", "listed": True}
    ]
    imported(catalog, a_version(1, 1), subject=ABROAD)
    delete(catalog, ABROAD)
    catalog.commit(SubjectPurged(head(catalog, ABROAD), catalog.history(ABROAD), NOW, a_nonce()))
    assert catalog.contexts() == (".eu",)
    catalog.commit(ContextDropped(".eu", NOW, a_nonce()))
    assert catalog.contexts() == ()
    catalog.commit(ContextListed(".eu", NOW, "d"))
    assert catalog.contexts() == (".eu",)
