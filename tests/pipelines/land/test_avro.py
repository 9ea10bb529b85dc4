"""Avro records as columns: which types, what of rows that fail, and writers by the thousand."""

import io
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import parquet

from sigla.decoding.decoder import Limits, Source, Unreadable
from sigla.decoding.reasons import FINE, NUMBERS, Reason
from sigla.model import Resolved
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders.avro import AvroDecoder, decoder
from sigla_pipelines.land.decoders.columns import UNROLLED
from sigla_pipelines.land.decoders.decoder import Decoded, Decoder, Native, TooMuch, Writer
from sigla_pipelines.land.decoders.native_columns import OF_A_BATCH

pytestmark = pytest.mark.usefixtures("both_ways")


def a_writer(schema: Any) -> Writer:
    return Writer(Source("AVRO", json.dumps(schema)))


def a_record(**fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": type_} for name, type_ in fields.items()]}


def logical(kind: str, base: Any, **more: Any) -> dict[str, Any]:
    return {"type": base, "logicalType": kind, **more}


def written(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def read(decoding: Decoder, rows: list[tuple[int, bytes]]) -> Decoded:
    payloads = pa.array([payload for _, payload in rows], pa.binary())
    return decoding.decode(payloads, pa.array([number for number, _ in rows], pa.int32()))


def own(schema: Any, *payloads: bytes, limits: Limits | None = None) -> Decoded:
    """Read by the schema itself."""
    decoding = decoder(a_writer(schema), limits=limits or Limits())
    number = decoding.add(a_writer(schema))
    return read(decoding, [(number, payload) for payload in payloads])


# --- types -----------------------------------------------------------------------------------------------------------


FIXED = {"type": "fixed", "name": "F", "size": 16}
START, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
LOCAL = START.replace(tzinfo=None)
WIDE = pa.struct({"int": pa.int32(), "string": pa.string()})


@pytest.mark.parametrize(
    "type_, payload, column, value",
    [
        ("boolean", b"\x01", pa.bool_(), True),
        ("int", b"\x03", pa.int32(), -2),
        ("long", b"\x03", pa.int64(), -2),
        ("float", b"\x00\x00\x80\x3f", pa.float32(), 1.0),
        ("double", b"\x00\x00\x00\x00\x00\x00\xf0\x3f", pa.float64(), 1.0),
        ("string", b"\x06\xe2\x82\xac", pa.string(), "€"),
        ("bytes", b"\x02\xff", pa.binary(), b"\xff"),
        ("null", b"", pa.string(), None),
        (FIXED, b"0123456789abcdef", pa.binary(), b"0123456789abcdef"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, b"\x02", pa.string(), "B"),
        (logical("uuid", "string"), b"\x02x", pa.string(), "x"),
        ({**FIXED, "logicalType": "uuid"}, b"\0" * 16, pa.string(), "00000000-0000-0000-0000-000000000000"),
        (logical("decimal", "bytes", precision=5, scale=2), b"\x04\xff\x85", pa.decimal128(5, 2), Decimal("-1.23")),
        ({**FIXED, "logicalType": "decimal", "precision": 38}, b"\0" * 15 + b"\7", pa.decimal128(38, 0), Decimal(7)),
        (logical("decimal", "bytes", precision=39, scale=1), b"\x02\x85", pa.string(), "-12.3"),
        (logical("date", "int"), b"\x02", pa.date32(), date(1970, 1, 2)),
        (logical("time-millis", "int"), b"\x02", pa.int64(), 1_000),
        (logical("timestamp-millis", "long"), b"\x02", pa.timestamp("us", "UTC"), START + 1000 * MICROSECOND),
        (logical("local-timestamp-micros", "long"), b"\x02", pa.timestamp("us"), LOCAL + MICROSECOND),
        (logical("timestamp-nanos", "long"), b"\x02", pa.int64(), 1),
        (logical("timestamp-millis", "string"), b"\x02a", pa.string(), "a"),
        ({"type": "array", "items": "int"}, b"\x04\x02\x04\x00", pa.list_(pa.int32()), [1, 2]),
        ({"type": "map", "values": "int"}, b"\x02\x02a\x04\x00", pa.map_(pa.string(), pa.int32()), [("a", 2)]),
        (["null", "int"], b"\x00", pa.int32(), None),
        (["int"], b"\x00\x02", pa.int32(), 1),
        (["int", "null", "string"], b"\x04\x02a", WIDE, {"int": None, "string": "a"}),
        (a_record(x="int"), b"\x02", pa.struct({"x": pa.int32()}), {"x": 1}),
        (a_record(), b"", JSON, "{}"),
    ],
)  # fmt: skip
def test_each_type_has_its_column(type_: Any, payload: bytes, column: pa.DataType, value: Any) -> None:
    """The table of contents of a lake: who changes a row here changes everybody's tables."""
    schema = {"type": "record", "name": "Root", "fields": [{"name": "f", "type": type_}]}
    decoded = own(schema, payload)
    assert decoded.status.to_pylist() == [FINE]
    assert decoded.rows.type.field("f").type == column
    assert decoded.rows.field("f").to_pylist() == [value]


def test_a_time_of_day_has_one_unit_whatever_the_reader_is() -> None:
    """A schema goes from milliseconds to microseconds; rows of before and after share a column, and none says whose."""
    noon = 12 * 60 * 60 * 1_000
    old, new = (a_record(at=each) for each in (logical("time-millis", "int"), logical("time-micros", "long")))
    before = own(old, written("int", noon))
    decoding = decoder(a_writer(new))
    after = read(decoding, [(decoding.add(a_writer(old)), written("int", noon))])
    assert before.rows.to_pylist() == after.rows.to_pylist() == [{"at": noon * 1_000}]
    assert before.rows.type.field("at").metadata == after.rows.type.field("at").metadata


def test_numbers_that_stand_for_times_say_so() -> None:
    """No column type has them, so that the field carries what the schema called them."""
    schema = a_record(a=["null", logical("time-millis", "int")], b=logical("timestamp-nanos", "long"), c="long")
    type_ = decoder(a_writer(schema)).type
    midnight, epoch = b"microseconds since midnight", b"nanoseconds since 1970-01-01 UTC"
    assert [field.metadata for field in type_] == [
        {b"logicalType": b"time-micros", b"doc": midnight},
        {b"logicalType": b"timestamp-nanos", b"doc": epoch},
        None,
    ]


def test_what_is_no_record_has_one_column() -> None:
    for schema in ("string", ["null", "string"]):
        decoded = own(schema, written(schema, "a"))
        assert decoded.rows.to_pylist() == [{"value": "a"}]


def test_a_topic_of_several_records_is_a_struct_of_them() -> None:
    """A union at the top, whose branches are known by their simple names."""
    schema = [{**a_record(x="int"), "name": "t.Made"}, {**a_record(y="int"), "name": "t.Paid"}]
    decoded = own(schema, b"\x02\x0a", b"\x00\x0c")
    assert decoded.rows.to_pylist() == [
        {"value": {"Made": None, "Paid": {"y": 5}}},
        {"value": {"Made": {"x": 6}, "Paid": None}},
    ]


def test_branches_whose_names_look_alike_have_a_column_each() -> None:
    """A full name has dots, and a column's has underscores instead."""
    names = ("x.Rec", "y.Rec", "z.x_Rec")
    decoded = own([{**a_record(v="int"), "name": name} for name in names], b"\0\2", b"\2\4", b"\4\6")
    none = dict.fromkeys(("x_Rec", "y_Rec", "x_Rec_"))
    assert [row["value"] for row in decoded.rows.to_pylist()] == [
        none | {name: {"v": at}} for at, name in enumerate(none, start=1)
    ]


NODE = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "at", "type": logical("date", "int")}, {"name": "next", "type": ["null", "Node"]}],
}


