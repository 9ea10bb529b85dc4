"""A new schema stands in both regions before it is acknowledged: what its id means survives the primary.

The way between the two lets bodies pass and no commits, so that nothing of what is read comes from the journal.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.clients.server import Answer, Server, run, serving
from tests.waiting import PATIENCE_S, eventually

REQUIRED = {"SIGLA_REGION_BODIES": "required"}
OUT_OF_STEP = "sigla_region_bodies_out_of_step_total"

Alter = Callable[[dict[str, Any]], dict[str, Any]]


def as_it_is(told: dict[str, Any]) -> dict[str, Any]:
    return told


def no_commits(told: dict[str, Any]) -> dict[str, Any]:
    """They are on their way for ever."""
    return {**told, "commits": []}


def up_to(position: int, told: dict[str, Any]) -> dict[str, Any]:
    """Later ones are on their way for ever."""
    return {**told, "commits": [each for each in told["commits"] if each["position"] <= position]}


def nothing_new(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in no_commits(told).items() if name != "offer"}


class Link:
    """A follower's way to its primary. alter: what the primary tells of its journal, as it comes there."""

    def __init__(self, behind: Server) -> None:
        self.alter: Alter = as_it_is
        link = self

        class Request(BaseHTTPRequestHandler):
            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with closing(HTTPConnection(behind.host, behind.port, timeout=PATIENCE_S)) as connection:
                    connection.request(self.command, self.path, body, dict(self.headers))
                    answer = connection.getresponse()
                    found = answer.read()
                if self.path.startswith("/regions/journal") and answer.status == 200:
                    found = json.dumps(link.alter(json.loads(found))).encode()
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(found)))
                self.end_headers()
                self.wfile.write(found)

            def do_GET(self) -> None:
                with suppress(OSError, HTTPException):
                    self._any()

            do_PUT = do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815 - as above

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Request)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Pair:
    def __init__(self, a: Server, b: Server, link: Link) -> None:
        self.a, self.b, self.link = a, b, link

    def lose_a(self) -> str:
        """It is gone, and the other one is promoted by force, which says this."""
        self.a.kill()
        told = run("promote", self.b.url, "--force", "--yes")
        assert told.returncode == 0, told.stderr
        return told.stdout


@contextmanager
def two(tmp_path: Path, settings: dict[str, str]) -> Iterator[Pair]:
    with serving(tmp_path / "a", settings=settings) as a:
        link = Link(a)
        try:
            with serving(tmp_path / "b", "--follow", link.url, settings=settings) as b:
                first = registered(a, "first", "int")
                eventually(lambda: local(b, f"/schemas/ids/{first}/versions").status == 200)
                yield Pair(a, b, link)
        finally:
            link.close()


def registering(server: Server, subject: str, schema: str) -> Answer:
    return server.ask("POST", f"/subjects/{subject}/versions", {"schema": json.dumps(schema)})


def registered(server: Server, subject: str, schema: str) -> int:
    answer = registering(server, subject, schema)
    assert answer.status == 200, answer
    return int(answer.json["id"])


def local(server: Server, path: str) -> Answer:
    """What is known there itself."""
    return server.ask("GET", path, headers={"X-Forward": "true"})


def out_of_step(server: Server) -> int:
    lines = server.ask("GET", "/metrics").body.decode().splitlines()
    return next(int(float(line.split()[-1])) for line in lines if line.startswith(f"{OUT_OF_STEP} "))


def told_out_of_step(server: Server) -> list[int]:
    """Ids, as the lines for operators have them."""
    lines = [json.loads(line) for line in server.lines if '"bodies_out_of_step"' in line]
    return [each["id"] for line in lines for each in line["ids"]]


