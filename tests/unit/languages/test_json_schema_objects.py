"""Objects and arrays: what may be there (contract C.7.3, C.7.4)."""

from typing import Any, Final

import pytest

from tests.unit.languages.json_schema_pairs import (
    CLOSED,
    STRING,
    differences,
    harmful,
    is_compatible,
    kinds,
    modern,
)


def test_objects_come_in_one_order() -> None:
    old = modern(
        properties={"a": STRING, "b": STRING},
        dependentRequired={"a": ["b"]},
        dependentSchemas={"a": STRING},
        unevaluatedProperties={},
        maxProperties=2,
        minProperties=2,
    )
    new = modern(
        properties={"a": {}, "c": STRING},
        required=["a"],
        additionalProperties=STRING,
        unevaluatedProperties=False,
        maxProperties=3,
        minProperties=3,
    )
    assert differences(old, new) == [
        ("REQUIRED_ATTRIBUTE_ADDED", "#/required/a"),
        ("PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/b"),
        ("OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "#/properties/c"),
        ("DEPENDENCY_ARRAY_REMOVED", "#/dependencies/a"),
        ("DEPENDENCY_SCHEMA_REMOVED", "#/dependencies/a"),
        ("ADDITIONAL_PROPERTIES_NARROWED", "#/additionalProperties"),
        ("UNEVALUATED_PROPERTIES_REMOVED", "#/unevaluatedProperties"),
        ("MAX_PROPERTIES_INCREASED", "#/maxProperties"),
        ("MIN_PROPERTIES_INCREASED", "#/minProperties"),
    ]


@pytest.mark.parametrize(
    "model, covered, expected",
    [
        ({}, "x", "OPEN"),
        ({"additionalProperties": True}, "x", "OPEN"),
        ({"unevaluatedProperties": True}, "x", "OPEN"),
        ({"unevaluatedProperties": {}}, "x", "OPEN"),
        ({"additionalProperties": STRING}, "x", "PARTIAL"),
        ({"patternProperties": {"x": STRING}}, "axe", "PARTIAL"),
        ({"patternProperties": {"^x": STRING}}, "axe", "CLOSED"),
        ({"patternProperties": {"x": STRING}, **CLOSED}, "axe", "PARTIAL"),
        ({"patternProperties": {"x": STRING}, **CLOSED}, "y", "CLOSED"),
        ({"patternProperties": {"x": STRING}, "additionalProperties": STRING}, "y", "PARTIAL"),
        ({"unevaluatedProperties": STRING}, "x", "PARTIAL"),
        ({"unevaluatedProperties": False}, "x", "CLOSED"),
        ({"unevaluatedProperties": STRING, **CLOSED}, "x", "CLOSED"),
        (CLOSED, "x", "CLOSED"),
    ],
)
def test_a_content_model_is_open_partial_or_closed(model: dict[str, Any], covered: str, expected: str) -> None:
    """Seen from a property that comes, and from one that goes."""
    with_it = modern(properties={"a": STRING, covered: STRING}, **model)
    without = modern(properties={"a": STRING}, **model)
    added, removed = kinds(without, with_it), kinds(with_it, without)
    assert (
        added
        == {
            "OPEN": ["OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"],
            "PARTIAL": [
                "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
                "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
            ],
            "CLOSED": ["OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"],
        }[expected]
    )
    assert (
        removed[-1].removeprefix("PROPERTY_REMOVED_")
        == {
            "OPEN": "FROM_OPEN_CONTENT_MODEL",
            "PARTIAL": "IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
            "CLOSED": "FROM_CLOSED_CONTENT_MODEL",
        }[expected]
    )


def test_additional_properties_that_may_be_anything_are_not_all_there_may_be() -> None:
    """`{}` is a schema, which what comes must satisfy; `true` is not."""
    anything: dict[str, Any] = {"additionalProperties": {}}
    assert kinds(anything, {"properties": {"a": STRING}, **anything}) == [
        "TYPE_CHANGED",
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
    ]


def test_the_first_pattern_that_is_found_covers() -> None:
    patterns = {"^x": STRING, "^xa": {"type": "integer"}}
    old = {"patternProperties": patterns}
    assert is_compatible(old, {"patternProperties": patterns, "properties": {"xa": STRING}})
    assert not is_compatible(old, {"patternProperties": patterns, "properties": {"xa": {"type": "integer"}}})


def test_a_default_behind_a_reference_is_none() -> None:
    """Neither the target's nor one beside the reference (C.7.3)."""
    referring = {"$ref": "#/definitions/A", "default": "x"}
    definitions = {"definitions": {"A": {"type": "string", "default": "x"}}}
    old = {"properties": {"a": STRING}, **CLOSED}
    new = {"properties": {"a": referring, "b": referring}, "required": ["a", "b"], **CLOSED, **definitions}
    assert harmful(old, new) == ["REQUIRED_ATTRIBUTE_ADDED", "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"]


def test_an_empty_or_false_schema_behind_a_reference_is_neither() -> None:
    behind = {"definitions": {"E": {}, "F": False}}
    old = {"properties": {}, **behind}
    assert harmful(old, {"properties": {"a": {"$ref": "#/definitions/E"}}, **behind}) == [
        "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
    ]
    assert harmful({"properties": {"a": {"$ref": "#/definitions/F"}}, **CLOSED, **behind}, {**old, **CLOSED}) == [
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    ]


def test_an_empty_property_may_come_even_if_it_is_required() -> None:
    assert (
        harmful(
            {"properties": {}, "minProperties": 0}, {"properties": {"a": {}}, "required": ["a"], "minProperties": 0}
        )
        == []
    )


UNEVALUATED: Final[dict[str, list[Any]]] = {"absent": [], "false": [False], "true": [True], "schema": [STRING]}
CHANGES: Final = {
    "absent": ["", "REMOVED", "NARROWED", "NARROWED"],
    "false": ["ADDED", "", "ADDED", "ADDED"],
    "true": ["EXTENDED", "REMOVED", "", "NARROWED"],
    "schema": ["EXTENDED", "REMOVED", "EXTENDED", ""],
}


@pytest.mark.parametrize("old", UNEVALUATED)
@pytest.mark.parametrize("what, base", [("properties", "object"), ("items", "array")])
def test_what_is_left_unevaluated(old: str, what: str, base: str) -> None:
    """The table of C.7.3, for objects and for arrays."""

    def schema(says: str) -> dict[str, Any]:
        return modern(type=base, **{f"unevaluated{what.title()}": value for value in UNEVALUATED[says]})

    found = [kinds(schema(old), schema(new)) for new in UNEVALUATED]
    prefix = f"UNEVALUATED_{what.upper()}_"
    assert found == [[prefix + change] if change else [] for change in CHANGES[old]]


@pytest.mark.parametrize("what, base", [("Properties", "object"), ("Items", "array")])
def test_the_rest_is_compared_where_both_give_a_schema(what: str, base: str) -> None:
    old, new = (modern(type=base, **{f"unevaluated{what}": {"type": type_}}) for type_ in ("integer", "number"))
    assert differences(old, new) == [("TYPE_EXTENDED", f"#/unevaluated{what}")]


@pytest.mark.parametrize(
    "rest, added, removed",
    [
        ({}, ["ITEM_ADDED_TO_OPEN_CONTENT_MODEL"], ["ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL"]),
        ({"items": False}, ["ITEM_ADDED_TO_CLOSED_CONTENT_MODEL"], ["ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"]),
        (
            {"items": STRING},
            ["ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
            ["ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
        ),
        (
            {"items": {"type": "null"}},
            ["TYPE_CHANGED", "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
            ["TYPE_CHANGED", "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
        ),
        (
            {"unevaluatedItems": STRING},
            ["ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
            ["ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
        ),
        (
            {"unevaluatedItems": False},
            ["ITEM_ADDED_TO_CLOSED_CONTENT_MODEL"],
            ["ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"],
        ),
    ],
)
def test_a_tuple_grows_and_shrinks(rest: dict[str, Any], added: list[str], removed: list[str]) -> None:
    short, long = modern(prefixItems=[STRING], **rest), modern(prefixItems=[STRING, STRING], **rest)
    assert differences(short, long) == [(kind, "#/items/1") for kind in added]
    assert differences(long, short) == [(kind, "#/items/1") for kind in removed]


def test_items_that_may_be_anything_or_nothing() -> None:
    short = {"items": [STRING]}
    assert harmful(short, {"items": [STRING, {}]}) == []
    closed = {"additionalItems": False}
    assert harmful({"items": [STRING, False], **closed}, {**short, **closed}) == []
