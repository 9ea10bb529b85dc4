"""What holds for every JSON Schema, whatever it is."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages.json_schema import LANGUAGE, patterns
from sigla.languages.json_schema.text import read, written
from sigla.languages.language import Budget
from sigla.model import Entity, Parsed, Resolved, Tagged

DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]
NAMES = st.sampled_from(["a", "b", "~x", "é", "a.b", "object", "$defs"])
COUNTS = st.integers(0, 5)
VALUES = st.none() | st.booleans() | st.integers(-5, 5) | st.decimals(allow_nan=False, allow_infinity=False).map(float)
LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [{}, True, False, {"type": "string"}, {"type": "null"}, {"$ref": "#"}, {"$ref": "#/definitions/D"}]
)


def containing(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(NAMES, schemas, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", "number", "integer", ["object", "null"]]),
            "properties": named,
            "required": st.lists(NAMES, max_size=2),
            "additionalProperties": schemas,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", ".", r"\p{L}"]), schemas, max_size=2),
            "items": schemas,
            "maxItems": COUNTS,
            "minLength": COUNTS,
            "maximum": st.integers(-5, 5),
            "enum": st.lists(VALUES, max_size=3),
            "allOf": st.lists(schemas, max_size=3),
            "anyOf": st.lists(schemas, max_size=3),
            "not": schemas,
            "title": NAMES,
            "default": VALUES,
            "confluent:tags": st.lists(NAMES, max_size=2),
        },
    )


@st.composite
def drawn(draw: st.DrawFn) -> dict[str, Any]:
    inside = draw(st.recursive(LEAVES, containing, max_leaves=8))
    definition = draw(LEAVES)
    root = inside if isinstance(inside, dict) else {"not": inside}
    schema: dict[str, Any] = {**root, "definitions": {"D": definition}}
    return {"$schema": draw(st.sampled_from(DRAFTS)), **schema} if draw(st.booleans()) else schema


SCHEMAS = drawn()
KEYWORDS = (
    *("type", "properties", "items", "$ref", "$id", "id", "$schema", "$defs", "definitions", "$anchor", "required"),
    *("enum", "allOf", "not", "if", "dependencies", "pattern", "minLength", "contains", "additionalProperties"),
    *("prefixItems", "unevaluatedItems", "default", "multipleOf", "title", "confluent:tags"),
)
WORDS = ("string", "object", "#", "#/definitions", "#a", "b.json", "(", *DRAFTS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(st.sampled_from(KEYWORDS), inside | st.sampled_from(WORDS), max_size=5)
    ),
    max_leaves=20,
)


def new(schema: Any) -> Parsed:
    return LANGUAGE.parse(json.dumps(schema), (), True)


@given(SCHEMAS)
def test_the_canonical_text_is_its_own_canonical_text(schema: Any) -> None:
    parsed = new(schema)
    again = LANGUAGE.parse(parsed.canonical, (), True)
    assert again.canonical == parsed.canonical
    assert LANGUAGE.equivalent(parsed, again)
    assert LANGUAGE.digest(parsed) == LANGUAGE.digest(again)


@given(JSON)
def test_what_is_written_can_be_read(value: Any) -> None:
    """Numbers keep their value, keys their order."""
    text = written(read(json.dumps(value)))
    assert json.loads(text) == value
    assert written(read(text)) == text


@given(SCHEMAS)
def test_normalising_twice_is_normalising_once(schema: Any) -> None:
    """And it changes nothing but the order of keys."""
    parsed = new(schema)
    normal = LANGUAGE.normalise(parsed)
    assert LANGUAGE.normalise(normal).canonical == normal.canonical
    assert json.loads(normal.canonical) == json.loads(parsed.canonical)
    with suppress(Malformed):
        LANGUAGE.validate(parsed, False)
        assert LANGUAGE.compare(normal, parsed) == ()


@given(JSON, JSON)
def test_whatever_is_no_schema_is_malformed_and_nothing_else(value: Any, other: Any) -> None:
    with suppress(Malformed):
        schema = LANGUAGE.parse(json.dumps(value), [Resolved("b.json", json.dumps(other))], True)
        LANGUAGE.top_level_fields(schema)
        LANGUAGE.tagged(schema)
        LANGUAGE.validate(schema, True)
        with suppress(CheckAbandoned):
            LANGUAGE.compare(schema, schema)


@given(SCHEMAS, st.integers(0, 400), st.integers(0, 20), st.text(max_size=3))
def test_a_mutilated_text_is_malformed_and_nothing_else(schema: Any, at: int, length: int, patch: str) -> None:
    text = json.dumps(schema)
    with suppress(Malformed):
        parsed = LANGUAGE.parse(text[:at] + patch + text[at + length :], (), True)
        LANGUAGE.validate(parsed, True)


@given(SCHEMAS)
def test_every_tag_that_is_shown_can_be_taken_away(schema: Any) -> None:
    """So paths mean the same where they are read and where they are written, but for names that look like steps."""
    shown = LANGUAGE.tagged(new(schema))
    for tagged in shown:
        if "$defs" not in tagged.entity.path:
            LANGUAGE.retag(new(schema), (), (tagged,))


@given(SCHEMAS, st.text(max_size=10), st.sampled_from(["sr_field", "sr_record"]))
def test_an_unknown_place_is_malformed_and_nothing_else(schema: Any, path: str, kind: str) -> None:
    with suppress(Malformed):
        LANGUAGE.retag(new(schema), (Tagged(Entity(path, kind), ("A",)),), ())


@given(st.text(alphabet="ab1-,{}[]()^$|.*+?\\&<>=!:\\pPQEdDxuk", max_size=20), st.text(alphabet="ab1-]", max_size=8))
def test_a_pattern_is_refused_or_looked_for(pattern: str, name: str) -> None:
    with suppress(Malformed, CheckAbandoned):
        patterns.check(pattern)
        patterns.Patterns(Budget().spend).found(pattern, name)
