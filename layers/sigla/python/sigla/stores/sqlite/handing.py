"""Commits of a directory that are not durable yet, as they are handed to the region that follows."""

from collections.abc import Sequence
from functools import partial

import orjson

from sigla import journal
from sigla.ports.replaying import Shipment
from sigla.regions.handing import HandsOver
from sigla.regions.shipping import BRINGING, shipment
from sigla.stores.sqlite.bodies import EmbeddedBodies
from sigla.stores.sqlite.journal import EmbeddedJournal
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
        return self._journal.end() if self._over.refuses else None

    def end_step(self, since: int) -> None:
        """Others of the group are not refused for what is known before."""
        if self._bringing(since):
            self._over.check()

    def end_group(self) -> None:
        if self._over.hands and (shipments := self._bringing(self._committed())):
            self._over.hand(shipments)

    def _bringing(self, after: int) -> Sequence[Shipment]:
        """Commits after this one with ids that no version held before the group."""
        rows = ((at, form, journal.row_at(at, partial(orjson.loads, form))) for at, form in self._journal.forms(after))
        told = (shipment(at, form, row, self._bodies) for at, form, row in rows if row.get("change") in BRINGING)
        return [new for each in told if (new := self._with_new_ids(each)).bodies]

    def _with_new_ids(self, told: Shipment) -> Shipment:
        held = partial(is_held, self._unit.committed)
        return told._replace(bodies={key: body for key, body in told.bodies.items() if not held(key.context, key.id)})

    def _committed(self) -> int:
        (position,) = self._unit.committed.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()
        return int(position)
