"""Several carry out the same commits at once, as the event, the turn and whoever waits for an own write do.

DynamoDB tells rows that are read together one by one: the others may commit in between.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import Any, Final

import pytest

from sigla.ports.replaying import Shipment
from sigla.regions.following import deliver
from sigla.regions.replay import Verdict
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.replaying import AwsReplayer
from tests.attack.aws import Store
from tests.attack.aws_replay import check_equal, follower, primary, replayer, shipped
from tests.attack.ports import At, Between, Call
from tests.attack.replay import STORIES, TRAFFIC, ask
from tests.attack.stories import HISTORY
from tests.attack.test_aws_copying import MANY, each_story
from tests.attack.world import World
from tests.contract.aws import Account, of_two_parts
from tests.waiting import PATIENCE_S

Items = dict[tuple[str, str], Any]


@pytest.fixture(scope="module")
def account(moto: Account) -> Iterator[Account]:
    with pytest.MonkeyPatch.context() as patched:
        of_two_parts(patched)
        yield moto


def by_key(answer: Any) -> tuple[str, Items]:
    ((table, items),) = answer["Responses"].items()
    return table, {(item["pk"]["S"], item["sk"]["S"]): item for item in items}


def of_two_moments(before: Any, after: Any, is_late: Callable[[tuple[str, str]], bool]) -> Any:
    """An answer of which some items are of a later moment than the others."""
    (table, early), (_, late) = by_key(before), by_key(after)
    picked = ((late if is_late(key) else early).get(key) for key in sorted({*early, *late}))
    return {"Responses": {table: [item for item in picked if item is not None]}}


def instance(target: World, between: Between) -> Callable[[], AwsReplayer]:
    """That of another process."""
    assert isinstance(target.store, Store)
    catalog, bodies = target.store.disturbed(between)
    assert isinstance(catalog, AwsCatalog)
    return lambda: catalog.replayer(bodies)


def check_all_is_there(source: World, target: World, told: Sequence[Shipment]) -> None:
    assert [*replayer(target).aside(), *replayer(target).apart()] == []
    assert {replayer(target).carry_out(shipment) for shipment in told} == {Verdict.KNOWN}
    check_equal(source, target)


@pytest.mark.parametrize("of_journal", [True, False])
@pytest.mark.parametrize("name", each_story(*MANY))
def test_a_commit_that_another_carries_out_while_it_is_looked_at_does_not_diverge(
    account: Account, name: str, of_journal: bool
) -> None:
    """of_journal: whether the row of the journal is told as of the later moment, or all others."""
    with primary(account) as source, follower(account) as target:
        ask(source, STORIES[name])
        told = shipped(source)
        for shipment in told:

            def act(_: Call, read: Callable[[], Any], shipment: Shipment = shipment) -> Any:
                before = read()
                deliver([shipment], replayer(target))
                return of_two_moments(before, read(), lambda key: ("#j#" in key[0]) is of_journal)

            trap = At(0, act)
            verdicts = deliver([shipment], instance(target, trap)())
            assert trap.acted
            assert Verdict.DIVERGES not in verdicts
        check_all_is_there(source, target, told)


class Interleaved:
    """A `Between` of threads of which one goes at a time, as far as its next call: a die says which."""

    def __init__(self, dice: Random, threads: int) -> None:
        self._dice = dice
        self._left = threads
        self._waiting = set[int]()
        self._turn: int | None = None
        self._changed = threading.Condition()
        self._mine = threading.local()

    def run(self, number: int, work: Callable[[], object]) -> None:
        self._mine.number = number
        try:
            self._pause()
            work()
        finally:
            with self._changed:
                self._left -= 1
                self._choose()

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        self._pause()
        answer = carry_out()
        if call.name != "dynamodb.batch_get_item":
            return answer
        self._pause()
        return of_two_moments(answer, carry_out(), lambda _: self._dice.random() < 0.5)

    def _pause(self) -> None:
        number: int | None = getattr(self._mine, "number", None)
        if number is None:
            return  # a thread of one of them, for which it waits
        with self._changed:
            self._waiting.add(number)
            self._choose()
            assert self._changed.wait_for(lambda: self._turn == number, PATIENCE_S)
            self._waiting.remove(number)

    def _choose(self) -> None:
        self._turn = None
        if self._waiting and len(self._waiting) == self._left:
            self._turn = self._dice.choice(sorted(self._waiting))
            self._changed.notify_all()


LIVES: Final = [*range(4), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 200))]


@pytest.mark.parametrize("seed", LIVES)
def test_several_at_once_make_what_one_makes(account: Account, seed: int) -> None:
    """Each is told most commits, in an order of its own."""
    dice = Random(seed)
    with primary(account) as source, follower(account) as target:
        ask(source, (*HISTORY, *dice.choices(TRAFFIC, k=5 + seed % 20)))
        told = shipped(source)
        several = 2 + seed % 3
        turns, failures = Interleaved(dice, several), list[BaseException]()

        def carry_out(opened: Callable[[], AwsReplayer], parts: Sequence[Sequence[Shipment]]) -> None:
            try:
                for part in parts:
                    deliver(part, opened())
            except BaseException as failure:  # noqa: BLE001 - it is raised by the test, at its end
                failures.append(failure)

        threads = []
        for number in range(several):
            mine = dice.sample(told, len(told) - dice.randrange(1 + len(told) // 2))
            size = dice.choice((1, 3, 100))
            parts = [mine[at : at + size] for at in range(0, len(mine), size)]
            work = partial(carry_out, instance(target, turns), parts)
            threads.append(threading.Thread(target=turns.run, args=(number, work)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert [*replayer(target).apart()] == []
        deliver(told, replayer(target))
        check_all_is_there(source, target, told)
