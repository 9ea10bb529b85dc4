"""A member that failed is left alone for a while: a dead one costs a process one time-out per while, not per read."""

import threading
from collections.abc import Callable

from sigla.ports.clock import Clock

REST_MS = 10_000
"""How long a member is left alone after it failed; for each process a little longer, so that they do not come back in
the same moment."""


class Breaker:
    """Closed while all goes well; open after a failure; then one call at a time may try. Any thread may use it.

    draw: yields a number from 0 to 1. rest_ms: how long a member that failed is left alone.
    """

    def __init__(self, clock: Clock, draw: Callable[[], float], *, rest_ms: int = REST_MS) -> None:
        self._rest_ms = rest_ms
        self._clock = clock
        self._draw = draw
        self._lock = threading.Lock()
        self._failed = False
        self._rests_until = 0

    def allows(self) -> bool:
        """Whether the member may be asked now. Who is allowed to has to say how it went."""
        if not self._failed:
            return True
        with self._lock:
            now = self._clock.elapsed()
            if now < self._rests_until:
                return False
            # Others are not let through while this one tries.
            self._rests_until = now + self._rest_ms
            return True

    def succeeded(self) -> None:
        self._failed = False

    def failed(self) -> None:
        with self._lock:
            self._failed = True
            self._rests_until = self._clock.elapsed() + int(self._rest_ms * (1 + self._draw() / 2))
