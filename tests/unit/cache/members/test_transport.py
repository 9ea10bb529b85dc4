"""How long connecting may take."""

import pytest

from sigla.cache.members import transport
from sigla.cache.members.transport import CONNECT_S, Deadline, to_connect


def test_a_herd_is_scattered() -> None:
    """By up to a fifth of the time, and nobody has more of it."""
    drawn = [to_connect() for _ in range(1_000)]
    assert 0.8 * CONNECT_S <= min(drawn) < 0.82 * CONNECT_S
    assert 0.98 * CONNECT_S < max(drawn) <= CONNECT_S


def test_a_deadline_is_for_all_steps_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one step took the next has not."""
    now = iter([100.0, 100.2, 100.9, 101.0])
    monkeypatch.setattr(transport, "time", type("Time", (), {"monotonic": lambda: next(now)}))
    deadline = Deadline(1.0)
    assert deadline.left() == pytest.approx(0.8)
    assert deadline.left() == pytest.approx(0.1)
    with pytest.raises(TimeoutError):
        deadline.left()
