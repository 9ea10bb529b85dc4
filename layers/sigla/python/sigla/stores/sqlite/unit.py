"""The unit of work: rows and bodies that become durable together, or not at all.

A reader sees what is committed, a writer also what its own group has written. A group collects what any number of verbs
write; its thread sees it at once, all others when it is flushed: first the bodies (`Links`), then one SQLite commit,
which is the point of no return. A step is one verb's part of a group.

Bodies come first because a body that no row names is waste, and a row whose body is missing is damage. No verb is
answered before the flush of its group, so what was acknowledged is on disk. When something fails:

    in a step                   its rows go back to a savepoint, its bodies to what was staged before; the group goes on
    while bodies are written    links and rows are taken back; every verb of the group is refused
    while they are handed over  the same, but bodies stay: another region may have them, so that their ids are used up
    in SQLite's commit          what the disk holds is not known, so nothing is taken back: OutcomeUnknown, and no write
                                is accepted until the store is opened again, which reads from the disk what became of it

Two numbers tell groups apart. `flushed`, in the database, is the last group with bodies: a crash is put right by it
(`links.recover`). `state`, in memory, moves with each commit that changed anything: what readers remember is good as
long as it stays.
"""

import errno
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final, NoReturn, Protocol

from sigla import effort
from sigla.errors import OutcomeUnknown, StoreError
from sigla.model import Body, BodyKey
from sigla.stores.sqlite.database import Database
from sigla.stores.sqlite.directory import Directory
from sigla.stores.sqlite.links import Disk, Links, recover

_MAY_PASS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT})
"""Then a directory cannot be put right now, but later: tombstones of bodies that stay take room."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A body that is not on disk yet; `replaces`: another one stands there, alive or as a tombstone."""

    body: Body
    replaces: bool


class Reader:
    """Each thread sees what is committed when it asks. Nothing can be written, and commits are not told."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.touched: set[BodyKey] = set()
        """Ids whose holders this group changed, or tried to."""
        self.touched_exporters = False
        """Whether this group changed an exporter, or tried to."""
        self.touched_role = False
        """Whether this group changed the role of the region, or tried to."""

    @property
    def inside(self) -> bool:
        """Whether this thread is in a group."""
        return False

    @property
    def state(self) -> int | None:
        """The number of what is committed: as long as it stays, every question has the answer that it had.

        None if it is unknown.
        """
        return None

    @property
    def connection(self) -> sqlite3.Connection:
        """Where this thread reads."""
        return self._database.reader

    @property
    def committed(self) -> sqlite3.Connection:
        """Where this thread reads what is committed, inside a group as well."""
        return self._database.reader

    def staged(self, key: BodyKey) -> Body | None:  # noqa: ARG002 - a writer has some
        """What this thread's group has put under a key."""
        return None

    def all_staged(self) -> dict[BodyKey, Body]:
        return {}

    def stage(self, key: BodyKey, body: Body, *, replaces: bool) -> None:  # noqa: ARG002 - as `group`
        """Only inside a group. Raises StoreError."""
        _refuse()

    def group(self) -> AbstractContextManager[None]:
        """All that is written inside becomes durable at the end, together. Raises StoreError."""
        _refuse()

    def unremembered(self) -> AbstractContextManager[None]:
        """What is written inside is nothing that is remembered, so that the state stays. Raises StoreError."""
        _refuse()

    def step(self) -> AbstractContextManager[None]:
        """A part of a group that an exception undoes alone. Raises StoreError."""
        _refuse()


def _refuse() -> NoReturn:
    raise StoreError("the registry was opened to be read")


class Handing(Protocol):
    """What is done with commits of a group before they are durable, for another region's sake. May refuse them."""

    @property
    def hands(self) -> bool:
        """Whether another region may get bodies before their commit."""
        ...

    def begin(self) -> int | None:
        """At the begin of a step: what its end is told; None where that is not to be asked for."""
        ...

    def end_step(self, since: int) -> None: ...

    def end_group(self) -> None:
        """Bodies are in their places. What it raises undoes the group."""
        ...


