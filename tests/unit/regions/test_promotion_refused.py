"""What hinders a promotion is told before anything is changed, or can be taken back."""

from dataclasses import replace
from typing import Any

import pytest

from sigla.regions import promotion, rules
from sigla.regions.draining import rehearsal
from sigla.regions.giving import carried_out
from sigla.regions.nouns import RegionKind
from sigla.regions.refusals import (
    GivenUp,
    LacksItsOwn,
    NoSecondRegion,
    NotRehearsed,
    RegionsApart,
    RoleTooNew,
    StillJoining,
)
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.sqlite.promoting import DirectoryPair
from tests.attack import replay
from tests.attack.stories import TWO, register, said
from tests.attack.world import World
from tests.contract.aws import moto
from tests.unit.regions.promoted import FOLLOWER, NOW, PRIMARY, Opened, Pair, check_as_before, opened
from tests.unit.registry.tell import s

__all__ = ["moto", "opened"]

# --- rehearsed -------------------------------------------------------------------------------------------------------


def test_what_a_follower_lacks_for_long_is_told_before_anything_is_closed(opened: Opened) -> None:
    """A table is not promoted while what is committed does not come. A directory is brought all of it at the end."""
    pair = opened()
    there = pair.there
    if isinstance(there, TablePair):
        (behind,) = rehearsal(*there._numbers, there._comparison.replayer, pair.a.clock, bring=tuple)
        assert behind.startswith("What was committed more than 10 s ago is not here, of settings of orders, subject l")
    assert there.rehearse() == []
    assert len(pair.b.store.catalog.history(s("late"))) == (0 if isinstance(there, DirectoryPair) else 1)


def test_a_primary_that_is_written_to_all_the_while_is_rehearsed(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And tells of nothing: what is written once the rehearsal has begun is brought at the end."""
    pair = opened()
    there = pair.there
    if isinstance(there, TablePair):
        catch_up = there._comparison.catch_up

        def write_meanwhile(*asked: Any) -> object:
            brought = catch_up(*asked)
            register("late", TWO)(pair.a.registry)
            return brought

        monkeypatch.setattr(there._comparison, "catch_up", write_meanwhile)
    assert there.rehearse() == []


def test_a_follower_that_has_what_its_primary_has_not_is_told(opened: Opened) -> None:
    pair = opened()
    pair.there.drain.look()
    go_own_way(pair)
    register("orders", None, metadata=said(owner="b"))(pair.a.registry)
    if not isinstance(pair.there, DirectoryPair):
        pair.there.drain.look()
    (why,) = pair.there.rehearse()
    assert "diverge" in why or "went its own way before row 7" in why


def test_rows_of_long_ago_are_looked_at_where_the_regions_differ(opened: Opened) -> None:
    """A promotion that was cut off is run again days later."""
    pair = opened()
    pair.a.clock.time += 3 * 24 * 3_600_000
    assert carried_out(pair.planned(rehearse=tuple)).brought == 3


# --- what is refused -------------------------------------------------------------------------------------------------


def test_what_a_rehearsal_finds_changes_nothing(opened: Opened) -> None:
    pair = opened()
    with pytest.raises(NotRehearsed, match="It is 12 s behind"):
        carried_out(pair.planned(rehearse=lambda: ["It is 12 s behind."]))
    check_as_before(pair)


@pytest.mark.parametrize("armed", ["here", "there"])
def test_no_region_is_promoted_before_every_writer_knows_of_it(opened: Opened, armed: str) -> None:
    """Planned or by force: who has found no role a moment ago may still be giving ids."""
    pair = opened()
    region = pair.roles[1 if armed == "here" else 0]
    role = region.role()
    assert role
    region.set_role(role, replace(role, armed=NOW - rules.KNOWN_MS + 1))
    with pytest.raises(RoleTooNew, match="in 1 minutes"):
        carried_out(pair.planned())
    if armed == "here":
        with pytest.raises(RoleTooNew):
            carried_out(promotion.forced(region, now=NOW))
    assert carried_out(pair.planned(now=NOW + 1)).changed


def test_a_region_that_does_not_have_everything_is_not_promoted(opened: Opened) -> None:
    pair = opened()
    role = pair.roles[1].role()
    assert role
    pair.roles[1].set_role(role, replace(role, kind=RegionKind.JOINING))
    for course in (pair.planned(), promotion.forced(pair.roles[1], now=NOW)):
        with pytest.raises(StillJoining):
            carried_out(course)


def test_a_follower_of_another_epoch_is_not_promoted(opened: Opened) -> None:
    pair = opened()
    role = pair.roles[0].role()
    assert role
    pair.roles[0].set_role(role, replace(role, epoch=3))
    with pytest.raises(GivenUp, match="is in epoch 3"):
        carried_out(pair.planned())


@pytest.mark.parametrize("token", ["", "of the promotion before"])
def test_an_older_copy_of_a_primary_neither_follows_by_plan_nor_takes_writes_again(opened: Opened, token: str) -> None:
    """It would give ids once more that the follower knows: that one goes on by force."""
    pair = opened()
    here, there = pair.roles
    for role in (here, there):
        seen = role.role()
        assert seen
        assert role.set_role(seen, replace(seen, token=token))
    assert carried_out(promotion.closed(here, PRIMARY.epoch, lacks=True))
    with pytest.raises(LacksItsOwn):
        carried_out(pair.planned())
    with pytest.raises(LacksItsOwn):
        carried_out(promotion.undone(there, here))
    assert not pair.seen[0].writes
    assert carried_out(promotion.forced(there, now=NOW)).changed


def test_a_registry_without_a_second_region_says_so(opened: Opened) -> None:
    pair = opened()
    with World() as lone:
        region = replay.embedded(lone).region
        for course in (
            promotion.forced(region, now=NOW),
            promotion.planned(region, pair.roles[0], pair.there.drain, rehearse=tuple, token="t", now=NOW),
        ):
            with pytest.raises(NoSecondRegion):
                carried_out(course)


def test_a_follower_that_went_its_own_way_is_not_promoted(opened: Opened) -> None:
    """The other region stays closed, which the answer says, and is opened by taking it back."""
    pair = opened()
    pair.there.drain.look()
    go_own_way(pair)
    register("orders", None, metadata=said(owner="b"))(pair.a.registry)
    with pytest.raises(RegionsApart, match="--undo"):
        carried_out(pair.planned())
    assert pair.seen == (replace(PRIMARY, open=False, token="t"), replace(FOLLOWER, token="t"))
    carried_out(pair.undone())
    check_as_before(pair)


def go_own_way(pair: Pair) -> None:
    """A commit that the primary does not have."""
    role = pair.roles[1].role()
    assert role
    primary = replace(role, kind=RegionKind.PRIMARY)
    assert pair.roles[1].set_role(role, primary)
    register("orders", None, metadata=said(owner="a"))(pair.b.registry)
    standing = pair.roles[1].role()
    assert pair.roles[1].set_role(standing, replace(primary, kind=RegionKind.FOLLOWER))
