"""A run that says nothing for minutes looks like one that hangs."""

import os
import subprocess
import sys
from pathlib import Path

from tests.under_way import UnderWay

SLOW = """
from tests import under_way

under_way.EVERY_S = 0.05

def pytest_sessionstart(session):
    under_way.watched(session.config)
"""


class Hand:
    """A clock that is turned by hand."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_line_names_what_runs_and_for_how_long() -> None:
    clock = Hand()
    run = UnderWay(print, clock)
    clock.seconds = 61
    assert run.line() == "── 1:01: the tests are being collected"
    run.pytest_xdist_node_collection_finished(["a", "b", "c"])
    run.pytest_runtest_logstart("a")
    clock.seconds = 70
    run.pytest_runtest_logstart("b")
    run.pytest_runtest_logfinish("b")
    run.pytest_runtest_logstart("c")
    clock.seconds = 125
    assert run.line() == "── 2:05: 1 of 3 tests are done; at a (64 s), c (55 s)"
    run.pytest_runtest_logfinish("a")
    run.pytest_runtest_logfinish("c")
    assert run.line().endswith("3 of 3 tests are done; at their end")


def test_a_run_with_workers_says_what_it_is_at(tmp_path: Path) -> None:
    """As `make test` runs: they report to the process that prints, and it alone can tell."""
    (tmp_path / "conftest.py").write_text(SLOW)
    (tmp_path / "test_slow.py").write_text("import time\n\ndef test_that_waits():\n    time.sleep(1)\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "-p",
        "xdist",
        "-n",
        "2",
        ".",
    ]
    # Other plug-ins would be loaded three times, for seconds each.
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "of 1 tests are done; at test_slow.py::test_that_waits (" in ran.stdout
