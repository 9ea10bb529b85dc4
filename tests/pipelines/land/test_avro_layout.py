"""Writers whose schemas differ only in what they say of themselves are one writer; all others are told apart."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import Source, Unreadable
from sigla.decoding.reasons import Reason
from sigla.model import Resolved
from sigla_pipelines.land.decoders.avro import AvroDecoder
from sigla_pipelines.land.decoders.avro_layout import layout
from sigla_pipelines.land.decoders.decoder import Writer
from tests.unit.decoding.avro_schemas import Drawing

KIND = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}
INNER = {"type": "record", "name": "Inner", "fields": [{"name": "doc", "type": "string"}]}
FIELDS: list[Any] = [
    {"name": "kind", "type": KIND},
    {"name": "inner", "type": {"type": "array", "items": ["null", INNER]}},
    {"name": "rates", "type": {"type": "map", "values": "double"}, "default": {"doc": 1.5}},
]
SCHEMA = {"type": "record", "name": "R", "fields": FIELDS}


def a_source(schema: Any, *references: str) -> Source:
    return Source("AVRO", json.dumps(schema), tuple(Resolved(f"r{n}", text) for n, text in enumerate(references)))


def with_docs(json_: Any, number: int) -> Any:
    """A doc on whatever may have one, and on nothing else."""
    if isinstance(json_, list):
        return [with_docs(each, number) for each in json_]
    if not isinstance(json_, dict):
        return json_
    within = {
        name: with_docs(value, number) if name in ("type", "items", "values", "fields") else value
        for name, value in json_.items()
    }
    return {"doc": f"copy {number}", **within} if "name" in json_ else within


def test_thousands_of_writers_that_differ_in_their_docs_have_one_plan() -> None:
    decoding = AvroDecoder(Writer(a_source(SCHEMA)))
    numbers = {decoding.add(Writer(a_source(with_docs(SCHEMA, number)))) for number in range(2_000)}
    assert numbers == {0}
    assert len(decoding.walks) == 1
    payload = b"\2" + b"\2\2\4hi\0" + b"\0"
    assert decoding.decode(pa.array([payload], pa.binary()), pa.array([0], pa.int32())).rows.to_pylist() == [
        {"kind": "B", "inner": [{"doc": "hi"}], "rates": []}
    ]


@given(st.integers(0, 2**63))
def test_docs_say_nothing_of_any_schema(seed: int) -> None:
    schema = json.loads(Drawing(seed).schema().text())
    assert layout(a_source(with_docs(schema, 1))) == layout(a_source(with_docs(schema, 2))) == layout(a_source(schema))


@pytest.mark.parametrize(
    "other",
    [
        {**SCHEMA, "fields": FIELDS[:2]},
        {**SCHEMA, "fields": [FIELDS[1], FIELDS[0], FIELDS[2]]},
        {**SCHEMA, "fields": [{"name": "kind", "type": {**KIND, "symbols": ["B", "A"]}}, *FIELDS[1:]]},
        {**SCHEMA, "fields": [{**FIELDS[0], "name": "doc"}, *FIELDS[1:]]},
        {**SCHEMA, "fields": [*FIELDS[:2], {**FIELDS[2], "default": {"doc": 2.5}}]},
        {**SCHEMA, "fields": [*FIELDS[:2], {**FIELDS[2], "type": {"type": "map", "values": "float"}}]},
        {**SCHEMA, "namespace": "n"},
        {**SCHEMA, "doc": ""} | {"name": "S"},
    ],
)
def test_what_differs_in_more_than_docs_is_another_writer(other: Any) -> None:
    assert layout(a_source(other)) != layout(a_source(SCHEMA))


def test_references_count_whole() -> None:
    used = {"type": "record", "name": "R", "fields": [{"name": "inner", "type": "Inner"}]}
    one, other = json.dumps(INNER), json.dumps({**INNER, "fields": [{"name": "doc", "type": "bytes"}]})
    assert layout(a_source(used, one)) == layout(a_source(used, one))
    assert len({layout(a_source(used, *texts)) for texts in ((), (one,), (other,), (one, other))}) == 4


@pytest.mark.parametrize(
    "text", ["{", '{"type": "\\ud800"}', '{"type": "int", "n": ' + "9" * 40 + "}", "[" * 400 + "]" * 400]
)
def test_what_cannot_be_told_is_a_writer_of_its_own(text: str) -> None:
    assert layout(Source("AVRO", text)) is None


def test_a_schema_of_another_language_is_not_taken_for_a_known_one() -> None:
    decoding = AvroDecoder(Writer(a_source(SCHEMA)))
    decoding.add(Writer(a_source(SCHEMA)))
    with pytest.raises(Unreadable) as refused:
        decoding.add(Writer(Source("JSON", json.dumps(SCHEMA))))
    assert refused.value.reason is Reason.TYPE_MISMATCH
