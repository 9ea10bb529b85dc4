"""From a serialised FileDescriptorProto to a tree, as the reference reads one (contract D.1 PI-3, D.3.1).

Whatever comes out can be printed and read again: invalid names, and numbers that point nowhere, are refused.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from sigla.errors import Malformed
from sigla.languages.protobuf import file_set
from sigla.languages.protobuf.limits import MAX_DEPTH, too_deep
from sigla.languages.protobuf.scalars import GROUP, NAMES, default_value
from sigla.languages.protobuf.tree import (
    Constant,
    Enum,
    Extend,
    ExtensionRanges,
    Field,
    File,
    Group,
    Listed,
    Message,
    MessageValue,
    Oneof,
    Option,
    Range,
    Reserved,
    Rpc,
    Service,
    Text,
    Value,
    Word,
    added,
)

if TYPE_CHECKING:
    from google.protobuf import descriptor_pb2 as pb
    from google.protobuf import message as messages

LABELS: Final = {1: "optional", 2: "required", 3: "repeated"}

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORD: Final = re.compile(r"[A-Za-z0-9_.+-]+")
TYPE: Final = re.compile(r"\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")

OPTIONS: Final = {
    "FileOptions": (
        "java_package",
        "java_outer_classname",
        "java_multiple_files",
        "java_generate_equals_and_hash",
        "java_string_check_utf8",
        "optimize_for",
        "go_package",
        "cc_generic_services",
        "java_generic_services",
        "py_generic_services",
        "deprecated",
        "cc_enable_arenas",
        "objc_class_prefix",
        "csharp_namespace",
        "swift_prefix",
        "php_class_prefix",
        "php_namespace",
        "php_metadata_namespace",
        "ruby_package",
    ),
    "MessageOptions": ("no_standard_descriptor_accessor", "deprecated", "map_entry"),
    "FieldOptions": ("ctype", "packed", "jstype", "deprecated"),
    "EnumOptions": ("allow_alias", "deprecated"),
    "EnumValueOptions": ("deprecated",),
    "ServiceOptions": ("deprecated",),
    "MethodOptions": ("deprecated", "idempotency_level"),
}
"""The options that are kept, in this order. The others are dropped, as the reference does."""

VALUE_FIRST: Final = frozenset(("precision", "scale"))
"""The params that the reference prints with the value before the key."""


def file_of(data: bytes) -> File:
    """The file that a descriptor describes. Raises Malformed if it describes nothing."""
    proto = _proto(data)
    # Most random bytes are a message of unknown fields.
    if not proto.ListFields():
        raise Malformed("The descriptor is empty")
    return _Reader(proto).file()


def _proto(data: bytes) -> "pb.FileDescriptorProto":
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - costs a cold start more than this whole language

    try:
        return cast("pb.FileDescriptorProto", _message_class().FromString(data))
    except DecodeError:
        raise Malformed("The bytes are not a file descriptor") from None


@cache
def _message_class() -> "type[messages.Message]":
    """FileDescriptorProto, with options that know their `Meta`."""
    from google.protobuf import descriptor_pb2  # noqa: PLC0415 - as above
    from google.protobuf.descriptor_pool import DescriptorPool  # noqa: PLC0415 - as above
    from google.protobuf.message_factory import GetMessageClass  # noqa: PLC0415 - as above

    pool = DescriptorPool()
    pool.AddSerializedFile(descriptor_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file_set.known_proto(file_set.META))
    return GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FileDescriptorProto"))


class _Reader:
    """Reads one file."""

    def __init__(self, proto: "pb.FileDescriptorProto") -> None:
        self.proto = proto
        self.proto3 = proto.syntax == "proto3"

    def file(self) -> File:
        proto = self.proto
        file = File()
        file.syntax = proto.syntax if proto.syntax in {"proto2", "proto3"} else ""
        if proto.HasField("edition"):
            file.edition = _enum_value(proto, "edition").removeprefix("EDITION_")
        file.package = _type(proto.package) if proto.package else ""
        public = set(proto.public_dependency)
        for index, path in enumerate(proto.dependency):
            (file.public if index in public else file.imports).append(_string(path))
        file.options = _options(proto.options)
        file.messages = [self.message(message, 1) for message in proto.message_type]
        file.enums = [_enum(enum) for enum in proto.enum_type]
        file.extends = self.extends(proto.extension, file.messages)
        file.services = [_service(service) for service in proto.service]
        return file

    def message(self, proto: "pb.DescriptorProto", depth: int) -> Message:
        if depth > MAX_DEPTH:
            raise too_deep()
        message = Message(_name(proto.name))
        message.messages = [self.message(nested, depth + 1) for nested in proto.nested_type]
        message.enums = [_enum(enum) for enum in proto.enum_type]
        message.oneofs = [Oneof(_name(oneof.name)) for oneof in proto.oneof_decl]
        for field in proto.field:
            self.member(field, self.home(field, message), message.messages)
        # A oneof without members is the synthetic one of an `optional` in proto3.
        message.oneofs = [oneof for oneof in message.oneofs if oneof.fields or oneof.groups]
        message.extends = self.extends(proto.extension, message.messages)
        message.extensions = [ExtensionRanges([_range(each.start, each.end)]) for each in proto.extension_range]
        message.reserved = _reserved(
            (_range(each.start, each.end) for each in proto.reserved_range), proto.reserved_name
        )
        message.options = _options(proto.options)
        return message

    @staticmethod
    def home(field: "pb.FieldDescriptorProto", message: Message) -> "Message | Oneof":
        """Where a field stands."""
        if not field.HasField("oneof_index") or field.proto3_optional:
            return message
        if not 0 <= field.oneof_index < len(message.oneofs):
            raise Malformed(f"The field {field.name} belongs to a oneof that is not there")
        return message.oneofs[field.oneof_index]

    def extends(self, protos: Iterable["pb.FieldDescriptorProto"], messages: list[Message]) -> list[Extend]:
        """One for each message that is extended."""
        extends: dict[str, Extend] = {}
        for proto in protos:
            extend = extends.setdefault(proto.extendee, Extend(_type(proto.extendee)))
            self.member(proto, extend, messages)
        return list(extends.values())

    def member(self, proto: "pb.FieldDescriptorProto", home: Message | Oneof | Extend, messages: list[Message]) -> None:
        """Adds a field. messages: those declared beside it; a group takes its own from there."""
        label = "" if isinstance(home, Oneof) else self.label(proto)
        body = _body(proto, messages) if proto.type == GROUP else None
        options = self.field_options(proto)
        if body:
            messages.remove(body)
            home.groups = added(home.groups, Group(label, body.name, proto.number, body, options))
        else:
            home.fields = added(home.fields, Field(label, _field_type(proto), _name(proto.name), proto.number, options))

    def label(self, proto: "pb.FieldDescriptorProto") -> str:
        if proto.proto3_optional:
            return "optional"
        label = LABELS[proto.label]
        return "" if self.proto3 and label != "repeated" else label

    def field_options(self, proto: "pb.FieldDescriptorProto") -> list[Option]:
        options = _options(proto.options)
        if proto.HasField("default_value") and not self.proto3:
            value = default_value(proto.type, _string(proto.default_value))
            if isinstance(value, Word) and not WORD.fullmatch(value.text):
                raise Malformed(f"The field {proto.name} has an invalid default value")
            options.append(Option("default", value))
        if proto.HasField("json_name"):
            options.append(Option("json_name", Text(_string(proto.json_name))))
        return options


# --- what is the same in every syntax ---


def _enum(proto: "pb.EnumDescriptorProto") -> Enum:
    enum = Enum(_name(proto.name))
    enum.constants = [Constant(_name(each.name), each.number, _options(each.options)) for each in proto.value]
    enum.reserved = _reserved((_range(each.start, each.end + 1) for each in proto.reserved_range), proto.reserved_name)
    enum.options = _options(proto.options)
    return enum


def _service(proto: "pb.ServiceDescriptorProto") -> Service:
    service = Service(_name(proto.name))
    service.rpcs = [_rpc(method) for method in proto.method]
    service.options = _options(proto.options)
    return service


def _rpc(proto: "pb.MethodDescriptorProto") -> Rpc:
    rpc = Rpc(_name(proto.name), _type(proto.input_type), _type(proto.output_type))
    rpc.request_streams = proto.client_streaming
    rpc.response_streams = proto.server_streaming
    rpc.options = _options(proto.options)
    return rpc


def _body(proto: "pb.FieldDescriptorProto", messages: Iterable[Message]) -> Message | None:
    """The message of a group, which stands beside it and gave it its name."""
    name = _type(proto.type_name).rpartition(".")[2]
    return next((each for each in messages if each.name == name and name.lower() == proto.name), None)


def _field_type(proto: "pb.FieldDescriptorProto") -> str:
    if proto.HasField("type_name"):
        return _type(proto.type_name)
    if proto.type not in NAMES:
        raise Malformed(f"The field {proto.name} has no type")
    return NAMES[proto.type]


def _reserved(ranges: Iterable[Range], names: Iterable[str]) -> list[Reserved]:
    """Each on a line of its own, the ranges first."""
    entries: list[Range | str] = [*ranges, *map(_string, names)]
    return [[entry] for entry in entries]


def _range(start: int, end: int) -> Range:
    """From start to before end."""
    if start >= end:
        raise Malformed(f"Invalid range from {start} to {end - 1}")
    return Range(start, end - 1)


# --- options ---


def _options(options: "messages.Message") -> list[Option]:
    if not options.ByteSize():
        return []
    found = [Option(name, _value(options, name)) for name in OPTIONS[options.DESCRIPTOR.name] if options.HasField(name)]
    # The only extensions that are known without the files that a descriptor imports are those of a Meta.
    metas = {field.full_name: _meta(value) for field, value in options.ListFields() if field.is_extension}
    return found + [Option(name, MessageValue(meta), extension=True) for name, meta in metas.items() if meta]


def _value(options: "messages.Message", name: str) -> Value:
    value = getattr(options, name)
    if isinstance(value, bool):
        return Word("true" if value else "false")
    if isinstance(value, int):
        return Word(_enum_value(options, name))
    return Text(_string(value))


def _enum_value(message: Any, name: str) -> str:
    """The name of the constant that a field has as its value."""
    return cast("str", message.DESCRIPTOR.fields_by_name[name].enum_type.values_by_number[getattr(message, name)].name)


def _meta(meta: Any) -> list[tuple[str, Value]]:
    """doc, params, tags and rules, as far as they are there."""
    members: list[tuple[str, Value]] = [
        ("doc", Text(_string(meta.doc))),
        ("params", Listed([_param(key, value) for key, value in meta.params.items()])),
        ("tags", Listed([Text(_string(tag)) for tag in meta.tags])),
        ("rules", Listed([MessageValue(_rule(rule)) for rule in meta.rules])),
    ]
    return [(name, value) for name, value in members if _is_there(value)]


def _param(key: str, value: str) -> MessageValue:
    members: list[tuple[str, Value]] = [("key", Text(_string(key))), ("value", Text(_string(value)))]
    return MessageValue(members[::-1] if key in VALUE_FIRST else members)


def _rule(rule: Any) -> list[tuple[str, Value]]:
    return [(name, Text(_string(text))) for name in ("name", "doc", "expr", "sql") if (text := getattr(rule, name))]


def _is_there(value: Value) -> bool:
    return bool(value.text if isinstance(value, Text) else isinstance(value, Listed) and value.values)


# --- strings: what is not UTF-8 arrives as bytes ---


def _name(name: str | bytes) -> str:
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        raise Malformed(f"Invalid name {name!r:.80}")
    return name


def _type(name: str | bytes) -> str:
    if not (isinstance(name, str) and TYPE.fullmatch(name)):
        raise Malformed(f"Invalid name of a type {name!r:.80}")
    return name


def _string(text: str | bytes) -> str:
    if not isinstance(text, str):
        raise Malformed("A string of the descriptor is not valid UTF-8")
    return text
