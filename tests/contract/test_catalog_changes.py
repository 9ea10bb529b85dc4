"""What a commit to a subject does, and what it refuses: all of a change or nothing of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sigla.changes import Change, ConfigChanged, Head, SubjectDeleted, SubjectPurged, VersionDeleted, VersionPurged
from sigla.errors import Conflict, InvalidSubject
from sigla.model import BodyKey, Config, Row, SchemaId, Settings, Show, Version
from sigla.ports.catalog import Catalog
from tests.build import NOW, a_guid, a_nonce, a_registered, a_row, a_subject, a_target, registered
from tests.contract.conftest import Stores
from tests.contract.observing import BASE, EVERYWHERE, ONE, ORDERS, PAYMENTS, delete, head, refer, refused

# --- registering -----------------------------------------------------------------------------------------------------


def test_two_writers_of_one_subject_do_not_both_win(stores: Stores) -> None:
    """The second saw a head that has changed."""
    seen = head(stores.catalog)
    stores.catalog.commit(a_registered(seen, id=1))
    refused(stores, a_registered(seen, id=2, text="other", digests=("d",)))


def test_a_registration_rests_on_the_subjects_it_references(stores: Stores) -> None:
    """A target may have been deleted since."""
    target = registered(stores.catalog, BASE)
    seen = head(stores.catalog, BASE)
    delete(stores.catalog, BASE)
    refused(stores, a_registered(Head(ORDERS), id=2, targets=(a_target(BASE, target),), seen=(seen,)))


def test_another_referrer_does_not_disturb_a_registration(stores: Stores) -> None:
    """Only the revision of a referenced subject counts, or shared types could not be used by two at once."""
    target = registered(stores.catalog, BASE)
    seen = head(stores.catalog, BASE)
    for id, subject in ((2, ORDERS), (3, PAYMENTS)):
        change = a_registered(Head(subject), id=id, text=str(id), targets=(a_target(BASE, target),), seen=(seen,))
        stores.catalog.commit(change)
    assert head(stores.catalog, BASE) == replace(seen, referred=2)


def test_references_within_a_subject_are_counted_in_its_own_head(catalog: Catalog) -> None:
    """One commit, one revision, one more reference."""
    registered(catalog, ORDERS)
    refer(catalog, ORDERS, ORDERS, id=2)
    assert (head(catalog).revision, head(catalog).referred) == (2, 1)


def test_one_content_has_one_live_id(stores: Stores) -> None:
    """Two writers with one text and two drawn ids: the second has to take the first one's."""
    registered(stores.catalog, ORDERS, id=1, text="t")
    refused(stores, a_registered(Head(PAYMENTS), id=2, text="t"))
    stores.catalog.commit(a_registered(Head(PAYMENTS), id=1, text="t"))
    stores.catalog.commit(a_registered(Head(a_subject(context=".eu")), id=2, text="t"))


def test_an_import_may_give_a_content_a_second_id(catalog: Catalog) -> None:
    """As the registry it comes from had it."""
    registered(catalog, ORDERS, id=1, text="t")
    registered(catalog, ORDERS, id=5, text="t", imported=True)
    assert [len(catalog.holders(BodyKey(".", SchemaId(id)))) for id in (1, 5)] == [1, 1]


def test_a_buried_id_comes_back_by_import_alone(stores: Stores) -> None:
    """It may stand in records of Kafka, so it is never drawn again."""
    registered(stores.catalog, ORDERS, id=1, text="t")
    delete(stores.catalog)
    stores.catalog.commit(VersionPurged(head(stores.catalog), stores.catalog.history(ORDERS)[0], NOW, a_nonce()))
    refused(stores, a_registered(head(stores.catalog), id=1, text="t"))
    brought = a_registered(head(stores.catalog), id=1, text="t", imported=True)
    refused(stores, replace(brought, lives=True))  # whoever has brought it took it to live
    stores.catalog.commit(brought)
    stores.catalog.commit(a_registered(Head(PAYMENTS), id=1, text="t"))
    assert stores.catalog.id_of(".", a_guid("t")) == 1


def test_what_a_registration_supersedes_goes_in_the_same_commit(stores: Stores) -> None:
    """The id stays held, so it is not buried."""
    catalog = stores.catalog
    old = registered(catalog, ORDERS, id=1, text="t", digests=("d",))
    delete(catalog)
    change = a_registered(head(catalog), id=1, text="t", digests=("d",), purged=(old,))
    assert catalog.commit(change) == ()
    assert catalog.history(ORDERS) == (change.row,)
    assert [holder.version for holder in catalog.holders(ONE)] == [2]
    assert catalog.candidates(ORDERS, ["d"]) == (change.row,)


