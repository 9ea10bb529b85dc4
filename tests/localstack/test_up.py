"""LocalStack in host mode: chosen interpreter, closed doors, a bucket that keeps what it got, and a clean end."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from localstack.up import Unavailable, candidates, find_python, installed, running, surroundings, taken


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def a_python(folder: Path, *, exit_code: int) -> str:
    """Something on the PATH that is called python; 0 says that it is the right one."""
    path = folder / f"python-{exit_code}"
    path.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    path.chmod(0o755)
    return str(path)


def test_a_shim_that_only_fails_is_passed_over(tmp_path: Path) -> None:
    """Version managers leave one for every version they know of, installed or not."""
    right = a_python(tmp_path, exit_code=0)
    assert find_python([str(tmp_path / "absent"), a_python(tmp_path, exit_code=127), right]) == right


def test_without_python_3_13_it_says_what_to_do() -> None:
    """The reason is a sentence; a test that is left out for it repeats it."""
    with pytest.raises(Unavailable, match=r"needs Python 3\.13"):
        find_python([])


def test_the_interpreter_can_be_chosen() -> None:
    """Whoever says where Python is, is believed first."""
    assert next(candidates({"LOCALSTACK_PYTHON": "here"})) == "here"
    assert sys.executable in list(candidates({}))


def test_it_keeps_its_files_to_itself(port: int) -> None:
    """Nothing under /var, nothing in the user's cache, no telemetry."""
    settings = surroundings({"HOME": "kept"}, port)
    assert settings["HOME"] == "kept"
    assert settings["DISABLE_EVENTS"] == "1"
    for name in ("FILESYSTEM_ROOT", "XDG_CACHE_HOME"):
        assert ".localstack" in settings[name]


def test_a_taken_port_is_refused_before_anything_starts(port: int) -> None:
    """LocalStack itself would report `Ready.` and hear nothing."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(Unavailable, match="taken"), running(os.environ, port=port):
            pass


@pytest.fixture
def endpoint(port: int, tmp_path: Path) -> Iterator[str]:
    if not installed():
        pytest.skip("LocalStack is not installed here: python -m localstack.up --install")
    with running(os.environ, port=port, log=tmp_path / "log") as url:
        yield url
    assert not taken(port), "it has not stopped"


def test_it_answers_on_this_machine_alone_and_keeps_objects_write_once(endpoint: str, port: int) -> None:
    """A conditional put is what bodies rely on; and no other machine is served."""
    s3 = boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    s3.create_bucket(Bucket="bodies")
    s3.put_object(Bucket="bodies", Key="1", Body=b"first", IfNoneMatch="*")
    with pytest.raises(s3.exceptions.ClientError, match="PreconditionFailed"):
        s3.put_object(Bucket="bodies", Key="1", Body=b"second", IfNoneMatch="*")
    assert s3.get_object(Bucket="bodies", Key="1")["Body"].read() == b"first"
    s3.close()
    # Another address of this machine stands for every other machine.
    with socket.socket() as elsewhere, pytest.raises(ConnectionRefusedError):
        elsewhere.connect(("127.0.0.2", port))
