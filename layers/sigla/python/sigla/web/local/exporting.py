"""Exporters of `sigla serve`: a thread for each that is not paused.

Where there are no exporters, one thread waits for the first one, and nothing else is done. That of an exporter sleeps
until something is committed, or until it is time to try again what failed. It writes to the store only how far it has
come, at most once a second.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from sigla import observe
from sigla.backoff import Backoff
from sigla.exporters.destination import Destination
from sigla.exporters.nouns import Exporter, ExporterProgress, ExporterState
from sigla.exporters.running import Turn, turn
from sigla.observe import Teller
from sigla.ports.store import Store
from sigla.web.local.metrics import metric_lines

GATHERED_S: Final = 0.1
"""What is committed within this time is written together."""
TURN_MS: Final = 5_000
"""After so long a turn says how far it has come, and the next one begins."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
"""Between two tries of what fails."""
LONGEST_WISH_S: Final = 300.0
"""A destination that asks to be left alone for longer is asked again nevertheless."""
FAREWELL_S: Final = 2.0
"""So long the end waits for all threads. What they do then may be cut off anywhere."""


class RemoteDestination(Destination, Protocol):
    """A destination that is asked over a network."""

    def interrupt(self) -> None:
        """Ends what another thread waits for."""
        ...

    def close(self) -> None: ...


class WatchedStore(Store, Protocol):
    """A store that tells of its commits, as that of one process can."""

    def on_committed(self, tell: Callable[[bool], None]) -> None:
        """tell: is called after each commit, and told whether an exporter was changed. It must not take long."""
        ...


Opener = Callable[[Exporter], RemoteDestination]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all exporters work with. source: what the source is called. tell: takes lines for operators."""

    store: WatchedStore
    opener: Opener
    source: str
    tell: Teller


@contextmanager
def exporting(around: Surroundings, *, begin: bool = True) -> Iterator["Exporting"]:
    """Exporters are at work inside; without begin from the moment at which they are started."""
    exporters = Exporting(around)
    around.store.on_committed(exporters.hear)
    if begin:
        exporters.start()
    try:
        yield exporters
    finally:
        exporters.stop()


class Exporting:
    """All exporters of a store. They may be started and stopped again and again, by one thread at a time."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._followers: dict[str, Follower] = {}
        self._changed = threading.Event()
        self._over = True
        self._until = 0
        """When the end does not wait any more, by `Clock.elapsed`."""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if not self._over:
            return
        self._over = False
        self._changed.set()
        self._thread = threading.Thread(target=self._watch, name="sigla-exporters", daemon=True)
        self._thread.start()

    def begin_to_stop(self) -> None:
        """Asks all threads to end, and waits for none: so several registries end at the same time."""
        if self._over:
            return
        self._until = self._around.store.clock.elapsed() + round(1000 * FAREWELL_S)
        self._over = True
        self._changed.set()
        for each in tuple(self._followers.values()):
            each.stop()

    def stop(self) -> None:
        self.begin_to_stop()
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        clock = self._around.store.clock
        for each in self._followers.values():
            each.stop()  # one that had just begun has not heard of it
            each.join(max(0, self._until - clock.elapsed()) / 1000)
        self._followers.clear()

    def hear(self, of_exporters: bool) -> None:  # noqa: FBT001 - as `WatchedStore` calls it
        """A commit. In the thread that wrote it, which goes on at once."""
        for each in tuple(self._followers.values()):
            each.wake(changed=of_exporters)
        if of_exporters:
            self._changed.set()

    def lines(self) -> Iterator[str]:
        """For `/metrics`; nothing where there are no exporters."""
        catalog, end = self._around.store.catalog, self._around.store.journal.end()
        found = [(each.name, progress) for each in catalog.exporters() if (progress := catalog.progress(each.name))]
        if not found:
            return
        running = [(_label(name), int(said.state is ExporterState.RUNNING)) for name, said in found]
        yield from metric_lines(
            "sigla_exporter_running", "gauge", "1 where the first walk is over and it is not paused.", running
        )
        behind = [(_label(name), max(0, end - said.position.offset)) for name, said in found]
        yield from metric_lines("sigla_exporter_behind", "gauge", "Commits it has not written yet.", behind)
        waiting = [(_label(name), len(said.position.waiting)) for name, said in found]
        yield from metric_lines(
            "sigla_exporter_refused", "gauge", "Subjects and keys that the destination refuses.", waiting
        )
        failing = [(_label(name), int(bool(said.trace))) for name, said in found]
        yield from metric_lines("sigla_exporter_failing", "gauge", "1 while its trace is not empty.", failing)

    def _watch(self) -> None:
        """Begins a thread where an exporter needs one."""
        while True:
            self._changed.wait()
            self._changed.clear()
            if self._over:
                return
            try:
                self._look()
            except Exception as failure:  # noqa: BLE001 - whatever it is, the next change is looked at
                self._around.tell(observe.failure(failure, request_id=""))

    def _look(self) -> None:
        catalog = self._around.store.catalog
        for exporter in catalog.exporters():
            standing = self._followers.get(exporter.name)
            if standing is None or standing.has_ended:
                progress = catalog.progress(exporter.name)
                if progress is not None and progress.state is not ExporterState.PAUSED:
                    self._followers[exporter.name] = follower = Follower(exporter.name, self._around)
                    follower.start()


