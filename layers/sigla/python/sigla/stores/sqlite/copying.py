"""A directory as it was at one moment, for a backup: also while a server writes there.

The catalog is copied first, at one moment of its journal. Bodies are written before the rows that name them and are
never removed, so that all that the copy speaks of is there. What a later commit marks as gone, or takes that mark from,
is told as the copied catalog has it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from errno import ENOSPC
from os import strerror
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from sigla import records
from sigla.errors import BodyDamaged, StoreError
from sigla.model import BodyKey, SchemaId
from sigla.ports.progress import Progress
from sigla.rules.bodies import believed
from sigla.stores.sqlite.directory import Directory
from sigla.stores.sqlite.reading import CATALOG

PAGES_AT_ONCE: Final = 1_000
"""Pages of the catalog; in between, progress is told and Ctrl-C is heard."""

_NONE = (FileNotFoundError, IsADirectoryError)
"""Where there is no body."""

_KNOWN = """
    SELECT context, id FROM content WHERE body
    UNION SELECT context, id FROM version
    UNION SELECT context, id FROM buried"""


def catalog_bytes(data: Path) -> int:
    """What a copy of a directory's catalog takes, at least. Raises OSError."""
    return (data / CATALOG).stat().st_size


def copy_catalog(data: Path, copy: Path, progress: Progress) -> None:
    """Copies the catalog of a directory as one moment has it. Raises StoreError, OSError."""
    try:
        with (
            closing(_opened(data / CATALOG, "ro")) as source,
            closing(_opened(copy, "rwc")) as target,
        ):
            source.execute("BEGIN")
            source.execute("SELECT 1 FROM state").fetchall()  # from here on it stays at this moment
            source.backup(
                target,
                pages=PAGES_AT_ONCE,
                progress=lambda _, left, pages: progress("pages of the catalog", pages - left, pages),
            )
            target.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as failure:
        if getattr(failure, "sqlite_errorname", "") == "SQLITE_FULL":
            raise OSError(ENOSPC, strerror(ENOSPC), str(copy.parent)) from failure
        raise StoreError(f"the catalog cannot be copied ({failure})") from failure


def check_catalog(catalog: Path) -> None:
    """Whether it is sound, and holds tables alone. Raises StoreError."""
    try:
        with closing(_opened(catalog, "ro")) as database:
            database.execute("PRAGMA trusted_schema = 0")
            if database.execute("SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view')").fetchone():
                raise StoreError("the catalog has more than tables")
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as failure:
        raise StoreError(f"the catalog cannot be read ({failure})") from failure
    if found != "ok":
        raise StoreError(f"the catalog is damaged ({found})")


class CopiedDirectory:
    """What belongs to a copied catalog. data: where the bodies are; damaged: ids whose body was not what it should be.

    A body that `size` did not find stays missing, although a registration may put it back meanwhile: how many there are
    has been said by then. Raises StoreError.
    """

    def __init__(self, data: Path, catalog: Path, registry: str) -> None:
        self._directory = Directory(data, registry)
        self._database = _opened(catalog, "ro")
        self.damaged: list[BodyKey] = []
        self._missing: set[BodyKey] = set()

    @property
    def position(self) -> int:
        """In the journal, of the last row."""
        return self._number("SELECT coalesce(max(position), 0) FROM journal")

    def __iter__(self) -> Iterator[BodyKey]:
        """Every id that the catalog speaks of."""
        for context, id in self._rows(f"{_KNOWN} ORDER BY 1, 2"):
            yield BodyKey(context, SchemaId(id))

    def size(self, key: BodyKey) -> int | None:
        """In bytes, of a body as it is stored now; None without one."""
        try:
            return self._directory.body_path(key).stat().st_size
        except _NONE:
            self._missing.add(key)
            return None

    def stored(self, key: BodyKey) -> bytes | None:
        """A body as it belongs to the catalog; None without one. Raises StoreError, FormTooNew."""
        found = None
        try:
            if key not in self._missing:
                found = self._directory.body_path(key).read_bytes()
        except _NONE:
            """Not there."""
        except OSError as failure:
            raise StoreError(f"the body of id {key.id} in context {key.context} cannot be read") from failure
        if found is None:
            self.damaged.append(key)
            return None
        try:
            body = believed(key, found)
        except BodyDamaged:
            self.damaged.append(key)
            return found
        gone = self._is_gone(key)
        return found if gone in (None, body.gone) else records.body_bytes(key, replace(body, gone=gone))

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _is_gone(self, key: BodyKey) -> bool | None:
        """None where the catalog says nothing of an id."""
        ((held, buried),) = self._rows(
            "SELECT EXISTS (SELECT 1 FROM version WHERE context = :context AND id = :id),"
            " EXISTS (SELECT 1 FROM buried WHERE context = :context AND id = :id)",
            key._asdict(),
        )
        return False if held else True if buried else None

    def _number(self, query: str) -> int:
        ((number,),) = self._rows(query)
        return int(number)

    def _rows(self, query: str, parameters: dict[str, object] | None = None) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._database.execute(query, parameters or {})
        except sqlite3.Error as failure:
            raise StoreError(f"the catalog failed: {failure}") from failure


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    where = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(where, uri=True, isolation_level=None, timeout=30)
    try:
        connection.execute("PRAGMA synchronous = OFF")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
