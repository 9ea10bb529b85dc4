"""What a catalog answers about one subject, one id and the counters."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import pytest

from sigla.changes import ConfigChanged, Head, ModeChanged, SubjectDeleted, SubjectPurged, VersionDeleted
from sigla.errors import IdsExhausted
from sigla.model import (
    GLOBAL,
    LATEST,
    REGISTRY_WIDE,
    BodyKey,
    Config,
    Holder,
    Reference,
    SchemaId,
    Settings,
    Subject,
    Version,
)
from sigla.ports.catalog import Catalog
from sigla.ports.subjects import VersionKey
from tests.build import NOW, a_guid, a_nonce, a_registered, a_subject, registered
from tests.contract.observing import delete, head

T = TypeVar("T")

ORDERS = a_subject()
PAYMENTS = a_subject("payments-value")
ELSEWHERE = a_subject(context=".eu")


def in_another_thread(ask: Callable[[], T]) -> T:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ask).result()


# --- state -----------------------------------------------------------------------------------------------------------


def test_a_state_never_outlives_a_change(catalog: Catalog) -> None:
    """A memory that has an answer looks at it first: where others write, too, it cannot look at any."""
    seen = {catalog.state}
    for number in range(1, 4):
        registered(catalog, ORDERS, id=number)
        assert catalog.state is None or catalog.state not in seen
        seen.add(catalog.state)
        catalog.snapshot(ORDERS)
        assert catalog.state in seen
    catalog.raise_counter(".", SchemaId(100))
    assert catalog.state is None or catalog.state not in seen


# --- snapshot --------------------------------------------------------------------------------------------------------


def test_a_subject_never_heard_of_has_a_head_of_zeros(catalog: Catalog) -> None:
    """The first registration begins from it."""
    snapshot = catalog.snapshot(ORDERS)
    assert snapshot.head == Head(ORDERS)
    assert snapshot.heads == {ORDERS: Head(ORDERS)}
    assert snapshot.known is None


def test_a_head_shows_the_last_commit(catalog: Catalog) -> None:
    """Revision, nonce and the newest row are what the next decision rests on."""
    change = a_registered(Head(ORDERS))
    catalog.commit(change)
    assert catalog.snapshot(ORDERS).head == Head(ORDERS, revision=1, highest=1, newest=change.row, nonce=change.nonce)


def test_a_row_comes_back_as_it_was_written(catalog: Catalog) -> None:
    """References and times included."""
    change = a_registered(Head(ORDERS), id=77, ts=NOW + 3)
    row = replace(change.row, type="JSON", references=(Reference("money", "payments-value", Version(3)),))
    catalog.commit(replace(change, row=row))
    assert catalog.history(ORDERS) == (row,)


def test_a_snapshot_holds_the_versions_asked_for(catalog: Catalog) -> None:
    """By the key they were asked by; what is not stored is absent, what is soft-deleted is there."""
    first, second = registered(catalog, ORDERS), registered(catalog, ORDERS, id=2)
    catalog.commit(VersionDeleted(catalog.snapshot(ORDERS).head, first, NOW + 5, a_nonce()))
    wanted = [VersionKey(ORDERS, Version(1)), VersionKey(ORDERS, LATEST), VersionKey(PAYMENTS, Version(1))]
    snapshot = catalog.snapshot(ORDERS, wanted=wanted)
    assert snapshot.rows.keys() == set(wanted[:2])
    assert snapshot.rows[wanted[0]].deleted
    assert snapshot.rows[wanted[1]] == second


def test_a_snapshot_holds_the_head_of_every_subject_named(catalog: Catalog) -> None:
    """References are checked against them."""
    registered(catalog, PAYMENTS)
    asked = [VersionKey(PAYMENTS, LATEST), VersionKey(ELSEWHERE, Version(7))]
    heads = catalog.snapshot(ORDERS, wanted=asked).heads
    assert heads.keys() == {ORDERS, PAYMENTS, ELSEWHERE}
    assert heads[PAYMENTS].revision == 1
    assert heads[ELSEWHERE] == Head(ELSEWHERE)


def test_a_guess_is_answered_within_the_subjects_context(catalog: Catalog) -> None:
    """An id means something in its context alone."""
    registered(catalog, ORDERS, id=7, text="t")
    assert catalog.snapshot(PAYMENTS, guess=a_guid("t")).known == 7
    assert catalog.snapshot(PAYMENTS, guess=a_guid("other")).known is None
    assert catalog.snapshot(ELSEWHERE, guess=a_guid("t")).known is None


def test_the_settings_of_a_subject_in_a_named_context_come_from_four_places(catalog: Catalog) -> None:
    """Own, its context's, the default context's, everybody's."""
    scopes = [ELSEWHERE, Subject(".eu", ""), GLOBAL, REGISTRY_WIDE]
    for number, scope in enumerate(scopes):
        catalog.commit(ConfigChanged(scope, Settings(), Config(group=f"g{number}"), NOW, f"n{number}"))
    chain = catalog.snapshot(ELSEWHERE).chain
    found = [chain.own, chain.context, chain.default, chain.registry_wide]
    assert found == [Settings(Config(group=f"g{number}"), None, f"n{number}") for number in range(4)]


