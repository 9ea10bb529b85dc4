"""Who speaks for an id: remembered for a while, asked beside the body, told by the body where the catalog is silent.

What an id means needs no catalog. So a read by id waits `PATIENCE_S` for it at most, and then for a moment not at all.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from sigla.bounded import BoundedMemory
from sigla.changes import Change
from sigla.errors import BodyMissing, ForeignData, StoreError
from sigla.model import Body, BodyKey, Guid, Holder, SchemaId, Subject
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.in_front import CatalogInFront

T = TypeVar("T")

REMEMBERED = 10_000
"""Answers; beyond it the first remembered goes first. A few hundred bytes each."""

PATIENCE_S = 1.0
"""A healthy catalog answers in 5 to 50 ms, the first question of a process, with its handshakes, in 300."""

REST_MS = 5_000
"""For so long a catalog that kept a caller waiting is not waited for, unless it is heard of."""

SIDE_BY_SIDE = 8
"""Questions, with those that no caller waits for any more: each ends by its client's own time-outs."""

Question = tuple[BodyKey, Subject | None]


@dataclass(frozen=True, slots=True)
class Answer:
    """until: in ms, counted from when the question was asked."""

    holder: Holder
    until: int


class Speakers(CatalogInFront):
    """A `ports.Catalog` in front of a `Catalog`: the one behind, but for what is waited for with an end.

    Any thread may use it.

    bodies: where the caller that wants an id's speaker goes on to read what the id means; it should remember.
    remembered_ms: how long an answer is good for; what this process commits is seen at once all the same.
    remembered: so many answers are.
    """

    def __init__(
        self,
        catalog: Catalog,
        bodies: Bodies,
        clock: Clock,
        *,
        remembered_ms: int = 0,
        remembered: int = REMEMBERED,
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(catalog)
        self._bodies = bodies
        self._clock = clock
        self._remembered_ms = remembered_ms
        self._pool = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="speakers")
        self._patience_s = patience_s
        self._answers: BoundedMemory[Question, Answer] = BoundedMemory(remembered)
        self._silent_until = 0

    @property
    def state(self) -> None:
        """It stands in front of catalogs that others write to."""

    def close(self) -> None:
        """Waits for what is under way."""
        self._pool.shutdown(cancel_futures=True)

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        """The same object as long as the answer does not change and is remembered."""
        known = self._answers.get((key, by))
        if known is not None and self._clock.now() < known.until:
            return known.holder
        return self._ask(key, by)

    def standing(self, guid: Guid) -> SchemaId | None:
        if self._clock.elapsed() < self._silent_until:
            return None
        with suppress(StoreError, TimeoutError):
            return self._answered(self._pool.submit(self._catalog.standing, guid))
        return None

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        try:
            return self._catalog.commit(change)
        finally:
            # Also after a failure: its outcome may be unknown.
            self._forget(change)

    # --- asking ------------------------------------------------------------------------------------------------------

    def _ask(self, key: BodyKey, by: Subject | None) -> Holder | None:
        asked_at, seen = self._clock.now(), self._answers.changes
        if self._clock.elapsed() < self._silent_until:
            return self._born(key, by)
        asked = self._pool.submit(self._catalog.speaker, key, by)
        # The body is read while the catalog thinks; what is wrong with it is told to the caller that reads the body
        # itself.
        with suppress(StoreError):
            self._bodies.get(key)
        try:
            found = self._answered(asked)
        except TimeoutError:
            return self._born(key, by)
        except StoreError as failure:
            return self._born(key, by, failure)
        return found and self._remember((key, by), found, asked_at, seen)

    def _answered(self, asked: Future[T]) -> T:
        """Raises StoreError; TimeoutError, after which callers do not wait for a moment."""
        try:
            return asked.result(self._patience_s)
        except TimeoutError:
            self._silent_until = self._clock.elapsed() + REST_MS
            asked.add_done_callback(self._heard)
            raise

    def _heard(self, late: Future[T]) -> None:
        if not late.cancelled() and late.exception() is None:
            self._silent_until = 0

    def _born(self, key: BodyKey, by: Subject | None, failure: StoreError | None = None) -> Holder | None:
        """Who registered the id first, if it may still have a holder.

        Raises StoreError where that is not `by`: by what it is named instead may mean another schema (ID-RES).
        """
        body = self._living(key, failure)
        if by is not None and (body is None or body.subject != by):
            _give_up("which schema is meant", failure)
        if body is None:
            return None
        return Holder(body.subject, body.version, deleted=False, ts=body.ts, revision=0)

    def _living(self, key: BodyKey, failure: StoreError | None) -> Body | None:
        """None for a tombstone. Without the body it cannot be told whether the id is held, and its body is lost."""
        try:
            body = self._bodies.get(key)
        except BodyMissing as missing:
            _give_up("whether the id is held", failure, missing)
        return None if body.gone else body

    # --- remembering -------------------------------------------------------------------------------------------------

    def _remember(self, question: Question, found: Holder, asked_at: int, seen: int) -> Holder:
        with self._answers.lock:
            # An answer from before a commit must not be remembered after it.
            if not self._remembered_ms or seen != self._answers.changes:
                return found
            known = self._answers.get(question)
            holder = known.holder if known is not None and known.holder == found else found
            self._answers.keep(question, Answer(holder, asked_at + self._remembered_ms))
            return holder

    def _forget(self, change: Change) -> None:
        """Every answer about an id that may have another speaker now."""
        ids = change.ids
        self._answers.forget_where(lambda question, known: question[0] in ids or change.concerns(known.holder.subject))


def _give_up(what: str, failure: StoreError | None, missing: BodyMissing | None = None) -> NoReturn:
    """What only the catalog can tell. Where one answers and is not to be believed, that is told instead."""
    if isinstance(failure, ForeignData):
        raise failure
    raise StoreError(f"the catalog, which alone could tell {what}, does not answer") from (failure or missing)
