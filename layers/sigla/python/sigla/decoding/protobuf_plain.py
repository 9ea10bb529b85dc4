"""Messages as JSON says them: for people, and for columns that hold JSON text.

Columns of tables have Protobuf's own mapping (https://protobuf.dev/programming-guides/json), as every runtime prints it
by default. For people fields have the names of the .proto, numbers of 64 bits are numbers, and defaults are printed.
What the mapping has no word for (a moment beyond the year 9999, a message of unknown type in an Any) is said field by
field in both, so that there is a value whatever the bytes were.
"""

import base64
import math
import re
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import Enum
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
"""The seconds of the years 1 and 9999, since the epoch."""

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
    """The field of a map's values."""
    return cast("Descriptor", field.message_type).fields_by_name["value"]


def symbol(field: FieldDescriptor, number: int) -> str:
    """The name of an enum's number; the number as text where it has none."""
    known = cast("EnumDescriptor", field.enum_type).values_by_number.get(number)
    return known.name if known else str(number)


def is_moment(seconds: int, nanos: int) -> bool:
    """Whether a Timestamp is one between the years 1 and 9999, as it should be."""
    return FIRST_SECOND <= seconds <= LAST_SECOND and 0 <= nanos < NANOS


class Style(Enum):
    """How messages are said."""

    PEOPLE = "for people"
    OWN = "Protobuf's own mapping"


def plain(message: Message, depth: int = 0, style: Style = Style.PEOPLE) -> Any:
    """What `json.dumps` takes. Fields that know presence are there if they were set.

    depth: messages around this one. Raises DecodeFailed: BAD_UTF8, or DEPTH of what Any unfolds to.
    """
    if depth > RUNTIME_DEPTH:
        raise DecodeFailed(Reason.DEPTH, f"more than {RUNTIME_DEPTH} messages within messages")
    known = _WELL_KNOWN.get(well_known(cast("Descriptor", type(message).DESCRIPTOR)))
    return known(message, depth, style) if known else _fields(message, depth, style)


def _fields(message: Any, depth: int, style: Style) -> dict[str, Any]:
    if style is Style.OWN:
        return {
            _own_name(field): _field(field, each, depth, style) for field, each in type(message).ListFields(message)
        }
    return {
        called(field): _field(field, value(message, field), depth, style)
        for field in fields(cast("Descriptor", type(message).DESCRIPTOR)).values()
        if not field.has_presence or there(message, field)
    }


def _own_name(field: FieldDescriptor) -> str:
    return called(field) if field.is_extension else field.json_name


def _only(message: Any, name: str, depth: int, style: Style) -> Any:
    """What a message says that is nothing but this field."""
    return _field(message.DESCRIPTOR.fields_by_name[name], getattr(message, name), depth, style)


def _field(field: FieldDescriptor, value: Any, depth: int, style: Style) -> Any:
    if is_map(field):
        kind = item(field)
        if any(isinstance(key, bytes) for key in value):
            raise DecodeFailed(Reason.BAD_UTF8, f"a key of {field.full_name} is not valid UTF-8")
        return {_key(key): _value(kind, value[key], depth + 1, style) for key in sorted(value)}
    if field.is_repeated:
        return [_value(field, each, depth, style) for each in value]
    return _value(field, value, depth, style)


def _key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _value(field: FieldDescriptor, value: Any, depth: int, style: Style) -> Any:
    if field.message_type is not None:
        return plain(value, depth + 1, style)
    if field.enum_type is not None:
        return _own_symbol(field, value) if style is Style.OWN else symbol(field, value)
    if isinstance(value, float) and not math.isfinite(value):
        return _ENDLESS.get(value, "NaN")
    if isinstance(value, bytes):
        if field.type == FieldDescriptor.TYPE_STRING:  # how the runtime gives what is not UTF-8 (proto2)
            raise DecodeFailed(Reason.BAD_UTF8, f"{field.full_name} is not valid UTF-8")
        return base64.b64encode(value).decode()
    if style is Style.OWN and field.type in _AS_TEXT:
        return str(value)
    return _shortest(value) if style is Style.OWN and field.type == FieldDescriptor.TYPE_FLOAT else value


