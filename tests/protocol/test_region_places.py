"""One place beside a primary, and more regions that want it: what is refused, what is told, and who goes on."""

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from sigla import __version__
from sigla.opening import directory
from sigla.regions.nouns import RegionKind
from sigla.settings import Address
from tests.protocol.clients.server import Server, run, serving
from tests.unit.regions.serving import serving as answering
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


def test_who_rejoins_where_another_one_follows_brings_what_it_has_and_waits(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as a, following(a, tmp_path / "b") as b:
        register(a, "orders", INT)
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
            joined = run("rejoin", back.url, "--primary", b.url, "--report", str(tmp_path / "r"), "--yes")
            assert joined.returncode == 0, joined.stderr
            assert f"What was brought is safe at {b.url}" in joined.stdout
            assert f"{b.url} cannot be followed: {name} follows it already" in joined.stdout
            assert "sigla regions dismiss" in joined.stdout
            _joins_when_there_is_room(back, b)


def _joins_when_there_is_room(back: Server, primary: Server) -> None:
    """Where another one was faster: it goes on as it is, says why, and needs no one to start it."""
    eventually(lambda: "follows it already" in region(back)["problem"])
    assert back.ask("GET", "/subjects/orders/versions/1").status == 200
    assert "\nsigla_region_stopped 1" in back.ask("GET", "/metrics").body.decode()
    shown = run("regions", back.url)
    assert "follows it already" in shown.stdout
    assert run("regions", "dismiss", primary.url, "--yes").returncode == 0
    eventually(lambda: is_follower(back))


def test_a_follower_that_was_given_up_is_told_which_of_both_is_to_rejoin(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as a, following(a, tmp_path / "b") as b:
        assert run("regions", "dismiss", a.url, "--yes").returncode == 0
        refused = run("promote", b.url, "--force", "--yes")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "This follower of epoch 1 was given up, or left behind: its primary answers, and is in epoch 3." in (
            refused.stderr
        )
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
            assert [b.ask("GET", path).json["error_code"] for path in paths] == [50003] * 2, "they may be there"
            assert [back.ask("GET", path).json["schema"] for path in paths] == [LONG["schema"]] * 2
            assert back.ask("GET", f"{paths[0]}/schema").body.decode() == LONG["schema"]
            for nowhere in ("/schemas/ids/77", "/schemas/guids/00000000-0000-0000-0000-000000000000"):
                assert back.ask("GET", nowhere).json["error_code"] == 50003, nowhere
            assert back.ask("GET", "/subjects/alone/versions/1").status == 404
            register(back, "later", INT)
            b.kill()
            assert [back.ask("GET", path).json["schema"] for path in paths] == [LONG["schema"]] * 2
            assert back.ask("GET", "/schemas/ids/77").json["error_code"] == 50003


def test_of_two_that_are_served_from_copies_of_one_directory_the_newer_one_goes_on(tmp_path: Path) -> None:
    """Both would be told how far ids are given in turns, and either believe that it has heard all of it."""
    with serving(tmp_path / "a") as a:
        with following(a, tmp_path / "b"):
            pass
        shutil.copytree(tmp_path / "b", tmp_path / "copy")
        with following(a, tmp_path / "b") as b:
            for _ in range(2):
                with following(a, tmp_path / "copy") as copy:
                    register(a, "s", INT)
                    eventually(lambda: "another copy of this follower's directory is served" in region(b)["problem"])
                    eventually(lambda: copy.ask("GET", "/subjects").json == ["s"])
                    assert region(copy)["problem"] == ""
            assert f"stopped  {a.url} cannot be followed: another copy" in run("regions", b.url).stdout
            for way in ([], ["--force"]):
                refused = run("promote", b.url, *way, "--yes")
                assert (refused.returncode, "another copy of this follower" in refused.stderr) == (2, True)
        a.kill()
        with serving(tmp_path / "b") as b:
            refused = run("promote", b.url, "--force", "--yes")
            assert (refused.returncode, "does not have everything yet" in refused.stderr) == (2, True), "it may lack"
        with serving(tmp_path / "a", "--port", str(a.port)), serving(tmp_path / "b") as b:
            eventually(lambda: is_follower(b))
            assert b.ask("GET", "/subjects").json == ["s"]


def test_who_cannot_begin_to_follow_ends_with_a_sentence(tmp_path: Path) -> None:
    """Where waiting cannot help, before there is a copy and after that; a primary that is silent is waited for."""
    keys = {name: made_key(tmp_path / "a", name, kind) for name, kind in (("admin", "admin"), ("small", "reader"))}
    wrong = {"SIGLA_USER": "admin", "SIGLA_SECRET": "x" * 40}
    small = {"SIGLA_USER": "small", "SIGLA_SECRET": keys["small"]}
    admin = {"SIGLA_USER": "admin", "SIGLA_SECRET": keys["admin"]}

    def refused(url: str, **user: str) -> str:
        words = ["serve", "--auth", "--port", "0", "--data", str(tmp_path / "b"), "--follow", url]
        ended = run(*words, **user)
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), ended.stderr
        return ended.stderr

    with other_product([]) as elsewhere:
        assert f"sigla: {elsewhere} cannot be followed: another server answers there" in refused(elsewhere)
    with serving(tmp_path / "a", "--auth") as a:
        for user in (wrong, small, {}):
            assert "it wants the key of an administrator: give --user NAME" in refused(a.url, **user)
        with serving(tmp_path / "b", "--auth", "--follow", a.url, settings=admin) as b:
            eventually(lambda: "sigla_region_behind_seconds" in metrics(b, admin))
            name = json.loads(run("regions", a.url, "--json", **admin).stdout)["regions"][0]["peer"]
        with directory(Address.of(str(tmp_path / "b"))) as store:  # as of one that another one has outrun
            seen = store.region.role()
            assert seen
            assert store.region.set_role(seen, replace(seen, kind=RegionKind.JOINING, name="late"))
        assert f"{name} follows it already" in refused(a.url, **admin)
        assert "it wants the key of an administrator" in refused(a.url, **wrong)
    with serving(tmp_path / "b", "--auth", "--follow", a.url, settings=admin) as b:
        assert b.ask("GET", "/health/live").status == 200


def test_a_follower_whose_key_was_revoked_shows_it(tmp_path: Path) -> None:
    admin = {"SIGLA_USER": "admin", "SIGLA_SECRET": made_key(tmp_path / "a", "admin", "admin")}
    with serving(tmp_path / "a", "--auth") as a:
        port = str(a.port)
        with serving(tmp_path / "b", "--auth", "--follow", a.url, settings=admin) as b:
            eventually(lambda: "\nsigla_region_stopped 0" in metrics(b, admin))
    assert run("keys", "revoke", "admin", "--data", str(tmp_path / "a")).returncode == 0
    with (
        serving(tmp_path / "a", "--auth", "--port", port),
        serving(tmp_path / "b", "--auth", "--follow", a.url, settings=admin) as b,
    ):
        eventually(lambda: "\nsigla_region_stopped 1" in metrics(b, admin))
        shown = run("regions", b.url, **admin).stdout
        assert f"stopped  {a.url} cannot be followed: it wants the key of an administrator" in shown


def metrics(server: Server, user: dict[str, str]) -> str:
    key = b64encode(f"{user['SIGLA_USER']}:{user['SIGLA_SECRET']}".encode()).decode()
    answer = server.ask("GET", "/metrics", headers={"Authorization": f"Basic {key}"})
    assert answer.status == 200, answer
    return answer.body.decode()


def made_key(data: Path, name: str, kind: str) -> str:
    made = run("keys", "create", name, "--role", kind, "--data", str(data), "--json")
    return str(json.loads(made.stdout)["secret"])


def other_product(sent: list[str]) -> AbstractContextManager[str]:
    """It answers everything with a page. sent: gets the methods of what comes."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.command)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Welcome</html>" * (self.command != "HEAD"))

        do_HEAD = do_POST = do_GET  # noqa: N815 - as `http.server` calls them

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return answering(Page)


def test_another_registry_where_the_primary_was_is_told_nothing_and_not_believed(tmp_path: Path) -> None:
    """There an id means another thing, and what would be written there is not of this registry."""
    with serving(tmp_path / "a") as a:
        register(a, "known", INT)
        with following(a, tmp_path / "b"):
            pass
    with serving() as other:
        for name in ("others", "more"):
            register(other, name, {"schema": json.dumps({"type": "fixed", "name": name, "size": 1})})
        with serving(tmp_path / "b", "--follow", other.url) as b:
            assert b.ask("GET", "/schemas/ids/1/schema").body == b'"int"'
            for asked in (
                ("GET", "/schemas/ids/2"),
                ("GET", "/subjects/others/versions/1"),
                ("POST", "/compatibility/subjects/others/versions/latest", LONG),
                ("POST", "/subjects/mine/versions", LONG),
            ):
                answer = b.ask(*asked)
                assert (answer.status, answer.json["error_code"]) == (500, 50003), asked
            assert b.ask("GET", "/subjects").json == ["known"]
        assert other.ask("GET", "/subjects").json == ["more", "others"]
    sent = list[str]()
    with other_product(sent) as url, serving(tmp_path / "b", "--follow", url) as b:
        written = b.ask("POST", "/subjects/mine/versions", LONG).json
        assert (written["error_code"], "not known" in written["message"]) == (50003, False)
        assert b.ask("GET", "/schemas/ids/1/schema").body == b'"int"'
        assert b.ask("GET", "/schemas/ids/2").json["error_code"] == 50003
    assert set(sent) == {"GET", "HEAD"}, "it is asked who it is, and is written nothing"


def test_who_is_to_be_abandoned_is_told_so_that_a_person_knows_it(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as a, following(a, tmp_path / "b") as b:
        name = role(a)["peer"]
        assert f"{name}, served at {b.url}, which follows" in run("regions", "dismiss", a.url).stderr
        assert run("regions", "dismiss", a.url, "--yes").returncode == 0
        shown = rf"{re.escape(name)}, served at {b.url}, heard of last at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"
        asked = run("regions", "abandon", a.url)
        assert (asked.returncode, bool(re.search(f"Give up {shown}\\?", asked.stderr))) == (2, True), asked.stderr
        assert re.search(f"  out      {shown}: what is missing here may be there\n", run("regions", a.url).stdout)
        b.kill()
        assert run("regions", "abandon", a.url, "--yes").returncode == 0
        again = run("regions", "abandon", a.url)
        assert (again.returncode, again.stderr) == (0, ""), "and what is done is not asked again"
        assert again.stdout == "Nothing is left to be given up: nothing was changed.\n"
        assert role(a)["reconciled"]
        assert region(a)["out"] == []


def test_two_that_would_answer_otherwise_do_not_change_places_by_plan(tmp_path: Path) -> None:
    with serving(tmp_path / "a", settings={"SIGLA_DEFAULT_LEVEL": "FULL"}) as a, following(a, tmp_path / "b") as b:
        refused = run("promote", b.url, "--yes")
        assert (refused.returncode, refused.stdout) == (2, "")
        told = "Nothing was changed. The primary has SIGLA_DEFAULT_LEVEL=full and this region backward"
        assert told in refused.stderr
        assert (role(a)["open"], role(b)["kind"]) == (True, "follower")
        assert region(a)["installed"]["release"] == __version__
