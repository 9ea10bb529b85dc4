"""Whose a table and a bucket are: a row and an object of each registry, which a person writes and no function may."""

from typing import Any

import orjson

from sigla import keys
from sigla.errors import GARBLED
from sigla.ports.clock import Clock
from sigla.settings import is_identity
from sigla.stores.dynamodb.actions import equals, update
from sigla.stores.dynamodb.table import Cancelled, Table
from sigla.stores.s3.objects import Objects


class TableMark:
    """A `ports.Mark`. client: a low-level DynamoDB client."""

    kind = "table"

    def __init__(self, client: Any, table: str, clock: Clock, *, registry: str = "default") -> None:
        self.name = table
        self._table = Table(client, table, clock)
        self._key = keys.identity_pk(registry), keys.IDENTITY

    def read(self) -> str:
        item = self._table.get(self._key)
        return _identity(item.get("identity")) if item else ""

    def write(self, identity: str, seen: str) -> bool:
        stands = self._garbled() if seen == GARBLED else seen or None
        try:
            self._table.update(update(self._key, {"identity": identity}, when=equals(identity=stands)))
        except Cancelled:
            return False
        return True

    def _garbled(self) -> Any:
        """What stands there as it is; GARBLED, which nothing is equal to, where it is an identity by now."""
        found = (self._table.get(self._key) or {}).get("identity")
        return found if _identity(found) == GARBLED else GARBLED


class BucketMark:
    """A `ports.Mark`."""

    kind = "bucket"

    def __init__(self, objects: Objects, bucket: str, *, registry: str = "default") -> None:
        self.name = bucket
        self._objects = objects
        self._object = keys.identity_object(registry)

    def read(self) -> str:
        stored = self._objects.read(self._object)
        return self._read(stored.content) if stored else ""

    def write(self, identity: str, seen: str) -> bool:
        content = orjson.dumps({"identity": identity})
        if not seen:
            return self._objects.create(self._object, content)
        stored = self._objects.read(self._object)
        if stored is None or self._read(stored.content) != seen:
            return False
        return self._objects.replace(self._object, content, stored)

    @staticmethod
    def _read(content: bytes) -> str:
        try:
            return _identity(orjson.loads(content)["identity"])
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return GARBLED


def _identity(found: object) -> str:
    return found if isinstance(found, str) and is_identity(found) else GARBLED
