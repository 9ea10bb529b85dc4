"""The metaschemas, which schemas may refer to (contract JR-14, JR-15): the shapes of keywords, in one document each.

They say of every keyword what its value must look like. Left out is what no comparison looks at: titles, formats, and
in the drafts of several documents (2019-09, 2020-12) the division into vocabularies.
"""

from typing import Final

from sigla.languages.json_schema.text import Json, read, written

SCHEMA: Final[Json] = {"$ref": "#"}
SCHEMAS: Final[Json] = {"type": "array", "minItems": 1, "items": SCHEMA}
NAMED_SCHEMAS: Final[Json] = {"type": "object", "additionalProperties": SCHEMA, "default": {}}
TEXT: Final[Json] = {"type": "string"}
NUMBER: Final[Json] = {"type": "number"}
FLAG: Final[Json] = {"type": "boolean", "default": False}
COUNT: Final[Json] = {"type": "integer", "minimum": 0}
NAMES: Final[Json] = {"type": "array", "items": TEXT, "uniqueItems": True}
SIMPLE_TYPE: Final[Json] = {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
TYPE: Final[Json] = {
    "anyOf": [SIMPLE_TYPE, {"type": "array", "items": SIMPLE_TYPE, "minItems": 1, "uniqueItems": True}]
}
ANYTHING: Final[Json] = {}

COMMON: Final[dict[str, Json]] = {
    "$schema": TEXT,
    "title": TEXT,
    "description": TEXT,
    "default": ANYTHING,
    # Above 0, in words that every draft reads alike: `exclusiveMinimum` is a flag in draft 4 and a number since.
    "multipleOf": {"type": "number", "not": {"maximum": 0}},
    "maximum": NUMBER,
    "exclusiveMaximum": NUMBER,
    "minimum": NUMBER,
    "exclusiveMinimum": NUMBER,
    "maxLength": COUNT,
    "minLength": COUNT,
    "pattern": TEXT,
    "maxItems": COUNT,
    "minItems": COUNT,
    "uniqueItems": FLAG,
    "maxProperties": COUNT,
    "minProperties": COUNT,
    "required": NAMES,
    "additionalProperties": SCHEMA,
    "definitions": NAMED_SCHEMAS,
    "properties": NAMED_SCHEMAS,
    "patternProperties": NAMED_SCHEMAS,
    "enum": {"type": "array"},
    "type": TYPE,
    "format": TEXT,
    "allOf": SCHEMAS,
    "anyOf": SCHEMAS,
    "oneOf": SCHEMAS,
    "not": SCHEMA,
}
CLASSIC: Final[dict[str, Json]] = {
    **COMMON,
    "items": {"anyOf": [SCHEMA, SCHEMAS]},
    "additionalItems": SCHEMA,
    "dependencies": {"type": "object", "additionalProperties": {"anyOf": [SCHEMA, NAMES]}},
}
ID: Final[dict[str, Json]] = {"$id": TEXT, "$ref": TEXT}
SINCE_6: Final[dict[str, Json]] = {"examples": {"type": "array"}, "const": ANYTHING, "contains": SCHEMA}
SINCE_7: Final[dict[str, Json]] = {
    "$comment": TEXT,
    "readOnly": FLAG,
    "writeOnly": FLAG,
    "if": SCHEMA,
    "then": SCHEMA,
    "else": SCHEMA,
    "contentMediaType": TEXT,
    "contentEncoding": TEXT,
    "propertyNames": SCHEMA,
}
DRAFT_7: Final[dict[str, Json]] = {**ID, **CLASSIC, **SINCE_6, **SINCE_7}
MODERN: Final[dict[str, Json]] = {
    **ID,
    **COMMON,
    **SINCE_6,
    **SINCE_7,
    "$anchor": TEXT,
    "$vocabulary": {"type": "object", "additionalProperties": FLAG},
    "$defs": NAMED_SCHEMAS,
    "deprecated": FLAG,
    "dependentRequired": {"type": "object", "additionalProperties": NAMES},
    "dependentSchemas": NAMED_SCHEMAS,
    "maxContains": COUNT,
    "minContains": COUNT,
    "unevaluatedItems": SCHEMA,
    "unevaluatedProperties": SCHEMA,
    "contentSchema": SCHEMA,
}
KEYWORDS: Final[dict[str, dict[str, Json]]] = {
    "draft-04/schema": {
        "id": TEXT,
        **CLASSIC,
        "exclusiveMaximum": FLAG,
        "exclusiveMinimum": FLAG,
        "additionalItems": {"anyOf": [FLAG, SCHEMA]},
        "additionalProperties": {"anyOf": [FLAG, SCHEMA]},
    },
    "draft-06/schema": {**ID, **CLASSIC, **SINCE_6, "propertyNames": SCHEMA},
    "draft-07/schema": DRAFT_7,
    "draft/2019-09/schema": {
        **MODERN,
        "$recursiveRef": TEXT,
        "$recursiveAnchor": FLAG,
        "items": {"anyOf": [SCHEMA, SCHEMAS]},
        "additionalItems": SCHEMA,
    },
    "draft/2020-12/schema": {
        **MODERN,
        "$dynamicRef": TEXT,
        "$dynamicAnchor": TEXT,
        "items": SCHEMA,
        "prefixItems": SCHEMAS,
    },
}
ROOTS: Final = ("http://json-schema.org/", "https://json-schema.org/")


def metaschema(address: str) -> Json:
    """The metaschema at the address, in values of its own; None if none is known."""
    keywords = next((KEYWORDS.get(address.removeprefix(root)) for root in ROOTS if address.startswith(root)), None)
    if keywords is None:
        return None
    type_: Json = ["object"] if "id" in keywords else ["object", "boolean"]
    return read(written({"type": type_, "properties": keywords, "default": {}}))
