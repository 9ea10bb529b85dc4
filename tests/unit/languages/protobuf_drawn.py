"""Valid .proto files as hypothesis draws them, as trees, and the same files as people write them: in any order."""

from collections.abc import Callable, Iterable
from random import Random

from hypothesis import strategies as st

from sigla.languages.protobuf.canonical import Printer
from sigla.languages.protobuf.tree import (
    Constant,
    Enum,
    Extend,
    ExtensionRanges,
    Field,
    File,
    Group,
    Listed,
    MapType,
    Message,
    MessageValue,
    Oneof,
    Option,
    Range,
    Rpc,
    Service,
    Text,
    Value,
    Word,
    added,
)

INTEGERS = ["int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64"]
SCALARS = [*INTEGERS, "bool", "string", "bytes", "float", "double"]
DEFAULTS: dict[str, st.SearchStrategy[Value]] = {
    "bool": st.sampled_from(["true", "false"]).map(Word),
    "string": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5).map(Text),
    "bytes": st.text(st.characters(max_codepoint=126, min_codepoint=1), max_size=5).map(Text),
    "float": st.sampled_from(["1.5", "-inf", "1e3", "0", "1e+20"]).map(Word),
    "double": st.sampled_from(["1.5e3", "nan", "-0.25", "5."]).map(Word),
}
INTEGER_DEFAULTS = st.sampled_from(["0", "7", "0x1F", "010", "2147483647"]).map(Word)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6).map(Text)

META_FIELDS = ("doc", "tags", "more")
META = """
message Meta { optional string doc = 1; repeated string tags = 2; optional Meta more = 3; optional int32 number = 4; }
extend google.protobuf.FieldOptions { optional Meta meta = 50205; optional int32 num = 50105; }
extend google.protobuf.MessageOptions { optional Meta about = 50205; }
"""
"""What a file needs for the options that are drawn here."""


