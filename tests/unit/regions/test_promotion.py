"""Promotions of real stores, cut off before and after each of their requests, and run again."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import pytest

from sigla.errors import Closed
from sigla.regions import promotion, rules
from sigla.regions.giving import Course, carried_out
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import (
    AlreadyPromoted,
    NotTheFollower,
    RoleChanged,
    ToRejoin,
)
from sigla.stores.sqlite.promoting import DirectoryPair
from tests.attack.stories import ONE, THREE, TWO, register
from tests.contract.aws import moto
from tests.unit.regions.promoted import (
    FOLLOWER,
    NOW,
    PRIMARY,
    Opened,
    check_as_before,
    check_promoted,
    opened,
    opened_often,
)
from tests.unit.registry.tell import s

__all__ = ["moto", "opened", "opened_often"]

# --- what becomes of it ----------------------------------------------------------------------------------------------


def test_nothing_that_was_acknowledged_is_lost(opened: Opened) -> None:
    pair = opened()
    done = carried_out(pair.planned(url="http://b"))
    assert (done.role, done.changed, done.brought) == (pair.roles[1].role(), True, 3)
    check_promoted(pair)


def test_a_region_that_was_promoted_is_left_alone(opened: Opened) -> None:
    pair = opened()
    carried_out(pair.planned(url="http://b"))
    roles = [each.role() for each in pair.roles]
    assert carried_out(pair.planned("u")).changed is False
    assert carried_out(promotion.forced(pair.roles[1], now=NOW)).changed is False
    assert [each.role() for each in pair.roles] == roles


def test_what_was_written_before_the_other_one_followed_is_brought_there(opened: Opened) -> None:
    """By clients whom the old primary refused. What it is told before it follows it passes by."""
    pair = opened()
    there = pair.there
    carried_out(pair.planned())
    register("after", TWO)(pair.b.registry)
    there.bring_back()
    brought = len(pair.a.store.catalog.history(s("after")))
    assert brought == (0 if isinstance(there, DirectoryPair) else 1)


def test_it_goes_back_the_same_way(opened: Opened) -> None:
    """The drill: B takes over and gives it back, and ids go on above those of both."""
    pair = opened()
    carried_out(pair.planned(url="http://b"))
    register("after", TWO)(pair.b.registry)
    back = replace(pair, roles=(pair.roles[1], pair.roles[0]), open_there=pair.open_back)
    assert carried_out(back.planned("u", url="http://a")).brought == 1
    a, b = pair.seen
    assert (a.epoch, a.kind, b.epoch, b.kind) == (3, RegionKind.PRIMARY, 3, RegionKind.FOLLOWER)
    assert pair.b.picture() == pair.a.picture()


# --- cut off ---------------------------------------------------------------------------------------------------------


class CutOff(Exception):
    """The process ends."""


def cut(course: Course[Any], number: int, *, after: bool) -> bool:
    """Carries out some requests of a course, and the next one too if it ends after that. Whether it was cut off."""
    go: Callable[[], Any] = partial(next, course)
    try:
        for at in count():
            request = go()
            if at == number and not after:
                return True
            answer = request()
            if at == number:
                return True
            go = partial(course.send, answer)
    except StopIteration:
        return False
    raise AssertionError


@pytest.mark.parametrize("after", [False, True])
def test_who_is_cut_off_anywhere_runs_it_again(opened_often: Opened, after: bool) -> None:
    for number in count():
        pair = opened_often()
        was_cut = cut(pair.planned(url="http://b"), number, after=after)
        carried_out(pair.planned("u", url="http://b"))
        check_promoted(pair)
        if not was_cut:
            break
    assert number >= 10


@pytest.mark.parametrize("after", [False, True])
def test_who_is_cut_off_before_the_last_steps_takes_it_back(opened_often: Opened, after: bool) -> None:
    """Itself cut off anywhere as well. Then nothing has happened; from the last step but one on it is refused."""
    done = set()
    for number in count():
        pair = opened_often()
        was_cut = cut(pair.planned(url="http://b"), number, after=after)
        role = pair.roles[1].role()
        assert role
        done.add(role.kind)
        if role.kind is RegionKind.PRIMARY:
            with pytest.raises(AlreadyPromoted):
                carried_out(pair.undone())
            carried_out(pair.planned("u", url="http://b"))
            check_promoted(pair)
        else:
            for again in count():
                if not cut(pair.undone(), again, after=after):
                    break
            carried_out(pair.undone())
            check_as_before(pair)
        if not was_cut:
            break
    assert done == {RegionKind.FOLLOWER, RegionKind.PRIMARY}


def test_a_primary_that_takes_note_of_its_follower_meanwhile_follows_all_the_same(opened: Opened) -> None:
    """Where it is served, say: it had not asked yet when its promotion was begun."""
    pair = opened()
    region, noted, answer = pair.roles[0], False, None
    course = pair.planned(url="http://b")
    with suppress(StopIteration):
        while True:
            answer = course.send(answer)()
            seen = region.role()
            if seen and not seen.open and not noted:
                noted = region.set_role(seen, replace(seen, at="http://elsewhere"))
    a, b = pair.seen
    assert (noted, a.kind, a.epoch, b.epoch) == (True, RegionKind.FOLLOWER, 2, 2)


@pytest.mark.parametrize("which", [0, 1], ids=["the primary", "the follower"])
def test_what_a_region_notes_during_the_rehearsal_hinders_no_promotion(opened: Opened, which: int) -> None:
    """Right after another promotion each says who and where it is, and the other one writes that down."""
    pair = opened()
    noted: dict[str, Any] = {
        "peer": KnownBy("renamed"),
        "at": "http://elsewhere",
        "name": "drawn",
        "reconciled": False,
        "lost": "C",
    }

    def rehearse() -> tuple[str, ...]:
        region = pair.roles[which]
        seen = region.role()
        assert seen
        assert region.set_role(seen, replace(seen, **noted))
        return ()

    assert carried_out(pair.planned(url="http://b", rehearse=rehearse)).changed
    a, b = pair.seen
    assert (a.kind, a.epoch, b.kind, b.epoch) == (RegionKind.FOLLOWER, 2, RegionKind.PRIMARY, 2)
    assert (a, b)[which].at == "http://elsewhere"


@pytest.mark.parametrize("changed", [{"token": "u"}, {"epoch": 3}, {"open": False}], ids=str)
@pytest.mark.parametrize("which", [0, 1], ids=["the primary", "the follower"])
def test_what_an_operator_does_during_the_rehearsal_ends_the_promotion(
    opened: Opened, which: int, changed: dict[str, Any]
) -> None:
    pair = opened()

    def rehearse() -> tuple[str, ...]:
        region = pair.roles[which]
        seen = region.role()
        assert seen
        assert region.set_role(seen, replace(seen, **changed))
        return ()

    course = pair.planned(url="http://b", rehearse=rehearse)
    with pytest.raises(RoleChanged):
        carried_out(course)
    assert pair.seen[which] == replace((PRIMARY, FOLLOWER)[which], **changed)
    assert pair.seen[1 - which] == (PRIMARY, FOLLOWER)[1 - which]


def test_of_two_who_promote_at_once_one_is_told(opened_often: Opened) -> None:
    """Whatever comes in between, at whichever request: nothing is lost, and there is one primary at most."""
    refused = 0
    for number in count():
        pair = opened_often()
        first = pair.planned(url="http://b")
        if not (go_on := paused(first, number)):
            break
        carried_out(pair.planned("u", url="http://b"))
        role = pair.roles[0].role()
        try:
            go_on()
        except (RoleChanged, NotTheFollower):
            refused += 1
        assert pair.roles[0].role() == role
        check_promoted(pair)
    assert refused >= 8


def test_who_was_taken_back_meanwhile_promotes_nothing(opened_often: Opened) -> None:
    """The other region is open again, and acknowledges what the first call would not bring."""
    for number in count():
        pair = opened_often()
        if not (go_on := paused(pair.planned(url="http://b"), number)):
            break
        role = pair.roles[1].role()
        assert role
        if not role.token or role.kind is RegionKind.PRIMARY:
            continue
        carried_out(pair.undone())
        register("meanwhile", ONE)(pair.a.registry)
        with pytest.raises(RoleChanged):
            go_on()
        check_as_before(pair)
    assert number >= 8


def paused(course: Course[Any], number: int) -> Callable[[], Any] | None:
    """Carries out some requests; what carries out the rest. None where it is over by then."""
    request = next(course)
    try:
        for _ in range(number):
            request = course.send(request())
    except StopIteration:
        return None

    def go_on() -> Any:
        return carried_out(resumed())

    def resumed() -> Course[Any]:
        answer = yield request
        return (yield from rest(course, answer))

    return go_on


def rest(course: Course[Any], answer: Any) -> Course[Any]:
    try:
        while True:
            answer = yield course.send(answer)
    except StopIteration as returned:
        return returned.value


# --- by force --------------------------------------------------------------------------------------------------------


def test_by_force_the_follower_goes_on_with_what_it_has(opened: Opened) -> None:
    pair = opened()
    assert carried_out(promotion.closed(pair.roles[0], 1)) is True
    assert carried_out(promotion.forced(pair.roles[1], now=NOW)).changed
    a, b = pair.seen
    assert a == replace(PRIMARY, open=False)
    assert b == Role(2, RegionKind.PRIMARY, peer=KnownBy("A"), reconciled=False, adopts=True, traces="A\tA\t0")
    with pytest.raises(Closed):
        register("after", TWO)(pair.a.registry)
    assert register("after", THREE)(pair.b.registry).id == rules.BLOCK + 1


def test_what_a_region_that_was_passed_over_has_is_not_thrown_away(opened: Opened) -> None:
    """It may have acknowledged what the primary lacks: it does not follow before it has rejoined.

    Who gives it up leaves the next epoch to it: it may be opened by force, cut off from all.
    """
    pair = opened()
    cut(pair.planned(url="http://b"), 6, after=True)
    assert not pair.seen[0].open
    carried_out(promotion.forced(pair.roles[1], now=NOW))
    seen = pair.seen
    with pytest.raises(ToRejoin):
        carried_out(pair.planned("u", url="http://b"))
    carried_out(promotion.abandoned(pair.roles[1]))
    with pytest.raises(ToRejoin):
        carried_out(pair.planned("u", url="http://b"))
    assert pair.seen == (seen[0], replace(seen[1], epoch=4, reconciled=True, traces=pair.seen[1].traces))
    assert [each.abandoned for each in pair.seen[1].abandoned] == [True] * bool(seen[1].peer.url)


def test_only_a_primary_gives_the_other_region_up(opened: Opened) -> None:
    pair = opened()
    with pytest.raises(NotTheFollower):
        carried_out(promotion.abandoned(pair.roles[1]))
    assert carried_out(promotion.abandoned(pair.roles[0])).changed is False


def test_a_region_that_joins_is_named_in_a_sentence(opened: Opened) -> None:
    pair = opened()
    seen = pair.roles[1].role()
    assert seen
    assert pair.roles[1].set_role(seen, replace(seen, kind=RegionKind.JOINING))
    with pytest.raises(NotTheFollower, match="and the region is the joining region of epoch 1: give the URL"):
        carried_out(promotion.abandoned(pair.roles[1]))


def test_a_region_that_is_closed_once_more_stays_so(opened: Opened) -> None:
    """One that follows by now takes no writes anyway, and keeps its role."""
    pair = opened()
    for _ in range(2):
        assert carried_out(promotion.closed(pair.roles[0], 1)) is True
    assert carried_out(promotion.closed(pair.roles[1], 1)) is True
    assert pair.seen == (replace(PRIMARY, open=False), FOLLOWER)
