"""Payloads of Protobuf: what Google's runtime reads, and what is wrong with those that it does not."""

import math
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from google.protobuf import descriptor_pb2 as pb
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.decoder import DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.protobuf import decoder, message_class, path_to, record_name
from sigla.decoding.protobuf_plain import plain
from sigla.decoding.protobuf_walk import diagnosis
from sigla.decoding.reasons import Reason
from tests.unit.decoding.protobuf_types import MESSAGES, damaged, evolved, fill, random_file, source, source_of

ORDER = source("""
    syntax = "proto3";
    package shop;
    message Order {
      string id = 1;
      int32 count = 2;
      repeated int32 sizes = 3;
      Order next = 4;
      repeated fixed32 codes = 5;
      map<string, int32> stock = 6;
      message Line { string sku = 1; }
      Line line = 7;
      message Note { string text = 1; }
    }
    message Customer { string name = 1; }
""")
LEGACY = source("""
    syntax = "proto2";
    message Legacy {
      required string id = 1;
      optional int32 count = 2 [default = 7];
      optional group Extra = 3 { optional int32 x = 1; }
      enum Level { LOW = 0; HIGH = 1; }
      optional Level level = 4;
    }
""")

SEEDS = st.integers(0, 2**32)


def varint(number: int) -> bytes:
    small = b""
    while number > 127:
        small, number = small + bytes([number & 127 | 128]), number >> 7
    return small + bytes([number])


def nested(depth: int) -> bytes:
    """An Order within an Order, so many times."""
    inner = b""
    for _ in range(depth):
        inner = b"\x22" + varint(len(inner)) + inner
    return inner


def failure(source: Source, payload: bytes, **kwargs: Any) -> DecodeFailed:
    with pytest.raises(DecodeFailed) as caught:
        decoder(source, **kwargs)(payload)
    return caught.value


def test_a_payload_is_what_its_bytes_say() -> None:
    """Fields by number; what was not written has its default, or is not there if it knows presence."""
    assert decoder(ORDER)(b"\x0a\x02ab\x1a\x03\x01\x02\x03\x3a\x03\x0a\x01s") == {
        "id": "ab",
        "count": 0,
        "sizes": [1, 2, 3],
        "codes": [],
        "stock": {},
        "line": {"sku": "s"},
    }


def test_an_empty_payload_is_a_message_of_defaults() -> None:
    """Zeros are not written."""
    assert decoder(ORDER, indexes=(1,))(b"") == {"name": ""}


@pytest.mark.parametrize(
    "path, name",
    [
        ((), "shop.Order"),
        ((0,), "shop.Order"),
        ((1,), "shop.Customer"),
        ((0, 0), "shop.Order.Line"),
        ((0, 1), "shop.Order.Note"),  # the entries of the map between them in the text count as no message
    ],
)
def test_a_path_leads_to_a_message_and_back(path: tuple[int, ...], name: str) -> None:
    """Also within messages; record strategies name subjects so."""
    assert record_name(ORDER, path) == name
    assert path_to(ORDER, name) == (path or (0,))


@pytest.mark.parametrize("path", [(2,), (0, 2), (0, 0, 0), (-1,)])
def test_a_path_to_nothing_is_a_reason(path: tuple[int, ...]) -> None:
    """It concerns all records that name it, not one."""
    with pytest.raises(Unreadable) as caught:
        decoder(ORDER, indexes=path)
    assert caught.value.reason is Reason.BAD_MSG_INDEX


@pytest.mark.parametrize(
    "payload, reason, at",
    [
        (b"\x0a\x05ab", Reason.DECODE_TRUNCATED, 4),
        (b"\x10", Reason.DECODE_TRUNCATED, 1),
        (b"\x10\x80", Reason.DECODE_TRUNCATED, 2),
        (b"\x2a\x04\x00", Reason.DECODE_TRUNCATED, 3),
        (b"\x0a", Reason.DECODE_TRUNCATED, 1),
        (b"\x07", Reason.DECODE_INVALID, 0),  # wire type 7
        (b"\x00\x00", Reason.DECODE_INVALID, 0),  # field 0
        (b"\x0c", Reason.DECODE_INVALID, 0),  # the end of a group that did not begin
        (b"\x0b", Reason.DECODE_TRUNCATED, 1),  # a group that does not end
        (b"\x10" + b"\xff" * 11, Reason.DECODE_INVALID, 1),
        (b"\x0a" + b"\xff" * 9 + b"\x01", Reason.DECODE_INVALID, 1),  # a length of 2⁶⁴ − 1
        (b"\x22\x03\x0a\x05ab" + bytes(9), Reason.DECODE_INVALID, 3),  # beyond the message around it
        (b"\x2a\x03\x00\x00\x00\x10\x01", Reason.DECODE_INVALID, 2),  # packed, and no multiple of four
        (b"\x0a\x03a\xffb", Reason.BAD_UTF8, 3),
        (b"\x22\x05\x0a\x03\xe2\x82\x28", Reason.BAD_UTF8, 4),
        (nested(65), Reason.DEPTH, None),
        (nested(120), Reason.DEPTH, None),
    ],
)
def test_damage_has_a_reason_and_a_byte(payload: bytes, reason: Reason, at: int | None) -> None:
    """Cut off is not the same as wrong."""
    failed = failure(ORDER, payload)
    assert failed.reason is reason, failed
    assert at is None or failed.at == at, failed