class Drawing:
    """One file being drawn. messages, enums: types that fields may use, in full with a leading dot."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.file = File()
        self.count = 0
        self.messages: list[str] = []
        self.enums: list[str] = []

    def fresh(self, start: str) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{start}{self.count}"

    def several(self, most: int) -> range:
        return range(self.draw(st.integers(0, most)))

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def one(self) -> File:
        file = self.file
        file.syntax = self.draw(st.sampled_from(["", "proto2", "proto3"]))
        file.package = self.draw(st.sampled_from(["", "p", "shop.v1"]))
        file.imports = ["google/protobuf/timestamp.proto", "google/protobuf/descriptor.proto"]
        file.public = ["google/protobuf/any.proto"] if self.maybe() else []
        if self.maybe():
            file.options = added(file.options, Option("java_package", self.draw(TEXTS)))
            file.options = added(file.options, Option("go_package", Text("a/b")))
        prefix = f".{file.package}." if file.package else "."
        file.enums = [self.enum(prefix) for _ in self.several(2)]
        file.messages = [self.message(prefix, 2) for _ in self.several(3)]
        if self.messages and self.maybe():
            file.services.append(self.service())
        return file

    def enum(self, prefix: str) -> Enum:
        enum = Enum(self.fresh("E"))
        numbers = self.draw(st.lists(st.integers(1, 50), unique=True, max_size=3))
        enum.constants = [Constant(self.fresh("C"), number) for number in (0, *numbers)]
        if self.maybe():
            enum.reserved = added(enum.reserved, [Range(100, 105), Range(90, 90)])
            enum.reserved = added(enum.reserved, ["OLD", "GONE"])
        if self.maybe():
            enum.constants[0].options = added(enum.constants[0].options, Option("deprecated", Word("true")))
            enum.options = added(enum.options, Option("deprecated", Word("false")))
        self.enums.append(prefix + enum.name)
        return enum

    def message(self, prefix: str, depth: int) -> Message:
        message = Message(self.fresh("M"))
        self.messages.append(prefix + message.name)
        inner = f"{prefix}{message.name}."
        if depth:
            message.enums = [self.enum(inner) for _ in self.several(1)]
            message.messages = [self.message(inner, depth - 1) for _ in self.several(2)]
        for tag in self.draw(st.lists(st.integers(1, 400), unique=True, max_size=8)):
            self.member(message, tag)
        if self.maybe():
            message.reserved = added(message.reserved, [Range(1000, 1010), Range(900, 900), Range(2000, 536_870_911)])
            message.reserved = added(message.reserved, ["gone", "old"])
        if self.maybe():
            message.options = added(message.options, Option("deprecated", Word("true")))
            message.options = [*message.options, *self.extensions("about")]
        if self.file.syntax != "proto3" and self.maybe():
            message.extensions = added(message.extensions, ExtensionRanges([Range(600, 699), Range(500, 500)]))
            extend = Extend(prefix + message.name)
            extend.fields = added(extend.fields, self.field("optional", 600))
            message.extends = added(message.extends, extend)
        return message

    def member(self, message: Message, tag: int) -> None:
        kind = self.draw(st.sampled_from(["field", "field", "map", "oneof", "group"]))
        if kind == "map":
            value = self.draw(st.sampled_from([*SCALARS, *self.messages]))
            key = self.draw(st.sampled_from(["int32", "string", "bool"]))
            message.fields = added(message.fields, Field("", MapType(key, value), self.fresh("f"), tag))
        elif kind == "oneof":
            if not message.oneofs or self.maybe():
                message.oneofs = added(message.oneofs, Oneof(self.fresh("o")))
            message.oneofs[-1].fields = added(message.oneofs[-1].fields, self.field("", tag))
        elif kind == "group" and self.file.syntax != "proto3":
            body = Message(self.fresh("G"))
            body.fields = added(body.fields, self.field("optional", 1))
            message.groups = added(message.groups, Group(self.label(), body.name, tag, body))
        else:
            message.fields = added(message.fields, self.field(self.label(), tag))

    def label(self) -> str:
        labels = ["", "optional", "repeated"] if self.file.syntax == "proto3" else ["required", "optional", "repeated"]
        return self.draw(st.sampled_from(labels))

    def field(self, label: str, tag: int) -> Field:
        types = [*SCALARS, *self.messages, *self.enums, "google.protobuf.Timestamp"]
        field = Field(label, self.draw(st.sampled_from(types)), self.fresh("f"), tag)
        if self.maybe():
            field.options = added(field.options, Option("deprecated", Word("true")))
        field.options = [*field.options, *self.extensions("meta")]
        if self.file.syntax != "proto3" and label == "optional" and field.type in SCALARS and self.maybe():
            field.options = added(
                field.options, Option("default", self.draw(DEFAULTS.get(str(field.type), INTEGER_DEFAULTS)))
            )
        if self.maybe() and tag < 600:
            field.options = added(field.options, Option("json_name", Text(self.fresh("j"))))
        return field

    def extensions(self, name: str) -> list[Option]:
        """One thing said in one option or in several, or nothing."""
        how = self.draw(st.sampled_from(["not", "not", "whole", "parts"]))
        if how == "not":
            return []
        if how == "whole":
            return [Option(name, self.meta(2), extension=True)]
        tags = self.draw(
            st.lists(TEXTS, unique_by=lambda text: text.text, max_size=3)
        )  # what is said twice counts once
        parts = [Option(name, tag, extension=True, path=".tags") for tag in tags]
        parts += [Option(name, Word(self.draw(st.sampled_from(["1", "0x10"]))), extension=True, path=".number")]
        return [*parts, Option(name, self.draw(TEXTS), extension=True, path=".more.doc")]

    def meta(self, depth: int) -> MessageValue:
        members: list[tuple[str, Value]] = []
        for name in self.draw(st.lists(st.sampled_from(META_FIELDS), unique=True)):
            if name == "doc":
                members.append((name, self.draw(TEXTS)))
            elif name == "tags":
                members.append((name, Listed([self.draw(TEXTS) for _ in self.several(2)])))
            elif depth:
                members.append((name, self.meta(depth - 1)))
        return MessageValue(members)

    def service(self) -> Service:
        service = Service(self.fresh("S"))
        for _ in self.several(2):
            request, response = (self.draw(st.sampled_from(self.messages)) for _ in range(2))
            rpc = Rpc(self.fresh("R"), request, response)
            rpc.request_streams, rpc.response_streams = self.maybe(), self.maybe()
            if self.maybe():
                rpc.options = added(rpc.options, Option("deprecated", Word("true")))
            service.rpcs.append(rpc)
        return service


@st.composite
def files(draw: st.DrawFn) -> File:
    """A file that protoc takes, once META is put behind it. Every name is unique, so that any order is allowed."""
    return Drawing(draw).one()


# --- the same file in another order -----------------------------------------------------------------------------------


def source(file: File, random: Random) -> str:
    """The file as a person may have written it: sections mixed, and white space and comments anywhere."""
    head = [f'syntax = "{file.syntax}";'] if file.syntax else []
    parts = [
        [f"package {file.package};"] if file.package else [],
        [f'import "{path}";' for path in file.imports],
        [f'import public "{path}";' for path in file.public],
        [lines(Printer.options, [option], "") for option in file.options],
        [f"message {message.name} {body(message, random)}" for message in file.messages],
        [lines(Printer.enum, enum, "") for enum in file.enums],
        [lines(Printer.service, service) for service in file.services],
    ]
    return spread([*head, *mixed(parts, random)], random)


def body(message: Message, random: Random) -> str:
    parts = [
        [lines(Printer.reserved, [one], "") for one in message.reserved],
        [lines(Printer.options, [one], "") for one in message.options],
        [lines(Printer.fields, [one], "") for one in message.fields],
        [lines(Printer.oneof, one, "") for one in message.oneofs],
        [lines(Printer.groups, [one], "") for one in message.groups],
        [lines(Printer.ranges, one, "") for one in message.extensions],
        [lines(Printer.extend, one, "") for one in message.extends],
        [f"message {one.name} {body(one, random)}" for one in message.messages],
        [lines(Printer.enum, one, "") for one in message.enums],
    ]
    return f"{{{spread(mixed(parts, random), random)}}}"


def lines(print_: Callable[..., None], *what: object) -> str:
    printer = Printer()
    print_(printer, *what)
    return "\n".join(printer.lines)


def mixed(parts: Iterable[list[str]], random: Random) -> list[str]:
    """All parts, each in its own order."""
    left = [list(reversed(part)) for part in parts if part]
    out: list[str] = []
    while left:
        part = random.choice(left)
        out.append(part.pop())
        left = [part for part in left if part]
    return out


def spread(pieces: Iterable[str], random: Random) -> str:
    between = [" ", "\n", "\t\r\n", ' // c } "\n', "/* ' */", "\n/** a\n * b **/"]
    return "".join(piece + random.choice(between) for piece in pieces)
