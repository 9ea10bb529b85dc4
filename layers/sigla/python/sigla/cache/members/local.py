"""A member within this process: for several instances of one machine, for tests, for simulations."""

import threading
from collections.abc import Sequence

from sigla.bounded import BoundedMemory
from sigla.cache.member import Swap
from sigla.ports.clock import Clock


class LocalMember:
    """A `Member` that keeps at most `capacity` bytes of values; what was not asked for the longest goes first."""

    def __init__(self, clock: Clock, *, capacity: int = 64 * 2**20) -> None:
        self._clock = clock
        self._entries: BoundedMemory[str, tuple[bytes, int]] = BoundedMemory(capacity, lambda _, entry: len(entry[0]))
        """Values, and when they end."""
        self._lock = threading.Lock()

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        with self._lock:
            return [self._claim(key, value, lasts_ms) for key in keys]

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        with self._lock:
            for each in swaps:
                if self._get(each.key) == each.expected:
                    self._put(each.key, each.value, lasts_ms)

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        with self._lock:
            self._put(key, value, lasts_ms)

    def ping(self) -> None:
        """It is here."""

    def close(self) -> None:
        """Nothing is open."""

    def _claim(self, key: str, value: bytes, lasts_ms: int) -> bytes | None:
        stands = self._get(key)
        if stands is None:
            self._put(key, value, lasts_ms)
        return stands

    def _get(self, key: str) -> bytes | None:
        value, until = self._entries.get(key) or (None, 0)
        if value is None:
            return None
        if until <= self._clock.now():
            self._entries.forget([key])
            return None
        self._entries.use(key)
        return value

    def _put(self, key: str, value: bytes, lasts_ms: int) -> None:
        self._entries.keep(key, (value, self._clock.now() + lasts_ms))
