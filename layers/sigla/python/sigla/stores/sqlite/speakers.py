"""Who speaks for an id, remembered until a commit touches it: the question of every read by id."""

import sqlite3
from dataclasses import replace

from sigla.bounded import BoundedMemory
from sigla.model import BodyKey, Holder
from sigla.stores.sqlite import rows
from sigla.stores.sqlite.unit import Writer

REMEMBERED = 20_000
"""Ids; beyond it the first remembered goes first. A few hundred bytes each."""

HOLDER = (
    "v.context, v.holder, s.context, s.name, v.version, v.deleted, v.ts, v.revision"
    " FROM version v JOIN subject s ON s.num = v.subject"
)
"""What `holder` reads."""


def holder(columns: tuple[str, bytes, str, str, int, int, int, int]) -> Holder:
    of, key, context, name, version, deleted, ts, revision = columns
    return Holder(rows.registered(of, key, context, name), version, bool(deleted), ts, revision)  # type: ignore[arg-type]  # as stored


class Speakers:
    """Answers without a lock while nothing changed; asks the catalog else."""

    def __init__(self, unit: Writer, *, remembered: int = REMEMBERED) -> None:
        self._unit = unit
        self._known: BoundedMemory[BodyKey, Holder] = BoundedMemory(remembered)
        unit.flushed.append(self._forget)

    def of(self, key: BodyKey) -> Holder | None:
        """The same object as long as nothing changed and the answer is remembered."""
        if self._unit.inside and key in self._unit.touched:
            return ask(self._unit.connection, key)
        return self._known.get(key) or self._learn(key)

    def _learn(self, key: BodyKey) -> Holder | None:
        seen = self._known.changes
        found = ask(self._unit.connection, key)
        with self._known.lock:
            # An answer from before a commit must not be remembered after it.
            if not found or seen != self._known.changes:
                return found
            if standing := self._known.get(key):
                return standing
            self._known.keep(key, found)
            return found

    def _forget(self, touched: set[BodyKey], _: set[BodyKey]) -> None:
        if touched:
            self._known.forget(touched)


def ask(db: sqlite3.Connection, key: BodyKey) -> Holder | None:
    """In the order of the index `version_by_id`; only versions of one import are left to be told apart."""
    found = db.execute(
        f"SELECT {HOLDER} WHERE v.context = ? AND v.id = ?"
        " ORDER BY v.deleted, v.holder, v.revision DESC, v.version DESC LIMIT 1",
        (key.context, key.id),
    ).fetchone()
    if found:
        return holder(found)
    last = displaced(db, key)
    return last and replace(last, deleted=False)


def displaced(db: sqlite3.Connection, key: BodyKey) -> Holder | None:
    """The version that was the last to hold the id, if an import wrote another one over it that is still stored."""
    found = db.execute(
        "SELECT v.context, v.holder, s.context, s.name, d.version, v.deleted, d.ts, d.revision FROM displaced d"
        " JOIN version v ON v.subject = d.subject AND v.version = d.version JOIN subject s ON s.num = d.subject"
        " WHERE d.context = ? AND d.id = ?",
        (key.context, key.id),
    ).fetchone()
    return replace(holder(found), displaced=True) if found else None