def test_nesting_within_the_limit_is_read() -> None:
    """And a long payload that is not deep."""
    assert decoder(ORDER)(nested(64))
    assert decoder(ORDER)(b"\x22\x00" * 200)


def test_a_text_of_proto2_is_a_text_too() -> None:
    """The runtime lets bytes pass there; a column of texts does not."""
    failed = failure(LEGACY, b"\x0a\x01\xff")
    assert (failed.reason, failed.at) == (Reason.BAD_UTF8, 2)


@pytest.mark.parametrize("nodes", [1, 200])
def test_a_key_of_proto2_is_a_text_too(nodes: int) -> None:
    """Also where the payload is long enough to be asked how deep it goes."""
    tree = source('syntax = "proto2"; message Tree { map<string, Tree> below = 1; }')
    failed = failure(tree, b"\x0a\x05\x0a\x01a\x12\x00" * nodes + b"\x0a\x05\x0a\x01\xff\x12\x00")
    assert (failed.reason, failed.at) == (Reason.BAD_UTF8, nodes * 7 + 4)


def test_a_payload_beyond_the_limit_is_not_parsed() -> None:
    """Whatever it holds."""
    assert failure(ORDER, bytes(11), limits=Limits(max_bytes=10)).reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    "payload, values",
    [
        (b"\x1a\x03\x01\x02\x03", 7 + 1 + 3),  # packed numbers
        (b"\x1a\x04\x81\x00\x82\x00", 7 + 1 + 2),  # of two bytes each
        (b"\x2a\x08\x00\x00\x00\x00\x00\x00\x00\x00", 7 + 1 + 2),
        (b"\x22\x00", 7 + 7),  # a message has all its fields
        (b"\x32\x05\x0a\x01a\x10\x01", 7 + 1 + 2),
    ],
)
def test_a_record_has_so_many_values_and_no_more(payload: bytes, values: int) -> None:
    """Counted on the wire: the runtime makes room for all fields of a message that two bytes say."""
    assert decoder(ORDER, limits=Limits(values=values))(payload)
    failed = failure(ORDER, payload, limits=Limits(values=values - 1))
    assert failed.reason is Reason.TOO_LARGE


def test_what_is_required_must_be_there() -> None:
    """By the writer's own schema it is damage; by another reader's the two do not fit."""
    assert failure(LEGACY, b"").reason is Reason.DECODE_INVALID
    loose = source('syntax = "proto2"; message Legacy { optional string id = 1; }')
    with pytest.raises(DecodeFailed) as caught:
        decoder(loose, LEGACY)(b"")
    assert caught.value.reason is Reason.INCOMPATIBLE_READER
    assert "id" in caught.value.detail


def test_what_is_required_is_named_wherever_it_is_missing() -> None:
    """Google's runtime names it, too, but where it is in a map's value: there it ends the process."""
    inner = "message Inner { required int32 must = 1; } map<string, Inner> mapped = 1; repeated Inner listed = 2;"
    others = "optional Inner one = 3; map<int32, string> plain = 4; required int32 own = 5;"
    whole = source(f'syntax = "proto2"; message Outer {{ {inner} {others} }}')
    payload = b"\x0a\x05\x0a\x01k\x12\x00" + b"\x12\x02\x08\x01" + b"\x12\x00" + b"\x1a\x00" + b"\x22\x02\x08\x01"
    named = 'own, mapped["k"].must, listed[1].must, one.must'
    assert failure(whole, payload).detail == f"without {named}, which is required"
    only = payload.removeprefix(b"\x0a\x05\x0a\x01k\x12\x00")
    outer: Any = message_class(whole, "Outer")
    theirs = outer.FindInitializationErrors(outer.FromString(only))
    assert failure(whole, only).detail == f"without {', '.join(theirs)}, which is required"
    assert failure(whole, b"\x12\x00" * 100).detail.endswith("listed[3].must and more, which is required")


