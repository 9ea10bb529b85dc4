"""Random shapes of Protobuf as columns: what Google's runtime makes of the same bytes is what stands there.

Beside the property in `test_protobuf`, whose files have none of these: oneofs of several members, types within types,
Google's own messages, repeated numbers packed or not, and messages that come in two halves.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf import descriptor_pb2 as pb
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sigla.decoding.decoder import Source
from sigla.decoding.protobuf import message_class
from sigla.decoding.reasons import FINE
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.columns import UNROLLED
from sigla_pipelines.land.decoders.decoder import Writer
from tests.unit.decoding.protobuf_types import FIELD, SYMBOLS, TYPES

SEEDS = st.integers(0, 2**32)
ROWS = 6
GOOGLES = tuple(
    pb.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    for module in (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
)
OWN = (".p.M", ".p.M.Inner", ".p.M.Inner.Deep")
"""Messages; the enum `.p.M.Inner.Kind` is within one as well."""
FIRST, LAST = -62_135_596_800, 253_402_300_799
"""Seconds of a timestamp: from the year 1 to the year 9999."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# --- files -----------------------------------------------------------------------------------------------------------


def a_file(by: Random) -> pb.FileDescriptorProto:
    dependencies = [google.name for google in GOOGLES]
    syntax = by.choice(["proto2", "proto3"])
    file = pb.FileDescriptorProto(name="default", package="p", syntax=syntax, dependency=dependencies)
    outer = file.message_type.add(name="M")
    inner = outer.nested_type.add(name="Inner")
    deep = inner.nested_type.add(name="Deep")
    kind = inner.enum_type.add(name="Kind")
    for number, name in enumerate(SYMBOLS):
        kind.value.add(name=name, number=number)
    for message in (outer, inner, deep):
        numbers = iter(by.sample(range(1, 3_000), 12))
        for _ in range(by.randrange(4)):
            add_plain(message, next(numbers), by)
        for _ in range(by.randrange(3)):
            add_repeated(message, next(numbers), by)
        if by.random() < 0.7:
            for _ in range(by.randint(2, 4)):
                add_plain(message, next(numbers), by).oneof_index = 0
            message.oneof_decl.add(name="choice")
    return file


def add_plain(message: pb.DescriptorProto, number: int, by: Random) -> FIELD:
    field = message.field.add(name=f"f{number}", number=number, label=FIELD.LABEL_OPTIONAL)
    field.type = by.choice([*TYPES, *[FIELD.TYPE_ENUM] * 2, *[FIELD.TYPE_MESSAGE] * 12])
    if field.type == FIELD.TYPE_ENUM:
        field.type_name = ".p.M.Inner.Kind"
    elif field.type == FIELD.TYPE_MESSAGE:
        field.type_name = by.choice([*OWN, *(f".{name}" for name in DRAWN)])
    return field


def add_repeated(message: pb.DescriptorProto, number: int, by: Random) -> None:
    field = add_plain(message, number, by)
    field.label = FIELD.LABEL_REPEATED
    repack(field, by)


def repack(field: FIELD, by: Random) -> None:
    """Numbers are packed, or not, or as the syntax has it: readers take all of them."""
    if field.label == FIELD.LABEL_REPEATED and field.type not in (
        FIELD.TYPE_STRING,
        FIELD.TYPE_BYTES,
        FIELD.TYPE_MESSAGE,
    ):
        field.ClearField("options")
        if by.random() < 0.7:
            field.options.packed = by.random() < 0.5


def evolved(file: pb.FileDescriptorProto, by: Random) -> pb.FileDescriptorProto:
    """The reader's: some fields are gone, of oneofs too, and numbers are packed otherwise."""
    reader = pb.FileDescriptorProto.FromString(file.SerializeToString())
    outer = reader.message_type[0]
    inner = outer.nested_type[0]
    for message in (outer, inner, inner.nested_type[0]):
        kept = [field for field in message.field if by.random() < 0.8]
        if not any(field.HasField("oneof_index") for field in kept):
            del message.oneof_decl[:]
        del message.field[:]
        message.field.extend(kept)
        for field in message.field:
            repack(field, by)
    return reader


