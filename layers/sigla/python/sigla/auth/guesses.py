"""Wrong secrets wait for their answer: the more of them come, the longer. Who has the right one never waits.

A secret is 256 random bits, so that guessing is hopeless, however fast. What this spares is the machine and its log.
"""

from typing import Final

from sigla.ports.clock import Clock

FREE: Final = 20
"""So many in a row wait for nothing: a client with an old secret, restarting."""

EACH_MS: Final = 250
"""From then on so many milliseconds lie between two answers."""

LONGEST_MS: Final = 5_000

MOST_WAITING: Final = 500
"""So many wait at a time. Who comes then is answered at once: waiting costs memory, and must have an end."""


class Guesses:
    """The wait of each wrong secret. To be called on one thread; `waiting` is kept by who waits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due = 0
        self.waiting = 0

    def wait_s(self) -> float:
        """For how many seconds the answer to one more wrong secret is kept back."""
        now = self._clock.elapsed()
        self._due = min(max(now, self._due) + EACH_MS, now + FREE * EACH_MS + LONGEST_MS)
        late = self._due - now - FREE * EACH_MS
        return max(late, 0) / 1000 if self.waiting < MOST_WAITING else 0.0
