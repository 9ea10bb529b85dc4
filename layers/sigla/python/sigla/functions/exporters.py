"""A turn of each exporter: what it has still to write, as far as the time of one invocation goes.

Whatever woke it, the same is done: exporters that are not paused go on, side by side, until all is written, or until
the invocation has to end; what is left waits for the clock, which comes every few minutes. A destination that does not
answer is asked again then: the clock is the pause between two tries. One that is only asked too much (429) is asked
again after the pause that it wants, as long as that is short. Nothing of it is needed by a registration, so that
no client ever waits for an exporter.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sigla import observe
from sigla.backoff import Backoff
from sigla.exporters.destination import Destination
from sigla.exporters.nouns import Exporter, ExporterProgress, ExporterState
from sigla.exporters.running import Turn, turn
from sigla.observe import Facts, Teller
from sigla.ports.store import Store

AT_ONCE: Final = 16
"""Exporters that write side by side: one whose destination is silent holds up no other."""
LEFT_MS: Final = 60_000
"""So long before its end an invocation begins nothing more: what was begun, a few requests, is over by then."""
WORK_MS: Final = 240_000
"""How long it works where no context says how much time it has."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 30.0
"""After an answer of 429. A longer one is left to the clock: until then no other exporter is woken."""
BEHIND_MS: Final = 3_600_000
"""An exporter that has not written what is so old is behind."""

Event = Mapping[str, Any]


class Remote(Destination, Protocol):
    """A destination with connections."""

    def close(self) -> None: ...


class Unfinished(Exception):
    """Exporters failed by a fault of ours, or of the store; the others have gone on, and the clock comes again."""


@dataclass(frozen=True, slots=True)
class ExporterOutcome:
    """What became of one exporter. lag_ms: the age of what it should have written first. more: there was no more time.

    failure: what stopped it that no destination is to be blamed for.
    """

    is_running: bool = True
    written: int = 0
    is_failing: bool = False
    more: bool = False
    lag_ms: int = 0
    failure: Exception | None = None


class ExporterTurns:
    """What Lambda calls. source: what the registry is called at destinations. enter: makes an exporter's destination.

    tell: takes the line of each invocation.
    """

    def __init__(
        self, store: Store, enter: Callable[[Exporter], Remote], *, source: str, tell: Teller = observe.tell
    ) -> None:
        self._store = store
        self._enter = enter
        self._source = source
        self._tell = tell

    def __call__(self, _: Event, context: Any = None) -> dict[str, Any]:
        """What was done. Raises Unfinished."""
        clock = self._store.clock
        begun, since = clock.now(), clock.elapsed()
        deadline = since + _time_ms(context)
        exporters = list(self._store.catalog.exporters())
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="exporter") as executor:
            outcomes = list(executor.map(lambda each: self._turn(each, deadline), exporters))
        done = self._report(begun, clock.elapsed() - since, [each for each in outcomes if each.is_running])
        for outcome, exporter in zip(outcomes, exporters, strict=True):
            if outcome.failure is not None:
                request_id = getattr(context, "aws_request_id", "")
                self._tell(observe.failure(outcome.failure, request_id=request_id) | {"exporter": exporter.name})
        if failures := [each.failure for each in outcomes if each.failure is not None]:
            raise Unfinished(f"{len(failures)} of {len(exporters)} exporters failed") from failures[0]
        return done

    def _turn(self, exporter: Exporter, deadline: int) -> ExporterOutcome:
        try:
            with closing(self._enter(exporter)) as destination:
                done = self._turns(exporter, destination, deadline)
            progress = done.progress
            if progress is None or progress.state is ExporterState.PAUSED:
                return ExporterOutcome(is_running=False)
            is_failing = bool(progress.trace)
            lag_ms = self._lag_ms(progress) if is_failing or done.more else 0
        except Exception as failure:  # noqa: BLE001 - whatever it is, the others go on; it is raised in the end
            return ExporterOutcome(is_failing=True, failure=failure)
        return ExporterOutcome(written=done.written, is_failing=is_failing, more=done.more, lag_ms=lag_ms)

    def _turns(self, exporter: Exporter, destination: Destination, deadline: int) -> Turn:
        """One, and further ones after short pauses while the destination is only asked too much."""
        backoff = Backoff(self._store.clock, FIRST_PAUSE_S)
        reached, lost, written = None, 0, 0
        while True:
            again = reached is None
            done = turn(self._store, exporter, destination, source=self._source, deadline=deadline, again=again)
            written += done.written
            if done.progress is None or done.wait_s is None:
                break
            lost = lost + 1 if done.progress.position == reached else 0
            reached = done.progress.position
            pause_s = max(done.wait_s, backoff.most_s(lost))
            if pause_s > LONGEST_PAUSE_S or self._store.clock.elapsed() + 1000 * pause_s >= deadline:
                break
            self._store.clock.sleep(pause_s)
        return done._replace(written=written)

    def _lag_ms(self, progress: ExporterProgress) -> int:
        """How long ago the first change was committed that is not at the destination."""
        seen = frozenset(progress.position.seen)
        for _, row in self._store.journal.read(progress.position.offset):
            if row["nonce"] not in seen:
                return max(0, self._store.clock.now() - int(str(row["ts"])))
        return 0

    def _report(self, begun: int, took_ms: int, outcomes: list[ExporterOutcome]) -> Facts:
        """exporters: that are not paused. failing, behind: how many of them; left: how many have more to write."""
        facts: Facts = {
            "event": "exporters",
            "ts": begun,
            "exporters": len(outcomes),
            "written": sum(each.written for each in outcomes),
            "failing": sum(each.is_failing for each in outcomes),
            "behind": sum(each.lag_ms >= BEHIND_MS for each in outcomes),
            "left": sum(each.more for each in outcomes),
            "took_ms": took_ms,
            "lag_ms": max((each.lag_ms for each in outcomes), default=0),
        }
        self._tell(facts)
        return facts


def _time_ms(context: Any) -> int:
    """How long this invocation may begin something."""
    if context is None:
        return WORK_MS
    left: int = context.get_remaining_time_in_millis()
    return left - LEFT_MS
