"""How `sigla mirror --cut-over` finds that nothing comes of its source any more."""

from contextlib import suppress
from typing import TYPE_CHECKING

from sigla.cli.mirror import Stopped, tried_again
from sigla.cli.mirror_told import freeze, late, silent
from sigla.upkeep.mirroring import scopes_to_freeze, writable

if TYPE_CHECKING:
    from sigla.cli.mirror import Run
    from sigla.model import Subject

QUIET = 2
"""So often nothing new must be there, after the source was seen to take no writes."""
SOON_S = 2.0
"""How long it is waited between two looks."""
SILENT_MS = 300_000
"""So long no news may come of a source before that is told: a follower in AWS has some each minute or two."""
STEP_MS = 1_000
"""More than this is news: looks of different length tell of one moment a little earlier or later."""


class Ending:
    """Waits until the source takes no writes, and nothing new was there twice after that.

    A source that follows another registry may have heard of its modes before it hears of what was written earlier: so
    it counts as quiet only where it has all up to the moment at which it was seen to take no writes.
    stopped: the source takes none, whatever its modes say. Then it is not waited for any more once no news come of it,
    as it does not answer, or its primary is dead. Moments are those of `Clock.elapsed`.
    """

    def __init__(self, run: "Run", source: str, *, stopped: bool) -> None:
        self._run = run
        self._source = source
        self._stopped = stopped
        self._clock = run.mirror.resources.clock
        self._quiet = 0
        self._frozen: int | None = None
        self._news_at = self._clock.elapsed()
        self._complete_at = self._news_at - run.source.behind_ms
        self._is_late = False
        self._told: set[Subject] = set()
        self._is_lateness_told = self._is_silence_told = False

    def wait(self) -> bool:
        """Whether it may be moved over; False after a signal. Where no news come, what is here counts as incomplete."""
        with suppress(Stopped):
            while True:
                left = [] if self._stopped else writable(self._run.state)
                self._tell(left)
                if not left and self._quiet == QUIET:
                    return True
                if self._is_silent:
                    self._tell_silence()
                    if self._stopped:
                        self._run.complete = False
                        return True
                if left:
                    self._frozen = None
                elif self._frozen is None:
                    self._frozen = self._clock.elapsed()
                if self._run.stop.wait(min(self._run.pause_s, SOON_S)):
                    break
                with tried_again(self._run.stop):
                    self._look(writes=bool(left))
        print("Stopped: nothing was moved over. Run it again, and it goes on.", flush=True)
        return False

    def _look(self, *, writes: bool) -> None:
        since = self._clock.elapsed()
        is_new = self._run.look()
        complete_at = since - self._run.source.behind_ms
        if complete_at >= self._complete_at + STEP_MS:
            self._complete_at, self._news_at = complete_at, self._clock.elapsed()
        self._is_late = self._frozen is not None and complete_at < self._frozen
        self._quiet = 0 if is_new or writes or self._is_late else self._quiet + 1
        if self._is_late and not self._is_lateness_told:
            print(late(self._source, self._run.source.behind_ms), flush=True)
            self._is_lateness_told = True

    @property
    def _is_silent(self) -> bool:
        """Not where the registry here is what fails: that is waited for."""
        is_over = self._clock.elapsed() - self._news_at >= SILENT_MS
        return is_over and (self._stopped or self._is_late) and self._run.due is None

    def _tell(self, left: "list[Subject]") -> None:
        """At first, and again whenever it has become less. left: what takes writes still."""
        if left and not (self._told and self._told.issubset(left)):
            print(freeze(self._source, left, [*scopes_to_freeze(self._run.state, left)]), flush=True)
            self._told = set(left)

    def _tell_silence(self) -> None:
        if not self._is_silence_told:
            since = self._clock.now() - (self._clock.elapsed() - self._complete_at)
            print(silent(self._source, since, SILENT_MS, stopped=self._stopped), flush=True)
            self._is_silence_told = True
