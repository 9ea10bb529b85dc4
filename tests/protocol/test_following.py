"""`sigla serve --follow`: two servers of one registry, and clients that ask either."""

import json
import socket
import sqlite3
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from random import Random
from urllib.parse import quote, urlencode

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from sigla.auth.guesses import FREE
from tests.protocol.clients.server import Server, run, serving
from tests.waiting import eventually

INT, LONG = ({"schema": json.dumps(kind)} for kind in ("int", "long"))
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
NOTED = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "string", "default": ""}]}


@contextmanager
def following(primary: Server, data: Path, *arguments: str) -> Iterator[Server]:
    with serving(data, "--follow", primary.url, *arguments) as server:
        yield server


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "a") as server:
        yield server


def registered(server: Server, subject: str, body: dict[str, str]) -> int:
    answer = server.ask("POST", f"/subjects/{subject}/versions", body)
    assert answer.status == 200, answer
    return int(answer.json["id"])


def test_what_is_written_at_either_is_read_at_both(primary: Server, tmp_path: Path) -> None:
    before = registered(primary, "a", INT)
    with following(primary, tmp_path / "b") as follower:
        assert follower.ask("GET", f"/schemas/ids/{before}").json["schema"] == INT["schema"], "it has a copy"
        through = registered(follower, "b", LONG)
        answer = follower.ask("GET", f"/schemas/ids/{through}")
        assert answer.json["schema"] == LONG["schema"]
        assert int(answer.headers["x-sigla-behind"]) < 60_000, "it was answered there"
        later = registered(primary, "c", {"schema": json.dumps("string")})
        assert follower.ask("GET", f"/schemas/ids/{later}").status == 200, "what is not there yet is asked for"
        assert follower.ask("GET", "/subjects/c/versions/1").status == 200
        assert follower.ask("GET", "/schemas/ids/77").json["error_code"] == 40403, "neither has it"
        assert primary.ask("GET", "/subjects").json == ["a", "b", "c"]


def test_a_condition_holds_also_where_a_follower_sends_it_on(primary: Server, tmp_path: Path) -> None:
    with following(primary, tmp_path / "b") as follower:
        registered(primary, "a", INT)
        stale = {"If-Match": '"0"'}
        for method, path, body in (
            ("PUT", "/config/a", {"compatibility": "NONE"}),
            ("POST", "/subjects/a/versions", LONG),
            ("DELETE", "/subjects/a", None),
        ):
            told = [server.ask(method, path, body, stale).status for server in (primary, follower)]
            assert told == [412, 412], (method, path)
        assert primary.ask("GET", "/subjects/a/versions").json == [1]


def test_a_follower_sends_nothing_on_for_a_page_of_another_site(primary: Server, tmp_path: Path) -> None:
    with following(primary, tmp_path / "b") as follower:
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
            told = [server.ask("POST", "/subjects/a/versions", INT, headers).status for server in (primary, follower)]
            assert told == [403, 403], headers
        assert primary.ask("GET", "/subjects").json == []


def test_a_copy_is_gone_whatever_was_asked_of_it(tmp_path: Path) -> None:
    temporary = tmp_path / "t"
    temporary.mkdir()
    with serving(tmp_path / "a", settings={"TMPDIR": str(temporary)}) as server:
        for headers in ({}, {"Range": "bytes=x"}, {"Range": "bytes=999999999-"}):
            server.ask("GET", "/regions/copy", headers=headers)
            eventually(lambda: not list(temporary.glob("sigla-copy-*")))


