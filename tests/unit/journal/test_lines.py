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
