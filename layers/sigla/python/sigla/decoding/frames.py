"""How a Kafka record says which schema wrote it: bytes to frozen values, nothing else.

A value or a key is framed in one of two places, each part by itself:

    in front of the payload    mark | Protobuf: message indexes | payload
    in a record header         mark | Protobuf: message indexes      and the payload is bare

A mark is 00 and an id (4 bytes, big-endian) or 01 and a GUID (16 bytes); serializers put ids in front and GUIDs into
the header, readers take either in both. The header is `__value_schema_id` or `__key_schema_id`: where it is there, the
payload is not looked at. Message indexes say which message of a .proto file it is, as a path: how many steps, then each
step, zigzag varints; the one byte 00 is short for [0], the first message. Source: Confluent's wire format
documentation, and what its clients write and read.

What is wrong with a record is an outcome, not an exception: one bad record in a million must not stop a job, and the
quarantine wants its reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sigla.decoding.reasons import Reason

VALUE_HEADER, KEY_HEADER = "__value_schema_id", "__key_schema_id"
BY_ID, BY_GUID = 0x00, 0x01
ID_END, GUID_END = 5, 17


@dataclass(frozen=True, slots=True)
class Frame:
    """A part taken apart. schema: an id within the registry's context, or a GUID. indexes: () unless asked for."""

    schema: int | UUID
    indexes: tuple[int, ...]
    payload: bytes


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A null: in Kafka it deletes the key, and no schema has written it."""


@dataclass(frozen=True, slots=True)
class Unframed:
    """A part that does not say what wrote it, or says it wrongly. detail: the reason for people."""

    reason: Reason
    detail: str


EMPTY: Final = Unframed(Reason.EMPTY, "there is nothing where a frame should be")
BAD_MAGIC: Final = Unframed(Reason.BAD_MAGIC, "the first byte is neither 00, before an id, nor 01, before a GUID")
SHORT_FRAME: Final = Unframed(Reason.SHORT_FRAME, "it ends before the id or the GUID does")
BAD_MSG_INDEX: Final = Unframed(Reason.BAD_MSG_INDEX, "the path to a message cannot be read")


def frame(
    part: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] = (),
    *,
    header: str = VALUE_HEADER,
    indexed: bool = False,
) -> Frame | Tombstone | Unframed:
    """What a record's value or key says of itself.

    header: VALUE_HEADER for a value, KEY_HEADER for a key. Where it occurs more than once the last one counts, as in
    the Java client; a null one says nothing. indexed: the schema is Protobuf. The bytes do not tell; who knows the
    topic does.
    """
    if part is None:
        return Tombstone()
    said = [value for name, value in headers if name == header and value is not None]
    if said:
        found = _read_frame(said[-1], indexed=indexed)
        return Frame(found.schema, found.indexes, part) if isinstance(found, Frame) else found
    return _read_frame(part, indexed=indexed)


def _read_frame(data: bytes, *, indexed: bool) -> Frame | Unframed:
    """A mark, its indexes if there are any, and what is left over as the payload."""
    if not data:
        return EMPTY
    if data[0] not in (BY_ID, BY_GUID):
        return BAD_MAGIC
    end = ID_END if data[0] == BY_ID else GUID_END
    if len(data) < end:
        return SHORT_FRAME
    schema = int.from_bytes(data[1:end], "big") if data[0] == BY_ID else UUID(bytes=data[1:end])
    if not indexed:
        return Frame(schema, (), data[end:])
    path = _message_path(data, end)
    if path is None:
        return BAD_MSG_INDEX
    indexes, start = path
    return Frame(schema, indexes, data[start:])


def _message_path(data: bytes, at: int) -> tuple[tuple[int, ...], int] | None:
    """The indexes that begin at a byte, and where they end; None if they make no sense.

    A step takes a byte at least, so a count beyond what is left is damage: it is seen before anything is allocated.
    """
    read = _zigzag(data, at)
    if read is None:
        return None
    count, at = read
    if count == 0:
        return (0,), at
    if not 0 < count <= len(data) - at:
        return None
    steps = []
    for _ in range(count):
        read = _zigzag(data, at)
        if read is None or read[0] < 0:
            return None
        step, at = read
        steps.append(step)
    return tuple(steps), at


def _zigzag(data: bytes, at: int) -> tuple[int, int] | None:
    """The signed number that begins at a byte, and where it ends; None if it is cut off or longer than 32 bits take."""
    value = 0
    for width, byte in enumerate(data[at : at + 5]):
        value |= (byte & 0x7F) << (7 * width)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at + width + 1
    return None
