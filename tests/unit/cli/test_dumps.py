"""Dumps, as they are read: from pipes, and from several files."""

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sigla.cli import dumps
from tests.unit.cli.written import line
from tests.unit.journal.topic import schema, topic
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


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    """Named so where it is no dump."""
    command = [*IMPORTING, str(tmp_path / "data")]
    done = subprocess.run(command, input=gzip.compress(TEXT), capture_output=True, check=True)
    assert done.stdout.startswith(b"imported:    9 versions")
    refused = subprocess.run(command, input=b"{}", capture_output=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"sigla: Line 1 of standard input is no record")
