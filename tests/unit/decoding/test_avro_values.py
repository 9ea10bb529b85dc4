"""Logical types and defaults: what is between bytes and columns, and how people are shown it."""

import json
from decimal import Decimal
from math import inf, nan
from typing import Any
from uuid import UUID

import orjson
import pytest

from sigla.decoding.avro import decoder, understood
from sigla.decoding.avro_shown import shown
from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import Reason
from tests.unit.decoding.avro_builders import DECIMAL, a_record, a_source, logical, of_fields, read, refused, written


@pytest.mark.parametrize(
    "writer, reader, number, expected",
    [
        (logical("timestamp-millis"), logical("timestamp-millis"), 7, 7_000),
        (logical("timestamp-millis"), logical("timestamp-micros"), 7, 7_000),
        (logical("timestamp-micros"), logical("timestamp-millis"), 7, 7),
        (logical("timestamp-nanos"), logical("timestamp-micros"), -1, -1),
        (logical("timestamp-millis"), logical("timestamp-nanos"), 7, 7_000_000),
        (logical("timestamp-nanos"), logical("timestamp-nanos"), 7, 7),
        (logical("local-timestamp-millis"), logical("timestamp-micros"), 7, 7_000),
        (logical("timestamp-millis"), "long", 7, 7),
        ("long", logical("timestamp-millis"), 7, 7_000),
        (logical("time-millis", "int"), logical("time-millis", "int"), 7, 7_000),
        ("int", logical("time-millis", "int"), 7, 7_000),
        (logical("time-micros"), logical("time-micros"), 7, 7),
        (logical("time-millis", "int"), logical("time-micros"), 7, 7_000),
        (logical("timestamp-micros"), logical("time-micros"), 7, 7),
        (logical("date", "int"), logical("date", "int"), 7, 7),
    ],
)
def test_times_come_in_the_unit_of_their_column(writer: Any, reader: Any, number: int, expected: int) -> None:
    """Whatever unit they were written in: microseconds, of nanoseconds the reader's own."""
    base = writer["type"] if isinstance(writer, dict) else writer
    assert read(writer, written(base, number), reader) == expected


def test_decimals_are_unscaled_numbers_and_text_where_no_column_is_wide_enough() -> None:
    fixed = {**DECIMAL, "type": "fixed", "name": "D", "size": 4}
    payload = written(DECIMAL, Decimal("-123.45"))
    assert read(DECIMAL, payload) == -12345
    assert read({**DECIMAL, "precision": 40, "scale": 3}, payload) == "-12.345"
    assert read({**DECIMAL, "precision": 40, "scale": 0}, payload) == "-12345"
    assert read({**DECIMAL, "precision": 40, "scale": 9}, payload) == "-0.000012345"
    assert read(fixed, b"\xff\xff\xcf\xc7") == -12345
    assert read(DECIMAL, b"\x00") == 0
    assert read("string", b"\x02a", DECIMAL) == ord("a")


def test_a_decimal_that_takes_too_long_to_write_out_is_too_large_and_no_damage() -> None:
    """Beyond 4,300 digits; what has more digits than its schema says is damage, however many they are."""
    long, longer = (written("bytes", (10**digits - 1).to_bytes(2_000)) for digits in (4_300, 4_301))
    wide = {**DECIMAL, "precision": 5_000, "scale": 0}
    assert read(wide, long) == "9" * 4_300
    failed = refused(wide, longer)
    assert (failed.reason, failed.detail) == (Reason.TOO_LARGE, "a decimal of more than 4,300 digits")
    failed = refused({**wide, "precision": 40}, longer)
    assert (failed.reason, failed.detail) == (Reason.DECODE_INVALID, "more than the 40 digits of the decimal")


def test_a_decimal_of_another_scale_is_another_number() -> None:
    """The bytes are the same: 1.23 would become 12.3."""
    with pytest.raises(Unreadable) as unreadable:
        decoder(a_source(DECIMAL), a_source({**DECIMAL, "scale": 1}))
    assert unreadable.value.reason is Reason.INCOMPATIBLE_READER
    assert read(DECIMAL, b"\x02\x05", {**DECIMAL, "precision": 7}) == 5


