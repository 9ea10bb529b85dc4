"""What a record of Kafka says, byte by byte, as far as it can be read (DECODE-1 to DECODE-5)."""

from contextlib import suppress
from typing import Final
from uuid import UUID

from sigla.decoding.explain import Asked, Explained, Given, LibraryMissing, Named, explained
from sigla.decoding.sources import source
from sigla.errors import SchemaNamedNotFound
from sigla.model import DEFAULT_CONTEXT, BodyKey, Guid
from sigla.regions.refusals import MayBeElsewhere
from sigla.registry.lookup import meaning
from sigla.registry.resources import Resources

MOST_BYTES: Final = 2**20


def explain_part(
    resources: Resources, part: bytes, *, context: str = DEFAULT_CONTEXT, id: int | None = None
) -> Explained:
    """part: a value or a key, with its frame, or with `id` without one. The caller's own schemas are looked at alone.

    Raises BodyLost, StoreError.
    """
    try:
        return explained(Asked(Given(part), "value", id, None, context), _SeenSchemas(resources))
    except LibraryMissing as missing:
        return Explained(part, failure={"reason": "LIBRARY_MISSING", "detail": f"{missing}", "at": None})


class _SeenSchemas:
    """A `decoding.explain.Schemas` of what the caller may read."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def by_id(self, key: BodyKey) -> Named | None:
        try:
            body, holder = meaning(self._resources, key)
        except SchemaNamedNotFound:
            return None
        of = source(body, self._resources.bodies.get)
        return Named(key, body.guid, str(holder.subject), holder.version, holder.deleted, of)

    def by_guid(self, guid: UUID, context: str) -> Named | None:
        keys = self._resources.bodies.named(Guid(str(guid)))
        ordered = sorted(keys, key=lambda key: key.context != context)
        found = next((found for key in ordered if (found := self._known(key)) is not None), None)
        if found is None:
            self._resources.catalog.check_absent(None)
        return found

    def _known(self, key: BodyKey) -> Named | None:
        with suppress(MayBeElsewhere):
            return self.by_id(key)
        return None
