"""How the differ walks, what it says, and what it costs (contract C.6, C.8)."""

import ast
import inspect
import json
from typing import Any

import pytest

from sigla.contract import STRICT
from sigla.languages.json_schema import arrays, combined, compare, objects, outcome, rest, scalars
from sigla.languages.json_schema.rules import COMPATIBLE, LENIENT, RULES, compatible
from sigla.languages.json_schema.sentences import SENTENCES, sentence
from sigla.languages.language import Budget
from sigla.model import Finding
from tests.unit.languages.json_schema_pairs import (
    CLOSED,
    MODERN,
    NULL,
    STRING,
    differences,
    is_compatible,
    kinds,
    node,
)


def test_whatever_the_walks_say_is_a_rule_with_a_sentence() -> None:
    """A kind that is misspelt would silently be incompatible; one that is put together of parts could not be found."""
    ids = {rule.id for rule in RULES}
    said = {
        text
        for module in (arrays, combined, compare, objects, outcome, rest, scalars)
        for part in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(part, ast.Constant) and isinstance(text := part.value, str)
        if text.isupper() and "_" in text.strip("_")
    }
    assert said == ids
    assert set(SENTENCES) == ids
    assert len(ids) == len(RULES)


def test_lenient_permits_all_that_strict_permits() -> None:
    assert COMPATIBLE[STRICT] < COMPATIBLE[LENIENT]
    assert len(COMPATIBLE[LENIENT] - COMPATIBLE[STRICT]) == 9


def test_another_policy_is_as_strict() -> None:
    """DV-14: what LOGICAL adds is about tables, which we know nothing of."""
    assert compatible("LOGICAL") == compatible("") == compatible(STRICT)
    old, new = {"properties": {"a": STRING}}, {"properties": {"a": STRING}, **CLOSED}
    assert [is_compatible(old, new, policy) for policy in (STRICT, "LOGICAL", LENIENT)] == [False, False, True]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_sentence_names_both_schemas_and_the_path(rule: Any) -> None:
    """Whatever a name holds stands in it as it is: `%` and braces, quotes and words that look like facts."""
    path = "#/properties/100%s {reader} {0} '\"/type"
    text = sentence(Finding(rule.id, path, ""), "new", "old")
    assert text.startswith(f'{{errorType:"{rule.id}", description:"')
    assert text.endswith("'}")
    assert f"'{path}'" in text
    assert "new schema" in text
    assert "old schema" in text
    assert text != sentence(Finding(rule.id, path, ""), "old", "new")


@pytest.mark.parametrize(
    "old, new, expected",
    [
        (False, STRING, []),
        (STRING, True, []),
        (STRING, {}, []),
        (STRING, {"title": "T"}, []),
        ({}, STRING, ["TYPE_CHANGED"]),
        (True, {}, []),
        (STRING, False, ["TYPE_CHANGED"]),
        ({}, False, ["TYPE_CHANGED"]),
        (False, {}, []),
        ({"enum": ["a"]}, STRING, ["TYPE_CHANGED"]),
        ({"type": "boolean"}, {"type": "null"}, ["TYPE_CHANGED"]),
        ({"connect.type": "bytes", "type": "string"}, {"connect.type": "bytes", "type": "integer"}, []),
        ({"connect.type": "bytes", "type": "string"}, {"connect.type": "int8", "type": "integer"}, ["TYPE_CHANGED"]),
        ({"type": "string"}, {"connect.type": "bytes", "type": "integer"}, ["TYPE_CHANGED"]),
    ],
)
def test_schemas_of_two_kinds(old: Any, new: Any, expected: list[str]) -> None:
    """A writer of nothing, and a reader of anything, are compatible with all."""
    assert kinds(old, new) == expected


def test_what_is_written_beside_comes_in_one_order() -> None:
    old = {"$id": "a", "title": "A", "description": "A", "default": 1, "type": "string"}
    new = {"default": 1.0, "description": "B", "title": "B", "$id": "b", "type": "string"}
    assert kinds(old, new) == ["ID_CHANGED", "TITLE_CHANGED", "DESCRIPTION_CHANGED", "DEFAULT_CHANGED"]


def test_what_is_written_beside_a_reference_is_not_compared() -> None:
    old = {"properties": {"a": {"$ref": "#/definitions/A", "title": "Old"}}, "definitions": {"A": STRING}}
    new = {"properties": {"a": {"$ref": "#/definitions/A", "title": "New"}}, "definitions": {"A": STRING}}
    assert differences(old, new) == []


@pytest.mark.parametrize(
    "old, new, expected",
    [
        (STRING, {"anyOf": [{"type": "integer"}, STRING]}, ["SUM_TYPE_EXTENDED"]),
        (STRING, {"allOf": [STRING, STRING]}, ["TYPE_CHANGED"]),
        (STRING, {"allOf": [STRING]}, []),
        (STRING, {"oneOf": [{"type": "integer"}]}, ["TYPE_CHANGED"]),
        ({"allOf": [{"type": "integer"}, STRING]}, STRING, ["PRODUCT_TYPE_NARROWED"]),
        ({"anyOf": [STRING, STRING]}, STRING, ["TYPE_CHANGED"]),
        ({"anyOf": [STRING]}, STRING, []),
        ({"anyOf": [STRING, STRING]}, {}, []),
        (False, {"allOf": [STRING, STRING]}, []),
        (
            {"type": "string", "maxLength": 1},
            {"oneOf": [{"type": "null"}, {"type": "string", "maxLength": 2}]},
            ["MAX_LENGTH_INCREASED", "SUM_TYPE_EXTENDED"],
        ),
    ],
)
def test_one_schema_becomes_several_or_several_one(old: Any, new: Any, expected: list[str]) -> None:
    """A lone member stands for the whole. Else a sum reads what a member reads, and a product writes what each does."""
    assert kinds(old, new) == expected


def test_names_stand_in_paths_as_they_are() -> None:
    """Unescaped, whatever they hold; the root is `#/`."""
    old = {"properties": {"a/b~%": {"properties": {"": STRING}}}}
    new = json.loads(json.dumps(old).replace("string", "null"))
    assert differences(old, new) == [("TYPE_CHANGED", "#/properties/a/b~%/properties/")]
    assert differences(STRING, NULL) == [("TYPE_CHANGED", "#/")]


def test_the_cost_grows_with_the_schemas() -> None:
    """Ten times the properties are ten times the steps."""

    def cost(size: int) -> int:
        old = {"properties": {f"p{i}": {"type": ["string", "null"], "default": None} for i in range(size)}}
        new = {"properties": {f"p{i}": {"type": ["string", "null"]} for i in range(1, size)}, "title": "T"}
        budget = Budget()
        compare.differences(node(new), node(old), budget, STRICT)
        return Budget().left - budget.left

    assert cost(1000) < 11 * cost(100)


@pytest.mark.parametrize("order", [1, -1])
def test_large_unions_in_any_order_are_cheap(order: int) -> None:
    """400 events, as generators write them."""

    def event(index: int) -> dict[str, Any]:
        fields = {f"f{index}_{i}": STRING for i in range(8)}
        return {"type": "object", "properties": {"kind": {"const": index}, **fields}, **CLOSED}

    old, new = (
        {"$schema": MODERN, "oneOf": [event(i) for i in indices]} for indices in (range(400), range(400)[::order])
    )
    assert compare.incompatibilities(node(new), node(old), Budget(100_000), STRICT) == ()
    gone = {**new, "oneOf": [event(i + 1000) for i in range(400)]}
    assert compare.incompatibilities(node(gone), node(old), Budget(100_000), STRICT)
