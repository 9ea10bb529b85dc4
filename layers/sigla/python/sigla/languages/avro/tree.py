"""What an Avro schema is once it has been read: nodes that point at each other, with every name resolved.

Plain slotted classes: a node is filled while its text is read, because types may use themselves, and never
changed afterwards. A type used by name is the very node of its definition, so trees can be cyclic.
"""

from typing import Final, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Props: TypeAlias = dict[str, Json]

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")
KEYWORDS: Final = frozenset((*PRIMITIVES, "record", "enum", "fixed", "array", "map", "union"))
NO_PROPS: Final[Props] = {}


class Missing:
    """The type of ABSENT: a field without a default, which is not a field whose default is null."""

    __slots__ = ()


ABSENT: Final = Missing()
Default: TypeAlias = "Json | Missing"


class Primitive:
    __slots__ = ("kind", "props")

    def __init__(self, kind: str, props: Props) -> None:
        self.kind = kind
        self.props = props


class Array:
    __slots__ = ("items", "props")
    kind = "array"

    def __init__(self, items: "Type", props: Props) -> None:
        self.items = items
        self.props = props


class Map:
    __slots__ = ("props", "values")
    kind = "map"

    def __init__(self, values: "Type", props: Props) -> None:
        self.values = values
        self.props = props


class Union:
    __slots__ = ("branches",)
    kind = "union"

    def __init__(self, branches: list["Type"]) -> None:
        self.branches = branches


class Named:
    """What records, enums and fixed types share. namespace: "" is the null namespace. aliases: full names."""

    __slots__ = ("aliases", "doc", "full", "name", "namespace", "props")
    kind: str

    def __init__(self, name: str, namespace: str) -> None:
        self.name = name
        self.namespace = namespace
        self.full = f"{namespace}.{name}" if namespace else name
        self.doc: str | None = None
        self.props: Props = NO_PROPS
        self.aliases: tuple[str, ...] = ()


class Field:
    """A field of a record. order: `ascending`, `descending` or `ignore`."""

    __slots__ = ("aliases", "default", "doc", "name", "order", "props", "type")

    def __init__(self, name: str, type_: "Type") -> None:
        self.name = name
        self.type = type_
        self.default: Default = ABSENT
        self.doc: str | None = None
        self.order = "ascending"
        self.aliases: tuple[str, ...] = ()
        self.props: Props = NO_PROPS


class Record(Named):
    """A record. word: `record` or `error`, which differ in nothing else."""

    __slots__ = ("by_name", "fields", "word")
    kind = "record"

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(name, namespace)
        self.word = "record"
        self.fields: list[Field] = []
        self.by_name: dict[str, Field] = {}


class Enum(Named):
    __slots__ = ("default", "symbols")
    kind = "enum"

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(name, namespace)
        self.symbols: list[str] = []
        self.default: str | None = None


class Fixed(Named):
    __slots__ = ("size",)
    kind = "fixed"

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(name, namespace)
        self.size = 0


class Use:
    """A name whose definition has not been met yet. Only while a text is being read."""

    __slots__ = ("full",)
    kind = "use"

    def __init__(self, full: str) -> None:
        self.full = full


Definition: TypeAlias = Record | Enum | Fixed
Type: TypeAlias = Primitive | Array | Map | Union | Record | Enum | Fixed | Use
PLAIN: Final = {kind: Primitive(kind, NO_PROPS) for kind in PRIMITIVES}
"""The primitives without properties, which all schemas share."""


class Document:
    """A whole schema. names: what references define, by full name. top: the names that are roots of references."""

    __slots__ = ("names", "root", "top")

    def __init__(self, root: Type, names: dict[str, Definition], top: frozenset[str]) -> None:
        self.root = root
        self.names = names
        self.top = top