def test_a_record_within_itself_is_unrolled_and_then_json() -> None:
    """Deep enough for most, and nothing is lost of the others."""
    decoded = own(NODE, b"\x02\x02" * 3 + b"\x08\x00", b"\x02\x00")
    deep, flat = decoded.rows.to_pylist()
    assert UNROLLED == 2
    rest = {"at": "1970-01-02", "next": {"at": "1970-01-05", "next": None}}
    assert json.loads(deep["next"]["next"]) == rest
    assert flat == {"at": date(1970, 1, 2), "next": None}


def test_a_schema_that_would_be_too_many_columns_is_refused() -> None:
    """Types that use one another twice each double at every level."""
    twice: Any = a_record(a="int", b="int")
    for level in range(14):
        twice = {**a_record(a=twice, b=twice["name"]), "name": f"L{level}"}
    with pytest.raises(Unreadable) as unreadable:
        decoder(a_writer(twice))
    assert unreadable.value.reason is Reason.BAD_SCHEMA


def test_a_schema_that_no_table_can_be_is_refused_with_a_sentence() -> None:
    """Definitions in a chain may nest deeper than columns can."""
    links = [{**a_record(x=f"C{at - 1}" if at else "int"), "name": f"C{at}"} for at in range(900)]
    chain = [Resolved(link["name"], json.dumps(link)) for link in links]
    with pytest.raises(Unreadable) as unreadable:
        decoder(Writer(Source("AVRO", '"C899"', tuple(chain))))
    assert unreadable.value.reason is Reason.BAD_SCHEMA