@dataclass(slots=True)
class _News:
    """What a follower is told while it works or sleeps."""

    committed: bool = False
    changed: bool = False
    over: bool = False


class Follower:
    """The thread of one exporter. It ends when the exporter is paused or gone."""

    def __init__(self, name: str, around: Surroundings) -> None:
        self.has_ended = False
        self._name = name
        self._around = around
        self._clock = around.store.clock
        self._backoff = Backoff(self._clock, FIRST_PAUSE_S, LONGEST_PAUSE_S)
        self._condition = threading.Condition()
        self._news = _News()
        self._remote: RemoteDestination | None = None
        self._revision = ""
        self._said = ExporterProgress()
        self._lost = 0
        self._due = 0
        """When what failed is tried again, by `Clock.elapsed`."""
        self._thread = threading.Thread(target=self._run, name=f"sigla-exporter-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self, *, changed: bool = False, over: bool = False) -> None:
        with self._condition:
            self._news.committed = True
            self._news.changed |= changed
            self._news.over |= over
            self._condition.notify()

    def stop(self) -> None:
        self.wake(over=True)
        if self._remote is not None:
            self._remote.interrupt()

    def join(self, patience_s: float) -> None:
        self._thread.join(patience_s)

    # --- in its thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._news.over:
            try:
                if not self._goes_on():
                    break
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is told, and tried again after a while
                if not self._news.over:
                    self._tell_failure(failure)
                    self._sleep_after(away=True)
        if self._remote is not None:
            self._remote.close()

    def _goes_on(self) -> bool:
        """One turn, and the sleep after it. False where there is nothing to do before the exporter is changed."""
        with self._condition:
            self._news.committed = self._news.changed = False
        exporter = self._around.store.catalog.exporter(self._name)
        if exporter is None:
            return not self._ends("removed")
        done = self._turn(exporter, self._enter(exporter))
        if done.progress is None or done.progress.state is ExporterState.PAUSED:
            return not self._ends("removed" if done.progress is None else "paused")
        if done.progress.position != self._said.position:
            self._lost = 0  # a destination that is asked too much (429) is not away: it has taken some of it
        self._report(exporter, done.progress)
        if done.away or done.refused:
            self._sleep_after(away=done.away, wait_s=done.wait_s or 0.0)
        elif not done.more:
            self._lost = 0
            self._sleep(None, commits=True)
        return True

    def _turn(self, exporter: Exporter, remote: RemoteDestination) -> Turn:
        now = self._clock.elapsed()
        again = not self._lost or now >= self._due
        around = self._around
        return turn(around.store, exporter, remote, source=around.source, deadline=now + TURN_MS, again=again)

    def _enter(self, exporter: Exporter) -> RemoteDestination:
        """Where to, and with which credentials, may have changed with the exporter."""
        if self._remote is not None and exporter.revision == self._revision:
            return self._remote
        if self._remote is not None:
            self._remote.close()
        self._remote = self._around.opener(exporter)
        if self._news.over:  # `stop` has looked before it was there
            self._remote.interrupt()
        self._revision, self._lost = exporter.revision, 0
        self._tell("exporter-started", f"It writes to {self._remote.shown}.")
        return self._remote

    def _ends(self, why: str) -> bool:
        """Whether this thread ends: not where the exporter was changed at this moment."""
        with self._condition:
            self.has_ended = not self._news.changed
        if self.has_ended:
            self._tell("exporter-stopped", f"It was {why}.")
        return self.has_ended

    # --- sleep -------------------------------------------------------------------------------------------------------

    def _sleep_after(self, *, away: bool, wait_s: float = 0.0) -> None:
        """Where the destination is away, nothing else can be tried; what it refuses holds nothing else up.

        wait_s: so long it wants to be left alone.
        """
        now = self._clock.elapsed()
        if not self._lost or now >= self._due:
            pause_s = max(self._backoff.most_s(self._lost), min(wait_s, LONGEST_WISH_S))
            self._due = now + round(1000 * pause_s)
            self._lost += 1
        self._sleep((self._due - now) / 1000, commits=not away)

    def _sleep(self, longest_s: float | None, *, commits: bool) -> None:
        def is_over() -> bool:
            return self._news.over or self._news.changed or (commits and self._news.committed)

        with self._condition:
            self._condition.wait_for(is_over, longest_s)
            if commits and not self._news.over:
                self._condition.wait_for(lambda: self._news.over, GATHERED_S)

    # --- what operators see ------------------------------------------------------------------------------------------

    def _report(self, exporter: Exporter, progress: ExporterProgress) -> None:
        """What has changed since the last turn."""
        before, self._said = self._said, progress
        if progress.trace and progress.trace != before.trace:
            self._tell("exporter-waits", progress.trace)
        elif before.trace and not progress.trace:
            self._tell("exporter-goes-on", f"{exporter.name} goes on.")
        if progress.state is ExporterState.RUNNING and before.state is not ExporterState.RUNNING:
            self._tell("exporter-running", "All that was there before it began is written.")

    def _tell(self, event: str, message: str) -> None:
        self._around.tell({"event": event, "exporter": self._name, "message": message})

    def _tell_failure(self, failure: BaseException) -> None:
        self._around.tell(observe.failure(failure, request_id="") | {"exporter": self._name})


def _label(name: str) -> str:
    return f'{{exporter="{name}"}}'
