"""The catalog as a principal with a reach sees it: the verbs work on it as on any other, and nothing passes by it.

A subject outside is refused by name (40301); lists leave it out; an id that only subjects outside hold counts as
unheld. What decides about integrity is seen whole: which id a content has, and who refers to what is to be deleted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from heapq import merge
from itertools import groupby, islice
from typing import TypeVar

from sigla.associations.nouns import Association, Associations, plain_subjects
from sigla.auth.permissions import READ, Access, Reach
from sigla.changes import AssociationsChanged, Change, Head, KekChanged
from sigla.errors import BodyLost, Denied, StoreError
from sigla.exporters.nouns import Exporter, ExporterProgress
from sigla.keks.nouns import Dek, DekName, Kek, KeysSeen, ListedDek, named
from sigla.keks.refusals import KeyExists
from sigla.keys import utf16
from sigla.model import (
    GLOBAL,
    BodyKey,
    Guid,
    Holder,
    Referrer,
    Row,
    Search,
    Settings,
    Show,
    Subject,
    Version,
)
from sigla.ports.audits import Audits
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.glances import AssociationPlace, ReferrerPlace
from sigla.ports.in_front import CatalogInFront
from sigla.ports.lists import Looked
from sigla.ports.log import LogEntry
from sigla.ports.reads import LastRead, NoReads, Reads, SomeReads, some_of
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.rules import names

Item = TypeVar("Item")


class Narrowed(CatalogInFront):
    """A `ports.Catalog`; what it passes on unseen is which id a content has, and how ids are given out.

    access: what the request asks for; in one that changes something referrers are all shown.
    bodies: tell whose an id was at first that no version holds any more.
    """

    def __init__(self, catalog: Catalog, bodies: Bodies, reach: Reach, access: Access) -> None:
        super().__init__(catalog)
        self._bodies = bodies
        self._reach = reach
        self._access = access

    # --- one subject: refused by name --------------------------------------------------------------------------------

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        """References, too, must be within the reach: a text with everything inlined would tell their content."""
        for key in wanted:
            self._check_read(key.subject)
        if self._reach.includes(subject):
            return self._catalog.snapshot(subject, wanted=wanted, guess=guess)
        if not self._reach.shows(subject):
            raise _denied(READ, subject)
        # A context can be a subject, too: a principal may see its settings, but not its versions.
        return replace(self._catalog.snapshot(subject), head=Head(subject))

    def history(self, subject: Subject) -> tuple[Row, ...]:
        self._check_read(subject)
        return self._catalog.history(subject)

    def versions_below(self, subject: Subject, version: Version | None, *, glance: int) -> Iterator[Row]:
        if self._reach.shows(subject) and not self._reach.includes(subject):
            return iter(())  # as `snapshot` has it
        self._check_read(subject)
        return self._catalog.versions_below(subject, version, glance=glance)

    def rows_of(self, wanted: Sequence[VersionKey]) -> Mapping[VersionKey, Row]:
        return self._catalog.rows_of([key for key in wanted if self._reach.includes(key.subject)])

    def candidates(self, subject: Subject, digests: Sequence[str]) -> tuple[Row, ...]:
        self._check_read(subject)
        return self._catalog.candidates(subject, digests)

    def commits_about(self, subject: Subject) -> Iterator[LogEntry]:
        self._check_read(subject)
        return self._catalog.commits_about(subject)

    def referrers(self, subject: Subject, version: Version | None = None) -> Iterator[tuple[Version, Referrer]]:
        self._check_read(subject)
        found = self._catalog.referrers(subject, version)
        if self._access is not READ:
            return found
        return (each for each in found if self._reach.includes(each[1].subject))

    def referrers_after(
        self, subject: Subject, version: Version | None, place: ReferrerPlace | None, *, glance: int
    ) -> Iterator[tuple[Version, Referrer]]:
        self._check_read(subject)
        found = self._catalog.referrers_after(subject, version, place, glance=glance)
        if self._access is not READ:
            return found
        return (each for each in found if self._reach.includes(each[1].subject))

    # --- ids: what others hold is not there --------------------------------------------------------------------------

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        """The speaker for every caller, if the reach has it; else the catalog is asked for a speaker inside."""
        if by is not None:
            return self._catalog.speaker(key, by) if self._reach.includes(by) else None
        speaker = self._catalog.speaker(key)
        if speaker is not None and speaker.displaced:
            return self._born_within(key, speaker)
        if speaker is None or self._reach.includes(speaker.subject):
            return speaker
        if not speaker.catalogued:
            raise StoreError("the catalog, which alone could tell whose the id is, does not answer")
        return _spokesman(self.holders(key))

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        return tuple(holder for holder in self._catalog.holders(key, by) if self._reach.includes(holder.subject))

    def holders_after(self, key: BodyKey, subject: Subject | None, *, glance: int) -> Iterator[Holder]:
        found = self._catalog.holders_after(key, subject, glance=glance)
        return (holder for holder in found if self._reach.includes(holder.subject))

    def displaced(self, key: BodyKey) -> Holder | None:
        """The reach must have both its place and its first registrant: lists tell the one, answers the other."""
        found = self._catalog.displaced(key)
        return self._born_within(key, found) if found is not None and self._reach.includes(found.subject) else None

    def _born_within(self, key: BodyKey, displaced: Holder) -> Holder | None:
        """Whether the first registrant of the id is inside the reach; where its body is lost, the last holder."""
        return displaced if self._reach.includes(self._registrant(key) or displaced.subject) else None

    def check_absent(self, key: BodyKey | None, knows: Callable[[BodyKey], bool] = lambda _: True) -> None:
        """An id that others have deleted for good is told from one that was never given as little as one they hold."""

        def is_own(key: BodyKey) -> bool:
            owner = self._registrant(key)
            return owner is not None and self._reach.includes(owner) and knows(key)

        self._catalog.check_absent(key, is_own)

    def _registrant(self, key: BodyKey) -> Subject | None:
        """The subject for which the id was registered first; None where its body is lost."""
        with suppress(BodyLost):
            return self._bodies.get(key).subject
        return None

    # --- lists: the principal's part of them -------------------------------------------------------------------------

    def subjects(self, search: Search, show: Show = Show.ALL, *, skip: int = 0) -> Iterator[Subject]:
        def ask(part: Search, skip: int) -> Iterator[Subject]:
            return self._catalog.subjects(part, show, skip=skip)

        return self._list(search, skip, ask, _sort_key)

    def versions(
        self, search: Search, *, deleted: bool, latest_only: bool, skip: int = 0
    ) -> Iterator[tuple[Subject, Row]]:
        def ask(part: Search, skip: int) -> Iterator[tuple[Subject, Row]]:
            return self._catalog.versions(part, deleted=deleted, latest_only=latest_only, skip=skip)

        return self._list(search, skip, ask, lambda item: (*_sort_key(item[0]), item[1].version))

    def look(self, search: Search, *, deleted: bool, most: int) -> Looked:
        """A look through each part of the reach; as far as all of them went."""
        looks = [self._catalog.look(part, deleted=deleted, most=most) for part in self._reach.within(search)]
        ends = [each.through for each in looks if each.through is not None]
        end = min(ends, key=_sort_key, default=None)
        found = dict(each for look in looks for each in look.found)
        near = [each for each in sorted(found, key=_sort_key) if end is None or _sort_key(each) <= _sort_key(end)]
        through = near[most - 1] if len(near) > most else end
        searched = sum(each.searched for each in looks)
        return Looked(tuple((subject, found[subject]) for subject in near[:most]), searched, through)

    def settings(self, search: Search) -> Iterator[tuple[Subject, Settings]]:
        return self._list(search, 0, lambda part, _: self._catalog.settings(part), lambda item: _sort_key(item[0]))

    def contexts(self) -> tuple[str, ...]:
        return tuple(context for context in self._catalog.contexts() if self._reach.touches(context))

    def contexts_after(self, context: str, *, glance: int) -> Iterator[str]:
        return filter(self._reach.touches, self._catalog.contexts_after(context, glance=glance))

    def contexts_of(self, name: str) -> tuple[str, ...]:
        found = self._catalog.contexts_of(name)
        return tuple(context for context in found if self._reach.includes(Subject(context, name)))

    def _list(
        self,
        search: Search,
        skip: int,
        ask: Callable[[Search, int], Iterator[Item]],
        place: Callable[[Item], tuple[object, ...]],
    ) -> Iterator[Item]:
        """Costs what the principal's part costs, not what the whole would. place: what the list is ordered by."""
        parts = self._reach.within(search)
        if len(parts) == 1:
            return ask(parts[0], skip)
        return islice(_each_once(merge(*(ask(part, 0) for part in parts), key=place), place), skip, None)

    # --- keys: KEKs are everybody's, DEKs those of their subjects ----------------------------------------------------

    def deks_of(self, name: DekName, version: int | None = None) -> KeysSeen:
        self._check_read(name.subject)
        return self._catalog.deks_of(name, version)

    def keks(self) -> Iterator[Kek]:
        """Those under which a DEK of the principal's stands."""
        own = {dek.kek for dek in self.deks_listed()}
        return (kek for kek in self._catalog.keks() if kek.name in own)

    def keks_after(self, name: str, *, glance: int) -> Iterator[Kek]:
        own = {dek.kek for dek in self.deks_listed()}
        return (kek for kek in self._catalog.keks_after(name, glance=glance) if kek.name in own)

    def deks(self, kek: str) -> Iterator[Dek]:
        return (dek for dek in self._catalog.deks(kek) if self._reach.includes(dek.name.subject))

    def deks_listed(self, prefix: str = "") -> Iterator[ListedDek]:
        return (dek for dek in self._catalog.deks_listed(prefix) if self._reach.includes(named(dek.subject)))

    # --- associations: those of the principal's subjects -------------------------------------------------------------

    def associations_of_resource(self, id: str) -> Associations:
        """Whoever changes something sees them all: what a resource has decides about what it may have."""
        found = self._catalog.associations_of_resource(id)
        return found if self._access is not READ else tuple(self._own(found))

    def associations_of_subject(self, subject: Subject) -> Associations:
        self._check_read(subject)
        return self._catalog.associations_of_subject(subject)

    def associations_named(self, name: str | None = None, namespace: str | None = None) -> Iterator[Association]:
        return self._own(self._catalog.associations_named(name, namespace))

    def associations_after(self, place: AssociationPlace | None, *, glance: int) -> Iterator[Association]:
        return self._own(self._catalog.associations_after(place, glance=glance))

    def _own(self, found: Iterable[Association]) -> Iterator[Association]:
        return (one for one in found if self._reach.includes(one.subject))

    # --- exporters: for those alone who reach everything -------------------------------------------------------------

    def exporter(self, name: str) -> Exporter | None:  # noqa: ARG002 - as the port has it
        return None

    def exporters(self) -> Iterator[Exporter]:
        return iter(())

    def progress(self, name: str) -> ExporterProgress | None:  # noqa: ARG002 - as the port has it
        return None

    def advance(self, exporter: Exporter, progress: ExporterProgress) -> None:  # noqa: ARG002 - as the port has it
        """Raises Denied."""
        raise _denied(self._access, GLOBAL)

    # --- changes -----------------------------------------------------------------------------------------------------

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        """Whatever led here: nothing is changed outside, and no alias newly leads there, by any path (ALIAS-4).

        A client creates the KEK that its rule names; one that stands is changed by the unrestricted alone. The refusal
        is that of a KEK which differs from the one that was sent: else it would tell whether credentials are equal.
        """
        self.rehearse(change)
        return self._catalog.commit(change)

    def rehearse(self, change: Change) -> None:
        """Raises what `commit` raises of its own."""
        if isinstance(change, KekChanged):
            if change.seen is not None:
                raise KeyExists(key=change.name)
            return
        for subject in (change.scope, *change.leads_to):
            self._check_own(subject)
        if isinstance(change, AssociationsChanged):
            for one in change.written:
                self._check_topic(one)

    def _check_topic(self, one: Association) -> None:
        """An association leads a topic's producers to its subject, as an alias leads those who name it (PERM-9)."""
        plain = plain_subjects(one)
        if not any(map(self._reach.includes, plain)):
            raise _denied(self._access, plain[0])

    def _check_read(self, subject: Subject) -> None:
        if not self._reach.includes(subject):
            raise _denied(READ, subject)

    def _check_own(self, subject: Subject) -> None:
        if not self._reach.includes(subject):
            raise _denied(self._access, subject)


