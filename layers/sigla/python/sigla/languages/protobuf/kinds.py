"""What kind of thing a field holds, as far as its encoding is concerned (contract D.5.3, steps 2 and 3)."""

from typing import Final, TypeAlias

from sigla.languages.protobuf.names import FoundType
from sigla.languages.protobuf.tree import Enum, MapType, Message, Word

SCALAR: Final = "scalar"
MAP: Final = "map"
MESSAGE: Final = "message"

TEXTUAL: Final = "string or bytes"

GROUPS: Final = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool"), "general number"),
    **dict.fromkeys(("sint32", "sint64"), "signed number"),
    **dict.fromkeys(("string", "bytes"), TEXTUAL),
    **dict.fromkeys(("fixed32", "sfixed32"), "fixed32"),
    **dict.fromkeys(("fixed64", "sfixed64"), "fixed64"),
    "float": "float",
    "double": "double",
}
"""Scalars of one group can be read as each other."""


class Kind:
    """category: SCALAR, MAP or MESSAGE. content: a scalar's group, a map's types, or what a message's name means."""

    __slots__ = ("category", "content")

    def __init__(self, category: str, content: "str | MapType | FoundType | None") -> None:
        self.category = category
        self.content = content


Type: TypeAlias = str | MapType
"""A type as written."""

SCALARS: Final = {name: Kind(SCALAR, group) for name, group in GROUPS.items()}
ENUM: Final = SCALARS["int32"]
"""Which enum a field uses is irrelevant: on the wire all of them are numbers."""


def kind_of(found: FoundType | None) -> Kind:
    """The kind of a named type. An unknown one passes for a message."""
    if found is None:
        return Kind(MESSAGE, None)
    if isinstance(found.definition, Enum):
        return ENUM
    entry = entry_types(found.definition)
    return Kind(MAP, entry) if entry else Kind(MESSAGE, found)


def entry_types(message: Message) -> MapType | None:
    """The key and value types of a message that descriptors have for each entry of a map; None for any other."""
    if not is_map_entry(message):
        return None
    types = {field.name: field.type for field in message.fields if isinstance(field.type, str)}
    return MapType(types["key"], types["value"]) if types.keys() >= {"key", "value"} else None


def is_map_entry(message: Message) -> bool:
    return any(
        option.name == "map_entry" and isinstance(option.value, Word) and option.value.text == "true"
        for option in message.options
    )
