"""Random JSON Schemas and random values: what property tests of JSON draw from."""

import json
from random import Random
from typing import Any

from sigla.decoding.decoder import Source

KINDS = ("string", "integer", "number", "boolean", "array", "object", "map", "enum", "null or", "ref", "any", "either")
NAMES = ("a", "b", "größe", "d/e~f")


def source(schema: Any, **references: Any) -> Source:
    """A schema as the registry stores it; references: by name, `_json` instead of `.json`."""
    from sigla.model import Resolved

    texts = tuple(Resolved(name.replace("_", "."), json.dumps(text)) for name, text in references.items())
    return Source("JSON", schema if isinstance(schema, str) else json.dumps(schema), texts)


def random_schema(random: Random, depth: int = 0) -> Any:
    """A schema of draft 7; at the root with a definition that refers to itself."""
    kind = "object" if depth == 0 else random.choice(KINDS[:4] if depth > 3 else KINDS)
    schema = _schema(kind, random, depth)
    if depth == 0:
        schema["definitions"] = {
            "tree": {"type": "object", "properties": {"label": _scalar(random), "up": {"$ref": "#/definitions/tree"}}}
        }
    return schema


def _scalar(random: Random) -> Any:
    return {"type": random.choice(KINDS[:4])}


def _schema(kind: str, random: Random, depth: int) -> Any:
    def inner() -> Any:
        return random_schema(random, depth + 1)

    match kind:
        case "array":
            return {"type": "array", "items": inner()}
        case "object":
            rest: Any = random.choice(
                [{}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}]
            )
            properties = {name: inner() for name in NAMES if random.random() < 0.6}
            return {"type": "object", "properties": properties, "required": sorted(properties)[:1], **rest}
        case "map":
            return {"type": "object", "additionalProperties": inner()}
        case "enum":
            return {"enum": random.sample(["x", "y", "z", None], 2)}
        case "null or":
            return random.choice([{"type": ["null", "string"]}, {"oneOf": [{"type": "null"}, inner()]}])
        case "ref":
            return {"$ref": "#/definitions/tree"}
        case "any":
            return random.choice([{}, True])
        case "either":
            return {"anyOf": [_scalar(random), inner()]}
    return {"type": kind}


def random_value(schema: Any, root: Any, random: Random, depth: int = 0) -> Any:
    """Mostly what the schema allows, and now and then anything."""
    if random.random() < 0.03 or not isinstance(schema, dict) or not schema:
        return anything(random)
    if "$ref" in schema:
        return random_value(root["definitions"]["tree"], root, random, depth + 1)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return random_value(random.choice(schema[word]), root, random, depth + 1)
    if "enum" in schema:
        return random.choice(schema["enum"])
    kind = random.choice(schema["type"]) if isinstance(schema["type"], list) else schema["type"]
    if kind == "array":
        return [random_value(schema["items"], root, random, depth + 1) for _ in range(random.randrange(3))]
    if kind == "object":
        value = {
            name: random_value(inner, root, random, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if (name in schema.get("required", ()) or random.random() < 0.5) and depth < 8
        }
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and random.random() < 0.5:
            value["k"] = random_value(others, root, random, depth + 1)
        return value
    return {"string": "text", "integer": random.choice([0, -1, 2**53]), "number": 0.5, "boolean": True, "null": None}[
        kind
    ]


def anything(random: Random) -> Any:
    return random.choice(
        [None, True, 0, 1.0, 1.5, 2**63, 2**70, -(2**63), "", "größer", [], [1, {"a": None}], {}, {"a": []}]
    )
