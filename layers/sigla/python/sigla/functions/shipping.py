"""What the journal's function tells the other region: each commit, once a segment tells it.

It is the faster way, and not the sure one: who follows compares the journals each minute (`stores.dynamodb.comparing`).
So what fails here is told, and holds up no row; and the same may come twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import orjson

from sigla import keys, observe
from sigla.errors import StoreError
from sigla.functions.journal import rows_inserted
from sigla.functions.lifecycle import Handler
from sigla.observe import Teller
from sigla.ports.bodies import Bodies
from sigla.ports.regions import Region
from sigla.ports.replaying import Shipment
from sigla.regions import shipping
from sigla.regions.nouns import RegionKind
from sigla.regions.shipped import shipped_objects
from sigla.stores.dynamodb.journal import position_at
from sigla.stores.dynamodb.values import unpacked
from sigla.stores.s3.objects import Objects

MOST_BYTES: Final = 4 * 2**20
"""The most of an object with more than one commit: who reads it has little memory."""


class Shipping:
    """A `Handler` of the journal. region: this one; there: the bucket of the other one."""

    def __init__(
        self,
        follow: Handler,
        region: Region,
        bodies: Bodies,
        there: Objects,
        *,
        registry: str,
        tell: Teller = observe.tell,
    ) -> None:
        self._follow = follow
        self._region = region
        self._bodies = bodies
        self._there = there
        self._registry = registry
        self._tell = tell

    def __call__(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """What the journal did. Raises what it raises: then the batch comes again."""
        done = self._follow(event, context)
        try:
            self._ship([row for row in _rows_told(event, self._registry) if "epoch" in row[1]])
        except StoreError as failure:
            request_id = getattr(context, "aws_request_id", "")
            self._tell(observe.failure(failure, request_id=request_id) | {"registry": self._registry})
        return done

    def _ship(self, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
        """Nothing of a registry without a second region, and nothing of what this one was told itself."""
        role = self._region.role() if rows else None
        if role is None or role.kind is not RegionKind.PRIMARY:
            return
        own = [(at, row) for at, row in rows if row["epoch"] == role.epoch]
        for content in shipped_objects(map(self._shipment, own), MOST_BYTES):
            name = keys.shipped_object(self._registry, role.epoch, own[0][0], sha256(content).hexdigest()[:16])
            self._there.create(name, content)

    def _shipment(self, row: tuple[int, Mapping[str, Any]]) -> Shipment:
        at, form = row
        return shipping.shipment(position_at(at, form["nonce"]), orjson.dumps(form), form, self._bodies)


def _rows_told(event: Mapping[str, Any], registry: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Those of the journal that are new, with their times."""
    for item in rows_inserted(event, registry):
        yield keys.journal_at(item["sk"]), unpacked(item["form"])
