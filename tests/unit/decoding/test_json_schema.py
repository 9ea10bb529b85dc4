"""Payloads of JSON: what is valid by the schema that wrote them, and what is wrong with those that are not."""

import json
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.json_schema import decoder, record_name
from sigla.decoding.reasons import Reason
from tests.unit.decoding.json_types import anything, random_schema, random_value, source
from tests.unit.decoding.protobuf_types import damaged

ANYTHING = source({})
POINT = source({"type": "object", "properties": {"a/b": {"type": "array", "items": {"type": "integer"}}}})

SEEDS = st.integers(0, 2**32)


def failure(source: Source, payload: bytes, **limits: Any) -> DecodeFailed:
    with pytest.raises(DecodeFailed) as caught:
        decoder(source, limits=Limits(**limits))(payload)
    return caught.value


def test_a_payload_is_the_value_it_spells() -> None:
    """Space around it included, and of a key given twice the last value."""
    assert decoder(POINT)(b' {"a/b": [1, 2], "x": 1, "x": null}\n') == {"a/b": [1, 2], "x": None}


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**64), 10**40])
def test_integers_are_exact_however_long(number: int) -> None:
    """Not the nearest float."""
    assert decoder(ANYTHING)(b"[%d]" % number) == [number]


@pytest.mark.parametrize(
    "payload, reason, at",
    [
        (b"", Reason.JSON_INVALID, 0),
        (b"{", Reason.JSON_INVALID, 1),
        (b'{"a": NaN}', Reason.JSON_INVALID, 6),
        (b'{"a": Infinity}', Reason.JSON_INVALID, 6),
        ('{"größe" 1}'.encode(), Reason.JSON_INVALID, 11),
        (b'["\\ud800"]', Reason.JSON_INVALID, None),
        (b"\xef\xbb\xbf1", Reason.JSON_INVALID, 0),
        (b'["\xff"]', Reason.BAD_UTF8, 2),
        (b'{"a": 1} {}', Reason.TRAILING_BYTES, 9),
        (b"1,", Reason.TRAILING_BYTES, 1),
        (b"[" * 65 + b"]" * 65, Reason.DEPTH, 64),
        (b'{"a":' * 100_000, Reason.DEPTH, 64 * 5),
        (b'"' + b"[" * 65, Reason.JSON_INVALID, None),
        (b" " * 101, Reason.TOO_LARGE, None),
    ],
)
def test_what_is_no_json_has_a_reason_and_a_byte(payload: bytes, reason: Reason, at: int | None) -> None:
    """In bytes, whatever characters stand before it."""
    failed = failure(ANYTHING, payload, max_bytes=100 if reason is Reason.TOO_LARGE else 2**20)
    assert failed.reason is reason
    assert at is None or failed.at == at


def test_brackets_in_texts_do_not_nest() -> None:
    """Nor do those of a long list."""
    texts = ['["' * 200, "\\" * 201 + '"', "]" * 200]
    assert decoder(ANYTHING)(json.dumps(texts).encode()) == texts
    assert decoder(ANYTHING)(b"[" + b"[]," * 1000 + b"[]]") == [[]] * 1001
    assert decoder(ANYTHING)(b"[" * 64 + b"]" * 64)


def test_what_follows_may_be_let_pass() -> None:
    """As a setting."""
    assert decoder(ANYTHING, limits=Limits(trailing=True))(b' {"a": 1} and so on') == {"a": 1}


def test_a_value_that_the_schema_does_not_allow_is_pointed_at() -> None:
    """By a JSON Pointer, and a sentence of a length that can be kept."""
    failed = failure(POINT, b'{"a/b": [1, "x"]}')
    assert failed.reason is Reason.JSON_SCHEMA
    assert failed.detail.startswith('/a~1b/1: "x" is not')
    assert len(failure(POINT, b'{"a/b": "%s"}' % (b"x" * 10_000)).detail) <= 500