def test_a_superseded_version_that_was_referenced_meanwhile_stays(stores: Stores) -> None:
    """Whoever removes compares the references too."""
    old = registered(stores.catalog, ORDERS, id=1, text="t")
    delete(stores.catalog)
    seen = head(stores.catalog)
    refer(stores.catalog, PAYMENTS, ORDERS, id=2)
    refused(stores, a_registered(seen, id=1, text="t", purged=(old,)))


def test_an_import_overwrites_a_version(catalog: Catalog) -> None:
    """All that was known of the old version goes but what its id meant; its number stays."""
    registered(catalog, BASE, id=3)
    registered(catalog, ORDERS, id=1, digests=("d",))
    change = a_registered(head(catalog), id=2, text="text 2", version=1, imported=True)
    assert catalog.commit(change) == ()
    assert catalog.history(ORDERS) == (change.row,)
    assert catalog.holders(ONE) == ()
    assert catalog.candidates(ORDERS, ["d"]) == ()
    assert (head(catalog).highest, head(catalog).newest) == (1, change.row)


def test_an_import_may_say_that_a_version_is_deleted_and_that_it_is_active_again(catalog: Catalog) -> None:
    """With the times of another registry: the newest is another one then, and the subject is in other lists."""
    first, second = registered(catalog, ORDERS, id=1), registered(catalog, ORDERS, id=2)

    def say(row: Row, **said: Any) -> Row:
        seen = head(catalog)
        change = replace(
            a_registered(seen, id=row.id, imported=True), row=replace(row, revision=seen.revision + 1, **said)
        )
        assert catalog.commit(change) == ()
        return change.row

    second = say(second, deleted=True, ts=NOW + 5)
    assert catalog.history(ORDERS) == (first, second)
    assert (head(catalog).highest, head(catalog).newest) == (2, first)
    first = say(first, deleted=True, ts=NOW + 6)
    assert (head(catalog).highest, head(catalog).newest) == (2, None)
    assert list(catalog.subjects(EVERYWHERE, Show.ACTIVE)) == []
    assert list(catalog.subjects(EVERYWHERE, Show.ALL)) == [ORDERS]
    first = say(first, deleted=False, ts=NOW)
    assert (head(catalog).newest, catalog.history(ORDERS)) == (first, (first, second))
    assert list(catalog.subjects(EVERYWHERE, Show.ACTIVE)) == [ORDERS]
    assert [(each.version, each.deleted) for each in catalog.holders(ONE)] == [(1, False)]


def test_the_journal_tells_what_an_import_says_of_a_version(stores: Stores) -> None:
    """An export of it is read by other registries, with the version's own time."""
    row = registered(stores.catalog, ORDERS, id=1)
    seen = head(stores.catalog)
    said = replace(row, revision=seen.revision + 1, deleted=True, ts=NOW - 5)
    stores.catalog.commit(replace(a_registered(seen, id=1, imported=True), row=said))
    rows: list[Any] = [row["entries"] for _, row in stores.journal.read()]
    assert [(entry["deleted"], entry["ts"]) for entry in rows[-1]] == [(True, NOW - 5)]


def test_a_name_that_no_store_can_hold_is_refused(catalog: Catalog) -> None:
    """700 encoded bytes are the limit."""
    catalog.commit(a_registered(Head(a_subject("x" * 700))))
    with pytest.raises(InvalidSubject):
        catalog.commit(a_registered(Head(a_subject("x" * 701))))


# --- deleting --------------------------------------------------------------------------------------------------------


def test_a_deleted_version_is_marked_with_the_time_of_the_delete(catalog: Catalog) -> None:
    """And with the revision that wrote it; the highest number stays, the newest goes back."""
    first, second = registered(catalog, ORDERS, id=1), registered(catalog, ORDERS, id=2)
    catalog.commit(VersionDeleted(head(catalog), second, NOW + 7, "n"))
    assert catalog.history(ORDERS) == (first, replace(second, deleted=True, ts=NOW + 7, revision=3))
    now = head(catalog)
    assert (now.revision, now.highest, now.newest, now.nonce) == (3, 2, first, "n")


def test_a_deleted_subject_keeps_its_rows_and_their_times(catalog: Catalog) -> None:
    """Rows below the mark are marked, nothing else about them changes."""
    rows = [registered(catalog, ORDERS, id=id) for id in (1, 2, 3)]
    delete(catalog, version=3)
    third = catalog.history(ORDERS)[2]
    catalog.commit(SubjectDeleted(head(catalog), Version(2), NOW + 7, a_nonce()))
    assert catalog.history(ORDERS) == (replace(rows[0], deleted=True), replace(rows[1], deleted=True), third)
    assert head(catalog).newest is None
    assert head(catalog).highest == 3


