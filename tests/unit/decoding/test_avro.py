"""Avro payloads as writers write them, resolved as the specification says, and damage of every kind with its reason."""

import json
import struct
from itertools import permutations
from typing import Any

import pytest

from sigla.decoding.avro import decoder, record_name
from sigla.decoding.decoder import DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.reasons import Reason
from sigla.model import Resolved
from tests.unit.decoding.avro_builders import DECIMAL, a_record, a_source, logical, of_fields, read, refused, written
from tests.unit.decoding.avro_schemas import outcome

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "com.acme",
    "fields": [
        {"name": "id", "type": "string"},
        {
            "name": "lines",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Line",
                    "fields": [
                        {"name": "sku", "type": "string"},
                        {"name": "count", "type": "int"},
                    ],
                },
            },
        },
        {"name": "paid", "type": "boolean"},
    ],
}
GOOD = b"\x04o1" + b"\x02" + b"\x06abc" + b"\x0e" + b"\x00" + b"\x01"


FIXED = {"type": "fixed", "name": "F", "size": 4}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
INTS = {"type": "array", "items": "int"}

# --- values ----------------------------------------------------------------------------------------------------------


def test_a_record_is_read_as_it_was_written() -> None:
    assert read(ORDER, GOOD) == {"id": "o1", "lines": [{"sku": "abc", "count": 7}], "paid": True}


def test_a_schema_is_read_with_all_that_it_references() -> None:
    """References stand in resolution order: what they use is there before them."""
    currency = Resolved("currency.avsc", '{"type": "enum", "name": "a.Currency", "symbols": ["EUR", "USD"]}')
    money = Resolved("money.avsc", json.dumps(of_fields({"name": "in", "type": "a.Currency"}, name="a.Money")))
    decode = decoder(a_source(a_record("a.Money", "a.Currency"), currency, money))
    assert decode(b"\x02\x00") == {"f0": {"in": "USD"}, "f1": "EUR"}


@pytest.mark.parametrize(
    "type_, value, reader, expected",
    [
        ("int", 5, "long", 5),
        ("int", 5, "double", 5.0),
        ("long", 2**40, "float", 2.0**40),
        ("float", 1.5, "double", 1.5),
        ("string", "né", "bytes", "né".encode()),
        ("bytes", b"n", "string", "n"),
        ("int", 5, ["null", "int"], 5),
        (["null", "int"], 5, "long", 5),
        (["null", "int"], None, ["int", "null"], None),
        ("int", 5, ["string", "long"], {"long": 5}),
        ("int", 5, ["double", "int"], {"int": 5}),
        (["int", "string"], "x", ["string", "int"], {"string": "x"}),
        ({"type": "array", "items": "int"}, [1, 2], {"type": "array", "items": "long"}, [1, 2]),
        ({"type": "map", "values": "int"}, {"a": 1}, {"type": "map", "values": ["null", "long"]}, {"a": 1}),
    ],
)
def test_a_value_is_resolved_to_what_the_reader_wants(type_: Any, value: Any, reader: Any, expected: Any) -> None:
    """Among a wider union's branches the equal one comes before one that it would be promoted to."""
    found = read(type_, written(type_, value), reader)
    assert (found, type(found)) == (expected, type(expected))


def test_a_reader_finds_fields_by_name_then_by_alias_and_fills_in_the_rest() -> None:
    """Whatever the order, and whatever else was written."""
    writer = of_fields({"name": "b", "type": "int"}, {"name": "gone", "type": "string"}, {"name": "a", "type": "int"})
    reader = of_fields(
        {"name": "a", "type": "long"},
        {"name": "c", "type": "int", "aliases": ["a", "b"]},
        {"name": "d", "type": "int", "aliases": ["b"], "default": 9},
    )
    assert read(writer, b"\x04\x06abc\x02", reader) == {"a": 1, "c": 2, "d": 9}


def test_defaults_are_values_and_not_the_json_that_wrote_them() -> None:
    """Bytes are bytes, records have all their fields, and a union's default is of the branch that it fits."""
    inner = of_fields({"name": "x", "type": "int", "default": 3}, {"name": "y", "type": "bytes"}, name="I")
    reader = of_fields(
        {"name": "raw", "type": "bytes", "default": "\u00ff"},
        {"name": "inner", "type": inner, "default": {"y": "\u0001"}},
        {"name": "one", "type": ["null", "string", "int"], "default": 4},
        {"name": "ratio", "type": "double", "default": 2},
        {"name": "kind", "type": ENUM, "default": "B"},
        {"name": "fixed", "type": {"type": "fixed", "name": "F", "size": 2}, "default": "ab"},
        {"name": "price", "type": {**DECIMAL, "precision": 4}, "default": "\u0001"},
    )
    found = read(a_record(), b"", reader)
    assert found == {
        "raw": b"\xff",
        "inner": {"x": 3, "y": b"\x01"},
        "one": {"int": 4},
        "ratio": 2.0,
        "kind": "B",
        "fixed": b"ab",
        "price": 1,
    }
    assert isinstance(found["ratio"], float)


