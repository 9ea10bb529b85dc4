"""How jobs on Spark are measured, on stand-ins for processes: those take minutes, which `make bench` has."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from benchmarks import jobs
from benchmarks.harness import Lines
from benchmarks.jobs import Memory, Ran

pytestmark = pytest.mark.process

MB = 1_000_000
HOLDS = """
import subprocess, sys
kept = b"1" * {mine}
worker = {worker}
child = worker and subprocess.Popen([sys.executable, "-c", worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child and child.stdout.readline()
print("ready", flush=True)
sys.stdin.read()
child and child.communicate()
"""


def test_memory_is_told_apart_by_what_holds_it() -> None:
    """A driver that grows and a worker that grows are different faults; more workers are not a fault."""
    another = HOLDS.format(mine=20 * MB, worker="''")
    worker = HOLDS.format(mine=20 * MB, worker=repr(another))
    program = HOLDS.format(mine=40 * MB, worker=repr(worker))
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        found = jobs.held(psutil.Process(process.pid))
        process.communicate()
    assert 40 * MB < found.driver < 80 * MB
    assert 20 * MB < found.worker < 40 * MB
    assert found.java == 0


def test_nobody_holds_anything_who_is_gone() -> None:
    """It may end between two looks, or during one."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        seen = psutil.Process(process.pid)
    assert jobs.held(seen) == Memory()


def test_the_most_of_each_kind_counts_whenever_it_was() -> None:
    assert Memory(3, 1, 2).most(Memory(1, 5, 2)) == Memory(3, 5, 2)


def test_a_job_runs_as_a_command_and_is_heard(tmp_path: Path) -> None:
    """What it puts aside goes where the benchmark's own files are, on a real disk."""
    ran = jobs.run(["-c", "import os; print(os.environ['TMPDIR'], os.environ['A'])"], tmp_path, {"A": "b"})
    assert ran.printed == f"{tmp_path} b\n"
    assert ran.seconds > 0


def test_a_job_that_fails_says_why(tmp_path: Path) -> None:
    """Or its figures would be those of a failure."""
    with pytest.raises(RuntimeError, match="ended with 1\nno registry"):
        jobs.run(["-c", "raise SystemExit('no registry')"], tmp_path)


def test_what_grows_with_the_registry_misses_its_goal() -> None:
    """Java may take its heap; ours must stay as it is."""
    small, flat, grown = (Ran("", 1, Memory(size, size, 10 * size)) for size in (100, 140, 200))
    judged = {
        name: [line.holds for line in jobs.memory("audit", ran, small, (1, 10))]
        for name, ran in (("flat", flat), ("grown", grown))
    }
    assert judged == {"flat": [True, True, None], "grown": [False, False, None]}


def test_a_benchmark_of_a_job_takes_its_size_as_an_argument(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A million takes too long for the table, and has to be measured by the same program."""
    asked: list[int] = []

    def lines(*, quick: bool, schemas: int) -> Lines:
        assert not quick
        asked.append(schemas)
        return iter(())

    for argv in (["bench"], ["bench", "1000000"]):
        monkeypatch.setattr(sys, "argv", argv)
        jobs.main(lines, "a job")
    assert asked == [jobs.SCHEMAS, 1_000_000]
    assert capsys.readouterr().err == ""
