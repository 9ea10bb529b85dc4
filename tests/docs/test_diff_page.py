"""The page about `sigla diff` shows what the command prints."""

import re
from pathlib import Path

import pytest

from sigla import cli
from sigla.cli.diff import FAILS
from tests.house import ROOT, text_of

PAGE = text_of(ROOT / "docs" / "diff.md")


def test_the_example_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever types it sees the same."""
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"```json (\S+)\n(.*?)```", PAGE, re.DOTALL):
        Path(name).write_text(text)
    typed, printed = re.findall(r"```text\n\$ sigla (.*?)\n(.*?)```", PAGE, re.DOTALL)[0]
    assert cli.main(typed.split()) == 1
    assert capsys.readouterr().out == printed


def test_every_way_to_fail_is_on_the_page() -> None:
    """CI is set up with the page alone."""
    assert all(f"`{name}`" in PAGE for name in FAILS)