def test_a_symbol_that_the_reader_lacks_is_its_default() -> None:
    writer = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
    assert read(writer, b"\x02", {"type": "enum", "name": "E", "symbols": ["A", "Z"], "default": "Z"}) == "Z"


def test_of_a_key_that_occurs_twice_the_last_value_counts() -> None:
    assert read({"type": "map", "values": "int"}, b"\x04\x02a\x02\x02a\x04\x00") == {"a": 2}


def test_blocks_may_say_how_many_bytes_they_take() -> None:
    """Those who skip use it; we read, and an empty array is one byte."""
    assert read({"type": "array", "items": "int"}, b"\x01\x02\x0a\x02\x0c\x00") == [5, 6]
    assert read({"type": "array", "items": "int"}, b"\x00") == []


def test_numbers_may_be_longer_than_they_need_to_be() -> None:
    """No writer does so; readers everywhere let it pass, and so do we."""
    assert read("int", b"\x82\x00") == 1


def test_members_that_would_differ_in_case_alone_are_called_by_their_full_names() -> None:
    """Columns are found whatever their case."""
    union = [a_record("int", name="a.Item"), a_record("int", name="b.ITEM"), "null"]
    assert read(union, b"\x02\x0a") == {"b_ITEM": {"f0": 5}}


@pytest.mark.parametrize(
    "names, members",
    [
        (("x.Rec", "y.Rec", "z.x_Rec"), ("x_Rec", "y_Rec", "x_Rec_")),
        (("a.b_C", "a_b.C", "c.C", "d.b_C"), ("a_b_C", "a_b_C_", "c_C", "d_b_C")),
        (("Rec", "x.Rec", "y.x_rec", "z.X_REC_"), ("Rec", "x_Rec", "x_rec_", "X_REC__")),
    ],
)
def test_members_are_told_apart_whatever_their_full_names_look_like(
    names: tuple[str, ...], members: tuple[str, ...]
) -> None:
    """In any order of the branches: which of two alike has the underscore is up to the alphabet."""
    for order in permutations(zip(names, members, strict=True)):
        union = [a_record("int", name=name) for name, _ in order]
        assert [next(iter(read(union, bytes([2 * at, 0])))) for at in range(len(order))] == [name for _, name in order]


def test_a_member_is_never_called_like_the_kind_of_another() -> None:
    union = ["int", a_record("int", name="Int")]
    assert [read(union, payload) for payload in (b"\0\2", b"\2\2")] == [{"int": 1}, {"Int_": {"f0": 1}}]


def test_a_schema_may_use_itself() -> None:
    node = of_fields({"name": "v", "type": "int"}, {"name": "next", "type": ["null", "Node"]}, name="Node")
    assert read(node, b"\x02\x02\x04\x00") == {"v": 1, "next": {"v": 2, "next": None}}


# --- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", range(len(GOOD)))
def test_a_payload_that_ends_early_is_truncated_wherever_it_is_cut(length: int) -> None:
    failed = refused(ORDER, GOOD[:length])
    assert failed.reason is Reason.DECODE_TRUNCATED
    assert failed.at is not None
    assert failed.at <= length


