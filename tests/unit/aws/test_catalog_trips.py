"""How often the catalog asks DynamoDB, question by question, whatever the size. Whole verbs: test_trips.py."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from sigla.changes import ConfigChanged, Head, SubjectDeleted, SubjectPurged, VersionDeleted, VersionPurged
from sigla.model import LATEST, BodyKey, Config, SchemaId, Search, Settings, Version
from sigla.ports.subjects import VersionKey
from tests.build import NOW, a_guid, a_nonce, a_registered, a_subject, a_target, registered
from tests.contract.aws import Account, AwsStores

ORDERS, BASE, ABROAD = a_subject(), a_subject("base"), a_subject("orders-value", ".eu")


@pytest.fixture
def many(moto: Account) -> Iterator[AwsStores]:
    """A registry for many transactions, in each of which moto would copy its table."""
    with moto.stores() as made:
        yield made


def calls(stores: AwsStores, verb: Callable[[], Any]) -> dict[str, int]:
    before = stores.clients.calls.read()
    verb()
    after: Counter[str] = stores.clients.calls.read() - before
    return dict(after)


def test_a_question_is_one_batch_get(stores: AwsStores) -> None:
    """Heads, settings, versions, the latest, a guess: one trip for a known schema."""
    registered(stores.catalog, BASE, id=1)
    registered(stores.catalog, ORDERS, id=2)
    wanted = [VersionKey(BASE, Version(1)), VersionKey(ORDERS, LATEST), VersionKey(ABROAD, LATEST)]
    answers = []
    ask = partial(stores.catalog.snapshot, ORDERS, wanted=wanted, guess=a_guid("text 2"))
    assert calls(stores, lambda: answers.append(ask())) == {"BatchGetItem": 1}
    assert answers[0].known == 2
    assert len(answers[0].rows) == 2


def test_a_version_of_a_later_generation_costs_one_more_trip_once(stores: AwsStores) -> None:
    """The generation that was met is remembered."""
    catalog = stores.catalog
    row = registered(catalog, ORDERS)
    catalog.commit(SubjectDeleted(catalog.snapshot(ORDERS).head, row.version, NOW, a_nonce()))
    catalog.commit(SubjectPurged(catalog.snapshot(ORDERS).head, (row,), NOW, a_nonce()))
    row = registered(catalog, ORDERS, id=2)
    first = VersionKey(ORDERS, Version(1))
    with stores.another_catalog() as fresh:
        assert calls(stores, lambda: fresh.snapshot(ORDERS, wanted=[first])) == {"BatchGetItem": 2}
        assert calls(stores, lambda: fresh.snapshot(ORDERS, wanted=[first])) == {"BatchGetItem": 1}
        assert fresh.snapshot(ORDERS, wanted=[first]).rows == {first: row}


def test_a_new_version_is_one_transaction(stores: AwsStores) -> None:
    """With its references; the first subject of a named context looks whether the context is listed."""
    catalog = stores.catalog
    base = registered(catalog, BASE, id=1)
    seen = catalog.snapshot(BASE).head
    change = a_registered(Head(ORDERS), id=2, text="t", targets=(a_target(BASE, base),), seen=(seen,))
    assert calls(stores, lambda: catalog.commit(change)) == {"TransactWriteItems": 1}
    known = a_registered(catalog.snapshot(ORDERS).head, id=2, text="t")
    assert calls(stores, lambda: catalog.commit(known)) == {"TransactWriteItems": 1}
    abroad = a_registered(Head(ABROAD), id=1)
    assert calls(stores, lambda: catalog.commit(abroad)) == {"BatchGetItem": 1, "TransactWriteItems": 1}


def test_an_import_looks_at_what_it_may_overwrite(stores: AwsStores) -> None:
    """The version in its place, then who holds the ids."""
    change = a_registered(Head(ORDERS), id=7, imported=True)
    assert calls(stores, lambda: stores.catalog.commit(change)) == {"BatchGetItem": 2, "TransactWriteItems": 1}


def test_deletes_cost_a_transaction_and_a_look_where_they_need_one(stores: AwsStores) -> None:
    """The newest one's predecessor has to be found; a purge counts holders; a subject is one mark."""
    catalog = stores.catalog
    rows = [registered(catalog, ORDERS, id=id) for id in (1, 2, 3)]

    def commit(change: type, *facts: Any) -> dict[str, int]:
        made = change(catalog.snapshot(ORDERS).head, *facts, NOW, a_nonce())
        return calls(stores, lambda: catalog.commit(made))

    assert commit(VersionDeleted, rows[0]) == {"TransactWriteItems": 1}
    assert commit(VersionDeleted, rows[2]) == {"Query": 1, "TransactWriteItems": 1}
    assert commit(VersionPurged, rows[2]) == {"Query": 1, "BatchGetItem": 1, "TransactWriteItems": 1}
    assert commit(SubjectDeleted, Version(2)) == {"TransactWriteItems": 1}
    purge_and_sweep = {"Query": 3, "BatchGetItem": 1, "TransactWriteItems": 2}
    assert commit(SubjectPurged, tuple(rows[:2])) == purge_and_sweep


