"""Each key has one owner; a member that fails is as if it had nothing."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.cache.breaker import REST_MS
from sigla.cache.member import Member, MemberFailed, Swap
from sigla.cache.members.local import LocalMember
from sigla.cache.ring import OUT, Ring, owner
from tests.build import FixedClock
from tests.waiting import PATIENCE_S

KEYS = [f"default/schemas/_/{id:010}.json" for id in range(10_000)]
NAMES = st.lists(st.from_regex(r"[a-z0-9.-]{1,30}:\d{2,5}", fullmatch=True), min_size=1, max_size=10, unique=True)


@dataclass
class Moody:
    """A member in front of another, that fails while it is told to, and counts how often it was asked."""

    behind: Member
    fails: bool = False
    asked: int = 0
    before: Callable[[], object] = field(default=lambda: None)

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        self._be_asked()
        return self.behind.claim(keys, value, lasts_ms=lasts_ms)

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        self._be_asked()
        self.behind.swap(swaps, lasts_ms=lasts_ms)

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        self._be_asked()
        self.behind.put(key, value, lasts_ms=lasts_ms)

    def ping(self) -> None:
        self._be_asked()

    def close(self) -> None: ...

    def _be_asked(self) -> None:
        self.asked += 1
        self.before()
        if self.fails:
            raise MemberFailed("moody")


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_members_have_equal_shares(count: int) -> None:
    """Within a tenth at 10,000 keys."""
    names = [f"member-{number}.cache.example:6379" for number in range(count)]
    shares = Counter(owner(names, key) for key in KEYS)
    assert all(abs(share - len(KEYS) / count) < len(KEYS) / count / 10 for share in shares.values())
    assert len(shares) == count


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_a_member_that_comes_takes_its_share_and_moves_nothing_else(count: int) -> None:
    """At most one key in n and five in a hundred; and a member that goes gives its keys to all the others."""
    before = [f"10.0.{number}.7:6379" for number in range(count)]
    after = [*before, "10.1.0.7:6379"]
    moved = [key for key in KEYS if owner(before, key) != owner(after, key)]
    assert {owner(after, key) for key in moved} == {"10.1.0.7:6379"}
    assert len(moved) < len(KEYS) * (1 / len(after) + 0.05)
    heirs = Counter(owner(before, key) for key in moved)
    assert all(abs(share - len(moved) / count) < len(moved) / count / 4 for share in heirs.values())


@given(NAMES, st.text(), st.randoms(use_true_random=False))
def test_the_owner_does_not_depend_on_the_order_of_members(names: list[str], key: str, random: object) -> None:
    """Every instance has the members from a setting of its own."""
    assert owner(names, key) == owner(reversed(names), key)
    assert owner(names, key) in names


def test_without_members_there_is_no_owner() -> None:
    """And a ring without members has nothing and takes nothing."""
    with pytest.raises(ValueError, match="empty"):
        owner([], "a")
    ring = Ring({}, FixedClock())
    ring.put("a", b"1", lasts_ms=1000)
    ring.swap([Swap("a", b"1", b"2")], lasts_ms=1000)
    assert ring.claim(["a"], b"L", lasts_ms=1000) == {"a": OUT}
    assert ring.probe() == []
    assert not ring


def test_a_batch_asks_each_owner_once() -> None:
    """However many keys it has."""
    clock = FixedClock()
    members = {name: Moody(LocalMember(clock)) for name in ("one", "two")}
    ring = Ring(members, clock)
    assert ring.claim(KEYS[:100], b"L", lasts_ms=1000) == dict.fromkeys(KEYS[:100])
    assert ring.claim(KEYS[:100], b"M", lasts_ms=1000) == dict.fromkeys(KEYS[:100], b"L")
    ring.swap([Swap(key, b"L", b"B") for key in KEYS[:100]], lasts_ms=1000)
    assert ring.claim(KEYS[:100], b"L", lasts_ms=1000) == dict.fromkeys(KEYS[:100], b"B")
    assert [member.asked for member in members.values()] == [4, 4]


def test_a_member_that_fails_costs_one_failure_per_rest_and_no_other_member_its_keys() -> None:
    """Its own keys are told to be out; they do not move."""
    clock = FixedClock()
    members = {name: Moody(LocalMember(clock)) for name in ("one", "two")}
    ring = Ring(members, clock, draw=lambda: 1.0)
    members["one"].fails = True
    for _ in range(50):
        found = ring.claim(KEYS[:100], b"L", lasts_ms=10**6)
    assert {key for key in found if found[key] is OUT} == {key for key in KEYS[:100] if owner(members, key) == "one"}
    assert members["one"].asked == ring.failures == 1
    assert members["two"].asked == 50
    clock.sleep(1.5 * REST_MS / 1000 - 0.001)
    ring.put(KEYS[0], b"1", lasts_ms=1)
    ring.claim(KEYS[:100], b"L", lasts_ms=10**6)
    assert members["one"].asked == 1
    clock.sleep(0.001)
    ring.claim(KEYS[:100], b"L", lasts_ms=10**6)
    ring.claim(KEYS[:100], b"L", lasts_ms=10**6)
    assert members["one"].asked == 2


def test_a_member_that_is_back_is_used_again() -> None:
    """With what it still has."""
    clock = FixedClock()
    member = Moody(LocalMember(clock))
    ring = Ring({"one": member}, clock)
    ring.put("a", b"1", lasts_ms=10**6)
    member.fails = True
    assert ring.claim(["a"], b"L", lasts_ms=1000) == {"a": OUT}
    member.fails = False
    assert ring.claim(["a"], b"L", lasts_ms=1000) == {"a": OUT}
    clock.sleep(1.5 * REST_MS / 1000)
    assert ring.claim(["a"], b"L", lasts_ms=1000) == {"a": b"1"}
    assert ring.claim(["a"], b"L", lasts_ms=1000) == {"a": b"1"}


def test_a_clock_that_is_set_back_keeps_no_member_out_of_use() -> None:
    """An hour without a ring would be an hour of reading S3 for everything."""
    clock = FixedClock()
    member = Moody(LocalMember(clock), fails=True)
    ring = Ring({"one": member}, clock)
    ring.claim(["a"], b"L", lasts_ms=1000)
    member.fails = False
    clock.set_by = -3_600_000
    clock.sleep(1.5 * REST_MS / 1000)
    assert ring.claim(["a"], b"L", lasts_ms=1000) == {"a": None}


def test_while_one_call_tries_a_member_that_rested_no_other_does() -> None:
    """A hung member would hold up all of them."""
    clock = FixedClock()
    member = Moody(LocalMember(clock), fails=True)
    ring = Ring({"one": member}, clock)
    ring.claim(["a"], b"L", lasts_ms=1000)
    clock.sleep(1.5 * REST_MS / 1000)
    meanwhile: list[object] = []

    def ask() -> None:
        member.before = lambda: None
        meanwhile.append(ring.claim(["a"], b"L", lasts_ms=1000)["a"])

    member.before = ask
    ring.claim(["a"], b"L", lasts_ms=1000)
    assert meanwhile == [OUT]
    assert member.asked == 2


def test_a_probe_asks_every_member_also_those_that_rest() -> None:
    """Side by side, and changes nothing about who rests."""
    clock = FixedClock()
    together = threading.Barrier(2, timeout=PATIENCE_S)
    members = {name: Moody(LocalMember(clock)) for name in ("one", "two")}
    ring = Ring(members, clock)
    members["one"].fails = True
    ring.claim(KEYS[:10], b"L", lasts_ms=1000)
    for member in members.values():
        member.before = together.wait
    one, two = ring.probe()
    assert (one.name, one.failure) == ("one", "moody")
    assert (two.name, two.failure) == ("two", "")
    assert 0 <= two.ms < 1000
