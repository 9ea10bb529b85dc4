"""One order and one spelling for everything whose order and spelling have no meaning (contract D.4, PN-1 to PN-10).

The order of messages, enums, services and rpcs is never touched: serialisers address a message by its place (PR-6).
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from sigla import effort
from sigla.languages.protobuf.kinds import SCALARS, entry_types
from sigla.languages.protobuf.limits import too_deep
from sigla.languages.protobuf.names import Names
from sigla.languages.protobuf.options import Options
from sigla.languages.protobuf.parse import MAP_KEYS
from sigla.languages.protobuf.tree import (
    Constant,
    Document,
    Enum,
    Extend,
    ExtensionRanges,
    Field,
    File,
    Group,
    MapType,
    Message,
    Oneof,
    Range,
    Reserved,
    Rpc,
    Service,
)

Scope: TypeAlias = tuple[str, ...]
"""The simple names of the messages around, the outermost first."""

TOP: Final[Scope] = ()
STEPS_OF_A_DECLARATION: Final = 4


def normalised(document: Document) -> File:
    """A new file; that of the document stays as it is."""
    try:
        return Tidy(document).file(document.file)
    except RecursionError:
        raise too_deep() from None


class Tidy:
    """Makes the nodes of one normalised file. known: what was found for the names met so far."""

    __slots__ = ("known", "names", "options")

    def __init__(self, document: Document) -> None:
        self.names = Names(document)
        self.options = Options(self.names)
        self.known: dict[tuple[str, Scope], str | MapType] = {}

    def file(self, file: File) -> File:
        tidy = File()
        tidy.syntax = "" if file.syntax == "proto2" else file.syntax
        tidy.edition = file.edition
        tidy.package = file.package
        tidy.imports = in_order(file.imports)
        tidy.public = in_order(file.public)
        tidy.options = self.options.in_order(file.options, TOP)
        tidy.messages = [self.message(message, TOP) for message in without_entries(file.messages)]
        tidy.enums = [self.enum(enum, TOP) for enum in file.enums]
        tidy.extends = [self.extend(extend, TOP) for extend in file.extends]
        tidy.services = [self.service(service) for service in file.services]
        return tidy

    # --- names ---

    def named(self, name: str, scope: Scope) -> str | MapType:
        """A type in full with a leading dot, or the map that it stands for (PN-3, PN-9); unknown ones as written."""
        if name in SCALARS:
            return name
        key = (name, scope)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self.found(name, scope)
        return known

    def found(self, name: str, scope: Scope) -> str | MapType:
        found = self.names.find(name, scope)
        if found is None:
            return name
        entry = map_of(found.definition) if isinstance(found.definition, Message) else None
        if entry is None:
            return f".{found.full}"
        value = self.names.find(entry.value, found.local.split("."), found.file)
        return MapType(entry.key, entry.value if value is None else f".{value.full}")

    def type(self, type_: str | MapType, scope: Scope) -> str | MapType:
        if isinstance(type_, MapType):
            return MapType(type_.key, self.message_type(type_.value, scope))
        return self.named(type_, scope)

    def message_type(self, name: str, scope: Scope) -> str:
        """A name where no map can stand."""
        type_ = self.named(name, scope)
        return type_ if isinstance(type_, str) else name

    # --- declarations ---

    def message(self, message: Message, outer: Scope) -> Message:
        effort.pulse(STEPS_OF_A_DECLARATION * (1 + len(message.fields)))
        scope = (*outer, message.name)
        tidy = Message(message.name)
        tidy.reserved = apart(message.reserved)
        tidy.options = self.options.in_order(message.options, scope)
        tidy.fields = self.fields(message.fields, scope)
        tidy.oneofs = sorted([self.oneof(oneof, scope) for oneof in message.oneofs if members(oneof)], key=first_tag)
        tidy.emptied = message.emptied or bool(message.oneofs and not tidy.oneofs)
        tidy.groups = self.groups(message.groups, scope)
        tidy.extensions = self.extensions(message.extensions, scope)
        tidy.extends = [self.extend(extend, scope) for extend in message.extends]
        tidy.messages = [self.message(nested, scope) for nested in without_entries(message.messages)]
        tidy.enums = [self.enum(enum, scope) for enum in message.enums]
        return tidy

    def fields(self, fields: Iterable[Field], scope: Scope) -> list[Field]:
        return [self.field(field, scope) for field in sorted(fields, key=by_tag)]

    def field(self, field: Field, scope: Scope) -> Field:
        effort.pulse(STEPS_OF_A_DECLARATION)
        type_ = self.type(field.type, scope)
        label = "" if isinstance(type_, MapType) else field.label
        return Field(label, type_, field.name, field.tag, self.options.in_order(field.options, scope))

    def groups(self, groups: Iterable[Group], scope: Scope) -> list[Group]:
        return [
            Group(
                group.label,
                group.name,
                group.tag,
                self.message(group.body, scope),
                self.options.in_order(group.options, scope),
            )
            for group in sorted(groups, key=by_tag)
        ]

    def oneof(self, oneof: Oneof, scope: Scope) -> Oneof:
        effort.pulse(STEPS_OF_A_DECLARATION)
        tidy = Oneof(oneof.name)
        tidy.options = self.options.in_order(oneof.options, scope)
        tidy.fields = self.fields(oneof.fields, scope)
        tidy.groups = self.groups(oneof.groups, scope)
        return tidy

    def extend(self, extend: Extend, scope: Scope) -> Extend:
        effort.pulse(STEPS_OF_A_DECLARATION)
        tidy = Extend(self.message_type(extend.extendee, scope))
        tidy.fields = self.fields(extend.fields, scope)
        tidy.groups = self.groups(extend.groups, scope)
        return tidy

    def extensions(self, statements: Iterable[ExtensionRanges], scope: Scope) -> list[ExtensionRanges]:
        single = [
            ExtensionRanges([range_], self.options.in_order(statement.options, scope))
            for statement in statements
            for range_ in statement.ranges
        ]
        return sorted(single, key=lambda each: by_start(each.ranges[0]))

    def enum(self, enum: Enum, scope: Scope) -> Enum:
        effort.pulse(STEPS_OF_A_DECLARATION * (1 + len(enum.constants)))
        tidy = Enum(enum.name)
        tidy.reserved = apart(enum.reserved)
        tidy.options = self.options.in_order(enum.options, scope)
        tidy.constants = [
            Constant(constant.name, constant.number, self.options.in_order(constant.options, scope))
            for constant in sorted(enum.constants, key=lambda constant: (constant.number, constant.name))
        ]
        return tidy

    def service(self, service: Service) -> Service:
        tidy = Service(service.name)
        tidy.options = self.options.in_order(service.options, TOP)
        tidy.rpcs = [self.rpc(rpc) for rpc in service.rpcs]
        return tidy

    def rpc(self, rpc: Rpc) -> Rpc:
        effort.pulse(STEPS_OF_A_DECLARATION)
        tidy = Rpc(rpc.name, self.message_type(rpc.request, TOP), self.message_type(rpc.response, TOP))
        tidy.request_streams = rpc.request_streams
        tidy.response_streams = rpc.response_streams
        tidy.options = self.options.in_order(rpc.options, TOP)
        return tidy


def map_of(message: Message) -> MapType | None:
    """The map of which the message is the entry, if it is one that can be written as a map."""
    types = entry_types(message)
    return types if types and types.key in MAP_KEYS else None


def without_entries(messages: Iterable[Message]) -> Iterator[Message]:
    return (message for message in messages if map_of(message) is None)


def by_tag(member: Field | Group) -> int:
    return member.tag


def members(oneof: Oneof) -> list[Field | Group]:
    return [*oneof.fields, *oneof.groups]


def first_tag(oneof: Oneof) -> int:
    return min(member.tag for member in members(oneof))


def in_order(paths: list[str]) -> list[str]:
    """Each once."""
    effort.pulse(len(paths))
    return sorted(set(paths))


def by_start(range_: Range) -> tuple[int, int]:
    return range_.start, range_.end


def apart(statements: Iterable[Reserved]) -> list[Reserved]:
    """Each entry in a statement of its own: ranges by start, then names (PN-6)."""
    ranges: list[Range] = []
    names: list[str] = []
    for statement in statements:
        effort.pulse(1 + len(statement))
        ranges += [entry for entry in statement if isinstance(entry, Range)]
        names += [entry for entry in statement if isinstance(entry, str)]
    ranges.sort(key=by_start)
    effort.pulse(len(ranges))
    names.sort()
    effort.pulse(len(names))
    single: list[Reserved] = [[range_] for range_ in ranges]
    single += [[name] for name in names]
    return single
