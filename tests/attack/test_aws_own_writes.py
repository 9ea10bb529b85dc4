"""Who writes through a region that follows reads there what was written: it is brought back before the answer."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from threading import Event
from typing import Any

import pytest

from sigla.regions.moved import MOST_COMMITS, Moved, header_of, moved_of, noted
from sigla.regions.nouns import RegionKind
from sigla.stores.dynamodb.bringing import BroughtBack
from tests.attack.aws import failing
from tests.attack.aws_replay import check_equal
from tests.attack.ports import At, Between, Call
from tests.attack.replay import TRAFFIC, ask
from tests.attack.stories import HISTORY, THREE, TWO, config, register
from tests.attack.test_aws_copying import account, two
from tests.attack.test_aws_region_turns import Regions
from tests.attack.world import Verb, World
from tests.contract.aws import Account
from tests.unit.aws.faults import Fault, Killed

__all__ = ["account"]

PATIENCE_S = 60.0
"""By a clock that pauses move; it is not met by that of a busy machine."""


class Joined(Regions):
    """A is the primary, and B follows it."""

    def write(self, verb: Verb) -> Moved:
        """A request that came from B: what A says that it has moved."""
        with noted() as notes:
            ask(self.a, [verb])
        return moved_of(header_of(notes.moved))

    def bring(self, moved: Moved, here: Between | None = None, there: Between | None = None) -> bool:
        at_home, away = self.store(self.b, here), self.store(self.a, there)
        try:
            return BroughtBack(at_home, away, patience_s=PATIENCE_S)(moved)
        finally:
            at_home.close()
            away.close()

    def rows(self, world: World) -> set[Any]:
        """Times and nonces in a journal."""
        return {(at, row["nonce"]) for at, row, _ in self.store(world).journal.rows(0)}


@pytest.fixture
def regions(account: Account) -> Iterator[Joined]:
    with two(account) as (a, b):
        ask(a, HISTORY)
        found = Joined(a, b)
        found.arm()
        found.join()
        yield found


def test_each_write_is_there_before_its_answer(regions: Joined) -> None:
    """Whatever kind of change it is, and in however many commits; the turn that comes later finds nothing to do."""
    for verb in TRAFFIC:
        moved = regions.write(verb)
        assert regions.bring(moved)
        assert {*moved.commits} <= regions.rows(regions.b)
    assert regions.turn(regions.b)["carry_out"] == 0
    check_equal(regions.a, regions.b)


def test_what_a_write_rests_on_comes_with_it(regions: Joined) -> None:
    """Others write at the primary, and what they wrote is still on its way."""
    regions.write(register("news"))
    regions.write(config("news", level="NONE"))
    regions.write(register("news", TWO))
    assert regions.bring(regions.write(register("news", THREE)))
    check_equal(regions.a, regions.b)


def test_a_write_that_finds_nothing_to_do_rests_on_what_it_has_found(regions: Joined) -> None:
    """A known schema, registered once more: others wrote it at the primary a moment ago."""
    regions.write(register("news"))
    moved = regions.write(register("news"))
    assert (moved.commits, moved.seen is not None) == ((), True)
    assert regions.bring(moved)
    check_equal(regions.a, regions.b)
    calls = list[str]()
    assert regions.bring(regions.write(register("news")), there=counting(calls))
    assert calls == [], "what is here already is not asked for"


def test_one_that_tells_nothing_is_compared_with_all(regions: Joined) -> None:
    regions.write(register("news"))
    assert regions.bring(Moved())
    check_equal(regions.a, regions.b)


def test_one_that_tells_as_many_commits_as_fit_may_have_made_more(regions: Joined) -> None:
    names = [regions.write(register(f"news-{number}")).commits[0] for number in range(3)]
    regions.write(register("unnamed"))
    assert regions.bring(Moved((names * MOST_COMMITS)[:MOST_COMMITS]))
    check_equal(regions.a, regions.b)


def test_the_common_write_asks_the_other_region_twice(regions: Joined) -> None:
    """For its row and its body; the rest is asked at home."""
    calls = list[str]()
    assert regions.bring(regions.write(register("news")), there=counting(calls))
    assert calls == ["dynamodb.batch_get_item", "s3.get_object"]


def counting(calls: list[str]) -> Between:
    def act(call: Call, carry_out: Callable[[], Any]) -> Any:
        calls.append(call.name)
        return carry_out()

    return act


@pytest.mark.parametrize("side", ["here", "there"])
@pytest.mark.parametrize(
    "fault",
    [
        Fault.SILENT,
        *(
            pytest.param(each, marks=pytest.mark.soak)
            for each in (Fault.KILLED_AFTER, Fault.LOST, Fault.KILLED, Fault.THROTTLED)
        ),
    ],
)
def test_wherever_it_fails_who_is_told_that_it_is_written_reads_it(regions: Joined, side: str, fault: Fault) -> None:
    """A call that fails once is made up for; an instance that ends tells its client nothing."""
    acted = True
    for number in count():
        regions.write(register(f"subject-{number}"))
        moved = regions.write(register(f"subject-{number}", TWO))
        trap = At(number, failing(fault))
        try:
            assert regions.bring(moved, **{side: trap})
        except Killed:
            assert fault in (Fault.KILLED, Fault.KILLED_AFTER)
        else:
            assert {*moved.commits} <= regions.rows(regions.b)
        if not (acted := trap.acted):
            break
    assert not acted
    assert number > 3
    regions.turn(regions.b)
    check_equal(regions.a, regions.b)


def test_where_the_other_region_does_not_answer_that_is_told(regions: Joined) -> None:
    """As one that is not here: then the client is not told that it reads it."""
    for moved in (regions.write(register("news")), regions.write(register("news")), Moved()):
        assert not regions.bring(moved, there=failing(Fault.SILENT))
    regions.turn(regions.b)
    check_equal(regions.a, regions.b)


def test_a_call_that_never_ends_is_not_waited_for(regions: Joined) -> None:
    """What it does when it goes on is right, however late."""
    moved, goes_on = regions.write(register("news")), Event()

    def hang(_: Call, carry_out: Callable[[], Any]) -> Any:
        goes_on.wait()
        return carry_out()

    away, at_home = regions.store(regions.a, hang), regions.store(regions.b)
    assert not BroughtBack(at_home, away, patience_s=0.01)(moved)
    goes_on.set()
    assert regions.bring(moved)
    check_equal(regions.a, regions.b)


def test_the_function_of_two_regions_brings_the_same_at_the_same_time(regions: Joined) -> None:
    """Whoever is first: each commit is carried out once."""
    for number in count():
        moved = regions.write(register(f"subject-{number}"))

        def beside(_: Call, carry_out: Callable[[], Any], moved: Moved = moved) -> Any:
            assert regions.bring(moved)
            return carry_out()

        trap = At(number, beside)
        assert regions.bring(moved, here=trap)
        if not trap.acted:
            break
    check_equal(regions.a, regions.b)


def test_a_region_that_does_not_follow_any_more_waits_for_nothing(regions: Joined) -> None:
    """Promoted meanwhile, also in the middle of it: what was written before is drained, or the command tells it."""
    for number in count():
        moved = regions.write(register(f"subject-{number}"))
        was = regions.role(regions.b)

        def promote(_: Call, carry_out: Callable[[], Any]) -> Any:
            regions.become(regions.b, replace(regions.role(regions.b), kind=RegionKind.PRIMARY, epoch=2))
            return carry_out()

        trap = At(number, promote)
        assert regions.bring(moved, here=trap)
        if not trap.acted:
            break
        regions.become(regions.b, was)


def test_what_no_region_tells_is_not_believed() -> None:
    for wrong in ("commit=x-y", "revision=many", "commit="):
        with pytest.raises(ValueError):
            moved_of(wrong)
    assert moved_of("") == Moved()
