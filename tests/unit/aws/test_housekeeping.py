"""What commits leave to others: rows to sweep, tombstones to put and to take away, whoever dies or gets in between."""

from contextlib import suppress
from typing import Any

import pytest

from sigla.errors import Refusal
from sigla.functions.journal import CUT_OFF_MS, LATE_MS, Unfinished
from sigla.functions.segments import OWNED_MS
from sigla.model import BodyKey, SchemaId
from sigla.stores.dynamodb import imports
from tests.attack.aws import Store, failing
from tests.attack.ports import At, Between, Call
from tests.attack.stories import HISTORY, ONE, config, delete, mode, purge, register
from tests.attack.test_threads import order
from tests.attack.world import Verb, World
from tests.build import NOW, FixedClock
from tests.contract.aws import Account, AwsStores
from tests.unit.aws.checking import check
from tests.unit.aws.faults import Fault, Killed
from tests.unit.aws.journaling import (
    as_streamed,
    at_any_call,
    check_told_once,
    event_of,
    follower,
    journal_rows,
    stores_of,
)

TRANSACTION = "dynamodb.transact_write_items"
SCHEDULE = {"source": "aws.events"}
SEVEN = BodyKey(".c", SchemaId(7))
BURIED = (
    mode(":.c:", "IMPORT"),
    register(":.c:orders", ONE, id=7, version=3),
    delete(":.c:orders", 3),
)
"""All but the permanent delete of the one version that holds id 7."""
BACK = register(":.c:other", ONE, id=7)

SOME_CALLS = pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.soak)])
"""A sample of all calls, of each kind that a verb repeats in turn; the others wait for the long attacks."""


def before(name: str) -> Between:
    """The process ends when it is about to make such a call."""

    def between(call: Call, carry_out: Any) -> Any:
        if call.name == name:
            raise Killed
        return carry_out()

    return between


def after(name: str, number: int = 1) -> Between:
    """The process ends when so many of these calls have succeeded."""
    done: list[Call] = []

    def between(call: Call, carry_out: Any) -> Any:
        answer = carry_out()
        if call.name == name:
            done.append(call)
            if len(done) == number:
                raise Killed
        return answer

    return between


def killed(world: World, verb: Verb, between: Between) -> None:
    """The process ends in the middle of it; its clock is ahead of what has happened."""
    world.clock.time += 1_000
    with pytest.raises(Killed):
        verb(world.registry_with(between))


def follow(stores: AwsStores, **options: Any) -> dict[str, Any]:
    """One invocation by a fresh instance, with every row of the table in its batch."""
    with follower(stores, **options) as one:
        return one(event_of(as_streamed(stores)))


# --- tombstones ------------------------------------------------------------------------------------------------------


def test_a_tombstone_that_its_writer_did_not_live_to_put_is_put(moto: Account) -> None:
    """The id was buried by the commit; until then its body told another story to those who read without the catalog."""
    with World(*BURIED, store=Store(moto)) as world:
        killed(world, purge(":.c:orders", 3), before("s3.put_object"))
        assert not world.store.bodies.get(SEVEN).gone
        follow(stores_of(world))
        assert world.store.bodies.get(SEVEN).gone
        assert follow(stores_of(world))["rows"] == 0
        check(stores_of(world))


def test_a_tombstone_is_taken_back_from_an_id_that_lives_again(moto: Account) -> None:
    """An import brought it back, and a writer that had known it buried put its tombstone late."""
    with World(*BURIED, purge(":.c:orders", 3), BACK, store=Store(moto)) as world:
        world.store.bodies.bury(SEVEN)
        follow(stores_of(world))
        assert not world.store.bodies.get(SEVEN).gone
        check(stores_of(world))


@SOME_CALLS
def test_an_import_between_any_two_calls_of_a_tombstone_ends_well(moto: Account, step: int) -> None:
    """Whatever is found first: when the stream has told of both, body and catalog say the same."""
    number, met = 0, True
    while met:
        with World(*BURIED, store=Store(moto)) as world:
            killed(world, purge(":.c:orders", 3), before("s3.put_object"))
            returned = At(number, lambda _, carry_out: (BACK(world.registry), carry_out())[1])
            follow(stores_of(world), between=returned)
            met = returned.acted
            # Also if the stream told of the import before: it is on another shard than the purge.
            assert world.store.bodies.get(SEVEN).gone != met
            _ends_well(world, alive=met)
        number += step
    assert number > 5


@SOME_CALLS
def test_a_tombstone_between_any_two_calls_of_an_import_ends_well(moto: Account, step: int) -> None:
    """The import revives the body, and is overtaken before it commits."""
    number, met = 0, True
    while met:
        with World(*BURIED, purge(":.c:orders", 3), store=Store(moto)) as world:
            overtaken = At(number, lambda _, carry_out: (follow(stores_of(world)), carry_out())[1])
            BACK(world.registry_with(overtaken))
            met = overtaken.acted
            _ends_well(world, alive=True)
        number += step
    assert number > 5


def _ends_well(world: World, *, alive: bool) -> None:
    """After the stream has brought the last change of the id."""
    follow(stores_of(world))
    assert world.store.bodies.get(SEVEN).gone != alive
    check(stores_of(world))
    world.check_sound(imported=True)


# --- sweeping --------------------------------------------------------------------------------------------------------


