"""Several schemas as one, and which of them are the same (contract C.7.5)."""

from typing import Any

import pytest

from sigla.languages.json_schema.nodes import Anything, Combined, Const, Enum, Numeric, String
from sigla.languages.json_schema.outcome import Check
from sigla.languages.language import Budget
from tests.unit.languages.json_schema_pairs import (
    NULL,
    STRING,
    differences,
    harmful,
    is_compatible,
    kinds,
    node,
)


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ({"allOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}, "COMBINED_TYPE_EXTENDED"),
        ({"oneOf": [STRING]}, {"allOf": [STRING]}, "COMBINED_TYPE_EXTENDED"),
        ({"anyOf": [STRING]}, {"oneOf": [STRING, NULL]}, "COMBINED_TYPE_EXTENDED"),
        ({"allOf": [STRING, NULL]}, {"oneOf": [STRING]}, "COMBINED_TYPE_EXTENDED"),
        ({"allOf": [STRING, NULL]}, {"oneOf": [STRING, NULL]}, "COMBINED_TYPE_CHANGED"),
        ({"anyOf": [STRING]}, {"allOf": [STRING, NULL]}, "COMBINED_TYPE_CHANGED"),
        ({"oneOf": [STRING, NULL]}, {"allOf": [STRING]}, "COMBINED_TYPE_CHANGED"),
    ],
)
def test_one_criterion_becomes_another(old: Any, new: Any, expected: str) -> None:
    assert kinds(old, new)[0] == expected
    assert is_compatible(old, new) == (expected == "COMBINED_TYPE_EXTENDED")


def test_members_that_say_the_same_are_one() -> None:
    """Wherever they stand and however their keys are ordered."""
    same = {"properties": {"b": NULL, "a": STRING}, "title": "T"}
    again = {"title": "T", "properties": {"a": STRING, "b": NULL}}
    assert differences({"anyOf": [STRING, same, again, STRING]}, {"anyOf": [STRING, same]}) == []
    assert kinds({"anyOf": [STRING, {"type": "string", "title": "T"}]}, {"anyOf": [STRING]}) == ["SUM_TYPE_NARROWED"]


def test_references_to_one_place_are_one_member() -> None:
    definitions = {"definitions": {"A": {"properties": {"a": {"$ref": "#/definitions/A"}}}, "B": STRING}}
    twice = {"oneOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/A"}], **definitions}
    once = {"oneOf": [{"$ref": "#/definitions/A"}], **definitions}
    both = {"oneOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/B"}], **definitions}
    assert differences(twice, once) == []
    assert "SUM_TYPE_NARROWED" in kinds(both, once)


@pytest.mark.parametrize(
    "a, b, same",
    [
        (String(), String(), True),
        (String(), Numeric(), False),
        (Enum([1, "a"]), Enum(["a", 1, 1]), True),
        (Const(1), Const(True), False),
        (Combined("anyOf", [String()]), Combined("anyOf", [String()], synthetic=True), True),
        (Combined("anyOf", [String()]), Combined("oneOf", [String()]), False),
        (node({"if": STRING, "then": NULL}), node({"if": STRING, "then": NULL}), True),
        (node({"if": STRING, "then": NULL}), node({"if": STRING, "else": NULL}), False),
        (node({"x": 1, "y": 2}), node({"y": 2, "x": 1}), True),
        (node({"x": 1}), node({"x": 1.0}), False),
        (node({"default": None}), Anything(), False),
        (node({"items": [STRING]}), node({"items": STRING}), False),
        (node({"items": []}), node({"minItems": 0}), False),
        (node({"required": ["a", "b"]}), node({"required": ["b", "a"]}), True),
        (node({"not": STRING}), node({"not": NULL}), False),
        (node({"maximum": 1}), node({"minimum": 1}), False),
    ],
)
def test_content(a: Any, b: Any, same: bool) -> None:
    """What a node records makes it what it is."""
    contents = Check(frozenset(), Budget().spend).contents
    assert (contents.node(a) == contents.node(b)) == same


def test_a_typed_enum_is_judged_as_a_conjunction() -> None:
    """JL-1."""
    assert harmful({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["a"]}) == [
        "COMBINED_TYPE_SUBSCHEMAS_CHANGED"
    ]


def test_the_index_in_a_path_is_the_writers() -> None:
    old = {"oneOf": [NULL, {"type": "integer"}]}
    new = {"oneOf": [{"type": "number"}, NULL]}
    assert differences(old, new) == [("TYPE_EXTENDED", "#/oneOf/1")]
