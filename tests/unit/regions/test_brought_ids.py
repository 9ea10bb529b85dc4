"""An id that imports bring means one thing in both regions: every course that two regions can take, step by step.

Two regions, one id, two contents. An import may end, or be refused, behind each of its steps; the way to the other
region may be open or cut; a commit is carried out in the follower whenever it comes, or waits there for others; regions
are promoted by plan and by force, rejoin, and are abandoned. What is told is remembered.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import pytest

CONTENTS = "XY"


class Design(NamedTuple):
    """What the promise rests on; tests leave out one at a time."""

    marks: bool = True
    own_place_first: bool = True
    gives_way: bool = True
    stands_at_any_moment: bool = True


class Site(NamedTuple):
    """body: what stands in the bucket. marks: contents that the other region has handed over. held: by a commit."""

    body: str = ""
    marks: frozenset[str] = frozenset()
    held: str = ""


class World(NamedTuple):
    """here: was promoted last. apart: the other one was passed over by force, and may go on until it hears of that.

    adopts: since the first promotion by force. acknowledged: to whom imports it. told: that, or read. required: the
    mode of bodies. is_kept: the region that was promoted last, or the one that follows it, has kept what the commit of
    the other one says, which waits for others and may never be carried out.
    """

    here: Site = Site()
    there: Site = Site()
    apart: bool = False
    adopts: bool = False
    required: bool = True
    is_kept: bool = False
    acknowledged: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()

    def swapped(self) -> Self:
        return self._replace(here=self.there, there=self.here)


def meaning(world: World, design: Design) -> str:
    """At the region that was promoted last."""
    site = world.here
    adoptable = site.body in site.marks or not design.marks
    return site.held or (site.body if world.adopts and adoptable else "")


def imported(world: World, content: str, design: Design) -> Iterator[World]:
    """At `here`, which believes that the other one follows: what there may be after each step."""
    for is_here in (True, False) if design.own_place_first else (False, True):
        if not is_here and not world.required:
            yield from committed(world, content)  # no answer comes, and it goes on
        site = world.here if is_here else world.there
        if site.body not in ("", content):
            return
        site = site._replace(body=content)
        world = world._replace(here=site) if is_here else world._replace(there=site)
        yield world
        if not is_here:
            world = world._replace(there=site._replace(marks=site.marks | {content}))
            yield world
    yield from committed(world, content)


def committed(world: World, content: str) -> Iterator[World]:
    if world.here.body == content and world.here.held in ("", content):
        here, acknowledged = world.here._replace(held=content), world.acknowledged | {content}
        yield world._replace(here=here, acknowledged=acknowledged, told=world.told | {content})


def kept(world: World, design: Design) -> Iterator[World]:
    """The follower has the commit of its primary, and cannot carry it out yet: its body means something by then."""
    here, there = world.here, world.there
    if not here.held or there.held:
        return
    if there.body == here.held and not design.stands_at_any_moment:
        yield world._replace(there=there._replace(body=""))
    if there.body in ("", here.held) or design.gives_way:
        there = there._replace(body=here.held, marks=there.marks | {here.held})
        yield world._replace(there=there, is_kept=True)


def carried_out(world: World, design: Design) -> World:
    """The follower has every commit of its primary; what stands in its way is of an import that was refused."""
    here, there = world.here, world.there
    if not here.held or there.held:
        return world
    stays = there.body and not design.gives_way
    return world._replace(there=there._replace(held=here.held, body=there.body if stays else here.held))


def rejoined(world: World, design: Design) -> World:
    """What was acknowledged there comes over, where nothing is in its way; then that region follows, from a copy."""
    here, there = world.here, world.there
    if there.held and not here.held:
        is_nobodys = here.body not in here.marks and design.gives_way
        if not here.body or here.body == there.held or is_nobodys:
            here = here._replace(held=there.held, body=there.held)
    there = Site(there.body or here.body, there.marks | here.marks, held="")
    return carried_out(world._replace(here=here, there=there, apart=False, is_kept=False), design)


def next_ones(world: World, design: Design) -> Iterator[World]:
    told = meaning(world, design)
    if told:
        yield world._replace(told=world.told | {told})  # it is read
    for content in CONTENTS:
        if not world.apart:
            yield from imported(world, content, design)
        else:
            # Passed over, it goes on until it hears of that. The new one admits what it knows by the id, and no more.
            yield from (each.swapped() for each in imported(world.swapped(), content, design))
            if told == content:
                yield from committed(world, content)
    if not world.apart:
        yield from kept(world, design)
        yield carried_out(world, design)
        yield carried_out(world, design).swapped()  # by plan
        yield world.swapped()._replace(apart=True, adopts=True)  # by force
    else:
        yield rejoined(world, design)
        # The other one is abandoned: what only it had is lost, and an empty one follows.
        alone = world._replace(apart=False, is_kept=False, there=Site(world.here.body, world.here.marks))
        known = frozenset({told} - {""})
        yield carried_out(alone._replace(told=known, acknowledged=alone.acknowledged & known), design)


def courses(design: Design) -> Iterator[World]:
    """Every state that there may be."""
    waiting = [World(required=True), World(required=False)]
    met = set(waiting)
    while waiting:
        yield (world := waiting.pop())
        new = set(next_ones(world, design)) - met
        met |= new
        waiting += new


def has_two_meanings(world: World, design: Design) -> bool:
    return len({*world.told, meaning(world, design)} - {""}) > 1


def is_lost(world: World, design: Design) -> bool:
    """Whether what was acknowledged is not read: where both took it, even while the other region is out."""
    is_promised = world.required or world.is_kept or not world.apart
    return is_promised and bool(world.acknowledged) and meaning(world, design) not in world.acknowledged


def test_an_id_that_is_brought_never_has_two_meanings_and_keeps_the_one_that_was_acknowledged() -> None:
    design, states = Design(), 0
    for world in courses(design):
        states += 1
        assert not has_two_meanings(world, design), world
        assert not is_lost(world, design), world
        assert not world.there.held or world.apart or world.there.held == world.here.held, world
    assert states > 100


@pytest.mark.parametrize("rule", Design._fields)
def test_each_rule_is_needed(rule: str) -> None:
    design = Design()._replace(**{rule: False})
    assert any(has_two_meanings(world, design) or is_lost(world, design) for world in courses(design))
