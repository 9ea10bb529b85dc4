"""The table: whole answers, patience, and a time for each transaction that puts the journal in order."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sigla.aws.clients import Clients
from sigla.errors import Conflict, OutcomeUnknown, StoreError
from sigla.model import BodyKey, SchemaId
from sigla.registry import Registry
from sigla.stores.dynamodb.actions import ABSENT, delete, equals, put, update
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.table import FAULTS, LONGEST_PAUSE_S, PATIENCE_MS, TRIES, Cancelled, Table
from sigla.stores.dynamodb.values import packed, unpacked
from tests.build import NOW, FixedClock, a_draft, a_registered, a_subject, registered
from tests.contract.aws import Account, AwsStores
from tests.contract.engines import REGION
from tests.functions.unwell import FAILING, REFUSING, THROTTLING, unwell
from tests.unit.aws.faults import Fault, Faults, no_fault, once

ORDERS = a_subject()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def table(stores: AwsStores, clock: FixedClock) -> Table:
    return Table(stores.dynamodb, stores.table, clock)


class HalfAnswering:
    """A client that leaves the second half of every batch undone."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - DynamoDB's name
        ((table, asked),) = RequestItems.items()
        half = (len(asked["Keys"]) + 1) // 2
        answer = self._client.batch_get_item(RequestItems={table: asked | {"Keys": asked["Keys"][:half]}})
        left = asked["Keys"][half:]
        return answer | {"UnprocessedKeys": {table: asked | {"Keys": left}} if left else {}}

    def batch_write_item(self, *, RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - DynamoDB's name
        ((table, asked),) = RequestItems.items()
        half = (len(asked) + 1) // 2
        self._client.batch_write_item(RequestItems={table: asked[:half]})
        return {"UnprocessedItems": {table: asked[half:]} if asked[half:] else {}}


@pytest.mark.parametrize("name", ["number", "type", "known_form", "seen_count"])
def test_no_attribute_is_written_with_the_value_of_a_condition(table: Table, name: str) -> None:
    """Each update rests on the form that its item has, and most on what was seen: their values have names as well."""
    table.update(update(("p", "s"), {name: 7, "count": 1}))
    table.update(update(("p", "s"), {name: 8}, when=equals(count=1)))
    found = table.get(("p", "s"))
    assert found is not None
    assert found[name] == 8


def test_what_a_batch_leaves_undone_is_asked_for_again(stores: AwsStores, clock: FixedClock) -> None:
    """More than a hundred keys, more than twenty-five writes, and a service that does half of each."""
    table = Table(HalfAnswering(stores.dynamodb), stores.table, clock)
    keys = [("p", f"{number:03}") for number in range(150)]
    table.write_all([put(key, {"number": number}) for number, key in enumerate(keys)])
    found = table.get_many(keys)
    assert [found[key]["number"] for key in keys] == list(range(150))
    assert clock.slept


def test_a_query_reads_page_after_page_as_they_are_wanted(stores: AwsStores, table: Table) -> None:
    """A small page first, then larger ones; none that was not asked for."""
    table.write_all([put(("p", f"{number:03}"), {"number": number}) for number in range(50)])
    before = stores.clients.calls.read()["Query"]
    rows = table.query("p", page=4)
    assert [next(rows)["number"] for _ in range(4)] == [0, 1, 2, 3]
    assert stores.clients.calls.read()["Query"] == before + 1
    assert [row["number"] for row in rows] == list(range(4, 50))
    assert stores.clients.calls.read()["Query"] == before + 3
    assert [row["number"] for row in table.query("p", descending=True)][:2] == [49, 48]


@pytest.mark.parametrize("fault, kind", [(Fault.THROTTLED, StoreError), (Fault.UNDECIDED, Conflict)])
def test_a_busy_service_is_asked_again_with_pauses_and_then_given_up(
    stores: AwsStores, table: Table, clock: FixedClock, fault: Fault, kind: type[StoreError]
) -> None:
    """Nothing is written then, and that is known. Whoever lost to others alone may ask and decide again."""
    faults = Faults(stores.clients.dynamodb, lambda _: fault)
    with pytest.raises(StoreError, match="busy") as given_up:
        table.transact([put(("p", "s"), {})])
    assert type(given_up.value) is kind
    assert len(clock.slept) == TRIES
    faults.plan = once(lambda _: True, fault)
    table.transact([put(("p", "s"), {})])
    faults.plan = no_fault
    assert table.get(("p", "s")) == {"pk": "p", "sk": "s", "form": 1}


@pytest.mark.parametrize("way, tries", [(THROTTLING, TRIES), (FAILING, FAULTS), (REFUSING, FAULTS)])
def test_a_service_that_is_unwell_is_asked_as_often_as_was_budgeted(
    monkeypatch: pytest.MonkeyPatch, way: str, tries: int
) -> None:
    """By us alone: were the client to try again as well, a busy table would be asked three times as often."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    clock = FixedClock()
    with unwell(way) as patient, closing(Clients(region=REGION, dynamodb_endpoint=patient.endpoint)) as clients:
        with pytest.raises(StoreError) as refused:
            Table(clients.dynamodb, "t", clock).get(("p", "s"))
        assert "reached max retries" not in str(refused.value)
        assert patient.asked == (0 if way == REFUSING else tries)
        assert clients.calls.read() == {"BatchGetItem": tries}
    assert sum(clock.slept) <= PATIENCE_MS / 1000 + LONGEST_PAUSE_S


class Crowded:
    """A client whose transactions are refused at first, for these reasons: DynamoDB's engine does not know them."""

    def __init__(self, client: Any, *reasons: str, code: str = "TransactionCanceledException") -> None:
        self._client, self._reasons, self._code, self._left = client, reasons, code, TRIES

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, **arguments: Any) -> Any:
        if not self._left:
            return self._client.transact_write_items(**arguments)
        self._left -= 1
        error = {"Code": self._code, "Message": "planned"}
        reasons = [{"Code": reason} for reason in self._reasons]
        raise ClientError({"Error": error, "CancellationReasons": reasons}, "TransactWriteItems")


