"""One turn of an exporter: bounded in time and in memory, and cut off anywhere without harm."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, Final, NamedTuple

from sigla.contract import IMPORT
from sigla.errors import BodyLost, Conflict
from sigla.exporters.destination import Destination, DestinationAway, DestinationBusy, DestinationRefused
from sigla.exporters.endless import endless
from sigla.exporters.nouns import BEGIN, Exporter, ExporterProgress, ExporterState, Position
from sigla.exporters.running.course import Course
from sigla.exporters.running.gate import Gate
from sigla.exporters.running.keys import Keys
from sigla.exporters.running.matters import WHOLE, Matter, MatterKind, MatterPart, Walked, matter, matters_of, walk
from sigla.exporters.running.subjects import Subjects
from sigla.model import Subject
from sigla.ports.store import Store

AHEAD: Final = 32
"""Subjects that are read ahead in a walk."""
ROWS: Final = 256
"""Rows of the journal that are looked at together: what they are about is looked at once."""
SAVED_MS: Final = 1_000
"""So often an exporter that has much to do says how far it has come."""
MOST_WAITING: Final = 100
"""Matters that the destination refuses; with more of them, no further ones are tried."""
MOST_SEEN: Final = 512
"""Rows that may come late, as they are remembered by their nonces; those that are not are looked at again."""
LONGEST_TRACE: Final = 1_000
"""Characters."""

TOO_MANY: Final = "The destination refuses {count} subjects and keys, and nothing else is tried before that changes."


class Turn(NamedTuple):
    """What a turn leaves behind.

    progress: None if the exporter is gone. more: whether there was more to do than time. written: matters that were
    looked at and are equal now. away: whether the destination does not answer; then the next turn should be a while
    later. wait_s: so long a destination that is away only because it is asked too much wants to be left alone, 0 where
    it does not say; else None. refused: whether it refuses something, which is to be tried again a while later.
    """

    progress: ExporterProgress | None
    more: bool = False
    written: int = 0
    away: bool = False
    refused: bool = False
    wait_s: float | None = None


class _TimeIsOver(Exception):
    """The deadline of a turn."""


def turn(
    store: Store, exporter: Exporter, destination: Destination, *, source: str, deadline: int, again: bool = True
) -> Turn:
    """Writes what is not at the destination yet, until all is there, or the time is over.

    source: what the source is called (AUTO). deadline: by `Clock.elapsed`; what has begun then is finished. again:
    whether what was refused before is tried again. Raises StoreError where the source cannot be read: what is written
    until then stays written, and the next turn goes on.
    """
    progress = store.catalog.progress(exporter.name)
    if progress is None or progress.state is ExporterState.PAUSED:
        return Turn(progress)
    return _Turn(store, exporter, progress, destination, source=source, deadline=deadline).run(again=again)


class _Turn:
    """waiting: what the destination refuses, with its sentence; empty for what was refused in an earlier turn.

    endless: as of `exporters.endless`; empty once the destination is known to be another registry.
    """

    def __init__(
        self,
        store: Store,
        exporter: Exporter,
        progress: ExporterProgress,
        destination: Destination,
        *,
        source: str,
        deadline: int,
    ) -> None:
        self._store = store
        self._exporter = exporter
        self._progress = progress
        self._position = progress.position
        self._deadline = deadline
        self._destination = destination
        self._endless = endless(exporter, source)
        self._course = Course(exporter, source)
        self._gate = Gate(destination, store.clock)
        self._subjects = Subjects(store, self._course, destination, self._gate)
        self._keys = Keys(store.catalog, self._course, destination)
        self._waiting: dict[Matter, str] = dict.fromkeys(map(matter, self._position.waiting), "")
        self._fresh: set[Matter] = set()
        self._written = 0
        self._saved_at = store.clock.elapsed()

    def run(self, *, again: bool) -> Turn:
        trace, more, wait_s = "", False, None
        try:
            refused = list(self._waiting) if again else []
            if len(refused) >= MOST_WAITING:
                self._try_again(refused)
                self._check_waiting()
            if self._is_at_start:
                self._begin()
            if self._position.walked:
                self._walk()
            self._follow()
            self._try_again(each for each in refused if each in self._waiting)
        except DestinationAway as away:
            trace = str(away)
            wait_s = away.wait_s if isinstance(away, DestinationBusy) else None
        except _TimeIsOver:
            more = True
        except Conflict:
            return Turn(self._store.catalog.progress(self._exporter.name), written=self._written)
        try:
            self._save(trace or self._refusals(), ended=not trace and not more)
        except Conflict:
            return Turn(self._store.catalog.progress(self._exporter.name), written=self._written)
        return Turn(self._progress, more, self._written, away=bool(trace), refused=bool(self._waiting), wait_s=wait_s)

    # --- the walk ----------------------------------------------------------------------------------------------------

    @property
    def _is_at_start(self) -> bool:
        """Also where rows that come after the position are not kept any more."""
        position = self._position
        return not (position.offset or position.walked) or not self._store.journal.reaches(position.offset)

    def _begin(self) -> None:
        """What is committed from now on is told by the journal after this offset."""
        self._position = Position(self._store.journal.end(), walked=BEGIN, waiting=self._position.waiting)

    def _walk(self) -> None:
        after = self._position.walked
        place = after
        walked = walk(self._store.catalog, "" if after == BEGIN else after)
        with closing(self._read_ahead(walked)) as found:
            for here, each, part in found:
                if here != place:
                    self._pass(walked=place)
                    if place != after:
                        self._check_time()
                    place = here
                self._try(each, part)
        self._try_fresh()
        self._pass(walked="")

    def _read_ahead(self, walked: Walked) -> Generator[tuple[str, Matter, MatterPart], None, None]:
        """The destination is asked for many subjects side by side, before the first of them is looked at."""
        try:
            while some := list(islice(walked, AHEAD)):
                subjects = [each.subject for _, each, part in some if each.kind is MatterKind.SUBJECT and part is WHOLE]
                self._destination.expect([self._course.subject(each) for each in subjects if self._course.takes(each)])
                yield from some
        finally:
            self._destination.expect([])

    # --- the journal -------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        while self._read_journal():
            pass

    def _read_journal(self) -> bool:
        """Whether it is to be read again, because rows have settled that this reading may not have seen all of."""
        journal = self._store.journal
        settled = journal.end()  # before the first row is read: one that comes later may stand before those
        rows = journal.read(self._position.offset)
        while batch := list(islice(rows, ROWS)):
            self._look_at(batch, settled=settled)
            if settled < batch[-1][0] <= journal.end():
                return True
        return False

    def _look_at(self, batch: Sequence[tuple[int, Mapping[str, Any]]], *, settled: int) -> None:
        """What several rows are about is looked at once, when the first of them is met."""
        parts: dict[Matter, MatterPart | None] = {}
        for _, row in batch:
            if row["nonce"] not in self._position.seen:
                for matter, part in matters_of(row):
                    known = parts.get(matter)
                    parts[matter] = known | part if known else part
        for offset, row in batch:
            for matter, _ in matters_of(row):
                if (together := parts.pop(matter, None)) is not None:
                    self._try(matter, together)
            self._pass_row(offset, str(row["nonce"]), settled)
            self._check_time()
        self._try_fresh()

    def _pass_row(self, offset: int, nonce: str, settled: int) -> None:
        """The offset stays behind rows before which another one may yet come; those are known by their nonces."""
        seen = self._position.seen
        if offset <= settled:
            self._pass(offset=offset, seen=tuple(each for each in seen if each != nonce) if seen else seen)
        elif nonce not in seen and len(seen) < MOST_SEEN:
            self._pass(seen=(*seen, nonce))

    # --- matters -----------------------------------------------------------------------------------------------------

    def _try(self, matter: Matter, part: MatterPart) -> None:
        """What is refused waits, and the rest goes on."""
        try:
            self._make_equal(matter, part)
        except (DestinationRefused, BodyLost) as refused:
            waited = matter in self._waiting
            self._waiting[matter] = str(refused)
            if not waited:
                self._fresh.add(matter)
                self._check_waiting()
        else:
            self._waiting.pop(matter, None)
            self._written += 1

    def _check_waiting(self) -> None:
        """Raises DestinationAway where so much is refused that nothing else is to be tried."""
        if len(self._waiting) > MOST_WAITING:
            raise DestinationAway(f"{TOO_MANY.format(count=MOST_WAITING)} {self._refusals()}") from None

    def _make_equal(self, matter: Matter, part: MatterPart) -> None:
        self._check_ends()
        match matter.kind:
            case MatterKind.SUBJECT:
                if self._course.takes(matter.subject):
                    self._subjects.make_equal(matter.subject, part)
            case MatterKind.CONTEXT:
                self._drop(matter.name)
            case MatterKind.KEK:
                self._keys.make_kek_equal(matter.name)
            case MatterKind.DEK:
                self._keys.make_dek_equal(*matter.dek)

    def _check_ends(self) -> None:
        """Asks in each turn that has something to do, whatever was found before: an address may lead elsewhere by now.

        Raises DestinationAway where the exporter would go on for ever.
        """
        if self._endless and self._destination.is_source():
            raise DestinationAway(f"{self._endless.format(shown=self._destination.shown)}.")
        self._endless = ""

    def _drop(self, context: str) -> None:
        scope = Subject(context, "")
        there = self._course.scope(scope)
        if there is None or not self._course.takes(scope) or context in self._store.catalog.contexts():
            return
        if not there.in_default_context and self._destination.mode(there) == IMPORT:
            self._destination.drop_context(there.context)

    def _try_again(self, matters: Iterable[Matter]) -> None:
        for each in matters:
            self._try(each, WHOLE)
            self._check_time()

    def _try_fresh(self) -> None:
        """One may wait for another: a delete for that of a subject which references it. As long as that helps."""
        while self._fresh:
            tried = list(self._fresh)
            self._fresh.clear()
            self._try_again(tried)
            if all(matter in self._waiting for matter in tried):
                return
            self._fresh.update(matter for matter in tried if matter in self._waiting)

    # --- how far it has come -----------------------------------------------------------------------------------------

    def _check_time(self) -> None:
        if self._store.clock.elapsed() >= self._deadline:
            raise _TimeIsOver

    def _pass(self, **members: Any) -> None:
        self._position = self._position._replace(**members)
        if self._store.clock.elapsed() - self._saved_at >= SAVED_MS:
            self._save(self._refusals(), ended=False)

    def _save(self, trace: str, *, ended: bool) -> None:
        """Nothing is written where nothing has changed."""
        position = self._position._replace(waiting=tuple(map(str, self._waiting)))
        state = ExporterState.RUNNING if ended else self._progress.state
        said = ExporterProgress(state, position, self._progress.ts, _printable(trace[:LONGEST_TRACE]))
        if said != self._progress:
            said = said._replace(ts=self._store.clock.now())
            self._store.catalog.advance(self._exporter, said)
            self._progress = said
        self._saved_at = self._store.clock.elapsed()

    def _refusals(self) -> str:
        """What was refused last, in a sentence; where nothing was tried, what was said before."""
        said = [f"{matter}: {sentence}." for matter, sentence in self._waiting.items() if sentence]
        if not said:
            return self._progress.trace if self._waiting else ""
        others = len(self._waiting) - 1
        return f"{said[-1]} {others} more wait." if others else said[-1]


def _printable(text: str) -> str:
    """Destinations say what they like: halves of surrogate pairs, which no store keeps, and controls of a terminal."""
    return "".join(each if each.isprintable() else " " for each in text)