def test_the_context_of_a_default_subject_is_the_global_entry(catalog: Catalog) -> None:
    """The default context has no entry beside it."""
    catalog.commit(ModeChanged(GLOBAL, Settings(), "READONLY", NOW, "n"))
    chain = catalog.snapshot(ORDERS).chain
    assert chain.context == chain.default == Settings(None, "READONLY", "n")
    assert catalog.snapshot(ELSEWHERE).chain.context == Settings()


# --- versions of a subject -------------------------------------------------------------------------------------------


def test_a_history_is_ascending_and_whole(catalog: Catalog) -> None:
    """Soft-deleted versions are part of it."""
    rows = [registered(catalog, ORDERS, id=number) for number in range(1, 12)]
    catalog.commit(VersionDeleted(catalog.snapshot(ORDERS).head, rows[4], NOW, a_nonce()))
    history = catalog.history(ORDERS)
    assert [row.version for row in history] == list(range(1, 12))
    assert [row.version for row in history if row.deleted] == [5]
    assert catalog.history(PAYMENTS) == ()


def test_candidates_are_found_by_any_of_their_digests(catalog: Catalog) -> None:
    """Descending, each once, soft-deleted ones included, of this subject alone."""
    first = registered(catalog, ORDERS, id=1, digests=("a", "b"))
    registered(catalog, ORDERS, id=2, digests=("c",))
    registered(catalog, ORDERS, id=3, digests=("b",))
    registered(catalog, PAYMENTS, id=4, digests=("a",))
    catalog.commit(VersionDeleted(catalog.snapshot(ORDERS).head, first, NOW, a_nonce()))
    assert [row.version for row in catalog.candidates(ORDERS, ["a", "b"])] == [3, 1]
    assert catalog.candidates(ORDERS, ["z"]) == ()
    assert catalog.candidates(ORDERS, []) == ()


# --- ids -------------------------------------------------------------------------------------------------------------


def test_a_content_has_the_id_it_was_last_written_under(catalog: Catalog) -> None:
    """An import may give one content two ids."""
    registered(catalog, ORDERS, id=1, text="t")
    registered(catalog, PAYMENTS, id=9, text="t", imported=True)
    assert catalog.id_of(".", a_guid("t")) == 9
    assert catalog.id_of(".eu", a_guid("t")) is None
    assert catalog.standing(a_guid("t")) == 9


def test_many_contents_are_asked_for_at_once(catalog: Catalog) -> None:
    """What is not known is left out; more than a store answers in one call are asked for in several."""
    for id in range(1, 4):
        registered(catalog, a_subject(f"s{id}"), id=id, text=f"t{id}")
    registered(catalog, a_subject("eu", ".eu"), id=1, text="t9")
    guids = [a_guid(f"t{number}") for number in range(250)]
    assert catalog.ids_of(".", guids) == {a_guid(f"t{id}"): id for id in range(1, 4)}
    assert catalog.ids_of(".eu", guids) == {a_guid("t9"): 1}
    assert catalog.ids_of(".", []) == {}


def test_what_only_a_named_context_has_stands_for_nothing_in_the_default_one(catalog: Catalog) -> None:
    """A reader that asks by GUID goes on to look for it by the bodies."""
    registered(catalog, a_subject("orders", ".eu"), id=1, text="t")
    assert catalog.standing(a_guid("t")) is None


def test_a_content_keeps_its_other_id_when_the_last_one_is_lost(catalog: Catalog) -> None:
    """Or the next registration would give it one more."""
    registered(catalog, ORDERS, id=1, text="t")
    registered(catalog, PAYMENTS, id=9, text="t", imported=True)
    catalog.commit(SubjectPurged(head(catalog, PAYMENTS), catalog.history(PAYMENTS), NOW, a_nonce()))
    assert catalog.id_of(".", a_guid("t")) == 1
    assert catalog.holders(BodyKey(".", SchemaId(9))) == ()


def test_the_smallest_subject_in_which_an_id_is_active_speaks_for_it(catalog: Catalog) -> None:
    """Where it is active nowhere, the smallest of all; without a holder, none."""
    key = BodyKey(".", SchemaId(1))
    assert catalog.speaker(key) is None
    for name in ("c", "b", "a"):
        registered(catalog, a_subject(name), text="t")
    registered(catalog, a_subject("b"), text="t")
    assert spoken(catalog, key) == ("a", 1, False)
    delete(catalog, a_subject("a"))
    assert spoken(catalog, key) == ("b", 2, False)
    for name, version in (("b", 1), ("b", 2), ("c", 1)):
        delete(catalog, a_subject(name), version)
    assert spoken(catalog, key) == ("a", 1, True)


