"""What other words of a schema say beside `properties`: records keep it."""

from typing import Any

import pytest

from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.decoder import Writer
from tests.pipelines.land.test_json_schema import LOOSE, decode
from tests.unit.decoding.json_types import source

B: Any = {"properties": {"b": {}}}
INNER: Any = {"type": "object", "properties": {"x": {}}}
"""Its properties beside `a`'s own, one deeper."""
CLOSED: Any = {**INNER, "additionalProperties": False}


@pytest.mark.parametrize(
    "beside",
    [
        {"allOf": [B]},
        {"allOf": [{"anyOf": [{"$ref": "#/$defs/b"}]}]},
        {"oneOf": [{"properties": {"a": {}}}, B]},
        {"anyOf": [{"required": ["b"]}, {"required": ["a"]}]},
        {"if": B},
        {"if": {"required": ["a"]}, "then": B},
        {"if": {"required": ["a"]}, "else": B},
        {"dependentSchemas": {"a": B}},
        {"required": ["b"]},
        {"unevaluatedProperties": {}},
        {"$dynamicRef": "#b"},
        {"allOf": [{"$ref": "#/$defs/b"}], "unevaluatedProperties": False},
        {"allOf": [{"$ref": "https://example.com/other.json"}]},
    ],
    ids=str,
)
def test_what_other_words_declare_beside_the_properties_is_kept(beside: Any) -> None:
    """Whatever a schema says of an object, nothing that it speaks of is left out."""
    modern = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"b": {"$dynamicAnchor": "b", **B}}}
    reader = source({**modern, "properties": {"a": {"type": "string"}}, **beside}, other_json=B)
    assert decode(reader, {"a": "x", "b": 5}, {"a": "y"}, writer=LOOSE).rows.to_pylist() == [
        {"a": "x", "_additional": '{"b":5}'},
        {"a": "y", "_additional": None},
    ]


def test_what_is_declared_beside_a_reference_is_kept() -> None:
    """The columns are those of what is referred to."""
    reader = source(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": "#/$defs/base",
            "properties": {"a": {"type": "string"}},
            "unevaluatedProperties": False,
            "$defs": {"base": {"type": "object", "properties": {"b": {"type": "integer"}}}},
        }
    )
    assert decode(reader, {"a": "x", "b": 5}).rows.to_pylist() == [{"b": 5, "_additional": '{"a":"x"}'}]


@pytest.mark.parametrize(
    "own, beside, value, column",
    [
        (INNER, {"properties": {"a": B}}, {"b": 5}, {"x": None, "_additional": '{"b":5}'}),
        (INNER, {"additionalProperties": B}, {"b": 5}, {"x": None, "_additional": '{"b":5}'}),
        (INNER, {"patternProperties": {"^a": B}}, {"b": 5}, {"x": None, "_additional": '{"b":5}'}),
        ({"items": INNER}, {"properties": {"a": {"items": B}}}, [{"b": 5}], [{"x": None, "_additional": '{"b":5}'}]),
        (
            {"type": "object", "additionalProperties": INNER},
            {"properties": {"a": {"properties": {"k": B}}}},
            {"k": {"b": 5}},
            [("k", {"x": None, "_additional": '{"b":5}'})],
        ),
        (CLOSED, {"properties": {"a": B}}, {"b": 5}, {"x": None, "_additional": '{"b":5}'}),
        (CLOSED, {"properties": {"a": CLOSED}}, {"b": 5}, {"x": None}),
    ],
)
def test_what_is_declared_beside_the_properties_is_kept_at_every_depth(
    own: Any, beside: Any, value: Any, column: Any
) -> None:
    """The place of a property that two schemas know; what neither speaks of has no place where one forbids it."""
    reader = source({"properties": {"a": own}, "additionalProperties": False, "allOf": [beside]})
    [row] = decode(reader, {"a": value}, writer=LOOSE).rows.to_pylist()
    assert row["a"] == column


def test_alternatives_that_declare_nothing_more_add_no_column() -> None:
    """They say which of the properties there are."""
    reader = source(
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {"kind": {"type": "string"}, "b": {"type": "integer"}, "up": {"$ref": "#"}},
            "oneOf": [
                {"properties": {"kind": {"const": "k"}, "b": {}}, "required": ["b"]},
                {"not": {"required": ["c"]}},
            ],
            "allOf": [{"$ref": "#"}],
        }
    )
    assert DECODERS["JSON"](Writer(reader)).type.names == ["kind", "b", "up"]
