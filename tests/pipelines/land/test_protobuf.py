"""Columns of Protobuf: what a message says, in the shape that the reader's message gives it."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import descriptor_pb2 as pb
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.protobuf import message_class, record_name
from sigla.decoding.protobuf_plain import plain
from sigla.decoding.reasons import REASONS, Reason
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.columns import UNROLLED
from sigla_pipelines.land.decoders.decoder import Decoded, Decoder, Writer
from tests.unit.decoding.protobuf_types import FIELD, MESSAGES, SYMBOLS, damaged, evolved, fill, random_file, source_of
from tests.unit.decoding.protobuf_types import source as a_source

ORDER = a_source("""
    syntax = "proto3";
    package shop;
    import "google/protobuf/struct.proto";
    import "google/protobuf/timestamp.proto";
    import "google/protobuf/wrappers.proto";
    message Order {
      string id = 1;
      uint64 total = 2;
      optional int32 discount = 3;
      Status status = 4;
      google.protobuf.Timestamp at = 5;
      google.protobuf.StringValue note = 6;
      google.protobuf.Struct extra = 7;
      repeated Line lines = 8;
      map<string, double> rates = 9;
      oneof paid { string card = 10; bool cash = 11; }
      Empty empty = 12;
      Order parent = 13;
    }
    message Line { string sku = 1; uint32 count = 2; }
    message Empty {}
    enum Status { OPEN = 0; CLOSED = 1; }