def test_who_loses_to_others_all_the_time_asks_and_decides_again(stores: AwsStores) -> None:
    """Many writers of one row, as the count of a context, starve some: they are late, and do not fail."""
    clock = FixedClock()
    crowded = Crowded(stores.dynamodb, "None", "TransactionConflict")
    catalog = AwsCatalog(crowded, stores.table, clock, registry=stores.registry)
    record = Registry(catalog, stores.bodies, clock).register(a_subject("o", ".c"), a_draft())
    assert (record.id, record.version) == (1, 1)
    catalog.close()


def test_who_is_too_fast_as_well_is_told_so(stores: AwsStores, clock: FixedClock) -> None:
    """To ask once more would make it worse."""
    table = Table(Crowded(stores.dynamodb, "TransactionConflict", "ThrottlingError"), stores.table, clock)
    with pytest.raises(StoreError) as given_up:
        table.transact([put(("p", "s"), {})])
    assert not isinstance(given_up.value, Conflict)


def test_a_transaction_of_which_an_earlier_try_is_under_way_has_an_unknown_outcome(
    stores: AwsStores, clock: FixedClock
) -> None:
    """Its answer was lost within the SDK, which asks again by itself."""
    table = Table(Crowded(stores.dynamodb, code="TransactionInProgressException"), stores.table, clock)
    with pytest.raises(OutcomeUnknown):
        table.transact([put(("p", "s"), {})])


def test_a_transaction_whose_answer_was_lost_is_done_once(stores: AwsStores, table: Table) -> None:
    """The second try has the token of the first one, which is answered as it should have been."""
    faults = Faults(stores.clients.dynamodb, once(lambda _: True, Fault.LOST))
    table.transact([put(("p", "s"), {"number": 1}, ABSENT)])
    faults.plan = no_fault
    assert table.get(("p", "s")) == {"pk": "p", "sk": "s", "form": 1, "number": 1}


def test_a_transaction_without_an_answer_has_an_unknown_outcome(forgetful: Account, clock: FixedClock) -> None:
    """After all tries; a condition that fails in a later try may be the work of an earlier one."""
    with forgetful.stores() as stores:
        table = Table(stores.dynamodb, stores.table, clock)
        faults = Faults(stores.clients.dynamodb, lambda _: Fault.SILENT)
        with pytest.raises(OutcomeUnknown):
            table.transact([put(("p", "s"), {})])
        faults.plan = once(lambda _: True, Fault.LOST)
        with pytest.raises(Cancelled) as cancelled:
            table.transact([put(("p", "s"), {"number": 1}, ABSENT)])
        faults.plan = no_fault
    assert cancelled.value.repeated
    assert list(cancelled.value.items) == [{"pk": "p", "sk": "s", "form": 1, "number": 1}]


def test_an_update_sets_removes_and_adds(table: Table) -> None:
    """Whatever the attribute is called."""
    table.transact([put(("p", "s"), {"at": 1, "name": "n", "count": 2})])
    table.transact([update(("p", "s"), {"at": 5, "name": None}, add={"count": -1})])
    assert table.get(("p", "s")) == {"pk": "p", "sk": "s", "form": 1, "at": 5, "count": 1}
    table.transact([delete(("p", "s"))])
    assert table.get(("p", "s")) is None


@pytest.mark.parametrize("text", ["short", "é" * 3_000, "x" * 100_000])
def test_what_is_packed_comes_back(text: str) -> None:
    """Long forms are compressed."""
    value = packed({"text": text})
    assert unpacked(value) == {"text": text}
    assert len(value) < 5_000


def by_the_clock_of(catalog: AwsCatalog, ts: int) -> Callable[[int], None]:
    def write(id: int) -> None:
        head = catalog.snapshot(ORDERS).head
        catalog.commit(a_registered(head, id=id, text=f"text {id}", ts=ts))

    return write


def test_the_journal_is_in_order_though_clocks_are_not(stores: AwsStores) -> None:
    """An instance whose clock is an hour behind writes after one whose clock is right."""
    with stores.another_catalog() as other:
        right, behind = by_the_clock_of(stores.catalog, NOW + 3_600_000), by_the_clock_of(other, NOW)
        for id in range(1, 7):
            (right if id % 2 else behind)(id)
    told = [row["entries"][0]["id"] for _, row in stores.journal.read()]  # type: ignore[index]  # a JSON-able mapping
    assert told == [1, 2, 3, 4, 5, 6]


def test_registries_in_one_table_do_not_see_each_other(stores: AwsStores) -> None:
    """A stack may share a table with others."""
    registered(stores.catalog, ORDERS, id=1)
    stranger = AwsCatalog(stores.dynamodb, stores.table, FixedClock(), registry=stores.registry + "x")
    assert stranger.history(ORDERS) == ()
    assert stranger.speaker(BodyKey(".", SchemaId(1))) is None
    assert stranger.max_id(".") == 0
