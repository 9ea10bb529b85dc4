"""How long a request may compute: asked by those who compute, at least once a millisecond.

Steps decide verdicts (`languages.language.Budget`); time never does. A request has an `Effort`, which the thread that
works for it holds. Code that can take long calls `pulse` again and again. While no effort is held, as in `sigla import`
or in a plain function call, a pulse does nothing.

A pulse raises one of `Interrupted` when the work is to end here: nothing that was computed counts then. No handler in
between may take that for an answer: they name what they catch, and none of them names `Exception`.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import Final, Protocol, TypeVar

Item = TypeVar("Item")

STEPS_PER_LOOK: Final = 1_000
"""A clock is looked at after so many steps: about a millisecond."""

Seconds = Callable[[], float]
"""A clock: seconds from any beginning."""


class Interrupted(Exception):
    """The work ends here; whoever started it decides what becomes of the request."""


class TurnOver(Interrupted):
    """The work took longer than it may here. Elsewhere it may begin again."""


class AsksElsewhere(TurnOver):
    """The work comes to a question that may take seconds. It begins again on a thread that is there for questions."""


class OutOfTime(Interrupted):
    """The request has computed, or waited, for as long as it may."""


class Unwanted(Interrupted):
    """No caller waits for the answer any more, or the server stops."""


class Share(Protocol):
    """What threads that compute long have in common: one of them computes at a time."""

    def take(self) -> None: ...
    def leave(self) -> None: ...
    def pass_on(self) -> None:
        """Lets others compute if they wait, and comes back when it is this thread's turn again."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """computing_s: what a request may compute, all threads together. waiting_s: how long it may do anything else."""

    computing_s: float = 10.0
    waiting_s: float = 20.0


class Effort:
    """What one request may take, on any number of threads one after the other.

    computed: what the thread that asks has computed. now: goes on while nothing is computed, too.
    """

    __slots__ = (
        "_asks",
        "_began",
        "_committed",
        "_computed",
        "_limits",
        "_now",
        "_share",
        "_turn_began",
        "_turn_ends",
        "_used",
        "ahead",
        "unwanted",
    )

    def __init__(self, limits: Limits, computed: Seconds, now: Seconds) -> None:
        self._limits = limits
        self._computed = computed
        self._now = now
        self._began = now()
        self._used = self._turn_began = 0.0
        self._turn_ends: float | None = None
        self._share: Share | None = None
        self._committed = self._asks = False
        self.ahead = 0
        """Steps until the next look at the clock."""
        self.unwanted = False
        """Whether no caller waits any more."""

    def give_up(self) -> None:
        """Makes the next pulse raise Unwanted. Any thread may call this."""
        self.unwanted = True

    def patience_s(self) -> float:
        """How long the request may still wait; not while it computes."""
        return self._limits.waiting_s - (self._now() - self._began - self._used)

    @contextmanager
    def turn(self, seconds: float | None = None, share: Share | None = None, *, asks: bool = True) -> Iterator[None]:
        """What this thread computes inside is for this request: its pulses may raise.

        seconds: of this turn; beyond them TurnOver. Whoever sets them can undo all that was written. share: is held.
        asks: whether the thread may wait for other services.
        """
        began = self._turn_began = self._computed()
        self._turn_ends = None if seconds is None else began + seconds
        self._share, self._committed, self.ahead = share, False, STEPS_PER_LOOK
        self._asks = asks and seconds is None
        before, _mine.effort = _mine.effort, self
        try:
            yield
        finally:
            _mine.effort = before
            self._used += self._computed() - began

    def glance(self, job: Callable[[], Item]) -> Item | None:
        """What the job yields in a turn without time: None unless it is at hand. It is not counted."""
        self._turn_ends, self._share, self._committed, self.ahead = -inf, None, False, STEPS_PER_LOOK
        self._asks = False
        before, _mine.effort = _mine.effort, self
        try:
            return job()
        except TurnOver:
            return None
        finally:
            _mine.effort = before

    def look(self) -> None:
        """Looks at what `pulse` counts towards. Raises Unwanted, OutOfTime or TurnOver."""
        self.ahead = STEPS_PER_LOOK
        now = self._computed()
        if self._turn_ends is not None and now >= self._turn_ends:
            raise TurnOver
        if self._committed:
            return
        if self.unwanted:
            raise Unwanted
        used = self._used + now - self._turn_began
        if used >= self._limits.computing_s or self._now() - self._began - used > self._limits.waiting_s:
            raise OutOfTime
        if self._share is not None:
            self._share.pass_on()

    def commit(self) -> None:
        """Something durable was written: from now on this turn is not given up, or the answer would be a lie."""
        self._committed = True

    @contextmanager
    def rest(self) -> Iterator[None]:
        """Others may compute while this thread sleeps. Raises as `look` does: who has no time does not sleep either."""
        self.look()
        if self._share is None:
            yield
            return
        self._share.leave()
        try:
            yield
        finally:
            self._share.take()

    @contextmanager
    def wait(self) -> Iterator[None]:
        """As `rest`, for a question that may take seconds. A thread that others need does not ask: AsksElsewhere."""
        if not self._asks and not self._committed:
            raise AsksElsewhere
        with self.rest():
            yield


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


def paced(items: Collection[Item], steps: int = 1) -> Iterable[Item]:
    """The items, with pulses among them. steps: what is done with one of them. Raises Interrupted."""
    if len(items) * steps > STEPS_PER_LOOK:
        return _paced(items, steps)
    pulse(len(items) * steps)
    return items


def _paced(items: Iterable[Item], steps: int) -> Iterator[Item]:
    following = iter(items)
    while some := list(islice(following, max(1, STEPS_PER_LOOK // steps))):
        pulse(len(some) * steps)
        yield from some


def committed() -> None:
    """Tells the effort that this thread holds, if it does, that something durable was written."""
    if _mine.effort is not None:
        _mine.effort.commit()


def resting() -> AbstractContextManager[None]:
    """Entered around a sleep."""
    return nullcontext() if _mine.effort is None else _mine.effort.rest()


def waiting() -> AbstractContextManager[None]:
    """Entered around a question to another service. Raises Interrupted before it is asked."""
    return nullcontext() if _mine.effort is None else _mine.effort.wait()