def source(file: pb.FileDescriptorProto) -> Source:
    return Source("PROTOBUF", "", (), pb.FileDescriptorSet(file=[*GOOGLES, file]).SerializeToString())


# --- messages --------------------------------------------------------------------------------------------------------


def a_json(by: Random, deep: int = 2) -> Any:
    drawn: Any = by.choice([None, True, 0.5, -3.0, "né", [], {}])
    if deep and isinstance(drawn, list):
        return [a_json(by, deep - 1) for _ in range(by.randrange(3))]
    if deep and isinstance(drawn, dict):
        return {f"k{number}": a_json(by, deep - 1) for number in range(by.randrange(3))}
    return drawn


def timestamp(by: Random) -> Any:
    return timestamp_pb2.Timestamp(seconds=by.randint(FIRST, LAST), nanos=by.randrange(10**9))


def struct(by: Random) -> Any:
    made = struct_pb2.Struct()
    made.update({f"k{number}": a_json(by) for number in range(by.randrange(3))})
    return made


def duration(by: Random, sign: int) -> Any:
    """Nanoseconds have the sign of seconds; Google's own JSON has no word for others."""
    return duration_pb2.Duration(seconds=sign * by.randrange(9), nanos=sign * by.randrange(10**9))


def any_of(by: Random) -> Any:
    """A message of Google's own, or none; a message of the file's own is told by the bytes of its fields."""
    made = any_pb2.Any()
    name = by.choice([*(name for name in DRAWN if name != "google.protobuf.Any"), ""])
    if name:
        made.Pack(DRAWN[name](by))
    elif by.random() < 0.5:
        made.type_url = "type.googleapis.com/p.M.Inner.Deep"
    return made


DRAWN: Mapping[str, Callable[[Random], Any]] = {
    "google.protobuf.Timestamp": timestamp,
    "google.protobuf.Struct": struct,
    "google.protobuf.Value": lambda by: struct(by).fields["k0"],
    "google.protobuf.Any": any_of,
    "google.protobuf.Duration": lambda by: duration(by, by.choice([1, -1])),
    "google.protobuf.FieldMask": lambda by: field_mask_pb2.FieldMask(paths=["a.b"] * by.randrange(3)),
    "google.protobuf.Empty": lambda _: empty_pb2.Empty(),
    "google.protobuf.StringValue": lambda by: wrappers_pb2.StringValue(value="é" * by.randrange(3)),
    "google.protobuf.BoolValue": lambda by: wrappers_pb2.BoolValue(value=by.random() < 0.5),
    "google.protobuf.Int64Value": lambda by: wrappers_pb2.Int64Value(value=by.choice([0, -(2**63)])),
    "google.protobuf.UInt64Value": lambda by: wrappers_pb2.UInt64Value(value=by.choice([0, 2**64 - 1])),
    "google.protobuf.DoubleValue": lambda by: wrappers_pb2.DoubleValue(value=by.choice([0.0, 1e300])),
}
"""What draws a message of Google's own."""


def fill(message: Any, by: Random, deep: int = 0) -> Any:
    """The last member of a oneof stays."""
    for field in message.DESCRIPTOR.fields:
        if by.random() < 0.3 or (deep > UNROLLED + 1 and field.message_type):
            continue
        if field.is_repeated:
            many = getattr(message, field.name)
            for _ in range(by.randrange(3)):
                many.append(a_value(field, by, deep))
        elif field.message_type:
            getattr(message, field.name).CopyFrom(a_value(field, by, deep))
        else:
            setattr(message, field.name, a_value(field, by, deep))
    return message


