"""Commands of two regions in AWS, paused at each of their requests while another one runs to its end.

Or a client's request does, or a minute's turn of both stacks, or a table is restored. Then the paused one goes on, and
an operator follows the run book. No id means two things, what was acknowledged is there, every command has said the
truth, and one region takes writes while the other one follows.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from random import Random
from typing import Any, Final, NamedTuple

import pytest

from tests.attack.paused_checks import ids_with_two_meanings, not_at_its_end, untrue
from tests.attack.paused_land import Land, Outcome, in_one_thread, unpaused
from tests.attack.paused_matrix import COMMANDS, PAUSED, SITUATIONS, WHOLE, Run, good_end, text
from tests.attack.paused_stores import Paused


class Pausing:
    """Before the `number`-th request of what is paused, something else runs to its end."""

    def __init__(self, land: Land, number: int, meanwhile: Run) -> None:
        self._land = land
        self._left = number
        self._meanwhile = meanwhile
        self.is_over = False
        self.did: Outcome | None = None

    def __call__(self, _: str) -> None:
        self._left -= 1
        if self._left < 0 and not self.is_over:
            self.is_over = True
            self.did = self._meanwhile(self._land, unpaused)


class Start(NamedTuple):
    land: Land
    moment: Any


@pytest.fixture(scope="module")
def starts() -> Iterator[Mapping[str, Start]]:
    """Each situation, made once."""
    with in_one_thread():
        made = {}
        for name, situation in SITUATIONS.items():
            situation(land := Land())
            made[name] = Start(land, land.copied())
        yield made


def wrong(start: Start, paused: str, meanwhile: Run, number: int) -> list[str] | None:
    """What does not hold; None where what is paused has no more requests than that."""
    land = start.land
    land.put_back(start.moment)
    for which in "AB":
        land.function(which)  # which remembers what it has read
    pausing = Pausing(land, number, meanwhile)
    done = PAUSED[paused](land, pausing)
    if not pausing.is_over:
        return None
    found = [*untrue(land, done), *untrue(land, pausing.did), *ids_with_two_meanings(land)]
    good_end(land)
    return [*found, *ids_with_two_meanings(land), *not_at_its_end(land)]


def check(start: Start, paused: str, meanwhile: str, *, step: int = 1, first: int = 0) -> int:
    """How many runs that were."""
    for runs in count():
        found = wrong(start, paused, WHOLE[meanwhile], first + runs * step)
        if found is None:
            return runs
        assert not found, f"{paused} paused before request {first + runs * step}, meanwhile {meanwhile}"
    raise AssertionError


@pytest.mark.parametrize("situation", SITUATIONS)
def test_whatever_has_begun_comes_to_a_good_end(situation: str, starts: Mapping[str, Start]) -> None:
    start = starts[situation]
    start.land.put_back(start.moment)
    good_end(start.land)
    assert not [*ids_with_two_meanings(start.land), *not_at_its_end(start.land)]


@pytest.mark.parametrize(
    "situation, paused, meanwhile",
    [
        ("healthy", "promote B", "promote B"),
        ("healthy", "promote B", "undo B"),
        ("healthy", "promote B", "B leads, A by force"),
        ("healthy", "turns", "B leads, A by force"),
        ("healthy", "turns", "B by force, A rejoins"),
        ("healthy", "turns", "turns"),
        ("healthy", "register at A", "promote B"),
        ("healthy", "import at A", "B by force, A rejoins"),
        ("healthy", "dismiss at A", "register at A"),
        ("promoted_by_force", "rejoin A", "rejoin A"),
        ("promoted_by_force", "rejoin A", "B by force, A rejoins and leads"),
        ("joining", "turns", "dismiss at B"),
        ("rejoining", "rejoin A", "dismiss at B"),
        ("primary_restored_and_passed_over", "rejoin A", "rejoin A"),
    ],
)
def test_what_is_paused_goes_on_as_if_nothing_had_been(
    situation: str, paused: str, meanwhile: str, starts: Mapping[str, Start]
) -> None:
    """A part of all: at every fifth request."""
    assert check(starts[situation], paused, meanwhile, step=5, first=1) > 0


@pytest.mark.soak
@pytest.mark.parametrize("situation", SITUATIONS)
def test_whatever_is_paused_goes_on_as_if_nothing_had_been(situation: str, starts: Mapping[str, Start]) -> None:
    dice = Random(situation)
    for _ in range(100):
        paused, meanwhile, number = dice.choice(sorted(PAUSED)), dice.choice(sorted(WHOLE)), dice.randrange(60)
        found = wrong(starts[situation], paused, WHOLE[meanwhile], number)
        assert not found, f"{paused} paused before request {number}, meanwhile {meanwhile}"


COMMANDS_OF_TWO: Final = ("rejoin A", "promote B", "force B", "rejoin B", "promote A", "force A")


def also_paused(paused: str, meanwhile: str, number: int, untold: list[str]) -> Run:
    """untold: gets what the one says that runs to its end meanwhile, and is not so."""

    def run(land: Land, _: Paused) -> Outcome | None:
        pausing = Pausing(land, number, WHOLE[meanwhile])
        done = PAUSED[paused](land, pausing)
        untold.extend(untrue(land, pausing.did))
        return done

    return run


@pytest.mark.soak
@pytest.mark.parametrize("situation", SITUATIONS)
def test_two_commands_that_are_paused_at_once_go_on_as_if_nothing_had_been(
    situation: str, starts: Mapping[str, Start]
) -> None:
    """From the machines of two operators."""
    dice = Random(f"two in {situation}")
    for _ in range(100):
        (one, other), meanwhile = dice.choices(COMMANDS_OF_TWO, k=2), dice.choice(sorted(WHOLE))
        first, second, untold = dice.randrange(50), dice.randrange(50), list[str]()
        found = wrong(starts[situation], one, also_paused(other, meanwhile, second, untold), first)
        told = f"{one} paused before request {first}, {other} before {second}, meanwhile {meanwhile}"
        assert not [*(found or ()), *untold], told


def test_a_region_that_takes_writes_back_within_a_minute_gives_a_schema_the_id_that_it_has(
    starts: Mapping[str, Start],
) -> None:
    """Its function remembers that it was the primary; what the other one acknowledged stands here by its body alone."""
    land, moment = starts["healthy"]
    land.put_back(moment)
    land.function("A")
    COMMANDS["promote B"](land, unpaused)
    land.function("B").register("orders", text(60))
    COMMANDS["force A alone"](land, unpaused)
    land.function("A").register("orders", text(60))
    there, here = land.known.acks[-2:]
    assert (there.site, here.site) == ("B", "A")
    assert here.id == there.id
