"""Random message types and random messages of them: what property tests of Protobuf draw from."""

from collections.abc import Callable
from random import Random
from typing import Any

from google.protobuf import descriptor_pb2 as pb
from google.protobuf.message import Message

from sigla.decoding.decoder import Source
from sigla.languages.protobuf import LANGUAGE

FIELD = pb.FieldDescriptorProto
TYPES: dict[Any, Callable[[Random], Any]] = {
    FIELD.TYPE_BOOL: lambda random: random.random() < 0.5,
    FIELD.TYPE_BYTES: lambda random: random.randbytes(random.randrange(5)),
    FIELD.TYPE_DOUBLE: lambda random: random.choice([0.0, -0.0, 1e300, float("inf"), random.random()]),
    FIELD.TYPE_FIXED32: lambda random: random.choice([0, 2**32 - 1, random.randrange(2**32)]),
    FIELD.TYPE_FIXED64: lambda random: random.choice([0, 2**64 - 1, random.randrange(2**64)]),
    FIELD.TYPE_FLOAT: lambda random: random.choice([0.0, 0.5, -1.25, float("-inf"), 1e-40]),
    FIELD.TYPE_INT32: lambda random: random.choice([0, -1, 2**31 - 1, -(2**31)]),
    FIELD.TYPE_INT64: lambda random: random.choice([0, -1, 2**63 - 1, -(2**63)]),
    FIELD.TYPE_SFIXED32: lambda random: random.choice([0, -1, 2**31 - 1, -(2**31)]),
    FIELD.TYPE_SFIXED64: lambda random: random.choice([0, -1, 2**63 - 1, -(2**63)]),
    FIELD.TYPE_SINT32: lambda random: random.choice([0, -1, 2**31 - 1, -(2**31)]),
    FIELD.TYPE_SINT64: lambda random: random.choice([0, -1, 2**63 - 1, -(2**63)]),
    FIELD.TYPE_STRING: lambda random: random.choice(["", "a", "größer", "\x00", "😀" * random.randrange(9)]),
    FIELD.TYPE_UINT32: lambda random: random.choice([0, 2**32 - 1, random.randrange(2**32)]),
    FIELD.TYPE_UINT64: lambda random: random.choice([0, 2**64 - 1, random.randrange(2**64)]),
}
KEYS = sorted(TYPES.keys() - {FIELD.TYPE_DOUBLE, FIELD.TYPE_FLOAT, FIELD.TYPE_BYTES})
SYMBOLS = ("NONE", "ONE", "TWO")
SHAPES = ("plain", "repeated", "map", "oneof", "optional")
"""Types of fields; an optional of proto3 stands behind every oneof."""
MESSAGES = ("M0", "M1", "M2")


def source(text: str) -> Source:
    """A schema as the registry stores it."""
    return Source("PROTOBUF", text, (), LANGUAGE.compiled(LANGUAGE.parse(text, (), False)))


def source_of(file: pb.FileDescriptorProto) -> Source:
    return Source("PROTOBUF", "", (), pb.FileDescriptorSet(file=[file]).SerializeToString())


def random_file(random: Random) -> pb.FileDescriptorProto:
    """Messages that hold each other, themselves among them, and an enum; of either syntax."""
    file = pb.FileDescriptorProto(name="default", package="p", syntax=random.choice(["proto2", "proto3"]))
    file.enum_type.add(name="E").value.extend(
        pb.EnumValueDescriptorProto(name=name, number=number) for number, name in enumerate(SYMBOLS)
    )
    for name in MESSAGES:
        message = file.message_type.add(name=name)
        shapes = sorted(random.choices(SHAPES, k=random.randrange(6)), key=SHAPES.index)
        for number, shape in zip(random.sample(range(1, 40), len(shapes)), shapes, strict=True):
            add_field(message, number, shape, file.syntax, random)
    return file


def add_field(message: pb.DescriptorProto, number: int, shape: str, syntax: str, random: Random) -> None:
    field = message.field.add(name=f"f{number}", number=number, label=FIELD.LABEL_OPTIONAL)
    if shape in ("repeated", "map"):
        field.label = FIELD.LABEL_REPEATED
    if shape == "map":
        entry = message.nested_type.add(name=f"F{number}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=random.choice(KEYS), label=FIELD.LABEL_OPTIONAL)
        set_type(entry.field.add(name="value", number=2, label=FIELD.LABEL_OPTIONAL), random)
        field.type, field.type_name = FIELD.TYPE_MESSAGE, f".p.{message.name}.{entry.name}"
        return
    set_type(field, random)
    if shape == "oneof":
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"o{number}")
    elif shape == "optional" and syntax == "proto3":
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_f{number}")


def set_type(field: FIELD, random: Random) -> None:
    kind = random.choice([*TYPES, FIELD.TYPE_ENUM, FIELD.TYPE_MESSAGE, FIELD.TYPE_MESSAGE, FIELD.TYPE_MESSAGE])
    field.type = kind
    if kind == FIELD.TYPE_ENUM:
        field.type_name = ".p.E"
    elif kind == FIELD.TYPE_MESSAGE:
        field.type_name = f".p.{random.choice(MESSAGES)}"


def evolved(file: pb.FileDescriptorProto, random: Random) -> pb.FileDescriptorProto:
    """The same with fields dropped and others added, some of them under a number that meant something else."""
    other = pb.FileDescriptorProto.FromString(file.SerializeToString())
    for message in other.message_type:
        kept = [field for field in message.field if field.HasField("oneof_index") or random.random() < 0.7]
        del message.field[:]
        message.field.extend(kept)
        used = {field.number for field in kept}
        names = {entry.name for entry in message.nested_type}
        for number in random.sample(range(1, 40), 3):
            if number not in used and f"F{number}Entry" not in names:
                add_field(message, number, random.choice(("plain", "repeated", "map")), file.syntax, random)
    return other


def fill(message: Message, random: Random, depth: int = 0) -> Any:
    """Sets some of the fields. depth: messages around this one."""
    for field in message.DESCRIPTOR.fields:
        if random.random() < 0.3 or (depth > 3 and field.message_type):
            continue
        if field.message_type and field.message_type.GetOptions().map_entry:
            key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
            found = getattr(message, field.name)
            for _ in range(random.randrange(3)):
                if value.message_type:
                    fill(found[TYPES[key.type](random)], random, depth + 1)
                else:
                    found[TYPES[key.type](random)] = a_value(value, random)
        elif field.is_repeated:
            for _ in range(random.randrange(4)):
                if field.message_type:
                    fill(getattr(message, field.name).add(), random, depth + 1)
                else:
                    getattr(message, field.name).append(a_value(field, random))
        elif field.message_type:
            getattr(message, field.name).SetInParent()
            fill(getattr(message, field.name), random, depth + 1)
        else:
            setattr(message, field.name, a_value(field, random))
    return message


def a_value(field: Any, random: Random) -> Any:
    if field.enum_type:
        return random.randrange(len(SYMBOLS) + (2 if field.file.serialized_pb.endswith(b"proto3") else 0))
    return TYPES[field.type](random)


def damaged(payload: bytes, random: Random) -> bytes:
    """Cut off, a bit turned, a length made huge, something put between."""
    at = random.randrange(len(payload) + 1)
    return random.choice(
        [
            payload[:at],
            payload[:at] + bytes([payload[at] ^ 1 << random.randrange(8)]) + payload[at + 1 :]
            if at < len(payload)
            else b"",
            payload[:at] + b"\xff" * random.randrange(1, 12) + payload[at:],
            payload[:at] + random.randbytes(random.randrange(1, 9)) + payload[at:],
        ]
    )
