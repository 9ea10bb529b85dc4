"""Frames as Confluent's serializers write them, and damage of every kind."""

from uuid import UUID

import pytest
from confluent_kafka.schema_registry.serde import SchemaId
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.frames import BAD_MSG_INDEX, KEY_HEADER, VALUE_HEADER, Frame, Tombstone, Unframed, frame
from sigla.decoding.reasons import Reason

GUID = UUID("b5f5c8a2-31d4-5e0f-9a11-0123456789ab")
MARK = b"\x01" + GUID.bytes


def test_an_id_stands_in_front_of_its_payload() -> None:
    """Magic 0, four bytes big-endian, and all the rest is the payload."""
    assert frame(b"\x00\x00\x00\x01\x02payload") == Frame(258, (), b"payload")


def test_a_payload_may_be_empty() -> None:
    """A record of no fields has no bytes."""
    assert frame(b"\x00\x00\x00\x00\x01") == Frame(1, (), b"")


def test_a_guid_in_the_header_leaves_the_payload_bare() -> None:
    """Also a payload that looks framed is then data."""
    assert frame(b"\x00\x00\x00\x00\x01", [(VALUE_HEADER, MARK)]) == Frame(GUID, (), b"\x00\x00\x00\x00\x01")


def test_key_and_value_have_a_header_each() -> None:
    """A key is not framed by the value's header."""
    headers = [(VALUE_HEADER, MARK)]
    assert frame(b"\x00\x00\x00\x00\x07k", headers, header=KEY_HEADER) == Frame(7, (), b"k")
    assert frame(b"k", [*headers, (KEY_HEADER, MARK)], header=KEY_HEADER) == Frame(GUID, (), b"k")


def test_of_two_headers_the_last_one_counts() -> None:
    """A relay that adds its own header means its own."""
    other = UUID(int=1)
    assert frame(b"v", [(VALUE_HEADER, MARK), (VALUE_HEADER, b"\x01" + other.bytes)]) == Frame(other, (), b"v")


def test_a_null_header_says_nothing() -> None:
    """Kafka allows null headers; the payload then speaks for itself."""
    assert frame(b"\x00\x00\x00\x00\x01v", [(VALUE_HEADER, None)]) == Frame(1, (), b"v")


def test_either_mark_is_read_in_either_place() -> None:
    """Confluent's readers do so; its writers have not had reason to."""
    assert frame(MARK + b"v") == Frame(GUID, (), b"v")
    assert frame(b"v", [(VALUE_HEADER, b"\x00\x00\x00\x00\x09")]) == Frame(9, (), b"v")


def test_a_null_is_a_tombstone() -> None:
    """Whatever its headers say."""
    assert frame(None) == Tombstone()
    assert frame(None, [(VALUE_HEADER, MARK)]) == Tombstone()


@pytest.mark.parametrize(
    "part, headers, reason",
    [
        (b"", [], Reason.EMPTY),
        (b"v", [(VALUE_HEADER, b"")], Reason.EMPTY),
        (b'{"json": 1}', [], Reason.BAD_MAGIC),
        (b"\x02\x00\x00\x00\x01", [], Reason.BAD_MAGIC),
        (b"\x00\x00\x00\x01", [], Reason.SHORT_FRAME),
        (b"v", [(VALUE_HEADER, MARK[:-1])], Reason.SHORT_FRAME),
    ],
)
def test_damage_has_a_reason(part: bytes, headers: list[tuple[str, bytes | None]], reason: Reason) -> None:
    """The quarantine tells a producer what it did."""
    found = frame(part, headers)
    assert isinstance(found, Unframed)
    assert found.reason is reason


def test_one_zero_byte_is_the_first_message() -> None:
    """The commonest path is one byte instead of two."""
    assert frame(b"\x00\x00\x00\x00\x01\x00v", indexed=True) == Frame(1, (0,), b"v")


def test_indexes_stand_where_the_mark_stands() -> None:
    """In the header, if that is where the mark is."""
    assert frame(b"v", [(VALUE_HEADER, MARK + b"\x04\x02\x00")], indexed=True) == Frame(GUID, (1, 0), b"v")


@pytest.mark.parametrize(
    "indexes",
    [
        b"",  # nothing
        b"\x80",  # a number that does not end
        b"\xff\xff\xff\xff\xff\x01",  # longer than 32 bits
        b"\x01",  # -1 steps
        b"\x06\x00",  # three steps, one there
        b"\xfe\xff\xff\xff\x0f",  # two billion steps, none there
        b"\x02\x01",  # step -1
    ],
)
def test_indexes_that_make_no_sense_are_damage(indexes: bytes) -> None:
    """And cost nothing to refuse: a count is compared with what is left before it is believed."""
    assert frame(b"\x00\x00\x00\x00\x01" + indexes, indexed=True) == BAD_MSG_INDEX


@given(
    schema=st.integers(1, 2**31 - 1),
    indexes=st.none() | st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=8),
    payload=st.binary(max_size=40),
)
def test_what_confluents_client_writes_is_read_back(schema: int, indexes: list[int] | None, payload: bytes) -> None:
    """Its own serializer, ids in front and GUIDs in the header, with indexes and without."""
    kind = "AVRO" if indexes is None else "PROTOBUF"
    by_id = SchemaId(kind, schema_id=schema, message_indexes=indexes).id_to_bytes()
    by_guid = SchemaId(kind, guid=str(GUID), message_indexes=indexes).guid_to_bytes()
    path = tuple(indexes or ())
    assert frame(by_id + payload, indexed=indexes is not None) == Frame(schema, path, payload)
    assert frame(payload, [(VALUE_HEADER, by_guid)], indexed=indexes is not None) == Frame(GUID, path, payload)


@given(part=st.binary(max_size=40), header=st.none() | st.binary(max_size=40), indexed=st.booleans())
def test_no_bytes_stop_a_job(part: bytes, header: bytes | None, *, indexed: bool) -> None:
    """Whatever a topic holds has an outcome."""
    outcome = frame(part, [(VALUE_HEADER, header)], indexed=indexed)
    assert isinstance(outcome, Frame | Unframed)
