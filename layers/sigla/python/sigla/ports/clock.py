"""The time, which comes from here alone."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def elapsed(self) -> int:
        """Milliseconds since any moment, for measuring how long something lasts: this clock cannot be set back."""
        ...

    def sleep(self, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Moment:
    """By both clocks: one can be set back, the other stands still while a machine sleeps, or a function is frozen."""

    now: int
    elapsed: int

    @classmethod
    def of(cls, clock: Clock) -> "Moment":
        return cls(clock.now(), clock.elapsed())

    def is_younger(self, ms: int, clock: Clock) -> bool:
        return 0 <= clock.now() - self.now < ms and clock.elapsed() - self.elapsed < ms


def day_of(moment: int) -> str:
    """In UTC, of milliseconds since the epoch."""
    return datetime.fromtimestamp(moment / 1000, UTC).date().isoformat()
