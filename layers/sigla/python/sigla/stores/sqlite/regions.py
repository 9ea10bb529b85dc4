"""Roles and counters of a directory: a `ports.Region`, and the `Peer` of another one in the same process.

The role is read in the transaction of each commit, which it costs a look at a table with one row, or none.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import orjson

from sigla.errors import Closed, Conflict
from sigla.keys import utf16
from sigla.model import SchemaId
from sigla.regions.nouns import Counter, RegionKind, RegionSeen, Role
from sigla.regions.role_form import form_of_role, role_of_form
from sigla.stores.sqlite import tables
from sigla.stores.sqlite.unit import Reader


class EmbeddedRegion:
    def __init__(self, unit: Reader) -> None:
        self._unit = unit

    def role(self) -> Role | None:
        return role_of(self._unit.connection)

    def met(self) -> Role | None:
        return self.role()

    def set_role(self, seen: Role | None, role: Role) -> bool:
        with self._unit.group():
            db = self._unit.connection
            if role_of(db) != seen:
                return False
            turn = seen.turn if seen else 0
            if seen is None or replace(role, turn=turn) != seen:
                form = orjson.dumps(form_of_role(replace(role, turn=turn + 1))).decode()
                db.execute("INSERT OR REPLACE INTO region VALUES (1, ?, ?)", (turn + 1, form))
                db.execute("UPDATE state SET layout = ?", (tables.LAYOUT_OF_REGIONS,))
                self._unit.touched_role = True
            return True

    def installed(self) -> None:
        """What serves it says what it runs."""

    def kept(self) -> dict[str, int]:
        """None: its source keeps them."""
        return {}

    def look(self, context: str) -> RegionSeen:
        with self._viewed() as db:
            return RegionSeen(role_of(db), counter_of(db, context))

    def counters(self) -> Iterator[tuple[str, Counter]]:
        """Those of all contexts."""
        found = self._unit.connection.execute(f"{_COUNTERS}given OR epoch IS NOT NULL").fetchall()
        return ((context, Counter(*counter)) for context, *counter in found)

    def draw(self, context: str, epoch: int) -> Counter | None:
        with self._unit.group():
            db = self._unit.connection
            counter = counter_of(db, context)
            if counter is None or counter.epoch != epoch or counter.next >= counter.ceiling:
                return None
            counter = counter._replace(next=SchemaId(counter.next + 1))
            _write(db, context, counter)
            return counter

    def set_counter(self, context: str, seen: Counter | None, counter: Counter) -> bool:
        with self._unit.group():
            db = self._unit.connection
            if counter_of(db, context) != seen:
                return False
            _write(db, context, counter)
            return True

    def raise_own(self, context: str, epoch: int, ceiling: SchemaId) -> bool:
        with self._unit.group():
            db = self._unit.connection
            counter = counter_of(db, context)
            if counter is None or counter.epoch != epoch:
                return False
            _write(db, context, counter._replace(ceiling=max(ceiling, counter.ceiling)))
            return True

    def pass_over(self, context: str, epoch: int, to: SchemaId) -> bool:
        with self._unit.group():
            db = self._unit.connection
            counter = counter_of(db, context)
            if counter is None or counter.epoch != epoch or to > counter.ceiling:
                return False
            _write(db, context, counter._replace(next=max(to, counter.next)))
            return True

    def raise_for(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        with self._unit.group():
            role = self.role()
            if role is None or role.kind is RegionKind.JOINING:
                return False
            return self.copy_ceiling(context, epoch, seen, ceiling)

    def copy_ceiling(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        with self._unit.group():
            db = self._unit.connection
            counter = counter_of(db, context)
            if (counter is None) != (seen is None):
                return False
            if counter and seen and (counter.epoch > epoch or counter.ceiling != seen.ceiling):
                return False
            counter = counter or Counter(SchemaId(0), ceiling, epoch, SchemaId(1))
            _write(db, context, counter._replace(ceiling=ceiling, epoch=epoch))
            return True

    @contextmanager
    def _viewed(self) -> Iterator[sqlite3.Connection]:
        """Role and counter of one moment."""
        db = self._unit.connection
        if self._unit.inside:
            yield db
            return
        db.execute("BEGIN")
        try:
            yield db
        finally:
            db.execute("COMMIT")


def role_of(db: sqlite3.Connection) -> Role | None:
    found = db.execute("SELECT role FROM region").fetchone()
    return None if found is None else role_of_form(orjson.loads(found[0]))


def check_open(db: sqlite3.Connection, epoch: int) -> int:
    """Called in the transaction of a commit: the epoch of the role; 0 without one. epoch: that of the change.

    Raises Closed, Conflict.
    """
    role = role_of(db)
    if role is None:
        return 0
    if not role.writes:
        raise Closed
    if epoch and epoch != role.epoch:
        raise Conflict
    return role.epoch


def counter_of(db: sqlite3.Connection, context: str) -> Counter | None:
    """One without a ceiling is that of a registry that had no role: what it has given is all that it may have given."""
    found = db.execute(f"{_COUNTERS}name = ? AND (given OR epoch IS NOT NULL)", (context,)).fetchone()
    return Counter(*found[1:]) if found else None


_COUNTERS = (
    "SELECT name, given, coalesce(ceiling, given), coalesce(epoch, 0), coalesce(first, 1) FROM context"
    " LEFT JOIN ceiling ON context = name WHERE "
)


def _write(db: sqlite3.Connection, context: str, counter: Counter) -> None:
    db.execute(
        "INSERT INTO context VALUES (?, ?, ?, FALSE) ON CONFLICT (name) DO UPDATE SET given = excluded.given",
        (context, utf16(context), counter.next),
    )
    db.execute(
        "INSERT OR REPLACE INTO ceiling VALUES (?, ?, ?, ?)", (context, counter.ceiling, counter.epoch, counter.first)
    )
