"""Where `$ref` leads: to what either loader of the reference would find, and never to the network."""

import json
from typing import Any

import pytest

from sigla.errors import Malformed
from sigla.languages.json_schema import LANGUAGE
from sigla.languages.json_schema.load import Document, root
from sigla.languages.json_schema.nodes import Object, Reference, Schema, String
from sigla.model import Resolved

CLASSIC = "http://json-schema.org/draft-07/schema#"
MODERN = "https://json-schema.org/draft/2020-12/schema"
TEXT = {"type": "string"}
ROOT = "http://x.org/root.json"


def target(schema: dict[str, Any], *references: tuple[str, Any], draft: str = CLASSIC) -> Schema:
    """What the property `r` refers to."""
    resolved = [Resolved(name, json.dumps(value)) for name, value in references]
    tree = LANGUAGE.parse(json.dumps({"$schema": draft, **schema}), resolved, True).tree
    assert isinstance(tree, Document)
    node = root(tree)
    assert isinstance(node, Object)
    found = node.properties["r"]
    assert isinstance(found, Reference)
    return found.target


def refers(name: str, **more: Any) -> dict[str, Any]:
    return {**more, "properties": {"r": {"$ref": name}}}


@pytest.mark.parametrize("draft", [CLASSIC, MODERN])
@pytest.mark.parametrize(
    "schema, name",
    [
        (refers("b.json"), "b.json"),
        (refers("sub/b.json"), "sub/b.json"),
        (refers("urn:x:b"), "urn:x:b"),
        (refers("http://x.org/b.json"), "http://x.org/b.json"),
        (refers("B"), "B"),
        (refers("./b.json"), "b.json"),
        (refers("b.json"), "./b.json"),
        (refers("b.json#"), "b.json"),
        (refers("b.json#"), "b.json#"),
        (refers("b.json", **{"$id": "http://[x"}), "b.json"),
        (refers("b.json", **{"$id": ROOT}), "b.json"),
        (refers("http://x.org/b.json", **{"$id": ROOT}), "b.json"),
        (refers("b.json", **{"$id": ROOT}), "http://x.org/b.json"),
        (refers("../b.json", **{"$id": "http://x.org/y/root.json"}), "http://x.org/b.json"),
    ],
    ids=str,
)
def test_a_reference_is_found_by_its_name(schema: dict[str, Any], name: str, draft: str) -> None:
    """JR-1 to JR-5."""
    assert isinstance(target(schema, (name, TEXT), draft=draft), String)


@pytest.mark.parametrize("draft", [CLASSIC, MODERN])
@pytest.mark.parametrize(
    "schema",
    [
        refers("#/definitions/Z", definitions={"Z": TEXT}),
        refers("#/$defs/Z", definitions={"Z": TEXT}),
        refers("#/$defs/Z", **{"$defs": {"Z": TEXT}}),
        refers("#/x-a/0/a%20b~1c~0d/%C3%A9", **{"x-a": [{"a b/c~d": {"é": TEXT}}]}),
        refers("#foo", definitions={"Z": {**TEXT, "$id": "#foo"}}),
        refers("#foo", definitions={"Z": {**TEXT, "$anchor": "foo"}}),
        refers("root.json#/definitions/Z", definitions={"Z": TEXT}, **{"$id": ROOT}),
        refers("z.json", definitions={"Z": {**TEXT, "$id": "z.json"}}, **{"$id": ROOT}),
        refers("http://x.org/z.json", definitions={"Z": {**TEXT, "$id": "z.json"}}, **{"$id": ROOT}),
    ],
    ids=str,
)
def test_a_place_in_the_text_itself_is_found(schema: dict[str, Any], draft: str) -> None:
    """JR-7, JR-8, JR-10 to JR-12, and ids inside the text."""
    assert isinstance(target(schema, draft=draft), String)


@pytest.mark.parametrize("draft", [CLASSIC, MODERN])
@pytest.mark.parametrize(
    "name",
    [
        "nope.json",
        "#foo",
        "#/definitions/Z",
        "#/nope",
        "#/properties/r/$ref",
        "#/required/1",
        "b.json#/nope",
        "http://x.org/own.json",
        "https://example.com/remote.json",
        "http://[x",
        "http://json-schema.org/draft-99/schema",
    ],
    ids=str,
)
def test_what_is_not_there_is_refused(name: str, draft: str) -> None:
    """JR-6, JR-9, JR-13 (DV-4), JR-17, VR-9."""
    schema = refers(name, **{"$defs": {"Z": {}}, "required": ["a"]})
    with pytest.raises(Malformed):
        target(schema, ("b.json", {**TEXT, "$id": "http://x.org/own.json"}), draft=draft)


