"""From a tree to a FileDescriptorProto, as protoc would make it (contract D.3.2).

What protoc would refuse is built all the same: a duplicate tag stands twice, an undeclared type keeps its spelling.
Differences that cannot be seen by a reader: messages declared in place (groups, entries of maps) stand behind those
declared by name, so that these keep their index (PR-6); json_name, a label and the syntax stand only where the source
has them, and oneofs have options, if empty ones: as the reference writes them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from sigla import effort
from sigla.languages.protobuf.names import FoundType, Names
from sigla.languages.protobuf.scalars import ENUM, GROUP, MESSAGE, NUMBERS, default
from sigla.languages.protobuf.tree import (
    MAX_TAG,
    Constant,
    Enum,
    Extend,
    ExtensionRanges,
    Field,
    File,
    Group,
    MapType,
    Message,
    Oneof,
    Option,
    Range,
    Reserved,
    Rpc,
    Service,
    Text,
    Word,
    added,
)

if TYPE_CHECKING:
    from google.protobuf import descriptor_pb2 as pb
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer as Repeated

    Optioned: TypeAlias = (
        pb.FileDescriptorProto
        | pb.DescriptorProto
        | pb.DescriptorProto.ExtensionRange
        | pb.OneofDescriptorProto
        | pb.FieldDescriptorProto
        | pb.EnumDescriptorProto
        | pb.EnumValueDescriptorProto
        | pb.ServiceDescriptorProto
        | pb.MethodDescriptorProto
    )
    """All that has options."""

STEPS_OF_A_DECLARATION: Final = 10
LABELS: Final = {"optional": 1, "required": 2, "repeated": 3}
"""FieldDescriptorProto.Label."""

NOT_OPTIONS: Final = frozenset(("default", "json_name"))
"""What stands among the options of a field and is something else."""

MAX_CONSTANT: Final = 2**31 - 1
"""Where `max` is in an enum."""


class Pending:
    """Options that wait for all files to be built: their extensions may be declared in any of them."""

    __slots__ = ("file", "options", "scope", "target")

    def __init__(self, target: "Optioned", options: list[Option], scope: Sequence[str], file: File) -> None:
        self.target = target
        self.options = options
        self.scope = scope
        self.file = file


class Built:
    """A file without its dependencies. used: the files, beside its own, whose types it names."""

    __slots__ = ("pending", "proto", "used")

    def __init__(self, proto: "pb.FileDescriptorProto", used: list[File], pending: list[Pending]) -> None:
        self.proto = proto
        self.used = used
        self.pending = pending


def build(file: File, path: str, names: Names) -> Built:
    """The file under this import path, without its dependencies and with its options still pending."""
    builder = _Builder(file, names)
    builder.file_proto(path)
    return Built(builder.proto, list(builder.used.values()), builder.pending)


class _Builder:
    def __init__(self, file: File, names: Names) -> None:
        from google.protobuf import descriptor_pb2  # noqa: PLC0415 - costs a cold start more than this whole language

        self.file = file
        self.names = names
        self.proto3 = file.syntax == "proto3"
        self.proto = descriptor_pb2.FileDescriptorProto()
        self.used: dict[int, File] = {}
        self.pending: list[Pending] = []

    def file_proto(self, path: str) -> None:
        file, proto = self.file, self.proto
        proto.name = path
        if file.package:
            proto.package = file.package
        if file.syntax:
            proto.syntax = file.syntax
        for message in file.messages:
            self.message(message, proto.message_type.add(), ())
        for enum in file.enums:
            self.enum(enum, proto.enum_type.add(), ())
        for service in file.services:
            self.service(service, proto.service.add())
        self.extends(file.extends, proto.extension, proto.message_type, ())
        self.options(file.options, proto, ())

    def message(self, message: Message, proto: "pb.DescriptorProto", outer: Sequence[str]) -> None:
        """outer: the names of the messages around it."""
        effort.pulse(STEPS_OF_A_DECLARATION)
        scope = (*outer, message.name)
        proto.name = message.name
        for nested in message.messages:
            self.message(nested, proto.nested_type.add(), scope)
        for enum in message.enums:
            self.enum(enum, proto.enum_type.add(), scope)
        self.fields(message, proto, scope)
        self.extends(message.extends, proto.extension, proto.nested_type, scope)
        for extensions in message.extensions:
            self.extension_ranges(extensions, proto, scope)
        for start, end in _ranges(message.reserved):
            proto.reserved_range.add(start=start, end=_after(end))
        proto.reserved_name.extend(_names(message.reserved))
        self.options(message.options, proto, scope)

    def fields(self, message: Message, proto: "pb.DescriptorProto", scope: Sequence[str]) -> None:
        for field in message.fields:
            self.field(field, proto.field.add(), scope, proto)
        for group in message.groups:
            self.group(group, proto.field.add(), proto.nested_type.add(), scope)
        for oneof in _merged(message.oneofs):
            self.oneof(oneof, proto, scope)
        self.synthetic_oneofs(proto)

    def oneof(self, oneof: Oneof, proto: "pb.DescriptorProto", scope: Sequence[str]) -> None:
        effort.pulse(STEPS_OF_A_DECLARATION)
        index = len(proto.oneof_decl)
        declared = proto.oneof_decl.add(name=oneof.name)
        declared.options.SetInParent()
        self.options(oneof.options, declared, scope)
        for field in oneof.fields:
            member = proto.field.add()
            self.field(field, member, scope, proto)
            member.oneof_index = index
        for group in oneof.groups:
            member = proto.field.add()
            self.group(group, member, proto.nested_type.add(), scope)
            member.oneof_index = index

    @staticmethod
    def synthetic_oneofs(proto: "pb.DescriptorProto") -> None:
        """An `optional` of proto3 is the only member of a oneof that stands behind the declared ones."""
        wanted = [field for field in proto.field if field.proto3_optional]
        if not wanted:
            return
        taken = {field.name for field in chain(proto.field, proto.extension)}
        taken |= {message.name for message in proto.nested_type} | {enum.name for enum in proto.enum_type}
        taken |= {oneof.name for oneof in proto.oneof_decl}
        # Two fields of one name share theirs: no reader takes them, and a name for each would grow with every field.
        oneofs: dict[str, int] = {}
        for field in wanted:
            if field.name not in oneofs:
                name = field.name if field.name.startswith("_") else f"_{field.name}"
                while name in taken:
                    name = f"X{name}"
                taken.add(name)
                oneofs[field.name] = len(proto.oneof_decl)
                proto.oneof_decl.add(name=name).options.SetInParent()
            field.oneof_index = oneofs[field.name]

    def field(
        self,
        field: Field,
        proto: "pb.FieldDescriptorProto",
        scope: Sequence[str],
        around: "pb.DescriptorProto | None" = None,
    ) -> None:
        """around: the message that takes the entries of a map; None for an extension, which cannot be one."""
        effort.pulse(STEPS_OF_A_DECLARATION)
        proto.name = field.name
        proto.number = field.tag
        if isinstance(field.type, MapType):
            _set_label(proto, "repeated")
            if around is not None:
                self.map_entry(field.name, field.type, proto, around, scope)
        else:
            self.label(field.label, proto)
            self.type(field.type, proto, scope)
        self.field_options(field.options, proto, scope)

    def label(self, label: str, proto: "pb.FieldDescriptorProto") -> None:
        _set_label(proto, label)
        if self.proto3 and label == "optional":
            proto.proto3_optional = True

    def type(self, name: str, proto: "pb.FieldDescriptorProto", scope: Sequence[str]) -> None:
        scalar = NUMBERS.get(name)
        if scalar is not None:
            _set_type(proto, scalar)
            return
        found = self.find(name, scope)
        if found is None:
            proto.type_name = name
            return
        _set_type(proto, ENUM if isinstance(found.definition, Enum) else MESSAGE, f".{found.full}")

    def type_name(self, name: str, scope: Sequence[str]) -> str:
        """The full name, of what an rpc or an extend names."""
        found = self.find(name, scope)
        return f".{found.full}" if found else name

    def find(self, name: str, scope: Sequence[str]) -> FoundType | None:
        found = self.names.find(name, scope, self.file)
        if found and found.file is not self.file:
            self.used[id(found.file)] = found.file
        return found

    def map_entry(
        self,
        name: str,
        type_: MapType,
        proto: "pb.FieldDescriptorProto",
        around: "pb.DescriptorProto",
        scope: Sequence[str],
    ) -> None:
        entry = around.nested_type.add(name=entry_name(name))
        entry.options.map_entry = True
        self.field(Field("", type_.key, "key", 1), entry.field.add(), scope)
        self.field(Field("", type_.value, "value", 2), entry.field.add(), scope)
        _set_type(proto, MESSAGE, self.inside(scope, entry.name))

    def group(
        self, group: Group, proto: "pb.FieldDescriptorProto", body: "pb.DescriptorProto", scope: Sequence[str]
    ) -> None:
        self.message(group.body, body, scope)
        proto.name = group.name.lower()
        proto.number = group.tag
        _set_type(proto, GROUP, self.inside(scope, group.name))
        self.label(group.label, proto)
        self.field_options(group.options, proto, scope)

    def inside(self, scope: Sequence[str], name: str) -> str:
        """The full name of what is declared there."""
        return "." + ".".join(filter(None, (self.file.package, *scope, name)))

    def field_options(self, options: list[Option], proto: "pb.FieldDescriptorProto", scope: Sequence[str]) -> None:
        """`default` and `json_name` look like options and are fields of the descriptor."""
        if not options:
            return
        for option in options:
            if option.extension or option.path:
                continue
            if option.name == "json_name" and isinstance(option.value, Text):
                proto.json_name = option.value.text
            # proto3 knows no defaults. The reference reads them (PP-32); pools refuse the whole file.
            elif option.name == "default" and not self.proto3 and isinstance(option.value, Word | Text):
                proto.default_value = default(proto.type, option.value)
        self.options([each for each in options if each.extension or each.name not in NOT_OPTIONS], proto, scope)

    def extends(
        self,
        extends: Iterable[Extend],
        fields: "Repeated[pb.FieldDescriptorProto]",
        bodies: "Repeated[pb.DescriptorProto]",
        scope: Sequence[str],
    ) -> None:
        effort.pulse(STEPS_OF_A_DECLARATION)
        for extend in extends:
            extendee = self.type_name(extend.extendee, scope)
            for field in extend.fields:
                self.field(field, fields.add(extendee=extendee), scope)
            for group in extend.groups:
                self.group(group, fields.add(extendee=extendee), bodies.add(), scope)

    def extension_ranges(self, extensions: ExtensionRanges, proto: "pb.DescriptorProto", scope: Sequence[str]) -> None:
        for each in extensions.ranges:
            added = proto.extension_range.add(start=each.start, end=_after(each.end))
            self.options(extensions.options, added, scope)

    def enum(self, enum: Enum, proto: "pb.EnumDescriptorProto", scope: Sequence[str]) -> None:
        effort.pulse(STEPS_OF_A_DECLARATION)
        proto.name = enum.name
        for constant in self.constants(enum):
            value = proto.value.add(name=constant.name, number=constant.number)
            self.options(constant.options, value, scope)
        for start, end in _ranges(enum.reserved):
            proto.reserved_range.add(start=start, end=MAX_CONSTANT if end >= MAX_TAG else end)
        proto.reserved_name.extend(_names(enum.reserved))
        self.options(enum.options, proto, scope)

    def constants(self, enum: Enum) -> list[Constant]:
        """In proto3 the first that is 0 comes first, or no pool would take the file: sorted texts begin below 0."""
        zero = next((each for each in enum.constants if each.number == 0), None)
        if not self.proto3 or zero is None:
            return enum.constants
        return [zero, *(each for each in enum.constants if each is not zero)]

    def service(self, service: Service, proto: "pb.ServiceDescriptorProto") -> None:
        proto.name = service.name
        for rpc in service.rpcs:
            self.rpc(rpc, proto.method.add())
        self.options(service.options, proto, ())

    def rpc(self, rpc: Rpc, proto: "pb.MethodDescriptorProto") -> None:
        effort.pulse(STEPS_OF_A_DECLARATION)
        proto.name = rpc.name
        proto.input_type = self.type_name(rpc.request, ())
        proto.output_type = self.type_name(rpc.response, ())
        if rpc.request_streams:
            proto.client_streaming = True
        if rpc.response_streams:
            proto.server_streaming = True
        self.options(rpc.options, proto, ())

    def options(self, options: list[Option], proto: "Optioned", scope: Sequence[str]) -> None:
        effort.pulse(STEPS_OF_A_DECLARATION * len(options))
        if options:
            self.pending.append(Pending(proto, options, scope, self.file))


def _set_label(proto: "pb.FieldDescriptorProto", label: str) -> None:
    if label:
        proto.label = LABELS[label]  # type: ignore[assignment]  # the stub wants a type that exists in stubs alone


def _set_type(proto: "pb.FieldDescriptorProto", number: int, name: str = "") -> None:
    proto.type = number  # type: ignore[assignment]  # as above
    if name:
        proto.type_name = name


def entry_name(field: str) -> str:
    """The name of the message that a map has for each of its entries: `foo_bar` gives `FooBarEntry`."""
    return "".join(f"{part[:1].upper()}{part[1:]}" for part in field.split("_")) + "Entry"


def _merged(oneofs: Iterable[Oneof]) -> Iterator[Oneof]:
    """Oneofs of one name as one, the first's options kept, and none that is empty (PP-52, PP-53)."""
    together: dict[str, Oneof] = {}
    for oneof in oneofs:
        known = together.get(oneof.name)
        if known is None:
            known = together[oneof.name] = Oneof(oneof.name)
            known.options = oneof.options
        known.fields = added(known.fields, *oneof.fields)
        known.groups = added(known.groups, *oneof.groups)
    return (oneof for oneof in together.values() if oneof.fields or oneof.groups)


def _ranges(reserved: Iterable[Reserved]) -> Iterator[tuple[int, int]]:
    """Both ends included."""
    return ((each.start, each.end) for statement in reserved for each in statement if isinstance(each, Range))


def _names(reserved: Iterable[Reserved]) -> Iterator[str]:
    return (each for statement in reserved for each in statement if isinstance(each, str))


def _after(end: int) -> int:
    """Ranges of tags end before this number."""
    return min(end, MAX_TAG) + 1
