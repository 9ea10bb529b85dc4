"""How something is tried again: not for ever, and not by all at once."""

from sigla.backoff import Backoff
from tests.build import FixedClock


def test_the_first_try_waits_for_nothing_and_the_last_one_knows_it() -> None:
    clock = FixedClock()
    backoff = Backoff(clock, 0.1, tries=4)
    assert [next(iter(backoff))] == [False]
    assert clock.slept == []
    assert list(backoff) == [False, False, False, True]


def test_pauses_are_drawn_from_more_and_more_up_to_the_longest() -> None:
    """Two that met once are parted."""
    rounds = []
    for _ in range(200):
        clock = FixedClock()
        list(Backoff(clock, 0.1, 0.3, tries=5))
        rounds.append(clock.slept)
    longest = [max(pauses) for pauses in zip(*rounds, strict=True)]
    assert all(bound * 0.8 < found <= bound for found, bound in zip(longest, [0.1, 0.2, 0.3, 0.3], strict=True))
    assert len({pauses[0] for pauses in rounds}) == len(rounds)


def test_a_try_that_was_lost_a_thousand_times_has_a_pause() -> None:
    assert Backoff(FixedClock(), 0.02, 1.0).most_s(5_000) == 1.0
