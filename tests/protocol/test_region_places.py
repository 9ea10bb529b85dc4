"""One place beside a primary, and more regions that want it: what is refused, what is told, and who goes on."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.protocol.clients.server import Server, run, serving
from tests.waiting import eventually

INT, LONG = ({"schema": json.dumps(kind)} for kind in ("int", "long"))


@contextmanager
def following(primary: Server, data: Path) -> Iterator[Server]:
    """A follower whose primary knows it."""
    with serving(data, "--follow", primary.url) as server:
        eventually(lambda: is_follower(server))
        yield server


def region(server: Server) -> dict[str, Any]:
    return dict(server.ask("GET", "/regions").json)


def role(server: Server) -> dict[str, Any]:
    return dict(region(server)["role"])


def is_follower(server: Server) -> bool:
    """It may be down for a moment, while it begins anew."""
    with suppress(OSError):
        return bool(role(server)["kind"] == "follower")
    return False


def register(server: Server, subject: str, body: dict[str, str]) -> None:
    answer = server.ask("POST", f"/subjects/{subject}/versions", body)
    assert answer.status == 200, answer


def test_a_region_that_was_passed_over_rejoins_though_another_one_was_given_up_before(tmp_path: Path) -> None:
    """The one that was given up may come back one day: until then its ids are not brought along, and that is all."""
    with serving(tmp_path / "a") as a:
        with following(a, tmp_path / "b"):
            given_up = role(a)["peer"]
        assert run("regions", "dismiss", a.url, "--yes").returncode == 0
        with following(a, tmp_path / "c") as c:
            eventually(lambda: role(c)["lost"] == given_up)
            a.kill()
            assert run("promote", c.url, "--force", "--yes").returncode == 0
            register(c, "mine", INT)
            with serving(tmp_path / "a", "--port", str(a.port)) as back:
                joined = run("rejoin", back.url, "--primary", c.url, "--report", str(tmp_path / "r"), "--yes")
                assert joined.returncode == 0, joined.stderr
                eventually(lambda: is_follower(back))
                assert back.ask("GET", "/subjects").json == ["mine"]
                assert [(role(each)["reconciled"], role(each)["lost"]) for each in (c, back)] == [(False, given_up)] * 2
                assert run("regions", "abandon", c.url, "--yes").returncode == 0
                register(c, "later", LONG)
                eventually(lambda: role(back)["reconciled"])
                assert role(back)["lost"] == ""


def test_who_rejoins_where_another_one_follows_is_refused_before_anything_is_given_up(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as a, following(a, tmp_path / "b") as b:
        register(a, "alone", INT)
        eventually(lambda: region(a)["journal"] == region(b)["journal"])
        a.kill()
        assert run("promote", b.url, "--force", "--yes").returncode == 0
        for way, told in ((["--yes"], "`sigla regions abandon` gives"), ([], "`sigla regions abandon` gives")):
            asked = run("regions", "dismiss", b.url, *way)
            assert (asked.returncode, told in asked.stderr, "lost for good" in asked.stderr) == (2, True, False)
        assert run("regions", "abandon", b.url, "--yes").returncode == 0
        asked = run("regions", "dismiss", b.url, "--yes")
        assert (asked.returncode, asked.stdout) == (0, "No region follows: nothing was changed.\n")
        assert asked.stderr == "", "nothing is lost for good, either"
        with following(b, tmp_path / "c"), serving(tmp_path / "a", "--port", str(a.port)) as back:
            name = role(b)["peer"]
            eventually(lambda: not role(back)["open"])
            before = [role(each) for each in (back, b)]
            refused = run("rejoin", back.url, "--primary", b.url, "--report", str(tmp_path / "r"), "--yes")
            assert (refused.returncode, refused.stdout) == (2, "")
            assert f"Nothing was changed. This registry cannot be followed: {name} follows it already" in refused.stderr
            assert "sigla regions dismiss" in refused.stderr
            assert [role(each) for each in (back, b)] == before
            _joins_when_there_is_room(back, b)


def _joins_when_there_is_room(back: Server, primary: Server) -> None:
    """Where another one was faster: it goes on as it is, says why, and needs no one to start it."""
    seen = role(back)
    joining = {**seen, "kind": "joining", "epoch": 2, "token": "anew", "open": True, "peer": primary.url}
    assert back.ask("PUT", "/regions/role", {"seen": seen, "role": joining}).json == {"changed": True}
    eventually(lambda: "follows it already" in region(back)["problem"])
    assert back.ask("GET", "/subjects/alone/versions/1").status == 200
    assert "sigla_region_stopped 1" in back.ask("GET", "/metrics").body.decode()
    shown = run("regions", back.url)
    assert "follows it already" in shown.stdout
    assert run("regions", "dismiss", primary.url, "--yes").returncode == 0
    eventually(lambda: is_follower(back))


def test_a_follower_that_was_given_up_is_told_which_of_both_is_to_rejoin(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as a, following(a, tmp_path / "b") as b:
        assert run("regions", "dismiss", a.url, "--yes").returncode == 0
        refused = run("promote", b.url, "--force", "--yes")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"Nothing was changed. {a.url} is primary of epoch 3, and this follower was given up" in refused.stderr
        assert role(b)["kind"] == "follower"
        eventually(lambda: "given up there" in region(b)["problem"])
        a.kill()
        eventually(lambda: "does not answer" in region(b)["problem"])
        forced = run("promote", b.url, "--force", "--yes")
        assert forced.returncode == 0
        assert f"sigla rejoin {b.url} --primary {a.url}\n" in forced.stdout
        assert f"sigla rejoin {a.url}" not in forced.stdout


def test_records_of_a_region_that_was_passed_over_are_read_there_before_it_has_rejoined(tmp_path: Path) -> None:
    """Their ids mean one thing for ever; that a version has this number is what only its primary says."""
    with serving(tmp_path / "a") as a:
        with following(a, tmp_path / "b") as follower:
            port = str(follower.port)
        register(a, "alone", LONG)
        id = a.ask("GET", "/subjects/alone/versions/1").json["id"]
        guid = a.ask("GET", "/subjects/alone/versions/1").json["guid"]
    paths = f"/schemas/ids/{id}", f"/schemas/guids/{guid}"
    with serving(tmp_path / "b", "--port", port) as b:
        assert run("promote", b.url, "--force", "--yes").returncode == 0
        with serving(tmp_path / "a", "--port", str(a.port)) as back:
            eventually(lambda: not role(back)["open"])
            assert [b.ask("GET", path).status for path in paths] == [404, 404]
            assert [back.ask("GET", path).json["schema"] for path in paths] == [LONG["schema"]] * 2
            assert back.ask("GET", f"{paths[0]}/schema").body.decode() == LONG["schema"]
            for nowhere in ("/schemas/ids/77", "/schemas/guids/00000000-0000-0000-0000-000000000000"):
                assert back.ask("GET", nowhere).json["error_code"] in (40403, 40405), nowhere
            assert back.ask("GET", "/subjects/alone/versions/1").status == 404
            register(back, "later", INT)
            b.kill()
            assert [back.ask("GET", path).json["schema"] for path in paths] == [LONG["schema"]] * 2
            assert back.ask("GET", "/schemas/ids/77").json["error_code"] == 50003
