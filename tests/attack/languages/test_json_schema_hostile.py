"""Texts made to hurt: each is refused or understood, and nothing else happens. Counted in values, not in seconds."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages.json_schema import LANGUAGE, limits
from sigla.languages.json_schema.load import Document, root
from sigla.languages.language import MAX_STEPS, Budget
from sigla.model import Entity, Parsed, Resolved, Tagged

MODERN = "https://json-schema.org/draft/2020-12/schema"
Text = Callable[[], str]


def new(text: str, *references: Resolved) -> Parsed:
    schema = LANGUAGE.parse(text, references, True)
    LANGUAGE.validate(schema, True)
    return schema


def chain(length: int, **more: Any) -> str:
    """A reference to a reference, and so on."""
    definitions: dict[str, Any] = {f"d{number}": {"$ref": f"#/definitions/d{number + 1}"} for number in range(length)}
    return json.dumps({**more, "$ref": "#/definitions/d0", "definitions": {**definitions, f"d{length}": {}}})


def laughs(levels: int, leaf: str) -> str:
    """Each definition refers to the next one ten times: 10^levels schemas, if they were copied."""
    definitions: dict[str, Any] = {
        f"d{level}": {"properties": {f"p{number}": {"$ref": f"#/definitions/d{level + 1}"} for number in range(10)}}
        for level in range(levels)
    }
    return json.dumps({"$ref": "#/definitions/d0", "definitions": {**definitions, f"d{levels}": {"type": leaf}}})


REFUSED: dict[str, Text] = {
    "brackets without end": lambda: "[" * 100_000,
    "schemas without end": lambda: '{"not":' * 100_000 + "{}" + "}" * 100_000,
    "schemas a few levels too deep": lambda: (
        '{"allOf":[' * (limits.MAX_DEPTH // 2 + 1) + "{}" + "]}" * (limits.MAX_DEPTH // 2 + 1)
    ),
    "a deep default": lambda: '{"default":' + "[" * 400 + "]" * 400 + "}",
    "too many schemas": lambda: json.dumps({"properties": {f"p{i}": {} for i in range(limits.MAX_NODES)}}),
    "too many values": lambda: json.dumps({"enum": [0] * (limits.MAX_VALUES + 1)}),
    "a number of many digits": lambda: '{"minimum":' + "1" * 100_000 + "}",
    "an exponent of many digits": lambda: '{"minimum":1E' + "1" * 100_000 + "}",
    "half a surrogate pair": lambda: '{"title":"\\ud800"}',
    "a pattern repeated beyond measure": lambda: '{"pattern":"((a{1000}){1000}){1000}"}',
    "a long pattern": lambda: json.dumps({"pattern": "a" * (limits.MAX_PATTERN + 1)}),
    "a pattern of open groups": lambda: json.dumps({"pattern": "(" * 9_000}),
    "a chain of references without an end": lambda: json.dumps({"$ref": "#/x-a", "x-a": {"$ref": "#/x-b"}}),
}
ACCEPTED: dict[str, Text] = {
    "a deep schema": lambda: '{"allOf":[' * 80 + "{}" + "]}" * 80,
    "a wide schema": lambda: json.dumps({"properties": {f"p{i}": {} for i in range(5_000)}}),
    "a long chain of references": lambda: chain(10_000),
    "a long chain of references, all of which must load": lambda: chain(10_000, **{"$schema": MODERN}),
    "a reference to itself": lambda: '{"$ref":"#"}',
    "two references to each other": lambda: '{"$ref":"#/x-a","x-a":{"$ref":"#/x-b"},"x-b":{"$ref":"#/x-a"}}',
    "a billion laughs": lambda: laughs(50, "string"),
    "many anchors": lambda: json.dumps(
        {
            "properties": {f"p{i}": {"$ref": f"#a{i}"} for i in range(3_000)},
            "definitions": {f"d{i}": {"$anchor": f"a{i}"} for i in range(3_000)},
        }
    ),
    "many ids within ids": lambda: '{"$id":"http://x.org/a/","not":' * 60 + '{"$ref":"#/not"}' + "}" * 60,
    "giant exponents": lambda: '{"minimum":1E400000000,"maximum":1E-400000000,"minLength":1e0}',
    "many types of many properties": lambda: json.dumps(
        {"type": ["object", "null"] * 1_000, "properties": {f"p{i}": True for i in range(1_000)}}
    ),
    "the metaschema many times": lambda: json.dumps(
        {"properties": {f"p{i}": {"$ref": "http://json-schema.org/draft-07/schema#"} for i in range(1_000)}}
    ),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_too_much_is_refused(text: Text) -> None:
    with pytest.raises(Malformed):
        new(text())


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_much_is_understood(text: Text) -> None:
    schema = new(text())
    normal = LANGUAGE.normalise(schema)
    assert LANGUAGE.normalise(normal).canonical == normal.canonical
    assert LANGUAGE.tagged(schema) == ()


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_much_is_compared_within_the_budget(text: Text) -> None:
    """With itself, every schema is compatible, unless that takes too long to find out."""
    schema, budget = new(text()), Budget()
    try:
        assert LANGUAGE.compare(schema, new(text()), budget) == ()
    except CheckAbandoned:
        return
    assert 0 <= budget.left <= MAX_STEPS


def test_many_references_are_read_once_each() -> None:
    names = [f"d{number}.json" for number in range(1_000)]
    text = json.dumps({"$id": "http://x.org/r.json", "allOf": [{"$ref": f"{name}#/definitions/a"} for name in names]})
    LANGUAGE.validate(new(text, *(Resolved(name, '{"definitions":{"a":{}}}') for name in names)), False)


@pytest.mark.parametrize("levels", range(400, 820, 20))
def test_a_stack_that_is_nearly_used_up_is_no_crash(levels: int) -> None:
    """A caller may stand deep in the stack itself: wherever it ends, there is one refusal, or none."""
    text = '{"confluent:tags":["A"],"properties":{"a":' * 60 + '{"default":' + "[" * 60 + "]" * 60 + "}" + "}}" * 60
    schema = LANGUAGE.parse(text, (), True)
    added = Tagged(Entity("object.a", "sr_field"), ("B",))
    steps: list[Callable[[], object]] = [
        lambda: LANGUAGE.parse(text, (), True),
        lambda: LANGUAGE.validate(LANGUAGE.parse(text, (), True), True),
        lambda: LANGUAGE.normalise(schema),
        lambda: LANGUAGE.tagged(schema),
        lambda: LANGUAGE.retag(schema, (added,), ()),
    ]

    def down(levels: int, step: Callable[[], object]) -> object:
        return down(levels - 1, step) if levels else step()

    for step in steps:
        with suppress(Malformed):
            down(levels, step)


def test_a_schema_that_did_not_load_does_not_load_later() -> None:
    document = Document({"type": "strin"})
    for _ in range(2):
        with pytest.raises(Malformed):
            root(document)