@pytest.mark.parametrize(
    "schema, payload, reason, at",
    [
        ("boolean", b"\x02", Reason.DECODE_INVALID, 0),
        ("int", b"\x80\x80\x80\x80\x10", Reason.DECODE_INVALID, 0),
        ("long", b"\xff" * 9 + b"\x02", Reason.DECODE_INVALID, 0),
        ("long", b"\xff" * 10 + b"\x01", Reason.DECODE_INVALID, 0),
        ("long", b"\xff" * 4, Reason.DECODE_TRUNCATED, 0),
        ("bytes", b"\x01", Reason.DECODE_INVALID, 0),
        ("string", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", Reason.DECODE_TRUNCATED, 10),
        ("string", b"\x06a\xffb", Reason.BAD_UTF8, 2),
        ("string", b"\x06\xed\xa0\x80", Reason.BAD_UTF8, 1),
        ({"type": "map", "values": "int"}, b"\x02\x02\xff\x00\x00", Reason.BAD_UTF8, 2),
        ("double", b"\x00" * 7, Reason.DECODE_TRUNCATED, 0),
        (FIXED, b"\x00" * 3, Reason.DECODE_TRUNCATED, 0),
        (ENUM, b"\x04", Reason.DECODE_INVALID, 0),
        (ENUM, b"\x01", Reason.DECODE_INVALID, 0),
        (["null", "int"], b"\x04", Reason.DECODE_INVALID, 0),
        (["null", "int"], b"\x01", Reason.DECODE_INVALID, 0),
        (INTS, b"\xfe\xff\xff\xff\x0f\x00", Reason.DECODE_TRUNCATED, 0),
        (INTS, b"\x01\x01\x02\x00", Reason.DECODE_INVALID, 0),
        ("int", b"\x02\x02", Reason.TRAILING_BYTES, 1),
        ("null", b"\x00", Reason.TRAILING_BYTES, 0),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2}, b"\x04\x00\x64", Reason.DECODE_INVALID, 0),
        (logical("timestamp-millis"), b"\xfe" + b"\xff" * 8 + b"\x01", Reason.DECODE_INVALID, 0),
    ],
)
def test_damage_is_told_by_its_reason_and_its_byte(schema: Any, payload: bytes, reason: Reason, at: int) -> None:
    """In bytes that no writer of the schema writes, the first one that shows it."""
    failed = refused(schema, payload)
    assert (failed.reason, failed.at) == (reason, at)


def test_where_it_happened_is_told_as_a_path() -> None:
    """A field of the third item is found faster by its name than by its byte."""
    failed = refused(ORDER, b"\x04o1" + b"\x04" + b"\x06abc\x0e" + b"\x06a\xffc\x0e" + b"\x00\x01")
    assert failed.detail.startswith("lines[1].sku: no UTF-8")
    assert (failed.reason, failed.at) == (Reason.BAD_UTF8, 11)


def test_what_the_reader_does_not_want_is_checked_all_the_same() -> None:
    """Damage before a field is damage of the field."""
    writer = a_record("string", "boolean", "int")
    assert refused(writer, b"\x02\xff\x01\x02", a_record()).reason is Reason.BAD_UTF8
    assert refused(writer, b"\x02a\x05\x02", a_record()).reason is Reason.DECODE_INVALID
    assert read(writer, b"\x02a\x01\x02", a_record()) == {}


def test_bytes_that_are_wanted_as_text_have_to_be_text() -> None:
    failed = refused("bytes", b"\x04a\xff", "string")
    assert (failed.reason, failed.at) == (Reason.BAD_UTF8, 2)


def test_bytes_after_the_value_may_be_allowed() -> None:
    assert read("int", b"\x02\x02", limits=Limits(trailing=True)) == 1


def test_a_symbol_without_a_default_is_unknown() -> None:
    failed = refused(ENUM, b"\x02", {"type": "enum", "name": "E", "symbols": ["A"]})
    assert (failed.reason, failed.at) == (Reason.ENUM_UNKNOWN, 0)
    assert "B" in failed.detail


def test_a_branch_that_the_reader_lacks_hinders_only_the_records_that_have_it() -> None:
    assert read(["null", "string"], b"\x00", ["null", "int"]) is None
    assert refused(["null", "string"], b"\x02\x02a", ["null", "int"]).reason is Reason.INCOMPATIBLE_READER
    assert read({"type": "array", "items": "string"}, b"\x00", INTS) == []


@pytest.mark.parametrize(
    "writer, reader",
    [
        ("string", "int"),
        ("long", "int"),
        (a_record("int", name="A"), a_record("int", name="B")),
        (a_record("int"), a_record("int", "int")),
        (a_record("string"), a_record("int")),
        (a_record(a_record("string", name="I")), a_record(a_record("int", name="I"))),
        (["string", "bytes"], "long"),
        (a_record(), "int"),
        ("string", ["int", "null"]),
        (FIXED, {**FIXED, "size": 5}),
        (ENUM, {**ENUM, "name": "Other"}),
        (a_record(), of_fields({"name": "x", "type": FIXED, "default": "abc"})),
    ],
)
def test_a_reader_that_can_read_nothing_is_said_to_be_so_at_once(writer: Any, reader: Any) -> None:
    with pytest.raises(Unreadable) as unreadable:
        decoder(a_source(writer), a_source(reader))
    assert unreadable.value.reason is Reason.INCOMPATIBLE_READER


def test_a_type_that_was_renamed_is_read_by_its_alias() -> None:
    assert read(a_record("int", name="a.Old"), b"\x02", a_record("int", name="b.New", aliases=["a.Old"])) == {"f0": 1}


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_payload_that_is_too_long_is_not_looked_at() -> None:
    assert refused("string", b"\x04ab", limits=Limits(max_bytes=2)).reason is Reason.TOO_LARGE


