"""Commits of a directory that are not durable yet, as they are handed to the region that follows."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from sigla import journal
from sigla.ports.replaying import Shipment
from sigla.regions.handing import HandedCommits, HandsOver
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
        return self._journal.end() if self._over.may_refuse else None

    def end_step(self, since: int) -> None:
        """Others of the group are not refused for what is known before."""
        brought = self._bringing(since)
        if brought.shipments:
            self._over.check(brought)

    def end_group(self) -> None:
        if self._over.hands and (brought := self._bringing(self._committed())).shipments:
            self._over.hand(brought)

    def _bringing(self, after: int) -> HandedCommits:
        """Commits after this one with ids that no version held before the group, or with keys that did not stand."""
        shipments, keys = list[Shipment](), False
        for at, form in self._journal.forms(after):
            row = journal.row_at(at, partial(orjson.loads, form))
            if row.get("change") in BRINGING:
                new = self._with_new_ids(shipment(at, form, row, self._bodies))
                shipments += [new] if new.bodies else []
            elif row.get("change") in OF_KEYS and self._has_new_keys(row):
                shipments.append(Shipment(at, form, {}))
                keys = True
        return HandedCommits(shipments, keys)

    def _has_new_keys(self, row: Mapping[str, Any]) -> bool:
        stand = partial(is_stored, self._unit.committed)
        return any(entry["value"] is not None and not stand(entry["key"]) for entry in row["entries"])

    def _with_new_ids(self, told: Shipment) -> Shipment:
        held = partial(is_held, self._unit.committed)
        return told._replace(bodies={key: body for key, body in told.bodies.items() if not held(key.context, key.id)})

    def _committed(self) -> int:
        (position,) = self._unit.committed.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()
        return int(position)
