"""Inline tags of JSON Schemas: where they stand, what they are called, how they come and go."""

import json
from typing import Any

import pytest

from sigla.errors import Malformed
from sigla.languages.json_schema import LANGUAGE
from sigla.model import Entity, Parsed, Tagged

MODERN = "https://json-schema.org/draft/2020-12/schema"
NAME = {"type": "object", "properties": {"first": {"type": "string"}}}
ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "to": {**NAME, "confluent:tags": ["PII", "a b", 1]},
        "lines": {"type": "array", "items": NAME},
        "ref": {"$ref": "#/definitions/Name"},
        "a.b": {"anyOf": [{"type": "string"}, NAME, {"type": "null"}]},
    },
    "not": {"not": NAME},
    "definitions": {"Name": NAME},
}
ORDER_ALONE = {key: value for key, value in ORDER.items() if key != "not"}


def new(schema: Any) -> Parsed:
    return LANGUAGE.parse(json.dumps(schema), (), True)


def on(path: str, *tags: str) -> Tagged:
    return Tagged(Entity(path, "sr_field"), tags)


def on_record(path: str, *tags: str) -> Tagged:
    return Tagged(Entity(path, "sr_record"), tags)


def retagged(schema: Any, add: tuple[Tagged, ...] = (), remove: tuple[Tagged, ...] = ()) -> Parsed:
    return LANGUAGE.parse(LANGUAGE.retag(new(schema), add, remove), (), True)


@pytest.mark.parametrize(
    "path",
    [
        "object.id",
        "object.to",
        "object.to.object.first",
        "object.lines.array.object.first",
        "object.ref",
        "object.a.b",
        "object.a.b.anyof.1.object.first",
        "object.definitions.Name.object.first",
    ],
)
def test_a_field_is_tagged_and_found_under_the_same_path(path: str) -> None:
    """Members of anyOf are numbered by kind: null, object, string."""
    schema = retagged(ORDER_ALONE, remove=(on("object.to", "PII", "a b"),))
    schema = LANGUAGE.parse(LANGUAGE.retag(schema, (on(path, "X"),), ()), (), True)
    assert LANGUAGE.tagged(schema) == (on(path, "X"),)


@pytest.mark.parametrize(
    "path", ["object", "object.lines.array.object", "object.a.b.anyof.1.object", "object.definitions.Name.object"]
)
def test_a_record_is_tagged_and_found_under_the_same_path(path: str) -> None:
    schema = retagged(ORDER_ALONE, (on_record(path, "X"),), (on("object.to", "PII", "a b"),))
    assert LANGUAGE.tagged(schema) == (on_record(path, "X"),)


def test_tags_are_found_in_document_order() -> None:
    schema = retagged(ORDER_ALONE, (on("object.definitions.Name.object.first", "Z"), on_record("object", "TOP")))
    assert LANGUAGE.tagged(schema) == (
        on_record("object", "TOP"),
        on("object.to", "PII", "a b"),
        on("object.definitions.Name.object.first", "Z"),
    )


def test_a_schema_of_several_kinds_is_an_all_of_of_itself() -> None:
    """Its members are numbered by kind: the `not`, then the object."""
    schema = retagged(ORDER, (on("allof.1.object.id", "X"), on("allof.0.not.not.object.first", "Y")))
    assert LANGUAGE.tagged(schema) == (
        on("allof.0.not.not.object.first", "Y"),
        on("allof.1.object.id", "X"),
        on("allof.1.object.to", "PII", "a b"),
    )


def test_conditions_and_types_in_a_list_have_places_too() -> None:
    schema = {"if": NAME, "then": NAME}
    tagged = retagged(schema, (on("conditional.then.object.first", "X"),))
    assert LANGUAGE.tagged(tagged) == (on("conditional.then.object.first", "X"),)
    several = {"type": ["object", "null"], "properties": {"a": {}}}
    assert LANGUAGE.tagged(retagged(several, (on("anyof.1.object.a", "X"),))) == (on("anyof.1.object.a", "X"),)


