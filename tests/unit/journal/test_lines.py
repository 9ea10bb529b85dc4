"""A record as a line of a file: read as it was written, or refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.journal.replay import NotARecord, TopicRecord, read_line

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(0, 2**63 - 1)


@given(TEXTS, TEXTS | st.none(), NUMBERS, NUMBERS)
def test_every_record_is_read_as_it_was_written_and_no_part_of_its_line_is_one(
    key: str, value: str | None, ts: int, offset: int
) -> None:
    """A line that is cut off is never a record with less in it: without its value it would delete something."""
    line = json.dumps({"offset": offset, "timestamp": ts, "key": key, "value": value}).encode()
    assert read_line(line) == ((offset,), TopicRecord(key, value, ts, offset))
    for end in range(len(line)):
        with pytest.raises(NotARecord):
            read_line(line[:end])


def test_what_tells_no_offset_has_the_one_of_its_place() -> None:
    line = b'{"key": "k", "value": null, "timestamp": 1}'
    assert read_line(line, 7) == ((7,), TopicRecord("k", None, 1, 7))
    with pytest.raises(NotARecord):
        read_line(line)


def test_in_a_segment_of_the_journal_the_commit_and_its_part_are_the_place() -> None:
    line = b'{"key": "k", "value": "v", "timestamp": 1, "at": 5, "nonce": "n", "part": 2}'
    assert read_line(line) == ((5, "n", 2), TopicRecord("k", "v", 1, 0))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "null",
        "[]",
        '{"key": "k", "value": "v", "timestamp": 1}',
        '{"key": null, "value": "v", "timestamp": 1, "offset": 1}',
        '{"key": "k", "value": {}, "timestamp": 1, "offset": 1}',
        '{"key": "k", "value": "v", "timestamp": 1.5, "offset": 1}',
        '{"key": "k", "value": "v", "timestamp": 1, "offset": true}',
        '{"key": "k", "value": "v", "timestamp": 1, "offset": "1"}',
        '{"key": "k", "value": "v", "timestamp": 1, "at": 5, "nonce": 6, "part": 2}',
        '{"key": "\\ud800", "value": "v", "timestamp": 1, "offset": 1}',
        "[" * 100_000,
    ],
)
def test_all_else_is_refused(line: str) -> None:
    with pytest.raises(NotARecord):
        read_line(line.encode())


KEY = '{"keytype":"SCHEMA","subject":"o","version":1,"magic":1}'
VALUE = '{"subject":"o","version":1,"id":7,"schema":"\\"string\\"","deleted":false}'
TIMED = ("CreateTime:1700000000000", "Partition:0", "Offset:5")

PRINTED = [
    ((), (None, -1)),
    (("CreateTime:1700000000000",), (None, 1700000000000)),
    (("LogAppendTime:1700000000000", "Offset:5"), (5, 1700000000000)),
    (("NO_TIMESTAMP", "Partition:0", "Offset:5"), (5, -1)),
    (TIMED, (5, 1700000000000)),
    ((*TIMED, "Delivery:NONE", "NO_HEADERS"), (5, 1700000000000)),
    ((*TIMED, "Offset:99,CreateTime:1"), (5, 1700000000000)),
    ((*TIMED, "Offset:99"), (5, 1700000000000)),
]
"""Columns of the console consumer, with the offset and the time that they tell. The last ones have headers."""


@pytest.mark.parametrize("payload", [VALUE, None])
def test_a_line_of_kcat_is_a_record_as_it_comes(payload: str | None) -> None:
    """`kcat -J` is how most people look into a topic: its file is imported without a script in between."""
    form = {"topic": "_schemas", "partition": 0, "offset": 5, "tstype": "create", "ts": 9, "broker": 1}
    line = json.dumps({**form, "headers": ["a", "b"], "key": KEY, "payload": payload}).encode()
    assert read_line(line) == ((5,), TopicRecord(KEY, payload, 9, 5))
    for end in range(len(line)):
        with pytest.raises(NotARecord):
            read_line(line[:end])
    timeless = {**form, "key": KEY, "payload": payload}
    del timeless["ts"], timeless["tstype"]
    assert read_line(json.dumps(timeless).encode()) == ((5,), TopicRecord(KEY, payload, -1, 5))


@pytest.mark.parametrize("columns, told", PRINTED)
@pytest.mark.parametrize("value", [VALUE, None])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_line_of_the_console_consumer_is_a_record_as_it_comes(
    columns: tuple[str, ...], told: tuple[int | None, int], value: str | None, end: str
) -> None:
    """Kafka's own tool is on every broker; a null is how it prints a tombstone."""
    line = "\t".join((*columns, KEY, value or "null"))
    (offset, ts) = told
    place = 3 if offset is None else offset
    assert read_line(f"{line}{end}".encode(), 3) == ((place,), TopicRecord(KEY, value, ts, place))
    if not end:
        for cut in range(len(line)):
            with pytest.raises(NotARecord):
                read_line(line[:cut].encode(), 3)


@pytest.mark.parametrize(
    "line", [VALUE, f"{KEY}|{VALUE}", f"{KEY}\t1", f"1\t{VALUE}", f"{KEY}\t\n", f"{KEY}\t{VALUE}\t", "a\tb", "\t"]
)
def test_a_line_without_a_key_of_its_own_is_no_record(line: str) -> None:
    """The console consumer prints no keys unless it is told to, and any separator that it is told to."""
    with pytest.raises(NotARecord):
        read_line(line.encode(), 3)
