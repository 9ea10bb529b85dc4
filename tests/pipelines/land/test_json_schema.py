"""Columns of JSON: what a schema says that values are, and values that are something else."""

import json
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import Limits, Source, Unreadable
from sigla.decoding.json_schema import STANDARD, record_name
from sigla.decoding.reasons import REASONS, Reason
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.columns import UNROLLED
from sigla_pipelines.land.decoders.decoder import Decoded, Decoder, Writer
from tests.unit.decoding.json_types import random_schema, random_value, source
from tests.unit.decoding.protobuf_types import damaged

SEEDS = st.integers(0, 2**32)

LOOSE = source({})


def decode(reader: Source, *values: Any, writer: Source | None = None, limits: Limits = STANDARD) -> Decoded:
    """values: bytes as they are, anything else as JSON."""
    decoder: Decoder = DECODERS["JSON"](Writer(reader), limits=limits)
    number = decoder.add(Writer(writer or reader))
    payloads = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    found = decoder.decode(pa.array(payloads, pa.large_binary()), pa.array([number] * len(payloads), pa.int32()))
    assert {len(payloads)} == set(map(len, (found.rows, found.status, found.at, found.detail)))
    assert found.rows.type == decoder.type
    found.rows.validate(full=True)
    return found


def reasons(found: Decoded) -> list[Reason | None]:
    return [REASONS.get(status) for status in found.status.to_pylist()]


def kind(schema: Any, **references: Any) -> str:
    """The type of the column of a property; JSON where it holds that."""
    reader = source(
        {"type": "object", "properties": {"x": schema}, "definitions": {"d": {"type": "boolean"}}}, **references
    )
    return str(DECODERS["JSON"](Writer(reader)).type.field("x").type).replace(str(JSON), "JSON")


@pytest.mark.parametrize(
    "schema, column",
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date-time"}, "string"),
        ({"type": "integer"}, "int64"),
        ({"type": "number"}, "double"),
        ({"type": ["integer", "number", "null"]}, "double"),
        ({"type": "boolean"}, "bool"),
        ({"type": ["null", "boolean"]}, "bool"),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, "int64"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string"),
        ({"allOf": [{"$ref": "#/definitions/d"}]}, "bool"),
        ({"$ref": "#/definitions/d"}, "bool"),
        ({"$ref": "other.json"}, "int64"),
        ({"enum": ["a", None, "b"]}, "string"),
        ({"enum": [1, "b"]}, "JSON"),
        ({"const": 4}, "int64"),
        ({"type": "array", "items": {"type": "integer"}}, "list<item: int64>"),
        ({"items": {"type": "integer"}}, "list<item: int64>"),
        ({"type": "array", "items": [{"type": "integer"}]}, "JSON"),
        ({"type": "array"}, "JSON"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "map<string, int64>"),
        ({"type": "object"}, "JSON"),
        ({"properties": {"y": {"type": "integer"}}}, "struct<y: int64, _additional: JSON>"),
        ({"type": "object", "properties": {"y": {"type": "integer"}}}, "struct<y: int64, _additional: JSON>"),
        (
            {"properties": {"y": {"type": "integer"}}, "additionalProperties": False},
            "struct<y: int64, _additional: JSON>",
        ),
        ({"type": "object", "properties": {"y": {}}, "additionalProperties": False}, "struct<y: JSON>"),
        (
            {"type": "object", "properties": {"y": True}, "patternProperties": {"^z": {}}},
            "struct<y: JSON, _additional: JSON>",
        ),
        ({"type": ["string", "integer"]}, "JSON"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "JSON"),
        ({"type": "null"}, "JSON"),
        ({}, "JSON"),
        (True, "JSON"),
    ],
)
def test_a_schema_that_is_closed_enough_is_a_type(schema: Any, column: str) -> None:
    """For anything else the column holds JSON."""
    assert kind(schema, other_json={"type": "integer"}) == column


def test_values_are_what_the_columns_say_and_json_is_what_they_do_not() -> None:
    """Integers of any length among them; what the schema speaks of beside its properties is kept."""
    reader = source(
        {
            "type": "object",
            "properties": {
                "n": {"type": "integer"},
                "f": {"type": "number"},
                "any": {},
                "l": {"items": {"type": "string"}},
            },
            "additionalProperties": True,
        }
    )
    found = decode(reader, {"n": 1.0, "f": 2, "any": [2**70, None], "l": ["a", None], "z": {"y": 1}}, {}, writer=LOOSE)
    assert reasons(found) == [None, None]
    assert found.rows.to_pylist() == [
        {"n": 1, "f": 2.0, "any": f"[{2**70},null]", "l": ["a", None], "_additional": '{"z":{"y":1}}'},
        dict.fromkeys(("n", "f", "any", "l", "_additional")),
    ]


