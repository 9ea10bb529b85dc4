"""A table follows another one: whatever happens there, and however late, often or broken off it is told."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count, pairwise
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId
from sigla.ports.replaying import Shipment
from sigla.regions.following import deliver
from sigla.regions.replay import Verdict
from sigla.regions.shipping import NotAllowed
from sigla.stores.dynamodb.actions import condition_check, equals
from sigla.stores.dynamodb.catalog import AwsCatalog
from tests.attack.aws import Store, failing
from tests.attack.aws_replay import check_equal, follower, primary, replayer, shipped, stores
from tests.attack.ports import At, Call
from tests.attack.replay import EPOCH, STORIES, TRAFFIC, ask
from tests.attack.stories import HISTORY, IMPORTING, ONE, TWO, delete, purge, register
from tests.attack.world import Verb, World
from tests.build import a_body
from tests.contract.aws import Account, of_two_parts
from tests.unit.aws.faults import Fault, Killed
from tests.unit.registry.tell import s

VERBS = st.lists(st.sampled_from(range(len(TRAFFIC))), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def account(moto: Account) -> Iterator[Account]:
    with pytest.MonkeyPatch.context() as patched:
        of_two_parts(patched)
        yield moto


@pytest.mark.parametrize("name", STORIES)
def test_a_follower_has_what_its_primary_has(account: Account, name: str) -> None:
    """Byte by byte: items, journal, objects. Whatever a client reads, it reads the same at either."""
    with primary(account) as source, follower(account) as target:
        ask(source, STORIES[name])
        assert set(deliver(shipped(source), replayer(target))) == {Verdict.CARRY_OUT}
        check_equal(source, target)


@given(VERBS, st.data())
def test_rows_may_come_late_and_often_and_in_any_order(
    account: Account, numbers: list[int], data: st.DataObject
) -> None:
    """What comes too early waits in the table, what came before is passed by, and in the end all is equal."""
    with primary(account) as source, follower(account) as target:
        replayed_in_any_order(source, target, numbers, data)


@pytest.mark.soak
@settings(max_examples=settings().max_examples // 4, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(range(len(TRAFFIC))), min_size=60, max_size=120), st.data())
def test_rows_may_come_in_any_order_for_long(account: Account, numbers: list[int], data: st.DataObject) -> None:
    """The same over long lives."""
    with primary(account) as source, follower(account) as target:
        replayed_in_any_order(source, target, numbers, data)


def replayed_in_any_order(source: World, target: World, numbers: list[int], data: st.DataObject) -> None:
    ask(source, (*HISTORY, *(TRAFFIC[number] for number in numbers)))
    told = shipped(source)
    again = data.draw(st.lists(st.sampled_from(told), max_size=len(told)), "what comes twice")
    for part in data.draw(parts_of(data.draw(st.permutations(told + again), "their order"))):
        deliver(part, replayer(target))
    assert list(replayer(target).aside()) == []
    assert {replayer(target).carry_out(shipment) for shipment in told} == {Verdict.KNOWN}
    check_equal(source, target)


def parts_of(link: list[Shipment]) -> st.SearchStrategy[list[list[Shipment]]]:
    """As segments bring it."""
    ends = st.lists(st.integers(0, len(link)), max_size=3).map(sorted)
    return ends.map(lambda at: [link[low:high] for low, high in pairwise([0, *at, len(link)])])


# --- cut off ---------------------------------------------------------------------------------------------------------

CUT = (Fault.KILLED, Fault.KILLED_AFTER, Fault.LOST)
"""Before a call; after it; after it, and its answer was lost."""


@pytest.mark.parametrize("fault", CUT, ids=lambda fault: fault.name)
def test_a_follower_that_is_cut_off_at_any_call_goes_on(account: Account, fault: Fault) -> None:
    """Nothing of a commit, or all of it, is there; what was told is told again, and in the end all is equal."""
    with primary(account) as source, follower(account) as target:
        ask(source, STORIES["an import of what was gone"])
        told = shipped(source)
        assert isinstance(target.store, Store)
        for shipment in told:
            for number in count():
                trap = At(number, failing(fault))
                catalog, bodies = target.store.disturbed(trap)
                assert isinstance(catalog, AwsCatalog)
                with suppress(Killed, StoreError):
                    deliver([shipment], catalog.replayer(bodies))
                if not trap.acted:
                    break
        deliver(told, replayer(target))
        assert list(replayer(target).aside()) == []
        check_equal(source, target)


def test_a_region_that_does_not_follow_carries_nothing_out(account: Account) -> None:
    """It has taken over: what the former primary still tells changes nothing."""
    with primary(account) as source, follower(account) as target:
        ask(source, HISTORY)
        role = condition_check((f"{stores(target).registry}#region", "role"), equals(follower=1))
        with pytest.raises(NotAllowed):
            deliver(shipped(source), replayer(target, [role]))
        assert target.rows() == []


def test_what_went_on_by_itself_is_told_apart(account: Account) -> None:
    """Two commits of one revision: the second is not carried out, and is told."""
    with primary(account) as source, primary(account) as target:
        ask(source, HISTORY)
        ask(target, HISTORY[:1])
        told = shipped(source)
        assert deliver(told, replayer(target)) == {Verdict.DIVERGES: 1, Verdict.CARRY_OUT: 1}
        assert [each.form for each in replayer(target).apart()] == [told[0].form]
        assert deliver(told, replayer(target)) == {Verdict.DIVERGES: 1, Verdict.KNOWN: 1}
        assert len(list(replayer(target).apart())) == 1


def test_a_body_that_no_commit_has_named_is_in_nobody_s_way(account: Account) -> None:
    """An import was cut off here when this region was the primary; the other one imports the id with other content."""
    with primary(account) as source, follower(account) as target:
        key = BodyKey(".c", SchemaId(9))
        ask(source, IMPORTING)
        target.store.bodies.put(key, a_body(ONE, subject=s(":.c:orders")))
        ask(source, [register(":.c:orders", TWO, id=9, version=5)])
        assert Verdict.DIVERGES not in deliver(shipped(source), replayer(target))
        assert target.store.bodies.get(key).schema == source.store.bodies.get(key).schema
        check_equal(source, target)


def test_a_body_that_a_commit_has_named_is_not_written_over(account: Account) -> None:
    """Whatever became of the version that held the id."""
    with primary(account) as source, primary(account) as target:
        ask(source, [*IMPORTING, register(":.c:other", TWO, id=9, version=1)])
        ask(target, [*IMPORTING, register(":.c:gone", ONE, id=9, version=1), delete(":.c:gone"), purge(":.c:gone")])
        target.store.bodies.revive(BodyKey(".c", SchemaId(9)), a_body(ONE, subject=s(":.c:gone")))
        assert deliver(shipped(source)[-1:], replayer(target)) == {Verdict.DIVERGES: 1}


def test_what_only_a_newer_release_can_carry_out_waits_for_it(account: Account) -> None:
    """Nothing is concluded from it, whatever follows it waits, and other subjects go on."""
    with primary(account) as source, follower(account) as target:
        ask(source, [text("a", 0), text("b", 0), text("a", 1)])
        first, *others = shipped(source)
        row = orjson.loads(first.form)
        strange = first._replace(form=orjson.dumps(row | {"change": "Foretold"}))
        told = deliver([strange, *others], replayer(target))
        assert told == {Verdict.UNKNOWN: 1, Verdict.EARLY: 1, Verdict.CARRY_OUT: 1}
        assert deliver([], replayer(target)) == {}
        deliver([first], replayer(target))
        assert list(replayer(target).aside()) == []
        check_equal(source, target)


def test_what_waited_for_a_primary_that_was_passed_over_is_not_carried_out_later(account: Account) -> None:
    """The region was promoted by force meanwhile: that commit looks like the next one of a subject, and is not."""
    with primary(account) as source, follower(account) as target:
        ask(source, [text("a", 0), text("a", 1), text("a", 2), text("b", 0)])
        first, second, third, other = shipped(source)
        assert deliver([first, third], replayer(target)) == {Verdict.CARRY_OUT: 1, Verdict.EARLY: 1}
        replayer(target).set_apart(other)
        ask(target, [text("a", 7)])
        later = replayer(target, since=EPOCH + 1)
        assert [each.form for each in replayer(target).aside()] == [third.form]
        assert deliver([], later) == {}
        assert [*later.aside(), *later.apart()] == []
        assert [*replayer(target).aside(), *replayer(target).apart()] == []
        assert deliver([second], replayer(target)) == {Verdict.DIVERGES: 1}
        assert [each.form for each in replayer(target).apart()] == [second.form]


# --- thousands -------------------------------------------------------------------------------------------------------


def test_thousands_that_wait_cost_others_a_read_for_a_hundred(account: Account) -> None:
    """As behind a commit that is unknown here: what is told meanwhile is carried out as if nothing waited."""
    assert reads_beside(account, waiting=40) <= reads_beside(account, waiting=1) + 1


def reads_beside(account: Account, waiting: int) -> int:
    """Questions while one commit is carried out beside so many that wait, and go on once they can."""
    with primary(account) as source, follower(account) as target:
        ask(source, [*(text("a", number) for number in range(waiting + 1)), text("b", 0)])
        first, *others, beside = shipped(source)
        assert deliver(reversed(others), replayer(target)) == {Verdict.EARLY: waiting}
        calls = list[Call]()

        def count_call(call: Call, carry_out: Callable[[], Any]) -> Any:
            calls.append(call)
            return carry_out()

        assert isinstance(target.store, Store)
        catalog, bodies = target.store.disturbed(count_call)
        assert isinstance(catalog, AwsCatalog)
        assert deliver([beside], catalog.replayer(bodies)) == {Verdict.CARRY_OUT: 1}
        assert deliver([first], replayer(target)) == {Verdict.CARRY_OUT: 1}
        assert list(replayer(target).aside()) == []
        check_equal(source, target)
        return sum(call.name == "dynamodb.batch_get_item" for call in calls)


def text(subject: str, number: int) -> Verb:
    field = f'{{"name": "f{number}", "type": "int", "default": 0}}'
    return register(subject, f'{{"type": "record", "name": "Order", "fields": [{field}]}}')
