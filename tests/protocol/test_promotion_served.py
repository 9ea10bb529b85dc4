"""`sigla promote` and `sigla regions` of servers that run: they change places while clients ask them."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from sigla.regions import rules
from tests.protocol.clients.server import Server, run, serving
from tests.unit.cli.answering import always, behind_a_url
from tests.waiting import eventually

INT, LONG, TEXT = ({"schema": json.dumps(kind)} for kind in ("int", "long", "string"))


class Two(NamedTuple):
    """A, the primary, and B, which follows it."""

    a: Server
    b: Server


@contextmanager
def two(tmp_path: Path) -> Iterator[Two]:
    with serving(tmp_path / "a") as a, serving(tmp_path / "b", "--follow", a.url) as b:
        yield Two(a, b)


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[Two]:
    with two(tmp_path) as opened:
        yield opened


def registered(server: Server, subject: str, body: dict[str, str]) -> int:
    answer = server.ask("POST", f"/subjects/{subject}/versions", body)
    assert answer.status == 200, answer
    return int(answer.json["id"])


def done(*words: str) -> str:
    """What a command says that ends well."""
    ended = run(*words, "--yes")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def roles(*servers: Server) -> list[tuple[str, int, bool]]:
    found = json.loads(done("regions", *(each.url for each in servers), "--json"))["regions"]
    return [(each["role"], each["epoch"], each["open"]) for each in found]


def test_a_follower_takes_over_and_gives_it_back_while_both_run(regions: Two) -> None:
    a, b = regions
    assert registered(a, "orders", INT) == 1
    assert "is the primary of epoch 2." in done("promote", b.url)
    assert roles(a, b) == [("follower", 2, False), ("primary", 2, True)]
    assert registered(b, "orders", LONG) == rules.BLOCK + 1
    assert registered(a, "orders", {"schema": json.dumps("double")}) == rules.BLOCK + 2, "it is sent on"
    assert a.ask("GET", "/subjects/orders/versions").json == [1, 2, 3], "and is there"
    assert done("promote", b.url) == f"{b.url} is the primary of epoch 2 already: nothing to do.\n"
    assert "is the primary of epoch 3." in done("promote", a.url)
    assert roles(a, b) == [("primary", 3, True), ("follower", 3, False)]
    assert registered(b, "late", TEXT) == 2 * rules.BLOCK + 1
    assert a.ask("GET", "/subjects").json == ["late", "orders"]


def test_regions_change_places_as_often_as_they_are_told_without_a_pause(regions: Two) -> None:
    """Each takes note of the other one while the next promotion is rehearsed already."""
    for epoch in range(2, 10):
        here = regions[1 - epoch % 2]
        answer = here.ask("POST", "/regions/promote", {"way": "planned", "url": here.url, "primary": ""})
        assert (answer.status, answer.json.get("changed")) == (200, True), answer
        assert answer.json["role"]["epoch"] == epoch


def test_a_primary_that_is_lost_is_passed_over_and_closed_when_it_comes_back(tmp_path: Path) -> None:
    with two(tmp_path) as (a, b):
        port = a.url.rpartition(":")[2]
        registered(a, "orders", INT)
        eventually(lambda: _end(a) == _end(b))
        a.kill()
        shown = run("regions", b.url, a.url)
        assert shown.returncode == 1
        assert "follower of epoch 1" in shown.stdout, "the one that answers is shown"
        assert f"{a.url} does not answer" in shown.stderr
        assert f"sigla promote {b.url} --force" in shown.stderr, "and what to do is told"
        planned = run("promote", b.url, "--yes")
        assert planned.returncode == 1
        assert "if that machine is lost, promote with --force" in planned.stderr
        told = done("promote", b.url, "--force")
        assert "is the primary of epoch 2, by force." in told
        assert "The other region could not be closed" in told
        assert registered(b, "orders", LONG) == rules.BLOCK + 1
        of_b = run("regions", b.url).stdout
        assert f"if it comes back: sigla rejoin {a.url} --primary {b.url}\n" in of_b
        assert f"if it never does: sigla regions abandon {b.url}\n" in of_b
        with serving(tmp_path / "a", "--port", port) as back:
            refused = back.ask("POST", "/subjects/mine/versions", TEXT)
            assert (refused.status, refused.json["id"]) == (200, rules.BLOCK + 2), "it knows the new primary: sent on"
            assert roles(back) == [("primary", 1, False)]
            for way in ([], ["--force"]):
                passed_over = run("promote", back.url, *way, "--yes")
                assert passed_over.returncode == 2
                assert "`sigla rejoin`" in passed_over.stderr, "it is no primary already with nothing to do"
            assert b.ask("GET", "/subjects").json == ["mine", "orders"]


def test_a_region_that_was_passed_over_rejoins_and_follows_by_itself(tmp_path: Path) -> None:
    """What it alone had acknowledged is there, by its ids; what stands in the way is told."""
    with two(tmp_path) as (a, b):
        ports = str(a.port), str(b.port)
        registered(a, "orders", INT)
        eventually(lambda: _end(a) == _end(b))
        b.kill()
        alone = registered(a, "orders", LONG)
        only = registered(a, "lost", TEXT)
        assert a.ask("PUT", "/config/orders", {"compatibility": "NONE"}).status == 200
        a.kill()
    with serving(tmp_path / "b", "--port", ports[1]) as b:
        done("promote", b.url, "--force")
        registered(b, "orders", {"schema": json.dumps("double")})
        with serving(tmp_path / "a", "--port", ports[0]) as a:
            words = ["rejoin", a.url, "--primary", b.url, "--report", str(tmp_path / "report"), "--yes"]
            ended = run(*words)
            assert ended.returncode == 1, ended.stderr
            assert "orders version 2: the number is taken here" in ended.stdout
            assert "orders: config was changed there, and not here" in ended.stdout
            eventually(lambda: _follows(a))
            assert roles(a, b) == [("follower", 2, False), ("primary", 2, True)]
            for server in (a, b):
                assert server.ask("GET", f"/schemas/ids/{alone}").json["schema"] == LONG["schema"]
                assert server.ask("GET", f"/schemas/ids/{only}").json["schema"] == TEXT["schema"]
                assert server.ask("GET", "/subjects/lost/versions").json == [1]
            assert registered(a, "lost", TEXT) == only
            assert run(*words).stdout == f"{a.url} joins or follows already: nothing to do.\n"
            assert (tmp_path / "a" / "passed-over-1" / "catalog.sqlite").exists()
        with serving(tmp_path / "a", "--port", ports[0]) as a:
            assert registered(a, "late", INT) == 1


def _end(server: Server) -> dict[str, object]:
    return dict(server.ask("GET", "/regions").json["journal"])


def _follows(server: Server) -> bool:
    with suppress(OSError):
        return bool((server.ask("GET", "/regions").json["role"] or {}).get("kind") == "follower")
    return False


def test_what_the_roles_do_not_allow_is_refused_in_a_sentence_and_changes_nothing(regions: Two) -> None:
    a, b = regions
    for words, why in (
        (["promote", a.url, "--undo"], "there is nothing to take back"),
        (["promote", b.url, "--url", "http://127.0.0.1:1"], "The primary could not follow this region: http://127.0"),
        (["promote", b.url, "--url", a.url], f"{a.url} is the primary of epoch 1"),
        (["promote", b.url, "--url", "nonsense"], "Invalid --url"),
        (["rejoin", b.url, "--primary", a.url, "--url", "nonsense"], "Invalid --url"),
        (["promote", b.url, "--primary", "file:x"], "two servers"),
        (["promote", "http://127.0.0.1:1"], "does not answer"),
        (["regions", "abandon", b.url], "is for the primary that takes writes, and the region is the follower"),
        (["promote", b.url, "--primary", f"{b.url}/"], "Both URLs are the same"),
        (["rejoin", b.url, "--primary", b.url], "Both URLs are the same"),
        (["promote", b.url.removeprefix("http://")], "Invalid URL 127.0.0.1:"),
        (["regions", "localhost:8081"], "Invalid URL localhost:8081: that of a server is http://HOST:PORT"),
    ):
        refused = run(*words, "--yes")
        assert refused.returncode == 1 + ("does not answer" not in why), (words, refused.stderr)
        assert why in refused.stderr
        assert refused.stderr.count("\n") <= 3
        assert refused.stdout == ""
    assert done("promote", a.url).endswith("is the primary of epoch 1 already: nothing to do.\n")
    assert roles(a, b) == [("primary", 1, True), ("follower", 1, False)]
    with serving() as alone:
        refused = run("promote", alone.url, "--yes")
        assert (refused.returncode, "in memory" in refused.stderr or "two regions" in refused.stderr) == (2, True)


def test_what_is_no_registry_is_told_from_one_that_is_silent(regions: Two) -> None:
    """A web server that answers by pages: the URL is wrong, and no machine is lost."""
    _, b = regions
    with behind_a_url(always(200, "<html>Welcome</html>")) as pages:
        for words, status in (
            (["regions", pages], 2),
            (["promote", pages, "--yes"], 2),
            (["promote", b.url, "--primary", pages, "--yes"], 1),
            (["regions", "abandon", pages, "--yes"], 2),
        ):
            refused = run(*words)
            assert (refused.returncode, "does not answer" in refused.stderr) == (status, False), (words, refused.stderr)
            assert f"{pages} is not a registry of Sigla (what answers there says 200)." in refused.stderr
            assert "--force" not in refused.stderr
    assert roles(b) == [("follower", 1, False)]


def test_a_follower_that_has_not_everything_is_not_promoted_by_plan(tmp_path: Path) -> None:
    """Its primary does not answer: nothing was changed, and it says so."""
    with two(tmp_path) as (a, b):
        a.kill()
        refused = run("promote", b.url, "--yes")
        assert refused.returncode == 1
        assert "does not answer" in refused.stderr
        assert roles(b) == [("follower", 1, False)]
        assert "promote it by force" not in refused.stderr


def test_a_promotion_that_was_cut_off_is_taken_back(regions: Two) -> None:
    a, b = regions
    registered(a, "orders", INT)
    eventually(lambda: _end(a) == _end(b))
    for server in (b, a):  # as far as it had come
        seen = server.ask("GET", "/regions").json["role"]
        role = {**seen, "token": "t", "open": seen["kind"] != "primary"}
        assert server.ask("PUT", "/regions/role", {"seen": seen, "role": role}).json == {"changed": True}
        assert server.ask("PUT", "/regions/role", {"seen": seen, "role": role}).json == {"changed": False}
    for server in (a, b):
        assert server.ask("POST", "/subjects/orders/versions", LONG).json["error_code"] == 50003
        assert server.ask("GET", "/subjects/orders/versions/1").status == 200
    assert done("promote", b.url, "--undo") == f"{a.url} takes writes again.\n"
    assert registered(b, "orders", LONG) == 2
    assert done("promote", b.url, "--undo") == f"{a.url} takes writes: nothing to take back.\n"


def test_only_an_administrator_s_key_promotes_and_no_page_of_a_browser(tmp_path: Path) -> None:
    secrets = {}
    for name, role in (("root", "admin"), ("team", "admin"), ("reader", "reader")):
        prefix = ["--subjects", "team-"] if name == "team" else []
        made = run("keys", "create", name, "--role", role, *prefix, "--data", str(tmp_path / "a"))
        secrets[name] = next(word for word in made.stdout.split() if len(word) > 30)
    root = {"SIGLA_USER": "root", "SIGLA_SECRET": secrets["root"]}
    with (
        serving(tmp_path / "a", "--auth", settings=root) as a,
        serving(tmp_path / "b", "--auth", "--follow", a.url, settings=root) as b,
    ):
        for user in ({}, *({"SIGLA_USER": name, "SIGLA_SECRET": secrets[name]} for name in ("team", "reader"))):
            for way in ([], ["--force"], ["--undo"]):
                refused = run("promote", b.url, *way, "--yes", **user)
                assert refused.returncode == 2, refused.stderr
                wanted = "wants the key of an administrator who reaches everything"
                told = (
                    f", and that of {user['SIGLA_USER']} is not, or its secret is another." if user else ": give --user"
                )
                assert wanted + told in refused.stderr
        page = {"Authorization": basic("root", secrets["root"]), "Sec-Fetch-Site": "same-origin"}
        for method, path in (
            ("POST", "promote"),
            ("POST", "abandon"),
            ("POST", "dismiss"),
            ("PUT", "role"),
            ("POST", "reach"),
        ):
            assert b.ask(method, f"/regions/{path}", {}, page).status == 403
        promoted = run("promote", b.url, "--yes", **root)
        assert promoted.returncode == 0, promoted.stderr
        key = {"Authorization": basic("root", secrets["root"])}
        assert a.ask("POST", "/subjects/x/versions", INT, key).json["id"] == rules.BLOCK + 1


def test_a_primary_without_a_key_for_its_follower_is_told_to_have_one(tmp_path: Path) -> None:
    made = run("keys", "create", "root", "--role", "admin", "--data", str(tmp_path / "a"))
    secret = next(word for word in made.stdout.split() if len(word) > 30)
    root = {"SIGLA_USER": "root", "SIGLA_SECRET": secret}
    with (
        serving(tmp_path / "a", "--auth") as a,
        serving(tmp_path / "b", "--auth", "--follow", a.url, settings=root) as b,
    ):
        refused = run("promote", b.url, "--yes", **root)
        assert refused.returncode == 2
        assert f"The primary could not follow this region: {b.url} wants the key of an administrator" in refused.stderr
        assert "SIGLA_USER" in refused.stderr


def basic(name: str, secret: str) -> str:
    return f"Basic {b64encode(f'{name}:{secret}'.encode()).decode()}"


def test_the_exporters_of_a_primary_that_was_passed_over_do_not_begin_with_its_server(tmp_path: Path) -> None:
    """The other region exports by then: this one asks for it before it does anything, as before the first write."""
    with behind_a_url(always(404, "")) as nowhere, two(tmp_path) as (a, b):
        port = str(a.port)
        form = {"name": "line", "contextType": "NONE", "config": {"schema.registry.url": nowhere}}
        assert a.ask("POST", "/exporters", form).status == 200
        a.wait_for(lambda server: '"event":"exporter-started"' in server.output)
        eventually(lambda: _end(a) == _end(b))
        a.kill()
        done("promote", b.url, "--force")
        with serving(tmp_path / "a", "--port", port) as back:
            assert roles(back) == [("primary", 1, False)]
            assert "exporter-started" not in back.output
        with serving(tmp_path / "a", "--port", port) as again:
            assert "exporter-started" not in again.output, "nor once it is closed"