def test_a_uuid_of_sixteen_bytes_is_text() -> None:
    uuid = UUID("b5f5c8a2-31d4-5e0f-9a11-0123456789ab")
    schema = {"type": "fixed", "size": 16, "name": "U", "logicalType": "uuid"}
    assert read(schema, uuid.bytes) == str(uuid)


def test_a_time_that_no_column_can_hold_is_damage() -> None:
    far = written("long", 2**62)
    assert refused(logical("timestamp-millis"), far).reason is Reason.DECODE_INVALID
    assert read(logical("timestamp-micros"), far) == 2**62


ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}
NEEDY = a_record("int", name="I")


@pytest.mark.parametrize(
    "type_, default, why",
    [
        ("int", "a", "is not of type int"),
        ("string", 5, "is not of type string"),
        (["null", "int"], "a", "fits no branch"),
        (ENUM, "B", "is not a symbol of"),
        (ENUM, 5, "is not a string"),
        (NEEDY, {}, "says nothing of f0"),
        (NEEDY, [], "is not an object"),
        ({"type": "array", "items": "int"}, {}, "is not an array"),
        ({"type": "fixed", "name": "F", "size": 2}, "a", "has not the 2 bytes"),
        (logical("decimal", "bytes", precision=1), "\u0064", "more than the 1 digits"),
        ("bytes", "\u20ac", "codec can't encode"),
    ],
)
def test_a_default_that_fits_nothing_hinders_the_reader(type_: Any, default: Any, why: str) -> None:
    """Registries of old let such schemas pass; a row that pretends serves no reader."""
    with pytest.raises(Unreadable) as unreadable:
        decoder(a_source(of_fields()), a_source(of_fields({"name": "x", "type": type_, "default": default})))
    assert unreadable.value.reason is Reason.INCOMPATIBLE_READER
    assert why in unreadable.value.detail


@pytest.mark.parametrize("kind", ["float", "double"])
def test_a_default_beyond_all_floats_is_infinite(kind: str) -> None:
    """As in Java, however it is written."""
    for default, expected in ((10**400, inf), (-(10**400), -inf), (2, 2.0)):
        assert read(of_fields(), b"", of_fields({"name": "x", "type": kind, "default": default})) == {"x": expected}


def test_defaults_of_lists_and_maps_are_filled_in_too() -> None:
    lists = {"name": "l", "type": {"type": "array", "items": ["null", "bytes"]}, "default": ["a", None]}
    maps = {"name": "m", "type": {"type": "map", "values": logical("timestamp-millis")}, "default": {"k": 2}}
    assert read(of_fields(), b"", of_fields(lists, maps)) == {"l": [b"a", None], "m": {"k": 2_000}}


# --- shown -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type_, value, expected",
    [
        (logical("timestamp-millis"), 1_000, "1970-01-01T00:00:00.001000Z"),
        (logical("local-timestamp-micros"), 1_000_000, "1970-01-01T00:00:01"),
        (logical("timestamp-micros"), 2**62, 2**62),
        (logical("timestamp-nanos"), 5, 5),
        (logical("date", "int"), -1, "1969-12-31"),
        (logical("date", "int"), 2**30, 2**30),
        (DECIMAL, -5, "-0.05"),
        (logical("decimal", "bytes", precision=40), "7", "7"),
        ("bytes", b"\xff\x00", "ff00"),
        ("double", nan, "nan"),
        ("float", inf, "inf"),
        ("double", 0.5, 0.5),
        (["null", "bytes"], b"a", "61"),
        (["null", "bytes"], None, None),
        (["bytes", DECIMAL | {"type": "fixed", "name": "D", "size": 4}], {"D": 5}, {"D": "0.05"}),
        ({"type": "array", "items": "bytes"}, [b"a"], ["61"]),
        ({"type": "map", "values": logical("date", "int")}, {"k": 0}, {"k": "1970-01-01"}),
        (a_record("bytes"), {"f0": b""}, {"f0": ""}),
    ],
)
def test_values_are_shown_so_that_people_can_read_them(type_: Any, value: Any, expected: Any) -> None:
    """As JSON, which has neither bytes nor all numbers; what no calendar has stays a number."""
    told = shown(value, understood(a_source(type_)))
    assert told == expected
    assert json.loads(orjson.dumps(told)) == told
