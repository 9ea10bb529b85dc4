"""Every benchmark runs; how fast is for `make bench` to say, never for a test."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks import __main__ as table
from benchmarks import playground
from benchmarks.harness import Goal, Line, best_of, row, shown
from localstack import dynamodb
from tests.loops import threads_loop

ROOT = Path(__file__).parents[2]
ON_AN_ENGINE = {"register_on_aws", "following_on_aws", "keys_on_aws", "cold_start", "console"}
SLOW = {
    "check_files",
    "client_calls",
    "cold_start",
    "console",
    "exporters",
    "following",
    "following_on_aws",
    "herd",
    "import_time",
    "keys_on_aws",
    "serve_cpu",
    "start_up",
    "tls",
    "upgrade",
    "waits",
}
"""They begin many processes: seconds of processor time. Others begin some; tests/attack/test_herd.py runs herds."""


@pytest.fixture
def engine(name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that other tests use; theirs are other credentials, and so other tables."""
    if name in ON_AN_ENGINE:
        endpoint: str = request.getfixturevalue("dynamodb_local")
        monkeypatch.setattr(dynamodb, "running", lambda: nullcontext(endpoint))


@pytest.fixture
def loop() -> Iterator[None]:
    with threads_loop():
        yield


@pytest.mark.process
@pytest.mark.usefixtures("engine", "loop")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] if name in SLOW else []) for name in table.NAMES]
)
def test_a_benchmark_runs_with_small_sizes_and_prints_its_lines(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """What is measured has to go on working while the figures are not looked at."""
    status = table.main([name, "--quick", "--json"])
    told = capfd.readouterr()
    if "not measured" in told.err:
        pytest.skip(told.err)
    assert status == 0, told.err
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert lines
    for line in lines:
        assert line["what"]
        assert line["figure"] >= 0
    assert any(line["ratio"] for line in lines), "nothing stands beside it"


@pytest.mark.process
def test_a_benchmark_is_a_command_too() -> None:
    """Its own rows, without the table around them."""
    command = [sys.executable, "-m", "benchmarks.avro_check", "--quick"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "Apache avro" in ran.stdout


@pytest.mark.process
def test_the_playground_is_copied_as_a_clone_would_hold_it(tmp_path: Path) -> None:
    """A fresh copy must not profit from what earlier runs left behind."""
    copy = playground.copied(tmp_path / "copy")
    assert (copy / "Makefile").is_file()
    assert not (copy / ".venv").exists()
    assert not (copy / ".git").exists()


def test_the_playground_is_measured_on_demand_only() -> None:
    """It fetches everything from the network, which a plain `make bench` must not need."""
    assert "playground" in table.ON_DEMAND
    assert "playground" not in table.NAMES


def test_the_table_names_a_benchmark_that_broke_and_runs_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main(["--quick"], ("nowhere", "avro_check")) == 1
    shown_to_people = capsys.readouterr().out
    assert "did not run: nowhere" in shown_to_people
    assert "Apache avro" in shown_to_people


def test_who_asks_for_an_unknown_benchmark_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        table.main(["fastest"])
    assert "unknown benchmark fastest" in capsys.readouterr().err


@pytest.mark.parametrize(
    "goal, holds",
    [
        (Goal(1.5), False),  # the ratio is 2
        (Goal(2), True),
        (Goal(2, least=True), True),
        (Goal(2.5, least=True), False),
        (Goal(1, "s"), True),  # the figure is half a second
        (Goal(0.4, "s"), False),
        (None, None),
    ],
    ids=str,
)
def test_a_goal_judges_the_ratio_or_the_figure(goal: Goal | None, holds: bool | None) -> None:
    assert Line("", 0.5, "s", 0.25, "", goal).holds is holds


def test_a_goal_for_a_ratio_is_missed_where_there_is_none() -> None:
    """A peer that could not be measured must not look like success."""
    assert Line("", 1, "s", None, "", Goal(1)).holds is False
    assert Line("", math.nan, "s", 1, "", Goal(1)).holds is False


@pytest.mark.parametrize(
    "figure, unit, text",
    [
        (29.04e-6, "s", "29 µs"),
        (0.00999, "s", "9.99 ms"),
        (9.5, "s", "9.5 s"),
        (1.0, "s", "1 s"),
        (0.99996, "s", "1,000 ms"),
        (58_300_000, "B", "58.3 MB"),
        (999, "B", "999 B"),
        (1234.5, "/s", "1,234/s"),
        (0.123, "×", "0.123×"),
    ],
)
def test_figures_are_shown_in_units_that_are_easy_to_read(figure: float, unit: str, text: str) -> None:
    assert shown(figure, unit) == text


def test_a_row_says_what_against_what_and_whether_it_holds() -> None:
    shown_row = row(Line("reading", 3e-3, "s", 2e-3, "a bare loop", Goal(1.4)))
    assert shown_row.split() == ["reading", "3", "ms", "1.5×", "2", "ms", "a", "bare", "loop", "≤", "1.4×", "MISSED"]


def test_works_take_turns_and_the_best_of_each_counts() -> None:
    """So that a noisy minute hurts all that are compared."""
    turns: list[str] = []
    figures = {"a": iter([3.0, 1.0]), "b": iter([2.0, 5.0])}

    def work(name: str) -> float:
        turns.append(name)
        return next(figures[name])

    assert best_of(2, lambda: work("a"), lambda: work("b")) == [1.0, 2.0]
    assert turns == ["a", "b", "a", "b"]
