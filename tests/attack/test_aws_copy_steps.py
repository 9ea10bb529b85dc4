"""The steps at the end of a copy: each goes on in the next turn, and holds a part of the registry at a time."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Any
from unittest.mock import patch

import pytest

from sigla.stores.dynamodb import copied_commits, sweeping, table
from sigla.stores.dynamodb.actions import Action
from sigla.stores.dynamodb.copy_steps import CopyStep
from sigla.stores.dynamodb.copying import TableCopy
from sigla.stores.dynamodb.fence import Fence
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.settling import Settling
from sigla.stores.dynamodb.values import read_item
from sigla.stores.s3 import copied_objects
from tests.attack.aws_replay import stores
from tests.attack.ports import Recorder
from tests.attack.replay import STORIES, TRAFFIC, ask
from tests.attack.stories import HISTORY, ONE, TWO, delete, purge, register
from tests.attack.test_aws_copying import (
    JOINING,
    PRIMARY,
    account,
    arm,
    copy_of,
    each_story,
    sizes,
    told_rest,
    two,
)
from tests.attack.world import World
from tests.build import FixedClock
from tests.contract.aws import Account
from tests.unit.registry.tell import s

__all__ = ["account"]


class Short(FixedClock):
    """Each look at it takes a moment: a turn that has one is over when it looks again."""

    looks = 0

    def elapsed(self) -> int:
        self.looks += 1
        return self.looks


@contextmanager
def small_pieces() -> Iterator[None]:
    """Whatever is read, listed or noted comes a few at a time."""
    with sizes(1_500, 8), ExitStack() as patched:
        for module, name, value in (
            (table, "MOST_SCANNED", 20),
            (copied_commits, "AT_ONCE", 2),
            (copied_objects, "NOTED", 2),
            (copied_objects, "LISTED", 2),
        ):
            patched.enter_context(patch.object(module, name, value))
        yield


def step_of(target: World) -> str:
    """Where the copy is."""
    of = stores(target)
    state = Tools.of(of.dynamodb, of.table, FixedClock(), of.registry).table.get(Places(of.registry).copying())
    return str(state.get("step")) if state else ""


MOST_TURNS = 1_000
MOST_CALLS = 60
"""Most of a turn that has a moment: what any piece takes, and to take over."""


@pytest.mark.parametrize("name", each_story("a topic that goes", "an id brought whose version was written over"))
def test_each_step_ends_with_its_time_and_the_next_turn_goes_on(account: Account, name: str) -> None:
    """However long the registry makes a step: no turn does more than a piece of it, whatever is committed meanwhile."""
    with two(account) as (source, target), small_pieces():
        for number in range(5):
            ask(source, [register(f"s{number}", ONE), register(f":.c{number % 3}:s{number}", TWO)])
        ask(source, STORIES[name])
        arm(source)
        ask(source, HISTORY)
        steps = Counter[str]()
        for number in range(MOST_TURNS):
            asked, clock = Recorder(), Short(source.clock.time)
            is_complete = copy_of(source, target, asked, clock=clock).go_on(2)
            assert len(asked.calls) <= MOST_CALLS, Counter(asked.names)
            if is_complete:
                break
            steps[step_of(target)] += 1
            if number < len(TRAFFIC):
                ask(source, [TRAFFIC[number]])
        assert {"chase", "shared", "counts", "order", "contexts", "later bodies", "mark"} <= steps.keys()
        told_rest(source, target)


class Held(dict[str, Any]):
    """An item that was read. living, most: how many there are, and were at once."""

    living = most = 0

    def __init__(self, item: Any) -> None:
        super().__init__(item)
        Held.living += 1
        Held.most = max(Held.most, Held.living)

    def __del__(self) -> None:
        Held.living -= 1


def test_a_copy_holds_few_items_at_a_time(account: Account) -> None:
    """From the first page to the last commit that it marks: three pages of twenty, of a registry of hundreds."""
    with two(account) as (source, target), small_pieces():
        arm(source)
        for number in range(30):
            ask(source, [register(f"s{number}", ONE), register(f":.c{number % 3}:s{number}", TWO)])
        with patch.object(table, "read_item", lambda item: Held(read_item(item))):
            Held.most = Held.living
            assert copy_of(source, target).go_on(inf)
        assert Held.most - Held.living <= 3 * table.MOST_SCANNED
        told_rest(source, target)


def test_whoever_met_a_region_that_joined_sweeps_once_it_follows(account: Account) -> None:
    with two(account) as (source, _):
        ask(source, [register("gone", ONE)])
        with patch.object(sweeping, "sweep", lambda *_, **__: ()):
            ask(source, [delete("gone"), purge("gone")])
        of, function = stores(source), stores(source).catalog
        region = AwsRegion.of(of.dynamodb, of.table, FixedClock(), registry=of.registry)
        assert region.set_role(None, JOINING)
        function.region.role()
        assert not function.sweep(s("gone"))
        assert region.set_role(region.role(), PRIMARY)
        assert [key.id for key in function.sweep(s("gone"))] == [1]


@pytest.mark.parametrize("asleep", [True, False])
def test_no_sweep_takes_away_what_a_copy_has_counted(account: Account, asleep: bool) -> None:
    """It came from the stream, which tells of copied rows, or slept since this region was the primary."""
    with two(account) as (source, target):
        arm(source)
        ask(source, [register("gone", ONE), register("stays", ONE)])
        with patch.object(sweeping, "sweep", lambda *_, **__: ()):
            ask(source, [delete("gone"), purge("gone")])
        assert stores(target).region.set_role(None, JOINING)
        copy_shared, holders = TableCopy._copy_shared, Settling._holders

        def after_a_sweep_there(copy: TableCopy, step: CopyStep) -> None:
            stores(source).catalog.sweep(s("gone"))
            copy_shared(copy, step)

        def before_a_sweep_here(*arguments: Any) -> list[Action]:
            counted = [*holders(*arguments)]
            catalog = stores(target).catalog
            with patch.object(Fence, "read", lambda _: PRIMARY if asleep else JOINING):
                catalog.sweep(s("gone"))
            return counted

        with (
            patch.object(TableCopy, "_copy_shared", after_a_sweep_there),
            patch.object(Settling, "_holders", before_a_sweep_here),
        ):
            assert copy_of(source, target).go_on(inf)
        told_rest(source, target)