_ENDLESS: Final = {math.inf: "Infinity", -math.inf: "-Infinity"}

_AS_TEXT: Final = frozenset(
    {
        FieldDescriptor.TYPE_FIXED64,
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_SFIXED64,
        FieldDescriptor.TYPE_SINT64,
        FieldDescriptor.TYPE_UINT64,
    }
)
"""Numbers that JavaScript would round."""


def _own_symbol(field: FieldDescriptor, number: int) -> str | int | None:
    enum = cast("EnumDescriptor", field.enum_type)
    if enum.full_name == f"{PACKAGE}.NullValue":
        return None
    known = enum.values_by_number.get(number)
    return known.name if known else number


_SHORTEST, _LONGEST = 6, 9
"""Digits that tell a number of 32 bits from all others."""


def _shortest(value: float) -> float:
    """The number with the fewest digits that is this one in 32 bits."""
    for digits in range(_SHORTEST, _LONGEST):
        found = float(f"{value:.{digits}g}")
        with suppress(OverflowError):
            if struct.unpack("<f", struct.pack("<f", found))[0] == value:
                return found
    return float(f"{value:.{_LONGEST}g}")


def _timestamp(message: Any, depth: int, style: Style) -> Any:
    if not is_moment(message.seconds, message.nanos):
        return _fields(message, depth, style)
    text = (EPOCH + timedelta(seconds=message.seconds)).isoformat().removesuffix("+00:00")
    return f"{text}{_fraction(message.nanos)}Z"


def _duration(message: Any, depth: int, style: Style) -> Any:
    seconds, nanos = message.seconds, message.nanos
    if abs(nanos) >= NANOS or seconds * nanos < 0:
        return _fields(message, depth, style)
    return f"{'-' if seconds < 0 or nanos < 0 else ''}{abs(seconds)}{_fraction(abs(nanos))}s"


def _fraction(nanos: int) -> str:
    """With three, six or nine digits, as many as it takes."""
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def _wrapped(message: Any, depth: int, style: Style) -> Any:
    return _only(message, "value", depth, style)


def _json_value(message: Any, depth: int, style: Style) -> Any:
    kind = message.WhichOneof("kind")
    return None if kind in (None, "null_value") else _only(message, kind, depth, style)


def _field_mask(message: Any, _depth: int, style: Style) -> str:
    """With the names of JSON, where each path has one that leads back."""
    return ",".join(_camel(path) if style is Style.OWN else path for path in message.paths)


_SNAKE: Final = re.compile(r"_([a-z])")


def _camel(path: str) -> str:
    found = _SNAKE.sub(lambda each: each[1].upper(), path)
    return path if "_" in found or path != path.lower() else found


def _any(message: Any, depth: int, style: Style) -> Any:
    """What it holds, where the schema knows it."""
    if style is Style.OWN and not message.ListFields():
        return {}
    name = message.type_url.rpartition("/")[2]
    try:
        inner = _class(message.DESCRIPTOR, name).FromString(message.value)
    except (KeyError, DecodeError):
        return {"@type": message.type_url, "value": base64.b64encode(message.value).decode()}
    value = plain(inner, depth + 1, style)
    # Google's own messages do not become objects with fields, even where they look like one.
    is_own = well_known(cast("Descriptor", type(inner).DESCRIPTOR)) in _WELL_KNOWN
    return {"@type": message.type_url, **({"value": value} if is_own else value)}


def _class(descriptor: Descriptor, name: str) -> type[Message]:
    return GetMessageClass(descriptor.file.pool.FindMessageTypeByName(name))


_WELL_KNOWN: Final[Mapping[str, Callable[[Any, int, Style], Any]]] = {
    f"{PACKAGE}.Any": _any,
    f"{PACKAGE}.Duration": _duration,
    f"{PACKAGE}.FieldMask": _field_mask,
    f"{PACKAGE}.ListValue": lambda message, depth, style: _only(message, "values", depth, style),
    f"{PACKAGE}.Struct": lambda message, depth, style: _only(message, "fields", depth, style),
    TIMESTAMP: _timestamp,
    f"{PACKAGE}.Value": _json_value,
    **dict.fromkeys(WRAPPERS, _wrapped),
}