def test_everything_may_be_null_and_goes_into_parquet() -> None:
    """Tombstones are rows too; types that only memory knows would stop a table when it is written."""
    everything = a_record(
        a={"type": "array", "items": {"type": "map", "values": ["null", "long"]}},
        b=["int", "string", {"type": "record", "name": "Empty", "fields": []}],
        c="null",
        d=logical("decimal", "bytes", precision=9, scale=2),
        e={"type": "record", "name": "In", "fields": [{"name": "x", "type": "boolean"}]},
    )
    decoded = own(everything, b"\x02\x02\x02k\x02\x02\x00\x00\x04\x02\x07\x01", b"\xff")
    assert decoded.status.to_pylist() == [FINE, NUMBERS[Reason.DECODE_TRUNCATED]]
    table = pa.Table.from_arrays([decoded.rows], names=["row"])
    file = pa.BufferOutputStream()
    parquet.write_table(table, file)
    back = parquet.read_table(pa.BufferReader(file.getvalue()))
    assert back.to_pylist() == table.to_pylist()
    assert back.to_pylist()[0]["row"]["b"] == {"int": None, "string": None, "Empty": "{}"}


# --- rows ------------------------------------------------------------------------------------------------------------


ORDER = a_record(
    id="string",
    lines={"type": "array", "items": {"type": "record", "name": "L", "fields": [{"name": "sku", "type": "string"}]}},
    tags={"type": "map", "values": "int"},
    note=["null", "string"],
)
GOOD = {"id": "o", "lines": [{"sku": "a"}, {"sku": "b"}], "tags": {"x": 1, "y": 2}, "note": "n"}


def test_a_row_that_fails_leaves_nothing_behind_wherever_it_fails() -> None:
    """Lists of good rows stay their own, however much of a bad one had been read."""
    good = written(ORDER, GOOD)
    payloads = [good] + [each for end in range(len(good)) for each in (good[:end], good)]
    decoded = own(ORDER, *payloads)
    decoded.rows.validate(full=True)
    told = {**GOOD, "tags": [("x", 1), ("y", 2)]}
    assert decoded.rows.to_pylist() == [told] + [None, told] * len(good)
    assert decoded.status.to_pylist() == [FINE] + [NUMBERS[Reason.DECODE_TRUNCATED], FINE] * len(good)


