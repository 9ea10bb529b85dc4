"""A scope goes into IMPORT: more subjects may be in it than one transaction takes.

First the mode, with a mark in its revision that the scope is being cleared: every caller sees it from now on. Then the
list is read once more, for those who had asked before; if something active is found, the mode is taken back. Then what
is soft-deleted is purged, part by part, each with a journal row that says so; the last one sets the revision.

A caller that changes the settings of a scope with a mark ends the clearing: the mode is the one before again, unless
the change names another (`changes.settled`). A caller that wants IMPORT itself takes the clearing over, so one that was
cut off is finished by the next call, or by `resume`.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sigla import keys
from sigla.changes import Author, Change, ImportBegun, ModeChanged
from sigla.errors import Conflict, OutcomeUnknown, StoreError
from sigla.journal import Effects
from sigla.model import DEFAULT_CONTEXT, BodyKey, Settings, Subject, Version
from sigla.stores.dynamodb import sweeping
from sigla.stores.dynamodb.actions import Action, delete, equals, update
from sigla.stores.dynamodb.changes import anew, is_marked, marked, mode_before, settled
from sigla.stores.dynamodb.commits import TIDIED_MS, Commits
from sigla.stores.dynamodb.lists import Lists
from sigla.stores.dynamodb.plans import CommitPlan, Tools, unmoved
from sigla.stores.dynamodb.reading import Life
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.values import Item

AT_ONCE = 19
"""Subjects of one transaction: up to four actions each, and one for each context."""

IMPORT = "IMPORT"

RESUMED = "resumed"
"""The way of what the registry finishes by itself."""


def taken_over(change: Change) -> Change:
    """The change; where it wants a scope in IMPORT whose clearing was cut off, that import."""
    match change:
        case ModeChanged(scope=scope, seen=seen, mode="IMPORT") if is_marked(seen.revision):
            return ImportBegun(scope, seen, change.ts, change.nonce, author=change.author)
        case _:
            return change


@dataclass(frozen=True, slots=True)
class Imports:
    commits: Commits
    lists: Lists

    def begin(self, change: ImportBegun) -> tuple[BodyKey, ...]:
        """The ids that were buried. Raises Conflict, OutcomeUnknown."""
        keys.check_length(change.scope)
        mark = marked(change.nonce, before=_before(change.seen))
        # Over a mark the mode is already seen by all; what is found then has to be taken back.
        if not is_marked(change.seen.revision):
            self._cleared(change)
        self._mark(change, mark)
        try:
            subjects = self._cleared(change)
            for at in range(0, max(len(subjects), 1), AT_ONCE):
                last = at + AT_ONCE >= len(subjects)
                self._purge(change, subjects[at : at + AT_ONCE], mark=mark if last else None)
        except Conflict:
            self._take_back(change, mark)
            raise
        return self._sweep(subjects)

    def resume(self, *, before: int, now: int) -> tuple[BodyKey, ...]:
        """Finishes what was cut off before a time, or takes it back where it cannot be any more. Raises Closed."""
        buried: list[BodyKey] = []
        for scope, settings, at, asker in list(self.lists.marked()):
            if at < before:
                author = Author("", RESUMED, asker=asker) if asker else None
                change = ImportBegun(scope, settings, now, secrets.token_hex(8), author=author)
                # Nothing else of this instance may have told it what the region is.
                self.commits.tools.fence.read()
                try:
                    buried += self.begin(change)
                except (Conflict, OutcomeUnknown):
                    continue
        return tuple(buried)

    def _cleared(self, change: ImportBegun) -> list[Subject]:
        """What is soft-deleted in scope. Conflict if anything is active or referenced."""
        subjects = []
        for subject, active in self.lists.listed(change.search):
            if active or next(self.lists.referrers(subject, None), None) is not None:
                raise Conflict
            subjects.append(subject)
        return subjects

    def _mark(self, change: ImportBegun, mark: str) -> None:
        tools, asker = self.commits.tools, self.commits.asker_of(change)

        def plan(at: int) -> CommitPlan:
            form: Item = {"mode": IMPORT, "revision": mark, "at": at, "asker": asker}
            return CommitPlan(settled(tools.places, change.scope, form, seen=change.seen.revision))

        try:
            self.commits.write(change, plan, journaled=False)
        except OutcomeUnknown:
            found = tools.table.get(tools.places.settings(change.scope))
            if found is None or found.get("revision") != mark:
                raise Conflict from None

    def _take_back(self, change: ImportBegun, mark: str) -> None:
        """As if nothing had been, unless the settings were changed since."""
        tools, seen = self.commits.tools, change.seen.revision
        if seen:
            revision = f"{change.nonce}-" if is_marked(seen) else seen
            form: Item = {"mode": _before(change.seen), "revision": revision}
            actions = settled(tools.places, change.scope, form, seen=mark)
        else:
            place, listed = tools.places.settings(change.scope), tools.places.listed_settings(change.scope)
            none: Item = dict.fromkeys(("mode", "config", "revision", "at", "asker"))
            # The row of the whole registry may have the region's role, which stays.
            away = update(place, none, when=equals(revision=mark)) if place == tools.places.role() else None
            actions = [away or delete(place, equals(revision=mark)), delete(listed)]
        try:
            tools.table.transact(actions)
        except Cancelled:
            return

    def _purge(self, change: ImportBegun, subjects: Sequence[Subject], *, mark: str | None) -> None:
        """mark: that of the clearing, which ends with this part; None if more parts follow."""
        tools = self.commits.tools

        def plan(at: int) -> CommitPlan:
            return clearing(tools, change, list(self.lists.lives(subjects)), at, seen=mark)

        self.commits.write(change, plan)

    def _sweep(self, subjects: Sequence[Subject]) -> tuple[BodyKey, ...]:
        buried: list[BodyKey] = []
        tools = self.commits.tools
        until = tools.table.elapsed() + TIDIED_MS
        try:
            for subject in subjects:
                if tools.table.elapsed() >= until:
                    break
                buried += sweeping.sweep(tools, subject, until=until)
        except StoreError:
            pass
        return tuple(buried)


def clearing(tools: Tools, change: ImportBegun, lives: Sequence[Life], at: int, *, seen: str | None) -> CommitPlan:
    """One part of the clearing of a scope. seen: the revision of its settings, which this part ends; None: more follow.

    Raises Conflict.
    """
    actions: list[Action] = []
    purged, cleared = list[tuple[Subject, Version]](), list[tuple[Subject, int]]()
    contexts: Counter[str] = Counter()
    if seen is not None:
        form: Item = {"mode": IMPORT, "revision": change.nonce, "at": at}
        actions += settled(tools.places, change.scope, form, seen=seen)
    for life in lives:
        head = life.state.head
        if head.newest is not None:
            raise Conflict
        if not head.highest:
            continue
        subject = head.subject
        after_head = {"revision": head.revision + 1, "nonce": change.nonce, "at": at} | anew(head)
        actions.append(update(tools.places.head(subject), after_head, when=unmoved(head, at, referred=True)))
        actions.append(delete(tools.places.listed(subject)))
        if subject.context != DEFAULT_CONTEXT:
            actions.append(delete(tools.places.name(subject)))
            contexts[subject.context] -= 1
        purged += [(subject, row.version) for row in life.rows]
        cleared.append((subject, head.revision))
    for context, count in contexts.items():
        actions.append(update(tools.places.context(context), {}, add={"count": count}))
    return CommitPlan(actions, Effects(purged=purged, partial=seen is None, cleared=cleared))


def _before(seen: Settings) -> str | None:
    """The mode that the scope had before the clearing began."""
    return mode_before(seen.revision) if is_marked(seen.revision) else seen.mode
