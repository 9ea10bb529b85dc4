"""How often something is tried again that others get in the way of, and how long it waits in between."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Final

from sigla.ports.clock import Clock

# No snapshot of a process repeats what the operating system draws.
_jitter: Final = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Backoff:
    """Full jitter, so that those who met once do not meet again.

    first_s: what the first pause is at most. Each may be twice as long as the one before it, and as `longest_s`.
    Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
    """

    clock: Clock
    first_s: float
    longest_s: float = inf
    tries: int = 8

    def __iter__(self) -> Iterator[bool]:
        """One for each try, after a pause of its own: whether it is the last."""
        for number in range(self.tries):
            if number:
                self.pause(number - 1)
            yield number == self.tries - 1

    def pause(self, lost: int) -> None:
        """Waits after a try that was lost; the first one has the number 0."""
        self.clock.sleep(_jitter.uniform(0, self.most_s(lost)))

    def most_s(self, lost: int) -> float:
        """How long the pause after a try is at most."""
        return min(self.longest_s, self.first_s * 2.0 ** min(lost, 60))
