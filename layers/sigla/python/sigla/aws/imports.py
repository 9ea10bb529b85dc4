"""A scope goes into IMPORT: more subjects may be in it than one transaction takes.

First the mode, with a mark that the scope is being cleared: whoever asks from now on sees it. Then the list is read
once more, for those who had asked before; if something active is found, the mode is taken back. Then what is
soft-deleted is purged, part by part, each part with a journal row that says so and the mode; the last one takes the
mark away. If it never comes that far, the mark stays: the scope is in IMPORT then, with soft-deleted versions left.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sigla import keys
from sigla.aws import sweeping
from sigla.aws.actions import Action, delete, equals, update
from sigla.aws.changes import Plan, anew, settled, unmoved
from sigla.aws.commits import Commits
from sigla.aws.lists import Lists
from sigla.aws.table import Cancelled
from sigla.aws.values import Item
from sigla.errors import Conflict, OutcomeUnknown, StoreError
from sigla.journal import Effects
from sigla.model import DEFAULT_CONTEXT, BodyKey, Subject
from sigla.ports import ImportBegun

AT_ONCE = 20
"""Subjects of one transaction: up to four actions each, and one for each context."""

IMPORT = "IMPORT"


@dataclass(frozen=True, slots=True)
class Imports:
    commits: Commits
    lists: Lists

    def begin(self, change: ImportBegun) -> tuple[BodyKey, ...]:
        """The ids that were buried. Raises Conflict, OutcomeUnknown."""
        keys.check_length(change.scope)
        self._cleared(change)
        self._mark(change)
        try:
            subjects = self._cleared(change)
            for at in range(0, max(len(subjects), 1), AT_ONCE):
                self._purge(change, subjects[at : at + AT_ONCE], last=at + AT_ONCE >= len(subjects))
        except Conflict:
            self._take_back(change)
            raise
        return self._sweep(subjects)

    def _cleared(self, change: ImportBegun) -> list[Subject]:
        """What is soft-deleted in scope. Conflict if anything is active or referenced."""
        subjects = []
        for subject, active in self.lists.listed(change.search):
            if active or next(self.lists.referrers(subject, None), None) is not None:
                raise Conflict
            subjects.append(subject)
        return subjects

    def _mark(self, change: ImportBegun) -> None:
        tools, provisional = self.commits.tools, _provisional(change)

        def plan(at: int) -> Plan:
            form: Item = {"mode": IMPORT, "revision": provisional, "at": at, "clearing": True}
            return Plan(settled(tools.places, change.scope, form, seen=change.seen.revision))

        try:
            self.commits.write(change, plan, journaled=False)
        except OutcomeUnknown:
            found = tools.table.get(tools.places.settings(change.scope))
            if found is None or found["revision"] != provisional:
                raise Conflict from None

    def _take_back(self, change: ImportBegun) -> None:
        """As if nothing had been, unless somebody has changed the settings since."""
        tools, seen, provisional = self.commits.tools, change.seen, _provisional(change)
        if seen.revision:
            form: Item = {"mode": seen.mode, "revision": seen.revision, "clearing": None}
            actions = settled(tools.places, change.scope, form, seen=provisional)
        else:
            place, listed = tools.places.settings(change.scope), tools.places.listed_settings(change.scope)
            actions = [delete(place, equals(revision=provisional)), delete(listed)]
        try:
            tools.table.transact(actions)
        except Cancelled:
            return

    def _purge(self, change: ImportBegun, subjects: Sequence[Subject], *, last: bool) -> None:
        tools = self.commits.tools

        def plan(at: int) -> Plan:
            actions: list[Action] = []
            purged = []
            contexts: Counter[str] = Counter()
            if last:
                form: Item = {"revision": change.nonce, "at": at, "clearing": None}
                actions += settled(tools.places, change.scope, form, seen=_provisional(change))
            for life in self.lists.lives(subjects):
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
            for context, count in contexts.items():
                actions.append(update(tools.places.context(context), {}, add={"count": count}))
            return Plan(actions, Effects(purged=purged))

        self.commits.write(change, plan)

    def _sweep(self, subjects: Sequence[Subject]) -> tuple[BodyKey, ...]:
        buried: list[BodyKey] = []
        try:
            for subject in subjects:
                buried += sweeping.sweep(self.commits.tools, subject)
        except StoreError:
            pass
        return tuple(buried)


def _provisional(change: ImportBegun) -> str:
    """The revision while the scope is being cleared: not yet the one by which a writer knows its commit."""
    return f"{change.nonce}~"
