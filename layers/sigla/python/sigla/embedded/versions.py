"""Versions in the tables: with each go its references, its digests and the id of its content."""

import sqlite3
from collections.abc import Sequence

from sigla import records
from sigla.embedded import rows
from sigla.keys import utf16
from sigla.model import DEFAULT_CONTEXT, Row, SchemaId, Subject, Version
from sigla.ports import Registered


def make_subject(db: sqlite3.Connection, subject: Subject) -> int:
    """The subject's number; a subject never heard of gets a head of zeros."""
    found = rows.number(db, subject)
    if found is not None:
        return found
    made = db.execute(
        "INSERT INTO subject (key, context, name, name_key) VALUES (?, ?, ?, ?) RETURNING num",
        (rows.subject_key(subject), subject.context, subject.name, utf16(subject.name)),
    ).fetchall()
    number: int = made[0][0]
    return number


def is_stored(db: sqlite3.Connection, number: int) -> bool:
    return db.execute("SELECT 1 FROM version WHERE subject = ? LIMIT 1", (number,)).fetchone() is not None


def bump(db: sqlite3.Connection, number: int, nonce: str, *, generations: int = 0) -> None:
    """The head after a commit, once the subject's versions are as they shall be."""
    db.execute(
        "UPDATE subject SET revision = revision + 1, nonce = ?, generation = generation + ?,"
        " highest = COALESCE((SELECT max(version) FROM version WHERE subject = num), 0),"
        " newest = (SELECT max(version) FROM version WHERE subject = num AND deleted = 0) WHERE num = ?",
        (nonce, generations, number),
    )


def insert(db: sqlite3.Connection, number: int, change: Registered) -> None:
    """Writes the version; the place must be free."""
    context, row = change.head.subject.context, change.row
    columns = (number, row.version, context, row.id, row.guid, row.type, records.references_text(row.references))
    life = (row.deleted, row.ts, row.revision, rows.subject_key(change.head.subject))
    db.execute("INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", columns + life)
    _name(db, context, row)
    db.executemany(
        "INSERT OR IGNORE INTO digest VALUES (?, ?, ?)", [(number, digest, row.version) for digest in change.digests]
    )
    _refer(db, number, change)


def _name(db: sqlite3.Connection, context: str, row: Row) -> None:
    """From now on the content is known by this id."""
    db.execute(
        "UPDATE content SET latest = FALSE WHERE guid = ? AND context = ? AND latest AND id <> ?",
        (row.guid, context, row.id),
    )
    db.execute(
        "INSERT INTO content VALUES (?, ?, ?, FALSE, TRUE) ON CONFLICT DO UPDATE SET latest = TRUE",
        (row.guid, context, row.id),
    )


def _refer(db: sqlite3.Connection, number: int, change: Registered) -> None:
    """Writes who is referenced, and lets each of these subjects know, the own one included."""
    context, row = change.head.subject.context, change.row
    order = b"" if context == DEFAULT_CONTEXT else utf16(context)
    targets = [(make_subject(db, Subject(each.context, each.subject)), each.version) for each in change.targets]
    db.executemany(
        "INSERT OR IGNORE INTO reference VALUES (?, ?, ?, ?, ?, ?)",
        [(target, order, row.id, number, row.version, version) for target, version in targets],
    )
    db.executemany(
        "UPDATE subject SET referred = referred + 1 WHERE num = ?", [(each,) for each in {num for num, _ in targets}]
    )


def remove(db: sqlite3.Connection, number: int, versions: Sequence[Version] | None) -> set[SchemaId]:
    """Removes these versions, or all (None), as far as they are stored; the ids they had."""
    if versions is None:
        versions = [version for (version,) in db.execute("SELECT version FROM version WHERE subject = ?", (number,))]
    removed: set[SchemaId] = set()
    for version in versions:
        found = db.execute("DELETE FROM version WHERE subject = ? AND version = ? RETURNING id", (number, version))
        gone = found.fetchall()
        if gone:
            removed.update(id for (id,) in gone)
            db.execute("DELETE FROM digest WHERE subject = ? AND version = ?", (number, version))
            db.execute("DELETE FROM reference WHERE subject = ? AND version = ?", (number, version))
    return removed
