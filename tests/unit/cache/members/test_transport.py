"""How long connecting may take."""

from types import SimpleNamespace

import pytest

from sigla.cache.members import transport
from sigla.cache.members.transport import CONNECT_S, Deadline, to_connect


def test_a_herd_is_scattered() -> None:
    """By up to a fifth of the time, and no entry has more of it."""
    drawn = [to_connect() for _ in range(1_000)]
    assert 0.8 * CONNECT_S <= min(drawn) < 0.82 * CONNECT_S
    assert 0.98 * CONNECT_S < max(drawn) <= CONNECT_S


def test_a_deadline_is_for_all_waits_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one took the next has not; and none waits for ever, nor not at all."""
    now = iter([100.0, 100.2, 100.9, 101.0, 107.0])
    monkeypatch.setattr(transport, "time", SimpleNamespace(monotonic=lambda: next(now)))
    deadline = Deadline(1.0)
    assert [round(deadline.left(), 3) for _ in range(4)] == [0.8, 0.1, 0.001, 0.001]
