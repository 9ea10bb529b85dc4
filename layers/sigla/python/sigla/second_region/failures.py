"""Failures that were not foreseen: told when they come, and not with each look at which they come again."""

from traceback import extract_tb
from typing import Final

from sigla.observe import Teller, failure
from sigla.ports.clock import Clock

AGAIN_MS: Final = 3_600_000
"""What lasts is told again after so long."""


class FailuresTold:
    """Any thread may tell one."""

    def __init__(self, tell: Teller, clock: Clock) -> None:
        self._tell = tell
        self._clock = clock
        self._told: dict[tuple[str, str], int] = {}
        """When each was told last, by its kind and the line where it came up; by `Clock.elapsed`."""

    def __call__(self, problem: BaseException) -> None:
        known, now = (type(problem).__qualname__, _place_of(problem)), self._clock.elapsed()
        if known not in self._told or now - self._told[known] >= AGAIN_MS:
            self._told[known] = now
            self._tell(failure(problem, request_id=""))


def _place_of(problem: BaseException) -> str:
    frames = extract_tb(problem.__traceback__)[-1:]
    return "".join(f"{frame.filename}:{frame.lineno}" for frame in frames)
