"""Everything a directory holds, whether or not anything points to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import scandir
from pathlib import Path
from typing import Any

from sigla import keys
from sigla.associations.nouns import Association
from sigla.errors import StoreError
from sigla.exporters.nouns import Exporter
from sigla.keks.nouns import Dek, Kek
from sigla.model import Body, BodyKey, Guid, SchemaId, Subject
from sigla.ports.inventory import ProgressAlone, UnreadableRow
from sigla.ports.log import LogEntry
from sigla.ports.progress import Progress, unseen
from sigla.stores.sqlite import associations, exporters, histories, keks, second_names
from sigla.stores.sqlite.directory import BODY, context_of
from sigla.stores.sqlite.unit import Reader

PAGE = 500


class EmbeddedInventory:
    """A `ports.Inventory`. root: of the data."""

    def __init__(self, unit: Reader, root: Path, registry: str) -> None:
        self._unit = unit
        self._schemas = root / keys.schemas_root(registry)

    def bodies(self) -> Iterator[BodyKey]:
        yield from _below(self._schemas, "")

    def pointers(self) -> Iterator[tuple[Guid, BodyKey]]:
        last: tuple[str, str, int] = ("", "", -1)
        while page := self._page(last):
            yield from ((Guid(guid), BodyKey(context, SchemaId(id))) for guid, context, id in page)
            last = page[-1]

    def buried(self, ids: Iterable[BodyKey]) -> frozenset[BodyKey]:
        return frozenset(key for key in ids if self._is_buried(key))

    def unheld(self, _: Progress = unseen, /) -> Iterator[BodyKey]:
        found = self._unit.connection.execute(
            "SELECT DISTINCT context, id FROM content c WHERE body AND NOT EXISTS"
            " (SELECT 1 FROM version v WHERE v.context = c.context AND v.id = c.id) AND NOT EXISTS"
            " (SELECT 1 FROM displaced d WHERE d.context = c.context AND d.id = c.id) ORDER BY context, id"
        ).fetchall()
        return (BodyKey(context, SchemaId(id)) for context, id in found)

    def point(self, key: BodyKey, guid: Guid) -> None:
        with self._unit.group():
            self._unit.connection.execute(
                "INSERT INTO content VALUES (?, ?, ?, TRUE, FALSE) ON CONFLICT DO UPDATE SET body = TRUE", (guid, *key)
            )

    def second_names(self, known: Iterable[Subject] = ()) -> Iterator[Subject]:
        """Its own tables tell all there are."""
        del known
        return second_names.stored(self._unit)

    def is_kept(self, named: Subject) -> bool:
        return named in second_names.stored(self._unit)

    def take_away(self, named: Subject, at: int) -> tuple[BodyKey, ...]:
        return second_names.take_away(self._unit, named, at)

    def earlier(self, key: BodyKey) -> Iterator[Body]:  # noqa: ARG002 - a store that keeps none is asked alike
        """A file has no earlier versions."""
        return iter(())

    def key_rows(self) -> Iterator[Kek | Dek | UnreadableRow]:
        return keks.all_rows(self._unit.connection)

    def association_rows(self) -> Iterator[Association | UnreadableRow]:
        return associations.all_rows(self._unit.connection)

    def exporter_rows(self) -> Iterator[Exporter | ProgressAlone | UnreadableRow]:
        return exporters.all_rows(self._unit.connection)

    def drop_progress(self, exporter: str) -> None:
        """An exporter and its progress are one row, which has both."""

    def is_whole(self, one: Association) -> bool:
        """It is one row, by which everything is found and counted."""
        return one in associations.of_resource(self._unit.connection, one.resource.id)

    def make_whole(self, one: Association, at: int) -> bool:
        del at
        return self.is_whole(one)

    def recount_deks(self, kek: str, at: int) -> None:
        """Lists and counts are questions to the columns of the DEKs themselves."""
        del at
        with self._unit.step():
            keks.rewrite(self._unit.connection, kek)

    def with_history(self, known: Iterable[Subject] = ()) -> Iterator[Subject]:
        """Its own table tells all there are."""
        del known
        return histories.with_history(self._unit)

    def history_positions(self, subject: Subject) -> Iterator[int]:
        return histories.positions(self._unit, subject)

    def is_in_history(self, subject: Subject, position: int) -> bool:
        return histories.is_in_history(self._unit, subject, position)

    def mend_history(self, subject: Subject, position: int, row: Mapping[str, Any] | None) -> None:
        histories.mend(self._unit, subject, position, row)

    def bring_history(self, subject: Subject, entries: Sequence[LogEntry]) -> None:
        histories.bring(self._unit, subject, entries)

    def is_empty(self) -> bool:
        used = (
            "SELECT EXISTS (SELECT 1 FROM journal) OR EXISTS (SELECT 1 FROM context) OR EXISTS (SELECT 1 FROM content)"
        )
        return not self._unit.connection.execute(used).fetchone()[0] and next(self.bodies(), None) is None

    def journal_kept_since(self) -> int:
        """Since when rows are kept: for ever."""
        return 0

    def _is_buried(self, key: BodyKey) -> bool:
        found = self._unit.connection.execute("SELECT 1 FROM buried WHERE context = ? AND id = ?", tuple(key))
        return found.fetchone() is not None

    def _page(self, after: tuple[str, str, int]) -> list[tuple[str, str, int]]:
        return self._unit.connection.execute(
            "SELECT guid, context, id FROM content WHERE body AND (guid, context, id) > (?, ?, ?)"
            " ORDER BY guid, context, id LIMIT ?",
            (*after, PAGE),
        ).fetchall()


def _below(folder: Path, encoded: str) -> Iterator[BodyKey]:
    """encoded: what the folders above spell of a context's name; a long one is spread over several."""
    folders = []
    try:
        with scandir(folder) as entries:
            for entry in entries:
                # By its name first: what cannot be read is told as a damaged body, and does not end the list.
                if encoded and BODY.fullmatch(entry.name):
                    yield BodyKey(context_of(encoded), SchemaId(int(Path(entry.name).stem)))
                elif entry.is_dir():
                    folders.append(entry.name)
    except FileNotFoundError:
        return
    except OSError as failure:
        raise StoreError(f"the bodies in {folder} cannot be listed") from failure
    for name in folders:
        yield from _below(folder / name, encoded + name)
