"""So many requests a second, and as many at once."""

from math import ceil
from typing import Final

from sigla.ports.clock import Clock
from sigla.web.http.refusals import TooManyRequests

SECOND_MS: Final = 1000


class Rate:
    """Counts them by one number: until when the requests so far have used up their time. For one thread."""

    def __init__(self, per_second: float, clock: Clock) -> None:
        self._clock = clock
        self._per_second = per_second
        self._each_ms = SECOND_MS / per_second
        self._burst_ms = max(SECOND_MS, self._each_ms)
        self._until = 0.0

    def spend(self) -> None:
        """Counts one more request. Raises TooManyRequests, and then counts nothing."""
        now = self._clock.elapsed()
        until = max(now, self._until) + self._each_ms
        late = until - now - self._burst_ms
        if late > 0:
            raise TooManyRequests(most=self._per_second, again_s=ceil(late / SECOND_MS))
        self._until = until
