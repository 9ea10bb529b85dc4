"""uv installs from where pip would, and says in a sentence that it could not."""

import sys
from pathlib import Path

import pytest

from sigla.deployment.uv import NotInstalled, python_of, uv


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its Python's pip has a mirror of its own; its uv writes down what index it was given, then fails or not."""
    for name, script in (
        ("python", "echo https://pip.example/simple"),
        ("uv", 'echo "$UV_DEFAULT_INDEX"; exit $FAILS'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    return tmp_path


@pytest.mark.parametrize(
    "told, index",
    [
        ({}, "https://pip.example/simple"),
        ({"PIP_INDEX_URL": "https://variable.example/simple"}, "https://variable.example/simple"),
        ({"UV_DEFAULT_INDEX": "https://uv.example/simple"}, "https://uv.example/simple"),
    ],
)
def test_it_installs_from_where_pip_would(
    machine: Path, capfd: pytest.CaptureFixture[str], told: dict[str, str], index: str
) -> None:
    """Behind a company's wall only the mirror answers, and only pip knows of it; who tells uv itself is believed."""
    uv("pip", "install", "any", environ={"FAILS": "0", **told})
    assert capfd.readouterr().out.strip() == index


def test_what_could_not_be_installed_is_told(machine: Path) -> None:
    with pytest.raises(NotInstalled, match="could not be installed"):
        uv("pip", "install", "any", environ={"FAILS": "1"})


def test_without_uv_it_says_what_to_do(machine: Path) -> None:
    (machine / "uv").unlink()
    with pytest.raises(NotInstalled, match="make setup"):
        uv("pip", "install", "any", environ={"PATH": str(machine)})


@pytest.mark.parametrize("installs", [True, False])
def test_a_python_that_is_missing_is_installed_or_told(machine: Path, tmp_path: Path, installs: bool) -> None:
    """A deployer with another Python gets Lambda's beside it; where no network is, a sentence says what to do."""
    there = tmp_path / "there"
    (machine / "uv").write_text(
        f'#!/bin/sh\ncase "$2" in\n install) {"touch" if installs else ":"} {there} ;;\n'
        f' find) [ -e {there} ] && echo "$UV_PYTHON_INSTALL_DIR/bin/python" ;;\nesac\n'
    )
    if installs:
        assert python_of("3.13", tmp_path / "python") == str(tmp_path / "python" / "bin" / "python")
    else:
        with pytest.raises(NotInstalled, match=r"Python 3\.13, which is not installed .* on the PATH\.$"):
            python_of("3.13", tmp_path / "python")