def test_items_that_take_no_bytes_are_counted_before_they_are_made() -> None:
    """Six bytes may promise two thousand million of them, and many blocks add up."""
    nulls = {"type": "array", "items": "null"}
    assert read(nulls, b"\x06\x02\x00") == [None] * 4
    assert refused(nulls, b"\xfe\xff\xff\xff\x0f\x00").reason is Reason.TOO_LARGE
    assert refused(nulls, b"\x06\x06\x00", limits=Limits(values=5)).reason is Reason.TOO_LARGE
    empty = a_record(FIXED | {"size": 0}, "null", name="Empty")
    twice = a_record({"type": "array", "items": empty}, {"type": "array", "items": "Empty"})
    assert refused(twice, b"\x00\xfe\xff\xff\x01\x00").reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    "schema, payload, values",
    [
        ({"type": "array", "items": "int"}, b"\x06\x02\x02\x02\x00", 3),
        ({"type": "map", "values": "int"}, b"\x04\x02a\x02\x02b\x02\x00", 2),
        (a_record("int", "int", "int"), b"\x02\x02\x02", 3),
        ({"type": "array", "items": a_record("int", "int")}, b"\x04\x02\x02\x02\x02\x00", 6),
    ],
)
def test_a_record_has_so_many_values_and_no_more(schema: Any, payload: bytes, values: int) -> None:
    """Items, entries and fields: a byte each on the wire, and a hundred times that once they are Python's."""
    assert read(schema, payload, limits=Limits(values=values))
    assert refused(schema, payload, limits=Limits(values=values - 1)).reason is Reason.TOO_LARGE


def test_nesting_ends_at_the_limit_and_not_with_the_machine() -> None:
    """In a schema that nests without end, and in one whose record holds itself and no bytes."""
    node = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}
    assert refused(node, b"\x02" * 100_000).reason is Reason.DEPTH
    assert read(node, b"\x02" * 63 + b"\x00")["next"]
    lists = {"type": "record", "name": "L", "fields": [{"name": "of", "type": {"type": "array", "items": "L"}}]}
    assert refused(lists, b"\x02" * 100_000).reason is Reason.DEPTH
    endless = {"type": "record", "name": "E", "fields": [{"name": "self", "type": "E"}]}
    assert refused(endless, b"").reason is Reason.DEPTH


def test_random_bytes_are_a_value_or_a_reason() -> None:
    """Bytes of every length, by a schema that has something of everything."""
    schema = a_record(INTS, {"type": "map", "values": ["null", "string", ENUM]}, "double", "boolean")
    decode = decoder(a_source(schema))
    for number in range(3_000):
        data = struct.pack(">Q", number * 0x9E3779B97F4A7C15 % 2**64)[: number % 9]
        found = outcome(decode, data)
        assert isinstance(found, DecodeFailed) or set(found) == {"f0", "f1", "f2", "f3"}


# --- schemas ---------------------------------------------------------------------------------------------------------


def test_a_text_that_is_no_schema_cannot_be_read_by() -> None:
    for source in (Source("AVRO", "{"), a_source("com.acme.Missing"), a_source({"type": "record", "name": "R"})):
        with pytest.raises(Unreadable) as unreadable:
            decoder(source)
        assert unreadable.value.reason is Reason.BAD_SCHEMA


def test_half_a_character_is_no_default() -> None:
    """JSON can spell it and nothing else can hold it."""
    with pytest.raises(Unreadable):
        decoder(a_source(of_fields()), a_source(of_fields({"name": "a", "type": "string", "default": "\ud800"})))


def test_a_schema_of_another_language_is_a_mismatch() -> None:
    with pytest.raises(Unreadable) as unreadable:
        decoder(a_source("int"), Source("JSON", "{}"))
    assert unreadable.value.reason is Reason.TYPE_MISMATCH


def test_a_schema_that_is_nested_too_deeply_is_refused_with_a_sentence() -> None:
    """Definitions that use one another in a chain nest deeper than any one text may."""
    chain = [Resolved(f"{at}", json.dumps(a_record(f"C{at - 1}" if at else "int", name=f"C{at}"))) for at in range(900)]
    with pytest.raises(Unreadable) as unreadable:
        decoder(a_source("C899", *chain))
    assert unreadable.value.reason is Reason.BAD_SCHEMA


def test_a_record_has_a_name_and_other_types_have_none() -> None:
    assert record_name(a_source(ORDER)) == "com.acme.Order"
    with pytest.raises(Unreadable) as unreadable:
        record_name(a_source(["null", ORDER]))
    assert unreadable.value.reason is Reason.BAD_SCHEMA