def test_defaults_groups_and_closed_enums_of_proto2() -> None:
    """An enum's number that its schema has no name for was not written, as far as proto2 is concerned."""
    read = decoder(LEGACY)
    assert read(b"\x0a\x01i\x1b\x08\x05\x1c\x20\x01") == {"id": "i", "extra": {"x": 5}, "level": "HIGH"}
    assert read(b"\x0a\x01i\x20\x09") == {"id": "i"}
    legacy: Any = message_class(LEGACY, "Legacy")
    assert legacy().count == 7


def test_an_edition_decides_as_the_file_says() -> None:
    """Registered as descriptors; the runtime knows what an edition means."""
    file = pb.FileDescriptorProto(name="default", syntax="editions", edition=pb.EDITION_2023)
    message = file.message_type.add(name="M")
    message.field.add(name="here", number=1, type=pb.FieldDescriptorProto.TYPE_INT32, label="LABEL_OPTIONAL")
    plain_field = message.field.add(name="zero", number=2, type=pb.FieldDescriptorProto.TYPE_INT32, label=1)
    plain_field.options.features.field_presence = pb.FeatureSet.IMPLICIT
    assert decoder(source_of(file))(b"") == {"zero": 0}


def test_the_reader_drops_what_it_does_not_know_and_has_defaults_for_what_was_not_written() -> None:
    """By number: a field that was renamed is the same field."""
    old = source('syntax = "proto3"; message M { string name = 1; int32 gone = 2; }')
    new = source('syntax = "proto3"; message X {} message M { string title = 1; int64 fresh = 3; }')
    assert decoder(old, new)(b"\x0a\x01a\x10\x05") == {"title": "a", "fresh": 0}


@pytest.mark.parametrize(
    "writer, reader, reason",
    [
        (ORDER, LEGACY, Reason.MESSAGE_GONE),
        (ORDER, Source("AVRO", '"string"'), Reason.TYPE_MISMATCH),
        (Source("JSON", "{}"), ORDER, Reason.TYPE_MISMATCH),
        (Source("PROTOBUF", ""), None, Reason.BAD_SCHEMA),
        (Source("PROTOBUF", "", (), b"\xff"), None, Reason.BAD_SCHEMA),
        (
            Source("PROTOBUF", "", (), pb.FileDescriptorSet().SerializeToString() or b"\x12\x00"),
            None,
            Reason.BAD_SCHEMA,
        ),
        (source('syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }'), None, Reason.BAD_SCHEMA),
    ],
)
def test_a_pair_that_no_record_can_be_read_with_says_so(writer: Source, reader: Source | None, reason: Reason) -> None:
    """Before a record is looked at."""
    with pytest.raises(Unreadable) as caught:
        decoder(writer, reader)
    assert caught.value.reason is reason


def test_well_known_messages_are_told_as_json_tells_them() -> None:
    """With what JSON has no word for told field by field."""
    every = source("""
        syntax = "proto3";
        import "google/protobuf/any.proto"; import "google/protobuf/duration.proto";
        import "google/protobuf/field_mask.proto"; import "google/protobuf/struct.proto";
        import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
        message M {
          google.protobuf.Any any = 1; google.protobuf.Duration duration = 2; google.protobuf.FieldMask mask = 3;
          google.protobuf.Struct struct = 4; google.protobuf.Timestamp at = 5; google.protobuf.Int64Value wrapped = 6;
          bytes raw = 7; repeated double numbers = 8; map<bool, string> map = 9;
        }
    """)
    message: Any = message_class(every, "M")()
    message.any.Pack(message_class(every, "google.protobuf.Duration")(seconds=1))
    message.duration.nanos = -500_000_000
    message.mask.paths.extend(["a", "b.c"])
    message.struct.update({"a": [1, None, {"b": True}]})
    message.at.seconds, message.at.nanos = -62_135_596_800, 1_000
    message.wrapped.value = 2**62
    message.raw = b"\xff"
    message.numbers.extend([math.nan, math.inf, -math.inf])
    message.map[True] = "yes"
    read = decoder(every)
    assert read(message.SerializeToString()) == {
        "any": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"},
        "duration": "-0.500s",
        "mask": "a,b.c",
        "struct": {"a": [1.0, None, {"b": True}]},
        "at": "0001-01-01T00:00:00.000001Z",
        "wrapped": 2**62,
        "raw": "/w==",
        "numbers": ["NaN", "Infinity", "-Infinity"],
        "map": {"true": "yes"},
    }
    message.any.type_url, message.at.nanos = "nowhere/unknown.M", -1
    message.duration.seconds = 1
    odd = read(message.SerializeToString())
    assert odd["any"] == {"@type": "nowhere/unknown.M", "value": "CAE="}
    assert odd["at"] == {"seconds": -62_135_596_800, "nanos": -1}
    assert odd["duration"] == {"seconds": 1, "nanos": -500_000_000}
    message.any.type_url, message.any.value = "type.googleapis.com/google.protobuf.Struct", b"\n\x04\xff"
    assert read(message.SerializeToString())["any"] == {"@type": message.any.type_url, "value": "CgT/"}, (
        "not of its type"
    )


