"""What tests/conftest.py promises of every run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def a_run(tmp_path: Path) -> list[str]:
    """A pytest run of our conftest over one test that passes and one that is left out, with no plug-in loaded."""
    shutil.copy(Path(__file__).parent / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_done(): pass\ndef test_left_out(): pytest.skip('no such tool here')\n"
    )
    return [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider", str(tmp_path)]


def outcome(run: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "CI": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}
    return subprocess.run(run, capture_output=True, text=True, check=False, env=surroundings)


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "1"]], ids=["alone", "with xdist"])
def test_a_test_left_out_without_leave_fails_the_run_of_ci(a_run: list[str], workers: list[str]) -> None:
    """CI must not turn green because a machine lacked something; the closing line stays pytest's own."""
    result = outcome([*a_run, *workers], CI="true")
    assert result.returncode == 1
    assert "test_it.py" in result.stdout
    assert "no such tool here" in result.stdout
    assert re.search(r"1 passed, 1 skipped in .*$", result.stdout.rstrip())


STARTING = """
import subprocess, sys, pytest
def test_quiet(): pass
def test_starting(): subprocess.run([sys.executable, "--version"])
@pytest.mark.process
def test_marked(): subprocess.run([sys.executable, "--version"])
"""


def test_a_test_of_make_unit_starts_a_process_only_if_a_mark_says_so(tmp_path: Path) -> None:
    """A newcomer without Java and Node.js runs these, and CI holds them to it in every run."""
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\nfrom tests import alone\n"
        "def pytest_configure(config): alone.watch(config, [Path(__file__).parent])\n"
    )
    (tmp_path / "test_it.py").write_text(STARTING)
    run = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider", str(tmp_path)]
    told = outcome(run).stdout
    assert "1 failed, 2 passed" in told
    assert "This test starts a process (subprocess.Popen): mark it with @pytest.mark.process." in told


def test_on_a_laptop_a_test_may_be_left_out(a_run: list[str]) -> None:
    """Who has no Node wants to run the rest."""
    assert outcome(a_run).returncode == 0


def test_ci_runs_each_folder_that_make_test_leaves_out() -> None:
    """A folder that no run of CI has would go stale unseen."""
    root = Path(__file__).parents[1]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    test, attack, browser = (
        subprocess.run(["make", "-n", name], cwd=root, capture_output=True, text=True, check=True, env=quiet).stdout
        for name in ("test", "attack", "browser")
    )
    assert re.findall(r"--ignore[ =](\S+)", test) == ["tests/attack", "tests/browser"]
    assert re.search(r"-m pytest [^;]*tests/attack", attack)
    assert re.search(r"-m pytest [^;]*tests/browser", browser)
    run = (root / ".ci" / "run").read_text()
    assert re.search(r"^timeout --verbose \d+ make (--\S+ )*tests browser attack ", run, re.MULTILINE)