def test_a_purged_version_frees_its_number_at_the_top(catalog: Catalog) -> None:
    """The highest is the highest that is stored."""
    for id in (1, 2):
        registered(catalog, ORDERS, id=id)
    delete(catalog, version=2)
    purged = catalog.commit(VersionPurged(head(catalog), catalog.history(ORDERS)[1], NOW, a_nonce()))
    assert purged == (BodyKey(".", SchemaId(2)),)
    assert head(catalog).highest == 1
    assert head(catalog).generation == 0


def test_an_id_with_another_holder_is_not_buried(catalog: Catalog) -> None:
    """Another holder still answers for it."""
    for subject in (ORDERS, PAYMENTS):
        registered(catalog, subject, text="t")
    delete(catalog)
    assert catalog.commit(VersionPurged(head(catalog), catalog.history(ORDERS)[0], NOW, a_nonce())) == ()
    assert [holder.subject for holder in catalog.holders(ONE)] == [PAYMENTS]


@pytest.mark.parametrize("whole", [True, False])
def test_with_the_last_version_go_the_settings(catalog: Catalog, whole: bool) -> None:
    """A purge leaves nothing; what others saw of the settings is out of date."""
    catalog.commit(ConfigChanged(ORDERS, Settings(), Config(level="FULL"), NOW, "n1"))
    seen = catalog.snapshot(ORDERS).chain.own
    registered(catalog, ORDERS)
    delete(catalog)
    rows = catalog.history(ORDERS)
    catalog.commit(
        SubjectPurged(head(catalog), rows, NOW, "n2") if whole else VersionPurged(head(catalog), rows[0], NOW, "n2")
    )
    assert catalog.snapshot(ORDERS).chain.own == Settings(None, None, "n2")
    assert list(catalog.settings(EVERYWHERE)) == []
    with pytest.raises(Conflict):
        catalog.commit(ConfigChanged(ORDERS, seen, None, NOW, "n3"))


def test_a_purged_subject_begins_a_new_generation(catalog: Catalog) -> None:
    """Nothing of it is stored, its numbers begin anew, and its ids are buried."""
    refer_to = registered(catalog, BASE, id=9)
    for id in (1, 2):
        seen = (head(catalog, BASE),)
        registered(catalog, ORDERS, id=id, digests=("d",), targets=(a_target(BASE, refer_to),), seen=seen)
    catalog.commit(SubjectDeleted(head(catalog), Version(2), NOW, a_nonce()))
    buried = catalog.commit(SubjectPurged(head(catalog), catalog.history(ORDERS), NOW, "n"))
    assert sorted(buried, key=lambda key: key.id) == [ONE, BodyKey(".", SchemaId(2))]
    assert head(catalog) == Head(ORDERS, revision=4, generation=1, nonce="n")
    assert catalog.history(ORDERS) == catalog.candidates(ORDERS, ["d"]) == ()
    assert catalog.holders(ONE) == ()
    assert list(catalog.referrers(BASE)) == []
    assert catalog.id_of(".", a_guid("text 1")) is None
    assert registered(catalog, ORDERS, id=3).version == 1


DELETIONS: dict[str, Callable[[Head, Catalog], Change]] = {
    "version": lambda seen, catalog: VersionDeleted(seen, catalog.history(ORDERS)[1], NOW, "n"),
    "subject": lambda seen, _: SubjectDeleted(seen, Version(2), NOW, "n"),
    "version purged": lambda seen, catalog: VersionPurged(seen, catalog.history(ORDERS)[0], NOW, "n"),
    "subject purged": lambda seen, catalog: SubjectPurged(seen, catalog.history(ORDERS), NOW, "n"),
}


@pytest.mark.parametrize("kind", DELETIONS)
@pytest.mark.parametrize("moved", ["by a registration", "by a new referrer"])
def test_a_delete_rests_on_what_it_saw(stores: Stores, kind: str, moved: str) -> None:
    """A version that another writer began to reference meanwhile must not go."""
    catalog = stores.catalog
    for id in (1, 2):
        registered(catalog, ORDERS, id=id)
    delete(catalog)
    seen = head(catalog)
    if moved == "by a registration":
        registered(catalog, ORDERS, id=3)
    else:
        refer(catalog, PAYMENTS, ORDERS, id=3)
    refused(stores, DELETIONS[kind](seen, catalog))
    catalog.commit(DELETIONS[kind](head(catalog), catalog))


def test_a_refused_commit_draws_no_conclusions(stores: Stores) -> None:
    """After a conflict the same writer asks again and wins."""
    seen = head(stores.catalog)
    stores.catalog.commit(a_registered(seen, id=1))
    refused(stores, replace(a_registered(seen, id=2), row=a_row(1, 2, "u")))
    stores.catalog.commit(a_registered(head(stores.catalog), id=2, text="u"))
    assert len(stores.catalog.history(ORDERS)) == 2
