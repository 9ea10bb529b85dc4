"""A batch is framed as each of its records is by itself: `sigla.decoding.frames` is the truth."""

from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.decoding.frames import KEY_HEADER, VALUE_HEADER, Frame, Tombstone, frame
from sigla.decoding.reasons import FINE, NUMBERS, Reason
from sigla_pipelines.land.framing import NONE, TOMBSTONE, Framed, read_frames, with_indexes
from sigla_pipelines.land.raw import RAW

GUIDS = [UUID(int=number) for number in (0, 7, 2**128 - 1)]
MARKS = [b"\x00\x00\x00\x00\x2a", b"\x00\xff\xff\xff\xff", *(b"\x01" + guid.bytes for guid in GUIDS)]
PATHS = [b"\x00", b"\x02\x00", b"\x02\x06", b"\x02\x80\x01", b"\x04\x02\x02", b"\x02\x01", b"\xff" * 9, b"\x02", b""]

Header = tuple[str, bytes | None]
Record = tuple[bytes | None, bytes | None, list[Header] | None]
"""Key, value, headers."""

marks = st.sampled_from(MARKS) | st.binary(max_size=20)
parts = st.none() | st.binary(max_size=24) | st.builds(b"".join, st.tuples(marks, st.sampled_from(PATHS), st.binary()))
headers = st.lists(
    st.tuples(
        st.sampled_from([VALUE_HEADER, KEY_HEADER, "traceparent"]),
        st.none() | st.builds(bytes.__add__, marks, st.sampled_from(PATHS)),
    ),
    max_size=4,
)
records = st.tuples(parts, parts, st.none() | headers)


def batch_of(records: list[Record], *, large: bool = False) -> pa.RecordBatch:
    """As sources give them; large: as Spark does with `useLargeVarTypes`."""
    kind = pa.large_binary() if large else pa.binary()
    said = [[{"key": key, "value": value} for key, value in said] if said is not None else None for *_, said in records]
    rows: dict[str, Any] = {
        "key": pa.array([key for key, _, _ in records], kind),
        "value": pa.array([value for _, value, _ in records], kind),
        "headers": pa.array(said, RAW[6].type),
    }
    return pa.RecordBatch.from_pydict(rows)


def row(framed: Framed, at: int) -> object:
    """A row as `frame` would say it; Reason where it says Unframed."""
    status = int(framed.status[at])
    if status == TOMBSTONE:
        return Tombstone()
    if status != FINE:
        return next(reason for reason, number in NUMBERS.items() if number == status)
    assert (framed.ids[at] == NONE) != (framed.guid[at] == NONE), "a row names one schema"
    schema = framed.guids[framed.guid[at]] if framed.ids[at] == NONE else int(framed.ids[at])
    path = () if framed.path[at] == NONE else framed.paths[framed.path[at]]
    return Frame(schema, path, framed.payloads[at].as_py())


def told(part: bytes | None, said: list[Header] | None, header: str, *, indexed: bool) -> object:
    read = frame(part, said or (), header=header, indexed=indexed)
    return getattr(read, "reason", read)


def assert_as_each_alone(framed: Framed, records: list[Record], part: str, protobuf: list[bool]) -> None:
    for at, (key, value, said) in enumerate(records):
        own, header = (value, VALUE_HEADER) if part == "value" else (key, KEY_HEADER)
        assert row(framed, at) == told(own, said, header, indexed=protobuf[at]), f"row {at}"


@given(st.data(), st.lists(records, max_size=12), st.sampled_from(["key", "value"]), st.booleans())
def test_a_batch_is_framed_as_each_of_its_records(
    data: st.DataObject, rows: list[Record], part: str, large: bool
) -> None:
    """Nulls, empty batches, slices of larger ones, either width of offsets, either place of the mark."""
    first = data.draw(st.integers(0, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    protobuf = data.draw(st.lists(st.booleans(), min_size=last - first, max_size=last - first))
    framed = read_frames(batch_of(rows, large=large).slice(first, last - first), part)
    assert_as_each_alone(framed, rows[first:last], part, [False] * (last - first))
    framed = with_indexes(framed, np.array(protobuf, np.bool_))
    assert_as_each_alone(framed, rows[first:last], part, protobuf)


def test_ids_in_front_of_every_value_are_read() -> None:
    """The usual batch: nothing else happens, and the payloads are what stands behind the ids."""
    framed = read_frames(batch_of([(None, b"\x00\x00\x00\x01\x02pay", None), (None, b"\x00\x00\x00\x00\x03load", [])]))
    assert framed.ids.tolist() == [258, 3]
    assert framed.status.tolist() == [FINE, FINE]
    assert framed.payloads.to_pylist() == [b"pay", b"load"]


@pytest.mark.parametrize(
    "value, reason",
    [
        (b"", Reason.EMPTY),
        (b"\x02\x00\x00\x00\x01", Reason.BAD_MAGIC),
        (b"\x00\x00\x00\x01", Reason.SHORT_FRAME),
        (b"\x01" + bytes(15), Reason.SHORT_FRAME),
        (b"\x00\x00\x00\x00\x01" + b"\xff" * 9, Reason.BAD_MSG_INDEX),
        (b"\x00\x00\x00\x00\x01\x80\x80\x80\x80\x08", Reason.BAD_MSG_INDEX),
        (b"\x00\x00\x00\x00\x01\x02", Reason.BAD_MSG_INDEX),
        (b"\x00\x00\x00\x00\x01\x02\x01", Reason.BAD_MSG_INDEX),
    ],
)
def test_damage_has_its_reason_and_harms_no_neighbour(value: bytes, reason: Reason) -> None:
    """Also an index of nine bytes, and a count of 2³⁰ steps in a payload of none."""
    fine = b"\x00\x00\x00\x00\x01\x00fine"
    framed = read_frames(batch_of([(None, fine, None), (None, value, None), (None, None, None), (None, fine, None)]))
    framed = with_indexes(framed, np.ones(4, np.bool_))
    assert framed.status.tolist() == [FINE, NUMBERS[reason], TOMBSTONE, FINE]
    assert [framed.payloads[at].as_py() for at in (0, 3)] == [b"fine", b"fine"]


def test_seven_thousand_schemas_in_one_batch_are_as_quick_as_one() -> None:
    """By id and by GUID: what is read once is each distinct mark, in one pass over the rows."""
    guids = [b"\x01" + UUID(int=number).bytes for number in range(7_000)]
    framed = read_frames(batch_of([(None, b"v", [(VALUE_HEADER, guid)]) for guid in guids]))
    assert [framed.guids[place].int for place in framed.guid] == list(range(7_000))
    assert set(framed.payloads.to_pylist()) == {b"v"}
