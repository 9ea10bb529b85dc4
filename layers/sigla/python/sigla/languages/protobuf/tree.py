"""What a .proto file is once it has been read: declarations in source order, names and numbers as written.

Nothing is resolved here; `names` finds what a type name means. Plain slotted classes, because a dozen dataclasses
cost more at import than all else in this language: a node belongs to one File and is not changed once the file was
read. The normaliser makes new ones.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, TypeVar, cast

MAX_TAG: Final = 536_870_911

Part = TypeVar("Part")
NONE: Final = cast("list[Any]", ())
"""What has no parts of a kind has these: lists of their own would be nine of ten objects of a schema. See `added`."""


def added(parts: list[Part], *more: Part) -> list[Part]:
    """The parts with more, in the same list if it is one of its own."""
    if parts is NONE:
        return [*more]
    parts += more
    return parts


# --- values of options ------------------------------------------------------------------------------------------------


class Word:
    """An identifier, a number or a boolean, as written: `true`, `SPEED`, `-inf`, `0x1F`."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Text:
    """A string, unescaped and its pieces joined."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Listed:
    __slots__ = ("values",)

    def __init__(self, values: "list[Value]") -> None:
        self.values = values


class MessageValue:
    """A message literal. Keys as written: `name`, `[extension.name]`."""

    __slots__ = ("members",)

    def __init__(self, members: "list[tuple[str, Value]]") -> None:
        self.members = members


Value: TypeAlias = Word | Text | Listed | MessageValue


class Option:
    """name: of an extension, what stands in the parentheses. path: what follows them, `.part.part`, dot included."""

    __slots__ = ("extension", "name", "path", "value")

    def __init__(self, name: str, value: Value, *, extension: bool = False, path: str = "") -> None:
        self.name = name
        self.value = value
        self.extension = extension
        self.path = path


# --- declarations -----------------------------------------------------------------------------------------------------


class Range:
    """Numbers from start to end, both included; end is MAX_TAG or more where the source says `max`."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


Reserved: TypeAlias = "list[Range | str]"
"""One `reserved` statement: numbers and ranges, or names."""


class MapType:
    __slots__ = ("key", "value")

    def __init__(self, key: str, value: str) -> None:
        self.key = key
        self.value = value


class Field:
    """label: `required`, `optional`, `repeated`, or "" where none is written. type: as written.

    options: in source order, `default` and `json_name` among them.
    """

    __slots__ = ("label", "name", "options", "tag", "type")

    def __init__(
        self, label: str, type_: str | MapType, name: str, tag: int, options: list[Option] | None = None
    ) -> None:
        self.label = label
        self.type = type_
        self.name = name
        self.tag = tag
        self.options = options or NONE


class Oneof:
    __slots__ = ("fields", "groups", "name", "options")

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: list[Field] = NONE
        self.groups: list[Group] = NONE
        self.options: list[Option] = NONE


class Constant:
    __slots__ = ("name", "number", "options")

    def __init__(self, name: str, number: int, options: list[Option] | None = None) -> None:
        self.name = name
        self.number = number
        self.options = options or NONE


class Enum:
    __slots__ = ("constants", "name", "options", "reserved")

    def __init__(self, name: str) -> None:
        self.name = name
        self.constants: list[Constant] = []
        self.options: list[Option] = NONE
        self.reserved: list[Reserved] = NONE


class ExtensionRanges:
    """One `extensions` statement."""

    __slots__ = ("options", "ranges")

    def __init__(self, ranges: list[Range], options: list[Option] | None = None) -> None:
        self.ranges = ranges
        self.options = options or NONE


class Extend:
    __slots__ = ("extendee", "fields", "groups")

    def __init__(self, extendee: str) -> None:
        self.extendee = extendee
        self.fields: list[Field] = NONE
        self.groups: list[Group] = NONE


class Message:
    """emptied: the normaliser dropped all its oneofs, because none had members. Their section is still printed."""

    __slots__ = (
        "emptied",
        "enums",
        "extends",
        "extensions",
        "fields",
        "groups",
        "messages",
        "name",
        "oneofs",
        "options",
        "reserved",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: list[Field] = NONE
        self.oneofs: list[Oneof] = NONE
        self.groups: list[Group] = NONE
        self.messages: list[Message] = NONE
        self.enums: list[Enum] = NONE
        self.extends: list[Extend] = NONE
        self.extensions: list[ExtensionRanges] = NONE
        self.reserved: list[Reserved] = NONE
        self.options: list[Option] = NONE
        self.emptied = False


class Group:
    """A field whose type is declared in place. body: all that stands between the braces, under the group's name."""

    __slots__ = ("body", "label", "name", "options", "tag")

    def __init__(self, label: str, name: str, tag: int, body: Message, options: list[Option] | None = None) -> None:
        self.label = label
        self.name = name
        self.tag = tag
        self.body = body
        self.options = options or NONE


class Rpc:
    __slots__ = ("name", "options", "request", "request_streams", "response", "response_streams")

    def __init__(self, name: str, request: str, response: str) -> None:
        self.name = name
        self.request = request
        self.response = response
        self.request_streams = False
        self.response_streams = False
        self.options: list[Option] = NONE


class Service:
    __slots__ = ("name", "options", "rpcs")

    def __init__(self, name: str) -> None:
        self.name = name
        self.rpcs: list[Rpc] = []
        self.options: list[Option] = NONE


class File:
    """syntax: `proto2`, `proto3`, or "" where none is written. edition: of a descriptor that has one, else "".

    imports, public: paths in source order, repeated ones too. Weak imports are dropped as they are read.
    """

    __slots__ = (
        "edition",
        "enums",
        "extends",
        "imports",
        "messages",
        "options",
        "package",
        "public",
        "services",
        "syntax",
    )

    def __init__(self) -> None:
        self.syntax = ""
        self.edition = ""
        self.package = ""
        self.imports: list[str] = []
        self.public: list[str] = []
        self.options: list[Option] = []
        self.messages: list[Message] = []
        self.enums: list[Enum] = []
        self.extends: list[Extend] = []
        self.services: list[Service] = []


class Document:
    """A schema: its file, and the files of its references by import path, in resolution order.

    Files that are always available (contract D.2.1) are not listed; `names` knows them.
    """

    __slots__ = ("file", "imported")

    def __init__(self, file: File, imported: Mapping[str, File]) -> None:
        self.file = file
        self.imported = imported
