"""Who reads what a command tells may go away, have no room, or lose patience: no trace of its insides, whatever comes.

Each in a process of its own, since the last flush is the interpreter's.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sigla.cli import main
from tests.cli.explaining import Captured, framed, stored
from tests.unit.journal.topic import schema, topic

# Ctrl-C is not heard by what a shell has put into the background, nor by what that starts.
COMMAND = """\
import signal, sys
from sigla.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())"""
FULL = Path("/dev/full")
"""A disk without room, as Linux has one."""
TELLING = ("export", "import dump.jsonl --data copy", f"explain {framed(2)}")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a registry and a dump of nothing."""
    stored(tmp_path / "data")
    tmp_path.joinpath("dump.jsonl").touch()
    return tmp_path


def begun(data: Path, command: str, out: int) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-c", COMMAND, *command.split()]
    return subprocess.Popen(arguments, cwd=data, stdout=out, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("command", TELLING)
def test_a_command_that_nobody_reads_any_more_ends_in_silence(command: str, data: Path) -> None:
    """As `sigla export | head -1` should."""
    reader, writer = os.pipe()
    os.close(reader)
    with begun(data, command, writer) as running:
        os.close(writer)
        assert running.communicate()[1] == ""
    assert running.returncode == 128 + signal.SIGPIPE


@pytest.mark.skipif(not FULL.exists(), reason=f"there is no {FULL} here")
@pytest.mark.parametrize("command", TELLING)
def test_a_full_disk_is_told_in_a_sentence_that_blames_nobody_else(command: str, data: Path) -> None:
    with FULL.open("w") as out, begun(data, command, out.fileno()) as running:
        told = running.communicate()[1]
    assert (running.returncode, told) == (2, "sigla: The output cannot be used (No space left on device).\n")


@pytest.mark.skipif(not FULL.exists(), reason=f"there is no {FULL} here")
def test_a_status_says_it_where_no_sentence_can_be_written(data: Path) -> None:
    """Who starts commands from a program asks for nothing else; 1 would be a registry with flaws."""
    arguments = [sys.executable, "-c", COMMAND, "scrub", "--data", "none"]
    with FULL.open("w") as out:
        assert subprocess.run(arguments, cwd=data, stderr=out, check=False).returncode == 2


@pytest.mark.skipif(not FULL.exists(), reason=f"there is no {FULL} here")
@pytest.mark.parametrize("command", ["keys create producer", "keys create producer --json"])
def test_a_key_whose_secret_nobody_was_told_is_none(data: Path, command: str, capsys: Captured) -> None:
    """The name is free for another try, and nothing good is left lying about."""
    with FULL.open("w") as out, begun(data, command, out.fileno()) as running:
        told = running.communicate()[1]
    assert (running.returncode, told) == (2, "sigla: The output cannot be used (No space left on device).\n")
    assert main(["keys", "list", "--data", str(data / "data"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_who_loses_patience_is_not_shown_where_it_was(data: Path) -> None:
    """A registry that takes a request and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with begun(data, f"import {url}", subprocess.DEVNULL) as running:
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(4).startswith(b"GET ")
                running.send_signal(signal.SIGINT)
                told = running.communicate()[1]
    assert (running.returncode, told) == (130, "sigla: Interrupted.\n")


def test_characters_that_the_output_lacks_are_escaped(data: Path) -> None:
    """The moment when all is imported is a bad one for a trace."""
    records = topic(schema("ü-value", 1, 1, "{"))
    lines = ({"offset": r.offset, "timestamp": r.ts, "key": r.key, "value": r.value} for r in records)
    data.joinpath("dump.jsonl").write_text("".join(json.dumps(line) for line in lines))
    command = [sys.executable, "-c", COMMAND, "import", "dump.jsonl", "--data", "copy"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=data, env=ascii_only, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 \\xd7 stored as it is" in done.stdout
    assert "\\xfc-value version 1 id 1" in done.stdout


def test_an_export_is_named_as_it_was_asked_for(data: Path, capsys: Captured) -> None:
    """And not as the file beside it that is written first."""
    missing = data / "none" / "dump.jsonl"
    assert main(["export", str(missing), "--data", str(data / "data")]) == 2
    assert capsys.readouterr().err == f"sigla: {missing} cannot be used (No such file or directory).\n"