def test_a_failure_has_its_byte_and_its_sentence() -> None:
    decoded = own(ORDER, written(ORDER, GOOD), b"\x02o\x02\x04\xff\xff", b"\x02o\x00\x00\x00\x00")
    assert decoded.status.to_pylist() == [FINE, NUMBERS[Reason.BAD_UTF8], NUMBERS[Reason.TRAILING_BYTES]]
    assert decoded.at.to_pylist() == [None, 4, 5]
    first, second, third = decoded.detail.to_pylist()
    assert (first, second.split(":")[0], third) == (None, "lines[0].sku", "1 byte after the value")


def test_rows_come_in_their_order_whoever_wrote_them() -> None:
    """Each by its own schema, all as one reader's columns."""
    reader = a_record(a="long", b="double")
    reader["fields"][1]["default"] = 0.5
    decoding = decoder(a_writer(reader))
    old, new = decoding.add(a_writer(a_record(a="int"))), decoding.add(a_writer(a_record(b="float", a="int")))
    decoded = read(decoding, [(new, b"\0\0\x80\x3f\x02"), (old, b"\x04"), (new, b"\0\0\0\0\x06"), (old, b"")])
    assert decoded.rows.to_pylist() == [{"a": 1, "b": 1.0}, {"a": 2, "b": 0.5}, {"a": 3, "b": 0.0}, None]
    assert len(read(decoding, []).rows) == 0


def test_rows_that_are_as_they_should_be_are_never_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walker costs three times as much, and is for those that fail."""

    def walked(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(AvroDecoder, "_walked", walked)
    assert own(ORDER, *[written(ORDER, GOOD)] * 3).rows.null_count == 0


def test_payloads_may_be_a_part_of_an_array_or_large_ones() -> None:
    decoding = decoder(a_writer("int"))
    number = decoding.add(a_writer("int"))
    payloads = pa.array([b"junk", b"\x02", b"\x04"], pa.large_binary()).slice(1)
    decoded = decoding.decode(payloads, pa.array([number] * 2, pa.int32()))
    assert decoded.rows.to_pylist() == [{"value": 1}, {"value": 2}]


def test_limits_hold_in_columns_too() -> None:
    nested: Any = "int"
    for _ in range(6):
        nested = {"type": "array", "items": nested}
    deep = b"\x02" * 6 + b"\x0a" + b"\x00" * 6
    assert own(nested, deep, limits=Limits(depth=6)).status.to_pylist() == [FINE]
    assert own(nested, deep, limits=Limits(depth=5)).status.to_pylist() == [NUMBERS[Reason.DEPTH]]
    assert own("int", b"\x02", limits=Limits(max_bytes=0)).status.to_pylist() == [NUMBERS[Reason.TOO_LARGE]]
    assert own("int", b"\x02\x02", limits=Limits(trailing=True)).rows.to_pylist() == [{"value": 1}]


@pytest.mark.parametrize("items, row", [("null", b"\xc8\x01\x00"), ("int", b"\xc8\x01" + bytes(101))])
def test_rows_that_are_too_much_together_are_none_s_fault(items: str, row: bytes) -> None:
    """Each may hold what is allowed, and ten thousand of them a thousand times what a machine has."""
    decoding = decoder(a_writer({"type": "array", "items": items}), limits=Limits(values=100))
    number = decoding.add(a_writer({"type": "array", "items": items}))
    for _ in range(2):
        with pytest.raises(TooMuch):
            read(decoding, [(number, row), (number, b"\x04")] * (OF_A_BATCH + 1))
        decoded = read(decoding, [(number, row)] * OF_A_BATCH)
        assert decoded.status.to_pylist() == [FINE] * OF_A_BATCH
        assert len(decoded.rows.to_pylist()[0]["value"]) == 100


def test_a_row_that_would_become_too_many_values_fails_alone() -> None:
    """Also where it is the reader who has most of them: fields that were not written take no bytes."""
    wide = a_record(f="int")
    wide["fields"] += [{"name": f"more{at}", "type": "int", "default": at} for at in range(8)]
    decoding = decoder(a_writer({"type": "array", "items": wide}), limits=Limits(values=30))
    number = decoding.add(a_writer({"type": "array", "items": a_record(f="int")}))
    three, four = b"\x06\x02\x02\x02\x00", b"\x08\x02\x02\x02\x02\x00"
    decoded = read(decoding, [(number, three), (number, four), (number, three)])
    assert decoded.status.to_pylist() == [FINE, NUMBERS[Reason.TOO_LARGE], FINE]
    assert [len(row["value"] or ()) for row in decoded.rows.to_pylist() if row] == [3, 3]


def test_what_is_decoded_becomes_arrays_before_there_is_too_much_of_it() -> None:
    """Lists of a batch are emptied again and again; rows that fail in between stay where they are."""
    schema = {"type": "array", "items": "int"}
    decoding = AvroDecoder(a_writer(schema), most_held=2, native=Native.OFF)
    number = decoding.add(a_writer(schema))
    rows = [bytes([2, 2 * at, 0]) for at in range(10)]
    rows[3] = rows[7] = b"\x02"
    decoded = read(decoding, [(number, row) for row in rows])
    expected: list[Any] = [{"value": [at]} for at in range(10)]
    expected[3] = expected[7] = None
    assert decoded.rows.to_pylist() == expected
    assert [at for at, status in enumerate(decoded.status.to_pylist()) if status] == [3, 7]


def test_texts_that_no_array_holds_are_read_by_fewer_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A default may be long, and the record that lacks it a byte: thousands of them are gigabytes."""
    arrays = pa.array

    def small(values: Any, type_: pa.DataType | None = None) -> Any:
        """A column of texts ends at 2 GiB, and is handed over in pieces then; here at 60 of a letter."""
        found = arrays(values, type_)
        long = type_ == pa.string() and "".join(filter(None, values)).count("x") > 60
        return pa.chunked_array([found]) if long else found

    reader = a_record(a="int", b="string", c={"type": "array", "items": "int"})
    reader["fields"][1]["default"] = "x" * 40
    writer = a_record(a="int", c={"type": "array", "items": "int"})
    decoding = decoder(a_writer(reader), native=Native.OFF)
    number = decoding.add(a_writer(writer))
    rows = [(number, b"\2\2\2\0"), (number, b"\2"), (number, b"\2\2\4\0")]
    monkeypatch.setattr(pa, "array", small)
    with pytest.raises(TooMuch):
        read(decoding, rows)
    assert read(decoding, rows[:2]).rows.to_pylist() == [{"a": 1, "b": "x" * 40, "c": [1]}, None]
    long = {**reader, "fields": [reader["fields"][0], {**reader["fields"][1], "default": "x" * 101}]}
    decoding = decoder(a_writer(long), native=Native.OFF)
    alone = read(decoding, [(decoding.add(a_writer(writer)), rows[0][1])])
    assert alone.status.to_pylist() == [NUMBERS[Reason.TOO_LARGE]]


