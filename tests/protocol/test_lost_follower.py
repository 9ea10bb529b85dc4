"""A follower is known by a name in its data: it may move. One that is lost makes room, and does no harm later."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sigla.regions import rules
from tests.protocol.clients.server import Server, run, serving
from tests.waiting import eventually

INT, LONG, TEXT = ({"schema": json.dumps(kind)} for kind in ("int", "long", "string"))


@contextmanager
def following(primary: Server, data: Path, *more: str) -> Iterator[Server]:
    """A follower whose primary knows it."""
    with serving(data, "--follow", primary.url, *more) as server:
        eventually(lambda: role(server)["kind"] == "follower")
        yield server


def role(server: Server) -> dict[str, Any]:
    return dict(server.ask("GET", "/regions").json["role"])


def registered(server: Server, subject: str, body: dict[str, str]) -> int:
    answer = server.ask("POST", f"/subjects/{subject}/versions", body)
    assert answer.status == 200, answer
    return int(answer.json["id"])


def stopped_for(server: Server) -> str:
    return str(server.ask("GET", "/regions").json["problem"])


def test_a_directory_that_is_moved_follows_on(tmp_path: Path) -> None:
    """Its name stands in its data, with that of the host for people."""
    with serving(tmp_path / "a") as primary:
        with following(primary, tmp_path / "b") as follower:
            name = role(primary)["peer"]
            assert role(follower)["name"] == name
        shutil.move(tmp_path / "b", tmp_path / "elsewhere")
        registered(primary, "a", INT)
        with serving(tmp_path / "elsewhere") as follower:
            eventually(lambda: follower.ask("GET", "/subjects").json == ["a"])
            assert role(primary)["peer"] == name
            assert registered(follower, "b", LONG) == 2


def test_a_follower_that_is_lost_is_given_up_and_another_one_begins(tmp_path: Path) -> None:
    """The lost one is refused when it comes back, and what it then sends on is still done."""
    with serving(tmp_path / "a") as primary:
        with following(primary, tmp_path / "b"):
            lost = role(primary)["peer"]
        registered(primary, "a", INT)
        gone = "http://127.0.0.1:9"
        for urls in ((primary.url, gone), (gone, primary.url)):
            listed = run("regions", *urls)
            assert (listed.returncode, lost in listed.stdout) == (1, True), listed.stderr
            assert f"If that region is lost: sigla regions dismiss {primary.url}\n" in listed.stderr
        refused = run("serve", "--port", "0", "--data", str(tmp_path / "c"), "--follow", primary.url)
        assert (refused.returncode, lost in refused.stderr) == (2, True), "a copy that is made anew is another region"
        assert "sigla regions dismiss" in refused.stderr
        asked = run("regions", "dismiss", primary.url)
        assert (asked.returncode, "--yes" in asked.stderr) == (2, True), asked.stderr
        done = run("regions", "dismiss", primary.url, "--yes")
        assert (done.returncode, done.stdout.startswith(f"{lost} is given up")) == (0, True), done.stderr
        assert lost in done.stderr
        again = run("regions", "dismiss", primary.url, "--yes")
        assert (again.returncode, again.stdout) == (0, "No region follows: nothing was changed.\n")
        told = primary.ask("GET", f"/regions/journal?{urlencode({'follower': lost})}").json
        assert (told["error_code"], told["reason"]) == (42205, "given_up"), "to programs, beside the sentence"
        assert registered(primary, "b", LONG) == 2 * rules.BLOCK + 1, "above all that the lost one could give"
        with serving(tmp_path / "b") as back, following(primary, tmp_path / "c") as follower:
            eventually(lambda: "was given up there. `sigla rejoin` has it follow again" in stopped_for(back))
            refused = run("regions", "dismiss", back.url, "--yes")
            assert (refused.returncode, "for the primary that takes writes" in refused.stderr) == (2, True)
            assert registered(back, "c", TEXT) == 2 * rules.BLOCK + 2
            eventually(lambda: follower.ask("GET", "/subjects").json == ["a", "b", "c"])
            assert registered(follower, "d", {"schema": json.dumps("double")}) == 2 * rules.BLOCK + 3
            assert role(primary)["peer"] == role(follower)["name"] != lost
            shown = run("regions", follower.url).stdout
            assert ("  out      " in shown, "if it" in shown) == (True, False), "that is for the primary"


def test_a_follower_that_answers_is_told_what_becomes_of_it_and_follows_again(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as primary, following(primary, tmp_path / "b") as follower:
        asked = run("regions", "dismiss", primary.url)
        assert (asked.returncode, asked.stdout) == (2, "")
        assert "is not lost: it answers, as the follower of epoch" in asked.stderr
        assert "which answers? No person is there to answer: add --yes." in asked.stderr
        assert role(primary)["epoch"] == 1, "nothing was changed"
        done = run("regions", "dismiss", primary.url, "--yes")
        again = f"sigla rejoin {follower.url} --primary {primary.url}"
        assert (done.returncode, done.stdout.splitlines()[-1]) == (
            0,
            f"It answers still. Stop it, or have it follow again: {again}",
        )
        eventually(lambda: "was given up there" in stopped_for(follower))
        assert run(*again.split()[1:], "--yes", "--report", str(tmp_path / "report")).returncode == 0
        eventually(lambda: _follows(follower, primary))
        assert registered(follower, "a", INT) == 2 * rules.BLOCK + 1


def _follows(server: Server, primary: Server) -> bool:
    with suppress(OSError):  # it begins anew, and does not answer for a moment
        return bool(role(primary)["peer"] == role(server)["name"])
    return False


def test_a_follower_that_took_over_and_answers_is_not_given_up_by_what_comes_back(tmp_path: Path) -> None:
    """It would be closed by the epoch that its old primary takes then."""
    with serving(tmp_path / "a") as primary, following(primary, tmp_path / "b") as follower:
        primary.kill()
        assert run("promote", follower.url, "--force", "--yes").returncode == 0
        refused = run("regions", "dismiss", f"file:{tmp_path / 'a'}", "--yes")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"Nothing was changed. {follower.url} answers: it is the primary of epoch 2." in refused.stderr
        assert f"`sigla rejoin` with its URL, --primary {follower.url}" in refused.stderr
        assert role(follower)["open"]


def test_a_lost_follower_that_took_over_meanwhile_is_closed_and_gave_no_id_of_its_primary(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as primary:
        port = primary.url.rpartition(":")[2]
        with following(primary, tmp_path / "b") as follower:
            registered(primary, "a", INT)
            eventually(lambda: follower.ask("GET", "/subjects").json == ["a"])
            primary.kill()
            assert run("promote", follower.url, "--force", "--yes").returncode == 0
            mine = registered(follower, "mine", LONG)
            refused = run("serve", "--port", "0", "--data", str(tmp_path / "c"), "--follow", follower.url)
            assert "it was promoted by force" in refused.stderr, "else both could give ids without an end"
    assert run("regions", "dismiss", f"file:{tmp_path / 'a'}", "--yes").returncode == 0
    with serving(tmp_path / "a", "--port", port) as primary, serving(tmp_path / "b") as back:
        theirs = registered(primary, "theirs", TEXT)
        assert rules.BLOCK < mine <= 2 * rules.BLOCK < theirs
        eventually(lambda: not role(back)["open"])
        eventually(lambda: back.ask("POST", "/subjects/x/versions", INT).status == 200)
        assert primary.ask("GET", "/subjects").json == ["a", "theirs", "x"], "it is sent on"
        assert primary.ask("PUT", "/mode", {"mode": "IMPORT"}, force="true").status == 200
        brought = primary.ask("POST", "/subjects/y/versions", {**LONG, "id": mine, "version": 1})
        assert (brought.status, brought.json["error_code"]) == (422, 42205), "it means something else there, perhaps"
    stores = [f"file:{tmp_path / 'b'}", "--primary", f"file:{tmp_path / 'a'}"]
    joined = run("rejoin", *stores, "--report", str(tmp_path / "rejoin.jsonl"), "--yes")
    assert joined.returncode == 0, joined.stderr
    with serving(tmp_path / "a") as primary:
        assert json.loads(primary.ask("GET", f"/schemas/ids/{mine}").json["schema"]) == "long"
