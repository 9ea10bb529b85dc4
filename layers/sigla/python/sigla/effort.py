"""How long a request may compute: asked by those who compute, at least once a millisecond.

Steps decide verdicts (`languages.language.Budget`); time never does. A request has an `Effort`, which the thread that
works for it holds. Code that can take long calls `pulse` again and again. While no effort is held, as in `sigla import`
or in a plain function call, a pulse does nothing.

A pulse raises one of `Interrupted` when the work is to end here: nothing that was computed counts then. No handler in
between may take that for an answer: they name what they catch, and none of them names `Exception`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

STEPS_PER_LOOK: Final = 1_000
"""A clock is looked at after so many steps: about a millisecond."""

Seconds = Callable[[], float]
"""The seconds that this thread has computed for, from any beginning."""


class Interrupted(Exception):
    """The work ends here; whoever started it decides what becomes of the request."""


class TurnOver(Interrupted):
    """The work took longer than it may here. Elsewhere it may begin again."""


class OutOfTime(Interrupted):
    """The request has computed for as long as it may."""


class Unwanted(Interrupted):
    """Nobody waits for the answer any more, or the server stops."""


class Effort:
    """What one request may compute, on any number of threads one after the other.

    seconds: of computing, altogether. clock: tells what the thread that asks has computed.
    """

    __slots__ = ("_clock", "_left", "_turn_ends", "_until", "_unwanted", "ahead")

    def __init__(self, seconds: float, clock: Seconds) -> None:
        self._clock = clock
        self._left = seconds
        self._until = self._turn_ends = 0.0
        self._unwanted = False
        self.ahead = 0
        """Steps until the next look at the clock."""

    def give_up(self) -> None:
        """Makes the next pulse raise Unwanted. Any thread may call this."""
        self._unwanted = True

    @contextmanager
    def turn(self, seconds: float | None = None) -> Iterator[None]:
        """What this thread computes inside is for this request: its pulses may raise. seconds: of this turn alone."""
        began = self._clock()
        self._until = began + self._left
        self._turn_ends = self._until if seconds is None else began + seconds
        self.ahead = STEPS_PER_LOOK
        before, _mine.effort = _mine.effort, self
        try:
            yield
        finally:
            _mine.effort = before
            self._left -= self._clock() - began

    def look(self) -> None:
        """Looks at what `pulse` counts towards. Raises Unwanted, OutOfTime or TurnOver."""
        self.ahead = STEPS_PER_LOOK
        if self._unwanted:
            raise Unwanted
        now = self._clock()
        if now >= self._until:
            raise OutOfTime
        if now >= self._turn_ends:
            raise TurnOver


class _Mine(threading.local):
    effort: Effort | None = None


_mine = _Mine()


def pulse(steps: int = STEPS_PER_LOOK) -> None:
    """Says that so many steps, of about a microsecond each, were done since the last pulse. Raises Interrupted."""
    effort = _mine.effort
    if effort is not None:
        effort.ahead -= steps
        if effort.ahead <= 0:
            effort.look()
