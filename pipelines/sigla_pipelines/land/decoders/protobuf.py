"""Protobuf payloads → the columns of one message.

| Protobuf | column |
|---|---|
| bool, float, double, string, bytes | the same; bytes are binary |
| int32, sint32, sfixed32 | int32 |
| uint32, fixed32, int64, sint64, sfixed64 | int64 |
| uint64, fixed64 | decimal128(20, 0) |
| an enum | string: the symbol, or the number where it has none |
| repeated, map | list, map: never null, empty where nothing was written; maps are sorted by their keys |
| a message, a group | struct, null where it is not there |
| google.protobuf.Timestamp | timestamp in microseconds, UTC; what is finer is cut off |
| wrappers (google.protobuf.StringValue and others) | what they wrap, null where they are not there |
| Any, Struct, Value, ListValue of google.protobuf | string: JSON |
| a message without fields, and one within itself from the third time on | string: JSON |

JSON text is Protobuf's own (https://protobuf.dev/programming-guides/json): `lowerCamelCase`, numbers of 64 bits as
texts, and nothing of what has its default.

A field that knows presence (optional, a member of a oneof, any of proto2) is null where it was not written; any other
has its default then. By what the reader's files extend a message it has columns as well: `[package.name]`.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, cast

import numpy as np
import orjson
import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from sigla.decoding.decoder import DecodeFailed, Limits, Unreadable
from sigla.decoding.protobuf import STANDARD, Read, message_class, parser, record_name
from sigla.decoding.protobuf_fields import called, fields, there, value
from sigla.decoding.protobuf_plain import (
    PACKAGE,
    TIMESTAMP,
    WRAPPERS,
    Style,
    is_map,
    is_moment,
    item,
    plain,
    symbol,
    well_known,
)
from sigla.decoding.protobuf_walk import diagnosis
from sigla.decoding.reasons import Reason
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders import columns
from sigla_pipelines.land.decoders.avro_columns import NoRoom
from sigla_pipelines.land.decoders.columns import UNROLLED, Budget, Column, StructMember
from sigla_pipelines.land.decoders.decoder import Additional, Decoded, Native, TooMuch, Writer
from sigla_pipelines.land.decoders.extension import chosen_extension
from sigla_pipelines.land.decoders.native_columns import NativeColumns, replaced, taken_rows
from sigla_pipelines.land.decoders.notes import NO_TAGS, Note, PathTags, Tags, with_unit
from sigla_pipelines.land.decoders.protobuf_notes import message_tags, note_of_field, tags_within
from sigla_pipelines.land.decoders.protobuf_program import NoProgram, protobuf_program
from sigla_pipelines.land.decoders.times import Times, of_protobuf, protobuf_unit

SCALARS: Final[Mapping[int, pa.DataType]] = {
    FieldDescriptor.TYPE_BOOL: pa.bool_(),
    FieldDescriptor.TYPE_BYTES: pa.binary(),
    FieldDescriptor.TYPE_DOUBLE: pa.float64(),
    FieldDescriptor.TYPE_FIXED32: pa.int64(),
    FieldDescriptor.TYPE_FIXED64: pa.decimal128(20, 0),
    FieldDescriptor.TYPE_FLOAT: pa.float32(),
    FieldDescriptor.TYPE_INT32: pa.int32(),
    FieldDescriptor.TYPE_INT64: pa.int64(),
    FieldDescriptor.TYPE_SFIXED32: pa.int32(),
    FieldDescriptor.TYPE_SFIXED64: pa.int64(),
    FieldDescriptor.TYPE_SINT32: pa.int32(),
    FieldDescriptor.TYPE_SINT64: pa.int64(),
    FieldDescriptor.TYPE_STRING: pa.string(),
    FieldDescriptor.TYPE_UINT32: pa.int64(),
    FieldDescriptor.TYPE_UINT64: pa.decimal128(20, 0),
}

OPEN: Final = frozenset(f"{PACKAGE}.{name}" for name in ("Any", "ListValue", "Struct", "Value"))
"""Messages whose shape is not the schema's: JSON text."""


def decoder(
    reader: Writer, *, limits: Limits = STANDARD, additional: Additional = Additional.KEEP, native: Native = Native.AUTO
) -> "ProtobufDecoder":
    """The decoder of the message that the reader's path leads to. Raises Unreadable, NotInstalled."""
    del additional
    return ProtobufDecoder(reader, limits, native=native)


