"""One JSON Schema compatibility check, and what reading a schema costs.

The schema is a closed object of objects, five levels deep, with 1,000 properties in all: strings with limits,
integers, arrays, enums, references to definitions, alternatives. The reader has one more property in every object. Both
sides are read before; every check starts afresh. Then the same for 10 to 10,000 properties, to show that time grows as
the schema does. No other Python library compares JSON Schemas: beside the check stands Apache's, of an Avro record with
as many fields; beside the reading stands `jsonschema`, which checks a schema against the metaschema.

It may mislead: the schemas are compatible, which is what most checks find, and Avro and JSON Schema differ.
"""

import json
from typing import Any

import jsonschema

from benchmarks import avro_check
from benchmarks.checks import checking, curve, validated
from benchmarks.harness import Goal, Line, Lines, best_of, main, per_call
from sigla.languages.json_schema import LANGUAGE

EACH = 10
"""Properties of an object."""
BRANCHES = 3
"""How many of these are objects again."""
KINDS: tuple[dict[str, Any], ...] = (
    {"type": "string", "maxLength": 40},
    {"type": "integer", "minimum": 0},
    {"type": "array", "items": {"type": "number"}},
    {"type": "string", "enum": ["A", "B", "C"]},
    {"$ref": "#/definitions/money"},
    {"oneOf": [{"type": "null"}, {"type": "string"}]},
    {"type": "boolean", "default": False},
)
MONEY = {"type": "object", "properties": {"units": {"type": "integer"}}, "additionalProperties": False}


def text(properties: int, *, evolved: bool = False) -> str:
    """A schema with so many properties in all, a tree of objects of ten."""
    root = _object(0, properties // EACH, evolved=evolved)
    return json.dumps({"title": "Order", **root, "definitions": {"money": MONEY}})


def _object(number: int, objects: int, *, evolved: bool) -> dict[str, Any]:
    inner = range(BRANCHES * number + 1, min(BRANCHES * number + 1 + BRANCHES, objects))
    members = {f"p{n}": KINDS[(number + n) % len(KINDS)] for n in range(EACH - len(inner))}
    members |= {f"o{n}": _object(n, objects, evolved=evolved) for n in inner}
    if evolved:
        members["added"] = {"type": "string"}
    return {"type": "object", "properties": members, "required": ["p0"], "additionalProperties": False}


def lines(*, quick: bool = False) -> Lines:
    size, sizes = (100, (10, 100)) if quick else (1_000, (10, 100, 1_000, 10_000))
    rounds = 2 if quick else 15
    ours, peer = best_of(rounds, per_call(checking(LANGUAGE, text, size), 5), per_call(avro_check.apaches(size), 1))
    yield Line(f"check of {size:,} properties", ours, "s", peer, "Apache avro, as many fields", Goal(1))
    schema = text(size)
    ours, peer, bare = best_of(
        rounds,
        per_call(lambda: validated(LANGUAGE, schema), 2),
        per_call(lambda: jsonschema.Draft7Validator.check_schema(json.loads(schema)), 1),
        per_call(lambda: json.loads(schema), 5),
    )
    what = f"read, canonical text and validation of {size:,} properties"
    yield Line(what, ours, "s", peer, "jsonschema: check_schema", Goal(1))
    yield Line(what, ours, "s", bare, "json.loads alone")
    yield from curve(LANGUAGE, text, sizes, rounds, piece="property", pieces=5_000)


if __name__ == "__main__":
    main(lines, __doc__)
