"""What the design of ids rests on: without each of its rules an id is given twice, as a story of each tells."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from tests.unit.regions import model, model_joining
from tests.unit.regions.model import BLOCK, FOLLOWER, JOINING, Design, Role, Site
from tests.unit.regions.test_ids import Operation, Pair


def registered(pair: Pair, at: Site, number: int) -> None:
    """No body reaches the other side, so nothing but the rules of ids keeps them apart."""
    for _ in range(number):
        pair.register(at, required=False).finish("put")


def a_raise_wakes_the_old_primary(pair: Pair) -> None:
    """B goes on by force, and raises at A, which does not know of B's epoch and has ids left."""
    registered(pair, pair.a, 1)
    Operation(model.forced(pair.b)).finish()
    registered(pair, pair.b, 2 * BLOCK)
    registered(pair, pair.a, 2 * BLOCK)


def a_first_draw_is_not_heard_of(pair: Pair) -> None:
    """B takes over high above the block of its epoch, is lost, and A takes over again."""
    registered(pair, pair.a, 5 * BLOCK)
    Operation(model.planned(pair.a, pair.b, 1)).finish()
    registered(pair, pair.b, 1)
    Operation(model.forced(pair.a)).finish()
    registered(pair, pair.a, 1)


def a_raise_is_known_only_where_it_was_told(pair: Pair) -> None:
    """A dies while it raises. B, which has heard of it, takes over and brings an id of that block; A comes back."""
    registered(pair, pair.a, BLOCK + 1)
    while ceiling(pair.a) < 2 * BLOCK or ceiling(pair.b) <= ceiling(pair.a):
        raising = pair.register(pair.a, required=False)
        while not raising.ended and (ceiling(pair.a) < 2 * BLOCK or ceiling(pair.b) <= ceiling(pair.a)):
            raising.step()
    brought = ceiling(pair.a) + 2
    Operation(pair.b.promote(pair.a, 1)).finish()
    pair.register(pair.b, wanted=brought, required=False).finish("put")
    Operation(pair.a.promote_by_force()).finish()
    registered(pair, pair.a, BLOCK)


def ceiling(site: Site) -> int:
    counter = site.read().counter
    return counter.ceiling if counter else 0


def a_raise_is_forgotten(pair: Pair) -> None:
    """B's raise is half done while A, which rejoins, forgets its rows: B gives ids that A never heard of."""
    Operation(model.forced(pair.b)).finish()
    registered(pair, pair.b, BLOCK)
    raising = pair.register(pair.b, required=False)
    while pair.a.table.counter is None:
        raising.step()
    Operation(model_joining.rejoined(pair.a, pair.b)).finish()
    raising.finish("put")
    Operation(model.forced(pair.a)).finish()
    registered(pair, pair.a, 1)


def a_restored_table_knows_nothing(pair: Pair) -> None:
    """B gives ids of its own, and its table comes back as it was before: A, which was never closed, raises there."""
    before = deepcopy(pair.b.table)
    Operation(model.forced(pair.b)).finish()
    registered(pair, pair.b, 1)
    pair.b.table = before
    pair.b.table.role = Role(1, JOINING)
    registered(pair, pair.a, BLOCK + 1)


def a_lost_follower_takes_over(pair: Pair) -> None:
    """A gives B up, which goes on by force, while A has a new follower."""
    registered(pair, pair.a, 1)
    new = pair.dismiss(pair.a, "C")
    assert new is not None
    Operation(model_joining.joined(new, pair.a)).finish()
    Operation(pair.b.promote_by_force()).finish()
    registered(pair, pair.b, BLOCK)
    registered(pair, pair.a, BLOCK)


def both_are_followed_by_others(pair: Pair) -> None:
    """B goes on by force and gets a follower, while A gives it up."""
    Operation(pair.b.promote_by_force()).finish()
    pair.others |= {"B": pair.site("D", JOINING), "D": pair.b}
    Operation(model_joining.joined(pair.others["B"], pair.b)).finish()
    registered(pair, pair.b, 3 * BLOCK)
    pair.dismiss(pair.a, "C")
    registered(pair, pair.a, BLOCK)


def a_closed_primary_is_opened(pair: Pair) -> None:
    """The last step of B's promotion does not come to A, which goes on by force when B is lost. B is not."""
    promotion = Operation(model.planned(pair.a, pair.b, 1))
    while pair.b.table.role.kind == FOLLOWER:
        promotion.step()
    registered(pair, pair.b, 1)
    Operation(pair.a.promote_by_force()).finish()
    registered(pair, pair.a, 1)
    registered(pair, pair.b, BLOCK)


def one_that_was_given_up_is_opened(pair: Pair) -> None:
    """A gives B up, which goes on by force, hears of A, and is closed; A has changed places with C by then."""
    new = pair.dismiss(pair.a, "C")
    assert new is not None
    Operation(model_joining.joined(new, pair.a)).finish()
    Operation(pair.b.promote_by_force()).finish()
    Operation(model.fenced(pair.b, pair.a)).finish()
    Operation(new.promote(pair.a, 1)).finish()
    registered(pair, new, 1)
    Operation(pair.b.promote_by_force()).finish()
    registered(pair, pair.b, 1)


def one_that_was_abandoned_is_opened(pair: Pair) -> None:
    """B goes on by force, abandons A, and changes places with C. A has heard of B before, and goes on by force now."""
    Operation(pair.b.promote_by_force()).finish()
    Operation(model.fenced(pair.a, pair.b)).finish()
    new = pair.abandon(pair.b, "C")
    assert new is not None
    Operation(model_joining.joined(new, pair.b)).finish()
    Operation(new.promote(pair.b, 1)).finish()
    registered(pair, new, 1)
    Operation(pair.a.promote_by_force()).finish()
    registered(pair, pair.a, 1)


def one_that_has_rejoined_is_opened(pair: Pair) -> None:
    """B goes on by force, A rejoins and is cut off before it joins, and C takes its place. Then A goes on by force."""
    Operation(pair.b.promote_by_force()).finish()
    rejoining = Operation(model_joining.rejoined(pair.a, pair.b))
    while pair.b.table.forced:
        rejoining.step()
    new = pair.take_place(pair.b, "C")
    Operation(model_joining.joined(new, pair.b)).finish()
    registered(pair, pair.b, 2 * BLOCK)
    Operation(pair.a.promote_by_force()).finish()
    registered(pair, pair.a, 1)


@pytest.mark.parametrize(
    "left_out, story",
    [
        ("marks", a_raise_wakes_the_old_primary),
        ("waits", a_first_draw_is_not_heard_of),
        ("tells", a_raise_is_known_only_where_it_was_told),
        ("keeps", a_raise_is_forgotten),
        ("joins", a_restored_table_knows_nothing),
        ("skips", a_lost_follower_takes_over),
        ("skips", one_that_was_abandoned_is_opened),
        ("awaits", both_are_followed_by_others),
        ("leaves", a_closed_primary_is_opened),
        ("knows", one_that_was_given_up_is_opened),
        ("ends", one_that_has_rejoined_is_opened),
    ],
)
def test_each_rule_is_needed(left_out: str, story: Callable[[Pair], None]) -> None:
    """A rule without which nothing goes wrong would be one too many, or the story would not be the one it is for."""
    whole, without = Pair(), Pair(Design()._replace(**{left_out: False}))
    story(whole)
    assert not whole.twice
    story(without)
    assert without.twice