def spoken(catalog: Catalog, key: BodyKey) -> tuple[str, int, bool]:
    speaker = catalog.speaker(key)
    assert speaker is not None
    return speaker.subject.name, speaker.version, speaker.deleted


def test_one_subjects_holders_are_its_own_versions(catalog: Catalog) -> None:
    """Soft-deleted ones included."""
    for name in ("a", "ab"):
        registered(catalog, a_subject(name), text="t")
        registered(catalog, a_subject(name), text="t")
    delete(catalog, a_subject("a"), 2)
    held = catalog.holders(BodyKey(".", SchemaId(1)), a_subject("a"))
    assert [(each.subject.name, each.version, each.deleted) for each in held] == [("a", 1, False), ("a", 2, True)]


def test_holders_are_ordered_by_subject_then_version(catalog: Catalog) -> None:
    """UTF-16 code units: an emoji (a surrogate pair) comes before U+FF5E."""
    names = ["\uff5e", "\U0001f600", "b", "B", "é"]
    for name in names:
        registered(catalog, a_subject(name), text="t")
    registered(catalog, a_subject("b"), text="t")
    holders = catalog.holders(BodyKey(".", SchemaId(1)))
    assert [(each.subject.name, each.version) for each in holders] == [
        ("B", 1), ("b", 1), ("b", 2), ("é", 1), ("\U0001f600", 1), ("\uff5e", 1)
    ]  # fmt: skip


def test_a_holder_tells_what_its_row_tells(catalog: Catalog) -> None:
    """Whether deleted, when, and by which revision."""
    row = registered(catalog, ORDERS)
    catalog.commit(VersionDeleted(catalog.snapshot(ORDERS).head, row, NOW + 9, a_nonce()))
    key = BodyKey(".", SchemaId(1))
    assert catalog.holders(key) == (Holder(ORDERS, Version(1), deleted=True, ts=NOW + 9, revision=2),)
    assert catalog.holders(BodyKey(".eu", SchemaId(1))) == ()


def test_holders_follow_every_commit(catalog: Catalog) -> None:
    """Also where an answer is remembered: before, between and after."""
    key = BodyKey(".", SchemaId(1))
    registered(catalog, ORDERS, text="t")
    assert len(catalog.holders(key)) == 1
    registered(catalog, PAYMENTS, text="t")
    assert len(catalog.holders(key)) == 2
    catalog.commit(SubjectDeleted(catalog.snapshot(ORDERS).head, Version(1), NOW, a_nonce()))
    assert [each.deleted for each in catalog.holders(key)] == [True, False]


# --- counters --------------------------------------------------------------------------------------------------------


def test_ids_count_from_one_in_each_context(catalog: Catalog) -> None:
    """Contexts do not share numbers."""
    assert catalog.max_id(".") == 0
    assert [catalog.next_id("."), catalog.next_id("."), catalog.next_id(".eu")] == [1, 2, 1]
    assert (catalog.max_id("."), catalog.max_id(".eu")) == (2, 1)


def test_a_raised_counter_goes_on_from_there(catalog: Catalog) -> None:
    """Imports raise it; lowering it has no effect."""
    catalog.raise_counter(".", SchemaId(10))
    catalog.raise_counter(".", SchemaId(5))
    assert catalog.max_id(".") == 10
    assert catalog.next_id(".") == 11


def test_no_id_is_given_out_twice(catalog: Catalog) -> None:
    """A caller that asks at the same time gets another number."""
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: catalog.next_id("."), range(64)))
    assert len(set(ids)) == 64
    assert catalog.max_id(".") == max(ids)


def test_the_last_id_is_two_to_the_31_minus_one(catalog: Catalog) -> None:
    """Clients read ids as signed 32-bit numbers."""
    catalog.raise_counter(".", SchemaId(2**31 - 2))
    assert catalog.next_id(".") == 2**31 - 1
    with pytest.raises(IdsExhausted):
        catalog.next_id(".")
    assert catalog.next_id(".eu") == 1


# --- reading one's own and everybody's writes ------------------------------------------------------------------------


def test_another_thread_sees_every_commit_that_returned(catalog: Catalog) -> None:
    """Read-your-writes for everybody, in every read."""
    key = BodyKey(".", SchemaId(1))
    assert in_another_thread(lambda: catalog.holders(key)) == ()
    seen = []
    read, written = threading.Barrier(2, timeout=10), threading.Barrier(2, timeout=10)

    def reader() -> None:
        for _ in range(20):
            written.wait()
            seen.append(
                (catalog.snapshot(ORDERS).head.revision, len(catalog.holders(key)), len(catalog.history(ORDERS)))
            )
            read.wait()

    thread = threading.Thread(target=reader)
    thread.start()
    for _ in range(20):
        registered(catalog, ORDERS, text="t")
        written.wait()
        read.wait()
    thread.join()
    assert seen == [(number, number, number) for number in range(1, 21)]
