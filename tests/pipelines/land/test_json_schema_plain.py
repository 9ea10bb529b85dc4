"""Where a schema says all that there may be, Arrow makes the columns of JSON at once: they hold what they held."""

import json
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.json_schema import STANDARD
from sigla.decoding.reasons import FINE
from sigla_pipelines.land.decoders.decoder import Additional, Decoded, Writer
from sigla_pipelines.land.decoders.json_schema import JsonSchemaDecoder
from tests.pipelines.land.native import damaged, same
from tests.unit.decoding.json_types import random_value, source

SEEDS = st.integers(0, 2**63)
ROWS, SOAKED_SCHEMAS, SOAKED_ROWS = 30, 10_000, 1_000
NAMES = ("a", "b", "größe", "_additional", "value")
ODD: tuple[Any, ...] = (1.0, 1.5, -0.0, 2**53 + 1, 2**63, -(2**63), 1e300, True, None, [], {}, "é", [[]], [["a", 1]])
"""Values that Arrow would take for others, if it were asked."""


def closed(by: Random, depth: int = 0) -> dict[str, Any]:
    """A schema that says all that there may be."""
    scalars = ("string", "integer", "number", "boolean", "enum", "null or")
    match "object" if depth == 0 else by.choice(scalars if depth > 3 else (*scalars, "array", "object", "map")):
        case "object":
            properties = {name: closed(by, depth + 1) for name in NAMES if by.random() < 0.6}
            properties = properties or {"a": closed(by, depth + 1)}
            return {"type": "object", "properties": properties, "additionalProperties": False}
        case "array":
            return {"type": "array", "items": closed(by, depth + 1)}
        case "map":
            return {"type": "object", "additionalProperties": closed(by, depth + 1)}
        case "enum":
            return {"enum": by.choice((["x", "é"], [1, 2], [1, 2.5], [True, None]))}
        case "null or":
            return {"anyOf": [{"type": "null"}, closed(by, depth + 1)]}
        case kind:
            return {"type": kind, **by.choice(({}, {"minimum": 0, "minLength": 1}))}


def evolved(schema: Any, by: Random) -> Any:
    """The same with fewer properties, and perhaps one of another type."""
    kept = {name: each for name, each in schema["properties"].items() if by.random() < 0.7}
    if by.random() < 0.3:
        kept[by.choice(NAMES)] = closed(by, 2)
    return {**schema, "properties": kept or schema["properties"]}


def a_payload(schema: Any, by: Random) -> bytes:
    value = random_value(schema, schema, by)
    if isinstance(value, dict) and value and by.random() < 0.1:
        value[by.choice(list(value))] = by.choice(ODD)
    return (
        damaged(json.dumps(value, ensure_ascii=False).encode(), by) if by.random() < 0.3 else json.dumps(value).encode()
    )


def decoded(reader: Writer, writers: list[Writer], rows: pa.Array, numbers: pa.Array, *, plainly: bool) -> Decoded:
    decoder = JsonSchemaDecoder(reader, STANDARD, Additional.KEEP)
    for writer in writers:
        decoder.add(writer)
    assert decoder.plain.num_fields == decoder.type.num_fields
    if not plainly:
        decoder.plainly.clear()
    return decoder.decode(rows, numbers)


def compared(seed: int, rows: int) -> int:
    """How many rows are fine, which is not all of them."""
    by = Random(seed)
    schema = closed(by)
    schemas = [schema, evolved(schema, by), evolved(schema, by)]
    writers = [Writer(source(each)) for each in schemas]
    used = by.choice(([0], [0, 1], [0, 1, 2]))
    numbers = [by.choice(used) for _ in range(rows)]
    payloads = pa.array([a_payload(schemas[number], by) for number in numbers], pa.binary())
    one, other = (
        decoded(writers[0], writers, payloads, pa.array(numbers, pa.int32()), plainly=each) for each in (True, False)
    )
    same(one, other)
    assert {path: counts.tolist() for path, counts in one.additional.items() if counts.any()} == {
        path: counts.tolist() for path, counts in other.additional.items() if counts.any()
    }
    return int(one.status.to_pylist().count(FINE))


@given(SEEDS)
def test_rows_and_reasons_are_those_of_one_column_after_the_other(seed: int) -> None:
    compared(seed, ROWS)


def test_most_rows_are_read() -> None:
    assert sum(compared(seed, ROWS) for seed in range(20)) > 20 * ROWS // 2


@pytest.mark.soak
def test_rows_and_reasons_are_the_same_for_long() -> None:
    """Ten million records of ten thousand schemas."""
    read = sum(compared(seed, SOAKED_ROWS) for seed in range(SOAKED_SCHEMAS))
    print(f"{SOAKED_SCHEMAS * SOAKED_ROWS:,} records, of which {read:,} were read: no difference")


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("kind", ["integer", "number", "string", "boolean", "array", "object"])
def test_no_value_becomes_another(kind: str, value: Any) -> None:
    """Neither where the schema allows whatever its type says, nor where it allows anything."""
    said = {"array": {"items": {"type": "integer"}}, "object": {"additionalProperties": {"type": "integer"}}}
    schema = {
        "properties": {"a": {"type": kind, **said.get(kind, {})}},
        "type": "object",
        "additionalProperties": False,
    }
    writers = [Writer(source(each)) for each in (schema, {"type": "object"})]
    payload = pa.array([json.dumps({"a": value}).encode()], pa.binary())
    for number in range(2):
        numbers = pa.array([number], pa.int32())
        one, other = (decoded(writers[0], writers, payload, numbers, plainly=each) for each in (True, False))
        same(one, other)
