"""How often a job tries again what others get in the way of, and how long it waits in between."""

import random
import time
from collections.abc import Iterator
from typing import Final

TRIES: Final = 8
FIRST_PAUSE_S: Final = 0.1
"""At most. Each may be twice as long as the one before it: all together take 6 s as a rule, and never 13."""

# Drivers and workers that began from one process draw differently.
_jitter = random.SystemRandom()


def tries() -> Iterator[bool]:
    """One for each try, after a pause of its own: whether it is the last.

    Full jitter, so that those who met once do not meet again (AWS Architecture Blog, "Exponential Backoff And Jitter").
    """
    for number in range(TRIES):
        if number:
            time.sleep(_jitter.uniform(0, FIRST_PAUSE_S * 2 ** (number - 1)))
        yield number == TRIES - 1
