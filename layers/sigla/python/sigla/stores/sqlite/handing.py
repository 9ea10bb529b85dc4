"""Commits of a directory that are not durable yet, as they are handed to the region that follows."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import orjson

from sigla import journal
from sigla.ports.replaying import Shipment
from sigla.regions.handing import HandedCommits, HandsOver
from sigla.regions.refusals import KeyDeletedBefore
from sigla.regions.shipping import BRINGING, OF_KEYS, shipment
from sigla.stores.sqlite.bodies import EmbeddedBodies
from sigla.stores.sqlite.journal import EmbeddedJournal
from sigla.stores.sqlite.keks import is_stored
from sigla.stores.sqlite.rows import is_held
from sigla.stores.sqlite.unit import Reader


class EmbeddedHanding:
    """A `unit.Handing`: nothing is looked at while no region follows."""

    def __init__(self, unit: Reader, journal: EmbeddedJournal, bodies: EmbeddedBodies, over: HandsOver) -> None:
        self._unit = unit
        self._journal = journal
        self._bodies = bodies
        self._over = over

    @property
    def hands(self) -> bool:
        return self._over.hands

    def begin(self) -> int | None:
        return self._journal.end() if self._over.hands else None

    def end_step(self, since: int) -> None:
        """Others of the group are not refused for what is known before."""
        self._check_anew(since)
        if self._over.may_refuse and (brought := self._bringing(since)).shipments:
            self._over.check(brought)

    def end_group(self) -> None:
        if self._over.hands and (brought := self._bringing(self._committed())).shipments:
            self._over.hand(brought)

    def _bringing(self, after: int) -> HandedCommits:
        """Commits after this one with ids that no version held before the group, or with keys that it brings."""
        shipments, keys = list[Shipment](), False
        for at, form, row in self._rows(after):
            if row.get("change") in BRINGING:
                new = self._with_new_ids(shipment(at, form, row, self._bodies))
                shipments += [new] if new.bodies else []
            elif row.get("change") in OF_KEYS and any(map(self._is_brought, row["entries"])):
                shipments.append(Shipment(at, form, {}))
                keys = True
        return HandedCommits(shipments, keys)

    def _is_brought(self, entry: Mapping[str, Any]) -> bool:
        """Whether a key is new, or another one than before: all that becomes of it but deletes."""
        key = entry["value"]
        return key is not None and not (key["deleted"] and is_stored(self._unit.committed, entry["key"]))

    def _check_anew(self, since: int) -> None:
        """A key is not made anew in the group in which it is deleted for good. Raises KeyDeletedBefore.

        The other region might keep the new one of a group that is then refused: it would take the place of one that
        stands here.
        """
        made = [entry["key"] for entry in self._key_entries(since) if entry["value"] is not None]
        if any(is_stored(self._unit.committed, key) for key in made):
            gone = [entry["key"] for entry in self._key_entries(self._committed()) if entry["value"] is None]
            if any(key in gone for key in made):
                raise KeyDeletedBefore(region=self._over.region)

    def _key_entries(self, after: int) -> Iterator[Mapping[str, Any]]:
        for _, _, row in self._rows(after):
            if row.get("change") in OF_KEYS:
                yield from row["entries"]

    def _rows(self, after: int) -> Iterator[tuple[int, bytes, Mapping[str, Any]]]:
        for at, form in self._journal.forms(after):
            yield at, form, journal.row_at(at, partial(orjson.loads, form))

    def _with_new_ids(self, told: Shipment) -> Shipment:
        held = partial(is_held, self._unit.committed)
        return told._replace(bodies={key: body for key, body in told.bodies.items() if not held(key.context, key.id)})

    def _committed(self) -> int:
        (position,) = self._unit.committed.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()
        return int(position)
