"""Which registry a command works on."""

from pathlib import Path

import pytest

from sigla.cli import main
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
