"""The run book of two regions is run: each command that it shows, in a story that needs it, prints what it shows."""

import re
from functools import reduce
from pathlib import Path

import pytest

from sigla.cli import _parser
from tests.house import ROOT, text_of
from tests.protocol.clients.server import Server, run, serving
from tests.test_docs import assert_same
from tests.waiting import eventually

pytestmark = pytest.mark.process

PAGE = text_of(ROOT / "docs" / "regions.md")
REFERENCE = text_of(ROOT / "docs" / "regions-reference.md")
FIRST, SECOND = "http://first.example:8081", "http://second.example:8081"
INT = {"schema": '"int"'}


def section(heading: str) -> list[tuple[str, str]]:
    """Each command that is shown below a heading, with what it prints."""
    text = PAGE.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    return re.findall(r"```text\n\$ sigla (.*?)\n(.*?)```", text, re.DOTALL)


def is_followed(primary: Server) -> bool:
    """Whether it knows its follower by its name, as it does once that has asked."""
    role = primary.ask("GET", "/regions").json["role"]
    return bool(role and role["at"] and "://" not in role["peer"])


@pytest.fixture
def pair(tmp_path: Path) -> "Pair":
    return Pair(tmp_path)


class Pair:
    """The directories of both servers of the examples."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.first, self.second = folder, folder / "first", folder / "second"

    def check(self, command: tuple[str, str], first: Server, second: Server) -> None:
        """It prints what is shown, where `…` stands for anything, as on the other pages."""
        typed, shown = command
        real = {FIRST: first.url, SECOND: second.url, "file:": f"file:{self.folder}/"}
        words = reduce(lambda text, each: text.replace(*each), real.items(), typed).split()
        report = ["--report", str(self.folder / "rejoin.jsonl")] if words[0] == "rejoin" else []
        ended = run(*words, *report, "--yes")
        assert ended.returncode == 0, ended.stderr
        printed = ended.stdout.replace(first.url, FIRST).replace(second.url, SECOND)
        assert_same(printed.replace(f"{self.folder}/", ""), shown, typed)


def test_it_is_shown_who_is_what_and_writes_move_there_and_back(pair: Pair) -> None:
    with serving(pair.first) as first, serving(pair.second, "--follow", first.url) as second:
        assert first.ask("POST", "/subjects/a/versions", INT).status == 200
        eventually(lambda: is_followed(first) and second.ask("GET", "/subjects").json == ["a"])
        (look,) = section("Who is what")
        there, back, undo = section("A planned promotion")
        for command in (look, there, back, undo):
            pair.check(command, first, second)


def test_a_primary_that_is_lost_is_passed_over_and_comes_back(pair: Pair) -> None:
    (force,), (rejoin, _) = section("A primary that is lost"), section("The region comes back")
    with serving(pair.first) as first:
        with serving(pair.second, "--follow", first.url) as second:
            eventually(lambda: is_followed(first))
        assert first.ask("POST", "/subjects/a/versions", INT).status == 200
        first.kill()
    with serving(pair.second, "--port", str(second.port)) as second:
        pair.check(force, first, second)
        with serving(pair.first, "--port", str(first.port)):
            pair.check(rejoin, first, second)
            eventually(lambda: "would lose nothing" in run("regions", first.url, second.url).stdout)
        assert second.ask("GET", "/subjects").json == ["a"]


def test_a_region_that_never_comes_back_is_given_up(pair: Pair) -> None:
    _, abandon = section("The region comes back")
    with serving(pair.first) as first, serving(pair.second, "--follow", first.url) as second:
        eventually(lambda: is_followed(first))
        first.kill()
        assert run("promote", second.url, "--force", "--yes").returncode == 0
        pair.check(abandon, first, second)


def test_a_follower_that_is_lost_makes_room_for_another_one(pair: Pair, tmp_path: Path) -> None:
    (dismiss,) = section("A follower that is lost")
    with serving(pair.first) as first:
        with serving(pair.second, "--follow", first.url) as second:
            eventually(lambda: is_followed(first))
        pair.check(dismiss, first, second)
        with serving(tmp_path / "third", "--follow", first.url) as third:
            eventually(lambda: third.ask("GET", "/regions").json["role"]["kind"] == "follower")


def test_a_closed_primary_is_opened(pair: Pair) -> None:
    (opened,) = section("A closed primary whose other region is lost")
    with serving(pair.first) as first, serving(pair.second, "--follow", first.url) as second:
        eventually(lambda: is_followed(first))
        assert "The other region is closed." in run("promote", second.url, "--force", "--yes").stdout
        second.kill()
        advice = f"If that region is lost: sigla promote {first.url} --force"
        assert advice in run("regions", second.url, first.url).stderr
        pair.check(opened, first, second)
        assert first.ask("POST", "/subjects/a/versions", INT).status == 200


def test_directories_of_stopped_servers_change_places(pair: Pair) -> None:
    (promote,) = section("Directories")
    with serving(pair.first) as first:
        with serving(pair.second, "--follow", first.url) as second:
            eventually(lambda: is_followed(first))
        assert first.ask("POST", "/subjects/a/versions", INT).status == 200
    pair.check(promote, first, second)
    with serving(pair.second, "--port", str(second.port)), serving(pair.first) as old:
        assert old.ask("POST", "/subjects/b/versions", {"schema": '"long"'}).json["id"] == 100_001


def test_each_command_that_is_shown_can_be_typed() -> None:
    """Also those of AWS, and those in sentences and tables."""
    blocks = re.findall(
        r"^ *(?:\$ )?(sigla .*?)$",
        "\n".join(re.findall(r"```text\n(.*?)```", PAGE + REFERENCE, re.DOTALL)),
        re.MULTILINE,
    )
    spans: list[str] = re.findall(r"`(sigla (?:regions|promote|rejoin) (?!-)[^`…]+)`", PAGE + REFERENCE)
    parser = _parser()
    assert len(blocks) > 10
    assert len(spans) > 15
    for words in [*blocks, *spans]:
        parser.parse_args(words.replace("'", "").split()[1:])


def test_each_sentence_of_a_command_is_one_that_is_said() -> None:
    """It is looked for as it was read."""
    package = ROOT / "layers" / "sigla" / "python" / "sigla"
    said = " ".join(re.sub(r'"\s*\n\s*f?"', "", text_of(path)) for path in package.rglob("*.py"))
    table = REFERENCE.partition("## What the commands say\n")[2]
    sentences = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(sentences) > 20
    assert [each for each in sentences if each not in said] == []
