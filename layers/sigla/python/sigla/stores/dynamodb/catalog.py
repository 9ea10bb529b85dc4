"""Ids, versions, settings and keys in one DynamoDB table: a question is a query or a BatchGet, a change a transaction.

How rows are laid out: docs/architecture.md and `items`; where they stand: `places`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from sigla.associations.nouns import Association, Associations
from sigla.changes import Change, ImportBegun, NumberingSet
from sigla.contract import HIGHEST
from sigla.errors import IdsExhausted
from sigla.exporters.nouns import Exporter, ExporterProgress
from sigla.keks.nouns import CountedDeks, Dek, DekName, Kek, KeysSeen, ListedDek
from sigla.keys import LIST_SHARDS, check_length
from sigla.model import (
    DEFAULT_CONTEXT,
    BodyKey,
    Guid,
    Holder,
    Referrer,
    Row,
    SchemaId,
    Search,
    Settings,
    Show,
    Subject,
    Version,
)
from sigla.ports.bodies import Bodies
from sigla.ports.clock import Clock
from sigla.ports.glances import AssociationPlace, ReferrerPlace
from sigla.ports.lists import Looked
from sigla.ports.log import LogEntry
from sigla.ports.regions import Peer
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.regions import giving
from sigla.stores.dynamodb import (
    associations,
    exporters,
    histories,
    holders,
    imports,
    items,
    keks,
    reading,
    sweeping,
)
from sigla.stores.dynamodb.actions import Action, Condition, equals, update
from sigla.stores.dynamodb.commits import TOLD_AT_ONCE, Commits
from sigla.stores.dynamodb.imports import Imports
from sigla.stores.dynamodb.kept_histories import KeptHistories
from sigla.stores.dynamodb.kept_rows import KeptRows
from sigla.stores.dynamodb.lists import Lists
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.second_names import SecondNames
from sigla.stores.dynamodb.snapshot import Snapshots
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.values import Item

if TYPE_CHECKING:  # a function imports the parts that it uses
    from sigla.stores.dynamodb.promoting import AwsNumbers
    from sigla.stores.dynamodb.replaying import AwsReplayer

AT_ONCE: Final = LIST_SHARDS + 4
"""Questions of a list that are made side by side: one for each shard, or one for each subject of a page."""


class AwsCatalog:
    """A `ports.Catalog`. Any thread may use it; several registries may share a table.

    client: a low-level DynamoDB client. peer: the other region, where there is one. epoch: as of `journal.for_region`.
    Raises StoreError where DynamoDB does not answer.
    """

    state: Final = None
    """Other instances write, too."""

    def __init__(
        self,
        client: Any,
        table: str,
        clock: Clock,
        *,
        registry: str = "default",
        peer: Peer | None = None,
        epoch: int = 0,
    ) -> None:
        self._clock = clock
        self.peer = peer
        self._tools = Tools.of(client, table, clock, registry)
        self._snapshots = Snapshots(self._tools)
        self._commits = Commits(self._tools, epoch=epoch)
        self.region = AwsRegion(self._tools)
        """Roles and counters."""

    @cached_property
    def _lists(self) -> Lists:
        """Threads only for those who list."""
        return Lists(self._tools, ThreadPoolExecutor(AT_ONCE, thread_name_prefix="lists"))

    def close(self) -> None:
        """Waits for what is under way; nothing may be listed afterwards."""
        if "_lists" in self.__dict__:
            self._lists.close()

    def is_empty(self) -> bool:
        """Whether no commit has ever left anything."""
        return not (
            self.max_id(DEFAULT_CONTEXT)
            or self.contexts()
            or next(self.keks(), None)
            or next(self.exporters(), None)
            or next(self.settings(Search(context=None)), None)
            or next(self.versions(Search(context=None), deleted=True, latest_only=False), None)
        )

    # --- one subject -------------------------------------------------------------------------------------------------

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        return self._snapshots.ask(subject, wanted, guess)

    def history(self, subject: Subject) -> tuple[Row, ...]:
        return reading.life(self._tools.table, self._tools.places, subject).rows

    def candidates(self, subject: Subject, digests: Sequence[str]) -> tuple[Row, ...]:
        found = reading.life(self._tools.table, self._tools.places, subject)
        wanted = set(digests)
        hits = [found.state.shown(stored.row) for stored in found.stored if wanted.intersection(stored.digests)]
        return tuple(reversed(hits))

    def commits_about(self, subject: Subject) -> Iterator[LogEntry]:
        return histories.commits_about(self._tools, subject)

    # --- one id ------------------------------------------------------------------------------------------------------

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        found = items.ids(self._tools.table.get(self._tools.places.content(context, guid)))
        return found[0] if found else None

    def ids_of(self, context: str, guids: Collection[Guid]) -> dict[Guid, SchemaId]:
        places = {guid: self._tools.places.content(context, guid) for guid in guids}
        found = self._tools.table.get_many(list(places.values()))
        known = {guid: items.ids(found.get(place)) for guid, place in places.items()}
        return {guid: ids[0] for guid, ids in known.items() if ids}

    def standing(self, guid: Guid) -> SchemaId | None:
        return self.id_of(DEFAULT_CONTEXT, guid)

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        return holders.speaker(self._tools, key, by)

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        return holders.holders(self._tools, key, by)

    def displaced(self, key: BodyKey) -> Holder | None:
        return holders.displaced(self._tools, key)

    def check_absent(self, key: BodyKey | None, knows: Callable[[BodyKey], bool] = lambda _: True) -> None:
        """Nothing: of another region those know that stand in front of a store."""

    def buried(self, ids: Iterable[BodyKey]) -> frozenset[BodyKey]:
        """Those of the ids that have lost their last holder."""
        places = {key: self._tools.places.holders(key) for key in ids}
        found = self._tools.table.get_many(list(places.values()))
        return frozenset(key for key, place in places.items() if found.get(place, {}).get("buried"))

    def unheld(self, ids: Sequence[BodyKey]) -> list[BodyKey]:
        """Those of the ids that no version holds, and that no import has written over; one question for a hundred."""
        places = {key: self._tools.places.holders(key) for key in ids}
        found = self._tools.table.get_many(list(places.values()))
        return [key for key, place in places.items() if items.is_unheld(found.get(place))]

    def next_id(self, context: str) -> SchemaId:
        """An answer that got lost leaves a gap."""
        check_length(Subject(context, ""))
        known, region = self._tools.fence.known, self.region
        if known is None:
            free = Condition("attribute_not_exists(#next) OR #next < :highest", {"highest": HIGHEST})
            try:
                return SchemaId(self._count(context, {}, free, {"next": 1})["next"])
            except Cancelled as refused:
                if not _has_ceiling(refused):
                    raise IdsExhausted(context=context) from refused
        elif known.writes and (counter := region.draw(context, known.epoch)) is not None:
            giving.carried_out(giving.ahead(region, self.peer, context, known, counter))
            return counter.next
        return giving.carried_out(giving.drawn(region, self.peer, context))

    def raise_counter(self, context: str, to: SchemaId) -> None:
        check_length(Subject(context, ""))
        if self._tools.fence.known is None:
            lower = Condition("attribute_not_exists(#next) OR #next < :next", {"next": to})
            try:
                self._count(context, {"next": to}, lower)
            except Cancelled as refused:
                if not _has_ceiling(refused):
                    return
            else:
                return
        giving.carried_out(giving.passed_over(self.region, self.peer, context, to))

    def _count(self, context: str, sets: Item, when: Condition, add: Mapping[str, int] | None = None) -> Item:
        """Moves the counter of a registry without a role; raises Cancelled where it has a ceiling."""
        when &= equals(epoch=None)
        return self._tools.table.update(update(self._tools.places.counter(context), sets, add=add, when=when))

    def admit(self, key: BodyKey, guid: Guid) -> None:
        if self._tools.fence.known is None:
            return  # whoever is wrong about that has to begin anew at the commit

        def is_held() -> bool:
            return key.id in items.ids(self._tools.table.get(self._tools.places.content(key.context, guid)))

        giving.carried_out(giving.admitted(self.region, self.peer, key.context, key.id, is_held))

    def max_id(self, context: str) -> SchemaId:
        found = self._tools.table.get(self._tools.places.counter(context))
        return SchemaId(found["next"] if found else 0)

    # --- lists -------------------------------------------------------------------------------------------------------

    def referrers(self, subject: Subject, version: Version | None = None) -> Iterator[tuple[Version, Referrer]]:
        return self._lists.referrers(subject, version)

    def subjects(self, search: Search, show: Show = Show.ALL, *, skip: int = 0) -> Iterator[Subject]:
        return islice(self._lists.subjects(search, show), skip, None)

    def versions(
        self, search: Search, *, deleted: bool, latest_only: bool, skip: int = 0
    ) -> Iterator[tuple[Subject, Row]]:
        return self._lists.versions(search, deleted=deleted, latest_only=latest_only, skip=skip)

    def look(self, search: Search, *, deleted: bool, most: int) -> Looked:
        return self._lists.look(search, deleted=deleted, most=most)

    def settings(self, search: Search) -> Iterator[tuple[Subject, Settings]]:
        return self._lists.settings(search)

    def contexts(self) -> tuple[str, ...]:
        return self._lists.contexts()

    def contexts_of(self, name: str) -> tuple[str, ...]:
        return self._lists.contexts_of(name)

    # --- glances -----------------------------------------------------------------------------------------------------

    def versions_below(self, subject: Subject, version: Version | None, *, glance: int) -> Iterator[Row]:
        return self._lists.versions_below(subject, version, glance, self._snapshots.generation_of(subject))

    def rows_of(self, wanted: Sequence[VersionKey]) -> Mapping[VersionKey, Row]:
        return self._snapshots.rows_of(wanted)

    def contexts_after(self, context: str, *, glance: int) -> Iterator[str]:
        return self._lists.contexts_after(context, glance)

    def holders_after(self, key: BodyKey, subject: Subject | None, *, glance: int) -> Iterator[Holder]:
        return holders.holders_after(self._tools, key, subject, glance)

    def referrers_after(
        self, subject: Subject, version: Version | None, place: ReferrerPlace | None, *, glance: int
    ) -> Iterator[tuple[Version, Referrer]]:
        return self._lists.referrers_after(subject, version, place, glance)

    def keks_after(self, name: str, *, glance: int) -> Iterator[Kek]:
        return keks.keks_after(self._tools, name, glance)

    def associations_after(self, place: AssociationPlace | None, *, glance: int) -> Iterator[Association]:
        return associations.after(self._tools, place, glance)

    # --- keys --------------------------------------------------------------------------------------------------------

    def kek(self, name: str) -> Kek | None:
        return keks.kek(self._tools, name)

    def deks_of(self, name: DekName, version: int | None = None) -> KeysSeen:
        return keks.deks_of(self._tools, name, version)

    def deks_counted(self, kek: str) -> CountedDeks:
        return keks.deks_counted(self._tools, kek)

    def keks(self) -> Iterator[Kek]:
        return keks.keks(self._tools)

    def deks(self, kek: str) -> Iterator[Dek]:
        return keks.deks(self._tools, kek)

    def deks_listed(self, prefix: str = "") -> Iterator[ListedDek]:
        return keks.deks_listed(self._tools, prefix)

    # --- associations ------------------------------------------------------------------------------------------------

    def associations_of_resource(self, id: str) -> Associations:
        return associations.of_resource(self._tools, id)

    def associations_of_subject(self, subject: Subject) -> Associations:
        return associations.of_subject(self._tools, subject)

    def associations_named(self, name: str | None = None, namespace: str | None = None) -> Iterator[Association]:
        return associations.of_name(self._tools, name, namespace)

    # --- exporters ---------------------------------------------------------------------------------------------------

    def exporter(self, name: str) -> Exporter | None:
        return exporters.exporter(self._tools, name)

    def exporters(self) -> Iterator[Exporter]:
        return exporters.exporters(self._tools)

    def progress(self, name: str) -> ExporterProgress | None:
        return exporters.progress(self._tools, name)

    def advance(self, exporter: Exporter, progress: ExporterProgress) -> None:
        exporters.advance(self._tools, exporter, progress)

    # --- changes -----------------------------------------------------------------------------------------------------

    def rehearse(self, change: Change) -> None:
        """Nothing: who may commit is decided in front of a store."""

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        """As `ports.Catalog` says, but of many ids that were buried it tells the first ones (`TOLD_AT_ONCE`)."""
        change = imports.taken_over(change)
        if isinstance(change, NumberingSet) and self._tools.fence.known is not None:
            giving.carried_out(giving.set_back(self.region, self.peer, change.context, change.after))
        if isinstance(change, ImportBegun):
            return Imports(self._commits, self._lists).begin(change)[:TOLD_AT_ONCE]
        return self._commits.commit(change)[:TOLD_AT_ONCE]

    def resume_imports(self, before: int) -> tuple[BodyKey, ...]:
        """Finishes imports that were cut off while their scope was being cleared; the ids that were buried.

        before: milliseconds since the epoch; younger ones may still be under way.
        """
        return Imports(self._commits, self._lists).resume(before=before, now=self._clock.now())

    @property
    def second_names(self) -> SecondNames:
        """What an earlier release kept under names that are read as others, for who looks for it."""
        return SecondNames(self._commits, self._lists)

    @property
    def kept_histories(self) -> KeptHistories:
        """Histories of subjects, for who compares them and carries them elsewhere."""
        return KeptHistories(self._tools, self._lists)

    @property
    def kept_rows(self) -> KeptRows:
        """Rows of keys and associations, for who compares them and puts them right."""
        return KeptRows(self._commits)

    def replayer(self, bodies: Bodies, allowed: Sequence[Action] = (), *, since: int = 0) -> "AwsReplayer":
        """Carries out commits of another region.

        allowed: checks that stand in each transaction. since: the epoch in which this one began to follow.
        """
        from sigla.stores.dynamodb.replaying import AwsReplayer

        return AwsReplayer(self, self._tools, bodies, allowed, since=since)

    @property
    def numbers(self) -> "AwsNumbers":
        """By which another region is compared with this one."""
        from sigla.stores.dynamodb.promoting import AwsNumbers

        return AwsNumbers(self, self._tools)

    def sweep(self, subject: Subject) -> tuple[BodyKey, ...]:
        """Removes what permanent deletes of the subject left behind; the ids it buried. May be repeated."""
        return sweeping.sweep(self._tools, subject)


def _has_ceiling(refused: Cancelled) -> bool:
    """Whether the registry has a role by now, as the counter tells that stood in the way."""
    return any("epoch" in item for item in refused.items)