def test_a_large_subject_whose_purge_died_after_its_commit_is_swept(moto: Account) -> None:
    """Rows, holders and contents go, ids are buried, tombstones are put."""
    many = [register("orders", order(number)) for number in range(45)]
    with World(config("", level="NONE"), *many, delete("orders"), store=Store(moto)) as world:
        stores = stores_of(world)
        killed(world, purge("orders"), after(TRANSACTION))
        with pytest.raises(AssertionError, match="nobody swept"):
            check(stores)
        done = follow(stores)
        assert done["swept"] == 1
        assert done["settled"] >= 45
        check(stores)
        check_told_once(stores)


@SOME_CALLS
@pytest.mark.parametrize("fault", at_any_call(Fault.KILLED))
def test_a_failure_at_any_call_leaves_nothing_to_be_done_by_hand(moto: Account, fault: Fault, step: int) -> None:
    """Sweeping, tombstones and segments of one batch, which comes again."""
    number, met = 0, True
    while met:
        with World(*HISTORY, delete("orders"), store=Store(moto)) as world:
            stores = stores_of(world)
            killed(world, purge("orders"), after(TRANSACTION))
            disturbed = At(number, failing(fault))
            with suppress(Unfinished, Killed):
                follow(stores, clock=FixedClock(), between=disturbed)
            follow(stores, clock=FixedClock(NOW + OWNED_MS))
            met = disturbed.acted
            check(stores)
            check_told_once(stores)
        number += step
    assert number > 10


def test_a_sweep_that_is_cut_off_goes_on_when_the_batch_comes_again(moto: Account) -> None:
    """Its purge is told by no segment before."""
    many = [register("orders", order(number)) for number in range(25)]
    with World(config("", level="NONE"), *many, delete("orders"), store=Store(moto)) as world:
        stores = stores_of(world)
        killed(world, purge("orders"), after(TRANSACTION))
        with pytest.raises(Killed):
            # The first transaction is the claim of all other rows.
            follow(stores, between=after(TRANSACTION, 2))
        untold = [item for item in journal_rows(stores).values() if "segment" not in item]
        assert len(untold) == 1
        follow(stores)
        check(stores)
        check_told_once(stores)


def test_an_import_that_died_before_it_swept_is_swept(moto: Account) -> None:
    prepared = [verb for name in ("a", "b", ":.c:c") for verb in (register(name), delete(name))]
    with World(*prepared, store=Store(moto)) as world:
        stores = stores_of(world)
        killed(world, mode("", "IMPORT"), after(TRANSACTION, 2))
        done = follow(stores)
        assert done["swept"] == 3
        check(stores)
        check_told_once(stores)
        world.check_sound(imported=True)


def test_a_subject_that_cannot_be_swept_holds_up_nothing_but_its_own_purge(moto: Account) -> None:
    """The rest is done, then the batch fails; the schedule comes back to the row until it can be."""
    with World(*HISTORY, delete("orders"), store=Store(moto)) as world:
        stores, clock = stores_of(world), FixedClock()
        killed(world, purge("orders"), after(TRANSACTION))
        register("other")(world.registry)
        row = {"pk": {"S": f"{stores.registry}#s#_#orders"}, "sk": {"S": "V#0#0000000001"}}
        item = stores.dynamodb.get_item(TableName=stores.table, Key=row)["Item"]
        stores.dynamodb.put_item(TableName=stores.table, Item=item | {"row": {"S": "{"}})
        told: list[Any] = []
        with pytest.raises(Unfinished):
            follow(stores, clock=clock, told=told)
        assert [line["event"] for line in told] == ["journal", "failure"]
        untold = [at for (at, _), each in journal_rows(stores).items() if "segment" not in each]
        assert len(untold) == 1
        clock.time += 2 * LATE_MS
        with follower(stores, clock) as again:
            for _ in range(2):
                with pytest.raises(Unfinished):
                    again(SCHEDULE)
        stores.dynamodb.put_item(TableName=stores.table, Item=item)
        with follower(stores, clock) as again:
            done = again(SCHEDULE)
        assert (done["rows"], done["swept"]) == (1, 1)
        assert done["lag_ms"] == clock.time - untold[0]
        check(stores)
        check_told_once(stores)


# --- imports ---------------------------------------------------------------------------------------------------------


def test_an_import_that_was_cut_off_is_finished_by_the_schedule(moto: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of an hour later, when no invocation can be at it any more; not before."""
    monkeypatch.setattr(imports, "AT_ONCE", 2)
    prepared = [verb for number in range(3) for verb in (register(f":.c:s{number}"), delete(f":.c:s{number}"))]
    with World(*prepared, store=Store(moto)) as world:
        stores, clock = stores_of(world), FixedClock(NOW + 1_000 + CUT_OFF_MS)
        killed(world, mode(":.c:", "IMPORT"), after(TRANSACTION, 2))
        with follower(stores, clock) as follow:
            follow(SCHEDULE)
            with pytest.raises(AssertionError):
                check(stores)
            clock.time += 1_000
            follow(SCHEDULE)
            follow(SCHEDULE)
        check(stores)
        check_told_once(stores)
        with pytest.raises(Refusal):
            register(":.c:new")(world.registry)
        register(":.c:new", id=5, version=1)(world.registry)