def test_a_batch_may_have_thousands_of_writers() -> None:
    """Each is compiled when its first record comes, and none is forgotten."""
    reader = a_record(**{f"f{at}": ["null", "long"] for at in range(10)})
    for field in reader["fields"]:
        field["default"] = None
    decoding = decoder(a_writer(reader))
    numbers = [
        decoding.add(a_writer(a_record(**{f"f{at % 10}": "int", f"extra{at}": "string"}))) for at in range(2_000)
    ]
    decoded = read(decoding, [(number, b"\x0e\x02x") for number in reversed(numbers)])
    assert set(decoded.status.to_pylist()) == {FINE}
    assert decoded.rows[0].as_py() == {f"f{at}": 7 if at == 1_999 % 10 else None for at in range(10)}


def test_a_writer_that_cannot_be_read_is_refused_when_it_is_added() -> None:
    decoding = decoder(a_writer("int"))
    for writer, reason in (
        (a_writer("string"), Reason.INCOMPATIBLE_READER),
        (Writer(Source("AVRO", "{")), Reason.BAD_SCHEMA),
        (Writer(Source("JSON", "{}")), Reason.TYPE_MISMATCH),
    ):
        with pytest.raises(Unreadable) as unreadable:
            decoding.add(writer)
        assert unreadable.value.reason is reason
