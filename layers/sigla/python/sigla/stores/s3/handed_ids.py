"""Ids that the primary has handed to its other region, in S3: an empty object for each, which is never replaced."""

from sigla import keys
from sigla.model import BodyKey, Guid
from sigla.stores.s3.objects import Objects


class AwsHandedIds:
    """A `ports.HandedIds`."""

    def __init__(self, objects: Objects, *, registry: str = "default") -> None:
        self._objects = objects
        self._registry = registry

    def mark(self, key: BodyKey, guid: Guid, over: str = "") -> None:
        self._objects.create(keys.handed_id_object(self._registry, key, guid, over), b"")

    def is_marked(self, key: BodyKey, guid: Guid, over: str = "") -> bool:
        return self._objects.read(keys.handed_id_object(self._registry, key, guid, over)) is not None
