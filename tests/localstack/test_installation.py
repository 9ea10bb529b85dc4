"""LocalStack's own environment: the right interpreter, what the locks say, and a sentence where that cannot be."""

import os
import sys
from pathlib import Path

import pytest

from localstack import installation
from localstack.installation import candidates, find_python, install, installed, runtime_client
from sigla_pipelines.connectors.maven import Unavailable


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where nothing is installed."""
    monkeypatch.setattr(installation, "HOME", tmp_path / "home")
    return tmp_path / "home"


def a_program(folder: Path, name: str, script: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_shim_that_only_fails_is_passed_over(tmp_path: Path) -> None:
    """Version managers leave one for every version they know of, installed or not."""
    shim, right = a_program(tmp_path, "shim", "exit 127"), a_program(tmp_path, "python", "exit 0")
    assert find_python([str(tmp_path / "absent"), shim, right]) == right


def test_without_python_3_13_it_says_what_to_do() -> None:
    """The reason is a sentence; a test that is left out for it repeats it."""
    with pytest.raises(Unavailable, match=r"needs Python 3\.13"):
        find_python([])


def test_the_interpreter_can_be_chosen() -> None:
    """Whoever says where Python is, is believed first."""
    assert next(candidates({"LOCALSTACK_PYTHON": "here"})) == "here"
    assert sys.executable in list(candidates({}))


def test_a_changed_lock_wants_a_new_installation(home: Path, tmp_path: Path) -> None:
    """What is pinned is what runs."""
    home.mkdir()
    (home / "lock").write_text(installation._digest(installation.LOCK))
    assert installed()
    (tmp_path / "other.txt").write_text("localstack-core==5.0.0")
    assert not installed(tmp_path / "other.txt")


def test_without_uv_it_says_what_to_do(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a traceback about a file that is not there."""
    monkeypatch.setattr(sys, "executable", a_program(tmp_path, "python", "exit 0"))
    for missing in (install, runtime_client):
        with pytest.raises(Unavailable, match="make setup"):
            missing({"PATH": str(tmp_path)})
    assert not installed()


def test_a_runtime_client_that_is_cut_off_is_not_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of one would be believed at the next start."""
    monkeypatch.setattr(sys, "executable", a_program(tmp_path, "python", "exit 0"))
    half = 'for last; do :; done; while [ "$1" != --target ]; do shift; done; mkdir "$2"; exit 1'
    a_program(tmp_path, "uv", half)
    with pytest.raises(Unavailable, match="No incomplete folder was kept"):
        runtime_client(os.environ)
    assert list(home.iterdir()) == []
