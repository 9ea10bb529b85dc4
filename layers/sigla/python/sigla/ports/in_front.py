"""A catalog, or bodies, in front of others: what a subclass does not say itself is what the one behind says.

Whoever narrows, remembers or reads ahead is made of these. A method that a subclass does define costs no more than that
method: nothing goes through here on its way.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from sigla.associations.nouns import Association, Associations
from sigla.changes import Change
from sigla.exporters.nouns import Exporter, ExporterProgress
from sigla.keks.nouns import CountedDeks, Dek, DekName, Kek, KeysSeen, ListedDek
from sigla.model import (
    Body,
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
from sigla.ports.catalog import Catalog
from sigla.ports.glances import AssociationPlace, ReferrerPlace
from sigla.ports.lists import Looked
from sigla.ports.log import LogEntry
from sigla.ports.subjects import Snapshot, VersionKey


class CatalogInFront:
    """A `Catalog`, of which every method passes its question on."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @property
    def state(self) -> int | None:
        return self._catalog.state

    # --- one subject -------------------------------------------------------------------------------------------------

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        return self._catalog.snapshot(subject, wanted=wanted, guess=guess)

    def history(self, subject: Subject) -> tuple[Row, ...]:
        return self._catalog.history(subject)

    def candidates(self, subject: Subject, digests: Sequence[str]) -> tuple[Row, ...]:
        return self._catalog.candidates(subject, digests)

    def commits_about(self, subject: Subject) -> Iterator[LogEntry]:
        return self._catalog.commits_about(subject)

    # --- ids ---------------------------------------------------------------------------------------------------------

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        return self._catalog.id_of(context, guid)

    def ids_of(self, context: str, guids: Collection[Guid]) -> dict[Guid, SchemaId]:
        return self._catalog.ids_of(context, guids)

    def standing(self, guid: Guid) -> SchemaId | None:
        return self._catalog.standing(guid)

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        return self._catalog.speaker(key, by)

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        return self._catalog.holders(key, by)

    def displaced(self, key: BodyKey) -> Holder | None:
        return self._catalog.displaced(key)

    def check_absent(self, key: BodyKey | None, knows: Callable[[BodyKey], bool] = lambda _: True) -> None:
        self._catalog.check_absent(key, knows)

    def next_id(self, context: str) -> SchemaId:
        return self._catalog.next_id(context)

    def raise_counter(self, context: str, to: SchemaId) -> None:
        self._catalog.raise_counter(context, to)

    def admit(self, key: BodyKey, guid: Guid) -> None:
        self._catalog.admit(key, guid)

    def max_id(self, context: str) -> SchemaId:
        return self._catalog.max_id(context)

    # --- lists -------------------------------------------------------------------------------------------------------

    def subjects(self, search: Search, show: Show = Show.ALL, *, skip: int = 0) -> Iterator[Subject]:
        return self._catalog.subjects(search, show, skip=skip)

    def versions(
        self, search: Search, *, deleted: bool, latest_only: bool, skip: int = 0
    ) -> Iterator[tuple[Subject, Row]]:
        return self._catalog.versions(search, deleted=deleted, latest_only=latest_only, skip=skip)

    def look(self, search: Search, *, deleted: bool, most: int) -> Looked:
        return self._catalog.look(search, deleted=deleted, most=most)

    def settings(self, search: Search) -> Iterator[tuple[Subject, Settings]]:
        return self._catalog.settings(search)

    def referrers(self, subject: Subject, version: Version | None = None) -> Iterator[tuple[Version, Referrer]]:
        return self._catalog.referrers(subject, version)

    def contexts(self) -> tuple[str, ...]:
        return self._catalog.contexts()

    def contexts_of(self, name: str) -> tuple[str, ...]:
        return self._catalog.contexts_of(name)

    # --- glances -----------------------------------------------------------------------------------------------------

    def versions_below(self, subject: Subject, version: Version | None, *, glance: int) -> Iterator[Row]:
        return self._catalog.versions_below(subject, version, glance=glance)

    def rows_of(self, wanted: Sequence[VersionKey]) -> Mapping[VersionKey, Row]:
        return self._catalog.rows_of(wanted)

    def contexts_after(self, context: str, *, glance: int) -> Iterator[str]:
        return self._catalog.contexts_after(context, glance=glance)

    def holders_after(self, key: BodyKey, subject: Subject | None, *, glance: int) -> Iterator[Holder]:
        return self._catalog.holders_after(key, subject, glance=glance)

    def referrers_after(
        self, subject: Subject, version: Version | None, place: ReferrerPlace | None, *, glance: int
    ) -> Iterator[tuple[Version, Referrer]]:
        return self._catalog.referrers_after(subject, version, place, glance=glance)

    def keks_after(self, name: str, *, glance: int) -> Iterator[Kek]:
        return self._catalog.keks_after(name, glance=glance)

    def associations_after(self, place: AssociationPlace | None, *, glance: int) -> Iterator[Association]:
        return self._catalog.associations_after(place, glance=glance)

    # --- keys --------------------------------------------------------------------------------------------------------

    def kek(self, name: str) -> Kek | None:
        return self._catalog.kek(name)

    def deks_of(self, name: DekName, version: int | None = None) -> KeysSeen:
        return self._catalog.deks_of(name, version)

    def deks_counted(self, kek: str) -> CountedDeks:
        return self._catalog.deks_counted(kek)

    def keks(self) -> Iterator[Kek]:
        return self._catalog.keks()

    def deks(self, kek: str) -> Iterator[Dek]:
        return self._catalog.deks(kek)

    def deks_listed(self, prefix: str = "") -> Iterator[ListedDek]:
        return self._catalog.deks_listed(prefix)

    # --- associations ------------------------------------------------------------------------------------------------

    def associations_of_resource(self, id: str) -> Associations:
        return self._catalog.associations_of_resource(id)

    def associations_of_subject(self, subject: Subject) -> Associations:
        return self._catalog.associations_of_subject(subject)

    def associations_named(self, name: str | None = None, namespace: str | None = None) -> Iterator[Association]:
        return self._catalog.associations_named(name, namespace)

    # --- exporters ---------------------------------------------------------------------------------------------------

    def exporter(self, name: str) -> Exporter | None:
        return self._catalog.exporter(name)

    def exporters(self) -> Iterator[Exporter]:
        return self._catalog.exporters()

    def progress(self, name: str) -> ExporterProgress | None:
        return self._catalog.progress(name)

    def advance(self, exporter: Exporter, progress: ExporterProgress) -> None:
        self._catalog.advance(exporter, progress)

    # --- changes -----------------------------------------------------------------------------------------------------

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        return self._catalog.commit(change)

    def rehearse(self, change: Change) -> None:
        self._catalog.rehearse(change)


class BodiesInFront:
    """A `Bodies`, of which every method passes its question on."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies

    def put(self, key: BodyKey, body: Body) -> None:
        self._bodies.put(key, body)

    def get(self, key: BodyKey) -> Body:
        return self._bodies.get(key)

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        return self._bodies.get_many(keys)

    def named(self, guid: Guid, *, known: Collection[BodyKey] = ()) -> tuple[BodyKey, ...]:
        return self._bodies.named(guid, known=known)

    def last(self, context: str) -> SchemaId:
        return self._bodies.last(context)

    def next_above(self, key: BodyKey) -> SchemaId | None:
        return self._bodies.next_above(key)

    def bury(self, key: BodyKey) -> None:
        self._bodies.bury(key)

    def revive(self, key: BodyKey, body: Body) -> None:
        self._bodies.revive(key, body)

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
        self._bodies.mend(key, body, seen)
