"""A window on a list, however long that is."""

import itertools
import time

import pytest

from sigla.effort import Effort, Limits, TurnOver
from sigla.model import Page
from sigla.registry.paging import paged


def test_a_long_list_can_be_left_in_the_middle() -> None:
    """A list of all subjects must not stand before another one's answer: it goes on elsewhere."""
    request = Effort(Limits(), itertools.count().__next__, time.monotonic)
    with request.turn(3), pytest.raises(TurnOver):
        paged(itertools.count(), Page(0, 10**9))


def test_a_window_begins_and_ends_where_it_should() -> None:
    """Clients go through a list page by page."""
    assert paged(range(10), Page(3, 4)) == [3, 4, 5, 6]