@pytest.mark.parametrize("criterion", ["allOf", "anyOf", "oneOf"])
def test_members_have_an_order_of_their_own(criterion: str) -> None:
    """By kind, title, description, default and content: so another order of writing changes no path."""
    members = [
        {"enum": [2, 1]},
        {"type": "string", "title": "b"},
        {"type": "object", "properties": {"b": {}}, "title": "a"},
        {"type": "object", "properties": {"a": {}}},
        {"const": 1},
        {"allOf": [{"type": "null"}, {"type": "string"}]},
        True,
        {"type": "array", "items": {"type": "string"}},
    ]
    path = f"{criterion.lower()}.5.object.a"
    for order in (members, members[::-1]):
        assert LANGUAGE.tagged(retagged({criterion: order}, (on(path, "X"),))) == (on(path, "X"),)


def test_definitions_of_modern_drafts_are_called_defs() -> None:
    schema = {"$schema": MODERN, "type": "object", "$defs": {"N": NAME}}
    path = "object.$defs.N.object.first"
    assert LANGUAGE.tagged(retagged(schema, (on(path, "X"),))) == (on(path, "X"),)


def test_tags_are_added_last_without_repetition_and_then_removed() -> None:
    text = LANGUAGE.retag(
        new(ORDER_ALONE),
        (on("object.id", "B", "A", "B"), on("object.to", "PII", "C")),
        (on("object.to", "a b"), on("object.lines", "none")),
    )
    properties = json.loads(text)["properties"]
    assert properties["id"] == {"type": "integer", "confluent:tags": ["B", "A"]}
    assert properties["to"]["confluent:tags"] == ["PII", "C"]
    assert "confluent:tags" not in properties["lines"]


def test_without_a_tag_left_the_keyword_goes() -> None:
    text = LANGUAGE.retag(new(ORDER_ALONE), (), (on("object.to", "PII", "a b"),))
    assert "confluent:tags" not in text


def test_retagging_leaves_the_schema_that_was_given_alone() -> None:
    schema = new(ORDER_ALONE)
    LANGUAGE.retag(schema, (on("object.id", "X"),), ())
    assert LANGUAGE.tagged(schema) == (on("object.to", "PII", "a b"),)


@pytest.mark.parametrize(
    "path",
    [
        ".object.id",
        "object.none",
        "object",
        "object.definitions",
        "object.definitions.None",
        "id",
        "",
        "array.object.id",
        "object.a.b.anyof.9.object.first",
        "object.a.b.anyof.x.object.first",
        "oneof.0",
        "conditional",
        "not",
    ],
)
def test_a_place_the_schema_does_not_have_is_refused(path: str) -> None:
    """Unlike in other languages, no dot may stand in front; and a schema of objects does not count as a field."""
    with pytest.raises(Malformed, match="No matching path"):
        retagged(ORDER_ALONE, (on(path, "X"),))


def test_booleans_bear_no_tags() -> None:
    with pytest.raises(Malformed, match="No matching path"):
        retagged({"properties": {"a": True}}, (on("object.a", "X"),))
    assert LANGUAGE.tagged(new(True)) == ()


def test_a_schema_that_does_not_load_has_no_tags() -> None:
    for broken in ({"type": "strin"}, {"$schema": 1}):
        assert LANGUAGE.tagged(new({**broken, "confluent:tags": ["A"]})) == ()
    assert LANGUAGE.tagged(new({"properties": {"a": {"$ref": "#/nope", "confluent:tags": ["A"]}}})) == (
        on("object.a", "A"),
    )


def test_a_schema_too_deep_to_be_numbered_is_refused() -> None:
    """Members are numbered by all that is in them."""
    deep = '{"not":' * 240 + "{}" + "}" * 240
    with pytest.raises(Malformed, match="nested"):
        LANGUAGE.retag(LANGUAGE.parse(f'{{"anyOf":[{deep}]}}', (), True), (on("anyof.0.object.a", "X"),), ())
