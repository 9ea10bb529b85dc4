"""Which registry a command works on."""

from pathlib import Path

import pytest

from sigla.cli import main

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