""")

SEEDS = st.integers(0, 2**32)


def a_decoder(source: Source, indexes: tuple[int, ...] = (), **kwargs: Any) -> Decoder:
    return DECODERS["PROTOBUF"](Writer(source, indexes), **kwargs)


def decode(decoder: Decoder, writer: Writer, *payloads: bytes) -> Decoded:
    number = decoder.add(writer)
    found = decoder.decode(pa.array(payloads, pa.binary()), pa.array([number] * len(payloads), pa.int32()))
    assert {len(payloads)} == set(map(len, (found.rows, found.status, found.at, found.detail)))
    assert found.rows.type == decoder.type
    found.rows.validate(full=True)
    return found


def reasons(found: Decoded) -> list[Reason | None]:
    return [REASONS.get(status) for status in found.status.to_pylist()]


def test_every_kind_of_field_has_its_column() -> None:
    """Presence is null or not, defaults are values, moments are moments, and what has no shape is JSON."""
    order: Any = message_class(ORDER, "shop.Order")
    message = order(id="o-1", total=2**64 - 1, discount=0, status=7, card="4711")
    message.at.seconds, message.at.nanos = 1, 2_999
    message.note.value = ""
    message.extra["k"] = [True]
    message.lines.add(sku="s", count=2**32 - 1)
    message.rates["b"], message.rates["a"] = 2.0, 1.0
    message.empty.SetInParent()
    message.parent.parent.parent.id = "o-3"
    found = decode(a_decoder(ORDER), Writer(ORDER), message.SerializeToString(), b"")
    assert reasons(found) == [None, None]
    full, empty = found.rows.to_pylist()
    parent = full.pop("parent")
    assert full == {
        "id": "o-1",
        "total": Decimal(2**64 - 1),
        "discount": 0,
        "status": "7",
        "at": datetime(1970, 1, 1, 0, 0, 1, 2, tzinfo=UTC),
        "note": "",
        "extra": '{"k":[true]}',
        "lines": [{"sku": "s", "count": 2**32 - 1}],
        "rates": [("a", 1.0), ("b", 2.0)],
        "card": "4711",
        "cash": None,
        "empty": "{}",
    }
    assert json.loads(parent["parent"])["parent"]["id"] == "o-3"
    nothing = dict.fromkeys(("discount", "at", "note", "extra", "card", "cash", "empty", "parent"))
    assert empty == {"id": "", "total": Decimal(0), "status": "OPEN", "lines": [], "rates": [], **nothing}


def test_one_bad_record_leaves_its_neighbours_alone() -> None:
    """Each has a reason, a byte where one is to blame, and a sentence."""
    order: Any = message_class(ORDER, "shop.Order")
    odd = order(id="odd")
    odd.at.seconds = 2**60
    fine = order(id="fine").SerializeToString()
    found = decode(
        a_decoder(ORDER), Writer(ORDER), fine, b"\x0a\x09cut", odd.SerializeToString(), b"\x0a\x01\xff", fine
    )
    assert reasons(found) == [None, Reason.DECODE_TRUNCATED, Reason.INCOMPATIBLE_READER, Reason.BAD_UTF8, None]
    assert found.at.to_pylist() == [None, 5, None, 2, None]
    assert [row and row["id"] for row in found.rows.to_pylist()] == ["fine", None, None, None, "fine"]
    assert all(found.detail.to_pylist()[1:4])


def test_texts_of_proto2_that_are_none_fail_alone() -> None:
    """The runtime lets them pass, whole batches of them; the column does not."""
    legacy = a_source('syntax = "proto2"; message M { optional string a = 1; repeated string b = 2; }')
    payloads = [b"\x0a\x01x", b"\x0a\x01\xff", b"\x12\x01y\x12\x02\xc3\x28"] * 40
    found = decode(a_decoder(legacy), Writer(legacy), *payloads)
    assert reasons(found) == [None, Reason.BAD_UTF8, Reason.BAD_UTF8] * 40
    assert found.at.to_pylist() == [None, 2, 5] * 40


@pytest.mark.parametrize("label", ["optional", "required"])
def test_a_field_may_be_called_as_anything_of_the_runtime(label: str) -> None:
    """As columns, as JSON text where the message is within itself, and where it is nested deep."""
    names = dir(message_class(a_source('syntax = "proto2"; message M {}'), "M"))
    assert {"DESCRIPTOR", "Extensions", "HasField", "IsInitialized", "ListFields", "__class__"} <= set(names)
    fields = "".join(f"{label} string {name} = {number}; " for number, name in enumerate(names, 2))
    reader = a_source(f'syntax = "proto2"; message M {{ optional M m = 1; {fields} }}')
    kind: Any = message_class(reader, "M")
    row = {name: name for name in names}
    payload = kind.SerializeToString(kind(m=kind(m=kind(**row), **row), **row))
    found = decode(a_decoder(reader, limits=Limits(depth=5)), Writer(reader), payload, payload[:-1])
    assert reasons(found) == [None, Reason.DECODE_TRUNCATED]
    [first, _] = found.rows.to_pylist()
    spelt = {name: kind.DESCRIPTOR.fields_by_name[name].json_name for name in names}
    assert json.loads(first["m"].pop("m")) == {spelt[name]: name for name in names}
    assert first == {"m": row, **row}


def test_of_a_symbol_with_several_names_the_first_is_landed() -> None:
    """As Protobuf's own JSON has it."""
    reader = a_source("""
        syntax = "proto3";
        enum E { option allow_alias = true; A = 0; B = 1; C = 1; }
        message M { E e = 1; M m = 2; }
    """)
    found = decode(a_decoder(reader), Writer(reader), b"\x08\x01\x12\x06\x08\x01\x12\x02\x08\x01")
    assert found.rows.to_pylist() == [{"e": "B", "m": {"e": "B", "m": '{"e":"B"}'}}]