def test_a_page_of_a_browser_makes_no_registry_a_primary(primary: Server, tmp_path: Path) -> None:
    """An image of another site asks with GET, and without a key where none is needed."""
    paths = ("/regions/journal?follower=evil&epoch=0", "/regions/copy")
    for path in paths:
        assert primary.ask("GET", path, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert primary.ask("GET", paths[0]).status == 422, "a question alone makes none"
    with following(primary, tmp_path / "b") as follower:
        assert registered(follower, "a", INT) == 1


def test_what_no_follower_asks_is_refused_in_words(primary: Server) -> None:
    """Not with 500, and a traceback among the lines of the log."""
    for name, *values in (
        ("after", "1e3", "-1", 10**19),
        ("epoch", "x", "9" * 5000),
        ("wait", "1_0"),
        ("heard", "x", "[]", "0", '{".":null}', '{".":[]}', '{".":Infinity}', '{".":true}', "[" * 2000, "9" * 5000),
        ("follower", "", " ", "http://b", "b\n", "\x00", "x" * 1025),
    ):
        for value in values:
            refused = primary.ask("GET", f"/regions/journal?{urlencode({'follower': 'b', name: value})}")
            assert (refused.status, refused.json["error_code"]) == (400, 400), value
            assert refused.json["message"].startswith(f"{name}: ")
    assert "Traceback" not in primary.said


def test_a_registry_of_many_contexts_is_followed(primary: Server, tmp_path: Path) -> None:
    """What is said of all of them would not fit into a question."""
    with primary.kept() as ask:
        for number in range(50):
            assert ask("POST", quote(f"/subjects/:.{'é' * 200}{number}:a/versions"), INT).status == 200
    with following(primary, tmp_path / "b") as follower:
        eventually(lambda: "sigla_region_behind_seconds" in follower.ask("GET", "/metrics").body.decode())
        registered(primary, "later", LONG)
        eventually(lambda: follower.ask("GET", "/subjects/later/versions/1").headers.get("x-sigla-behind"))
        assert "\nsigla_region_stopped 0" in follower.ask("GET", "/metrics").body.decode()


def test_without_its_primary_a_follower_answers_what_it_has(tmp_path: Path) -> None:
    """And nothing else: what it does not have is not said to be nowhere."""
    with serving(tmp_path / "a") as primary:
        id = registered(primary, "a", INT)
        registered(primary, ":.other:b", LONG)
        with following(primary, tmp_path / "b") as follower:
            registered(follower, "c", LONG)
            primary.kill()
            assert follower.ask("GET", f"/schemas/ids/{id}").status == 200
            assert follower.ask("GET", "/subjects/a/versions/latest").json["version"] == 1
            assert follower.ask("GET", "/subjects").json == [":.other:b", "a", "c"]
            for path in ("/schemas/ids/77", "/subjects/x/versions/1", "/subjects/b/versions/1", "/config/a"):
                assert follower.ask("GET", path).json["error_code"] == 50003, path
            for answer in (
                follower.ask("POST", "/subjects/a/versions", LONG),
                follower.ask("POST", "/compatibility/subjects/a/versions/latest", LONG),
                follower.ask("DELETE", "/subjects/a"),
                follower.ask("PUT", "/config", {"compatibility": "NONE"}),
                follower.ask("POST", "/console/api/decode", {"record": f"00{77:08x}02"}),
            ):
                assert answer.status == 500
                assert answer.json["error_code"] == 50003
            assert follower.ask("GET", "/health/ready").status == 200
            assert "\nsigla_region_stopped 1" in follower.ask("GET", "/metrics").body.decode()


def test_both_are_started_again_with_the_same_words_or_with_none(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as primary:
        registered(primary, "a", INT)
        port = primary.url.rpartition(":")[2]
        with following(primary, tmp_path / "b"):
            pass
        registered(primary, "b", LONG)
    with serving(tmp_path / "a", "--port", port) as primary:
        with serving(tmp_path / "b") as follower:  # the data say whom
            assert follower.ask("GET", "/subjects/b/versions/1").status == 200
        with following(primary, tmp_path / "b") as follower:
            assert registered(follower, "c", INT) == 1


def test_a_key_is_good_at_both(tmp_path: Path) -> None:
    secret = _made(tmp_path / "a", "admin", "--role", "admin")
    user = {"SIGLA_USER": "admin", "SIGLA_SECRET": secret}
    with (
        serving(tmp_path / "a", "--auth") as primary,
        serving(tmp_path / "b", "--auth", "--follow", primary.url, settings=user) as follower,
    ):
        headers = {"Authorization": f"Basic {_basic('admin', secret)}"}
        assert follower.ask("POST", "/subjects/a/versions", INT, headers).status == 200
        assert follower.ask("GET", "/subjects", headers=headers).json == ["a"]
        assert follower.ask("GET", "/subjects").status == 401
        for path in ("/regions/journal", "/regions/copy"):
            stranger = primary.ask("GET", path)
            assert stranger.status == 401
            assert stranger.headers["www-authenticate"] == primary.ask("GET", "/subjects").headers["www-authenticate"]
    refused = run("serve", "--data", str(tmp_path / "c"), "--follow", primary.url)
    assert refused.returncode == 2


def test_the_length_of_the_journal_is_told_to_the_follower_alone(tmp_path: Path) -> None:
    """A client that calls itself one would count by it what is done with subjects that it may not see."""
    data = tmp_path / "a"
    secrets = {name: _made(data, name, *more) for name, more in WHO.items()}
    user = {"SIGLA_USER": "admin", "SIGLA_SECRET": secrets["admin"]}
    with serving(data, "--auth") as primary:
        small, admin, own = (
            {"Authorization": f"Basic {_basic(name, secrets[name])}"} for name in ("etl", "admin", "own")
        )

        def told(**claims: str) -> str | None:
            sent = {**small, "X-Forward": "true", **{f"X-Sigla-{name}": said for name, said in claims.items()}}
            answer = primary.ask("POST", "/subjects/a/versions", INT, sent)
            assert answer.status == 200
            return answer.headers.get("x-sigla-moved")

        assert primary.ask("POST", "/subjects/b/versions", LONG, admin).status == 200
        claims = ("", "true", "Basic x", small["Authorization"], own["Authorization"])
        assert [told(Follower=each) for each in claims] == [None] * len(claims)
        assert told() is None
        assert told(Follower=admin["Authorization"]) == "2"
        with serving(tmp_path / "b", "--auth", "--follow", primary.url, settings=user) as follower:
            for version in range(1, 6):
                body = {"schema": json.dumps({**ORDER, "name": f"Order{version}"})}
                assert follower.ask("PUT", "/config/a", {"compatibility": "NONE"}, admin).status == 200
                assert follower.ask("POST", "/subjects/a/versions", body, small).status == 200
                answer = follower.ask("GET", "/subjects/a/versions/latest", headers=small)
                assert answer.json["version"] == version + 1, "what was written through it is read there"


WHO = {
    "etl": ("--role", "writer", "--subjects", "a"),
    "own": ("--role", "admin", "--subjects", "a"),
    "admin": ("--role", "admin"),
}


def _made(data: Path, name: str, *more: str) -> str:
    """The secret of a new key."""
    made = run("keys", "create", name, *more, "--data", str(data), "--json")
    return str(json.loads(made.stdout)["secret"])


def test_wrong_secrets_at_a_follower_hold_up_no_writer(tmp_path: Path) -> None:
    """They wait there, as they would at the primary; a key that only the primary knows is good there as well."""
    keys = [_made(tmp_path / "a", "admin", "--role", "admin"), _made(tmp_path / "a", "writer", "--role", "writer")]
    user = {"SIGLA_USER": "admin", "SIGLA_SECRET": keys[0]}
    with (
        serving(tmp_path / "a", "--auth") as primary,
        serving(tmp_path / "b", "--auth", "--follow", primary.url, settings=user) as follower,
    ):
        writer = {"Authorization": f"Basic {_basic('writer', keys[1])}"}
        later = {"Authorization": f"Basic {_basic('later', _made(tmp_path / 'a', 'later', '--role', 'writer'))}"}
        statuses: list[int] = []

        def guess(number: int) -> None:
            headers = {"Authorization": f"Basic {_basic('writer', f'{number:064x}')}"}
            statuses.append(follower.ask("POST", "/subjects/a/versions", INT, headers).status)

        strangers = [threading.Thread(target=guess, args=(number,)) for number in range(FREE + 12)]
        for each in strangers:
            each.start()
        eventually(lambda: len(statuses) >= FREE)
        for headers in (writer, later):
            assert follower.ask("POST", "/subjects/a/versions", INT, headers).status == 200
            assert follower.ask("GET", "/subjects/a/versions/latest", headers=headers).status == 200
        assert any(each.is_alive() for each in strangers), "they wait still"
        for each in strangers:
            each.join()
        assert statuses == [401] * len(strangers)


def _basic(name: str, secret: str) -> str:
    return b64encode(f"{name}:{secret}".encode()).decode()


def test_what_cannot_follow_says_why_and_leaves_nothing(primary: Server, tmp_path: Path) -> None:
    with following(primary, tmp_path / "b") as follower:
        eventually(lambda: primary.ask("GET", "/regions").json["role"]["peer"])
        for data, url, why in (
            ("c", primary.url, "follows it already, and there can be one"),
            ("c", follower.url, "it follows another one itself"),
            ("c", "http://127.0.0.1:1", "does not answer"),
            ("c", "nonsense", "Invalid URL"),
        ):
            refused = run("serve", "--port", "0", "--data", str(tmp_path / data), "--follow", url)
            assert (refused.returncode, refused.stdout) == (2, "")
            assert why in refused.stderr
            assert "Traceback" not in refused.stderr
            assert not refused.stderr.endswith("..\n")
            assert not (tmp_path / data / "catalog.sqlite").exists()
    registry = tmp_path / "own"
    with serving(registry) as server:
        registered(server, "mine", INT)
    refused = run("serve", "--port", "0", "--data", str(registry), "--follow", primary.url)
    assert refused.returncode == 2
    assert "is not empty, and never followed" in refused.stderr
    with following(primary, tmp_path / "b"):
        pass
    refused = run("serve", "--port", "0", "--data", str(tmp_path / "b"), "--follow", "nonsense")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "Invalid URL" in refused.stderr
    for more in (["--zones", "2"], ["--registry", "x"], ["--memory"]):
        refused = run("serve", "--port", "0", *more, "--follow", primary.url)
        assert refused.returncode == 2
        assert "is one alone, in a directory" in refused.stderr


def test_a_primary_that_is_silent_is_told_before_the_time_that_a_copy_may_take(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url, since = f"http://127.0.0.1:{silent.getsockname()[1]}", time.monotonic()
        refused = run("serve", "--port", "0", "--data", str(tmp_path / "b"), "--follow", url)
    assert (refused.returncode, "does not answer" in refused.stderr) == (2, True)
    assert time.monotonic() - since < 30
    assert not (tmp_path / "b").exists()


def test_confluent_s_client_with_both_urls_notices_nothing(tmp_path: Path) -> None:
    """The follower first: it registers, evolves, looks up and reads through it, and goes on without it."""
    with (
        serving(tmp_path / "a") as primary,
        following(primary, tmp_path / "b") as follower,
        confluents(f"{follower.url},{primary.url}") as client,
    ):
        first = client.register_schema("orders-value", Schema(json.dumps(ORDER), "AVRO"))
        second = client.register_schema("orders-value", Schema(json.dumps(NOTED), "AVRO"))
        assert client.get_latest_version("orders-value").version == 2
        assert client.test_compatibility("orders-value", Schema(json.dumps(NOTED), "AVRO"))
        for url in (follower.url, primary.url):
            with confluents(url) as fresh:
                assert json.loads(fresh.get_schema(first).schema_str or "") == ORDER
                assert fresh.lookup_schema("orders-value", Schema(json.dumps(NOTED), "AVRO")).schema_id == second
        follower.kill()
        assert client.register_schema("more-value", Schema(json.dumps(ORDER), "AVRO")) == first


@contextmanager
def confluents(urls: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": urls}) as client:
        yield client


@pytest.mark.soak
def test_whatever_is_killed_both_have_the_same_in_the_end_and_no_id_means_two_things(tmp_path: Path) -> None:
    """Writers at both, either killed again and again at any moment: what was acknowledged is there, once."""
    acknowledged: dict[int, str] = {}
    random, rounds = Random(7), 12
    ports = [_free_port(), _free_port()]

    def write(server: Server, name: str, over: threading.Event) -> None:
        number = 0
        while not over.is_set():
            number += 1
            text = json.dumps({"type": "fixed", "name": f"{name}{number}", "size": 1})
            with suppress(OSError, ValueError, HTTPException):
                answer = server.ask("POST", f"/subjects/{name}-{number}/versions", {"schema": text})
                if answer.status == 200:
                    assert acknowledged.setdefault(int(answer.json["id"]), text) == text

    with ExitStack() as whole:
        primary = whole.enter_context(serving(tmp_path / "a", "--port", str(ports[0])))
        whole.enter_context(following(primary, tmp_path / "b")).kill()
        primary.kill()
    for number in range(rounds):
        with ExitStack() as opened:
            primary = opened.enter_context(serving(tmp_path / "a", "--port", str(ports[0])))
            follower = opened.enter_context(serving(tmp_path / "b", "--port", str(ports[1])))
            over = threading.Event()
            writers = [
                threading.Thread(target=write, args=(server, f"r{number}{which}", over))
                for which, server in (("a", primary), ("b", follower))
            ]
            for each in writers:
                each.start()
            over.wait(random.uniform(0.2, 1.5))
            victims = [[primary], [follower], [primary, follower]][number % 3]
            for victim in victims:
                victim.kill()
            over.set()
            for each in writers:
                each.join()
    with serving(tmp_path / "a", "--port", str(ports[0])) as primary, serving(tmp_path / "b") as follower:
        end = primary.ask("GET", "/subjects").json
        eventually(lambda: follower.ask("GET", "/subjects").json == end)
        for id, text in acknowledged.items():
            for server in (primary, follower):
                assert json.loads(server.ask("GET", f"/schemas/ids/{id}").json["schema"]) == json.loads(text)
    assert len(acknowledged) > 10 * rounds
    assert _journal(tmp_path / "a") == _journal(tmp_path / "b")


def _journal(data: Path) -> list[bytes]:
    with closing(sqlite3.connect(data / "catalog.sqlite")) as catalog:
        return [form for (form,) in catalog.execute("SELECT form FROM journal ORDER BY position")]


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        return int(listening.getsockname()[1])
