"""Reading a .proto text: the grammar, and nothing that needs names or numbers to be compared (contract D.2).

The grammar is the reference's, which is wider than protoc's: names of types are any word, tags may be out of range or
used twice, and what stands where is judged later or never.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.protobuf.assignments import Assignments
from sigla.languages.protobuf.limits import MAX_DEPTH, MAX_NAME, MAX_WORD, too_deep, too_long
from sigla.languages.protobuf.tokens import DIGITS, WORD_STARTS, line_and_column
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
    added,
)

LABELS: Final = frozenset(("required", "optional", "repeated"))
SYNTAXES: Final = frozenset(("proto2", "proto3"))
LETTERS: Final = WORD_STARTS - DIGITS - {".", "-"}
USUAL: Final = 9
"""A number of fewer digits has 32 bits."""
LAST: Final = ("default", "json_name")
"""Options of a field that come after all others, in this order, and of which the last one counts."""

MAP_KEYS: Final = frozenset(
    (
        "bool", "fixed32", "fixed64", "int32", "int64", "sfixed32", "sfixed64", "sint32", "sint64", "string", "uint32",
        "uint64",
    )
)  # fmt: skip

STEPS_OF_A_DECLARATION: Final = 20

Fields: TypeAlias = Message | Extend | Oneof
"""What fields and groups stand in."""


def read(text: str) -> File:
    """The file of a text. Raises Malformed with the reason, and the line and column it was found at."""
    try:
        return Reader(text).file()
    except RecursionError:
        raise too_deep() from None


class Reader(Assignments):
    """Reads the declarations of one text."""

    __slots__ = ("proto3",)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.proto3 = False

    # --- the file ---

    def file(self) -> File:
        file = File()
        if self.met("syntax"):
            self.syntax(file)
        types: set[str] = set()
        services: set[str] = set()
        while keyword := self.tokens[self.at]:
            effort.pulse(STEPS_OF_A_DECLARATION)
            declare = OF_FILES.get(keyword)
            if declare is None:
                raise self.misplaced(keyword)
            self.at += 1
            declare(self, file)
            if keyword in {"message", "enum"}:
                self.once(types, (file.messages if keyword == "message" else file.enums)[-1].name)
            elif keyword == "service":
                self.once(services, file.services[-1].name)
        return file

    def misplaced(self, keyword: str) -> Malformed:
        if keyword == "syntax":
            return self.wrong("nothing before the only syntax line")
        if keyword == "edition":
            return self.wrong("a syntax line instead of an edition, which only descriptors may have")
        return self.wrong("a declaration")

    def once(self, seen: set[str], name: str) -> None:
        if name in seen:
            raise Malformed(
                f"{name} is defined twice, for the second time before {line_and_column(self.text, self.at)}"
            )
        seen.add(name)

    def syntax(self, file: File) -> None:
        self.expect("=")
        before = self.at
        file.syntax = self.string("a syntax in quotes")
        if file.syntax not in SYNTAXES:
            self.at = before
            raise self.wrong('"proto2" or "proto3"')
        self.proto3 = file.syntax == "proto3"
        self.expect(";")

    def package(self, file: File) -> None:
        """If there are several, the last one counts (PP-46)."""
        file.package = self.path("the name of a package")
        if len(file.package) > MAX_NAME:
            raise too_long()
        if file.package.count(".") >= MAX_DEPTH:
            raise too_deep()
        self.expect(";")

    def import_(self, file: File) -> None:
        """Weak imports are dropped (D.3)."""
        kind = self.tokens[self.at]
        if kind in {"public", "weak"}:
            self.at += 1
        path = self.string("a path in quotes")
        if kind != "weak":
            (file.public if kind == "public" else file.imports).append(path)
        self.expect(";")

    def semicolon(self, _around: object) -> None:
        """Means nothing."""

    # --- messages ---

    def message(self, around: File | Message) -> None:
        message = Message(self.name("the name of a message"))
        self.body(message)
        around.messages = added(around.messages, message)

    def body(self, message: Message) -> None:
        self.deeper()
        self.length += len(message.name) + 1
        if self.length > MAX_NAME:
            raise too_long()
        self.expect("{")
        while (keyword := self.tokens[self.at]) != "}":
            effort.pulse(STEPS_OF_A_DECLARATION)
            declare = OF_MESSAGES.get(keyword)
            if declare is None:
                self.field(message)
            else:
                self.at += 1
                declare(self, message)
        self.at += 1
        self.length -= len(message.name) + 1
        self.depth -= 1

    def field(self, around: Message | Extend) -> None:
        """A field or a group, label first. Without a label there are maps only, outside proto3."""
        label = self.tokens[self.at]
        if label in LABELS:
            if self.proto3 and label == "required":
                raise self.wrong("no 'required' in proto3")
            self.at += 1
            if self.is_map():
                raise self.wrong("no map after a label")
        else:
            label = ""
            if not self.proto3 and not self.is_map():
                raise self.wrong("'required', 'optional', 'repeated' or a declaration")
        self.typed(label, around)

    def typed(self, label: str, around: Fields) -> None:
        """The rest of a field or group."""
        effort.pulse(2)
        at = self.at
        words = self.tokens[at : at + 5]
        if len(words) == 5 and is_plain(*words):
            self.at = at + 5
            around.fields = added(around.fields, Field(label, words[0], words[1], int(words[3])))
            return
        type_: str | MapType = self.path("a type")
        if type_ == "group":
            around.groups = added(around.groups, self.group(label))
            return
        if type_ == "map" and self.tokens[self.at] == "<":
            type_ = self.map()
        name = self.member("the name of a field")
        self.expect("=")
        tag = self.integer()
        options = in_order(self.options()) if self.tokens[self.at] == "[" else None
        self.expect(";")
        around.fields = added(around.fields, Field(label, type_, name, tag, options))

    def member(self, what: str) -> str:
        """The name of a field or constant: as other names, but no digit first."""
        if self.tokens[self.at][:1] in DIGITS:
            raise self.wrong(f"{what}, which starts with no digit")
        return self.name(what)

    def is_map(self) -> bool:
        return self.tokens[self.at] == "map" and self.tokens[self.at + 1] == "<"

    def map(self) -> MapType:
        self.expect("<")
        key = self.word("the type of a map's keys")
        if key not in MAP_KEYS:
            self.at -= 1
            raise self.wrong("an integer, bool or string type for the keys of a map")
        self.expect(",")
        value = self.path("the type of a map's values")
        self.expect(">")
        return MapType(key, value)

    def group(self, label: str) -> Group:
        name = self.name("the name of a group")
        self.expect("=")
        tag = self.integer()
        options = self.options() if self.tokens[self.at] == "[" else None
        body = Message(name)
        self.body(body)
        return Group(label, name, tag, body, options)

    def oneof(self, message: Message) -> None:
        oneof = Oneof(self.name("the name of a oneof"))
        self.expect("{")
        while not self.met("}"):
            if self.met("option"):
                self.option(oneof)
            elif self.is_map():
                raise self.wrong("no map in a oneof")  # DV-16
            else:
                self.typed("", oneof)
        message.oneofs = added(message.oneofs, oneof)

    def extend(self, around: File | Message) -> None:
        effort.pulse(2)
        extend = Extend(self.path("the type to extend"))
        self.expect("{")
        while not self.met("}"):
            if not self.met(";"):
                self.field(extend)
        around.extends = added(around.extends, extend)

    def extensions(self, message: Message) -> None:
        ranges = [self.range()]
        while self.met(","):
            ranges.append(self.range())
        options = self.options() if self.tokens[self.at] == "[" else None
        message.extensions = added(message.extensions, ExtensionRanges(ranges, options))
        self.expect(";")

    def range(self) -> Range:
        effort.pulse(2)
        start = self.integer()
        if not self.met("to"):
            return Range(start, start)
        return Range(start, MAX_TAG if self.met("max") else self.integer())

    def reserved(self, around: Message | Enum) -> None:
        reserved: Reserved = []
        while True:
            effort.pulse(2)
            reserved.append(self.string("a name") if self.is_string() else self.range())
            if not self.met(","):
                break
        self.expect(";")
        around.reserved = added(around.reserved, reserved)

    # --- enums and services ---

    def enum(self, around: File | Message) -> None:
        enum = Enum(self.name("the name of an enum"))
        self.expect("{")
        while not self.met("}"):
            declare = OF_ENUMS.get(self.tokens[self.at])
            if declare is None:
                enum.constants.append(self.constant())
            else:
                self.at += 1
                declare(self, enum)
        around.enums = added(around.enums, enum)

    def constant(self) -> Constant:
        effort.pulse(2)
        name = self.member("the name of a constant")
        self.expect("=")
        number = self.integer()
        options = self.options() if self.tokens[self.at] == "[" else None
        self.expect(";")
        return Constant(name, number, options)

    def service(self, file: File) -> None:
        service = Service(self.name("the name of a service"))
        self.expect("{")
        while not self.met("}"):
            declare = OF_SERVICES.get(self.tokens[self.at])
            if declare is None:
                raise self.wrong("'rpc' or 'option'")
            self.at += 1
            declare(self, service)
        file.services.append(service)

    def rpc(self, service: Service) -> None:
        effort.pulse(2)
        name = self.name("the name of an rpc")
        request_streams, request = self.message_type()
        self.expect("returns")
        response_streams, response = self.message_type()
        rpc = Rpc(name, request, response)
        rpc.request_streams = request_streams
        rpc.response_streams = response_streams
        if self.met("{"):
            while not self.met("}"):
                if not self.met(";"):
                    self.expect("option")
                    self.option(rpc)
        else:
            self.expect(";")
        service.rpcs.append(rpc)

    def message_type(self) -> tuple[bool, str]:
        self.expect("(")
        streams = self.met("stream")
        type_ = self.path("a type")
        self.expect(")")
        return streams, type_

    def option(self, around: File | Message | Oneof | Enum | Service | Rpc) -> None:
        around.options = added(around.options, self.assignment())
        self.expect(";")


def is_plain(type_: str, name: str, equals: str, tag: str, end: str) -> bool:
    """Whether these tokens are what most fields are: a type, a name, a usual tag, no options. The grammar knows all."""
    return (
        end == ";"
        and equals == "="
        and tag[0] in DIGITS
        and tag.isdigit()
        and len(tag) < USUAL
        and type_ not in {"map", "group"}
        and type_[0] in WORD_STARTS
        and type_[-1] != "."
        and name[0] in LETTERS
        and "." not in name
        and len(name) < MAX_WORD > len(type_)
    )


def in_order(options: list[Option]) -> list[Option]:
    """The options of a field in canonical order: default and json_name last, each at most once (D.3)."""
    last = {option.name: option for option in options if option.name in LAST and not option.extension}
    if not last:
        return options
    others = [option for option in options if option.name not in last or option.extension]
    return others + [last[name] for name in LAST if name in last]


Declare: TypeAlias = Callable[..., None]
OF_FILES: Final[Mapping[str, Declare]] = {
    "package": Reader.package,
    "import": Reader.import_,
    "option": Reader.option,
    "message": Reader.message,
    "enum": Reader.enum,
    "service": Reader.service,
    "extend": Reader.extend,
    ";": Reader.semicolon,
}
OF_MESSAGES: Final[Mapping[str, Declare]] = {
    "option": Reader.option,
    "message": Reader.message,
    "enum": Reader.enum,
    "extend": Reader.extend,
    "oneof": Reader.oneof,
    "reserved": Reader.reserved,
    "extensions": Reader.extensions,
    ";": Reader.semicolon,
}
OF_ENUMS: Final[Mapping[str, Declare]] = {
    "option": Reader.option,
    "reserved": Reader.reserved,
    ";": Reader.semicolon,
}
OF_SERVICES: Final[Mapping[str, Declare]] = {
    "rpc": Reader.rpc,
    "option": Reader.option,
    ";": Reader.semicolon,
}