def a_value(field: Any, by: Random, deep: int) -> Any:
    if field.enum_type:
        return by.randrange(len(SYMBOLS))
    if not field.message_type:
        return TYPES[field.type](by)
    made = GetMessageClass(field.message_type)
    drawn = DRAWN.get(field.message_type.full_name)
    return made.FromString(drawn(by).SerializeToString()) if drawn else fill(made(), by, deep + 1)


# --- comparing -------------------------------------------------------------------------------------------------------


def own(message: Any) -> Any:
    """Google's own JSON of a message, with what its schema knows."""
    return MessageToDict(message, descriptor_pool=message.DESCRIPTOR.file.pool)


def row(message: Any, around: tuple[str, ...] = ()) -> Any:
    """A message of Google's runtime as the columns should have it, by the table in `decoders/protobuf`."""
    kind = message.DESCRIPTOR
    match kind.full_name.removeprefix("google.protobuf."):
        case "Timestamp":
            return EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1_000)
        case "Any" | "Struct" | "Value":
            return Told(own(message))
        case "UInt64Value":
            return Decimal(message.value)
        case name if name.endswith("Value"):
            return message.value
    if around and (not kind.fields or around.count(kind.full_name) >= UNROLLED):
        return Told(own(message))

    def one(value: Any, field: Any) -> Any:
        if field.message_type:
            return row(value, (*around, kind.full_name))
        if field.enum_type:
            return SYMBOLS[value]
        return Decimal(value) if field.type in (FIELD.TYPE_UINT64, FIELD.TYPE_FIXED64) else value

    found: dict[str, Any] = {}
    for field in kind.fields:
        value = getattr(message, field.name)
        if field.is_repeated:
            found[field.name] = [one(each, field) for each in value]
        else:
            there = not field.has_presence or message.HasField(field.name)
            found[field.name] = one(value, field) if there else None
    return found


@dataclass(frozen=True)
class Told:
    """Any text of JSON that says so."""

    value: Any


def agrees(ours: Any, theirs: Any) -> bool:
    """Texts of JSON by what they say."""
    match theirs:
        case Told():
            return isinstance(ours, str) and json.loads(ours) == theirs.value
        case dict():
            return ours.keys() == theirs.keys() and all(agrees(ours[name], theirs[name]) for name in theirs)
        case list():
            return len(ours) == len(theirs) and all(map(agrees, ours, theirs))
    return bool(ours == theirs)


def agree(seed: int) -> None:
    by = Random(seed)
    file = a_file(by)
    old, new = source(file), source(evolved(file, by))
    index = (0,)
    decoder = DECODERS["PROTOBUF"](Writer(new, index))
    writers = [decoder.add(Writer(each, index)) for each in (old, new)]
    classes: list[Any] = [message_class(each, "p.M") for each in (old, new)]
    numbers, payloads = [], []
    for _ in range(ROWS):
        which = by.randrange(2)
        # Two halves of a message are one: the last of a oneof stays, lists are one behind the other, messages merge.
        halves = [fill(classes[which](), by).SerializeToString() for _ in range(by.choice([1, 1, 2]))]
        numbers.append(writers[which])
        payloads.append(b"".join(halves))
    found = decoder.decode(pa.array(payloads, pa.binary()), pa.array(numbers, pa.int32()))
    found.rows.validate(full=True)
    assert found.status.to_pylist() == [FINE] * ROWS, found.detail.to_pylist()
    for ours, payload in zip(found.rows.to_pylist(), payloads, strict=True):
        message = classes[1].FromString(payload)
        try:
            theirs = row(message)
        except (
            DecodeError
        ):  # the type of one half's Any, and the bytes of the other's: Google's runtime has no word for it
            continue
        assert agrees(ours, theirs), (ours, theirs)


@settings(max_examples=60)
@given(SEEDS)
@example(299_506)
def test_every_shape_stands_in_columns_as_googles_runtime_reads_it(seed: int) -> None:
    agree(seed)


@pytest.mark.soak
@settings(max_examples=3_000)
@given(SEEDS)
def test_every_shape_for_long(seed: int) -> None:
    agree(seed)