@pytest.mark.parametrize("settings", [REQUIRED, {}], ids=["required", "best effort"])
def test_what_was_acknowledged_is_read_by_its_id_in_the_survivor(tmp_path: Path, settings: dict[str, str]) -> None:
    with two(tmp_path, settings) as pair:
        pair.link.alter = no_commits
        id = registered(pair.a, "orders", "long")
        guid = pair.a.ask("GET", f"/schemas/ids/{id}").json["guid"]
        assert (out_of_step(pair.a), local(pair.b, f"/schemas/ids/{id}/versions").status) == (0, 500)
        told = pair.lose_a()
        assert f"Id {id} was registered for orders: it means what it did, without a version." in told
        assert "Id 1 " not in told
        again = run("promote", pair.b.url, "--force")
        assert again.stdout == (
            f"{pair.b.url} is the primary of epoch 2 already: nothing to do.\n"
            f"Id {id} was registered for orders: it means what it did, without a version.\n"
        ), "also where the first answer was lost"
        found = pair.b.ask("GET", f"/schemas/ids/{id}").json
        assert (found["schema"], found["subject"]) == ('"long"', "orders")
        assert pair.b.ask("GET", f"/schemas/guids/{guid}").json["schema"] == '"long"'
        assert pair.b.ask("GET", f"/schemas/ids/{id}?subject=orders").json["schema"] == '"long"'
        assert pair.b.ask("GET", f"/schemas/ids/{id}/versions").json == [], "no version is invented"
        assert pair.b.ask("GET", "/subjects").json == ["first"]
        assert registered(pair.b, "payments", "long") == id, "the same text gets its id again"
        assert registered(pair.b, "users", "string") > 100_000, "another one gets none of before"


def deleted_for_good(server: Server, subject: str) -> None:
    for permanent in ("", "?permanent=true"):
        assert server.ask("DELETE", f"/subjects/{subject}{permanent}").status == 200


@pytest.mark.parametrize("comes", ["before", "after"])
def test_an_id_that_an_import_brings_back_is_read_in_the_survivor(tmp_path: Path, comes: str) -> None:
    """It was deleted for good. That comes to the other region before the schema that is brought, or after it."""
    with two(tmp_path, REQUIRED) as pair:
        brought = {"schema": '"long"', "id": 50_000, "version": 1}
        assert pair.a.ask("PUT", "/mode?force=true", {"mode": "IMPORT"}).status == 200
        assert pair.a.ask("POST", "/subjects/old/versions", brought).status == 200
        eventually(lambda: local(pair.b, "/subjects/old/versions").status == 200)
        if comes == "before":
            deleted_for_good(pair.a, "old")
            eventually(lambda: local(pair.b, "/subjects/old/versions?deleted=true").status != 200)
            pair.link.alter = no_commits
        else:
            pair.link.alter = no_commits
            deleted_for_good(pair.a, "old")
        pair.link.alter = partial(up_to, pair.a.ask("GET", "/regions/rows").json["end"])
        assert pair.a.ask("POST", "/subjects/old/versions", brought).status == 200
        assert local(pair.b, "/subjects/old/versions?deleted=true").status != 200
        pair.lose_a()
        assert pair.b.ask("GET", "/schemas/ids/50000").json["schema"] == '"long"'


def test_where_it_is_required_nothing_is_registered_without_the_other_region(tmp_path: Path) -> None:
    with two(tmp_path, REQUIRED) as pair:
        pair.link.alter = nothing_new
        for _ in range(2):
            refused = registering(pair.a, "orders", "long")
            assert (refused.status, refused.json["error_code"]) == (500, 50002), refused.json
            assert "did not take the schema in time" in refused.json["message"]
        assert pair.a.ask("GET", "/subjects").json == ["first"]
        assert pair.a.ask("PUT", "/config/first", {"compatibility": "NONE"}).status == 200, "others are not hindered"
        assert registered(pair.a, "second", "int") == 1, "nor is what is known"
        pair.link.alter = as_it_is
        eventually(lambda: registering(pair.a, "orders", "long").status == 200)


def test_without_the_other_region_it_goes_on_and_is_counted(tmp_path: Path) -> None:
    with two(tmp_path, {}) as pair:
        pair.link.alter = nothing_new
        ids = [registered(pair.a, kind, kind) for kind in ("long", "string")]
        assert out_of_step(pair.a) == 2
        eventually(lambda: told_out_of_step(pair.a) == ids)
        pair.link.alter = as_it_is
        eventually(lambda: all(local(pair.b, f"/schemas/ids/{id}/versions").status == 200 for id in ids))


