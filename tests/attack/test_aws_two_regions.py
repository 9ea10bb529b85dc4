"""Whatever happens to two regions in AWS, in any order: an id means one thing, and what was acknowledged comes back.

So does a key for field encryption, and it is the one that was acknowledged last. Nothing is denied that may be in a
region which is out.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from sigla.regions import rules
from sigla.stores.dynamodb import copying, fence
from tests.attack.aws_late import LateTables
from tests.attack.aws_two_regions import TwoTables, lived
from tests.attack.repeatable import repeat
from tests.attack.two_regions import BLOCK
from tests.contract import aws
from tests.contract.aws import of_two_parts

STEPS = 500
LIVES = 200
"""In all a hundred thousand steps."""
AT_ONCE = 10
HAPPENS = {
    "promoted by force",
    "rejoined",
    "equal",
    "  keys acknowledged",
    "  keys made anew",
    "  keys read",
    "  may be elsewhere",
}

Life = Callable[..., Counter[str]]
"""By its seed, how many steps it has, and in which regions; what happened how often."""


class Lives(NamedTuple):
    """drawn: what is drawn beside a life, by its seed."""

    account: aws.Account
    drawn: random.Random


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with pytest.MonkeyPatch.context() as patched, aws.account() as account:
        of_two_parts(patched)
        for module, name, value in ((fence, "COPIES", 2), (fence, "AT_ONCE", 1), (copying, "AT_ONCE", 1)):
            patched.setattr(module, name, value)
        patched.setattr(rules, "BLOCK", BLOCK)
        yield Lives(account, repeat(patched))


@pytest.fixture
def live(lives: Lives) -> Life:
    def live(seed: int, steps: int, of: type[TwoTables] = TwoTables) -> Counter[str]:
        lives.drawn.seed(seed)
        return lived(lives.account, seed, steps, of)

    return live


def test_two_regions_in_aws_live_through_a_while(live: Life) -> None:
    happened = live(0, 250)
    assert happened["  acknowledged"] > 0
    assert happened["equal"] > 0


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, LIVES, AT_ONCE))
def test_two_regions_in_aws_live_a_hundred_thousand_steps(live: Life, first: int) -> None:
    happened = Counter[str]()
    for seed in range(first, first + AT_ONCE):
        happened += live(seed, STEPS)
    assert happened.keys() >= HAPPENS
    assert happened["  read by its body alone"] > 0


def test_what_is_written_in_aws_may_come_late_or_twice(live: Life) -> None:
    happened = live(LIVES, 250, LateTables)
    assert happened["equal"] > 0
    assert happened["brought late"] > 0


@pytest.mark.parametrize("seed, of, what", [(260, LateTables, "abandoned"), (428, TwoTables, "promoted")])
def test_what_is_rare_in_aws_happens_in_some_lives(live: Life, seed: int, of: type[TwoTables], what: str) -> None:
    """Not in each ten of them. promoted: by plan, which any fault of the network may hinder."""
    assert live(seed, 160, of)[what] > 0


@pytest.mark.soak
@pytest.mark.parametrize("first", range(LIVES, 2 * LIVES, AT_ONCE))
def test_what_is_written_in_aws_may_come_late_or_twice_in_a_hundred_thousand_steps(live: Life, first: int) -> None:
    happened = Counter[str]()
    for seed in range(first, first + AT_ONCE):
        happened += live(seed, STEPS, LateTables)
    assert happened.keys() >= {*HAPPENS, "brought late"}