def test_a_property_may_be_called_as_ours() -> None:
    """Ours makes way, as far as Spark, which knows no capitals, tells names apart."""
    for name in ("_additional", "_Additional"):
        reader = source({"properties": {name: {"type": "integer"}}, "additionalProperties": {}})
        assert decode(reader, {name: 1, "x": 2}).rows.to_pylist() == [{name: 1, "__additional": '{"x":2}'}]


def test_a_record_is_named_by_its_title() -> None:
    """As record strategies name its subject."""
    assert record_name(source({"title": "com.example.Order"})) == "com.example.Order"


@pytest.mark.parametrize("value", ["text", None, [1]])
def test_a_schema_that_is_no_object_has_one_column(value: Any) -> None:
    """A null is a value as well, and no failure."""
    found = decode(source({"type": ["string", "array", "null"]}), value)
    assert reasons(found) == [None]
    assert found.rows.to_pylist() == [{"value": value and json.dumps(value, separators=(",", ":"))}]


def test_a_null_instead_of_an_object_is_a_row_of_nulls() -> None:
    """The row itself is there: a null row is one that failed."""
    found = decode(source({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}), None)
    assert reasons(found) == [None]
    assert found.rows.is_valid().to_pylist() == [True]


def test_a_type_within_itself_is_unrolled_and_then_json() -> None:
    """However deep values go."""
    reader = source({"type": "object", "properties": {"n": {"type": "integer"}, "up": {"$ref": "#"}}})
    value: Any = {"n": 0}
    for n in range(1, 5):
        value = {"n": n, "up": value}
    [row] = decode(reader, value).rows.to_pylist()
    assert row == {
        "n": 4,
        "up": {
            "n": 3,
            "up": json.dumps({"n": 2, "up": {"n": 1, "up": {"n": 0}}}, separators=(",", ":")),
            "_additional": None,
        },
        "_additional": None,
    }


@pytest.mark.parametrize(
    "schema, value, why",
    [
        ({"type": "integer"}, 2**63, "large"),
        ({"type": "integer"}, 1.5, "not an integer"),
        ({"type": "integer"}, True, "boolean where the reader's schema has integer"),
        ({"type": "integer"}, 1e300, "large"),
        ({"type": "number"}, 10**400, "large"),
        ({"type": "boolean"}, 0, "integer where"),
        ({"type": "string"}, {"a": 1}, "object where"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], "integer where"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, [], "array where"),
        ({"properties": {"y": {"type": "string"}}}, {"y": 1}, "x.y: integer where"),
        ({"type": "object", "properties": {"y": {}}}, [1], "array where"),
    ],
)
def test_a_valid_value_that_fits_no_column_fails_alone(schema: Any, value: Any, why: str) -> None:
    """Written by a schema that allowed it; the sentence says which column."""
    found = decode(source({"type": "object", "properties": {"x": schema}}), {}, {"x": value}, {"x": None}, writer=LOOSE)
    assert reasons(found) == [None, Reason.INCOMPATIBLE_READER, None]
    assert "does not fit: x" in found.detail[1].as_py()
    assert why in found.detail[1].as_py()


@pytest.mark.parametrize(
    "item, value, values",
    [
        ({"type": "object", "properties": {f"p{at}": {"type": "integer"} for at in range(9)}}, [{}] * 3, 3 + 3 + 30),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, [{"a": 1, "b": 2}], 3 + 1 + 4),
        ({"type": "integer"}, [1, 2, 3], 3 + 3),
    ],
)
def test_a_record_becomes_so_many_values_and_no_more(item: Any, value: Any, values: int) -> None:
    """Properties that are not there are nulls of as many columns; an object has one more, of all others."""
    schema = source({"type": "object", "properties": {"items": {"type": "array", "items": item}}})
    assert reasons(decode(schema, {"items": value}, limits=Limits(values=values))) == [None]
    assert reasons(decode(schema, {"items": value}, limits=Limits(values=values - 1))) == [Reason.TOO_LARGE]


def test_each_payload_fails_for_its_own_reason() -> None:
    """Between neighbours that do not."""
    reader = source({"type": "object", "properties": {"a": {"type": "string"}}})
    found = decode(reader, {"a": "1"}, b'{"a":', {"a": 1}, b'{"a":"\xff"}', b"{} {}", b"[" * 99, {"a": "2"})
    assert reasons(found) == [
        None,
        Reason.JSON_INVALID,
        Reason.JSON_SCHEMA,
        Reason.BAD_UTF8,
        Reason.TRAILING_BYTES,
        Reason.DEPTH,
        None,
    ]
    assert [row and row["a"] for row in found.rows.to_pylist()] == ["1", None, None, None, None, None, "2"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": {"x": {"$ref": "#/nowhere"}}},
        {"definitions": {"x": 1}, "$ref": "#/definitions/x"},
    ],
)
def test_a_reader_that_is_no_schema_is_unreadable(schema: Any) -> None:
    """Before any record is."""
    with pytest.raises(Unreadable) as caught:
        DECODERS["JSON"](Writer(source(schema)))
    assert caught.value.reason is Reason.BAD_SCHEMA