def test_a_schema_may_have_a_message_of_googles_name() -> None:
    """With other fields it is a message like all."""
    own = source('syntax = "proto3"; package google.protobuf; message Timestamp { string when = 1; }')
    assert decoder(own)(b"\x0a\x03now") == {"when": "now"}


def test_what_any_unfolds_to_is_bounded() -> None:
    """A message in an Any in an Any …: bytes within bytes, which no parser counts."""
    text = 'syntax = "proto3"; import "google/protobuf/any.proto"; message M { google.protobuf.Any any = 1; }'
    every = source(text)
    kind: Any = message_class(every, "M")
    message = kind()
    for _ in range(120):
        message, inner = kind(), message
        message.any.Pack(inner)
    assert failure(every, message.SerializeToString()).reason is Reason.DEPTH


def told_alike(ours: Any, theirs: Any) -> bool:
    """Numbers of 64 bits are texts in Google's JSON, unknown enums are numbers, and floats are shortened."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(told_alike(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(told_alike, ours, theirs))
    if isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-6)
    return bool(ours == theirs or str(ours) == str(theirs))


@given(SEEDS)
def test_every_message_is_told_as_googles_own_json_does(seed: int) -> None:
    """Random types, random messages."""
    random = Random(seed)
    every = source_of(random_file(random))
    name = f"p.{random.choice(MESSAGES)}"
    message = fill(message_class(every, name)(), random)
    theirs = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    assert told_alike(plain(message), theirs)


@given(SEEDS)
def test_random_evolution_is_read_as_googles_runtime_reads_it(seed: int) -> None:
    """Fields come and go, and numbers are used again for something else."""
    random = Random(seed)
    file = random_file(random)
    old, new = source_of(file), source_of(evolved(file, random))
    index = random.randrange(len(MESSAGES))
    payload = fill(message_class(old, f"p.{MESSAGES[index]}")(), random).SerializeToString()
    theirs: Any = message_class(new, f"p.{MESSAGES[index]}")
    read = decoder(old, new, indexes=(index,))
    try:
        expected = plain(theirs.FromString(payload))
    except (DecodeError, DecodeFailed):  # a number used again for a text, or a message
        with pytest.raises(DecodeFailed):
            read(payload)
    else:
        assert read(payload) == expected


def attack(random: Random) -> None:
    """Decoding ends with a value or a reason; where the runtime refuses, the walk knows why, and only there."""
    every = source_of(random_file(random))
    kind: Any = message_class(every, "p.M0")
    payload = fill(kind(), random).SerializeToString()
    for _ in range(random.randrange(1, 4)):
        payload = damaged(payload, random)
    fault = diagnosis(payload, kind.DESCRIPTOR, Limits(depth=100))
    try:
        kind.FromString(payload)
    except DecodeError:
        assert fault, payload.hex()
        with pytest.raises(DecodeFailed):
            decoder(every)(payload)
    else:
        # Invalid texts of proto2; and field 0, which the runtime lets pass in messages that have no fields.
        allowed = fault is None or fault.reason is Reason.BAD_UTF8 or fault.detail == "no field has such a number"
        assert allowed, payload.hex()
        with suppress(DecodeFailed):
            decoder(every)(payload)


@given(SEEDS)
def test_damaged_payloads_have_a_reason_wherever_they_are_refused(seed: int) -> None:
    """Cut off, bits turned, huge lengths, noise."""
    attack(Random(seed))


@pytest.mark.soak
@given(SEEDS)
def test_damaged_payloads_for_a_long_time(seed: int) -> None:
    """The same, and for longer."""
    attack(Random(seed))
