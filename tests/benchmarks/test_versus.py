"""What counts as worse when two commits are measured in alternating runs."""

import pytest

from benchmarks.harness import ROOT
from benchmarks.versus import Compared, compared, lines_of

STEADY = (100.0, 101.0, 99.0, 100.0, 100.5)


def _times(factor: float) -> list[float]:
    return [factor * each for each in STEADY]


def test_a_line_is_worse_beyond_five_percent_and_beyond_the_spread() -> None:
    assert Compared("a read", STEADY, _times(1.08), "s").is_worse
    assert not Compared("a read", STEADY, _times(1.04), "s").is_worse


def test_a_difference_within_the_spread_is_no_difference() -> None:
    """A disk whose runs differ by a third says nothing about eight percent."""
    unsteady = (80.0, 90.0, 100.0, 120.0, 130.0)
    assert not Compared("a write", unsteady, _times(1.08), "s").is_worse


def test_of_a_rate_less_is_worse() -> None:
    assert Compared("registrations", STEADY, _times(0.9), "/s", rises=True).is_worse
    assert not Compared("registrations", STEADY, _times(1.5), "/s", rises=True).is_worse


def test_ratios_are_compared_where_a_baseline_ran_beside() -> None:
    """The machine may have been slower in one run: the baseline beside it was slower, too."""
    lines = {"a read": [{"what": "a read", "figure": 9.0, "ratio": 1.5, "unit": "s"}]}
    slower = {"a read": [{"what": "a read", "figure": 18.0, "ratio": 1.5, "unit": "s"}], "new": []}
    (line,) = compared(lines, {"a read": slower["a read"]})
    assert line.change == 0
    assert not line.is_worse


def test_a_line_that_one_side_lacks_is_not_compared() -> None:
    assert compared({}, {"a read": [{"what": "a read", "figure": 9.0, "ratio": None, "unit": "s"}]}) == []


@pytest.mark.process
def test_a_benchmark_that_does_not_run_ends_the_comparison() -> None:
    """Else nothing would have become worse."""
    with pytest.raises(SystemExit, match="missing did not run in"):
        lines_of(ROOT, "missing", [])
