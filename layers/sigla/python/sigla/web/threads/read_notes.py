"""Who read which id, counted in memory and noted beside the requests: a read asks no store for it.

What a process has noted of a day it does not note again, so a principal that reads an id a million times is a row that
is looked at once. A note that fails is tried again until the store takes it; no request hears of it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from itertools import groupby
from operator import itemgetter
from typing import Final

from sigla.bounded import BoundedMemory
from sigla.changes.kinds import DAY_MS
from sigla.errors import StoreError
from sigla.observe import Seen, Teller
from sigla.ports.clock import Clock
from sigla.ports.reads import Read, Reads
from sigla.settings import Settings

GATHERED_S: Final = 1.0
"""So long a server gathers reads before it writes them together."""
AGAIN_S: Final = 30.0
"""So long it waits before it tries a note again: well within the window of five minutes."""
SETTLED_S: Final = 0.25
"""So long a note is waited for, as long as the store takes them: ten times what it needs."""

MOST_KNOWN: Final = 32_768
"""So many are known to be noted; where there are more, some are asked for several times a day."""
MOST_WAITING: Final = 16_384
"""So many wait for a store that does not answer; further ones are not counted, and that is told."""


class ReadNotes:
    """A `Watcher`. Any thread may use it.

    names_ms: for how long the names of principals are kept from now on. gathered_s: how long reads wait for others that
    are noted with them; None where they wait for `settle`. tell: of notes that fail. aside: what stands around each.
    share: of how many that share the memory of a process.
    """

    def __init__(
        self,
        reads: Reads,
        clock: Clock,
        tell: Teller,
        *,
        names_ms: int,
        gathered_s: float | None = GATHERED_S,
        again_s: float = AGAIN_S,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
        share: int = 1,
    ) -> None:
        self._reads = reads
        self._clock = clock
        self._tell = tell
        self._names_ms = names_ms
        self._gathered_s = gathered_s
        self._again_s = again_s
        self._aside = aside
        self._known: BoundedMemory[Read, int] = BoundedMemory(MOST_KNOWN // share)
        self._changed = threading.Condition()
        self._waiting: dict[Read, int] = {}
        self._under_way: dict[Read, int] = {}
        self._thread: threading.Thread | None = None
        self._closing = self._settling = False
        self._failing = self._slow = False
        self._failures = self._lost = 0

    def __call__(self, seen: Seen) -> None:
        """Counts the read of a request that was one."""
        if seen.read is None:
            return
        read, now = Read(*seen.read, seen.principal), self._clock.now()
        if self._known.get(read) != now // DAY_MS:
            self._wait_to_be_noted(read, now)

    @property
    def are_waiting(self) -> bool:
        """Whether something was counted that is not noted."""
        with self._changed:
            return bool(self._waiting or self._under_way)

    def settle(self, patience_s: float = SETTLED_S) -> None:
        """Waits until all that was counted is noted, but not longer than that, nor for a store that is slow or fails.

        After a wait in vain none is waited for before a note was taken.
        """
        with self._changed:
            self._settling = True
            self._changed.notify_all()
            done = self._changed.wait_for(lambda: self._slow or not (self._waiting or self._under_way), patience_s)
            self._slow = self._slow or not done

    def close(self) -> None:
        """What was counted is noted, if the store takes it now."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _wait_to_be_noted(self, read: Read, now: int) -> None:
        with self._changed:
            if len(self._waiting) >= MOST_WAITING and read not in self._waiting:
                self._lost += 1
                return
            self._known.keep(read, now // DAY_MS)
            self._waiting[read] = now
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sigla-reads", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if self._failing:
                    self._changed.wait_for(lambda: self._closing, self._again_s)
                else:
                    self._changed.wait_for(lambda: self._closing or self._settling, self._gathered_s)
                is_last, self._settling = self._closing, False
                self._under_way, self._waiting = self._waiting, {}
            failure = self._noted(self._under_way)
            with self._changed:
                if failure is not None:
                    self._waiting = self._under_way | self._waiting
                self._under_way = {}
                self._failing = self._slow = failure is not None
                self._changed.notify_all()
                if is_last:
                    return

    def _noted(self, reads: Mapping[Read, int]) -> StoreError | None:
        """Why they are not noted; None where they are. Each keeps its own day, whenever it is written."""
        by_day = sorted(((at // DAY_MS, at, read) for read, at in reads.items()), key=itemgetter(0))
        try:
            for _, some in groupby(by_day, key=itemgetter(0)):
                same = list(some)
                with self._aside():
                    self._reads.note([read for _, _, read in same], max(at for _, at, _ in same), self._names_ms)
        except StoreError as failure:
            self._failures += 1
            if not self._failing:
                self._tell({"event": "usage", "message": f"Reads by id are not noted for now, because {failure}."})
            return failure
        if self._failures:
            failures, self._failures = self._failures, 0
            self._tell({"event": "usage", "message": f"Reads by id are noted again. Tries that failed: {failures}."})
        if self._lost:
            lost, self._lost = self._lost, 0
            self._tell({"event": "usage", "message": f"{lost} reads by id were not counted: too many were waiting."})
        return None


@contextmanager
def read_notes(
    settings: Settings,
    reads: Reads,
    clock: Clock,
    tell: Teller,
    *,
    gathered_s: float | None = GATHERED_S,
    aside: Callable[[], AbstractContextManager[None]] = nullcontext,
    share: int = 1,
) -> Iterator[tuple[ReadNotes, ...]]:
    """What counts reads by id; nothing where the settings have them not counted. The rest as of `ReadNotes`."""
    if not settings.usage:
        yield ()
        return
    names_ms = settings.names_days * DAY_MS
    with closing(
        ReadNotes(reads, clock, tell, names_ms=names_ms, gathered_s=gathered_s, aside=aside, share=share)
    ) as notes:
        yield (notes,)
