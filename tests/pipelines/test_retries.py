"""How a job tries again: not for ever."""

from sigla_pipelines.retries import LOST_RACE


def test_all_pauses_after_lost_races_together_are_shorter_than_a_batch() -> None:
    """A job that cannot write says so while the one who started it still looks."""
    assert sum(map(LOST_RACE.most_s, range(LOST_RACE.tries - 1))) < 13
