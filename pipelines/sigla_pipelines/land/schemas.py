"""Ids and GUIDs → what wrote a record: from bodies alone, each read once."""

from dataclasses import dataclass, field
from uuid import UUID

from sigla.decoding.decoder import Source, Unreadable
from sigla.decoding.reasons import Reason
from sigla.decoding.sources import source
from sigla.errors import BodyDamaged, BodyMissing
from sigla.model import BodyKey, Guid, SchemaId
from sigla.ports.bodies import Bodies
from sigla_pipelines.land.decoders.notes import PathTags


@dataclass(frozen=True, slots=True)
class Known:
    """A schema as its id means it. tags: of its metadata, by the paths of fields."""

    key: BodyKey
    guid: str
    source: Source
    tags: PathTags = field(default_factory=dict)


class Schemas:
    """What ids mean never changes, so what was found is kept; what was not is asked again in the next batch.

    A store that does not answer raises StoreError: its silence does not make an id unknown.
    """

    def __init__(self, bodies: Bodies, context: str) -> None:
        self._bodies = bodies
        self._context = context
        self._ids: dict[int, Known | Unreadable] = {}
        self._guids: dict[UUID, Known | Unreadable] = {}
        self._absent: set[int | UUID] = set()

    def by_id(self, id: int) -> Known:
        """Raises Unreadable: UNKNOWN_ID, BAD_SCHEMA."""
        if id not in self._ids:
            if id in self._absent:
                raise _unknown_id(id)
            try:
                self._ids[id] = self._read(BodyKey(self._context, SchemaId(id)))
            except BodyMissing:
                self._absent.add(id)
                raise _unknown_id(id) from None
            except BodyDamaged as damaged:  # it may be restored by the next batch
                self._absent.add(id)
                self._ids[id] = _bad(damaged)
            except Unreadable as unreadable:
                self._ids[id] = unreadable
        return _known(self._ids[id])

    def by_guid(self, guid: UUID) -> Known:
        """One of the ids that the content has: one of the landed context, if there is one.

        Raises Unreadable: UNKNOWN_GUID, BAD_SCHEMA.
        """
        if guid not in self._guids:
            named = () if guid in self._absent else self._bodies.named(Guid(str(guid)))
            if not named:
                self._absent.add(guid)
                raise _unknown_guid(guid)
            here = [key for key in named if key.context == self._context]
            if not here:  # it is read as what it is elsewhere, for this batch
                self._absent.add(guid)
            try:
                self._guids[guid] = self._read((here or named)[0])
            except BodyMissing:
                self._absent.add(guid)
                raise _unknown_guid(guid) from None
            except BodyDamaged as damaged:
                self._absent.add(guid)
                self._guids[guid] = _bad(damaged)
            except Unreadable as unreadable:
                self._guids[guid] = unreadable
        return _known(self._guids[guid])

    def forget_absent(self) -> None:
        """A schema may have been registered since, or one of another context here."""
        self._ids = {id: found for id, found in self._ids.items() if id not in self._absent}
        self._guids = {guid: found for guid, found in self._guids.items() if guid not in self._absent}
        self._absent.clear()

    def _read(self, key: BodyKey) -> Known:
        body = self._bodies.get(key)
        metadata = body.schema.metadata
        return Known(key, body.guid, source(body, self._bodies.get), metadata.tags if metadata else {})


def _known(found: Known | Unreadable) -> Known:
    if isinstance(found, Unreadable):
        # Anew: a kept exception would keep the trace of everybody who met it.
        raise Unreadable(found.reason, found.detail)
    return found


def _unknown_id(id: int) -> Unreadable:
    return Unreadable(Reason.UNKNOWN_ID, f"no schema has the id {id}")


def _unknown_guid(guid: UUID) -> Unreadable:
    return Unreadable(Reason.UNKNOWN_GUID, f"no schema has the GUID {guid}")


def _bad(damaged: BodyDamaged) -> Unreadable:
    return Unreadable(Reason.BAD_SCHEMA, str(damaged))
