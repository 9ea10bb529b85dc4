"""The journal: a table that commits append to, and the log that it is."""

import sqlite3
from collections.abc import Iterator, Mapping

import orjson

from sigla import journal
from sigla.changes import Change
from sigla.journal import NO_EFFECTS, Effects, known
from sigla.journal.log_entries import entry_of_row
from sigla.ports.log import LogEntry
from sigla.stores.sqlite.principals import token_of
from sigla.stores.sqlite.unit import Reader

PAGE = 500
LATE_MS = 3_600_000
"""By how much a row may be older than one before it: an administrator sets the clock of a machine."""


def append(db: sqlite3.Connection, change: Change, effects: Effects = NO_EFFECTS) -> None:
    """The row of a commit, inside its step."""
    told = journal.row(change, effects, journal.origin(change, token_of(db, change.author, change.ts)))
    db.execute("INSERT INTO journal (form) VALUES (?)", (orjson.dumps(told),))


class EmbeddedJournal:
    """A `ports.Journal`; positions count from 1."""

    def __init__(self, unit: Reader) -> None:
        self._unit = unit

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        while page := self._page(after):
            for position, form in page:
                yield position, known(orjson.loads(form))
            after = page[-1][0]

    def end(self) -> int:
        """Rows are written one after the other."""
        (position,) = self._unit.connection.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()
        return int(position)

    def reaches(self, after: int) -> bool:  # noqa: ARG002 - as `ports.Journal` has it
        """Always: all rows are kept."""
        return True

    def _page(self, after: int) -> list[tuple[int, bytes]]:
        return self._unit.connection.execute(
            "SELECT position, form FROM journal WHERE position > ? ORDER BY position LIMIT ?", (after, PAGE)
        ).fetchall()


class EmbeddedLog:
    """A `ports.Log`."""

    def __init__(self, unit: Reader, journal: EmbeddedJournal) -> None:
        self._unit = unit
        self._journal = journal

    def entries(self, since: int = 0) -> Iterator[LogEntry]:
        rows = self._journal.read(self._before(since))
        return (entry for _, row in rows if (entry := entry_of_row(row)).at >= since)

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
