"""Two regions of one registry, each with its turn: one follows the other, until it is promoted."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from sigla import keys
from sigla.errors import Closed, StoreError
from sigla.functions.journal import CUT_OFF_MS
from sigla.regions import rules
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.shipping import NotAllowed
from sigla.registry import Registry
from sigla.stores.dynamodb import imports
from sigla.stores.dynamodb.actions import update
from sigla.stores.dynamodb.changes import is_marked
from sigla.stores.dynamodb.comparing import JournalComparison
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.region_turns import RegionTurns
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.aws import failing
from tests.attack.aws_replay import check_equal, stores
from tests.attack.ports import At, Between, Call, client
from tests.attack.replay import TRAFFIC, ask
from tests.attack.stories import HISTORY, THREE, config, delete, mode, register
from tests.attack.test_aws_copying import account, two
from tests.attack.world import World
from tests.contract.aws import Account
from tests.unit.aws.faults import Fault, Killed
from tests.unit.aws.journaling import follower as follower_of
from tests.unit.registry.tell import s

__all__ = ["account"]

MINUTE_MS = 60_000


class Regions:
    """A and B. Each turn comes a minute after the last one."""

    def __init__(self, a: World, b: World) -> None:
        self.a, self.b = a, b
        self.clock = a.clock

    def arm(self) -> None:
        """A is primary, and B joins it."""
        self.become(self.a, Role(1, RegionKind.PRIMARY, peer=KnownBy("B"), armed=self.clock.time))
        self.become(self.b, Role(0, RegionKind.JOINING, peer=KnownBy("A")))

    def become(self, world: World, role: Role) -> None:
        region = self.store(world).region
        assert region.set_role(region.role(), role)

    def role(self, world: World) -> Role:
        role = self.store(world).region.role()
        assert role is not None
        return role

    def store(self, world: World, between: Between | None = None) -> AwsStore:
        of = stores(world)
        pass_on: Between = between or (lambda _, carry_out: carry_out())
        clients: Any = SimpleNamespace(
            dynamodb=client("dynamodb", of.dynamodb, pass_on), s3=client("s3", of.s3, pass_on), region="eu-west-1"
        )
        return AwsStore(clients, of.table, of.bucket, self.clock, registry=of.registry)

    def turn(self, world: World, between: Between | None = None, there: Between | None = None) -> dict[str, Any]:
        """between: before the calls of both stores; there: before those to the other one."""
        self.clock.time += MINUTE_MS
        other = self.b if world is self.a else self.a
        here, other_store = self.store(world, between), self.store(other, there or between)
        try:
            return dict(RegionTurns(here, other_store)())
        finally:
            here.close()
            other_store.close()

    def join(self) -> None:
        self.clock.time += rules.KNOWN_MS
        assert self.turn(self.b)["follows"]


@pytest.fixture
def regions(account: Account) -> Iterator[Regions]:
    with two(account) as (a, b):
        ask(a, HISTORY)
        found = Regions(a, b)
        found.arm()
        yield found


def test_a_region_joins_follows_and_says_how_far_it_is(regions: Regions) -> None:
    """It begins once every writer of the other one tells its commits, and in each turn it is complete."""
    assert regions.turn(regions.b)["copied"] is False
    regions.join()
    assert (regions.role(regions.b).kind, regions.role(regions.b).epoch) == (RegionKind.FOLLOWER, 1)
    ask(regions.a, TRAFFIC[:8])
    told = regions.turn(regions.b)
    assert told["carry_out"] > 0
    assert (told["waiting"], told["apart"], told["behind_ms"]) == (0, 0, 0)
    check_equal(regions.a, regions.b)
    assert regions.turn(regions.b)["carry_out"] == 0


def test_a_turn_without_a_role_does_nothing(account: Account) -> None:
    """The registry of today: one question, about a row."""
    with two(account) as (a, b):
        calls = list[str]()

        def note(call: Any, carry_out: Callable[[], Any]) -> Any:
            calls.append(call.name)
            return carry_out()

        ask(a, HISTORY)
        regions = Regions(a, b)
        assert "role" not in regions.turn(a, note)
        assert calls == ["dynamodb.batch_get_item"]


def test_whoever_was_not_told_of_a_promotion_is_closed_within_a_minute(regions: Regions) -> None:
    """Its next commit is refused, and what it still tells changes nothing in the region that took over."""
    regions.join()
    regions.become(regions.b, replace(regions.role(regions.b), epoch=2, kind=RegionKind.PRIMARY))
    assert regions.turn(regions.a)["closed"]
    with pytest.raises(Closed):
        register("late")(regions.a.registry)
    assert not regions.role(regions.a).open
    assert "carry_out" not in regions.turn(regions.b)


def test_a_primary_goes_on_while_the_other_region_is_silent(regions: Regions) -> None:
    """Nothing is concluded from that, and nothing fails."""
    regions.join()
    assert regions.turn(regions.a, there=failing(Fault.SILENT))["silent"]
    assert regions.role(regions.a).writes
    register("goes-on")(regions.a.registry)


def test_what_diverges_is_counted_and_keeps_the_region_from_being_complete(regions: Regions) -> None:
    """An operator has to look at it: nothing is concluded, and the others go on."""
    regions.join()
    of = stores(regions.b)
    head = Places(of.registry).head(s("orders"))
    by_hand = update(head, {"revision": 99})
    of.dynamodb.update_item(TableName=of.table, **by_hand.arguments)
    ask(regions.a, [config("fresh", level="FULL"), register("orders", THREE), register("other")])
    before = regions.turn(regions.b)
    after = regions.turn(regions.b)
    assert (before["carry_out"], before["diverges"], before["apart"]) == (2, 1, 1)
    assert (after["carry_out"], after["diverges"], after["apart"]) == (0, 1, 1)
    assert after["behind_ms"] == before["behind_ms"] + MINUTE_MS


@pytest.mark.parametrize("fault", [Fault.KILLED_AFTER, pytest.param(Fault.KILLED, marks=pytest.mark.soak)])
def test_a_turn_that_is_cut_off_at_any_call_is_made_up_for(regions: Regions, fault: Fault) -> None:
    """While it joins, at the change of its role, and in the middle of a commit."""
    regions.clock.time += rules.KNOWN_MS
    for number in count():
        trap = At(number, failing(fault))
        with suppress(Killed, StoreError):
            regions.turn(regions.b, trap)
        ask(regions.a, [TRAFFIC[number % len(TRAFFIC)]])
        if not trap.acted and regions.role(regions.b).kind is RegionKind.FOLLOWER:
            break
    regions.turn(regions.b)
    told = regions.turn(regions.b)
    assert (told["carry_out"], told["waiting"], told["apart"], told["behind_ms"]) == (0, 0, 0, 0)
    check_equal(regions.a, regions.b)


def test_ceilings_are_told_again_in_each_turn(regions: Regions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A raise at the other region may have been lost with a table that was restored."""
    regions.join()
    monkeypatch.setattr(rules, "BLOCK", 4)
    ask(
        regions.a,
        [register(f"subject-{number}", f'{{"type": "fixed", "name": "F{number}", "size": 4}}') for number in range(6)],
    )
    assert regions.turn(regions.a)["ceilings"] > 0
    ours = regions.store(regions.a).region.look(".").counter
    theirs = regions.store(regions.b).region.look(".").counter
    assert ours is not None
    assert theirs is not None
    assert theirs.ceiling >= ours.ceiling


