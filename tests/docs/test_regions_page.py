"""The run book of two servers is run: each command of its page, in a story that needs all of them."""

import re
from pathlib import Path

import pytest

from tests.house import ROOT, text_of
from tests.protocol.clients.server import run, serving
from tests.waiting import eventually

pytestmark = pytest.mark.process

PAGE = text_of(ROOT / "docs" / "regions.md")
SECTION = PAGE.partition("### Two servers")[2].partition("\n### ")[0]
COMMANDS = re.findall(r"```text\nsigla (.*?)\n```", SECTION)


def test_each_command_of_the_run_book_of_two_servers_does_what_the_page_says(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as first, serving(tmp_path / "b", "--follow", first.url) as second:
        words = [_words(each, first.url, second.url) for each in COMMANDS]
        shown, promote, back, force, rejoin, abandon, undo, open_again = words
        assert "A forced promotion would lose nothing now." in _said(shown)
        assert "Lost: none." in _said(promote)
        assert "is the primary of epoch 3." in _said(back)
        assert "takes writes: nothing to take back." in _said(undo)
        assert "is the primary of epoch 3 already: nothing to do." in _said(open_again)
        first.kill()
        assert "by force." in _said(force)
        assert f"{first.url} is given up." in _said(abandon)
        with serving(tmp_path / "a", "--port", str(first.port)):
            assert "0 commits of" in _said([*rejoin, "--report", str(tmp_path / "report")])
            eventually(lambda: '"role": "follower"' in run(*shown, "--json").stdout)


def _words(command: str, first: str, second: str) -> list[str]:
    return command.replace("http://first.example:8081", first).replace("http://second.example:8081", second).split()


def _said(words: list[str]) -> str:
    ended = run(*words, "--yes")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_lost_follower_is_given_up_as_the_page_says(tmp_path: Path) -> None:
    (command,) = re.findall(
        r"```text\nsigla (.*?)\n```", PAGE.partition("### A follower that is lost")[2].partition("\n### ")[0]
    )
    with serving(tmp_path / "a") as first:
        with serving(tmp_path / "b", "--follow", first.url):
            eventually(lambda: first.ask("GET", "/regions").json["role"]["peer"])
        assert "is given up: another region may follow" in _said(_words(command, first.url, ""))
        with serving(tmp_path / "c", "--follow", first.url) as third:
            eventually(lambda: third.ask("GET", "/regions").json["role"]["kind"] == "follower")
