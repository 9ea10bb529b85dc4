"""Versions in the tables: with each go its references, its digests and the id of its content."""

import sqlite3
from collections.abc import Iterable, Sequence

from sigla import records
from sigla.changes import ImportedVersion
from sigla.keys import utf16
from sigla.model import DEFAULT_CONTEXT, Row, SchemaId, Subject, Version
from sigla.stores.sqlite import rows


def make_subject(db: sqlite3.Connection, subject: Subject) -> int:
    """The subject's number; a subject never heard of gets a head of zeros."""
    found = rows.subject_number(db, subject)
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


def stored(db: sqlite3.Connection, number: int, versions: Iterable[Version]) -> bool:
    """Whether any of these versions is."""
    found = (
        db.execute("SELECT 1 FROM version WHERE subject = ? AND version = ?", (number, version)) for version in versions
    )
    return any(each.fetchone() for each in found)


def bump(db: sqlite3.Connection, number: int, nonce: str, *, generations: int = 0) -> None:
    """The head after a commit, once the subject's versions are as they shall be."""
    db.execute(
        "UPDATE subject SET revision = revision + 1, nonce = ?, generation = generation + ?,"
        " highest = COALESCE((SELECT max(version) FROM version WHERE subject = num), 0),"
        " newest = (SELECT max(version) FROM version WHERE subject = num AND deleted = 0) WHERE num = ?",
        (nonce, generations, number),
    )


def insert(db: sqlite3.Connection, number: int, subject: Subject, versions: Sequence[ImportedVersion]) -> None:
    """Writes what one commit brings; the places must be free."""
    for each in versions:
        row = each.row
        columns = (number, row.version, subject.context, row.id, row.guid, row.type)
        life = (row.deleted, row.ts, row.revision, rows.subject_key(subject))
        db.execute(
            "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*columns, records.references_text(row.references), *life),
        )
        know(db, subject.context, row)
        db.execute("DELETE FROM displaced WHERE context = ? AND id = ?", (subject.context, row.id))
        db.executemany(
            "INSERT OR IGNORE INTO digest VALUES (?, ?, ?)", [(number, digest, row.version) for digest in each.digests]
        )
    _refer(db, number, subject.context, versions)


def know(db: sqlite3.Connection, context: str, row: Row) -> None:
    """From now on the content is known by this id."""
    db.execute(
        "UPDATE content SET latest = FALSE WHERE guid = ? AND context = ? AND latest AND id <> ?",
        (row.guid, context, row.id),
    )
    db.execute(
        "INSERT INTO content VALUES (?, ?, ?, FALSE, TRUE) ON CONFLICT DO UPDATE SET latest = TRUE",
        (row.guid, context, row.id),
    )


def _refer(db: sqlite3.Connection, number: int, context: str, versions: Iterable[ImportedVersion]) -> None:
    """Writes who is referenced, and lets each of these subjects know once, the own one included."""
    order = b"" if context == DEFAULT_CONTEXT else utf16(context)
    told: set[int] = set()
    for each in versions:
        row = each.row
        targets = [
            (make_subject(db, Subject(target.context, target.subject)), target.version) for target in each.targets
        ]
        db.executemany(
            "INSERT OR IGNORE INTO reference VALUES (?, ?, ?, ?, ?, ?)",
            [(target, order, row.id, number, row.version, version) for target, version in targets],
        )
        told.update(target for target, _ in targets)
    db.executemany("UPDATE subject SET referred = referred + 1 WHERE num = ?", [(each,) for each in told])


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


def displace(db: sqlite3.Connection, number: int, context: str, row: Row) -> None:
    """The id of a version that is written over goes on meaning what it did, as long as something stands there."""
    columns = (context, row.id, number, row.version, row.ts, row.revision)
    db.execute("INSERT OR REPLACE INTO displaced VALUES (?, ?, ?, ?, ?, ?)", columns)


def displaced_from(db: sqlite3.Connection, number: int, versions: Iterable[Version]) -> set[SchemaId]:
    """The ids that were displaced from these places."""
    found = [
        db.execute("SELECT id FROM displaced WHERE subject = ? AND version = ?", (number, version)).fetchall()
        for version in versions
    ]
    return {id for ids in found for (id,) in ids}