class ProtobufDecoder:
    """Reads what was written as the message of the same full name, whatever its file was.

    What the extension refuses is read by Google's runtime, and of what that cannot read the walker says why.
    """

    def __init__(self, reader: Writer, limits: Limits, *, native: Native = Native.AUTO) -> None:
        self.reader = reader
        self.limits = limits
        self.name = record_name(reader.source, reader.indexes)
        self.message = message_class(reader.source, self.name)
        self.descriptor = cast("Descriptor", self.message.DESCRIPTOR)
        try:
            self.column = _record(self.descriptor, (), _Making(reader.tags, reader.times))
        except RecursionError:
            raise Unreadable(Reason.BAD_SCHEMA, "the messages are nested too deeply") from None
        self.type: pa.StructType = self.column.type
        # The fields of a writer are known by their numbers: all that counts is whether it had the reader's own.
        self.reads: dict[bool, Read] = {own: parser(self.message, own=own, limits=limits) for own in (True, False)}
        self.writers: list[Read] = []
        self.native = self._native(native)

    def _native(self, native: Native) -> NativeColumns | None:
        """Raises NotInstalled."""
        found = chosen_extension(native)
        try:
            program = protobuf_program(self.descriptor, self.type) if found else None
        except NoProgram:
            return None
        if program is None:
            return None
        columns = NativeColumns(found, self.type, self.limits)
        columns.add(program)
        return columns

    def add(self, writer: Writer) -> int:
        name = record_name(writer.source, writer.indexes)
        if name != self.name:
            raise Unreadable(Reason.INCOMPATIBLE_READER, f"written as {name}, read as {self.name}")
        self.writers.append(self.reads[writer.source == self.reader.source])
        return len(self.writers) - 1

    def decode(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        if self.native is None:
            return self._in_python(payloads, writers)
        try:
            rows, refused, _ = self.native.decode(payloads, pa.array(np.zeros(len(payloads), np.int32)))
            if not refused.size:
                return columns.all_fine(rows)
            again = self._in_python(taken_rows(payloads, refused), taken_rows(writers, refused))
            return columns.woven(replaced(rows, refused, again.rows), refused, again)
        except NoRoom:
            if len(payloads) > 1:
                raise TooMuch from None
        return self._in_python(payloads, writers)

    def _in_python(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        data = payloads.to_pylist()
        messages, failures = [], dict[int, DecodeFailed]()
        for row, (payload, writer) in enumerate(zip(data, writers.to_pylist(), strict=True)):
            try:
                messages.append(self.writers[writer](payload))
            except DecodeFailed as failed:
                messages.append(None)
                failures[row] = failed
        return columns.decoded(
            self.column, messages, failures, lambda row: diagnosis(data[row], self.descriptor, self.limits)
        )


class _Making(Budget):
    """Also knows what metadata says of fields, and how columns say times."""

    def __init__(self, tags: PathTags, times: Times) -> None:
        super().__init__()
        self.tags = tags
        self.times = times


def _record(descriptor: Descriptor, around: tuple[str, ...], making: _Making) -> Column:
    """around: the full names of the messages around this one."""
    inside = (*around, descriptor.full_name)
    whole = NO_TAGS if around else message_tags(descriptor)
    return columns.struct(
        [
            StructMember(
                called(field),
                _getter(field),
                _column(field, inside, making),
                _note(field, inside, making, whole),
            )
            for field in fields(descriptor).values()
        ]
    )


def _note(field: FieldDescriptor, around: tuple[str, ...], making: _Making, whole: Tags) -> Note:
    """With the tags of its messages, and of what is in JSON text there. whole: those of the message around."""
    said = note_of_field(field, making.tags)
    message = (item(field) if is_map(field) else field).message_type
    hidden = tags_within(message, making.tags) if message and _is_text(message, around) else message_tags(message)
    found = Note(said.doc, said.tags | hidden | whole)
    return with_unit(found, protobuf_unit(well_known(message), making.times)) if message else found


def _getter(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.is_extension:
        if field.has_presence:
            return lambda message: value(message, field) if there(message, field) else None
        return lambda message: value(message, field)
    name = field.name
    get: Callable[[Any], Any] = attrgetter(name)
    if is_map(field):
        return lambda message: _pairs(get(message))
    if field.has_presence:
        # On the message itself, a field called `HasField` would hide the method.
        has = GetMessageClass(cast("Descriptor", field.containing_type)).HasField
        return lambda message: get(message) if has(message, name) else None
    return get


def _pairs(found: Any) -> list[tuple[Any, Any]]:
    return [(key, found[key]) for key in sorted(found)]


def _column(field: FieldDescriptor, around: tuple[str, ...], making: _Making) -> Column:
    making.spend()
    if is_map(field):
        key = cast("Descriptor", field.message_type).fields_by_name["key"]
        return columns.mapped(_value_column(key, around, making), _value_column(item(field), around, making))
    return (
        columns.listed(_value_column(field, around, making))
        if field.is_repeated
        else _value_column(field, around, making)
    )


def _value_column(field: FieldDescriptor, around: tuple[str, ...], making: _Making) -> Column:
    if field.message_type is not None:
        return _message(field.message_type, around, making)
    if field.enum_type is not None:
        return _enum(field)
    return columns.scalar(SCALARS[field.type])


def _enum(field: FieldDescriptor) -> Column:
    values = cast("EnumDescriptor", field.enum_type).values
    known = {value.number: value.name for value in reversed(values)}  # of several names the first, as in JSON
    return columns.scalar(pa.string(), lambda number: known.get(number) or symbol(field, number))


def _message(descriptor: Descriptor, around: tuple[str, ...], making: _Making) -> Column:
    name = well_known(descriptor)
    if chosen := of_protobuf(name, making.times):
        return columns.scalar(*chosen)
    if name == TIMESTAMP:
        return columns.scalar(pa.timestamp("us", tz="UTC"), _timestamp)
    if name in WRAPPERS:
        wrapped = _value_column(descriptor.fields_by_name["value"], around, making)
        return Column(
            wrapped.type, lambda values: wrapped.build([None if each is None else each.value for each in values])
        )
    if _is_text(descriptor, around):
        return columns.scalar(JSON, lambda message: orjson.dumps(plain(message, style=Style.OWN)).decode())
    return _record(descriptor, around, making)


def _is_text(descriptor: Descriptor, around: tuple[str, ...]) -> bool:
    is_open = well_known(descriptor) in OPEN or not fields(descriptor)
    return is_open or around.count(descriptor.full_name) >= UNROLLED


def _timestamp(message: Any) -> int:
    """Microseconds since the epoch."""
    seconds, nanos = message.seconds, message.nanos
    if not is_moment(seconds, nanos):
        why = f"a timestamp of {seconds} s and {nanos} ns is outside the years 1 to 9999"
        raise DecodeFailed(Reason.INCOMPATIBLE_READER, why)
    return int(seconds * 10**6 + nanos // 1000)
