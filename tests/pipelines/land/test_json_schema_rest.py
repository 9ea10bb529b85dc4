"""What a JSON Schema does not name: where the schema is open nothing is lost, and what is lost is counted."""

import json
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from sigla.decoding.decoder import Source
from sigla.decoding.json_schema import decoder as value_decoder
from sigla.decoding.reasons import FINE, Reason
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.decoder import Additional, Decoded, Writer
from tests.pipelines.land.test_json_schema import LOOSE, SEEDS, decode, reasons
from tests.unit.decoding.json_types import random_schema, random_value, source

ID: Any = {"type": "object", "properties": {"id": {"type": "string"}}}
CLOSED: Any = {**ID, "additionalProperties": False}
MODERN = "https://json-schema.org/draft/2020-12/schema"


def counted(found: Decoded) -> dict[str, list[int]]:
    return {path: counts.tolist() for path, counts in found.additional.items()}


def dropping(schema: Any, *values: Any) -> Decoded:
    decoder = DECODERS["JSON"](Writer(source(schema)), additional=Additional.DROP)
    number = decoder.add(Writer(LOOSE))
    payloads = pa.array([json.dumps(value).encode() for value in values], pa.large_binary())
    return decoder.decode(payloads, pa.array([number] * len(values), pa.int32()))


def joined(kind: pa.DataType, value: Any) -> Any:
    """The JSON value that a column holds, by its type alone."""
    if value is None:
        return None
    if kind == JSON:
        return json.loads(value)
    if pa.types.is_list(kind):
        return [joined(kind.value_type, each) for each in value]
    if pa.types.is_map(kind):
        return {name: joined(kind.item_type, each) for name, each in value}
    if not pa.types.is_struct(kind):
        return value
    named = {
        field.name: joined(field.type, value[field.name])
        for field in kind
        if field.name != "_additional" and value[field.name] is not None
    }
    others = joined(JSON, value.get("_additional"))
    return named if others is None else named | others if isinstance(others, dict) else others


