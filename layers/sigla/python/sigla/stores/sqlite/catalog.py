"""Ids, versions and settings in SQLite: every question has an index, every change one transaction."""

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter

import orjson

from sigla.associations.nouns import Association, Associations
from sigla.changes import Change, ExporterChanged, Head, NumberingSet
from sigla.contract import HIGHEST
from sigla.errors import IdsExhausted
from sigla.exporters.nouns import Exporter, ExporterProgress
from sigla.keks.nouns import CountedDeks, Dek, DekName, Kek, KeysSeen, ListedDek
from sigla.keys import utf16
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
from sigla.model import LATEST as NEWEST
from sigla.ports.glances import AssociationPlace, ReferrerPlace
from sigla.ports.lists import Looked
from sigla.ports.log import LogEntry
from sigla.ports.regions import Peer
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.regions import giving
from sigla.stores.sqlite import (
    associations,
    changes,
    exporters,
    glances,
    histories,
    journal,
    keks,
    lists,
    rows,
    speakers,
)
from sigla.stores.sqlite.regions import EmbeddedRegion, check_open, role_of
from sigla.stores.sqlite.unit import Reader


class EmbeddedCatalog:
    """A `ports.Catalog`. epoch: as of `journal.for_region`, where there is no role. peer: the other region."""

    def __init__(self, unit: Reader, *, epoch: int = 0, peer: Peer | None = None) -> None:
        self._unit = unit
        self._epoch = epoch
        self.peer = peer
        self.region = EmbeddedRegion(unit)
        """Roles and counters."""

    @property
    def state(self) -> int | None:
        return self._unit.state

    # --- one subject -------------------------------------------------------------------------------------------------

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        with self._view() as db:
            heads = {each: rows.head(db, each) for each in (subject, *(key.subject for key in wanted))}
            found = {key: _wanted(db, key, heads[key.subject]) for key in wanted}
            return Snapshot(
                head=heads[subject],
                chain=rows.chain(db, subject),
                rows={key: row for key, row in found.items() if row},
                heads=heads,
                known=rows.id_of(db, subject.context, guess) if guess else None,
                epoch=role.epoch if (role := role_of(db)) else 0,
            )

    def history(self, subject: Subject) -> tuple[Row, ...]:
        found = self._unit.connection.execute(
            f"SELECT {rows.ROW} FROM subject s JOIN version v ON v.subject = s.num WHERE s.key = ? ORDER BY v.version",
            (rows.subject_key(subject),),
        )
        return tuple(rows.row(columns) for columns in found)

    def candidates(self, subject: Subject, digests: Sequence[str]) -> tuple[Row, ...]:
        found = self._unit.connection.execute(
            f"SELECT {rows.ROW} FROM subject s JOIN version v ON v.subject = s.num WHERE s.key = ? AND v.version IN"
            " (SELECT d.version FROM digest d WHERE d.subject = s.num AND d.digest IN (SELECT value FROM json_each(?)))"
            " ORDER BY v.version DESC",
            (rows.subject_key(subject), orjson.dumps(list(digests)).decode()),
        )
        return tuple(rows.row(columns) for columns in found)

    def commits_about(self, subject: Subject) -> Iterator[LogEntry]:
        return histories.commits_about(self._unit, subject)

    # --- one id ------------------------------------------------------------------------------------------------------

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        return rows.id_of(self._unit.connection, context, guid)

    def ids_of(self, context: str, guids: Collection[Guid]) -> dict[Guid, SchemaId]:
        return {guid: id for guid in guids if (id := self.id_of(context, guid)) is not None}

    def standing(self, guid: Guid) -> SchemaId | None:
        return self.id_of(DEFAULT_CONTEXT, guid)

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        if by is None:
            return speakers.ask(self._unit.connection, key)
        own = rows.chain(self._unit.connection, by).own.config
        if own is not None and own.alias:
            return None
        return max(self.holders(key, by), key=attrgetter("written"), default=None)

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        one = "" if by is None else " AND v.deleted IN (0, 1) AND v.holder = ?"
        found = self._unit.connection.execute(
            f"SELECT {speakers.HOLDER} WHERE v.context = ? AND v.id = ?{one} ORDER BY v.holder, v.version",
            (key.context, key.id, *(() if by is None else (rows.subject_key(by),))),
        )
        return tuple(speakers.holder(columns) for columns in found)

    def displaced(self, key: BodyKey) -> Holder | None:
        return speakers.displaced(self._unit.connection, key)

    def check_absent(self, key: BodyKey | None, knows: Callable[[BodyKey], bool] = lambda _: True) -> None:
        """Nothing: of another region those know that stand in front of a store."""

    def next_id(self, context: str) -> SchemaId:
        with self._unit.group():
            if self.region.role() is not None:
                return giving.carried_out(giving.drawn(self.region, self.peer, context))
            given = self.max_id(context)
            if given >= HIGHEST:
                raise IdsExhausted(context=context)
            self._count(context, SchemaId(given + 1))
            return SchemaId(given + 1)

    def raise_counter(self, context: str, to: SchemaId) -> None:
        with self._unit.group():
            if self.region.role() is not None:
                giving.carried_out(giving.passed_over(self.region, self.peer, context, to))
            else:
                self._count(context, to)

    def _count(self, context: str, to: SchemaId) -> None:
        self._unit.connection.execute(
            "INSERT INTO context VALUES (?, ?, ?, FALSE)"
            " ON CONFLICT (name) DO UPDATE SET given = excluded.given WHERE given < excluded.given",
            (context, utf16(context), to),
        )

    def admit(self, key: BodyKey, guid: Guid) -> None:
        if self.region.role() is None:
            return

        def is_held() -> bool:
            found = self._unit.connection.execute(
                "SELECT 1 FROM version WHERE context = ? AND id = ? AND guid = ?", (key.context, key.id, guid)
            )
            return found.fetchone() is not None

        with self._unit.group():
            giving.carried_out(giving.admitted(self.region, self.peer, key.context, key.id, is_held))

    def max_id(self, context: str) -> SchemaId:
        found = self._unit.connection.execute("SELECT given FROM context WHERE name = ?", (context,)).fetchone()
        return SchemaId(found[0] if found else 0)

    # --- lists -------------------------------------------------------------------------------------------------------

    def referrers(self, subject: Subject, version: Version | None = None) -> Iterator[tuple[Version, Referrer]]:
        return lists.referrers(self._unit, subject, version)

    def subjects(self, search: Search, show: Show = Show.ALL, *, skip: int = 0) -> Iterator[Subject]:
        return lists.subjects(self._unit, search, show, skip=skip)

    def versions(
        self, search: Search, *, deleted: bool, latest_only: bool, skip: int = 0
    ) -> Iterator[tuple[Subject, Row]]:
        return lists.versions(self._unit, search, deleted=deleted, latest_only=latest_only, skip=skip)

    def look(self, search: Search, *, deleted: bool, most: int) -> Looked:
        return lists.look(self._unit, search, deleted=deleted, most=most)

    def settings(self, search: Search) -> Iterator[tuple[Subject, Settings]]:
        return lists.settings(self._unit, search)

    def contexts(self) -> tuple[str, ...]:
        found = self._unit.connection.execute("SELECT name FROM context WHERE listed ORDER BY key")
        return tuple(name for (name,) in found)

    def contexts_of(self, name: str) -> tuple[str, ...]:
        found = self._unit.connection.execute(
            "SELECT context FROM subject WHERE name_key = ? AND highest AND context <> '.' ORDER BY key", (utf16(name),)
        )
        return tuple(context for (context,) in found)

    # --- glances -----------------------------------------------------------------------------------------------------

    def versions_below(self, subject: Subject, version: Version | None, *, glance: int) -> Iterator[Row]:  # noqa: ARG002 - rows come one by one, at no cost
        return glances.versions_below(self._unit, subject, version)

    def rows_of(self, wanted: Sequence[VersionKey]) -> Mapping[VersionKey, Row]:
        with self._view() as db:
            found = {key: rows.stored(db, *key) for key in wanted}
        return {key: row for key, row in found.items() if row is not None}

    def contexts_after(self, context: str, *, glance: int) -> Iterator[str]:  # noqa: ARG002 - rows come one by one, at no cost
        return glances.contexts_after(self._unit, context)

    def holders_after(self, key: BodyKey, subject: Subject | None, *, glance: int) -> Iterator[Holder]:  # noqa: ARG002 - rows come one by one, at no cost
        return glances.holders_after(self._unit, key, subject)

    def referrers_after(
        self,
        subject: Subject,
        version: Version | None,
        place: ReferrerPlace | None,
        *,
        glance: int,  # noqa: ARG002 - rows come one by one, at no cost
    ) -> Iterator[tuple[Version, Referrer]]:
        return glances.referrers_after(self._unit, subject, version, place)

    def keks_after(self, name: str, *, glance: int) -> Iterator[Kek]:  # noqa: ARG002 - rows come one by one, at no cost
        return glances.keks_after(self._unit, name)

    def associations_after(self, place: AssociationPlace | None, *, glance: int) -> Iterator[Association]:  # noqa: ARG002 - rows come one by one, at no cost
        return glances.associations_after(self._unit, place)

    # --- keys --------------------------------------------------------------------------------------------------------

    def kek(self, name: str) -> Kek | None:
        return keks.kek(self._unit.connection, name)

    def deks_of(self, name: DekName, version: int | None = None) -> KeysSeen:
        with self._view() as db:
            return keks.deks_of(db, name, version)

    def deks_counted(self, kek: str) -> CountedDeks:
        return keks.deks_counted(self._unit.connection, kek)

    def keks(self) -> Iterator[Kek]:
        return keks.keks(self._unit.connection)

    def deks(self, kek: str) -> Iterator[Dek]:
        return keks.deks(self._unit.connection, kek)

    def deks_listed(self, prefix: str = "") -> Iterator[ListedDek]:
        return keks.deks_listed(self._unit.connection, prefix)

    # --- associations ------------------------------------------------------------------------------------------------

    def associations_of_resource(self, id: str) -> Associations:
        return associations.of_resource(self._unit.connection, id)

    def associations_of_subject(self, subject: Subject) -> Associations:
        return associations.of_subject(self._unit.connection, subject)

    def associations_named(self, name: str | None = None, namespace: str | None = None) -> Iterator[Association]:
        return associations.of_name(self._unit.connection, name, namespace)

    # --- exporters ---------------------------------------------------------------------------------------------------

    def exporter(self, name: str) -> Exporter | None:
        return exporters.exporter(self._unit.connection, name)

    def exporters(self) -> Iterator[Exporter]:
        return exporters.exporters(self._unit.connection)

    def progress(self, name: str) -> ExporterProgress | None:
        return exporters.progress(self._unit.connection, name)

    def advance(self, exporter: Exporter, progress: ExporterProgress) -> None:
        with self._unit.step(), self._unit.unremembered():
            exporters.advance(self._unit.connection, exporter, progress)

    # --- changes -----------------------------------------------------------------------------------------------------

    def rehearse(self, change: Change) -> None:
        """Nothing: who may commit is decided in front of a store."""

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        if isinstance(change, NumberingSet) and self.region.role() is not None:
            # A step of its own: a counter that this epoch takes over is another one than was seen, and stays so.
            giving.carried_out(giving.set_back(self.region, self.peer, change.context, change.after))
        with self._unit.step():
            db = self._unit.connection
            epoch = check_open(db, change.epoch) or self._epoch
            outcome = changes.apply(db, change)
            journal.append(db, change, outcome.effects, epoch=epoch)
            self._unit.touched |= outcome.touched
            self._unit.touched_exporters |= isinstance(change, ExporterChanged)
            return outcome.buried

    @contextmanager
    def _view(self) -> Iterator[sqlite3.Connection]:
        """A connection on which everything that is read belongs together."""
        db = self._unit.connection
        if self._unit.inside:
            yield db
            return
        db.execute("BEGIN")
        try:
            yield db
        finally:
            db.execute("COMMIT")


def _wanted(db: sqlite3.Connection, key: VersionKey, head: Head) -> Row | None:
    return head.newest if key.version == NEWEST else rows.stored(db, key.subject, key.version)