@pytest.mark.parametrize("name", ["#nope", "#/$defs/nope", "nope.json", "#/x-number"])
def test_a_dynamic_reference_has_to_lead_to_a_schema_too(name: str) -> None:
    """JX-4: it is never compared; but no validator could begin with a schema in which it leads nowhere."""
    schema = refers("#", **{"$dynamicRef": name, "x-number": 1, "$defs": {}})
    with pytest.raises(Malformed):
        target(schema, draft=MODERN)
    assert isinstance(target(schema, draft=CLASSIC), Object)


@pytest.mark.parametrize("name", ["#node", "#", "#/$defs/node", "tree.json", "tree.json#node"])
def test_a_dynamic_reference_is_found_as_any_other(name: str) -> None:
    """The anchors of trees that others extend, as the standard's own example has them."""
    node = {"$dynamicAnchor": "node", "type": "object"}
    schema = refers("#", **{"$dynamicRef": name, "$defs": {"node": node}})
    assert isinstance(target(schema, ("tree.json", node), draft=MODERN), Object)


@pytest.mark.parametrize("draft", [CLASSIC, MODERN])
def test_references_have_references(draft: str) -> None:
    """JR-7, JR-8, JR-16: indirect ones are there, and relative to who uses them."""
    inner = {"definitions": {"Z": {"$ref": "c.json#/$defs/Y"}}}
    node = target(
        refers("sub/b.json#/definitions/Z"),
        ("sub/c.json", {"definitions": {"Y": TEXT}}),
        ("sub/b.json", inner),
        draft=draft,
    )
    assert isinstance(node, Reference)
    assert isinstance(node.target, String)


@pytest.mark.parametrize("draft", [CLASSIC, MODERN])
@pytest.mark.parametrize("number", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
def test_metaschemas_are_built_in(number: str, draft: str) -> None:
    """JR-14, JR-15: each with places of its own, to which references may lead too."""
    address = f"http://json-schema.org/{number}/schema"
    assert target(refers(f"{address}#"), draft=draft).kind == "combined"
    assert isinstance(target(refers(f"{address}#/properties/title"), draft=draft), String)
    both = {"properties": {"r": {"$ref": address}, "s": {"$ref": "http://json-schema.org/draft-07/schema#"}}}
    assert target(both, draft=draft).kind == "combined"


@pytest.mark.parametrize("draft", [CLASSIC, MODERN])
def test_slashes_at_the_end_of_a_pointer_may_say_nothing(draft: str) -> None:
    """Many write `#/` for the whole document; where a member has no name, it is meant (JR-10)."""
    assert isinstance(target(refers("#/"), draft=draft), Object)
    assert isinstance(target(refers("#/definitions/A/", definitions={"A": TEXT}), draft=draft), String)
    nameless = {"definitions": {"A": {"type": "object", "": TEXT}}}
    assert isinstance(target(refers("#/definitions/A/", **nameless), draft=draft), String)
    with pytest.raises(Malformed):
        target(refers("#/definitions/B/", **nameless), draft=draft)


def test_an_unused_reference_may_be_anything() -> None:
    """JR-18."""
    schema = LANGUAGE.parse("{}", [Resolved("b.json", "{")], True)
    LANGUAGE.validate(schema, False)


def test_a_used_reference_must_be_json_and_a_schema() -> None:
    for text in ("{", "[]", '{"type":"strin"}'):
        schema = LANGUAGE.parse('{"$ref":"b.json"}', [Resolved("b.json", text)], True)
        with pytest.raises(Malformed):
            LANGUAGE.validate(schema, False)


def test_of_two_references_of_one_name_the_first_counts() -> None:
    assert isinstance(target(refers("b"), ("b", TEXT), ("b", {"type": "null"})), String)


def test_a_place_has_one_node_however_often_it_is_referred_to() -> None:
    tree = LANGUAGE.parse('{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#"}}}', (), True).tree
    assert isinstance(tree, Document)
    node = root(tree)
    assert isinstance(node, Object)
    first, second = node.properties.values()
    assert isinstance(first, Reference)
    assert isinstance(second, Reference)
    assert first.target is second
    assert second.target is node
    assert root(tree) is node