def test_while_the_primary_is_silent_a_follower_reads_new_ids_by_their_bodies_alone(tmp_path: Path) -> None:
    with two(tmp_path, REQUIRED) as pair:
        pair.link.alter = no_commits
        id = registered(pair.a, "orders", "long")
        pair.a.kill()
        assert pair.b.ask("GET", f"/schemas/ids/{id}").json["schema"] == '"long"'
        assert pair.b.ask("GET", f"/schemas/ids/{id}/schema").body == b'"long"'
        for path in (f"/schemas/ids/{id}/versions", "/subjects/orders/versions/1", "/schemas/ids/77"):
            assert pair.b.ask("GET", path).json["error_code"] == 50003, "the rest rests on absence"


@pytest.mark.parametrize("dies", [False, True], ids=["refused", "killed meanwhile"])
def test_an_id_that_was_handed_over_and_not_given_is_given_for_nothing_else(tmp_path: Path, dies: bool) -> None:
    """The other region has its body, whether or not that is known here."""
    with two(tmp_path, REQUIRED) as pair:

        def unconfirmed(told: dict[str, Any]) -> dict[str, Any]:
            if "offer" not in told:
                return no_commits(told)
            if dies and pair.a.alive():
                pair.a.kill()
            return {**no_commits(told), "offer": {**told["offer"], "number": 1}}

        pair.link.alter = unconfirmed
        with suppress(OSError, HTTPException):
            assert registering(pair.a, "orders", "long").json["error_code"] == 50002
            assert not dies
        if not dies:
            pair.a.kill()
        with serving(tmp_path / "a", "--port", str(pair.a.port), settings=REQUIRED) as again:
            pair.link.alter = as_it_is
            eventually(lambda: registering(again, "orders", "string").status == 200)
            other = registered(again, "orders-2", "string")
            assert registered(again, "payments", "long") != other
            found = {id: again.ask("GET", f"/schemas/ids/{id}").json.get("schema") for id in range(1, other + 3)}
            pair.a = again
            pair.lose_a()
            for id, schema in found.items():
                standing = pair.b.ask("GET", f"/schemas/ids/{id}")
                assert schema is None or standing.json["schema"] == schema, id


@pytest.mark.parametrize("number", range(4))
def test_whatever_is_killed_while_clients_register_no_acknowledged_id_is_lost(tmp_path: Path, number: int) -> None:
    with two(tmp_path, REQUIRED) as pair:
        acknowledged: dict[int, str] = {}

        def register(thread: int) -> None:
            with suppress(OSError, HTTPException), pair.a.kept() as ask:
                for at in range(10_000):
                    text = json.dumps({"type": "fixed", "name": f"F{thread}_{at}", "size": at + 1})
                    answer = ask("POST", f"/subjects/s{thread}-{at}/versions", {"schema": text})
                    if answer.status == 200:
                        acknowledged[answer.json["id"]] = text

        threads = [threading.Thread(target=register, args=(each,), daemon=True) for each in range(3)]
        for each in threads:
            each.start()
        eventually(lambda: len(acknowledged) > 30 * (number + 1))
        pair.lose_a()
        for each in threads:
            each.join(PATIENCE_S)
        for id, text in acknowledged.items():
            found = pair.b.ask("GET", f"/schemas/ids/{id}")
            assert found.status == 200, (id, found.json)
            assert json.loads(found.json["schema"]) == json.loads(text)


KEKS = "/dek-registry/v1/keks"
KEK = {"name": "pii", "kmsType": "aws-kms", "kmsKeyId": "arn:aws:kms:eu-west-1:111122223333:key/k"}


def dek_of(number: int) -> dict[str, str]:
    return {"subject": f"orders-{number}", "algorithm": "AES256_GCM", "encryptedKeyMaterial": f"wrapped-{number}"}


