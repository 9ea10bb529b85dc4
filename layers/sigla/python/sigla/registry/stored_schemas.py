"""What an id or a GUID means to whoever explains a record, from a registry's stores."""

from uuid import UUID

from sigla.decoding.explain import Named
from sigla.decoding.sources import source
from sigla.errors import BodyMissing
from sigla.model import BodyKey, Guid
from sigla.ports.bodies import Bodies
from sigla.ports.ids import Ids


class StoredSchemas:
    """A `decoding.explain.Schemas`. catalog: None where only the bodies are at hand."""

    def __init__(self, bodies: Bodies, catalog: Ids | None) -> None:
        self.bodies = bodies
        self.catalog = catalog

    def by_id(self, key: BodyKey) -> Named | None:
        try:
            body = self.bodies.get(key)
        except BodyMissing:
            if self.catalog and self.catalog.speaker(key):
                raise
            return None
        speaker = self.catalog.speaker(key) if self.catalog else None
        of = source(body, self.bodies.get)
        if speaker is None:
            return Named(key, body.guid, str(body.subject), body.version, None, of)
        return Named(key, body.guid, str(speaker.subject), speaker.version, speaker.deleted, of)

    def by_guid(self, guid: UUID, context: str) -> Named | None:
        keys = self.bodies.named(Guid(str(guid)))
        here = [key for key in keys if key.context == context]
        return self.by_id((here or list(keys))[0]) if keys else None