def test_a_region_that_follows_finishes_no_import(regions: Regions, monkeypatch: pytest.MonkeyPatch) -> None:
    """One was cut off at its primary, which finishes it: here the journal function has nothing to fail at."""
    monkeypatch.setattr(imports, "AT_ONCE", 1)
    names = ("orders", "a", "b")
    ask(regions.a, [*(register(name) for name in names), *(delete(name) for name in names)])
    for number in range(60):
        with suppress(Killed):
            mode("", "IMPORT")(regions.a.registry_with(At(number, failing(Fault.KILLED))))
        if is_being_cleared(regions.a):
            break
    regions.join()
    assert is_being_cleared(regions.b)
    regions.clock.time += 2 * CUT_OFF_MS
    told = list[Any]()
    with follower_of(stores(regions.b), regions.clock, told=told) as follow:
        follow({"source": "aws.events"})
    assert [line["event"] for line in told] == ["journal"]
    with follower_of(stores(regions.a), regions.clock) as follow:
        follow({"source": "aws.events"})
    assert not is_being_cleared(regions.a)
    assert regions.turn(regions.b)["carry_out"] > 0
    assert not is_being_cleared(regions.b)
    check_equal(regions.a, regions.b)


def is_being_cleared(world: World) -> bool:
    """Whether settings bear the mark of an import that has begun."""
    found = stores(world).dynamodb.scan(TableName=stores(world).table)["Items"]
    return any(
        is_marked(item["revision"]["S"]) for item in found if item["sk"]["S"] == keys.SETTINGS and "revision" in item
    )


def test_what_was_about_to_be_carried_out_is_not_in_a_later_epoch(regions: Regions) -> None:
    """It took writes in between, and the commit may be one that the other region has lost by now."""
    regions.join()
    here, there = regions.store(regions.b), regions.store(regions.a)
    late = JournalComparison(here, there, regions.role(regions.b))
    register("late")(regions.a.registry)
    assert next(late.missing(0), None) is not None
    for epoch, kind in ((2, RegionKind.PRIMARY), (3, RegionKind.FOLLOWER)):
        regions.become(regions.b, replace(regions.role(regions.b), epoch=epoch, kind=kind))
    with pytest.raises(NotAllowed):
        late.catch_up(inf)
    assert next(late.missing(0), None) is not None


def test_a_commit_that_was_decided_in_an_epoch_that_is_over_is_decided_anew(regions: Regions) -> None:
    """Between its decision and its transaction the other region was the primary: what the journal tells is of now."""
    regions.join()

    def there_and_back(call: Call, carry_out: Callable[[], Any]) -> Any:
        if call.is_commit and regions.role(regions.a).epoch == 1:
            for epoch, kind in ((2, RegionKind.FOLLOWER), (3, RegionKind.PRIMARY)):
                regions.become(regions.a, replace(regions.role(regions.a), epoch=epoch, kind=kind))
        return carry_out()

    with closing(regions.store(regions.a, there_and_back)) as store:
        register("late")(Registry(store.catalog, store.bodies, regions.clock))
        assert max(store.journal.read(), key=lambda each: each[0])[1]["epoch"] == 3
