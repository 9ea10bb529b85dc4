"""JSON Schemas for tests: as nodes, as questions to the differ, and as strategies that draw them."""

import json
from typing import Any, Final

from hypothesis import strategies as st

from sigla.contract import STRICT
from sigla.languages.json_schema import compare
from sigla.languages.json_schema.load import Document, root
from sigla.languages.json_schema.nodes import Schema
from sigla.languages.json_schema.rules import compatible
from sigla.languages.json_schema.text import read
from sigla.languages.language import Budget
from sigla.model import Finding

MODERN: Final = "https://json-schema.org/draft/2020-12/schema"
CLOSED: Final = {"additionalProperties": False}
STRING: Final = {"type": "string"}
NULL: Final = {"type": "null"}
Found = list[tuple[str, str]]


def node(schema: Any) -> Schema:
    return root(Document(read(schema if isinstance(schema, str) else json.dumps(schema))))


def modern(**keywords: Any) -> dict[str, Any]:
    return {"$schema": MODERN, **keywords}


def differences(old: Any, new: Any, policy: str = STRICT) -> Found:
    """All that is found when the new schema must read what the old one wrote: [(kind, path)]."""
    return kinds_and_paths(compare.differences(node(new), node(old), Budget(), policy))


def incompatibilities(old: Any, new: Any, policy: str = STRICT) -> Found:
    return kinds_and_paths(compare.incompatibilities(node(new), node(old), Budget(), policy))


def is_compatible(old: Any, new: Any, policy: str = STRICT) -> bool:
    return all(kind in compatible(policy) for kind, _ in differences(old, new, policy))


def kinds(old: Any, new: Any) -> list[str]:
    return [kind for kind, _ in differences(old, new)]


def harmful(old: Any, new: Any, policy: str = STRICT) -> list[str]:
    return [kind for kind, _ in incompatibilities(old, new, policy)]


def kinds_and_paths(findings: tuple[Finding, ...]) -> Found:
    return [(finding.rule, finding.path) for finding in findings]


NAMES: Final = st.sampled_from(["a", "b", "xa", "xb"])
VALUES: Final = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "b", "", 1.0, [1], {"a": 1}])
LIMIT: Final = st.integers(0, 3)
NOTES: Final = {"title": st.sampled_from(["T", "U"]), "default": VALUES}


def optional(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


def leaves() -> st.SearchStrategy[Any]:
    types = st.sampled_from(["string", "number", "integer", "boolean", "null", "object", "array"])
    return st.one_of(
        st.booleans(),
        st.just({}),
        optional(type=types, **NOTES),
        optional(type=types | st.lists(types, min_size=1, max_size=3, unique=True), enum=st.lists(VALUES, max_size=3)),
        optional(minLength=LIMIT, maxLength=LIMIT, pattern=st.sampled_from(["a", "b"])),
        optional(minimum=LIMIT, exclusiveMaximum=LIMIT, multipleOf=st.sampled_from([1, 2, 3, 0.5])),
        st.fixed_dictionaries({"const": VALUES}),
    )


def with_schemas(inside: st.SearchStrategy[Any], *, negations: bool) -> st.SearchStrategy[Any]:
    several = st.lists(inside, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, inside, max_size=3)
    choices = [
        optional(
            properties=named,
            required=st.lists(NAMES, max_size=2, unique=True),
            additionalProperties=inside,
            patternProperties=st.dictionaries(st.sampled_from(["^x", "a$"]), inside, max_size=2),
            dependencies=st.dictionaries(NAMES, inside | st.lists(NAMES, max_size=2, unique=True), max_size=2),
            minProperties=LIMIT,
            **NOTES,
        ),
        optional(items=inside | several, additionalItems=inside, uniqueItems=st.booleans(), maxItems=LIMIT),
        st.builds(lambda word, members: {word: members}, st.sampled_from(["allOf", "anyOf", "oneOf"]), several),
        optional(type=st.just("object"), properties=named, oneOf=several),
    ]
    return st.one_of(*choices, st.builds(lambda schema: {"not": schema}, inside)) if negations else st.one_of(*choices)


def schemas(*, negations: bool = True) -> st.SearchStrategy[Any]:
    """Draft 7, without references."""
    return st.recursive(leaves(), lambda inside: with_schemas(inside, negations=negations), max_leaves=8)


def recursive() -> st.SearchStrategy[Any]:
    """Objects that refer to themselves and to each other."""
    somewhere = st.sampled_from([{"$ref": "#"}, {"$ref": "#/definitions/A"}, {"$ref": "#/definitions/B"}])
    inside = st.recursive(leaves() | somewhere, lambda inside: with_schemas(inside, negations=True), max_leaves=5)
    return st.builds(
        lambda schema, a, b: {**schema, "definitions": {"A": a, "B": b}},
        st.dictionaries(st.just("properties"), st.dictionaries(NAMES, inside, min_size=1, max_size=3), min_size=1),
        inside,
        inside,
    )
