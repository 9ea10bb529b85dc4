"""The member within this process; what all members promise is in tests/contract/test_members.py."""

from sigla.cache.members.local import LocalMember
from tests.build import FixedClock


def test_what_nobody_asked_for_the_longest_goes_first() -> None:
    """A question is a use, and so is being put."""
    member = LocalMember(FixedClock(), capacity=300)
    for key in "abc":
        member.put(key, b"x" * 100, lasts_ms=1_000)
    member.claim(["a"], b"", lasts_ms=1_000)
    member.put("d", b"x" * 100, lasts_ms=1_000)
    assert member.claim(list("acd"), b"", lasts_ms=1_000) == [b"x" * 100] * 3
    assert member.claim(["b"], b"", lasts_ms=1_000) == [None]


def test_what_is_too_large_is_not_kept() -> None:
    """Nor what it would have taken the place of."""
    member = LocalMember(FixedClock(), capacity=300)
    member.put("a", b"small", lasts_ms=1_000)
    member.put("a", b"x" * 301, lasts_ms=1_000)
    assert member.claim(["a"], b"", lasts_ms=1_000) == [None]


def test_time_is_the_clocks() -> None:
    """So that a simulation has hours in a moment."""
    clock = FixedClock()
    member = LocalMember(clock)
    member.put("a", b"body", lasts_ms=1_000)
    clock.time += 999
    assert member.claim(["a"], b"lease", lasts_ms=1_000) == [b"body"]
    clock.time += 1
    assert member.claim(["a"], b"lease", lasts_ms=1_000) == [None]
