"""A primary that was closed takes writes again when the other region is lost, and no id means two things."""

from pathlib import Path

from sigla.regions import rules
from tests.protocol.clients.server import Server, run, serving
from tests.protocol.test_promotion_served import LONG, TEXT, _end, done, registered, roles, two
from tests.protocol.test_region_places import is_follower
from tests.waiting import eventually


def cut_off(a: Server, b: Server) -> None:
    """A promotion of B, after it has closed A."""
    for server in (b, a):
        seen = server.ask("GET", "/regions").json["role"]
        role = {**seen, "token": "t", "open": seen["kind"] != "primary"}
        assert server.ask("PUT", "/regions/role", {"seen": seen, "role": role}).json == {"changed": True}


def test_a_primary_that_a_promotion_has_closed_goes_on_when_the_follower_is_lost(tmp_path: Path) -> None:
    with two(tmp_path) as (a, b):
        registered(a, "orders", TEXT)
        eventually(lambda: _end(a) == _end(b))
        cut_off(a, b)
        assert a.ask("POST", "/subjects/late/versions", LONG).json["error_code"] == 50003
        refused = run("promote", a.url, "--force", "--yes")
        assert refused.returncode == 2
        assert f"{b.url} answers: it is the follower of epoch 1." in refused.stderr
        assert "with --undo this region takes writes again" in refused.stderr
        port = b.url.rpartition(":")[2]
        b.kill()
        told = done("promote", a.url, "--force")
        assert "is the primary of epoch 3, by force." in told
        assert f"sigla rejoin {b.url} --primary {a.url}" in told
        assert done("promote", a.url, "--force") == f"{a.url} is the primary of epoch 3 already: nothing to do.\n"
        assert registered(a, "late", LONG) == 2 * rules.BLOCK + 1
        with serving(tmp_path / "b", "--port", port) as back:
            for way in ([], ["--force"]):
                refused = run("promote", back.url, *way, "--yes")
                assert refused.returncode == 2
                assert "its primary answers, and is in epoch 3. `sigla rejoin` has it follow again" in refused.stderr
            assert registered(back, "later", {"schema": '"bytes"'}) == 2 * rules.BLOCK + 2, "it is sent on"
            done("rejoin", back.url, "--primary", a.url, "--report", str(tmp_path / "report"))
            eventually(lambda: is_follower(back))
            assert roles(a, back) == [("primary", 3, True), ("follower", 3, False)]
            assert back.ask("GET", "/subjects").json == ["late", "later", "orders"]
            done("promote", back.url)


def test_a_primary_that_was_passed_over_goes_on_when_the_new_one_is_lost(tmp_path: Path) -> None:
    with two(tmp_path) as (a, b):
        registered(a, "orders", TEXT)
        eventually(lambda: _end(a) == _end(b))
        assert "The other region is closed." in done("promote", b.url, "--force")
        alone = registered(b, "alone", LONG)
        refused = run("promote", a.url, "--force", "--yes")
        assert refused.returncode == 2
        assert "This region comes back to that one: `sigla rejoin` with its URL" in refused.stderr
        port = b.url.rpartition(":")[2]
        b.kill()
        assert "is the primary of epoch 3, by force." in done("promote", a.url, "--force")
        assert registered(a, "late", {"schema": '"bytes"'}) == 2 * rules.BLOCK + 1
        with serving(tmp_path / "b", "--port", port) as back:
            eventually(lambda: roles(back) == [("primary", 2, False)])
            refused = run("promote", back.url, "--force", "--yes")
            assert refused.returncode == 2
            (told,) = refused.stderr.splitlines()
            assert "comes back by `sigla rejoin` with the region that takes writes" in told, "and nothing before it"
            done("rejoin", back.url, "--primary", a.url, "--report", str(tmp_path / "report"))
            eventually(lambda: is_follower(back))
            assert roles(a, back) == [("primary", 3, True), ("follower", 3, False)]
            assert a.ask("GET", f"/schemas/ids/{alone}/versions").json == [{"subject": "alone", "version": 1}]


def test_a_survivor_says_which_contexts_get_no_new_id(tmp_path: Path) -> None:
    """An import has raised the ceiling beyond the block that a promotion begins."""
    with two(tmp_path) as (a, b):
        assert a.ask("PUT", "/mode/:.far:orders", {"mode": "IMPORT"}).status == 200
        brought = {**TEXT, "id": 2 * rules.BLOCK, "version": 1}
        assert a.ask("POST", "/subjects/:.far:orders/versions", brought).status == 200
        eventually(lambda: _end(a) == _end(b))
        a.kill()
        *_, told = done("promote", b.url, "--force").splitlines()
        assert told.startswith("No new id is given in context .far until the other region has rejoined, or is given up")
        assert b.ask("POST", "/subjects/:.far:new/versions", LONG).json["error_code"] == 50002
        registered(b, "new", LONG)
