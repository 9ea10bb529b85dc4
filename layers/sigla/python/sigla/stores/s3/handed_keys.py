"""Commits of keys that a primary hands to its other region, in S3: an object for each, which is never replaced.

One that ends a list says so: {"form": 1, "ends": true}. The others are commits as `regions.shipped` has them.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import unquote

import orjson

from sigla import keys
from sigla.forms import FORM, SHIPPED_LINE
from sigla.ports.handed_keys import HandedUnread
from sigla.ports.inventory import UNFIT
from sigla.ports.replaying import Shipment
from sigla.regions.shipped import shipment_form, shipment_of
from sigla.stores.s3.objects import Objects

_ENDS: Final = "ends"
_END: Final = orjson.dumps({FORM: SHIPPED_LINE, _ENDS: True})


class AwsHandedKeys:
    """A `ports.HandedKeys`."""

    def __init__(self, objects: Objects, *, registry: str = "default") -> None:
        self._objects = objects
        self._registry = registry

    def put(self, epoch: int, kek: str, number: int, handed: Shipment | None) -> bool:
        name = keys.handed_object(self._registry, epoch, kek, number)
        content = _END if handed is None else orjson.dumps(shipment_form(handed))
        return self._objects.create(name, content)

    def read(self, epoch: int, kek: str, number: int) -> Shipment | None:
        name = keys.handed_object(self._registry, epoch, kek, number)
        stored = self._objects.read(name)
        if stored is None:
            raise HandedUnread(f"{name} was told to be in the bucket, and is not there")
        try:
            form = orjson.loads(stored.content)
            return None if form.get(_ENDS) else shipment_of(form, name)
        except UNFIT as damaged:
            raise HandedUnread(f"{name} cannot be read: {damaged}") from damaged

    def after(self, epoch: int, kek: str, number: int) -> Sequence[int]:
        prefix = keys.handed_kek_prefix(self._registry, epoch, kek)
        names = self._objects.names(prefix, after=keys.handed_object(self._registry, epoch, kek, number))
        return [int(name.removeprefix(prefix).removesuffix(".json")) for name in names]

    def keks(self, epoch: int) -> Iterator[str]:
        """Asks once for each: it leaps over their lists."""
        prefix = after = keys.handed_prefix(self._registry, epoch)
        while found := self._objects.page(prefix, after=after, most=1).names:
            component = found[0].removeprefix(prefix).partition("/")[0]
            yield unquote(component)
            after = f"{prefix}{component}0"  # the next character after the slash