@pytest.mark.parametrize("stopped", [False, True], ids=["served", "stopped"])
def test_keys_that_were_acknowledged_are_read_in_the_survivor(tmp_path: Path, stopped: bool) -> None:
    """In either mode: what was encrypted by a key that is lost cannot be read any more."""
    with two(tmp_path, {}) as pair:
        assert pair.a.ask("POST", KEKS, {**KEK, "name": "before"}).status == 200
        eventually(lambda: local(pair.b, f"{KEKS}/before").status == 200)
        pair.link.alter = no_commits
        assert pair.a.ask("POST", KEKS, KEK).status == 200
        for number in (1, 2):
            assert pair.a.ask("POST", f"{KEKS}/pii/deks", dek_of(number)).status == 200
        assert pair.a.ask("POST", f"{KEKS}/before/deks", dek_of(3)).status == 200
        assert local(pair.b, f"{KEKS}/pii").status != 200
        if stopped:
            pair.b.stop()
            pair.a.kill()
            told = run("promote", f"file:{tmp_path / 'b'}", "--force", "--yes")
            assert told.returncode == 0, told.stderr
        else:
            pair.lose_a()
        with serving(tmp_path / "b") if stopped else nullcontext(pair.b) as survivor:
            for kek, number in (("pii", 1), ("pii", 2), ("before", 3)):
                found = survivor.ask("GET", f"{KEKS}/{kek}/deks/orders-{number}")
                assert found.json["encryptedKeyMaterial"] == f"wrapped-{number}"
            assert survivor.ask("POST", f"{KEKS}/pii/deks", {**dek_of(1), "encryptedKeyMaterial": "x"}).status == 409


def test_a_key_that_was_deleted_for_good_and_made_anew_is_the_new_one_in_the_survivor(tmp_path: Path) -> None:
    """Its follower has heard of the one before alone. A KEK that was made anew has no DEK of the one before."""
    with two(tmp_path, {}) as pair:
        other = {**KEK, "name": "other"}
        for kek, numbers in ((KEK, (1, 2)), (other, (3, 4))):
            assert pair.a.ask("POST", KEKS, kek).status == 200
            for number in numbers:
                assert pair.a.ask("POST", f"{KEKS}/{kek['name']}/deks", dek_of(number)).status == 200
        eventually(lambda: local(pair.b, f"{KEKS}/other/deks/orders-4").status == 200)
        pair.link.alter = no_commits
        for path in ("pii/deks/orders-1", "other/deks/orders-3", "other/deks/orders-4", "other"):
            for permanent in ("false", "true"):
                assert pair.a.ask("DELETE", f"{KEKS}/{path}?permanent={permanent}").status == 204
        another = {**other, "kmsKeyId": f"{KEK['kmsKeyId']}-2"}
        assert pair.a.ask("POST", KEKS, another).status == 200
        for name, number in (("pii", 1), ("other", 3)):
            anew = {**dek_of(number), "encryptedKeyMaterial": f"anew-{number}"}
            assert pair.a.ask("POST", f"{KEKS}/{name}/deks", anew).status == 200
        pair.lose_a()
        assert pair.b.ask("GET", f"{KEKS}/other").json["kmsKeyId"] == another["kmsKeyId"]
        for name, number, material in (("pii", 1, "anew-1"), ("pii", 2, "wrapped-2"), ("other", 3, "anew-3")):
            found = pair.b.ask("GET", f"{KEKS}/{name}/deks/orders-{number}")
            assert found.json["encryptedKeyMaterial"] == material
        assert pair.b.ask("GET", f"{KEKS}/other/deks").json == ["orders-3"]


def test_a_key_that_the_other_region_does_not_take_is_refused_in_either_mode(tmp_path: Path) -> None:
    with two(tmp_path, {}) as pair:
        assert pair.a.ask("POST", KEKS, KEK).status == 200
        pair.link.alter = nothing_new
        for _ in range(2):
            refused = pair.a.ask("POST", f"{KEKS}/pii/deks", dek_of(1))
            assert (refused.status, refused.json["error_code"]) == (500, 50002)
        assert pair.a.ask("GET", f"{KEKS}/pii/deks").json == []
        assert pair.a.ask("DELETE", f"{KEKS}/pii").status == 204, "nothing is lost by that"
        pair.link.alter = as_it_is
        eventually(lambda: pair.a.ask("POST", f"{KEKS}/pii/undelete").status == 204)
        eventually(lambda: pair.a.ask("POST", f"{KEKS}/pii/deks", dek_of(1)).status == 200)
