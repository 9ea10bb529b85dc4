"""What a JSON Schema is once it has been loaded: the node model of contract C.4.

Plain slotted classes, filled while a document is loaded and never changed afterwards. What was written beside a node
(`type`, the draft, the order of keys) is not recorded: two spellings that load to the same nodes are the same schema
to the differ. Trees are cyclic only through `Reference.target`.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from sigla.languages.json_schema.text import Json, Number

NO_KEYWORDS: Final[Mapping[str, Json]] = {}


class Missing:
    """The type of ABSENT: a schema without a default, which is not a schema whose default is null."""

    __slots__ = ()


ABSENT: Final = Missing()


class Node:
    """What every node may carry.

    id: the `$id` (classic drafts only, JN-7). default: a value, or ABSENT. unknown: keywords that the draft does not
    know, in document order.
    """

    __slots__ = ("default", "description", "id", "title", "unknown")
    kind: str

    def __init__(self) -> None:
        self.id: str | None = None
        self.title: str | None = None
        self.description: str | None = None
        self.default: Json | Missing = ABSENT
        self.unknown: Mapping[str, Json] = NO_KEYWORDS


class Anything(Node):
    """`{}`, `true`, or an object without any constraint."""

    __slots__ = ()
    kind = "anything"


class Nothing(Node):
    """`false`."""

    __slots__ = ()
    kind = "nothing"


class Boolean(Node):
    __slots__ = ()
    kind = "boolean"


class Null(Node):
    __slots__ = ()
    kind = "null"


class String(Node):
    __slots__ = ("max_length", "min_length", "pattern")
    kind = "string"

    def __init__(self) -> None:
        super().__init__()
        self.min_length: Number | None = None
        self.max_length: Number | None = None
        self.pattern: str | None = None


class Numeric(Node):
    """`number`, or `integer` where the flag says so. Exclusive bounds are numbers; draft 4's booleans are dropped."""

    __slots__ = ("exclusive_maximum", "exclusive_minimum", "integer", "maximum", "minimum", "multiple_of")
    kind = "number"

    def __init__(self) -> None:
        super().__init__()
        self.integer = False
        self.minimum: Number | None = None
        self.maximum: Number | None = None
        self.exclusive_minimum: Number | None = None
        self.exclusive_maximum: Number | None = None
        self.multiple_of: Number | None = None


class Object(Node):
    """properties, pattern_properties: in document order.

    additional: whether properties that nothing names are permitted; additional_schema: what they must be, if a schema
    was given (`true` does not count as one, `{}` does). unevaluated: None where the keyword is absent; `true` is an
    Anything.
    """

    __slots__ = (
        "additional",
        "additional_schema",
        "max_properties",
        "min_properties",
        "needed_by",
        "needed_schemas",
        "pattern_properties",
        "properties",
        "required",
        "unevaluated",
    )
    kind = "object"

    def __init__(self) -> None:
        super().__init__()
        self.properties: dict[str, Schema] = {}
        self.required: frozenset[str] = frozenset()
        self.min_properties: Number | None = None
        self.max_properties: Number | None = None
        self.additional = True
        self.additional_schema: Schema | None = None
        self.pattern_properties: dict[str, Schema] = {}
        self.needed_by: dict[str, frozenset[str]] = {}
        """Names that a property needs beside it: `dependencies` with lists, `dependentRequired`."""
        self.needed_schemas: dict[str, Schema] = {}
        """Schemas that hold where a property is present: `dependencies` with schemas, `dependentSchemas`."""
        self.unevaluated: Schema | None = None


class Array(Node):
    """items: the schema of all items. positions: the tuple, None without one. additional…: as in Object."""

    __slots__ = (
        "additional",
        "additional_schema",
        "items",
        "max_contains",
        "max_items",
        "min_contains",
        "min_items",
        "positions",
        "unevaluated",
        "unique",
    )
    kind = "array"

    def __init__(self) -> None:
        super().__init__()
        self.items: Schema | None = None
        self.positions: list[Schema] | None = None
        self.additional = True
        self.additional_schema: Schema | None = None
        self.unevaluated: Schema | None = None
        self.min_items: Number | None = None
        self.max_items: Number | None = None
        self.unique = False
        self.min_contains: Number | None = None
        self.max_contains: Number | None = None


class Enum(Node):
    """values: as written, duplicates and all."""

    __slots__ = ("values",)
    kind = "enum"

    def __init__(self, values: list[Json]) -> None:
        super().__init__()
        self.values = values


class Const(Node):
    __slots__ = ("value",)
    kind = "const"

    def __init__(self, value: Json) -> None:
        super().__init__()
        self.value = value


class Not(Node):
    __slots__ = ("schema",)
    kind = "not"

    def __init__(self, schema: "Schema") -> None:
        super().__init__()
        self.schema = schema


class Conditional(Node):
    """if/then/else: never looked into (C.4.3), but part of what a schema is when members are told apart."""

    __slots__ = ("condition", "otherwise", "then")
    kind = "conditional"

    def __init__(self, condition: "Schema | None", then: "Schema | None", otherwise: "Schema | None") -> None:
        super().__init__()
        self.condition = condition
        self.then = then
        self.otherwise = otherwise


class Combined(Node):
    """criterion: `allOf`, `anyOf` or `oneOf`. synthetic: made by the loader from several conjuncts."""

    __slots__ = ("criterion", "members", "synthetic")
    kind = "combined"

    def __init__(self, criterion: str, members: "list[Schema]", *, synthetic: bool = False) -> None:
        super().__init__()
        self.criterion = criterion
        self.members = members
        self.synthetic = synthetic


class Reference(Node):
    """name: the `$ref` as written. target: set once the document is loaded; may be a Reference again."""

    __slots__ = ("name", "target")
    kind = "reference"

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.target: Schema


Schema: TypeAlias = (
    Anything
    | Nothing
    | Boolean
    | Null
    | String
    | Numeric
    | Object
    | Array
    | Enum
    | Const
    | Not
    | Conditional
    | Combined
    | Reference
)