class Writer(Reader):
    """One thread at a time is inside; others wait for it when they want to write, never when they read."""

    def __init__(self, database: Database, directory: Directory, disk: Disk) -> None:
        super().__init__(database)
        self._directory = directory
        self._disk = disk
        self._lock = threading.RLock()
        self._owner: int | None = None
        self.broken = ""
        """Why nothing can be written until the store is opened again; empty while all is well."""
        self.failing = False
        """Whether the last write failed on the disk."""
        self._half_undone: Callable[[], None] | None = None
        """What a group did to the directory and could not take back yet."""
        self._staged: dict[BodyKey, Staged] = {}
        self._undo: list[tuple[BodyKey, Staged | None]] = []
        self.flushed: list[Callable[[set[BodyKey], set[BodyKey]], None]] = []
        """Told after each flush: the touched ids, and the ids whose body was replaced."""
        self._state: int | None = 0
        self._changes = 0
        """What the writer had changed when this group began, as SQLite counts it."""
        self.handing: Handing | None = None
        (self._number,) = database.writer.execute("SELECT flushed FROM state").fetchone()
        (in_regions,) = database.writer.execute("SELECT EXISTS (SELECT 1 FROM region)").fetchone()
        recover(directory, disk, self._number, keeps=bool(in_regions))

    @property
    def inside(self) -> bool:
        return self._owner == threading.get_ident()

    @property
    def state(self) -> int | None:
        """None inside a group, which may have changed something, and while a commit is under way."""
        return None if self._owner == threading.get_ident() else self._state

    @property
    def connection(self) -> sqlite3.Connection:
        """Where this thread reads: what is committed, or, inside a group, also what the group wrote."""
        if not self.inside:
            return self._database.reader
        if not self._database.writer.in_transaction:
            raise StoreError(self.broken or "the group was abandoned by the database")
        return self._database.writer

    def staged(self, key: BodyKey) -> Body | None:
        staged = self._staged.get(key)
        return staged.body if staged and self.inside else None

    def all_staged(self) -> dict[BodyKey, Body]:
        return {key: staged.body for key, staged in self._staged.items()} if self.inside else {}

    def stage(self, key: BodyKey, body: Body, *, replaces: bool) -> None:
        before = self._staged.get(key)
        self._undo.append((key, before))
        self._staged[key] = Staged(body, before.replaces if before else replaces)

    @contextmanager
    def group(self) -> Iterator[None]:
        """All that is written inside becomes durable at the end, together; inside another group: with that one.

        An exception undoes everything and is raised on.
        """
        if self.inside:
            yield
            return
        effort.pulse()  # a glance does not write
        with self._lock:
            self._begin()
            try:
                yield
                self._flush()
                self.failing = False
            except BaseException as failure:
                self._note(failure)
                self._abandon()
                raise
            finally:
                self._owner = None

    @contextmanager
    def step(self) -> Iterator[None]:
        """A part of a group that an exception undoes alone; outside a group it is a group of its own."""
        with self.group():
            mark = len(self._undo)
            since = self.handing.begin() if self.handing else None
            self.connection.execute("SAVEPOINT step")
            try:
                yield
                if self.handing and since is not None:
                    self.handing.end_step(since)
            except BaseException as failure:
                self._note(failure)
                self._undo_to(mark)
                raise
            self.connection.execute("RELEASE step")

    @contextmanager
    def unremembered(self) -> Iterator[None]:
        writer = self._database.writer
        before = writer.total_changes
        try:
            yield
        finally:
            self._changes += writer.total_changes - before

    def _begin(self) -> None:
        if self._half_undone:
            self._undo_links(self._half_undone)
        if self.broken:
            raise StoreError(self.broken)
        self._database.writer.execute("BEGIN IMMEDIATE")
        self._owner = threading.get_ident()
        self._changes = self._database.writer.total_changes
        self._staged, self._undo, self.touched = {}, [], set()
        self.touched_exporters = self.touched_role = False

    def _note(self, failure: BaseException) -> None:
        """Whether it was the disk that failed, and not what was asked of it."""
        if isinstance(failure, StoreError) and isinstance(failure.__cause__, OSError | sqlite3.Error):
            self.failing = True

    def _undo_to(self, mark: int) -> None:
        while len(self._undo) > mark:
            key, before = self._undo.pop()
            if before:
                self._staged[key] = before
            else:
                del self._staged[key]
        writer = self._database.writer
        # SQLite gives up the whole transaction when the disk is full: then the group is lost, and its end says so.
        if writer.in_transaction:
            writer.execute("ROLLBACK TO step")
            writer.execute("RELEASE step")

    def _flush(self) -> None:
        connection = self.connection
        if not self._staged:
            if self.handing:
                self.handing.end_group()
            self._commit(connection)
        else:
            self._flush_with_bodies(connection)
        replaced = {key for key, staged in self._staged.items() if staged.replaces}
        for tell in self.flushed:
            tell(self.touched, replaced)

    def _flush_with_bodies(self, connection: sqlite3.Connection) -> None:
        number = self._number + 1
        links = Links(self._directory, self._disk, number)
        undo = links.undo
        try:
            links.make({key: (staged.body, staged.replaces) for key, staged in self._staged.items()})
            if self.handing:
                undo = links.keep if self.handing.hands else undo
                self.handing.end_group()
            connection.execute("UPDATE state SET flushed = ?", (number,))
            self._commit(connection)
        except OutcomeUnknown:
            # The files stay as they are: the next opening sees whether the number was committed, and tidies up.
            raise
        except BaseException as failure:
            self._undo_links(undo)
            if isinstance(failure, OSError):
                raise StoreError(f"the bodies could not be written: {failure}") from failure
            raise
        self._number = number
        links.settle()

    def _undo_links(self, undo: Callable[[], None]) -> None:
        """Now, or before the next group where that lacks what there may be again: a free descriptor, or room."""
        self._half_undone = None
        try:
            undo()
        except OSError as failure:
            if failure.errno in _MAY_PASS:
                self._half_undone = undo
                raise StoreError(f"the bodies cannot be taken back yet: {failure}") from failure
            self.broken = f"The directory of bodies could not be put right ({failure}); open the store again."

    def _commit(self, connection: sqlite3.Connection) -> None:
        if connection.total_changes == self._changes:
            self._end(connection)
            return
        # Readers see the commit before this thread hears of it: in between no answer may be remembered.
        state, self._state = self._state or 0, None
        try:
            self._end(connection)
        finally:
            self._state = state + 1

    def _end(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except StoreError as failure:
            cause = failure.__cause__
            if isinstance(cause, sqlite3.Error) and cause.sqlite_errorname.startswith("SQLITE_IOERR"):
                # After a failed write or sync it is unknown what the disk holds; the next opening reads the log anew.
                self.broken = f"The disk failed while committing ({failure}); open the store again."
                raise OutcomeUnknown(self.broken) from failure
            raise

    def _abandon(self) -> None:
        if self._database.writer.in_transaction:
            self._database.writer.execute("ROLLBACK")