@pytest.mark.parametrize(
    "schema, valid, invalid",
    [
        ({"exclusiveMinimum": 1}, b"2", b"1"),
        ({"$schema": "http://example.com/unknown", "const": 1}, b"1", b"2"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, b"2", b"1"),
        ({"$schema": "http://json-schema.org/draft-04/schema", "const": 1}, b"2", None),
        (
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "dependentRequired": {"a": ["b"]}},
            b"{}",
            b'{"a":1}',
        ),
        (
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "null"}]},
            b"[null]",
            b"[1]",
        ),
        ({"prefixItems": [{"type": "null"}]}, b"[1]", None),
        ({"format": "date-time", "type": "string"}, b'"yesterday"', None),
        (True, b"1", None),
        (False, None, b"1"),
    ],
)
def test_the_draft_is_the_one_that_the_schema_names(schema: Any, valid: bytes | None, invalid: bytes | None) -> None:
    """Draft 7 where it names none; formats are not checked."""
    if valid is not None:
        decoder(source(schema))(valid)
    if invalid is not None:
        assert failure(source(schema), invalid).reason is Reason.JSON_SCHEMA


def test_references_are_found_by_their_names() -> None:
    """As they are, below the root's id, and from one reference to the next."""
    inner = {"type": "integer"}
    middle = {"definitions": {"list": {"items": {"$ref": "inner.json"}}}}
    for root in (
        {"$ref": "middle.json#/definitions/list"},
        {"$id": "http://a.example/b/root.json", "allOf": [{"$ref": "middle.json#/definitions/list"}]},
    ):
        schema = source(root, inner_json=inner, middle_json=middle)
        assert decoder(schema)(b"[1]") == [1]
        assert failure(schema, b'["x"]').reason is Reason.JSON_SCHEMA


@pytest.mark.parametrize(
    "writer, reader, reason",
    [
        (source("{"), None, Reason.BAD_SCHEMA),
        (source({"type": "nonsense"}), None, Reason.BAD_SCHEMA),
        (source({"$ref": "http://127.0.0.1:9/nobody.json"}), None, Reason.BAD_SCHEMA),
        (source({"pattern": "("}), None, Reason.BAD_SCHEMA),
        (source("[" * 100_000), None, Reason.BAD_SCHEMA),
        (Source("AVRO", '"int"'), None, Reason.TYPE_MISMATCH),
        (ANYTHING, Source("AVRO", '"int"'), Reason.TYPE_MISMATCH),
    ],
)
def test_a_schema_that_no_record_can_be_read_with_says_so(
    writer: Source, reader: Source | None, reason: Reason
) -> None:
    """Without asking a network what it does not have."""
    with pytest.raises(Unreadable) as caught:
        decoder(writer, reader)
    assert caught.value.reason is reason


def test_schemas_that_lead_back_to_themselves_end() -> None:
    """A reference to itself allows everything."""
    assert decoder(source({"$ref": "#"}))(b"1") == 1
    assert decoder(source({"allOf": [{"$ref": "#"}]}))(b"1") == 1


def test_a_record_is_named_by_its_title() -> None:
    """Without one there is no name for record strategies."""
    assert record_name(source({"title": "com.example.Order"})) == "com.example.Order"
    for untitled in ({}, {"title": ""}, True):
        with pytest.raises(Unreadable):
            record_name(source(untitled))


@given(SEEDS)
def test_random_values_are_valid_where_another_validator_says_so(seed: int) -> None:
    """Random schemas of draft 7; a value that is refused has its pointer and its sentence."""
    random = Random(seed)
    schema = random_schema(random)
    read, other = decoder(source(schema)), jsonschema.Draft7Validator(schema)
    for _ in range(3):
        value = random_value(schema, schema, random)
        payload = json.dumps(value, ensure_ascii=random.random() < 0.5).encode()
        if other.is_valid(value):
            assert read(payload) == value
        else:
            with pytest.raises(DecodeFailed) as caught:
                read(payload)
            assert caught.value.reason is Reason.JSON_SCHEMA


def attack(random: Random) -> None:
    """Bytes are JSON, as the standard library has it, or they have a reason."""
    payload = damaged(json.dumps([anything(random) for _ in range(3)], ensure_ascii=False).encode(), random)
    at = 0
    try:
        value = decoder(ANYTHING)(payload)
    except DecodeFailed as failed:
        value, at = failed, failed.at or 0
    assert 0 <= at <= len(payload)
    assert isinstance(value, DecodeFailed) or value == json.loads(payload)


@given(SEEDS)
def test_damaged_payloads_have_a_reason(seed: int) -> None:
    """Cut off, bits turned, noise."""
    attack(Random(seed))


@pytest.mark.soak
@given(SEEDS)
def test_damaged_payloads_for_a_long_time(seed: int) -> None:
    """The same, and for longer."""
    attack(Random(seed))
