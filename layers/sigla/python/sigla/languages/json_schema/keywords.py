"""What each keyword puts into its node: one small function a keyword, one table a family of keywords (contract C.4).

A function is handed the node that is being filled, the keyword, the value written under it, and `load`, which makes
schemas of values. Within a family the tables are followed in their own order: `items` before `additionalItems`.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from math import inf
from typing import Any, Final, TypeAlias

from sigla.errors import Malformed
from sigla.languages.json_schema import patterns
from sigla.languages.json_schema.nodes import Array, Numeric, Object, Schema, String
from sigla.languages.json_schema.text import Json, Number

Load: TypeAlias = Callable[[Json], Schema]
Fill: TypeAlias = Callable[[Any, str, Json, Load], None]
"""The node is of the family in whose table the function stands."""

# --- values ----------------------------------------------------------------------------------------------------------


def text(keyword: str, value: Json) -> str:
    if isinstance(value, str):
        return value
    raise Malformed(f"'{keyword}' must be a string")


def flag(keyword: str, value: Json) -> bool:
    if isinstance(value, bool):
        return value
    raise Malformed(f"'{keyword}' must be true or false")


def number(keyword: str, value: Json) -> Number:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return value
    raise Malformed(f"'{keyword}' must be a number")


def integer(keyword: str, value: Json) -> Number:
    """JL-9: `3.0` is not an integer, and neither is what has more than 32 bits."""
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return value
    raise Malformed(f"'{keyword}' must be an integer of 32 bits")


def divisor(keyword: str, value: Json) -> Number:
    """As a 64-bit float, it is neither zero nor infinite."""
    divisor = number(keyword, value)
    if 0 < abs(float(Decimal(divisor))) < inf:
        return divisor
    raise Malformed(f"'{keyword}' is too small or too large")


def members(keyword: str, value: Json) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    raise Malformed(f"'{keyword}' must be an object")


def listed(keyword: str, value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    raise Malformed(f"'{keyword}' must be a list")


def names(keyword: str, value: Json) -> frozenset[str]:
    return frozenset(text(keyword, name) for name in listed(keyword, value))


def schemas(keyword: str, value: Json, load: Load) -> dict[str, Schema]:
    return {name: load(schema) for name, schema in members(keyword, value).items()}


# --- what keywords do ------------------------------------------------------------------------------------------------


def limit(attribute: str, read: Callable[[str, Json], Number]) -> Fill:
    def fill(node: Any, keyword: str, value: Json, _load: Load) -> None:
        setattr(node, attribute, read(keyword, value))

    return fill


def loose(attribute: str) -> Fill:
    """A limit that the draft does not know, but the differ does (JL-6): looked at only if it is a number."""

    def fill(node: Any, _keyword: str, value: Json, _load: Load) -> None:
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            setattr(node, attribute, value)

    return fill


def checked(read: Callable[[str, Json], object]) -> Fill:
    """A keyword that must be readable and means nothing to the differ."""

    def fill(_node: Any, keyword: str, value: Json, _load: Load) -> None:
        read(keyword, value)

    return fill


def loaded(_node: Any, _keyword: str, value: Json, load: Load) -> None:
    """A schema that must load and is never compared (C.4.3)."""
    load(value)


def pattern(node: String, keyword: str, value: Json, _load: Load) -> None:
    node.pattern = text(keyword, value)
    patterns.check(node.pattern)


def properties(node: Object, keyword: str, value: Json, load: Load) -> None:
    node.properties = schemas(keyword, value, load)


def required(node: Object, keyword: str, value: Json, _load: Load) -> None:
    node.required = names(keyword, value)


def additional_properties(node: Object, _keyword: str, value: Json, load: Load) -> None:
    if isinstance(value, bool):
        node.additional = value
    else:
        node.additional_schema = load(value)


def pattern_properties(node: Object, keyword: str, value: Json, load: Load) -> None:
    node.pattern_properties = schemas(keyword, value, load)
    for key in node.pattern_properties:
        patterns.check(key)


def dependencies(node: Object, keyword: str, value: Json, load: Load) -> None:
    for name, needed in members(keyword, value).items():
        if isinstance(needed, list):
            node.needed_by[name] = names(keyword, needed)
        else:
            node.needed_schemas[name] = load(needed)


def dependent_required(node: Object, keyword: str, value: Json, _load: Load) -> None:
    node.needed_by = {name: names(keyword, needed) for name, needed in members(keyword, value).items()}


def dependent_schemas(node: Object, keyword: str, value: Json, load: Load) -> None:
    node.needed_schemas = schemas(keyword, value, load)


def unevaluated(node: Object | Array, _keyword: str, value: Json, load: Load) -> None:
    node.unevaluated = load(value)


def items(node: Array, _keyword: str, value: Json, load: Load) -> None:
    if isinstance(value, list):
        node.positions = [load(item) for item in value]
    else:
        node.items = load(value)


def additional_items(node: Array, _keyword: str, value: Json, load: Load) -> None:
    """Beside a schema for all items a boolean says nothing (JL-5)."""
    if not isinstance(value, bool):
        node.additional_schema = load(value)
    elif node.items is None:
        node.additional = value


def prefix_items(node: Array, keyword: str, value: Json, load: Load) -> None:
    node.positions = [load(item) for item in listed(keyword, value)]


def other_items(node: Array, _keyword: str, value: Json, load: Load) -> None:
    """The modern `items`, for what the tuple leaves (JN-3)."""
    if isinstance(value, bool):
        node.additional = value
    elif node.positions is None:
        node.items = load(value)
    else:
        node.additional_schema = load(value)


def unique(node: Array, keyword: str, value: Json, _load: Load) -> None:
    node.unique = flag(keyword, value)


def contains(node: Array, _keyword: str, value: Json, load: Load) -> None:
    """At least one item, if nothing else is said (JN-4)."""
    load(value)
    node.min_contains = 1


def if_contains(attribute: str) -> Fill:
    """JN-4: without `contains`, which comes first, it is ignored."""

    def fill(node: Array, keyword: str, value: Json, _load: Load) -> None:
        count = number(keyword, value)
        if node.min_contains is not None:
            setattr(node, attribute, count)

    return fill


# --- families --------------------------------------------------------------------------------------------------------


class Family:
    """The keywords about values of one type.

    type: as JSON Schema calls it. make: a new node. silent(keyword, value): it alone does not make a node.
    """

    __slots__ = ("keywords", "make", "silent", "type")

    def __init__(
        self,
        type_: str,
        make: Callable[[], Schema],
        keywords: Mapping[str, Fill],
        silent: Callable[[str, Json], bool] = lambda _keyword, _value: False,
    ) -> None:
        self.type = type_
        self.make = make
        self.keywords = keywords
        self.silent = silent

    def speaks_in(self, schema: Mapping[str, Json]) -> bool:
        if self.keywords.keys().isdisjoint(schema):
            return False
        return any(keyword in self.keywords and not self.silent(keyword, value) for keyword, value in schema.items())

    def fill(self, node: Schema, schema: Mapping[str, Json], load: Load) -> None:
        for keyword, fill in self.keywords.items():
            if keyword in schema:
                fill(node, keyword, schema[keyword], load)


_LENGTHS: Final = {"minLength": "min_length", "maxLength": "max_length"}
_SIZES: Final = {"minItems": "min_items", "maxItems": "max_items"}
_COUNTS: Final = {"minProperties": "min_properties", "maxProperties": "max_properties"}
_BOUNDS: Final = {"minimum": "minimum", "maximum": "maximum"}
_EXCLUSIVE: Final = {"exclusiveMinimum": "exclusive_minimum", "exclusiveMaximum": "exclusive_maximum"}


def _limits(attributes: Mapping[str, str], read: Callable[[str, Json], Number]) -> dict[str, Fill]:
    return {keyword: limit(attribute, read) for keyword, attribute in attributes.items()}


def _counts_contained(keyword: str, _value: Json) -> bool:
    return keyword in {"minContains", "maxContains"}


def _quiet_array(keyword: str, value: Json) -> bool:
    """JN-3, JN-4: nothing is said by `items: true`, and by numbers of what is contained."""
    return (keyword == "items" and value is True) or _counts_contained(keyword, value)


def _quiet_object(keyword: str, value: Json) -> bool:
    """JN-9."""
    return keyword in {"properties", "patternProperties"} and value == {}


_CLASSIC_ITEMS: Final[Mapping[str, Fill]] = {
    "items": items,
    "additionalItems": additional_items,
    **_limits(_SIZES, integer),
    "uniqueItems": unique,
    "minContains": loose("min_contains"),
    "maxContains": loose("max_contains"),
}
_CLASSIC_PROPERTIES: Final[Mapping[str, Fill]] = {
    "properties": properties,
    "required": required,
    **_limits(_COUNTS, integer),
    "dependencies": dependencies,
    "patternProperties": pattern_properties,
    "additionalProperties": additional_properties,
}
_CLASSIC_NUMBERS: Final[Mapping[str, Fill]] = {**_limits(_BOUNDS, number), "multipleOf": limit("multiple_of", divisor)}
_CLASSIC_STRINGS: Final[Mapping[str, Fill]] = {
    **_limits(_LENGTHS, integer),
    "pattern": pattern,
    "format": checked(text),
}

STRING: Final = Family("string", String, _CLASSIC_STRINGS)
ARRAY_4: Final = Family("array", Array, _CLASSIC_ITEMS, _counts_contained)
OBJECT_4: Final = Family("object", Object, _CLASSIC_PROPERTIES)
# JL-4: that a bound is exclusive is invisible to the differ.
NUMBER_4: Final = Family("number", Numeric, {**_CLASSIC_NUMBERS, **dict.fromkeys(_EXCLUSIVE, checked(flag))})
ARRAY_6: Final = Family("array", Array, {**_CLASSIC_ITEMS, "contains": loaded}, _counts_contained)
OBJECT_6: Final = Family("object", Object, {**_CLASSIC_PROPERTIES, "propertyNames": loaded})
NUMBER_6: Final = Family("number", Numeric, {**_CLASSIC_NUMBERS, **_limits(_EXCLUSIVE, number)})

MODERN_ARRAY: Final = Family(
    "array",
    Array,
    {
        "prefixItems": prefix_items,
        "items": other_items,
        **_limits(_SIZES, number),
        "uniqueItems": unique,
        "contains": contains,
        "minContains": if_contains("min_contains"),
        "maxContains": if_contains("max_contains"),
        "unevaluatedItems": unevaluated,
    },
    _quiet_array,
)
MODERN_OBJECT: Final = Family(
    "object",
    Object,
    {
        "properties": properties,
        "required": required,
        **_limits(_COUNTS, number),
        "dependentRequired": dependent_required,
        "dependentSchemas": dependent_schemas,
        "patternProperties": pattern_properties,
        "additionalProperties": additional_properties,
        "propertyNames": loaded,
        "unevaluatedProperties": unevaluated,
    },
    _quiet_object,
)
MODERN_NUMBER: Final = Family(
    "number",
    Numeric,
    {**_limits(_BOUNDS, number), **_limits(_EXCLUSIVE, number), "multipleOf": limit("multiple_of", number)},
)
MODERN_STRING: Final = Family("string", String, {**_limits(_LENGTHS, number), "pattern": pattern})
