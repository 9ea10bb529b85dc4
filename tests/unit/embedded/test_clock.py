"""The time of this machine."""

import time

import pytest

from sigla.stores.clock import SystemClock


def test_now_is_in_milliseconds() -> None:
    """As every time that is stored."""
    before = time.time() * 1000
    assert before - 1 <= SystemClock().now() <= time.time() * 1000 + 1


def test_what_measures_a_span_is_not_moved_by_a_time_of_day_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that was set back by an hour must not make anything last an hour longer."""
    clock = SystemClock()
    before = clock.elapsed()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    assert 0 <= clock.elapsed() - before < 60_000


def test_sleeping_is_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As everywhere in Python."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    SystemClock().sleep(0.25)
    assert slept == [0.25]
