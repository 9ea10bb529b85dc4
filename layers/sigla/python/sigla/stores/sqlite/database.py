"""One SQLite file: one connection that writes, and one per thread that reads what was committed."""

import os
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sigla.errors import StoreError
from sigla.stores.sqlite import tables
from sigla.stores.sqlite.directory import registries, with_bodies

CACHE_KIB = 8_000
"""The cache of each connection; what is not in it is in the system's cache, a copy away."""


class NoData(Exception):
    """There is no registry; the sentence says where."""


class TooNew(Exception):
    """The data was written by a newer release; the sentence says so."""


class OtherRegistry(Exception):
    """The data are those of a registry of another name; the sentence says of which."""


class CatalogLost(Exception):
    """There are bodies and no catalog that knows of them; the sentence says what to do."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        super().__init__(
            f"The catalog of the registry in {folder} is gone: there are schemas of {' and '.join(names)}, and "
            "no catalog.sqlite knows of them. Restore catalog.sqlite from a backup of the directory, or import a dump "
            "into an empty directory: sigla import DUMP --data NEW."
        )


class Connection(sqlite3.Connection):
    """Its failures are `errors.StoreError`, as those of every store.

    Closed by another thread, it ends after the step of a statement that is under way: sqlite3 does not look whether the
    connection is still there when a step returns, and the process would end with it.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.in_step = threading.Lock()
        super().__init__(*arguments, **named)

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            with self.in_step:
                return self.cursor(Rows).execute(sql, parameters)
        except sqlite3.Error as failure:
            raise _failed(failure) from failure

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        try:
            with self.in_step:
                return super().executemany(sql, parameters)
        except sqlite3.Error as failure:
            raise _failed(failure) from failure

    def close(self) -> None:
        with self.in_step:
            super().close()


class Rows(sqlite3.Cursor):
    """What a statement finds. Each row but the first is a step of its own."""

    connection: Connection

    def fetchone(self) -> Any:
        try:
            with self.connection.in_step:
                return super().fetchone()
        except sqlite3.Error as failure:
            raise _failed(failure) from failure

    def fetchall(self) -> list[Any]:
        try:
            with self.connection.in_step:
                return super().fetchall()
        except sqlite3.Error as failure:
            raise _failed(failure) from failure

    def __next__(self) -> Any:
        try:
            with self.connection.in_step:
                return super().__next__()
        except sqlite3.Error as failure:
            raise _failed(failure) from failure


def _failed(failure: sqlite3.Error) -> StoreError:
    return StoreError(f"the catalog failed: {failure}")


class Database:
    """durable: a commit is on disk when it returns; False for data that need not outlive the process.

    registry: the name under which its bodies lie. written: False where only others write. Raises TooNew, OtherRegistry,
    CatalogLost, and NoData if no process writes and none has written, or only begun to.
    """

    def __init__(self, path: Path, *, registry: str, durable: bool, written: bool = True) -> None:
        self._path = path
        self._registry = registry
        self._durable = durable
        self._written = written
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._opening = threading.Lock()
        self._closed = False
        try:
            self.writer = self._connect()
            if not self._begun():
                self._begin()
            self._check()
            if self._written:
                _complete(self.writer)
        except BaseException:
            self.close()
            raise

    @property
    def reader(self) -> sqlite3.Connection:
        """The thread's own connection. A statement on it must be read to its end, or it would keep an old view."""
        try:
            connection: sqlite3.Connection = self._local.connection
        except AttributeError:
            connection = self._connect()
            connection.execute("PRAGMA query_only = 1")
            self._local.connection = connection
        return connection

    def close(self) -> None:
        """Writes what the log still holds into the file. Whoever uses the database afterwards gets a StoreError."""
        with self._opening:
            self._closed = True
            # The writer is the first of them: closed last, it finds itself alone and folds the log into the file.
            while self._opened:
                self._opened.pop().close()

    def _connect(self) -> sqlite3.Connection:
        if self._written:
            _keep_from_others(self._path)
        where = f"{self._path.absolute().as_uri()}?mode={'rwc' if self._written else 'ro'}"
        try:
            connection = sqlite3.connect(
                where, uri=True, isolation_level=None, check_same_thread=False, timeout=30, factory=Connection
            )
        except sqlite3.Error as failure:
            raise _failed(failure) from failure
        try:
            # First: a new file that is made one with a log would be synced all the same.
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'OFF'}")
            if self._written:
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            if not self._written:
                connection.execute("PRAGMA temp_store = MEMORY")
                _complete(connection, temporary="TEMPORARY")
        except StoreError:
            connection.close()  # or each attempt without free descriptors would take some of the next ones
            raise
        with self._opening:
            if not self._closed:
                self._opened.append(connection)
                return connection
        connection.close()
        raise StoreError("the catalog is closed")

    def _begun(self) -> bool:
        """Whether there are tables: a start that was cut off leaves an empty file."""
        return bool(self.writer.execute("SELECT 1 FROM sqlite_schema WHERE name = 'state'").fetchone())

    def _begin(self) -> None:
        """Creates the tables. Bodies come after them: whatever stands here already had a catalog once."""
        if lost := with_bodies(self._path.parent):
            raise CatalogLost(self._path.parent, lost)
        if not self._written:
            raise NoData(f"Found no registry in {self._path.parent}.")
        try:
            self.writer.executescript(f"BEGIN IMMEDIATE; {tables.CREATE} {tables.added()}")
        except sqlite3.Error as failure:
            raise _failed(failure) from failure
        self.writer.execute("INSERT INTO state VALUES (?, 0, ?)", (tables.LAYOUT, self._registry))
        self.writer.execute("COMMIT")

    def _check(self) -> None:
        state = self.writer.execute("SELECT * FROM state").fetchone()
        if state is None or len(state) < 2:
            raise StoreError("the catalog says nothing about itself")
        layout, _, *named = state
        if layout > tables.LAYOUT_OF_REGIONS:
            raise TooNew(
                f"The data in {self._path.parent} has layout {layout}, written by a newer release of Sigla; "
                f"this one knows layouts up to {tables.LAYOUT_OF_REGIONS}. Install that release or a later one, or "
                "choose another directory with --data."
            )
        there = {name for (name,) in self.writer.execute("SELECT name FROM sqlite_schema")}
        if missing := [name for name in tables.NAMES if name not in there]:
            raise StoreError(f"the catalog has no table {missing[0]}")
        names = named[:1] or registries(self._path.parent)
        if names and self._registry not in names:
            raise OtherRegistry(
                f"The data in {self._path.parent} are those of the registry {' and '.join(names)}, not of "
                f"{self._registry}: give its own name, or choose another directory."
            )


def _keep_from_others(path: Path) -> None:
    """Makes a new file that its owner alone may read, and so the files of its log: KEKs have credentials.

    Where it cannot be made, SQLite says why.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _complete(connection: sqlite3.Connection, temporary: str = "") -> None:
    """Makes the tables that data of an earlier release do not have."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    if missing := [name for name in tables.ADDED if name not in there]:
        try:
            connection.executescript(tables.added(missing, temporary))
        except sqlite3.Error as failure:
            raise _failed(failure) from failure
