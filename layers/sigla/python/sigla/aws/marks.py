"""Whose a table and a bucket are: a row and an object of each registry, which a person writes and no function may."""

from typing import Any

import orjson

from sigla import keys
from sigla.aws.actions import equals, update
from sigla.aws.objects import Objects
from sigla.aws.table import Cancelled, Table
from sigla.errors import StoreError
from sigla.ports import Clock


class TableMark:
    """A `ports.Mark`. client: a low-level DynamoDB client."""

    kind = "table"

    def __init__(self, client: Any, table: str, clock: Clock, *, registry: str = "default") -> None:
        self.name = table
        self._table = Table(client, table, clock)
        self._key = keys.identity_pk(registry), keys.IDENTITY

    def read(self) -> str:
        item = self._table.get(self._key)
        return str(item["identity"]) if item else ""

    def write(self, identity: str, seen: str) -> bool:
        try:
            self._table.update(update(self._key, {"identity": identity}, when=equals(identity=seen or None)))
        except Cancelled:
            return False
        return True


class BucketMark:
    """A `ports.Mark`."""

    kind = "bucket"

    def __init__(self, objects: Objects, bucket: str, *, registry: str = "default") -> None:
        self.name = bucket
        self._objects = objects
        self._object = keys.identity_object(registry)

    def read(self) -> str:
        """Raises StoreError, also where something else stands in its place."""
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

    def _read(self, content: bytes) -> str:
        try:
            return str(orjson.loads(content)["identity"])
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise StoreError(f"{self._object} in the bucket {self.name} holds no identity") from None
