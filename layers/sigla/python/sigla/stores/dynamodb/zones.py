"""The directory of zones in the table: a row for each zone, which its heartbeat writes over and over.

z    name, url, healthy, checked, reason, expires
"""

from typing import Any

from sigla import keys
from sigla.ports.clock import Clock
from sigla.ports.zones import Zone
from sigla.stores.dynamodb.actions import Condition, update
from sigla.stores.dynamodb.table import Cancelled, Table
from sigla.stores.dynamodb.values import Item

KEPT_S = 3_600
"""After its last heartbeat; DynamoDB may take two days longer."""


class AwsZones:
    """A `ports.Zones`. client: a low-level DynamoDB client. Raises StoreError where DynamoDB does not answer."""

    def __init__(self, client: Any, table: str, clock: Clock, *, registry: str = "default") -> None:
        self._table = Table(client, table, clock)
        self._pk = keys.zones_pk(registry)

    def beat(self, zone: Zone) -> None:
        row = {
            "name": zone.name,
            "url": zone.url,
            "healthy": zone.healthy,
            "checked": zone.checked,
            "reason": zone.reason,
            "expires": zone.checked // 1000 + KEPT_S,
        }
        not_later = Condition("attribute_not_exists(#checked) OR #checked <= :checked", {"checked": zone.checked})
        try:
            self._table.update(update((self._pk, zone.id), row, when=not_later))
        except Cancelled:  # a heartbeat that began after this one has been faster
            return

    def list(self) -> tuple[Zone, ...]:
        return tuple(map(_zone, self._table.query(self._pk)))


def _zone(row: Item) -> Zone:
    return Zone(row["sk"], row["name"], row["url"], row["healthy"], row["checked"], row["reason"])
