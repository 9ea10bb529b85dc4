"""The history of each subject: where in the journal the commits are that were about it."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import orjson

from sigla.journal import row_at
from sigla.journal.subject_histories import entry_about, entry_form, entry_in
from sigla.model import Subject
from sigla.ports.log import LogEntry
from sigla.rules import names
from sigla.stores.sqlite.rows import subject_key
from sigla.stores.sqlite.unit import Reader

PAGE: Final = 100


def note(db: sqlite3.Connection, subjects: Iterable[Subject], position: int) -> None:
    """Inside the step of a commit."""
    noted = [(subject_key(subject), position) for subject in subjects]
    # Two names of one subject share its history, as they share its rows (`second_names`).
    db.executemany("INSERT OR IGNORE INTO history VALUES (?, ?, NULL)", noted)


def commits_about(unit: Reader, subject: Subject) -> Iterator[LogEntry]:
    before = 2**62
    while page := unit.connection.execute(
        "SELECT h.position, h.form, j.form FROM history h LEFT JOIN journal j ON j.position = h.position"
        " WHERE h.subject = ? AND h.position < ? ORDER BY h.position DESC LIMIT ?",
        (subject_key(subject), before, PAGE),
    ).fetchall():
        for position, carried, told in page:
            if carried is not None:
                form = orjson.loads(carried)
                yield entry_in(form, subject, form["at"], form["nonce"])
            elif told is not None:
                yield entry_about(row_at(position, partial(orjson.loads, told)), subject)
        before = page[-1][0]


def with_history(unit: Reader) -> Iterator[Subject]:
    found = unit.connection.execute("SELECT DISTINCT subject FROM history ORDER BY subject").fetchall()
    return (names.subject(key.decode("utf-16-be", "surrogatepass")) for (key,) in found)


def positions(unit: Reader, subject: Subject) -> Iterator[int]:
    found = unit.connection.execute(
        "SELECT position FROM history WHERE subject = ? AND position > 0 ORDER BY position", (subject_key(subject),)
    ).fetchall()
    return (position for (position,) in found)


def is_in_history(unit: Reader, subject: Subject, position: int) -> bool:
    wanted = (subject_key(subject), position)
    return bool(unit.connection.execute("SELECT 1 FROM history WHERE subject = ? AND position = ?", wanted).fetchone())


def mend(unit: Reader, subject: Subject, position: int, row: Mapping[str, Any] | None) -> None:
    with unit.step():
        if row is not None:
            note(unit.connection, [subject], position)
        else:
            unit.connection.execute(
                "DELETE FROM history WHERE subject = ? AND position = ?", (subject_key(subject), position)
            )


def bring(unit: Reader, subject: Subject, entries: Sequence[LogEntry]) -> None:
    key = subject_key(subject)
    forms = [orjson.dumps({**entry_form(entry), "at": entry.at, "nonce": entry.nonce}) for entry in entries]
    with unit.step():
        unit.connection.executemany(
            "INSERT OR REPLACE INTO history VALUES (?, ?, ?)",
            [(key, -number, form) for number, form in enumerate(forms, 1)],
        )
