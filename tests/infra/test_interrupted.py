"""Ctrl-C while `make deploy` and `make stage` begin: they end, say nothing, and nothing was begun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A shell has what it starts with & ignore the signal.
PRESSED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
os.kill(os.getpid(), signal.SIGINT)
while True: pass
"""


@pytest.mark.parametrize("words", [("deploy", "prod"), ("stage", "prod")])
def test_it_ends_without_a_trace_while_its_code_is_read(words: tuple[str, ...], tmp_path: Path) -> None:
    """What they import takes a second. Whoever sees the wrong name in their own command line stops them in that."""
    (tmp_path / "boto3.py").write_text(PRESSED)
    done = subprocess.run(
        [sys.executable, "-m", "infra.command", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("target, variable", [("deploy", "STAGE"), ("stage", "NAME")])
def test_make_runs_them_so(target: str, variable: str) -> None:
    command = ["make", "-n", target, f"{variable}=prod"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"-m infra.command {target} prod" in shown.stdout
