"""The time of this machine."""

import time

import pytest

from sigla.embedded.clock import SystemClock


def test_now_is_in_milliseconds() -> None:
    """As every time that is stored."""
    before = time.time() * 1000
    assert before - 1 <= SystemClock().now() <= time.time() * 1000 + 1


def test_sleeping_is_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As everywhere in Python."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    SystemClock().sleep(0.25)
    assert slept == [0.25]
