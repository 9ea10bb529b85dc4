"""How a job tries again: not for ever, not all at once."""

import time

import pytest

from sigla_pipelines import retries


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits, in seconds, without waiting."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def test_the_first_try_waits_for_nothing_and_the_last_one_knows_it(slept: list[float]) -> None:
    """A try without company loses no time; one that fails at last says so."""
    assert [next(retries.tries())] == [False]
    assert slept == []
    assert list(retries.tries()) == [False] * (retries.TRIES - 1) + [True]


def test_pauses_are_drawn_from_more_and_more_and_end(slept: list[float]) -> None:
    """Two who met once are parted; all pauses together are shorter than a batch."""
    for _ in range(200):
        list(retries.tries())
    rounds = [slept[at : at + retries.TRIES - 1] for at in range(0, len(slept), retries.TRIES - 1)]
    longest = [max(pauses) for pauses in zip(*rounds, strict=True)]
    bounds = [retries.FIRST_PAUSE_S * 2**number for number in range(retries.TRIES - 1)]
    assert all(bound * 0.8 < found <= bound for found, bound in zip(longest, bounds, strict=True))
    assert sum(bounds) < 13
    assert len({pauses[0] for pauses in rounds}) == len(rounds)
