"""Everything a bucket and a table hold, whether or not anything points to it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from urllib.parse import unquote

from sigla import keys
from sigla.associations.nouns import Association
from sigla.errors import BodyDamaged
from sigla.exporters.nouns import Exporter
from sigla.keks.nouns import Dek, Kek
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Guid, SchemaId, Subject
from sigla.ports.clock import Clock
from sigla.ports.inventory import ProgressAlone, UnreadableRow
from sigla.ports.log import LogEntry
from sigla.ports.progress import Progress, unseen
from sigla.rules.bodies import believed
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.table import MOST_READ
from sigla.stores.s3.objects import Objects

_DAY_S = 86_400
_ID = re.compile("[0-9]{10}")


class AwsInventory:
    """A `ports.Inventory`. catalog: of the same registry."""

    def __init__(self, objects: Objects, catalog: AwsCatalog, clock: Clock, *, registry: str = "default") -> None:
        self._objects = objects
        self._catalog = catalog
        self._clock = clock
        self._registry = registry

    def bodies(self) -> Iterator[BodyKey]:
        prefix = keys.schemas_prefix(self._registry)
        for name in self._objects.names(prefix):
            if key := _key(name.removeprefix(prefix).removesuffix(".json")):
                yield key

    def pointers(self) -> Iterator[tuple[Guid, BodyKey]]:
        prefix = keys.guids_prefix(self._registry)
        for name in self._objects.names(prefix):
            guid, _, place = name.removeprefix(prefix).partition("/")
            if key := _key(place):
                yield Guid(unquote(guid)), key

    def buried(self, ids: Iterable[BodyKey]) -> frozenset[BodyKey]:
        return self._catalog.buried(ids)

    def unheld(self, progress: Progress = unseen, /) -> Iterator[BodyKey]:
        """A list of names for each thousand bodies, and ten questions."""
        named, looked_at = self.bodies(), 0
        while page := list(islice(named, MOST_READ)):
            yield from self._catalog.unheld(page)
            looked_at += len(page)
            progress("Bodies looked at:", looked_at)

    def point(self, key: BodyKey, guid: Guid) -> None:
        self._objects.create(keys.guid_object(self._registry, guid, key), b"")

    def second_names(self, known: Iterable[Subject] = ()) -> Iterator[Subject]:
        """A read of a few rows for each subject in a named context."""
        return self._catalog.second_names.stored(known)

    def is_kept(self, named: Subject) -> bool:
        return any(self._catalog.second_names.kept([named]))

    def take_away(self, named: Subject, at: int) -> tuple[BodyKey, ...]:
        return self._catalog.second_names.take_away(named, at)

    def earlier(self, key: BodyKey) -> Iterator[Body]:
        """The versions that the bucket keeps of the object."""
        for stored in self._objects.versions(keys.body_object(self._registry, key)):
            with suppress(BodyDamaged):
                yield believed(key, stored.content)

    def key_rows(self) -> Iterator[Kek | Dek | UnreadableRow]:
        return self._catalog.kept_rows.keys()

    def association_rows(self) -> Iterator[Association | UnreadableRow]:
        return self._catalog.kept_rows.associations()

    def exporter_rows(self) -> Iterator[Exporter | ProgressAlone | UnreadableRow]:
        return self._catalog.kept_rows.exporters()

    def drop_progress(self, exporter: str) -> None:
        self._catalog.kept_rows.drop_progress(exporter)

    def is_whole(self, one: Association) -> bool:
        return self._catalog.kept_rows.is_whole(one)

    def make_whole(self, one: Association, at: int) -> bool:
        return self._catalog.kept_rows.make_whole(one, at)

    def recount_deks(self, kek: str, at: int) -> None:
        self._catalog.kept_rows.recount_deks(kek, at)

    def with_history(self, known: Iterable[Subject] = ()) -> Iterator[Subject]:
        """No list has the partitions of subjects without versions and settings."""
        return self._catalog.kept_histories.subjects(known)

    def history_positions(self, subject: Subject) -> Iterator[int]:
        return self._catalog.kept_histories.positions(subject, self.journal_kept_since())

    def is_in_history(self, subject: Subject, position: int) -> bool:
        return self._catalog.kept_histories.has(subject, position)

    def mend_history(self, subject: Subject, position: int, row: Mapping[str, Any] | None) -> None:
        self._catalog.kept_histories.mend(subject, position, row)

    def bring_history(self, subject: Subject, entries: Sequence[LogEntry]) -> None:
        self._catalog.kept_histories.bring(subject, entries)

    def is_empty(self) -> bool:
        identity = keys.identity_object(self._registry)
        found = self._objects.names(f"{keys.component(self._registry)}/")
        return all(name == identity for name in found) and self._catalog.is_empty()

    def journal_kept_since(self) -> int:
        """A day less than rows are kept: DynamoDB removes what has expired when it gets to it."""
        return self._clock.now() - (JOURNAL_KEPT_S - _DAY_S) * 1000


def _key(place: str) -> BodyKey | None:
    """What the end of a name stands for; None for a foreign name."""
    context, _, id = place.partition("/")
    if not _ID.fullmatch(id):
        return None
    return BodyKey(DEFAULT_CONTEXT if context == "_" else unquote(context), SchemaId(int(id)))
