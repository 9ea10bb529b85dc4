"""Printing a file: the canonical text (contract D.3), and the same without extensions (D.3.2).

Every function appends whole lines, each with the indentation of what it stands in. A blank line within a declaration
has the indentation of the declaration itself.
"""

from collections.abc import Sequence
from typing import Final

from sigla import effort
from sigla.languages.protobuf.limits import too_deep
from sigla.languages.protobuf.tokens import quoted
from sigla.languages.protobuf.tree import (
    MAX_TAG,
    Enum,
    Extend,
    ExtensionRanges,
    Field,
    File,
    Group,
    Listed,
    MapType,
    Message,
    Oneof,
    Option,
    Range,
    Reserved,
    Rpc,
    Service,
    Text,
    Value,
    Word,
)

STEP: Final = "  "
STEPS_OF_A_MESSAGE: Final = 4
OURS: Final = "confluent."
"""Extensions by which the registry and its clients speak to each other; they stay when all others go."""


def written(file: File) -> str:
    """The text to store and hash."""
    return Printer().text(file)


def without_extensions(file: File) -> str:
    """The canonical text without parenthesised options, extends and extension ranges."""
    return Printer(extensions=False).text(file)


class Printer:
    """Prints one text. lines: all lines so far."""

    __slots__ = ("extensions", "lines")

    def __init__(self, *, extensions: bool = True) -> None:
        self.extensions = extensions
        self.lines: list[str] = []

    def text(self, file: File) -> str:
        try:
            self.file(file)
        except RecursionError:
            raise too_deep() from None
        self.lines.append("")
        return "\n".join(self.lines)

    def file(self, file: File) -> None:
        lines = self.lines
        if file.syntax:
            lines.append(f'syntax = "{file.syntax}";')
        if file.package:
            lines.append(f"package {file.package};")
        if file.imports or file.public:
            lines.append("")
            self.imports("import", file.imports)
            self.imports("import public", file.public)
        if options := self.shown(file.options):
            lines.append("")
            self.options(options, "")
        if file.messages or file.enums:
            lines.append("")
            self.types(file, "")
        if file.extends and self.extensions:
            lines.append("")
            for extend in file.extends:
                self.extend(extend, "")
        if file.services:
            lines.append("")
            for service in file.services:
                self.service(service)

    # --- declarations ---

    def types(self, around: File | Message, pad: str) -> None:
        for message in around.messages:
            self.message(f"{pad}message {message.name}", message, pad)
        for enum in around.enums:
            self.enum(enum, pad)

    def message(self, head: str, message: Message, pad: str) -> None:
        effort.pulse(STEPS_OF_A_MESSAGE + len(message.fields))
        lines = self.lines
        start = len(lines)
        inner = pad + STEP
        lines.append(f"{head} {{")
        if message.reserved:
            self.reserved(message.reserved, inner)
            lines.append(pad)
        if message.options and (options := self.shown(message.options)):
            self.options(options, inner)
            lines.append(pad)
        if message.fields:
            self.fields(message.fields, inner)
            lines.append(pad)
        if message.oneofs or message.emptied:
            for oneof in message.oneofs:
                self.oneof(oneof, inner)
            lines.append(pad)
        if message.groups:
            self.groups(message.groups, inner)
            lines.append(pad)
        if message.extensions and self.extensions:
            for ranges in message.extensions:
                self.ranges(ranges, inner)
            lines.append(pad)
        if message.extends and self.extensions:
            for extend in message.extends:
                self.extend(extend, inner)
            lines.append(pad)
        if message.messages or message.enums:
            self.types(message, inner)
            lines.append(pad)
        self.close(start, head, pad)

    def close(self, start: int, head: str, pad: str) -> None:
        """Ends a declaration that began with line `start`; the blank line after its last section becomes the end."""
        lines = self.lines
        if len(lines) == start + 1:
            lines[start] = f"{head} {{}}"
        else:
            lines[-1] = f"{pad}}}"

    def fields(self, fields: Sequence[Field], pad: str) -> None:
        lines = self.lines
        for field in fields:
            type_ = field.type
            if isinstance(type_, MapType):
                type_ = f"map<{type_.key}, {type_.value}>"
            label = f"{field.label} " if field.label else ""
            options = self.brackets(field.options, pad) if field.options else ""
            lines.append(f"{pad}{label}{type_} {field.name} = {field.tag}{options};")

    def groups(self, groups: Sequence[Group], pad: str) -> None:
        for group in groups:
            label = f"{group.label} " if group.label else ""
            options = self.brackets(group.options, pad)
            self.message(f"{pad}{label}group {group.name} = {group.tag}{options}", group.body, pad)

    def oneof(self, oneof: Oneof, pad: str) -> None:
        effort.pulse(STEPS_OF_A_MESSAGE + len(oneof.fields))
        lines = self.lines
        start = len(lines)
        head = f"{pad}oneof {oneof.name}"
        inner = pad + STEP
        lines.append(f"{head} {{")
        if options := self.shown(oneof.options):
            self.options(options, inner)
            lines.append(pad)
        if oneof.fields:
            self.fields(oneof.fields, inner)
            lines.append(pad)
        if oneof.groups:
            self.groups(oneof.groups, inner)
            lines.append(pad)
        self.close(start, head, pad)

    def extend(self, extend: Extend, pad: str) -> None:
        effort.pulse(STEPS_OF_A_MESSAGE + len(extend.fields))
        lines = self.lines
        start = len(lines)
        head = f"{pad}extend {extend.extendee}"
        lines.append(f"{head} {{")
        if extend.fields:
            self.fields(extend.fields, pad + STEP)
            lines.append(pad)
        if extend.groups:
            self.groups(extend.groups, pad + STEP)
            lines.append(pad)
        self.close(start, head, pad)

    def enum(self, enum: Enum, pad: str) -> None:
        effort.pulse(STEPS_OF_A_MESSAGE + len(enum.constants))
        lines = self.lines
        start = len(lines)
        head = f"{pad}enum {enum.name}"
        inner = pad + STEP
        lines.append(f"{head} {{")
        self.reserved(enum.reserved, inner)
        self.options(self.shown(enum.options), inner)
        for constant in enum.constants:
            options = self.brackets(constant.options, inner) if constant.options else ""
            lines.append(f"{inner}{constant.name} = {constant.number}{options};")
        if len(lines) > start + 1:
            lines.append("")
        self.close(start, head, pad)

    def service(self, service: Service) -> None:
        lines = self.lines
        start = len(lines)
        head = f"service {service.name}"
        lines.append(f"{head} {{")
        if options := self.shown(service.options):
            self.options(options, STEP)
            lines.append("")
        if service.rpcs:
            for rpc in service.rpcs:
                self.rpc(rpc)
            lines.append("")
        self.close(start, head, "")

    def rpc(self, rpc: Rpc) -> None:
        effort.pulse(STEPS_OF_A_MESSAGE)
        request = f"stream {rpc.request}" if rpc.request_streams else rpc.request
        response = f"stream {rpc.response}" if rpc.response_streams else rpc.response
        line = f"{STEP}rpc {rpc.name} ({request}) returns ({response})"
        options = self.shown(rpc.options)
        if not options:
            self.lines.append(f"{line};")
            return
        self.lines.append(f"{line} {{")
        self.options(options, STEP + STEP)
        self.lines.append(f"{STEP}}};")

    def imports(self, keyword: str, paths: Sequence[str]) -> None:
        self.lines += [f"{keyword} {quoted(path)};" for path in effort.paced(paths)]

    def reserved(self, statements: Sequence[Reserved], pad: str) -> None:
        for statement in effort.paced(statements):
            entries = [span(entry) if isinstance(entry, Range) else quoted(entry) for entry in effort.paced(statement)]
            self.lines.append(f"{pad}reserved {', '.join(entries)};")

    def ranges(self, extensions: ExtensionRanges, pad: str) -> None:
        options = self.brackets(extensions.options, pad)
        self.lines.append(f"{pad}extensions {', '.join(map(span, extensions.ranges))}{options};")

    # --- options ---

    def shown(self, options: list[Option]) -> list[Option]:
        if self.extensions or not options:
            return options
        return [option for option in options if not option.extension or option.name.lstrip(".").startswith(OURS)]

    def options(self, options: Sequence[Option], pad: str) -> None:
        self.lines += [f"{pad}option {assignment(option, pad)};" for option in effort.paced(options, 2)]

    def brackets(self, options: list[Option], pad: str) -> str:
        """Options of fields and the like, after a space: one on the line itself, several on lines of their own."""
        options = self.shown(options)
        if not options:
            return ""
        if len(options) == 1:
            return f" [{assignment(options[0], pad)}]"
        inner = pad + STEP
        assignments = f",\n{inner}".join([assignment(option, inner) for option in options])
        return f" [\n{inner}{assignments}\n{pad}]"


def assignment(option: Option, pad: str) -> str:
    name = f"({option.name}){option.path}" if option.extension else f"{option.name}{option.path}"
    return f"{name} = {value(option.value, pad)}"


def value(value_: Value, pad: str) -> str:
    """A value. pad: the indentation of the line that it begins in."""
    effort.pulse(1)
    if isinstance(value_, Word):
        return value_.text
    if isinstance(value_, Text):
        return quoted(value_.text)
    inner = pad + STEP
    if isinstance(value_, Listed):
        return enclosed("[", [value(each, inner) for each in value_.values], "]", pad)
    return enclosed("{", [f"{key}: {value(each, inner)}" for key, each in value_.members], "}", pad)


def enclosed(opening: str, items: Sequence[str], closing: str, pad: str) -> str:
    """Each item on a line of its own."""
    inside = "".join([f"\n{pad}{STEP}{item}," for item in items])[:-1]
    return f"{opening}{inside}\n{pad}{closing}"


def span(range_: Range) -> str:
    if range_.end >= MAX_TAG:
        return f"{range_.start} to max"
    return f"{range_.start} to {range_.end}" if range_.end != range_.start else str(range_.start)
