"""A primary that was closed, and whose other region is lost then, is opened by force."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sigla.errors import Closed
from sigla.regions import promotion, rejoining, rules
from sigla.regions.giving import carried_out
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import AlreadyPromoted, GivenUp, HasAFollower, NotToBeOpened, StillJoining, ToRejoin
from tests.attack.stories import TWO, register
from tests.contract.aws import moto
from tests.unit.regions.promoted import NOW, PRIMARY, Opened, Pair, opened
from tests.unit.regions.test_promotion import cut

__all__ = ["moto", "opened"]

URL, TABLES = "http://b", ("dynamodb+s3://here", "dynamodb+s3://there")
CLOSED = replace(PRIMARY, open=False, name="A", at=URL)
NEW, NEWER = (json.dumps({"type": "fixed", "name": "Hash", "size": size}) for size in (1, 2))
LAST = 30
"""No promotion takes as many steps."""


def cut_off(opened: Opened) -> Iterator[Pair]:
    """Regions between which a promotion was cut off after each of its steps, from the one that closes A on."""
    for step in range(LAST):
        pair = opened()
        seen = pair.roles[0].role()
        assert seen
        assert pair.roles[0].set_role(seen, replace(seen, name="A", at=URL))
        cut(pair.planned(url=URL), step, after=True)
        a, _ = pair.seen
        if a.kind is RegionKind.FOLLOWER:
            return
        if not a.open:
            yield pair
    raise AssertionError


def test_one_that_does_not_know_where_the_lost_region_is_hands_nothing_to_it(opened: Opened) -> None:
    """It knows it by its name alone, as one that follows: a follower that was never told where it is served."""
    pair = opened()
    seen = pair.roles[0].role()
    assert seen
    assert pair.roles[0].set_role(seen, replace(CLOSED, peer=KnownBy("B"), at="", turn=seen.turn))
    assert pair.seen[0].is_followed
    assert carried_out(promotion.forced(pair.roles[0], now=NOW)).changed
    a, _ = pair.seen
    assert (a.peer.name, a.writes, a.reconciled, a.is_followed) == ("B", True, False, False)


def test_it_goes_on_above_what_the_lost_region_gives_wherever_its_promotion_was_cut_off(opened: Opened) -> None:
    stories = set()
    for pair in cut_off(opened):
        given = set()
        if pair.seen[1].writes:
            given.add(register("new", NEW)(pair.b.registry).id)
        stories.add(bool(given))
        with pytest.raises(Closed):
            register("after", TWO)(pair.a.registry)
        assert carried_out(promotion.forced(pair.roles[0], now=NOW)).changed
        assert not carried_out(promotion.forced(pair.roles[0], now=NOW)).changed, "it is done"
        a, _ = pair.seen
        assert (a.epoch, a.writes, a.reconciled, a.is_followed) == (3, True, False, False)
        assert [(each.name, each.url) for each in a.out] == [("B", URL)]
        assert register("newer", NEWER)(pair.a.registry).id == 2 * rules.BLOCK + 1
        assert 2 * rules.BLOCK + 1 not in given
    assert stories == {False, True}


def test_the_promotion_that_was_cut_off_neither_goes_on_nor_is_taken_back(opened: Opened) -> None:
    for pair in cut_off(opened):
        carried_out(promotion.forced(pair.roles[0], now=NOW))
        seen = pair.seen
        with pytest.raises((GivenUp, ToRejoin)):
            carried_out(pair.planned("another"))
        with pytest.raises(AlreadyPromoted):
            carried_out(pair.undone())
        assert pair.seen == seen


def test_the_lost_region_rejoins_as_what_it_was_when_it_was_lost(opened: Opened) -> None:
    for pair in cut_off(opened):
        there = pair.roles[1].role()
        assert there
        assert pair.roles[1].set_role(there, replace(there, name="B"))
        carried_out(promotion.forced(pair.roles[0], now=NOW))
        back = rejoining.rejoined(*pair.roles, bring=lambda: None, forget=lambda: None, tables=TABLES)
        assert carried_out(back)
        a, b = pair.seen
        assert (a.reconciled, a.peer.name, a.at) == (True, "B", TABLES[1])
        assert (b.kind, b.joins, b.peer.url) == (RegionKind.JOINING, None, TABLES[0])


def test_a_region_that_is_back_late_leaves_the_place_to_the_one_that_follows_meanwhile(opened: Opened) -> None:
    """It was replaced while it was brought back: whoever follows has been told how far ids are given since."""
    *_, pair = cut_off(opened)
    assert pair.seen[1].writes
    here, there = pair.roles
    lost = there.role()
    assert lost
    assert there.set_role(lost, replace(lost, name="B"))
    carried_out(promotion.forced(here, now=NOW))

    def replaced() -> None:
        ours = here.role()
        assert ours
        known = rejoining.reconciled(ours, replace(lost, name="B"))
        assert here.set_role(ours, replace(known, peer=KnownBy("C"), at="another"))

    with pytest.raises(HasAFollower):
        carried_out(rejoining.rejoined(here, there, bring=replaced, forget=lambda: None, tables=TABLES))
    assert pair.seen[0].peer.name == "C"


def test_one_that_never_comes_back_is_abandoned(opened: Opened) -> None:
    pair = next(cut_off(opened))
    carried_out(promotion.forced(pair.roles[0], now=NOW))
    carried_out(promotion.abandoned(pair.roles[0], URL, forgets=True))
    a, _ = pair.seen
    assert (a.epoch, a.writes, a.reconciled, a.is_alone, a.out) == (5, True, True, True, [])


@pytest.mark.parametrize(
    "role",
    [
        pytest.param(replace(CLOSED, reconciled=False, traces="B\thttp://b\t0"), id="given up, perhaps"),
        pytest.param(replace(CLOSED, peer=KnownBy(), at=""), id="alone"),
    ],
)
def test_one_that_may_have_been_given_up_is_not_opened(opened: Opened, role: Role) -> None:
    """Whoever has given it up may have gone on without an end."""
    pair = opened()
    seen = pair.roles[0].role()
    assert seen
    assert pair.roles[0].set_role(seen, role)
    with pytest.raises(NotToBeOpened, match="it comes back by `sigla rejoin`"):
        carried_out(promotion.forced(pair.roles[0], now=NOW))
    assert pair.seen[0] == role


def test_an_older_copy_of_a_directory_is_not_opened(opened: Opened) -> None:
    """It does not know how far it gave ids."""
    pair = opened()
    carried_out(promotion.closed(pair.roles[0], 1, lacks=True))
    with pytest.raises(NotToBeOpened):
        carried_out(promotion.forced(pair.roles[0], now=NOW))


def test_one_that_the_other_region_waits_for_no_more_is_not_opened(opened: Opened) -> None:
    """It has rejoined, and is cut off before it joins: whoever follows the other one is told of all later blocks."""
    for step in range(LAST):
        pair = opened()
        carried_out(promotion.forced(pair.roles[1], now=NOW))
        back = rejoining.rejoined(*reversed(pair.roles), bring=lambda: None, forget=None)
        was_cut = cut(back, step, after=True)
        if pair.seen[1].reconciled:
            with pytest.raises(NotToBeOpened):
                carried_out(promotion.forced(pair.roles[0], now=NOW))
        if not was_cut:
            return
    raise AssertionError


def test_one_that_was_restored_is_not_opened(opened: Opened) -> None:
    pair = opened()
    carried_out(promotion.closed(pair.roles[0], 1))
    seen = pair.roles[0].role()
    assert seen
    assert pair.roles[0].set_role(seen, replace(seen, kind=RegionKind.JOINING))
    with pytest.raises(StillJoining):
        carried_out(promotion.forced(pair.roles[0], now=NOW))