def test_types_that_multiply_are_refused_before_they_do() -> None:
    """Thirty definitions, each twice in the one before."""
    definitions = {
        f"d{n}": {"properties": {side: {"$ref": f"#/definitions/d{n + 1}"} for side in "ab"}} for n in range(30)
    }
    with pytest.raises(Unreadable):
        DECODERS["JSON"](Writer(source({"$ref": "#/definitions/d0", "definitions": {**definitions, "d30": {}}})))


class Misfit(Exception):
    """A value that no column of the reader's takes."""


def expected(schema: Any, value: Any, root: Any, around: int = 0) -> Any:
    """A value as its column has it, by the table of the module: slow and plain."""
    if value is None:
        return None
    if isinstance(schema, dict) and "$ref" in schema:
        tree = root["definitions"]["tree"] if around < UNROLLED else {}
        return expected(tree, value, root, around + 1)
    if isinstance(schema, dict) and "oneOf" in schema:
        return expected(schema["oneOf"][1], value, root, around)
    said = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(schema, dict) and "enum" in schema:
        said = "string"
    if isinstance(said, list):
        [said] = set(said) - {"null"}
    allowed: dict[Any, Any] = {
        "string": str,
        "boolean": bool,
        "integer": (int, float),
        "number": (int, float),
        "array": list,
    }
    properties = schema.get("properties") if said == "object" else None
    others = schema.get("additionalProperties") if said == "object" else None
    shaped = said in allowed or properties or isinstance(others, dict)
    if shaped and (
        not isinstance(value, allowed.get(said, dict)) or isinstance(value, bool) is not (said == "boolean")
    ):
        raise Misfit
    if said == "array":
        return [expected(schema["items"], each, root, around) for each in value]
    if said == "integer":
        if value != int(value) or not -(2**63) <= value < 2**63:
            raise Misfit
        return int(value)
    if said in allowed:
        return value
    if properties:
        row = {name: expected(inner, value.get(name), root, around) for name, inner in properties.items()}
        rest = {name: each for name, each in value.items() if name not in properties}
        return row if others is False else row | {"_additional": json.dumps(rest) if rest else None}
    if isinstance(others, dict):
        return [(key, expected(others, each, root, around)) for key, each in value.items()]
    return json.dumps(value)


def alike(ours: Any, theirs: Any) -> bool:
    """JSON texts are compared by what they say."""
    if isinstance(ours, dict):
        return (
            isinstance(theirs, dict) and ours.keys() == theirs.keys() and all(alike(ours[k], theirs[k]) for k in ours)
        )
    if isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, str) and ours != theirs:
        return bool(json.loads(ours) == json.loads(theirs))
    return bool(ours == theirs)


@given(SEEDS)
def test_random_values_are_in_the_columns_or_do_not_fit_them(seed: int) -> None:
    """Random schemas, values of a writer who allowed everything."""
    random = Random(seed)
    schema = random_schema(random)
    values = [random_value(schema, schema, random) for _ in range(4)]
    found = decode(source(schema), *values, writer=LOOSE)
    is_object = bool(schema["properties"]) or isinstance(schema.get("additionalProperties"), dict)
    for value, row, reason in zip(values, found.rows.to_pylist(), reasons(found), strict=True):
        try:
            theirs = expected(schema, value, schema)
        except Misfit:
            assert reason is Reason.INCOMPATIBLE_READER
            continue
        assert reason is None
        if is_object and schema["properties"]:
            assert alike(row, expected(schema, {} if value is None else value, schema))
        else:
            assert alike(row, {"value": theirs})


def attack(random: Random) -> None:
    """A batch in which half of the payloads are damaged: a row or a reason for each."""
    schema = random_schema(random)
    payloads = [json.dumps(random_value(schema, schema, random)).encode() for _ in range(6)]
    payloads = [damaged(payload, random) if random.random() < 0.5 else payload for payload in payloads]
    found = decode(source(schema), *payloads, limits=Limits(depth=8))
    for row, reason, detail in zip(found.rows.to_pylist(), reasons(found), found.detail.to_pylist(), strict=True):
        assert (row is None) == (reason is not None) == (detail is not None)


@given(SEEDS)
def test_damage_is_a_status_and_never_an_exception(seed: int) -> None:
    """Whatever the bytes are."""
    attack(Random(seed))


@pytest.mark.soak
@given(SEEDS)
def test_damage_for_a_long_time(seed: int) -> None:
    """The same, and for longer."""
    attack(Random(seed))
