"""From text to nodes: what a schema is to the differ, draft by draft."""

import json
from typing import Any

import pytest

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages.json_schema import LANGUAGE, differences
from sigla.languages.json_schema.load import Document, root
from sigla.languages.json_schema.nodes import (
    ABSENT,
    Anything,
    Array,
    Combined,
    Conditional,
    Const,
    Nothing,
    Numeric,
    Object,
    Reference,
    Schema,
    String,
)
from sigla.model import Parsed

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
MODERN = "https://json-schema.org/draft/2020-12/schema"
OLD_MODERN = "http://json-schema.org/draft/2019-09/schema#"


def new(schema: Any) -> Parsed:
    return LANGUAGE.parse(json.dumps(schema), (), True)


def loaded(schema: Any, draft: str = "") -> Schema:
    tree = new({"$schema": draft, **schema} if draft else schema).tree
    assert isinstance(tree, Document)
    return root(tree)


def in_object(schema: Any, draft: str = "") -> Object:
    node = loaded(schema, draft)
    assert isinstance(node, Object)
    return node


def in_array(schema: Any, draft: str = "") -> Array:
    node = loaded(schema, draft)
    assert isinstance(node, Array)
    return node


def in_combined(schema: Any, draft: str = "") -> Combined:
    node = loaded(schema, draft)
    assert isinstance(node, Combined)
    return node


def test_booleans_are_schemas() -> None:
    assert isinstance(loaded(True), Anything)
    assert isinstance(loaded(False), Nothing)
    assert isinstance(loaded({}), Anything)


@pytest.mark.parametrize("root_", [[], "x", 1, None, 1.5])
def test_other_roots_are_read_but_do_not_load(root_: Any) -> None:
    """So an import can keep what some older registry let in."""
    with pytest.raises(Malformed, match="object"):
        LANGUAGE.validate(new(root_), False)


@pytest.mark.parametrize(
    "schema, accepted_by",
    [
        ({"minLength": 1.5}, [MODERN, OLD_MODERN]),
        ({"minLength": 2**31}, [MODERN, OLD_MODERN]),
        ({"multipleOf": -2}, [DRAFT_4, DRAFT_6, DRAFT_7, MODERN, OLD_MODERN]),
        ({"multipleOf": 0}, [MODERN, OLD_MODERN]),
        ({"uniqueItems": True, "multipleOf": 10**400}, [MODERN, OLD_MODERN]),
        ({"items": [{}]}, [DRAFT_4, DRAFT_6, DRAFT_7]),
        ({"exclusiveMinimum": True}, [DRAFT_4]),
        ({"const": None, "id": 1}, [DRAFT_6, DRAFT_7, MODERN, OLD_MODERN]),
        ({"$id": 1}, [DRAFT_4, MODERN, OLD_MODERN]),
        ({"readOnly": "x"}, [DRAFT_4, DRAFT_6]),
        ({"definitions": {"A": {"type": "strin"}}}, [DRAFT_4, DRAFT_6, DRAFT_7]),
        ({"propertyNames": 1}, [DRAFT_4]),
        ({"if": 1}, [DRAFT_4, DRAFT_6]),
        ({"dependentRequired": 1}, [DRAFT_4, DRAFT_6, DRAFT_7]),
        ({"dependencies": 1, "additionalItems": 1}, [MODERN, OLD_MODERN]),
        ({"type": "strin"}, []),
        ({"type": 1}, []),
        ({"type": [["string"]]}, []),
        ({"pattern": "("}, []),
        ({"patternProperties": {"[a": {}}}, []),
        ({"required": "a"}, []),
        ({"required": [1]}, []),
        ({"title": 1}, []),
        ({"format": 1}, []),
        ({"uniqueItems": "yes"}, []),
        ({"minimum": "1"}, []),
        ({"minimum": True}, []),
        ({"allOf": {}}, []),
        ({"properties": {"a": "string"}}, []),
        ({"properties": []}, []),
        ({"deprecated": "soon"}, [DRAFT_4, DRAFT_6, DRAFT_7]),
        ({"$dynamicAnchor": 1}, [DRAFT_4, DRAFT_6, DRAFT_7]),
        ({"$dynamicRef": {}}, [DRAFT_4, DRAFT_6, DRAFT_7]),
        ({"patternProperties": []}, []),
        ({"properties": None}, []),
        ({"additionalProperties": "no"}, []),
        ({"$ref": 1}, []),
    ],
    ids=str,
)
def test_a_draft_checks_the_keywords_it_knows(schema: dict[str, Any], accepted_by: list[str]) -> None:
    accepted = []
    for draft in (DRAFT_4, DRAFT_6, DRAFT_7, MODERN, OLD_MODERN):
        try:
            loaded(schema, draft)
        except Malformed:
            continue
        accepted.append(draft)
    assert accepted == accepted_by