class NarrowedReads:
    """A `ports.Reads` that leaves out who read an id for a subject outside the reach."""

    is_narrowed = True

    def __init__(self, reads: Reads, reach: Reach) -> None:
        self._reads = reads
        self._reach = reach
        self.note = reads.note
        self.since = reads.since
        self.count_of = NoReads().count_of  # of everything, and so for those who reach everything

    def last(self, keys: Sequence[BodyKey]) -> Mapping[BodyKey, list[LastRead]]:
        found = self._reads.last(keys)
        return {key: [read for read in reads if self._shows(read.subject)] for key, reads in found.items()}

    def some(self, keys: Sequence[BodyKey], most: int) -> Mapping[BodyKey, SomeReads]:
        """Reads all: that there are others may be told of what is within alone."""
        return some_of(self.last(keys), most)

    def _shows(self, named_subject: str) -> bool:
        return not named_subject or self._reach.includes(names.subject(named_subject))


class NarrowedAudits:
    """A `ports.Audits` that leaves out topics whose subjects, by Confluent's strategy, are outside the reach."""

    def __init__(self, audits: Audits, reach: Reach) -> None:
        self._reach = reach
        self.put = audits.put
        self.get = audits.get

    def shows(self, context: str, topic: str) -> bool:
        return any(self._reach.includes(Subject(context, f"{topic}-{part}")) for part in ("value", "key"))


def _denied(access: Access, subject: Subject) -> Denied:
    return Denied(operation=access.operation, subject=subject)


def _spokesman(holders: Sequence[Holder]) -> Holder | None:
    """As `Catalog.speaker` says: the smallest subject in which the id is active, or else the smallest."""
    speaking = [holder for holder in holders if not holder.deleted] or holders
    own = [holder for holder in speaking if holder.subject == speaking[0].subject]
    return max(own, key=lambda holder: holder.written, default=None)


def _sort_key(subject: Subject) -> tuple[object, ...]:
    return (utf16(subject.qualified),)


def _each_once(items: Iterable[Item], place: Callable[[Item], tuple[object, ...]]) -> Iterator[Item]:
    return (next(same) for _, same in groupby(items, place))
