"""What can be found out of a record, step by step, as far as it comes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from sigla.decoding.decoder import DecodeFailed, RecordLanguage, Source, Unreadable, record_language
from sigla.decoding.frames import BY_ID, GUID_END, ID_END, KEY_HEADER, VALUE_HEADER, Frame, Tombstone, Unframed, frame
from sigla.decoding.reasons import Reason
from sigla.languages import MODULES
from sigla.model import BodyKey, SchemaId


class NotFramed(DecodeFailed):
    """The frame cannot be read. at: the byte of the whole part."""


class LibraryMissing(Exception):
    """A language is read by a library that is not installed; the message is a sentence without its end."""


HEADERS = {"value": VALUE_HEADER, "key": KEY_HEADER}


@dataclass(frozen=True, slots=True)
class Given:
    """A part of a record, its value or its key; None for a null."""

    part: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """A schema and who uses it. deleted: None where it is unknown."""

    key: BodyKey
    guid: str
    subject: str
    version: int
    deleted: bool | None
    source: Source


class Schemas(Protocol):
    def by_id(self, key: BodyKey) -> Named | None:
        """None if there is no such schema.

        Raises Unreadable, and BodyLost if the id exists and its body cannot be read.
        """
        ...

    def by_guid(self, guid: UUID, context: str) -> Named | None:
        """As above; of the context, if it has it."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """part: `value` or `key`. id: of a payload that has no frame. reader: the id that it is read as."""

    given: Given
    part: str
    id: int | None
    reader: int | None
    context: str


@dataclass(slots=True)
class Explained:
    """What was found out, in the order in which it was. None and () for what was not reached, or is not there."""

    payload: bytes | None = None
    frame: dict[str, Any] | None = None
    schema: dict[str, Any] | None = None
    reader: dict[str, Any] | None = None
    plan: Sequence[Any] = ()
    value: Any = None
    failure: dict[str, Any] | None = None
    in_frame: bool = False
    """Whether it is the frame that failed: its byte is one of the whole part then, else one of the payload."""


def explained(asked: Asked, schemas: Schemas) -> Explained:
    """Raises LibraryMissing, and what the schemas raise."""
    found = Explained()
    try:
        _explain(found, asked, schemas)
    except Unreadable as unreadable:
        found.failure = {"reason": unreadable.reason.value, "detail": unreadable.detail, "at": None}
    except DecodeFailed as failed:
        found.failure = {"reason": failed.reason.value, "detail": failed.detail, "at": failed.at}
        found.in_frame = isinstance(failed, NotFramed)
    return found


def _explain(found: Explained, asked: Asked, schemas: Schemas) -> None:
    """Fills in what is found out. Raises Unreadable, DecodeFailed, LibraryMissing."""
    part = asked.given.part
    if part is None:
        found.frame = {"tombstone": True}
        return
    found.payload = part
    seen = _framed(asked, part, indexed=False)
    found.frame = _frame_told(seen)
    writer = _schema(schemas, seen.schema, asked.context)
    found.schema = _schema_told(writer)
    if writer.source.type == "PROTOBUF":
        if asked.id is None:
            seen = _framed(asked, part, indexed=True)
            found.frame = _frame_told(seen)
        found.frame["message"] = _language(writer.source).record_name(writer.source, seen.indexes)
    found.payload = seen.payload
    reader = _schema(schemas, asked.reader, asked.context) if asked.reader is not None else None
    if reader:
        found.reader = _schema_told(reader)
        found.plan = _plan(writer.source, reader.source)
    found.value = _decoded(writer.source, reader.source if reader else None, seen)


def _framed(asked: Asked, part: bytes, *, indexed: bool) -> Frame:
    """Raises NotFramed."""
    if asked.id is not None:
        return Frame(asked.id, (), part)
    headers, header = asked.given.headers, HEADERS[asked.part]
    seen = frame(part, headers, header=header, indexed=indexed)
    if isinstance(seen, Unframed):
        in_front = all(name != header or value is None for name, value in headers)
        raise NotFramed(seen.reason, seen.detail, _failing_byte(seen.reason, part) if in_front else None)
    assert not isinstance(seen, Tombstone)  # noqa: S101 - a null alone is one
    return seen


def _failing_byte(reason: Reason, part: bytes) -> int:
    """The place of the byte that is to blame, in a part that begins with its frame."""
    if reason is not Reason.BAD_MSG_INDEX:
        return 0
    return ID_END if part[0] == BY_ID else GUID_END


def _schema(schemas: Schemas, wanted: int | UUID, context: str) -> Named:
    """Raises Unreadable, LibraryMissing."""
    if isinstance(wanted, UUID):
        found, reason = schemas.by_guid(wanted, context), Reason.UNKNOWN_GUID
    else:
        found, reason = schemas.by_id(BodyKey(context, SchemaId(wanted))), Reason.UNKNOWN_ID
    if found is None:
        raise Unreadable(reason, f"no schema has the {'GUID' if isinstance(wanted, UUID) else 'id'} {wanted}")
    return found


def _language(writer: Source) -> RecordLanguage:
    """What reads its records. Raises Unreadable, LibraryMissing."""
    if writer.type not in MODULES:
        raise Unreadable(Reason.BAD_SCHEMA, f"unknown schema language {writer.type}")
    try:
        return record_language(writer.type)
    except ImportError as missing:
        raise LibraryMissing(f"{writer.type} is read by {missing.name}, which is not installed") from missing


def _decoded(writer: Source, reader: Source | None, seen: Frame) -> Any:
    """Raises Unreadable, DecodeFailed, LibraryMissing."""
    value = _language(writer).decoder(writer, reader, indexes=seen.indexes)(seen.payload)
    if writer.type != "AVRO":
        return value
    from sigla.decoding.avro import understood
    from sigla.decoding.avro_shown import shown

    return shown(value, understood(reader or writer))


def _plan(writer: Source, reader: Source) -> Sequence[Any]:
    """Of Avro: the other languages have no plan, they read what they know. Raises Unreadable."""
    if writer.type != "AVRO" or reader.type != "AVRO":
        return ()
    from sigla.decoding.avro import understood
    from sigla.decoding.avro_outline import outline

    return outline(understood(writer), understood(reader))


def _frame_told(seen: Frame) -> dict[str, Any]:
    by = "guid" if isinstance(seen.schema, UUID) else "id"
    told = {by: str(seen.schema) if by == "guid" else seen.schema, "bytes": len(seen.payload)}
    return {**told, "indexes": list(seen.indexes)} if seen.indexes else told


def _schema_told(named: Named) -> dict[str, Any]:
    return {
        "type": named.source.type,
        "subject": named.subject,
        "version": named.version,
        "deleted": named.deleted,
        "context": named.key.context,
        "id": named.key.id,
        "guid": named.guid,
        "text": named.source.text,
        "references": [each.name for each in named.source.references],
    }
