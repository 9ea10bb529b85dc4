"""The columns of a Protobuf message as a program for `sigla_native`: which number is which column, and how it is read.

The program is the reader's alone, as fields are known by their numbers. Whatever is JSON text, and what Python makes
numbers or texts of, is left to Python.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from sigla.decoding.protobuf_fields import fields
from sigla.decoding.protobuf_plain import WRAPPERS, is_map, item, well_known
from sigla.decoding.protobuf_walk import FIXED32, FIXED64, GROUP, LENGTH, VARINT, WIDTHS
from sigla_pipelines.land.decoders.instructions import NOWHERE, Program, Programming

WIRES: Final[Mapping[int, int]] = {
    FieldDescriptor.TYPE_STRING: LENGTH,
    FieldDescriptor.TYPE_BYTES: LENGTH,
    FieldDescriptor.TYPE_MESSAGE: LENGTH,
    FieldDescriptor.TYPE_GROUP: GROUP,
    **{type: FIXED64 if width == 8 else FIXED32 for type, width in WIDTHS.items()},
}
"""How fields of a type are written, where not as varints."""

MOST_ONEOFS: Final = 64
"""Those that one message may have. Source: `single` of the extension."""

OF_AN_ENTRY: Final = 2
"""Fields of an entry of a map."""


class NoProgram(ValueError):
    """The message is for Python alone."""


def protobuf_program(descriptor: Descriptor, columns: pa.StructType) -> Program:
    """Raises NoProgram."""
    making = _ProgramMaking()
    making.message(descriptor, columns, 0)
    return making.made


class _ProgramMaking(Programming):
    """Methods take a type of columns and the number of its first, and give back the number of an instruction."""

    def message(self, descriptor: Descriptor, kind: pa.DataType, column: int) -> int:
        if not pa.types.is_struct(kind) or descriptor.GetOptions().message_set_wire_format:
            raise NoProgram
        own = fields(descriptor)
        steps = [self.field(field, *place) for field, place in zip(own.values(), _members(kind, column), strict=True)]
        return self.add("message", (column, len(own), *steps))

    def field(self, field: FieldDescriptor, kind: pa.DataType, column: int) -> int:
        if is_map(field):
            return self.map(field, kind, column)
        if field.is_repeated:
            value = self.value(field, kind.value_type, column + 1)
            return self.add("several", (column, field.number, _wire(field), value))
        value, missing = self.value(field, kind, column), self.missing(field, kind, column)
        return self.add("single", (field.number, _wire(field), _oneof(field), value, missing))

    def map(self, field: FieldDescriptor, kind: pa.MapType, column: int) -> int:
        key, value = cast("Descriptor", field.message_type).fields_by_name["key"], item(field)
        parts = (key, kind.key_type, column + 1), (value, kind.item_type, column + 2)
        steps = [
            self.add("single", (part[0].number, _wire(part[0]), 0, self.value(*part), self.empty(*part)))
            for part in parts
        ]
        entry = self.add("message", (NOWHERE, OF_AN_ENTRY, *steps))
        return self.add("pairs", (column, field.number, key.type, entry))

    def value(self, field: FieldDescriptor, kind: pa.DataType, column: int) -> int:
        """Reads one that is there."""
        message = field.message_type
        if field.enum_type is not None:
            known = _symbols(field)
            return self.add("symbol", (column, *known), list(known.values()))
        if message is None:
            return self.add("scalar", (column, field.type))
        if pa.types.is_large_string(kind) or field.type == FieldDescriptor.TYPE_GROUP:
            return self.add("refuse")
        if pa.types.is_timestamp(kind):
            return self.add("moment", [column])
        if well_known(message) in WRAPPERS:
            inner = self.field(message.fields_by_name["value"], kind, column)
            return self.add("message", (NOWHERE, 1, inner))
        return self.message(message, kind, column)

    def missing(self, field: FieldDescriptor, kind: pa.DataType, column: int) -> int:
        """What stands for a field that was not written."""
        if is_map(field) or field.is_repeated:
            return self.add("put_items", (column, 0))
        if field.is_required:
            return self.add("refuse")
        return self.add("null", [column]) if field.has_presence else self.empty(field, kind, column)

    def empty(self, field: FieldDescriptor, kind: pa.DataType, column: int) -> int:
        """A value of which nothing was written."""
        message = field.message_type
        if message is None:
            return self.default(field, kind, column)
        if pa.types.is_struct(kind):
            own = fields(message).values()
            parts = [self.missing(each, *place) for each, place in zip(own, _members(kind, column), strict=True)]
            return self.add("record", (column, *parts))
        if pa.types.is_timestamp(kind):
            return self.add("put_number", (column, 0))
        if well_known(message) in WRAPPERS:
            return self.default(message.fields_by_name["value"], kind, column)
        return self.add("refuse")

    def default(self, field: FieldDescriptor, kind: pa.DataType, column: int) -> int:
        """What a scalar is that does not know presence: a nought, or no text."""
        if field.enum_type is not None:
            symbol = _symbols(field).get(cast("int", field.default_value))
            return self.add("refuse") if symbol is None else self.add("put_bytes", [column], [symbol])
        if pa.types.is_boolean(kind):
            return self.add("put_boolean", (column, 0))
        if pa.types.is_decimal(kind):
            return self.add("put_decimal", [column], [bytes(16)])
        if pa.types.is_floating(kind):
            return self.add("put_double", (column, 0))
        if pa.types.is_integer(kind):
            return self.add("put_number", (column, 0))
        return self.add("put_bytes", [column], [b""])


def _members(kind: pa.StructType, column: int) -> Iterator[tuple[pa.DataType, int]]:
    """The type of each member, and the number of its first column."""
    at = column + 1
    for field in kind:
        yield field.type, at
        at += _width(field.type)


def _width(kind: pa.DataType) -> int:
    """How many columns it is."""
    if pa.types.is_map(kind):
        return 1 + _width(kind.key_type) + _width(kind.item_type)
    return 1 + sum(_width(kind.field(at).type) for at in range(kind.num_fields))


def _wire(field: FieldDescriptor) -> int:
    return WIRES.get(field.type, VARINT)


def _oneof(field: FieldDescriptor) -> int:
    """0 of a field that is in none; one of several members is never there beside another."""
    oneof: Any = field.containing_oneof
    if oneof is None or len(oneof.fields) == 1:
        return 0
    if oneof.index >= MOST_ONEOFS:
        raise NoProgram
    return int(oneof.index) + 1


def _symbols(field: FieldDescriptor) -> Mapping[int, bytes]:
    """By number; of several names the first, as in JSON."""
    values = cast("EnumDescriptor", field.enum_type).values
    return {value.number: value.name.encode() for value in reversed(values)}