def test_an_unknown_draft_is_draft_7_and_one_that_is_no_text_is_refused() -> None:
    assert isinstance(loaded({"const": 1}, "https://example.com/x"), Const)
    assert isinstance(loaded({"const": 1}, DRAFT_4), Anything)
    with pytest.raises(Malformed, match="schema"):
        loaded({"$schema": 1})


def test_keywords_of_a_family_make_its_node_without_a_type() -> None:
    """JL-2: whether `type` was written is not recorded."""
    assert isinstance(loaded({"minLength": 3}), String)
    assert isinstance(loaded({"properties": {}}), Object)
    number = loaded({"type": "integer", "maximum": 3})
    assert isinstance(number, Numeric)
    assert (number.integer, number.maximum) == (True, 3)


def test_several_conjuncts_are_an_all_of() -> None:
    """JL-1; what is written beside them belongs to the whole."""
    node = in_combined({"title": "T", "type": "string", "enum": ["a"], "minimum": 1})
    assert (node.criterion, node.synthetic, node.title) == ("allOf", True, "T")
    assert [member.kind for member in node.members] == ["enum", "string", "number"]
    assert [member.title for member in node.members] == [None] * 3


def test_several_types_share_their_limits_in_classic_drafts_only() -> None:
    """JN-2."""
    schema = {"type": ["integer", "number"], "maximum": 3}
    classic, modern = in_combined(schema), in_combined(schema, MODERN)
    assert [getattr(member, "maximum", None) for member in classic.members] == [3, 3]
    assert [getattr(member, "maximum", None) for member in modern.members] == [3, None]
    assert classic.criterion == "anyOf"


def test_a_reference_stands_alone_in_classic_drafts_only() -> None:
    """JR-19."""
    schema = {"$ref": "#/properties/a", "properties": {"a": {}}}
    assert isinstance(loaded(schema), Reference)
    assert [member.kind for member in in_combined(schema, MODERN).members] == ["reference", "object"]


def test_additional_items_close_what_has_no_schema_for_all_items() -> None:
    """JL-5: without a tuple as well."""
    assert not in_array({"additionalItems": False}).additional
    assert in_array({"items": {}, "additionalItems": False}).additional
    assert not in_array({"additionalItems": False, "items": [{}]}).additional


def test_modern_items_stand_for_what_the_tuple_leaves() -> None:
    """JN-3."""
    assert isinstance(loaded({"items": True}, MODERN), Anything)
    assert not in_array({"items": False}, MODERN).additional
    assert isinstance(in_array({"items": {}}, MODERN).items, Anything)
    node = in_array({"prefixItems": [{}], "items": {"type": "string"}}, MODERN)
    assert node.items is None
    assert isinstance(node.additional_schema, String)
    assert node.positions is not None


def test_counts_of_what_is_contained() -> None:
    """JL-6, JN-4: the modern ones need `contains`; the classic ones are read anyway, if they are numbers."""
    assert in_array({"contains": {}, "maxContains": 3}, MODERN).min_contains == 1
    assert isinstance(loaded({"minContains": 2}, MODERN), Anything)
    assert in_array({"minContains": 2, "minItems": 1}, MODERN).min_contains is None
    assert in_array({"type": "array", "minContains": 2, "maxContains": "x"}).min_contains == 2
    assert isinstance(loaded({"minContains": 2}), Anything)


