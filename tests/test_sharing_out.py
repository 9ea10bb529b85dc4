"""A test that takes its process with it is one failure: the run goes on with all others, and ends."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CRASHES = """
import os
import signal
from pathlib import Path

import pytest

CRASHES = [{crashes}]


@pytest.mark.parametrize("at", range({tests}))
def test_it(at):
    once = Path(__file__).with_suffix(f".{{at}}")
    if at in CRASHES and not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def run_of(folder: Path, *files: tuple[int, str]) -> str:
    """What a run of files by two workers says at its end. files: how many tests each has, and which of them crash."""
    for number, (tests, crashes) in enumerate(files):
        (folder / f"test_{number:02}.py").write_text(CRASHES.format(tests=tests, crashes=crashes))
    words = ["-p", "xdist", "-p", "tests.sharing_out", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return re.sub(r" in [\d.]+s.*", "", done.stdout.rstrip().rpartition("\n")[2])


def test_files_that_were_done_before_a_crash_hold_nothing_up(tmp_path: Path) -> None:
    many = [(1, "")] * 30
    assert run_of(tmp_path, *many, (5, "2"), *many) == "1 failed, 65 passed"


@pytest.mark.parametrize("crashes", ["0", "1", "0, 1", "0, 1, 2"])
def test_a_crash_at_the_end_is_made_up_for(tmp_path: Path, crashes: str) -> None:
    failed = crashes.count(",") + 1
    assert run_of(tmp_path, (1, ""), (3, crashes)) == f"{failed} failed, 4 passed"


def test_whoever_takes_the_place_of_the_last_worker_is_given_all_that_is_left(tmp_path: Path) -> None:
    assert run_of(tmp_path, (1, ""), (1, "0"), (1, ""), (1, "")) == "1 failed, 4 passed"


def test_workers_that_crash_together_are_made_up_for(tmp_path: Path) -> None:
    assert run_of(tmp_path, *[(3, "0, 2")] * 4) == "8 failed, 12 passed"
