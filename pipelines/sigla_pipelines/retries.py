"""How often a job tries again what others get in the way of, and how long it waits in between."""

from typing import Final

from sigla.backoff import Backoff
from sigla.stores.clock import SystemClock

LOST_RACE: Final = Backoff(SystemClock(), first_s=0.1)
"""All pauses together take 6 s as a rule, and never 13."""