def test_unevaluated_survives_unknown_neighbours() -> None:
    """DV-6."""
    node = in_object({"type": "object", "unevaluatedProperties": False, "x-a": 1, "$defs": {}}, MODERN)
    assert isinstance(node.unevaluated, Nothing)
    assert isinstance(in_array({"unevaluatedItems": {}, "x-a": 1}, MODERN).unevaluated, Anything)
    assert isinstance(loaded({"unevaluatedProperties": False}, DRAFT_7), Anything)


def test_a_conjunction_inside_any_of_stays_one_branch() -> None:
    """DV-7."""
    node = in_combined({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}, MODERN)
    assert [member.kind for member in node.members] == ["combined", "null"]


def test_empty_properties_say_nothing_in_modern_drafts() -> None:
    """JN-9."""
    assert isinstance(loaded({"properties": {}}, MODERN), Anything)
    assert isinstance(loaded({"properties": {}, "required": []}, MODERN), Object)


def test_dependencies_of_either_generation_fill_the_same_places() -> None:
    """JN-5."""
    classic = in_object({"dependencies": {"a": ["b"], "c": {"type": "object"}}})
    modern = in_object({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"type": "object"}}}, MODERN)
    for node in (classic, modern):
        assert node.needed_by == {"a": frozenset({"b"})}
        assert [schema.kind for schema in node.needed_schemas.values()] == ["object"]


def test_annotations_differ_by_generation() -> None:
    """JN-7, JN-8, JL-7."""
    schema = {"$id": "http://x.org/a", "title": "T", "description": "D", "default": None, "x-a": 1}
    classic, modern = loaded(schema, DRAFT_7), loaded(schema, MODERN)
    assert (classic.id, classic.title, classic.description, classic.default) == ("http://x.org/a", "T", "D", None)
    assert (modern.id, modern.title, modern.description, modern.default) == (None, "T", "D", ABSENT)
    assert classic.unknown == {"$schema": DRAFT_7, "x-a": 1}


def test_conditions_are_known_since_draft_7() -> None:
    """JL-8."""
    assert isinstance(loaded({"if": {}, "then": {}}, DRAFT_7), Conditional)
    assert isinstance(loaded({"if": {}, "then": {}}, DRAFT_6), Anything)
    assert isinstance(loaded({"then": {}}, MODERN), Anything)


def test_strict_fields_reserve_names_with_two_dollars() -> None:
    """JX-5."""
    schema = new({"properties": {"$$a": {}, "$b": {}}})
    LANGUAGE.validate(schema, False)
    with pytest.raises(Malformed, match="reserved"):
        LANGUAGE.validate(schema, True)
    LANGUAGE.validate(new({"properties": {"a": {"properties": {"$$a": {}}}}}), True)
    LANGUAGE.validate(new(True), True)


def test_the_top_level_fields_are_the_properties_of_the_root() -> None:
    assert LANGUAGE.top_level_fields(new({"properties": {"a": {"properties": {"b": {}}}}})) == {"a"}
    without: list[Any] = [True, {}, {"properties": []}]
    for schema in without:
        assert LANGUAGE.top_level_fields(new(schema)) == frozenset()


def test_a_stored_schema_that_does_not_load_abandons_the_check() -> None:
    broken, sound = new({"type": "strin"}), new({})
    for reader, writer in ((broken, sound), (sound, broken)):
        with pytest.raises(CheckAbandoned, match="Unknown type"):
            LANGUAGE.compare(reader, writer)


def test_all_differences_can_be_had_compatible_or_not() -> None:
    old, longer = new({"type": "string", "maxLength": 3}), new({"type": "string", "maxLength": 5, "title": "T"})
    assert [finding.rule for finding in differences(longer, old)] == ["TITLE_CHANGED", "MAX_LENGTH_INCREASED"]
    assert LANGUAGE.compare(longer, old) == ()
    assert [finding.rule for finding in LANGUAGE.compare(old, longer)] == ["MAX_LENGTH_DECREASED"]
