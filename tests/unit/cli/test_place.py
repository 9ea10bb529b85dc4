"""Which registry a command works on."""

import importlib
import sys
from pathlib import Path

import pytest

from sigla.cli import main, place
from sigla.cli.misuse import Misuse
from sigla.model import Subject
from sigla.opening import embedded
from sigla.settings import Settings
from tests.build import a_draft

SOURCE = ["import", "dump.jsonl"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", ""],
        [*SOURCE, "--data", ""],
        [*SOURCE, "--registry", ""],
        [*SOURCE, "--bucket", "", "--table", ""],
        [*SOURCE, "--bucket", "b", "--table", ""],
        ["scrub", "--data", ""],
        ["serve", "--data", ""],
        ["keys", "list", "--data", ""],
        ["keys", "list", "--bucket", ""],
        ["explain", "000000002a0461", "--data", ""],
    ],
)
def test_an_empty_text_is_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """An unset variable of a shell must not mean the working directory, or `./data`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dump.jsonl").touch()
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "it is empty: say which, or leave it out" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["dump.jsonl"]


def missing(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)


def test_without_the_client_of_aws_a_command_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of AWS is installed with the rest."""
    missing(monkeypatch, "boto3")
    with (
        pytest.raises(Misuse, match=r"boto3 is not installed: pip install 'sigla-registry\[aws\]'\."),
        place.explained("table t"),
    ):
        importlib.import_module("boto3")


def test_whatever_else_is_missing_is_not_put_down_to_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Someone would install what is there already, and search in the wrong place."""
    missing(monkeypatch, "sigla.upkeep.scrub")
    with (
        pytest.raises(ModuleNotFoundError, match=r"sigla\.upkeep\.scrub"),
        place.explained(str(tmp_path)),
    ):
        importlib.import_module("sigla.upkeep.scrub")


def test_a_command_takes_the_url_of_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same store as --data, under the name that settings have for it."""
    with embedded(Settings(), tmp_path / "my data") as (registry, _):
        registry.register(Subject(".", "orders"), a_draft())
    assert main(["export", "--store", f"file://{tmp_path}/my%20data"]) == 0
    by_url = capsys.readouterr().out
    assert main(["export", "--data", str(tmp_path / "my data")]) == 0
    assert by_url == capsys.readouterr().out != ""


@pytest.mark.parametrize(
    "command, why",
    [
        (["export", "--store", "memory:"], "expected file:DIR or dynamodb+s3://TABLE/BUCKET"),
        (["export", "--store", "file:"], "Invalid address of a store 'file:'"),
        (["export", "--store", "redis://here"], "Unknown kind of store 'redis'"),
        (["export", "--store", "file:data", "--table", "t"], "leave out --table"),
        (["serve", "--store", "dynamodb+s3://t/b"], "is not on this machine: give file:DIR or memory:"),
        (["serve", "--store", "data"], "Invalid address of a store 'data'"),
    ],
)
def test_a_url_that_is_not_that_of_a_store_is_misuse(
    command: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 2
    assert why in capsys.readouterr().err
