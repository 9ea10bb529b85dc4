"""Second names of subjects, which an earlier release let in: `:.ctx:foo` in the default context (`rules.names`).

The table keeps such a subject beside the one that its text is read as, each in its own partition; in the lists, which
are by text, they stand in one place. So whoever wrote last is listed, and whoever was deleted took both off.
"""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from sigla.changes import SubjectPurged
from sigla.errors import Conflict
from sigla.model import DEFAULT_CONTEXT, REGISTRY_WIDE, BodyKey, Search, Show, Subject
from sigla.rules import names
from sigla.stores.dynamodb import items, sweeping
from sigla.stores.dynamodb.actions import ABSENT, Action, Key, condition_check, delete, equals, put, update
from sigla.stores.dynamodb.changes import anew
from sigla.stores.dynamodb.commits import Commits
from sigla.stores.dynamodb.lists import Lists
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import CommitPlan, unmoved
from sigla.stores.dynamodb.reading import Life, life
from sigla.stores.dynamodb.values import Item

AT_ONCE = 20
"""Subjects that are looked at side by side: five rows each."""
TRIES = 8
_EVERYTHING = Search(context=None)


@dataclass(frozen=True, slots=True)
class SecondNames:
    commits: Commits
    lists: Lists

    def stored(self, known: Iterable[Subject] = ()) -> Iterator[Subject]:
        """Those that have versions or settings, or that stand in a list in the place of the subject they are read as.

        Each subject of a named context is asked whether it has one, since the lists may not tell.
        """
        yield from self.kept(dict.fromkeys(self._suspects(known)))

    def kept(self, named: Iterable[Subject]) -> Iterator[Subject]:
        """Those of these second names that something is kept under."""
        suspects = iter(named)
        while part := list(islice(suspects, AT_ONCE)):
            places = {place for each in part for place in self._rows(each).values()}
            found = self.commits.tools.table.get_many(sorted(places))
            for each in part:
                if _is_kept(each, {what: found.get(place) for what, place in self._rows(each).items()}):
                    yield each

    def take_away(self, named: Subject, at: int) -> tuple[BodyKey, ...]:
        """Removes what is kept under it, and lists the subject it is read as; the ids it buried. Raises Conflict."""
        for _ in range(TRIES):
            found = life(self.commits.tools.table, self._places, named)
            change = SubjectPurged(found.state.head, found.rows, at, secrets.token_hex(8))
            try:
                self.commits.write(change, partial(self._plan, named, found, change))
            except Conflict:
                continue
            return sweeping.sweep(self.commits.tools, named)
        raise Conflict

    @property
    def _places(self) -> Places:
        return self.commits.tools.places

    def _suspects(self, known: Iterable[Subject]) -> Iterator[Subject]:
        yield from known
        scopes = (scope for scope, _ in self.lists.settings(_EVERYTHING))
        contexts = (Subject(context, "") for context in self.lists.contexts())
        for several in (self.lists.subjects(_EVERYTHING, Show.ALL), scopes, contexts, (REGISTRY_WIDE,)):
            for subject in several:
                if subject.context != DEFAULT_CONTEXT:
                    yield Subject(DEFAULT_CONTEXT, subject.qualified)
                elif not names.is_reachable(subject):
                    yield subject

    def _rows(self, named: Subject) -> dict[str, Key]:
        """Where something of a second name may be, and of the subject that it is read as."""
        places = self._places
        rows = {
            "head": places.head(named),
            "settings": places.settings(named),
            "listed": places.listed(named),
            "listed settings": places.listed_settings(named),
        }
        if meant := _meant(named):
            rows |= {"meant": places.head(meant), "meant settings": places.settings(meant)}
        return rows

    def _plan(self, named: Subject, seen: Life, change: SubjectPurged, at: int) -> CommitPlan:
        head, places = seen.state.head, self._places
        after: Item = {"revision": head.revision + 1, "nonce": change.nonce, "at": at} | anew(head)
        actions = [
            update(places.head(named), items.named_item(named) | after, when=unmoved(head, at)),
            delete(places.settings(named), equals(revision=seen.settings.revision or None)),
        ]
        return CommitPlan(actions + self._listed(named))

    def _listed(self, named: Subject) -> list[Action]:
        """The lists as they have to be without it, as long as the other subject stays as it was seen."""
        places, meant = self._places, _meant(named)
        if meant is None:
            return [delete(places.listed(named)), delete(places.listed_settings(named))]
        found = life(self.commits.tools.table, places, meant)
        head, settings = found.state.head, self.commits.tools.table.get(places.settings(meant))
        listed, copied = delete(places.listed(meant)), delete(places.listed_settings(meant))
        if head.highest:
            listed = put(places.listed(meant), items.named_item(meant) | {"active": head.newest is not None})
        if settings is not None:
            own = {name: settings[name] for name in ("config", "mode", "revision", "at") if name in settings}
            copied = put(places.listed_settings(meant), items.named_item(meant) | own)
        unchanged = equals(revision=settings["revision"]) if settings is not None else ABSENT
        return [
            listed,
            copied,
            condition_check(places.head(meant), equals(revision=head.revision or None)),
            condition_check(places.settings(meant), unchanged),
        ]


def _meant(named: Subject) -> Subject | None:
    """The subject that it is read as, if they stand in one place of the lists."""
    meant = names.subject(named.qualified)
    return meant if meant.qualified == named.qualified else None


def _is_kept(named: Subject, rows: dict[str, Item | None]) -> bool:
    head, listed, copied = rows["head"], rows["listed"], rows["listed settings"]
    if head is not None and head.get("highest"):
        return True
    if rows["settings"] is not None:
        return True
    if any(row is not None and items.subject_of(row) == named for row in (listed, copied)):
        return True
    meant = rows.get("meant")
    return meant is not None and bool(meant.get("highest")) and listed is None
