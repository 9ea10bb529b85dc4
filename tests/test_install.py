"""requirements/install.sh: what a newcomer sees of it. Its Python and its uv are stand-ins: nothing is fetched here."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "requirements" / "install.sh"
PYTHON = """#!/bin/sh
case "$*" in
    *"-m venv"*) for place; do :; done; mkdir -p "$place/bin"; cp "$0" "$place/bin/python"; cp "$0" "$place/bin/uv" ;;
    --version) echo "Python 3.99" ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """One with a Python that does nothing, and no .venv yet."""
    python = tmp_path / "python3.99"
    python.write_text(PYTHON)
    python.chmod(0o755)
    return {**os.environ, "PYTHON": str(python), "VENV": str(tmp_path / ".venv")}


def installed(machine: dict[str, str], group: str) -> list[str]:
    ran = subprocess.run([SCRIPT, group], env=machine, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    return ran.stderr.splitlines()


@pytest.mark.parametrize("group", ["runtime", "dev"])
def test_an_installation_says_each_step_as_it_begins_it(machine: dict[str, str], group: str) -> None:
    """The first `make playground` takes half a minute: whoever sees nothing thinks that it hangs."""
    told = [line for line in installed(machine, group) if "Node.js" not in line]
    assert [line.split()[1] for line in told] == ["Making", "Fetching", "Installing", machine["VENV"]]
    assert "Python 3.99" in told[0]
    assert told[-1].endswith(" s).")


def test_where_all_is_there_nothing_is_said(machine: dict[str, str]) -> None:
    """Every target of `make` begins with it."""
    installed(machine, "runtime")
    assert installed(machine, "runtime") == []
