"""Commits: plan, write with a journal row, and find out what happened when that is not plain."""

import threading
from collections.abc import Callable, Sequence

from sigla import journal
from sigla.changes import Change, VersionPurged
from sigla.errors import Conflict, OutcomeUnknown, StoreError
from sigla.journal import Effects
from sigla.model import BodyKey
from sigla.regions import moved
from sigla.stores.dynamodb import changes, histories, sweeping
from sigla.stores.dynamodb.actions import Action, checked, put, rests_on_another
from sigla.stores.dynamodb.ids import TooEarly
from sigla.stores.dynamodb.numbers import numbered
from sigla.stores.dynamodb.plans import CommitPlan, Tools
from sigla.stores.dynamodb.principals import AwsPrincipals
from sigla.stores.dynamodb.reading import states
from sigla.stores.dynamodb.table import MOST_ACTIONS, Cancelled
from sigla.stores.dynamodb.values import Item, packed
from sigla.stores.dynamodb.versions import TooManyPurged

TRIES = 8
JOURNAL_KEPT_S = 35 * 86_400
TIDIED_MS = 1_000
"""For so long a commit tidies up after itself; the rest is left to whoever follows the journal."""
TOLD_AT_ONCE = 20
"""Buried ids that a commit tells of at most: each costs its writer two calls of S3, one after the other, while a client
waits. The others get their tombstones from whoever follows the journal, side by side and seconds later."""


class HybridTime:
    """Milliseconds that never go back: the clock's where it is ahead, else one more than the last."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def next(self, now: int) -> int:
        with self._lock:
            self._last = max(now, self._last + 1)
            return self._last

    def observe(self, at: int) -> None:
        """Makes the next time later than this one."""
        with self._lock:
            self._last = max(self._last, at)


class Commits:
    """epoch: as of `journal.for_region`, where there is no role."""

    def __init__(self, tools: Tools, *, epoch: int = 0) -> None:
        self.tools = tools
        self._epoch = epoch
        self._principals = AwsPrincipals(tools.table, tools.places)
        self._time = HybridTime()

    def commit(self, change: changes.InOneTransaction) -> tuple[BodyKey, ...]:
        """Raises Conflict, Closed, OutcomeUnknown, InvalidSubject, SchemaTooLarge."""
        try:
            done = self.write(change, lambda at: changes.plan(self.tools, change, at))
        except TooManyPurged as excess:
            self._purge_before(excess)
            raise Conflict from excess
        return done.buried + self._tidy(done)

    def write(self, change: Change, plan: Callable[[int], CommitPlan], *, journaled: bool = True) -> CommitPlan:
        """Carries out a plan with its journal row; it is planned anew when its time turns out to be too early."""
        by = self._principals.token_of(change.author, change.ts) if journaled else ""
        for _ in range(TRIES):
            at = self._time.next(change.ts)
            try:
                planned = plan(at)
            except TooEarly as early:
                self._time.observe(early.at)
                continue
            guard = self.tools.fence.guard(change.epoch)
            epoch = guard.epoch or self._epoch
            if epoch and journaled:
                planned = numbered(self.tools, planned)
            # On no condition, and late where this sleeps: a claim means nothing but beside a version of its own nonce.
            if planned.claims:
                self.tools.table.write_all(planned.claims)
            try:
                telling = self._telling(change, planned.effects, at, by, epoch) if journaled else []
                actions = checked(planned.actions + telling, guard.check)
                taken, room = {each.key for each in actions}, MOST_ACTIONS - len(actions)
                garbage = [each for each in planned.garbage if each.key not in taken]
                self._transact([*actions, *garbage[:room]], (at, change.nonce), told=journaled)
            except Cancelled as cancelled:
                if cancelled.repeated and any(_is_of(item, change.nonce) for item in cancelled.items):
                    _note(at, change.nonce, told=journaled)
                    self._collect(garbage[room:], guard.check)
                    return planned
                if self.tools.fence.refused(guard):
                    continue
                ahead = max((item.get("at", 0) for item in cancelled.items), default=0)
                if ahead < at or _has_moved(planned, cancelled.items):
                    raise Conflict from cancelled
                self._time.observe(ahead)
            else:
                self._collect(garbage[room:], guard.check)
                return planned
        raise Conflict

    def _collect(self, garbage: Sequence[Action], check: Action | None) -> None:
        """Takes that away for which the transaction had no room, while the role is as it was.

        Where a region rejoins, another table's rows take the place of what goes. What is left means nothing to readers.
        """
        try:
            if check is None:
                self.tools.table.write_all(garbage)
            else:
                self.tools.table.write_checked(garbage, [check])
        except (StoreError, Cancelled):
            return

    def _transact(self, actions: Sequence[Action], name: tuple[int, str], *, told: bool) -> None:
        """told: whether the journal tells of it. Raises Cancelled, OutcomeUnknown, and what `Table.transact` raises."""
        try:
            self.tools.table.transact(actions)
        except OutcomeUnknown:
            _note(*name, told=told)
            raise
        _note(*name, told=told)

    def asker_of(self, change: Change) -> str:
        """The token of whoever asked for a change first, if another finishes it now."""
        asker = change.author.asker if change.author else ""
        return asker or self._principals.token_of(change.author, change.ts)

    def _telling(self, change: Change, effects: Effects, at: int, by: str, epoch: int) -> list[Action]:
        """The journal's row, and what it tells in the history of each subject."""
        origin = journal.origin(change, by) | journal.for_region(change, effects, epoch)
        places, row = self.tools.places, journal.row(change, effects, origin)
        form: Item = {"form": packed(row), "expires": at // 1000 + JOURNAL_KEPT_S}
        return [put(places.journal(at, change.nonce), form), *histories.items_of(places, row, at)]

    def _tidy(self, done: CommitPlan) -> tuple[BodyKey, ...]:
        """What can also be done later, and is then: by whoever follows the journal."""
        try:
            until = self.tools.table.elapsed() + TIDIED_MS
            return tuple(id for subject in done.swept for id in sweeping.sweep(self.tools, subject, until=until))
        except StoreError:
            return ()

    def _purge_before(self, excess: TooManyPurged) -> None:
        """Purges what is superseded, version by version, as long as no other writer touches the subject."""
        change = excess.change
        for done, row in enumerate(excess.rows):
            head = states(self.tools.table, self.tools.places, [change.scope])[change.scope].head
            if (head.revision, head.referred) != (change.head.revision + done, change.head.referred):
                raise Conflict
            self.commit(VersionPurged(head, row, change.ts, f"{change.nonce}-{done}", author=change.author))


def _note(at: int, nonce: str, *, told: bool) -> None:
    if told:
        moved.committed(at, nonce)


def _has_moved(planned: CommitPlan, items: Sequence[Item]) -> bool:
    """Whether something is at another revision than was seen: then a later time does not help."""
    found = {(item["pk"], item["sk"]): item for item in items}
    return any(rests_on_another(each, found[each.key]) for each in planned.actions if each.key in found)


def _is_of(item: Item, nonce: str) -> bool:
    return nonce in (item.get("nonce"), item.get("revision"))