def without_nulls(value: Any) -> Any:
    """In objects a property that is null and one that is missing are both null in a column."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def test_a_property_that_an_open_schema_does_not_name_is_kept() -> None:
    """JSON Schema is open unless it says otherwise; the pure decoder has all of the value as well."""
    value = {"id": "a", "amount": 12.5}
    found = decode(source(ID), value, {"id": "b"}, {"id": "c", "x": None, "y": [{}]})
    assert found.rows.to_pylist() == [
        {"id": "a", "_additional": '{"amount":12.5}'},
        {"id": "b", "_additional": None},
        {"id": "c", "_additional": '{"x":null,"y":[{}]}'},
    ]
    assert counted(found) == {"_additional": [1, 0, 2]}
    assert value_decoder(source(ID))(json.dumps(value).encode()) == value


def test_what_is_not_named_is_kept_at_every_level() -> None:
    """In objects, in those of arrays, and in those of maps; each is counted by the path of its column."""
    schema = {
        "type": "object",
        "properties": {
            "one": ID,
            "some": {"type": "array", "items": ID},
            "by": {"type": "object", "additionalProperties": ID},
            "shut": CLOSED,
        },
    }
    value = {"one": {"id": "a", "b": 1}, "some": [{"c": 2}, None, {"d": 3, "e": 4}], "by": {"k": {"id": "f", "g": 5}}}
    found = decode(source(schema), value, {"shut": {"h": 6}, "i": 7}, writer=LOOSE)
    first, second = found.rows.to_pylist()
    assert first == {
        "one": {"id": "a", "_additional": '{"b":1}'},
        "some": [{"id": None, "_additional": '{"c":2}'}, None, {"id": None, "_additional": '{"d":3,"e":4}'}],
        "by": [("k", {"id": "f", "_additional": '{"g":5}'})],
        "shut": None,
        "_additional": None,
    }
    assert (second["shut"], second["_additional"]) == ({"id": None}, '{"i":7}')
    assert counted(found) == {
        "one._additional": [1, 0],
        "some._additional": [3, 0],
        "by._additional": [1, 0],
        "": [0, 1],
        "_additional": [0, 1],
    }


@pytest.mark.parametrize(
    "words, is_open",
    [
        ({}, True),
        ({"additionalProperties": False}, False),
        ({"additionalProperties": True}, True),
        ({"additionalProperties": {"type": "number"}}, True),
        ({"additionalProperties": False, "patternProperties": {"^x-": {}}}, True),
        ({"unevaluatedProperties": False}, True),
        ({"$schema": MODERN, "unevaluatedProperties": False}, False),
    ],
    ids=str,
)
def test_a_schema_is_open_unless_it_says_otherwise_in_words_of_its_draft(words: Any, is_open: bool) -> None:
    """Draft 7 knows no `unevaluatedProperties`: there it closes nothing."""
    names = DECODERS["JSON"](Writer(source({**words, **ID}))).type.names
    assert names == (["id", "_additional"] if is_open else ["id"])


def test_what_a_pattern_or_a_type_of_others_speaks_of_is_kept_as_json() -> None:
    schema = {
        **ID,
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": {"type": "number"},
    }
    found = decode(source(schema), {"id": "a", "x-b": 1, "c": 2.5})
    assert found.rows.to_pylist() == [{"id": "a", "_additional": '{"x-b":1,"c":2.5}'}]


@pytest.mark.parametrize("value", ["text", 0, "", [1], False])
def test_properties_without_a_type_allow_what_is_no_object(value: Any) -> None:
    """`properties` says nothing of other values, so they are valid, and land as what they are."""
    untyped = {"properties": {"id": {"type": "string"}}, "additionalProperties": False}
    found = decode(source(untyped), value, {"id": "a"}, None)
    text = json.dumps(value, separators=(",", ":"))
    assert reasons(found) == [None, None, None]
    assert [row["_additional"] for row in found.rows.to_pylist()] == [text, None, None]
    assert counted(found) == {"_additional": [1, 0, 0]}
    within = decode(source({**ID, "properties": {"in": {"type": "array", "items": untyped}}}), {"in": [value, {}]})
    assert within.rows.to_pylist() == [
        {"in": [{"id": None, "_additional": text}, {"id": None, "_additional": None}], "_additional": None}
    ]


def test_dropped_properties_are_counted() -> None:
    """Who wants typed columns alone has no others, and knows what that costs."""
    found = dropping({**ID, "properties": {**ID["properties"], "in": ID}}, {"id": "a", "b": 1, "in": {"c": 1, "d": 2}})
    assert found.rows.to_pylist() == [{"id": "a", "in": {"id": None}}]
    assert counted(found) == {"": [3]}


def test_a_value_that_is_no_object_is_never_dropped() -> None:
    """It would be a row of nothing: without its column it is set aside whole."""
    found = dropping({"properties": {"id": {}}}, "text", {"id": 1})
    assert reasons(found) == [Reason.INCOMPATIBLE_READER, None]


def test_a_row_that_fails_counts_nothing() -> None:
    found = decode(source(ID), {"id": 1, "more": 2}, {"id": "a", "more": 2}, writer=LOOSE)
    assert counted(found) == {"_additional": [0, 1]}


def opened(schema: Any, random: Random) -> Any:
    """The schema with other words about what it does not name."""
    if not isinstance(schema, dict):
        return [opened(each, random) for each in schema] if isinstance(schema, list) else schema
    words = {name: opened(each, random) for name, each in schema.items()}
    if "properties" in words and schema.get("type") == "object":
        if random.random() < 0.3:
            words["patternProperties"] = {"^z": {}}
        if random.random() < 0.3:
            del words["type"]
    return words


def enriched(value: Any, random: Random) -> Any:
    """The value with properties that the schema does not name."""
    if isinstance(value, list):
        return [enriched(each, random) for each in value]
    if not isinstance(value, dict):
        return value
    more = {"z": random.choice([1, "x", {"y": [2]}])} if random.random() < 0.4 else {}
    return {name: enriched(each, random) for name, each in value.items()} | more


def whole_or_counted(seed: int, writer: Source | None) -> None:
    """writer: of all records; by default the reader itself."""
    random = Random(seed)
    schema = random_schema(random)
    values = [enriched(random_value(schema, schema, random), random) for _ in range(4)]
    reader = source(opened(schema, random))
    found = decode(reader, *values, writer=writer)
    lost = found.additional.get("", [0] * len(values))
    whole = found.rows.type.names == ["value"]
    for value, row, status, properties in zip(
        values, found.rows.to_pylist(), found.status.to_pylist(), lost, strict=True
    ):
        if status != FINE:
            continue
        again = joined(found.rows.type, row)
        expected = without_nulls({} if value is None and not whole else value)
        again = without_nulls(again.get("value") if whole else again)
        assert (again == expected) == (properties == 0)


@given(SEEDS)
def test_columns_and_additional_are_the_value_again_unless_something_was_counted_as_lost(seed: int) -> None:
    """Whatever the schema: nothing vanishes unseen."""
    whole_or_counted(seed, LOOSE)


@given(SEEDS)
def test_what_a_schema_itself_wrote_is_whole_or_counted(seed: int) -> None:
    """Such records are looked through only where a column keeps something: none is missed by that."""
    whole_or_counted(seed, None)


def test_a_batch_without_such_properties_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most batches are like that, and to count each record costs an eighth of what it takes to read it."""
    schema = {"type": "object", "properties": {"open": ID, "items": {"type": "array", "items": CLOSED}}}
    decoder = DECODERS["JSON"](Writer(source(schema)))
    own, other = (decoder.add(Writer(each)) for each in (source(schema), LOOSE))
    looked_at: list[Any] = []
    monkeypatch.setattr(decoder, "count", lambda value, _found: looked_at.append(value))

    def read(writer: int, *values: Any) -> int:
        payloads = pa.array([json.dumps(value).encode() for value in values], pa.large_binary())
        decoder.decode(payloads, pa.array([writer] * len(values), pa.int32()))
        return len(looked_at)

    assert read(own, {"open": {"id": "a"}}, {"items": [{"id": "b"}]}) == 0
    assert read(other, {"open": {"id": "a"}}) == 1, "another schema may allow what this one forbids"
    assert read(own, {"open": {"id": "a", "more": 1}}, {}) == 3
