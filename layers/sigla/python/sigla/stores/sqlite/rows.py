"""SQLite's rows ↔ our nouns; the questions that several modules ask."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import orjson

from sigla import records
from sigla.changes import Head
from sigla.keys import utf16
from sigla.model import DEFAULT_CONTEXT, GLOBAL, REGISTRY_WIDE, Chain, Guid, Row, SchemaId, Settings, Subject, Version

ROW = 'v.version, v.id, v.guid, v.type, v."references", v.deleted, v.ts, v.revision'
"""The columns of `row`, in its order."""

SETTINGS = "config, mode, revision"
NO_SETTINGS = Settings()


def row(columns: Sequence[Any]) -> Row:
    version, id, guid, type, references, deleted, ts, revision = columns
    return Row(version, id, guid, type, records.references(references), bool(deleted), ts, revision)


def settings(columns: Sequence[Any]) -> Settings:
    config, mode, revision = columns
    return Settings(records.config(orjson.loads(config)) if config else None, mode, revision)


def subject_key(subject: Subject) -> bytes:
    return utf16(subject.qualified)


def registered(of: str, key: bytes, context: str, name: str) -> Subject:
    """The subject whose version has the context `of`.

    That of its row, unless an earlier release let two names share the row (`second_names`).
    """
    if of == context:
        return Subject(context, name)
    text = key.decode("utf-16-be", "surrogatepass")
    return Subject(of, text if of == DEFAULT_CONTEXT else text.removeprefix(f":{of}:"))


def subject_number(db: sqlite3.Connection, subject: Subject) -> int | None:
    """The subject's number in the tables; None if it was never heard of."""
    found = db.execute("SELECT num FROM subject WHERE key = ?", (subject_key(subject),)).fetchone()
    return found[0] if found else None


def head(db: sqlite3.Connection, subject: Subject) -> Head:
    found = db.execute(
        "SELECT s.revision, s.referred, s.generation, s.highest, s.nonce, s.newest,"
        " (SELECT count(*) FROM association a WHERE a.subject = s.num),"
        f" EXISTS (SELECT 1 FROM association a WHERE a.subject = s.num AND a.strong), {ROW}"
        " FROM subject s LEFT JOIN version v ON v.subject = s.num AND v.version = s.newest WHERE s.key = ?",
        (subject_key(subject),),
    ).fetchone()
    if found is None:
        return Head(subject)
    revision, referred, generation, highest, nonce, newest, associations, strong, *columns = found
    newest_row = row(columns) if newest else None
    return Head(subject, revision, referred, generation, highest, newest_row, nonce, associations, bool(strong))


def stored(db: sqlite3.Connection, subject: Subject, version: Version) -> Row | None:
    found = db.execute(
        f"SELECT {ROW} FROM subject s JOIN version v ON v.subject = s.num WHERE s.key = ? AND v.version = ?",
        (subject_key(subject), version),
    ).fetchone()
    return row(found) if found else None


def settings_of(db: sqlite3.Connection, scope: Subject) -> Settings:
    found = db.execute(f"SELECT {SETTINGS} FROM settings WHERE key = ?", (subject_key(scope),)).fetchone()
    return settings(found) if found else NO_SETTINGS


def chain(db: sqlite3.Connection, subject: Subject) -> Chain:
    scopes = [subject, Subject(subject.context, ""), GLOBAL, REGISTRY_WIDE]
    wanted = [subject_key(scope) for scope in scopes]
    found = db.execute(f"SELECT key, {SETTINGS} FROM settings WHERE key IN (?, ?, ?, ?)", wanted)
    entries = {key: settings(columns) for key, *columns in found}
    return Chain(*(entries.get(key, NO_SETTINGS) for key in wanted))


def id_of(db: sqlite3.Connection, context: str, guid: Guid) -> SchemaId | None:
    found = db.execute(
        "SELECT c.id FROM content c WHERE c.guid = ? AND c.context = ?"
        " AND (EXISTS (SELECT 1 FROM version v WHERE v.context = c.context AND v.id = c.id)"
        " OR EXISTS (SELECT 1 FROM displaced d WHERE d.context = c.context AND d.id = c.id))"
        " ORDER BY c.latest DESC, c.id DESC LIMIT 1",
        (guid, context),
    ).fetchone()
    return found[0] if found else None


def is_held(db: sqlite3.Connection, context: str, id: SchemaId) -> bool:
    return (
        db.execute("SELECT 1 FROM version WHERE context = ? AND id = ? LIMIT 1", (context, id)).fetchone() is not None
    )
