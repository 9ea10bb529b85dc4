"""A table joins another one: the copy, whatever is written there meanwhile, and wherever it is cut off."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from math import inf
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigla.errors import StoreError
from sigla.model import Draft
from sigla.regions import rules
from sigla.regions.following import deliver
from sigla.regions.nouns import Joins, KnownBy, RegionKind, Role
from sigla.regions.replay import Verdict
from sigla.rules import names
from sigla.stores.dynamodb import copy_writing, copying, fence
from sigla.stores.dynamodb.copy_writing import CopyTakenOver
from sigla.stores.dynamodb.copying import TableCopy
from sigla.stores.dynamodb.forgetting import forget, mark_brought
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.s3 import copied_objects
from sigla.stores.s3.objects import Objects
from tests.attack.aws import Store, failing
from tests.attack.aws_replay import check_equal, follower, replayer, shipped, stores
from tests.attack.ports import At, Between, Call, Recorder, client
from tests.attack.replay import STORIES, TRAFFIC, ask
from tests.attack.stories import HISTORY, ONE, THREE, TWO, delete, purge, register
from tests.attack.world import World
from tests.build import NOW, FixedClock
from tests.contract import tables
from tests.contract.aws import Account, AwsStores, of_two_parts
from tests.unit.aws.faults import Fault, Killed

PRIMARY = Role(1, RegionKind.PRIMARY, peer=KnownBy("B"), armed=NOW - rules.KNOWN_MS)
JOINING = Role(1, RegionKind.JOINING, joins=Joins.FORGETS)
VERBS = st.lists(st.sampled_from(range(len(TRAFFIC))), max_size=12)
ONE_BY_ONE: tuple[tuple[Any, str, int], ...] = (
    (copying, "AT_ONCE", 1),
    (copying, "AHEAD", False),
    (copy_writing, "LANES", 1),
    (copied_objects, "AT_ONCE", 1),
)
"""Calls come in one order, so that each of them can be met."""
buckets = (f"joining-{number}" for number in count())


@pytest.fixture(scope="module")
def account(moto: Account) -> Iterator[Account]:
    with pytest.MonkeyPatch.context() as patched:
        of_two_parts(patched)
        patched.setattr(fence, "COPIES", 2)
        patched.setattr(fence, "AT_ONCE", 1)
        for module, name, value in ONE_BY_ONE:
            patched.setattr(module, name, value)
        yield moto


SIZES = st.sampled_from([(tables.PAGE_BYTES, copy_writing.MOST_ACTIONS), (1_500, 4)])


@contextmanager
def sizes(page_bytes: int, most_actions: int) -> Iterator[None]:
    """What a scan tells at a time, and the most of a transaction of the copy."""
    with patch.object(tables, "PAGE_BYTES", page_bytes), patch.object(copy_writing, "MOST_ACTIONS", most_actions):
        yield


class Beside(Store):
    """The same registry in a table and a bucket of its own."""

    def __init__(self, account: Account, of: AwsStores) -> None:
        self._opened = ExitStack()
        self.stores = self._opened.enter_context(account.beside(of, next(buckets)))
        self.catalog, self.bodies, self.journal = self.stores.catalog, self.stores.bodies, self.stores.journal


@contextmanager
def two(account: Account) -> Iterator[tuple[World, World]]:
    """A registry, and the place where it is to be as well."""
    with follower(account) as source, World(store=Beside(account, stores(source))) as target:
        yield source, target


def arm(source: World) -> None:
    """From now on the journal tells what another region needs."""
    region = stores(source).region
    assert region.set_role(region.role(), PRIMARY)


def copy_of(
    source: World, target: World, between: Between | None = None, *, clock: FixedClock | None = None
) -> TableCopy:
    def parts(world: World) -> tuple[Tools, Objects]:
        of = stores(world)
        dynamodb = client("dynamodb", of.dynamodb, between) if between else of.dynamodb
        s3 = client("s3", of.s3, between) if between else of.s3
        return Tools.of(dynamodb, of.table, FixedClock(), of.registry), Objects(s3, of.bucket, clock=FixedClock())

    (there, objects_there), (here, objects_here) = parts(source), parts(target)
    return TableCopy(there, here, objects_there, objects_here, clock or source.clock)


def told_rest(source: World, target: World) -> None:
    """What the copy does not have is told, and in the end both have the same."""
    verdicts = deliver(shipped(source), replayer(target))
    assert verdicts.keys() <= {Verdict.KNOWN, Verdict.CARRY_OUT}, verdicts
    assert list(replayer(target).aside()) == []
    check_equal(source, target)


MANY = ("a topic that goes", "exporters", "a DEK wrapped anew", "an id brought whose version was written over")
"""The others are of the same kinds, and are attacked for long."""


def each_story(*first: str) -> list[Any]:
    """All of them, of which only the first are for every day."""
    return [*first, *(pytest.param(name, marks=pytest.mark.soak) for name in STORIES if name not in first)]


@pytest.mark.parametrize("name", each_story(*MANY))
def test_a_copy_has_what_the_other_table_has(account: Account, name: str) -> None:
    """Whether it has stood there without a role, or has told each commit."""
    with two(account) as (source, target):
        ask(source, STORIES[name])
        arm(source)
        assert copy_of(source, target).go_on(inf)
        check_equal(source, target)
        ask(source, [*HISTORY, *STORIES[name]])
        told_rest(source, target)
    with two(account) as (source, target):
        arm(source)
        ask(source, STORIES[name])
        assert copy_of(source, target).go_on(inf)
        told_rest(source, target)


@pytest.mark.parametrize("name", each_story("a schema with a reference into another context"))
def test_a_commit_is_in_all_parts_of_a_copy_or_in_none(account: Account, name: str) -> None:
    """Whenever it comes, between the first call and the last: what is in one part is brought into the others."""
    *before, verb = STORIES[name]
    for number in count():
        with two(account) as (source, target):
            ask(source, before)
            arm(source)

            def commit(_: Call, carry_out: Callable[[], Any], source: World = source) -> Any:
                ask(source, [verb])
                return carry_out()

            trap = At(number, commit)
            assert copy_of(source, target, trap).go_on(inf)
            if not trap.acted:
                return
            told_rest(source, target)


@given(VERBS, VERBS, st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_registry_goes_on_while_it_is_copied(
    account: Account, before: list[int], meanwhile: list[int], data: st.DataObject
) -> None:
    """A commit that is in one part of the copy and not in another one is in all of it in the end."""
    with two(account) as (source, target):
        copied_beside(source, target, before, meanwhile, data)


@pytest.mark.soak
@given(st.lists(st.sampled_from(range(len(TRAFFIC))), max_size=60), VERBS.filter(bool), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_registry_of_many_goes_on_while_it_is_copied(
    account: Account, before: list[int], meanwhile: list[int], data: st.DataObject
) -> None:
    """The same over longer lives."""
    with two(account) as (source, target):
        copied_beside(source, target, before, meanwhile, data)


def copied_beside(
    source: World, target: World, before: Sequence[int], meanwhile: Sequence[int], data: st.DataObject
) -> None:
    with sizes(*data.draw(SIZES, "bytes of a page, actions of a transaction")):
        copied_beside_in(source, target, before, meanwhile, data)


def copied_beside_in(
    source: World, target: World, before: Sequence[int], meanwhile: Sequence[int], data: st.DataObject
) -> None:
    ask(source, (*HISTORY, *(TRAFFIC[number] for number in before)))
    arm(source)
    if data.draw(st.booleans(), "whether that is long ago"):
        source.clock.time += 2 * copying.SINCE_MS
    places = data.draw(st.lists(st.integers(0, 60), min_size=len(meanwhile), max_size=len(meanwhile)), "when")
    verbs = sorted(zip(places, meanwhile, strict=True))
    calls = count()

    def beside(_: Call, carry_out: Callable[[], Any]) -> Any:
        number = next(calls)
        while verbs and verbs[0][0] <= number:
            ask(source, [TRAFFIC[verbs.pop(0)[1]]])
        return carry_out()

    assert copy_of(source, target, beside).go_on(inf)
    ask(source, [TRAFFIC[number] for _, number in verbs])
    told_rest(source, target)


def test_subjects_that_go_beyond_a_page_or_a_transaction_are_copied_whole(account: Account) -> None:
    """Wherever the copy is cut off, and whatever is committed then."""
    with sizes(1_500, 4):
        cut_off_at_any_call(account, Fault.KILLED_AFTER)


def test_a_version_that_goes_while_a_copy_of_many_is_cut_off_goes_there_as_well(account: Account) -> None:
    """What was written of the subject is found, though its head does not say anything yet."""
    for number in count():
        with two(account) as (source, target), sizes(tables.PAGE_BYTES, 4):
            ask(source, [register("many", each) for each in (ONE, TWO, THREE)])
            arm(source)
            written = count()

            def cut(call: Call, carry_out: Callable[[], Any], number: int = number, written: Any = written) -> Any:
                answer = carry_out()
                if call.name == "dynamodb.transact_write_items" and next(written) == number:
                    raise Killed
                return answer

            with suppress(Killed):
                assert copy_of(source, target, cut).go_on(inf)
            if next(written) <= number:
                return
            ask(source, [delete("many", 1), purge("many", 1)])
            assert copy_of(source, target).go_on(inf)
            told_rest(source, target)


@pytest.mark.parametrize("fault", [Fault.KILLED, pytest.param(Fault.LOST, marks=pytest.mark.soak)])
def test_a_copy_that_writes_and_reads_side_by_side_is_cut_off_at_any_call(
    account: Account, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    for module, name, value in ((copying, "AT_ONCE", 4), (copying, "AHEAD", True), (copy_writing, "LANES", 3)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(copied_objects, "AT_ONCE", 4)
    with sizes(1_500, 8):
        cut_off_at_any_call(account, fault)


def test_a_copy_takes_few_requests_for_each_schema(account: Account) -> None:
    """For its rows a part of one; for its objects a read of the body, and a write of it and of the pointer.

    Some twenty are one for each step, however large the registry is.
    """
    schemas = 120
    with two(account) as (source, target):
        arm(source)
        for number in range(schemas):
            draft = Draft(f'{{"type": "fixed", "name": "n", "size": {number}}}')
            source.registry.register(names.subject(f"s{number}"), draft)
        asked = Recorder()
        assert copy_of(source, target, asked).go_on(inf)
        found = Counter(asked.names)
        told_rest(source, target)
    assert found["s3.get_object"] <= schemas
    assert found["s3.put_object"] <= 2 * schemas
    of_rows = {name: number for name, number in found.items() if name.startswith("dynamodb.")}
    assert sum(of_rows.values()) <= 20 + 0.4 * schemas, of_rows
    assert found["s3.list_objects_v2"] <= 8


LATER = [pytest.param(fault, marks=pytest.mark.soak, id=fault.name) for fault in (Fault.KILLED, Fault.LOST)]


@pytest.mark.parametrize("fault", [pytest.param(Fault.KILLED_AFTER, id="KILLED_AFTER"), *LATER])
def test_a_copy_that_is_cut_off_at_any_call_goes_on(account: Account, fault: Fault) -> None:
    """Before a call, after it, and where its answer was lost: whoever comes next finishes it."""
    cut_off_at_any_call(account, fault)


@pytest.mark.parametrize("fault", [pytest.param(Fault.LOST, id="LOST"), *LATER[:1]])
@pytest.mark.soak
def test_a_copy_is_cut_off_at_any_call_on_dynamodb_s_own_engine(engine: Account, fault: Fault) -> None:
    """Which scans, checks and refuses as AWS does."""
    cut_off_at_any_call(engine, fault)


def test_dynamodb_s_own_engine_takes_what_a_copy_asks(engine: Account) -> None:
    """Scans page by page, and transactions with the check of whose copy it is."""
    with two(engine) as (source, target):
        ask(source, [*STORIES["a topic that goes"], *STORIES["a DEK wrapped anew"]])
        arm(source)
        assert copy_of(source, target).go_on(inf)
        ask(source, HISTORY)
        told_rest(source, target)


def cut_off_at_any_call(account: Account, fault: Fault) -> None:
    with two(account) as (source, target):
        ask(source, STORIES["a topic that goes"])
        arm(source)
        ask(source, HISTORY)
        for number in count():
            trap = At(number, failing(fault))
            with suppress(Killed, StoreError):
                copy_of(source, target, trap).go_on(inf)
            if not trap.acted:
                break
            ask(source, [TRAFFIC[number % len(TRAFFIC)]])
        told_rest(source, target)


def test_a_copy_is_left_to_whoever_came_last(account: Account) -> None:
    """The one before writes nothing any more, wherever it was."""
    with two(account) as (source, target):
        ask(source, HISTORY)
        arm(source)
        once = iter([True])

        def taken_over(call: Call, carry_out: Callable[[], Any]) -> Any:
            if call.name == "dynamodb.transact_write_items" and next(once, False):
                assert copy_of(source, target).go_on(inf)
            return carry_out()

        with pytest.raises(CopyTakenOver):
            copy_of(source, target, taken_over).go_on(inf)
        told_rest(source, target)


def test_a_copy_that_has_no_time_left_goes_on_in_the_next_turn(account: Account) -> None:
    with two(account) as (source, target):
        ask(source, HISTORY)
        arm(source)
        assert not copy_of(source, target).go_on(0)
        assert copy_of(source, target).go_on(inf)
        told_rest(source, target)


def test_a_commit_that_a_rejoined_region_brought_is_not_copied(account: Account) -> None:
    """It was carried out nowhere else, and came as another commit: in the copy it is in no history, and never told."""
    with two(account) as (source, target):
        arm(source)
        ask(source, HISTORY)
        brought = shipped(source)
        of = stores(source)
        tools = Tools.of(of.dynamodb, of.table, FixedClock(), of.registry)
        assert of.region.set_role(of.region.role(), JOINING)
        forget(tools)
        mark_brought(tools, tools.fence.read(), brought)
        arm(source)
        ask(source, HISTORY)
        assert copy_of(source, target).go_on(inf)
        told = [(at, row["nonce"]) for at, row, _ in stores(source).journal.rows(0, brought=False)]
        assert [(at, row["nonce"]) for at, row, _ in stores(target).journal.rows(0)] == told
