"""The journal: a table that commits append to, and the log that it is."""

import sqlite3
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Final

import orjson

from sigla import journal
from sigla.changes import Change
from sigla.journal import NO_EFFECTS, Effects, row_at
from sigla.journal.log_entries import entry_of_row
from sigla.journal.subject_histories import subjects_of
from sigla.ports.log import Link, LogEntry, Misfit
from sigla.regions.replay import JournalPlace
from sigla.stores.sqlite import histories
from sigla.stores.sqlite.principals import token_of
from sigla.stores.sqlite.unit import Reader

PAGE = 500
LATE_MS = 3_600_000
"""By how much a row may be older than one before it: an administrator sets the clock of a machine."""


def append(db: sqlite3.Connection, change: Change, effects: Effects = NO_EFFECTS, *, epoch: int = 0) -> None:
    """The row of a commit, inside its step. epoch: as of `journal.for_region`."""
    origin = journal.origin(change, token_of(db, change.author, change.ts))
    origin |= journal.for_region(change, effects, epoch)
    if before := hash_of_last(db):
        origin["before"] = before
    row = journal.row(change, effects, origin)
    append_form(db, orjson.dumps(row), row)


def append_form(db: sqlite3.Connection, form: bytes, row: Mapping[str, Any]) -> None:
    """form: of the row, as it is stored."""
    position = db.execute("INSERT INTO journal (form) VALUES (?)", (form,)).lastrowid
    db.execute("INSERT OR REPLACE INTO journal_end VALUES (1, ?, ?)", (position, hash_of(form)))
    histories.note(db, subjects_of(row), position or 0)


def hash_of_last(db: sqlite3.Connection) -> str:
    """As it was written down; of a row that an earlier release wrote, as it stands. Empty before the first row."""
    (last,) = db.execute("SELECT max(position) FROM journal").fetchone()
    if last is None:
        return ""
    known = db.execute("SELECT hash FROM journal_end WHERE position = ?", (last,)).fetchone()
    if known is not None:
        return str(known[0])
    (form,) = db.execute("SELECT form FROM journal WHERE position = ?", (last,)).fetchone()
    return hash_of(form)


def hash_of(form: bytes) -> str:
    return sha256(form).hexdigest()


class EmbeddedJournal:
    """A `ports.Journal`; positions count from 1."""

    def __init__(self, unit: Reader) -> None:
        self._unit = unit

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        for position, form in self.forms(after):
            yield position, row_at(position, partial(orjson.loads, form))

    def forms(self, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """The same as they are stored."""
        while page := self._page(after):
            yield from page
            after = page[-1][0]

    def end(self) -> int:
        """Rows are written one after the other."""
        (position,) = self._unit.connection.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()
        return int(position)

    def newest(self) -> int:
        """By the time of its row: a clock that was set back makes an older one of it."""
        newest = self._page(self.end() - 1) if self.end() else []
        return int(orjson.loads(newest[-1][1])["ts"]) if newest else 0

    def place(self, position: int) -> JournalPlace | None:
        """None where no row is."""
        found = self._unit.connection.execute("SELECT form FROM journal WHERE position = ?", (position,)).fetchone()
        return JournalPlace(position, hash_of(found[0])) if found else None

    def last_place(self) -> JournalPlace:
        return self.place(self.end()) or JournalPlace(0, "")

    def reaches(self, after: int) -> bool:  # noqa: ARG002 - as `ports.Journal` has it
        """Always: all rows are kept."""
        return True

    def _page(self, after: int) -> list[tuple[int, bytes]]:
        return self._unit.connection.execute(
            "SELECT position, form FROM journal WHERE position > ? ORDER BY position LIMIT ?", (after, PAGE)
        ).fetchall()


class EmbeddedLog:
    """A `ports.Log`, whose links are rows. A row names the one before by its hash alone: its number is one less."""

    link: Final = "row"

    def __init__(self, unit: Reader, journal: EmbeddedJournal) -> None:
        self._unit = unit
        self._journal = journal

    def entries(self, since: int = 0) -> Iterator[LogEntry]:
        rows = self._journal.read(self._before(since))
        return (entry for _, row in rows if (entry := entry_of_row(row)).at >= since)

    def recent(self) -> Iterator[LogEntry]:
        before = self._journal.end() + 1
        while page := self._unit.connection.execute(
            "SELECT position, form FROM journal WHERE position < ? ORDER BY position DESC LIMIT ?", (before, PAGE)
        ).fetchall():
            yield from (entry_of_row(row_at(position, partial(orjson.loads, form))) for position, form in page)
            before = page[-1][0]

    def links(self) -> Iterator[Link]:
        return (_link(position, form) for position, form in self._journal.forms())

    def end(self) -> Link | None:
        found = self._unit.connection.execute("SELECT position, hash FROM journal_end").fetchone()
        return None if found is None else Link(*found)

    def newest(self) -> int:
        return self._journal.end()

    def misfits(self) -> Iterator[Misfit]:
        """Every commit is a row, and nothing else."""
        return iter(())

    def _before(self, since: int) -> int:
        """A position, rather too early: writes that wait for each other are not written in the order of their times."""
        low, high = 0, self._journal.end()
        while low < high:
            middle = (low + high) // 2
            if self._time_after(middle) < since - LATE_MS:
                low = middle + 1
            else:
                high = middle
        return low

    def _time_after(self, position: int) -> int:
        (form,) = self._unit.connection.execute(
            "SELECT form FROM journal WHERE position > ? ORDER BY position LIMIT 1", (position,)
        ).fetchone()
        return int(orjson.loads(form)["ts"])


def _link(position: int, form: bytes) -> Link:
    try:
        before = orjson.loads(form).get("before", "")
    except (ValueError, AttributeError):
        return Link(position, hash_of(form), damage="cannot be read")
    return Link(position, hash_of(form), str(before), position - 1)
