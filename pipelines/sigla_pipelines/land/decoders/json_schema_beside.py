"""What else a JSON Schema says of a value, beside the schema that its columns are made of.

`allOf`, `then`, a `$ref` and their like apply to the same value as the `properties` that they stand beside, and may
declare more of them. No columns are made of those: alternatives contradict each other. But nothing is lost of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sigla.errors import Malformed
from sigla.languages.json_schema.references import Home, Resources

IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else")
DEPENDENT: Final = ("dependentSchemas", "dependencies")
"""What applies to the same value; of the latter, by name, what does if there is a property of this name."""

OTHERS: Final = ("additionalProperties", "unevaluatedProperties")
ITEMS: Final = ("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains")

DYNAMIC: Final = frozenset(("$dynamicRef", "$recursiveRef"))

ANYTHING: Final = {"additionalProperties": True}
"""Stands for what cannot be followed."""

Schema = Mapping[str, Any]

Said = tuple[Any, Home]
"""A schema, and what its references are relative to."""


def together(said: Iterable[Said], resources: Resources) -> list[Said]:
    """Every schema that applies where these do, they among them, each once."""
    found: dict[int, Said] = {}
    todo = list(said)
    while todo:
        schema, around = todo.pop()
        if isinstance(schema, dict) and id(schema) not in found:
            home = resources.entered(around, schema)
            found[id(schema)] = schema, home
            todo += _beside(schema, home, resources)
    return list(found.values())


def open_beyond(names: Iterable[str], said: Iterable[Said]) -> bool:
    """Whether any of these schemas speaks of other properties than those of these names, and does not forbid them."""
    known = frozenset(names)
    return any(
        bool(schema.get("patternProperties"))
        or any(schema.get(word, False) is not False for word in OTHERS)
        or not known.issuperset(_declared_names(schema))
        for schema, _ in said
    )


def of_property(name: str, said: Iterable[Said]) -> Iterator[Said]:
    """What these schemas say of a property. A pattern says it of all: whether they match is not looked at."""
    for schema, home in said:
        declared = schema.get("properties")
        known = isinstance(declared, dict) and name in declared
        inner = [declared[name]] if known else _schemas_under(schema, OTHERS)
        yield from ((each, home) for each in (*inner, *_named_schemas(schema, ("patternProperties",))))


def of_properties(said: Iterable[Said]) -> Iterator[Said]:
    """What these schemas say of any property."""
    for schema, home in said:
        named = _named_schemas(schema, ("properties", "patternProperties"))
        yield from ((each, home) for each in (*named, *_schemas_under(schema, OTHERS)))


def of_items(said: Iterable[Said]) -> Iterator[Said]:
    """What these schemas say of any item."""
    return ((each, home) for schema, home in said for each in _schemas_under(schema, ITEMS))


def _beside(schema: Schema, home: Home, resources: Resources) -> Iterator[Said]:
    yield from ((each, home) for each in (*_schemas_under(schema, IN_PLACE), *_named_schemas(schema, DEPENDENT)))
    if isinstance(schema.get("$ref"), str):
        try:
            yield resources.find(schema["$ref"], home)
        except Malformed:
            yield ANYTHING, home
    if not DYNAMIC.isdisjoint(schema):
        yield ANYTHING, home


def _declared_names(schema: Schema) -> Iterator[str]:
    yield from schema.get("properties", ())
    yield from schema.get("required", ())


def _schemas_under(schema: Schema, words: Iterable[str]) -> Iterator[Any]:
    for word in words:
        found = schema.get(word)
        yield from found if isinstance(found, list) else (found,)


def _named_schemas(schema: Schema, words: Iterable[str]) -> Iterator[Any]:
    for word in words:
        found = schema.get(word)
        yield from found.values() if isinstance(found, dict) else ()


def only_branch(schema: Mapping[str, Any]) -> Any:
    """The one alternative that is not null, or the one schema of `allOf`; None where there are several, or none."""
    for word in ("oneOf", "anyOf", "allOf"):
        if isinstance(schema.get(word), list):
            some = [each for each in schema[word] if not (isinstance(each, dict) and each.get("type") == "null")]
            return some[0] if len(some) == 1 else None
    return None
