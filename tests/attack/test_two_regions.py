"""Whatever happens to two regions, in any order: an id means one thing, and what was acknowledged comes back."""

import pytest

from sigla.regions import rules
from tests.attack.two_regions import BLOCK, lived

STEPS = 600
LIVES = 1_700
"""In all a million steps."""
AT_ONCE = 100


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK", BLOCK)


def test_two_regions_live_through_anything() -> None:
    """Three short lives in either mode of bodies, in which everything happens that may."""
    happened = lived(1, STEPS) + lived(3, STEPS) + lived(4, STEPS)
    assert happened.keys() >= {"promoted", "promoted by force", "rejoined", "abandoned"}
    assert happened["  read by its body alone"] > 0
    assert happened["  out of step"] > 0
    assert happened["  keys of a lost region"] > 0


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, LIVES, AT_ONCE))
def test_two_regions_live_a_million_steps(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        lived(seed, STEPS)
