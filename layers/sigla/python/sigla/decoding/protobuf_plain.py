"""Messages as JSON would say them: for people, and for columns that hold JSON text.

The mapping is Protobuf's own (https://protobuf.dev/programming-guides/json) but for three things: fields have the names
of the .proto, numbers of 64 bits are numbers, and what the mapping has no word for (a moment beyond the year 9999, a
message in an Any that nobody knows) is said field by field, so that there is a value whatever the bytes were.
"""

import base64
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, cast

from google.protobuf import any_pb2, duration_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from sigla.decoding.decoder import DecodeFailed
from sigla.decoding.protobuf_fields import called, fields, there, value
from sigla.decoding.protobuf_walk import RUNTIME_DEPTH
from sigla.decoding.reasons import Reason

PACKAGE: Final = "google.protobuf"

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
NANOS: Final = 10**9
FIRST_SECOND: Final = -62_135_596_800
LAST_SECOND: Final = 253_402_300_799
"""Of the years 1 and 9999, since the epoch."""

TIMESTAMP: Final = f"{PACKAGE}.Timestamp"
WRAPPERS: Final = frozenset(each.full_name for each in wrappers_pb2.DESCRIPTOR.message_types_by_name.values())
"""Messages around one scalar, which is null where the message is not there."""

_STANDARD: Final[Mapping[str, Descriptor]] = {
    message.full_name: message
    for file in (any_pb2, duration_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
    for message in file.DESCRIPTOR.message_types_by_name.values()
}


@lru_cache(maxsize=1_000)
def well_known(descriptor: Descriptor) -> str:
    """The full name of a message that the JSON mapping treats in a way of its own; "" of any other.

    A schema may bring files of its own under Google's names, with other fields: those are messages like all.
    """
    standard = _STANDARD.get(descriptor.full_name)
    return descriptor.full_name if standard and _shape(descriptor) == _shape(standard) else ""


def _shape(descriptor: Descriptor) -> list[tuple[int, str, int, bool]]:
    return [(field.number, field.name, field.type, field.is_repeated) for field in descriptor.fields]


def is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def item(field: FieldDescriptor) -> FieldDescriptor:
    """Of a map, what its values are."""
    return cast("Descriptor", field.message_type).fields_by_name["value"]


def symbol(field: FieldDescriptor, number: int) -> str:
    """The name of an enum's number; the number as text where it has none."""
    known = cast("EnumDescriptor", field.enum_type).values_by_number.get(number)
    return known.name if known else str(number)


def is_moment(seconds: int, nanos: int) -> bool:
    """Whether a Timestamp is one between the years 1 and 9999, as it should be."""
    return FIRST_SECOND <= seconds <= LAST_SECOND and 0 <= nanos < NANOS


def plain(message: Message, depth: int = 0) -> Any:
    """What `json.dumps` takes. Of fields that know presence those that are there.

    depth: messages around this one. Raises DecodeFailed: BAD_UTF8, or DEPTH of what Any unfolds to.
    """
    if depth > RUNTIME_DEPTH:
        raise DecodeFailed(Reason.DEPTH, f"more than {RUNTIME_DEPTH} messages within messages")
    known = _WELL_KNOWN.get(well_known(cast("Descriptor", type(message).DESCRIPTOR)))
    return known(message, depth) if known else _fields(message, depth)


def _fields(message: Message, depth: int) -> dict[str, Any]:
    return {
        called(field): _field(field, value(message, field), depth)
        for field in fields(cast("Descriptor", type(message).DESCRIPTOR)).values()
        if not field.has_presence or there(message, field)
    }


def _field(field: FieldDescriptor, value: Any, depth: int) -> Any:
    if is_map(field):
        kind = item(field)
        if any(isinstance(key, bytes) for key in value):
            raise DecodeFailed(Reason.BAD_UTF8, f"a key of {field.full_name} is no UTF-8")
        return {_key(key): _value(kind, value[key], depth + 1) for key in sorted(value)}
    if field.is_repeated:
        return [_value(field, each, depth) for each in value]
    return _value(field, value, depth)


def _key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _value(field: FieldDescriptor, value: Any, depth: int) -> Any:
    if field.message_type is not None:
        return plain(value, depth + 1)
    if field.enum_type is not None:
        return symbol(field, value)
    if isinstance(value, float) and not math.isfinite(value):
        return _ENDLESS.get(value, "NaN")
    if isinstance(value, bytes):
        if field.type == FieldDescriptor.TYPE_STRING:  # how the runtime gives what is no text (proto2)
            raise DecodeFailed(Reason.BAD_UTF8, f"{field.full_name} is no UTF-8")
        return base64.b64encode(value).decode()
    return value


_ENDLESS: Final = {math.inf: "Infinity", -math.inf: "-Infinity"}


def _timestamp(message: Any, depth: int) -> Any:
    if not is_moment(message.seconds, message.nanos):
        return _fields(message, depth)
    text = (EPOCH + timedelta(seconds=message.seconds)).isoformat().removesuffix("+00:00")
    return f"{text}{_fraction(message.nanos)}Z"


def _duration(message: Any, depth: int) -> Any:
    seconds, nanos = message.seconds, message.nanos
    if abs(nanos) >= NANOS or seconds * nanos < 0:
        return _fields(message, depth)
    return f"{'-' if seconds < 0 or nanos < 0 else ''}{abs(seconds)}{_fraction(abs(nanos))}s"


def _fraction(nanos: int) -> str:
    """With three, six or nine digits, as many as it takes."""
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def _wrapped(message: Message, depth: int) -> Any:
    return _fields(message, depth)["value"]


def _json_value(message: Any, depth: int) -> Any:
    kind = message.WhichOneof("kind")
    return None if kind in (None, "null_value") else _fields(message, depth)[kind]


def _any(message: Any, depth: int) -> Any:
    """What it holds, where the schema knows it."""
    name = message.type_url.rpartition("/")[2]
    try:
        inner = _class(message.DESCRIPTOR, name).FromString(message.value)
    except (KeyError, DecodeError):
        return {"@type": message.type_url, "value": base64.b64encode(message.value).decode()}
    value = plain(inner, depth + 1)
    return {"@type": message.type_url, **(value if isinstance(value, dict) else {"value": value})}


def _class(descriptor: Descriptor, name: str) -> type[Message]:
    return GetMessageClass(descriptor.file.pool.FindMessageTypeByName(name))


_WELL_KNOWN: Final[Mapping[str, Callable[[Any, int], Any]]] = {
    f"{PACKAGE}.Any": _any,
    f"{PACKAGE}.Duration": _duration,
    f"{PACKAGE}.FieldMask": lambda message, _depth: ",".join(message.paths),
    f"{PACKAGE}.ListValue": lambda message, depth: [plain(each, depth + 1) for each in message.values],
    f"{PACKAGE}.Struct": lambda message, depth: _fields(message, depth)["fields"],
    TIMESTAMP: _timestamp,
    f"{PACKAGE}.Value": _json_value,
    **dict.fromkeys(WRAPPERS, _wrapped),
}