def test_reads_of_one_subject_are_one_query(stores: AwsStores) -> None:
    """Its history, and what a digest finds in it."""
    registered(stores.catalog, ORDERS, digests=("d",))
    assert calls(stores, lambda: stores.catalog.history(ORDERS)) == {"Query": 1}
    assert calls(stores, lambda: stores.catalog.candidates(ORDERS, ["d"])) == {"Query": 1}


def test_who_speaks_for_an_id_costs_the_same_for_hundreds(many: AwsStores) -> None:
    """A page of names, and the heads of these subjects."""
    key = BodyKey(".", SchemaId(1))
    for number in range(40):
        registered(many.catalog, a_subject(f"s{number:03}"), text="t")
    assert calls(many, lambda: many.catalog.speaker(key)) == {"Query": 1, "BatchGetItem": 1}
    speaker = many.catalog.speaker(key)
    assert speaker is not None
    assert speaker.subject == a_subject("s000")


def test_whether_one_subject_speaks_costs_no_more_than_that(stores: AwsStores) -> None:
    """Its rows of the id, then its head, and beside that whether it is only another name; one call if it has none."""
    registered(stores.catalog, ORDERS)
    key = BodyKey(".", SchemaId(1))
    assert calls(stores, lambda: stores.catalog.speaker(key, ORDERS)) == {"Query": 1, "BatchGetItem": 1}
    assert calls(stores, lambda: stores.catalog.speaker(key, BASE)) == {"Query": 1}


def test_who_speaks_is_found_behind_many_deleted_ones(many: AwsStores) -> None:
    """Also where a page ends in the middle of a subject: its version written last."""
    catalog, key = many.catalog, BodyKey(".", SchemaId(1))
    for number in range(15):
        row = registered(catalog, a_subject(f"s{number:03}"), text="t")
        catalog.commit(SubjectDeleted(catalog.snapshot(a_subject(f"s{number:03}")).head, row.version, NOW, a_nonce()))
    for _ in range(3):
        registered(catalog, a_subject("s100"), text="t")
    speaker = catalog.speaker(key)
    assert speaker is not None
    assert (speaker.subject, speaker.version) == (a_subject("s100"), 3)


def test_settings_cost_a_transaction_and_a_list_sixteen_queries(stores: AwsStores) -> None:
    """One for each shard, side by side, however short the list is. Contexts with names lie within the default one."""
    change = ConfigChanged(ORDERS, Settings(), Config(level="FULL"), NOW, "n")
    assert calls(stores, lambda: stores.catalog.commit(change)) == {"TransactWriteItems": 1}
    assert calls(stores, lambda: list(stores.catalog.settings(Search()))) == {"Query": 2}
    assert calls(stores, lambda: list(stores.catalog.settings(Search(context=".eu")))) == {"Query": 1}
    assert calls(stores, lambda: list(stores.catalog.subjects(Search()))) == {"Query": 32}
    assert calls(stores, lambda: list(stores.catalog.subjects(Search(name_prefix="a")))) == {"Query": 16}


def test_counters_are_one_call(stores: AwsStores) -> None:
    """An id is drawn outside any transaction."""
    assert calls(stores, lambda: stores.catalog.next_id(".")) == {"UpdateItem": 1}
    assert calls(stores, lambda: stores.catalog.raise_counter(".", SchemaId(5))) == {"UpdateItem": 1}
    assert calls(stores, lambda: stores.catalog.max_id(".")) == {"BatchGetItem": 1}
