"""The members of one zone, each the owner of its share of the keys.

Nothing here raises: a member that fails, and then rests (`breaker`), is as if it had nothing and took nothing. Its keys
do not move to other members meanwhile: they would come back to it with what it still has.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import blake2b
from random import Random
from typing import Final, TypeVar

from sigla.cache.breaker import REST_MS, Breaker
from sigla.cache.member import Member, MemberFailed, Swap
from sigla.ports.clock import Clock
from sigla.ports.zones import Pulse


class _Out:
    """The key's owner does not answer."""


OUT: Final = _Out()

Found = bytes | None | _Out
"""What stands under a key; None where nothing stood."""

T = TypeVar("T")


def owner(names: Iterable[str], key: str) -> str:
    """The member that keeps `key`: of all members the one whose hash together with the key is the highest.

    When a member goes, only its own keys move, to all the others evenly; when one comes, it takes its share from all
    evenly (rendezvous hashing; Thaler and Ravishankar, 1998). Raises ValueError if there are no members.
    """
    return max(names, key=lambda name: blake2b(f"{name} {key}".encode(), digest_size=8).digest())


class Ring:
    """Any thread may use it. members: by name; no members are a ring that has nothing and takes nothing."""

    def __init__(
        self,
        members: Mapping[str, Member],
        clock: Clock,
        *,
        draw: Callable[[], float] | None = None,
        rest_ms: int = REST_MS,
    ) -> None:
        self._members = dict(members)
        draw = draw or Random().random  # noqa: S311 - when a member is tried again need not be secret
        self._breakers = {name: Breaker(clock, draw, rest_ms=rest_ms) for name in self._members}
        self.failures = 0
        """How often a member failed."""

    def __len__(self) -> int:
        return len(self._members)

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> dict[str, Found]:
        """What stands under each key; where nothing stood, `value` stands now. A round trip for each owner."""
        found: dict[str, Found] = dict.fromkeys(keys, OUT)
        for name, owned in self._by_owner(keys, str).items():
            with self._asking(name) as member:
                if member is not None:
                    found.update(zip(owned, member.claim(owned, value, lasts_ms=lasts_ms), strict=True))
        return found

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        """As `Member.swap`; what is not swapped is found out by whoever reads it next."""
        for name, owned in self._by_owner(swaps, lambda each: each.key).items():
            with self._asking(name) as member:
                if member is not None:
                    member.swap(owned, lasts_ms=lasts_ms)

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        for name in self._by_owner([key], str):
            with self._asking(name) as member:
                if member is not None:
                    member.put(key, value, lasts_ms=lasts_ms)

    def probe(self) -> list[Pulse]:
        """Every member, also those that rest; side by side, since each may take its whole time-out."""
        with ThreadPoolExecutor(len(self._members) or 1) as pool:
            return list(pool.map(_pulse, self._members.keys(), self._members.values()))

    def close(self) -> None:
        for member in self._members.values():
            member.close()

    def _by_owner(self, each: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
        owned: defaultdict[str, list[T]] = defaultdict(list)
        if self._members:
            for one in each:
                owned[owner(self._members, key(one))].append(one)
        return owned

    @contextmanager
    def _asking(self, name: str) -> Iterator[Member | None]:
        """None while it rests; its failure ends the block, and is remembered."""
        breaker = self._breakers[name]
        if not breaker.allows():
            yield None
            return
        try:
            yield self._members[name]
        except MemberFailed:
            breaker.failed()
            self.failures += 1
        else:
            breaker.succeeded()


def _pulse(name: str, member: Member) -> Pulse:
    began = time.perf_counter()
    try:
        member.ping()
    except MemberFailed as failure:
        return Pulse(name, _ms_since(began), str(failure) or "it does not answer")
    return Pulse(name, _ms_since(began), "")


def _ms_since(began: float) -> float:
    return round(1000 * (time.perf_counter() - began), 3)
