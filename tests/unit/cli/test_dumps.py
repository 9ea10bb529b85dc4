"""Dumps, as they are read: from pipes, and from several files."""

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sigla.cli import dumps
from sigla.cli.misuse import Misuse
from tests.unit.cli.written import line, written
from tests.unit.journal.topic import OTHER, schema, topic
from tests.unit.registry.lives import A_LIFE

RECORDS = topic(*A_LIFE)
TEXT = b"".join(map(line, RECORDS))

IMPORTING = [sys.executable, "-c", "import sys; from sigla.cli import main; sys.exit(main())", "import", "-", "--data"]


@contextmanager
def piped(text: bytes) -> Iterator[Path]:
    """As a shell's `<(…)` names it."""
    reader, writer = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(writer, "wb") as out:
            out.write(text)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        yield Path(f"/dev/fd/{reader}")
    finally:
        os.close(reader)
        writing.join()


@pytest.mark.parametrize("text", [TEXT, gzip.compress(TEXT)], ids=["plain", "packed"])
def test_a_dump_may_come_through_a_pipe(text: bytes) -> None:
    """What is read of it to see whether it is packed is not lost."""
    with piped(text) as pipe:
        assert dumps.read(pipe) == RECORDS


def test_a_dump_longer_than_a_buffer_may_come_through_a_pipe() -> None:
    records = topic(*(schema(f"s{number}", 1, number) for number in range(1, 2_000)))
    with piped(b"".join(map(line, records))) as pipe:
        assert dumps.read(pipe) == records


@pytest.mark.process
def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    """It is named so where it does not hold a dump."""
    command = [*IMPORTING, str(tmp_path / "data")]
    done = subprocess.run(command, input=gzip.compress(TEXT), capture_output=True, check=True)
    assert done.stdout.startswith(b"imported:    9 versions")
    refused = subprocess.run(command, input=b"{}", capture_output=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"sigla: Line 1 of standard input is not a record")


def test_two_records_in_one_place_are_refused(tmp_path: Path) -> None:
    """Neither vanishes without a word; a line that comes twice is one."""
    one, other = topic(schema("o", 1, 1)), topic(schema("o", 1, 2, OTHER))
    written(tmp_path / "a.jsonl", one)
    written(tmp_path / "b.jsonl.gz", one)
    assert dumps.read(tmp_path) == one
    written(tmp_path / "b.jsonl.gz", other)
    with pytest.raises(Misuse, match=r"line 1 of .*a.jsonl and line 1 of .*b.jsonl.gz\. .* one after the other"):
        dumps.read(tmp_path)
    with pytest.raises(Misuse, match=r"the same offset: line 1 of .* and line 2 of"):
        dumps.read(Path(written(tmp_path / "b.jsonl.gz", [*one, one[0]._replace(ts=7)])))


def test_lines_without_an_offset_have_their_order_from_one_file(tmp_path: Path) -> None:
    """Among several files the first one is unknown."""
    records = topic(schema("o", 1, 1), schema("o", 2, 2, OTHER))
    for name, record in zip(("a.jsonl", "b.jsonl"), records, strict=True):
        form = json.loads(line(record))
        del form["offset"]
        (tmp_path / name).write_text(f"{json.dumps(form)}\n")
    assert dumps.read(tmp_path / "a.jsonl") == records[:1]
    with pytest.raises(Misuse, match=r"Line 1 of .*a.jsonl is not a record: .* every line needs its offset"):
        dumps.read(tmp_path)


def test_a_commit_that_a_journal_tells_twice_is_one(tmp_path: Path) -> None:
    """It bears its nonce; a later release may have told it in other words, after a table was restored."""
    told = {"key": "{}", "value": "{}", "timestamp": 1, "at": 1, "nonce": "n", "part": 0}
    (tmp_path / "a.jsonl").write_text(json.dumps(told))
    (tmp_path / "b.jsonl").write_text(json.dumps(told | {"value": '{"a": 1}'}))
    assert [record.value for record in dumps.read(tmp_path)] == ["{}"]


def test_empty_lines_are_none_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n" + TEXT + b" \n\n")
    assert dumps.read(tmp_path / "a.jsonl") == RECORDS
    with pytest.raises(Misuse, match=r"b.jsonl cannot be read \(No such file or directory\)"):
        dumps.read(tmp_path / "b.jsonl")