def test_extensions_have_columns_and_json_as_fields_have() -> None:
    """Those that the reader's files declare, under their full names."""
    reader = a_source("""
        syntax = "proto2";
        package shop;
        message Order { optional int32 id = 1; optional Order parent = 2; extensions 100 to 200; }
        extend Order { repeated Line lines = 102; optional string note = 101; }
        message Line { optional int64 n = 1; extend Order { optional int32 discount = 103; } }
    """)
    note, lines, discount = b"\xaa\x06\x01x", b"\xb2\x06\x02\x08\x07", b"\xb8\x06\x09"
    deep = note + discount + b"\xca\x0c\x01?"
    payload = b"\x08\x01" + lines + b"\x12" + bytes([len(deep) + 2]) + b"\x12" + bytes([len(deep)]) + deep
    found = decode(a_decoder(reader), Writer(reader), payload, b"\xaa\x06\x01\xff")
    assert reasons(found) == [None, Reason.BAD_UTF8]
    text = '{"[shop.note]":"x","[shop.Line.discount]":9}'
    nothing: dict[str, Any] = {
        "id": None,
        "parent": None,
        "[shop.note]": None,
        "[shop.lines]": [],
        "[shop.Line.discount]": None,
    }
    assert found.rows[0].as_py() == {
        **nothing,
        "id": 1,
        "parent": {**nothing, "parent": text},
        "[shop.lines]": [{"n": 7}],
    }


def test_many_writers_are_read_as_one_reader() -> None:
    """Seven thousand schemas of a message, each with a field of its own."""
    reader = a_source('syntax = "proto3"; message M { string id = 1; int32 n = 2; }')
    decoder = a_decoder(reader)
    numbers = []
    for number in range(7_000):
        file = pb.FileDescriptorProto(name="default", syntax="proto3")
        message = file.message_type.add(name="M")
        message.field.add(name="f", number=1, type=FIELD.TYPE_STRING, label=FIELD.LABEL_OPTIONAL)
        message.field.add(name="g", number=number + 3, type=FIELD.TYPE_INT64, label=FIELD.LABEL_OPTIONAL)
        numbers.append(decoder.add(Writer(source_of(file))))
    payloads = [b"\x0a\x01" + str(number % 10).encode() for number in range(7_000)]
    found = decoder.decode(pa.array(payloads), pa.array(numbers, pa.int32()))
    assert found.rows.field("id").to_pylist() == [str(number % 10) for number in range(7_000)]


def test_a_writer_of_another_message_is_no_writer_of_this_one() -> None:
    """A message of the same file, or of another."""
    decoder = a_decoder(ORDER, (1,))
    for writer in (Writer(ORDER), Writer(ORDER, (9,)), Writer(Source("JSON", "{}"))):
        with pytest.raises(Unreadable):
            decoder.add(writer)
    assert record_name(ORDER, (1,)) == "shop.Line"


def test_a_message_without_fields_still_has_rows() -> None:
    """A record says then that it happened."""
    found = decode(a_decoder(ORDER, (2,)), Writer(ORDER, (2,)), b"", b"")
    assert reasons(found) == [None, None]
    assert found.rows.to_pylist() == [{}, {}]


def test_types_that_multiply_are_refused_before_they_do() -> None:
    """Thirty messages of two fields, each of the next: a thousand million columns."""
    text = "".join(f"message M{n} {{ M{n + 1} a = 1; M{n + 1} b = 2; }}" for n in range(30))
    with pytest.raises(Unreadable) as caught:
        a_decoder(a_source(f'syntax = "proto3"; {text} message M30 {{ int32 x = 1; }}'))
    assert caught.value.reason is Reason.BAD_SCHEMA


def test_the_columns_are_what_a_table_can_hold(tmp_path: Any) -> None:
    """Written and read back."""
    order: Any = message_class(ORDER, "shop.Order")
    message = order(id="o", total=1)
    message.lines.add(sku="s")
    message.parent.lines.add()
    found = decode(a_decoder(ORDER), Writer(ORDER), message.SerializeToString(), b"")
    table = pa.Table.from_arrays(found.rows.flatten(), schema=pa.schema(list(found.rows.type)))
    pq.write_table(table, tmp_path / "orders.parquet")
    assert pq.read_table(tmp_path / "orders.parquet").to_pylist() == table.to_pylist()


