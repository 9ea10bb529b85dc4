"""A directory that follows another one: the same commits, in the same order, so that both have the same tables.

The journal here is that of the source, row by row and byte by byte. So it tells how far this directory has come, where
to go on after a crash, and whether a row was met before. A commit is executed from its change, on what stands here, and
what comes of that is compared with what its row says: a directory that has come to something else does not go on.

Not the same are what each side has for itself: numbers of ids that were drawn and not used (`context.given`), how far
exporters have come, the names behind tokens, and the number of the last group of files (`state`).
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import orjson

from sigla import journal
from sigla.changes import Change, ExporterChanged, IdBuried, NumberingSet
from sigla.errors import Closed, Conflict, StoreError, Taken
from sigla.model import Body, BodyKey, SchemaId
from sigla.ports.replaying import Shipment
from sigla.regions import shipping
from sigla.regions.replay import JournalPlace, Verdict, verdict_in_order
from sigla.regions.shipping import BodyDiverged
from sigla.stores.sqlite import changes
from sigla.stores.sqlite.bodies import EmbeddedBodies
from sigla.stores.sqlite.catalog import EmbeddedCatalog
from sigla.stores.sqlite.changes import ChangeOutcome
from sigla.stores.sqlite.handed_keys import HandedKeys
from sigla.stores.sqlite.journal import EmbeddedJournal, append_form, hash_of, hash_of_last
from sigla.stores.sqlite.unit import Reader


class _Diverged(Exception):
    """What stands here is not what the commit was made on: nothing of it stays."""


class _NotYet(Exception):
    """What stands here may be deleted by a commit that comes first."""


class EmbeddedShipper:
    """A `ports.Shipper`."""

    def __init__(self, journal: EmbeddedJournal, bodies: EmbeddedBodies) -> None:
        self._journal = journal
        self._bodies = bodies

    def shipments(self, after: int = 0) -> Iterator[Shipment]:
        for position, form in self._journal.forms(after):
            row = journal.row_at(position, partial(orjson.loads, form))
            yield shipping.shipment(position, form, row, self._bodies)


class EmbeddedReplayer:
    """A `ports.Replayer` of another directory.

    allowed: asked before each commit, in its transaction; raises where this directory follows no longer.
    """

    def __init__(self, unit: Reader, bodies: EmbeddedBodies, allowed: Callable[[], None], handed: HandedKeys) -> None:
        self._handed = handed
        self._unit = unit
        self._catalog = EmbeddedCatalog(unit)
        self._bodies = bodies
        self._allowed = allowed

    def end(self) -> int:
        return _end(self._unit.connection).position

    def carry_out(self, shipment: Shipment) -> Verdict:
        with suppress(_Diverged), self._unit.step():
            self._allowed()
            db, told = self._unit.connection, JournalPlace(shipment.position, hash_of(shipment.form))
            row = journal.row_at(shipment.position, partial(orjson.loads, shipment.form))
            verdict = verdict_in_order(told, row.get("before", ""), _end(db), _hash_at(db, shipment.position))
            if verdict is Verdict.CARRY_OUT:
                self._execute(db, row, shipment)
            return verdict
        return Verdict.DIVERGES

    def keep(self, shipments: Sequence[Shipment]) -> bool | None:
        try:
            begin = min(each.position for each in shipments)
            self._handed.keep([each for each in shipments if not each.bodies], end=self.end(), begin=begin)
        except OSError as failure:
            raise StoreError(f"keys could not be kept: {failure}") from failure
        is_next = self.end() + 1 >= begin
        try:
            with self._unit.step():
                self._allowed()
                for key, body in chain.from_iterable(each.bodies.items() for each in shipments):
                    self._keep(key, body, is_next=is_next)
        except _Diverged:
            return False
        except _NotYet:
            return None
        return True

    def _keep(self, key: BodyKey, told: Body, *, is_next: bool) -> None:
        """What no version holds at the primary is gone here, or will be by a commit that comes first.

        There it is gone until the commit is made that brings it back.
        """
        meant = replace(told, gone=False)
        try:
            self._bodies.put(key, meant)
            standing = self._bodies.get(key)
        except Taken as taken:
            standing = taken.standing
        is_other = standing.schema != told.schema
        if standing.gone:
            if is_other:
                self._bodies.mend(key, meant, standing)
            else:
                self._bodies.revive(key, meant)
        elif not is_next and (is_other or told.gone):
            raise _NotYet
        elif is_other:
            raise _Diverged

    def _execute(self, db: sqlite3.Connection, row: Mapping[str, Any], shipment: Shipment) -> None:
        change = journal.change_of(row, self._catalog)
        try:
            for key in sorted(change.ids):
                shipping.bring(self._bodies, key, shipment.bodies.get(key), held=not isinstance(change, IdBuried))
            outcome = ChangeOutcome() if isinstance(change, NumberingSet) else changes.apply(db, change)
        except (Conflict, BodyDiverged):
            raise _Diverged from None
        if not _is_same(row, change, outcome):
            raise _Diverged
        append_form(db, shipment.form, row)
        self._number(change)
        for key in outcome.buried:
            self._bodies.bury(key)
        self._unit.touched |= outcome.touched
        self._unit.touched_exporters |= isinstance(change, ExporterChanged)

    def _number(self, change: Change) -> None:
        """No id that the source has given is given here one day; where there are roles, ceilings see to that."""
        reached = {key.context: SchemaId(max(key.id, 1)) for key in sorted(change.ids)}
        if isinstance(change, NumberingSet):
            reached[change.context] = change.after
        with suppress(Closed):
            for context, id in reached.items():
                self._catalog.raise_counter(context, id)


def _is_same(row: Mapping[str, Any], change: Change, outcome: ChangeOutcome) -> bool:
    """Whether the commit has found here what it found there."""
    origin = journal.origin_of(row)
    origin["commit"] = journal.commit_form(change, outcome.effects)
    same: bool = orjson.loads(orjson.dumps(journal.row(change, outcome.effects, origin))) == row
    return same


def _end(db: sqlite3.Connection) -> JournalPlace:
    (position,) = db.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()
    return JournalPlace(position, hash_of_last(db))


def _hash_at(db: sqlite3.Connection, position: int) -> str:
    found = db.execute("SELECT form FROM journal WHERE position = ?", (position,)).fetchone()
    return hash_of(found[0]) if found else ""
