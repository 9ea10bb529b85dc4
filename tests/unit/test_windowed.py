"""Work side by side: in order, bounded, none of it waiting for a group, and none left behind."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from sigla.windowed import windowed


def test_results_come_in_order() -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(windowed(pool, lambda number: number * 2, range(50), 8)) == [number * 2 for number in range(50)]


def test_one_that_takes_long_keeps_no_other_thread_waiting() -> None:
    """The first one ends when the fourth one has begun, which a group of two would not let begin."""
    fourth = Event()

    def work(number: int) -> int:
        if number == 0:
            assert fourth.wait(30)
        if number == 3:
            fourth.set()
        return number

    with ThreadPoolExecutor(2) as pool:
        assert list(windowed(pool, work, range(9), 4)) == list(range(9))


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_is_asked_for_than_is_wanted_soon(most: int) -> None:
    asked: list[int] = []

    def wanted() -> Iterator[int]:
        for number in range(20):
            asked.append(number)
            yield number

    with ThreadPoolExecutor(4) as pool:
        for number in windowed(pool, lambda each: each, wanted(), most):
            assert len(asked) <= number + most


def test_behind_a_failure_nothing_is_under_way() -> None:
    begun, ended = Event(), []

    def work(number: int) -> None:
        if number == 0:
            assert begun.wait(30)
            raise ValueError("the first one")
        begun.set()
        ended.append(number)

    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(ValueError, match="the first one"):
            list(windowed(pool, work, range(100), 4))
        left = len(ended)
        assert left <= 3
    assert len(ended) == left