def expected(message: Any, around: tuple[str, ...] = ()) -> Any:
    """A message as a row, field by field, by the table of the module: slow and plain."""
    name = message.DESCRIPTOR.full_name
    if around and (not message.DESCRIPTOR.fields or around.count(name) >= UNROLLED):
        return json.dumps(MessageToDict(message))
    row: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)

        def one(value: Any, field: Any = field) -> Any:
            if field.message_type:
                return expected(value, (*around, name))
            if field.enum_type:
                return SYMBOLS[value] if 0 <= value < len(SYMBOLS) else str(value)
            return Decimal(value) if field.type in (FIELD.TYPE_UINT64, FIELD.TYPE_FIXED64) else value

        if field.message_type and field.message_type.GetOptions().map_entry:
            kinds = field.message_type.fields_by_name
            row[field.name] = [(one(key, kinds["key"]), one(value[key], kinds["value"])) for key in sorted(value)]
        elif field.is_repeated:
            row[field.name] = [one(each) for each in value]
        else:
            row[field.name] = one(value) if not field.has_presence or message.HasField(field.name) else None
    return row


def alike(ours: Any, theirs: Any) -> bool:
    """JSON texts are compared by what they say."""
    if isinstance(ours, dict):
        return (
            isinstance(theirs, dict) and ours.keys() == theirs.keys() and all(alike(ours[k], theirs[k]) for k in ours)
        )
    if isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, str) and ours.startswith("{"):
        return bool(json.loads(ours) == json.loads(theirs))
    return bool(ours == theirs)


@given(SEEDS)
def test_random_evolution_of_random_types_is_read_as_googles_runtime_reads_it(seed: int) -> None:
    """Two writers, one of them of an older file, in one batch."""
    random = Random(seed)
    file = random_file(random)
    old, new = source_of(file), source_of(evolved(file, random))
    index = random.randrange(len(MESSAGES))
    name = f"p.{MESSAGES[index]}"
    reader: Any = message_class(new, name)
    decoder = a_decoder(new, (index,))
    numbers = [decoder.add(Writer(source, (index,))) for source in (old, new)]
    writers = [random.randrange(2) for _ in range(4)]
    payloads = [fill(message_class((old, new)[each], name)(), random).SerializeToString() for each in writers]
    found = decoder.decode(pa.array(payloads), pa.array([numbers[each] for each in writers], pa.int32()))
    found.rows.validate(full=True)
    for payload, row, reason in zip(payloads, found.rows.to_pylist(), reasons(found), strict=True):
        try:
            theirs = expected(reader.FromString(payload))
            json.dumps(plain(reader.FromString(payload)))
        except (DecodeError, DecodeFailed):  # a number used again for a text, or a message
            assert reason in (Reason.DECODE_INVALID, Reason.DECODE_TRUNCATED, Reason.BAD_UTF8)
        else:
            assert reason is None
            assert alike(row, theirs), (row, theirs)


def attack(random: Random) -> None:
    """A batch in which half of the payloads are damaged: a row or a reason for each."""
    source = source_of(random_file(random))
    kind: Any = message_class(source, "p.M0")
    payloads = [fill(kind(), random).SerializeToString() for _ in range(6)]
    payloads = [damaged(payload, random) if random.random() < 0.5 else payload for payload in payloads]
    found = decode(a_decoder(source, limits=Limits(depth=5)), Writer(source), *payloads)
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


def test_moments_of_the_whole_calendar_are_exact() -> None:
    """To the microsecond, from the year 1 to the year 9999."""
    stamps = [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]
    order: Any = message_class(ORDER, "shop.Order")
    payloads = []
    for stamp in stamps:
        since = stamp - datetime(1970, 1, 1, tzinfo=UTC)
        message = order()
        message.at.seconds, message.at.nanos = since // timedelta(seconds=1), since.microseconds * 1000
        payloads.append(message.SerializeToString())
    found = decode(a_decoder(ORDER), Writer(ORDER), *payloads)
    assert found.rows.field("at").to_pylist() == stamps
