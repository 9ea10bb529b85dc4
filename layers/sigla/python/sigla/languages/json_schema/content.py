"""Which values, and which schemas, are the same by content.

Values are equal as JSON, with numbers compared as written: `1` and `1.0` differ (contract C.7.2). Schemas are equal if
all that their nodes record is equal; a reference is what it says and whom it reaches, so cycles need no thought.
Everything looked at is remembered, by identity, and numbered: equal contents have equal numbers.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from sigla.languages.json_schema.nodes import (
    Array,
    Combined,
    Conditional,
    Const,
    Enum,
    Missing,
    Not,
    Numeric,
    Object,
    Reference,
    Schema,
    String,
)
from sigla.languages.json_schema.text import Json, Number

Parts: TypeAlias = tuple[tuple[Hashable, ...], Iterable[Schema | None]]
"""What a node says itself, and the schemas inside."""
NO_SCHEMA: Final = -1
PER_STEP: Final = 128
"""So many characters of a value are looked at in one step."""


class Contents:
    """The numbers of one comparison. Looking costs one frame of Python's stack for each level of what is looked at."""

    __slots__ = ("numbers", "of_nodes", "of_values", "spend")

    def __init__(self, spend: Callable[[int], None]) -> None:
        self.spend = spend
        self.numbers: dict[Hashable, int] = {}
        self.of_nodes: dict[int, int] = {}
        self.of_values: dict[int, frozenset[int]] = {}

    def distinct(self, schemas: list[Schema]) -> list[Schema]:
        """The first of each content, in order."""
        self.spend(len(schemas))
        if of_different_kinds(schemas):
            return schemas
        first: dict[int, Schema] = {}
        for schema in schemas:
            first.setdefault(self.node(schema), schema)
        return list(first.values())

    def hints(self, *sides: list[Schema]) -> list[list[Hashable]]:
        """For each member of each side, what is equal where two are probably meant to be the same."""
        if all(map(of_different_kinds, sides)):
            return [[schema.kind for schema in side] for side in sides]
        return [[self.hint(schema) for schema in side] for side in sides]

    def values(self, node: Enum | Const) -> frozenset[int]:
        known = self.of_values.get(id(node))
        if known is None:
            values = node.values if isinstance(node, Enum) else (node.value,)
            known = self.of_values[id(node)] = frozenset(map(self.value, values))
        return known

    def node(self, node: Schema | None) -> int:
        if node is None:
            return NO_SCHEMA
        known = self.of_nodes.get(id(node))
        if known is not None:
            return known
        parts = PARTS.get(node.kind)
        own, inner = parts(node, self) if parts else NO_PARTS
        numbers = tuple(map(self.node, inner))
        self.spend(2 + len(own) + len(numbers))
        unknown = self.value(node.unknown) if node.unknown else None
        described = (node.id, node.title, node.description, self.default(node), unknown)
        number = self.of_nodes[id(node)] = self.number((node.kind, described, own, numbers))
        return number

    def default(self, node: Schema) -> int | None:
        return None if isinstance(node.default, Missing) else self.value(node.default)

    def hint(self, node: Schema) -> int:
        """Equal for schemas that are probably meant to be the same, in two documents too: references by their name."""
        return self.number(("reference", node.name)) if isinstance(node, Reference) else self.node(node)

    def value(self, value: "Json | Mapping[str, Json]") -> int:
        self.spend(1)
        if isinstance(value, list):
            return self.number(("list", tuple(map(self.value, value))))
        if isinstance(value, Mapping):
            return self.number(("object", frozenset(zip(value, map(self.value, value.values()), strict=True))))
        text = scalar(value)
        self.spend(len(text) // PER_STEP)
        return self.number(text)

    def number(self, content: Hashable) -> int:
        return self.numbers.setdefault(content, len(self.numbers))


def of_different_kinds(schemas: list[Schema]) -> bool:
    """Most alternatives and conjunctions are: then there is no content to look at."""
    return len({schema.kind for schema in schemas}) == len(schemas)


def scalar(value: Json) -> str:
    """A text that tells it from all others. Texts, unlike numbers, cannot be made to collide in a table on purpose."""
    if isinstance(value, str):
        return f"text {value}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"integer {value:x}"  # in decimal, long ones are refused
    return f"{value}"


def limits(*values: Number | None) -> tuple[str, ...]:
    return tuple(map(scalar, values))


def by_name(schemas: Mapping[str, Schema]) -> tuple[tuple[str, ...], list[Schema]]:
    names = sorted(schemas)
    return tuple(names), [schemas[name] for name in names]


def of_object(node: Object, _: Contents) -> Parts:
    properties, property_schemas = by_name(node.properties)
    patterns, pattern_schemas = by_name(node.pattern_properties)
    needing, needed = by_name(node.needed_schemas)
    own = (
        properties,
        patterns,
        needing,
        node.required,
        frozenset(node.needed_by.items()),
        limits(node.min_properties, node.max_properties),
        node.additional,
    )
    return own, (*property_schemas, *pattern_schemas, *needed, node.additional_schema, node.unevaluated)


def of_array(node: Array, _: Contents) -> Parts:
    positions = node.positions or []
    own = (
        None if node.positions is None else len(positions),
        limits(node.min_items, node.max_items, node.min_contains, node.max_contains),
        node.unique,
        node.additional,
    )
    return own, (node.items, *positions, node.additional_schema, node.unevaluated)


def of_number(node: Numeric, _: Contents) -> Parts:
    inclusive = limits(node.minimum, node.maximum)
    exclusive = limits(node.exclusive_minimum, node.exclusive_maximum)
    return (node.integer, inclusive, exclusive, *limits(node.multiple_of)), ()


def of_string(node: String, _: Contents) -> Parts:
    return (limits(node.min_length, node.max_length), node.pattern), ()


def of_values(node: Enum | Const, contents: Contents) -> Parts:
    return (contents.values(node),), ()


def of_not(node: Not, _: Contents) -> Parts:
    return (), (node.schema,)


def of_conditional(node: Conditional, _: Contents) -> Parts:
    return (), (node.condition, node.then, node.otherwise)


def of_combined(node: Combined, _: Contents) -> Parts:
    return (node.criterion,), node.members


def of_reference(node: Reference, _: Contents) -> Parts:
    return (node.name, id(node.target)), ()


NO_PARTS: Final[Parts] = ((), ())
PARTS: Final[dict[str, Callable[[Any, Contents], Parts]]] = {
    "object": of_object,
    "array": of_array,
    "number": of_number,
    "string": of_string,
    "enum": of_values,
    "const": of_values,
    "not": of_not,
    "conditional": of_conditional,
    "combined": of_combined,
    "reference": of_reference,
}
"""The other kinds have no parts."""
