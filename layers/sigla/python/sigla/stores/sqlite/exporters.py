"""Exporters in SQLite: the questions to their table, and what a change does to it."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import orjson

from sigla.changes import ExporterChanged
from sigla.errors import Conflict
from sigla.exporters import records
from sigla.exporters.nouns import Exporter, ExporterProgress, ExporterState
from sigla.keys import utf16
from sigla.ports.inventory import MISPLACED, UNFIT, UnreadableRow

# --- questions -------------------------------------------------------------------------------------------------------


def exporter(db: sqlite3.Connection, name: str) -> Exporter | None:
    found = db.execute("SELECT exporter FROM exporter WHERE key = ?", (utf16(name),)).fetchone()
    return found and _exporter(found)


def exporters(db: sqlite3.Connection) -> Iterator[Exporter]:
    return map(_exporter, db.execute("SELECT exporter FROM exporter ORDER BY key").fetchall())


def progress(db: sqlite3.Connection, name: str) -> ExporterProgress | None:
    found = db.execute("SELECT progress FROM exporter WHERE key = ?", (utf16(name),)).fetchone()
    return found and records.progress(orjson.loads(found[0]))


def _exporter(columns: tuple[Any, ...]) -> Exporter:
    return records.exporter(orjson.loads(columns[0]))


def all_rows(db: sqlite3.Connection) -> Iterator[Exporter | UnreadableRow]:
    for row in db.execute("SELECT key, revision, exporter, progress FROM exporter ORDER BY key").fetchall():
        try:
            yield _exporter_in(row)
        except UNFIT:
            yield UnreadableRow(f"exporter {row[0].decode('utf-16-be', 'replace')}")


def _exporter_in(row: tuple[Any, ...]) -> Exporter:
    """Raises one of UNFIT where the row cannot be read, or belongs to another place."""
    *place, form, progress = row
    found = records.exporter(orjson.loads(form))
    records.progress(orjson.loads(progress))
    if [utf16(found.name), found.revision] != place:
        raise ValueError(MISPLACED)
    return found


# --- changes ---------------------------------------------------------------------------------------------------------


def change_exporter(db: sqlite3.Connection, change: ExporterChanged) -> None:
    """Raises Conflict."""
    found = exporter(db, change.name)
    if (change.seen and change.seen.revision) != (found and found.revision):
        raise Conflict
    key = utf16(change.name)
    if change.exporter is None:
        db.execute("DELETE FROM exporter WHERE key = ?", (key,))
        return
    before = progress(db, change.name) or ExporterProgress()
    position = before.position if change.position is None else change.position
    trace = before.trace if change.state is ExporterState.PAUSED else ""
    after = ExporterProgress(change.state, position, change.ts, trace)
    row = (key, change.exporter.revision, _json_text(records.exporter_json(change.exporter)), _progress_text(after))
    db.execute("INSERT OR REPLACE INTO exporter VALUES (?, ?, ?, ?)", row)


def advance(db: sqlite3.Connection, exporter: Exporter, progress: ExporterProgress) -> None:
    """Raises Conflict."""
    asked = "UPDATE exporter SET progress = ? WHERE key = ? AND revision = ?"
    written = db.execute(asked, (_progress_text(progress), utf16(exporter.name), exporter.revision))
    if written.rowcount != 1:
        raise Conflict


def _progress_text(progress: ExporterProgress) -> str:
    return _json_text(records.progress_json(progress))


def _json_text(form: object) -> str:
    return orjson.dumps(form).decode()
