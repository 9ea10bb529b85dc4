"""`/console/api/keys`: API keys by requests of administrators who reach everything."""

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sigla.auth import api_keys
from sigla.auth.credentials import BasicKeys
from sigla.auth.permissions import principal
from sigla.errors import StoreError
from sigla.instances import web_options
from sigla.model import BodyKey, SchemaId
from sigla.ports.reads import Read
from sigla.registry import Options, Registry
from sigla.settings import Settings
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import NOW, FixedClock, Recognises
from tests.unit.web.conftest import Client, Response

KEYS = "/console/api/keys"
DAY_MS = 86_400_000


@dataclass
class World:
    """A registry that asks for keys. ada: the secret of its administrator. told: lines of the log."""

    keys: EmbeddedKeys
    store: EmbeddedStore
    clock: FixedClock
    ada: str
    told: list[dict[str, Any]]

    def client(self, keys: Any = None) -> Client:
        registry = Registry(
            self.store.catalog, self.store.bodies, self.clock, Options(counts_reads=True), reads=self.store.reads
        )
        authenticate = BasicKeys(self.keys, self.clock, used=lambda name: self.keys.note_use(name, "2026-11-28"))
        options = app.HttpOptions(authenticate=authenticate, keys=keys or self.keys, log_failure=self.told.append)
        return Client(app.build(registry, options=options))

    def ask(self, method: str, path: str = "", body: Any = None, **headers: str) -> Response:
        return self.client()(method, KEYS + path, body, self.shown("ada", self.ada) | headers)

    def shown(self, key: str, secret: str) -> dict[str, str]:
        return {"authorization": "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()}

    def opens(self, key: str, secret: str) -> bool:
        return self.client()("GET", "/subjects", headers=self.shown(key, secret)).status == 200


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    keys, clock = EmbeddedKeys(tmp_path), FixedClock()
    _, ada = api_keys.create(keys, "ada", "admin", (), now=NOW)
    with EmbeddedStore() as store:
        yield World(keys, store, clock, ada, [])


def made(world: World, key: str = "etl", **more: Any) -> str:
    reply = world.ask("POST", body={"key": key, **more})
    assert reply.status == 200, reply.body
    return str(reply.json["secret"])


def test_a_key_that_was_made_opens_the_registry_and_says_by_whom_it_was_made(world: World) -> None:
    reply = world.ask(
        "POST", body={"key": "etl", "role": "writer", "delete": True, "subjects": ["a-"], "expiresInSeconds": 60}
    )
    told = reply.json
    assert world.opens("etl", told.pop("secret"))
    assert told == {
        "key": "etl",
        "role": "writer",
        "delete": True,
        "subjects": ["a-"],
        "created": NOW,
        "expires": NOW + 60_000,
        "former": [],
        "by": "ada",
    }
    assert reply.headers["cache-control"] == "no-store"


def test_each_change_is_a_line_of_the_log_that_says_who_made_it_and_no_secret(world: World) -> None:
    secrets = [made(world, role="writer", subjects=["a-", "b-"])]
    secrets += [world.ask("POST", "/etl/rotate", {"formerSeconds": 60}).json["secret"]]
    world.ask("DELETE", "/etl")
    assert [(line["event"], line["key"], line["by"]) for line in world.told] == [
        ("key-made", "etl", "ada"),
        ("key-rotated", "etl", "ada"),
        ("key-revoked", "etl", "ada"),
    ]
    assert (
        world.told[0]["message"] == "ada made the key etl, with the role writer, for subjects that begin with a- or b-."
    )
    assert all("request_id" in line for line in world.told)
    assert not any(secret in str(world.told) for secret in secrets)


def test_a_secret_is_told_by_the_answer_that_makes_it_and_kept_nowhere(world: World, tmp_path: Path) -> None:
    secret = made(world)
    assert secret not in world.ask("GET").text + world.ask("GET", "/etl/use").text
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_the_list_is_what_sigla_keys_lists(world: World) -> None:
    made(world, "etl")
    made(world, "gone")
    world.ask("DELETE", "/gone")
    (world.keys._folder / "odd.json").write_bytes(b"{")
    listed = world.ask("GET").json
    assert [each["key"] for each in listed] == ["ada", "etl", "odd"]
    assert listed[0]["used"] == "2026-11-28"
    assert listed[1]["used"] is None
    assert listed[2] == {"key": "odd", "damaged": "it is not JSON: revoke it, or remove its file, and make a new one"}
    whole = {each["key"]: each for each in world.ask("GET", "?revoked=true").json}
    assert whole["gone"]["revoked"] == {"at": NOW, "by": "ada"}


def test_a_rotation_leaves_the_secrets_before_good_as_long_as_was_asked(world: World) -> None:
    before = made(world)
    after = world.ask("POST", "/etl/rotate", {"formerSeconds": 60}).json["secret"]
    assert world.opens("etl", before)
    assert world.opens("etl", after)
    last = world.ask("POST", "/etl/rotate", {"formerSeconds": 0}).json["secret"]
    assert [world.opens("etl", each) for each in (before, after, last)] == [False, False, True]


def test_a_revoked_key_opens_nothing_and_its_name_is_free_again(world: World) -> None:
    secret = made(world)
    assert world.ask("DELETE", "/etl").json == {"key": "etl", "acceptedForSeconds": 60}
    assert not world.opens("etl", secret)
    assert world.ask("DELETE", "/etl").refusal == (404, 40480, "API key 'etl' not found")
    made(world)


def test_what_a_change_would_meet_is_told_in_numbers(world: World) -> None:
    secret = made(world)
    made(world, "boss", role="admin")
    assert world.ask("GET", "/etl/use").json == {
        "key": "etl",
        "days": 7,
        "secrets": 1,
        "administrators": 2,
        "acceptedForSeconds": 60,
        "reads": 0,
    }
    assert world.opens("etl", secret)
    reads = [Read(BodyKey(".", SchemaId(id)), subject, "etl") for id in (1, 2) for subject in ("", "a")]
    world.store.reads.note(reads, NOW, DAY_MS * 400)
    world.store.reads.note([Read(BodyKey(".", SchemaId(3)), "", "etl")], NOW - 7 * DAY_MS, DAY_MS * 400)
    world.store.reads.note([Read(BodyKey(".", SchemaId(4)), "", "ada")], NOW, DAY_MS * 400)
    told = world.ask("GET", "/etl/use").json
    assert (told["reads"], told["used"]) == (2, "2026-11-28")
    assert world.ask("GET", "/boss/use").json["administrators"] == 1, "ada is left"
    assert world.ask("GET", "/nobody/use").refusal == (404, 40480, "API key 'nobody' not found")


@pytest.mark.parametrize(
    "body, code",
    [
        ({"key": "a b"}, 42280),
        ({"key": ""}, 42280),
        ({}, 42280),
        ({"key": "k", "role": "root"}, 42280),
        ({"key": "k", "role": "reader", "delete": True}, 42280),
        ({"key": "k", "subjects": ["a*"]}, 42280),
        ({"key": "k", "subjects": [""]}, 42280),
        ({"key": "k", "expiresInSeconds": 0}, 42280),
        ({"key": "k", "expiresInSeconds": -1}, 400),
        ({"key": "k", "subjects": "a-"}, 400),
        ({"key": "ada"}, 40980),
        (None, 422),
        (b"{", 400),
    ],
)
def test_a_key_that_cannot_be_is_refused_in_a_sentence_and_nothing_changes(world: World, body: Any, code: int) -> None:
    before = dict(world.keys.list())
    reply = world.ask("POST", body=body)
    assert (reply.status, reply.json["error_code"]) == (int(str(code)[:3]), code)
    assert dict(world.keys.list()) == before
    assert not world.told


def test_a_key_that_cannot_be_rotated_says_why(world: World) -> None:
    (world.keys._folder / "odd.json").write_bytes(b"{")
    made(world, expiresInSeconds=1)
    world.clock.time += 2_000
    for path, body, code in (
        ("/nobody/rotate", {"formerSeconds": 1}, 40480),
        ("/odd/rotate", {"formerSeconds": 1}, 40981),
        ("/etl/rotate", {"formerSeconds": 1}, 40981),
        ("/ada/rotate", {}, 400),
        ("/ada/rotate", {"formerSeconds": -1}, 400),
    ):
        assert world.ask("POST", path, body).json["error_code"] == code, path
    for _ in range(3):
        assert world.ask("POST", "/ada/rotate", {"formerSeconds": 600}).status == 200
    assert world.ask("POST", "/ada/rotate", {"formerSeconds": 600}).json["error_code"] == 40981


def test_pages_of_other_sites_change_no_key(world: World) -> None:
    """A browser that was once asked for a password shows it to whoever makes it ask."""
    for site in ("cross-site", "same-site", "none", "odd"):
        assert world.ask("DELETE", "/ada", **{"sec-fetch-site": site}).json["error_code"] == 40301
    assert world.ask("GET", **{"sec-fetch-site": "same-origin"}).status == 200


def test_there_are_none_where_they_are_not_asked_for_or_not_to_be_changed(world: World) -> None:
    known = BasicKeys(world.keys, world.clock)
    for settings, authenticate in (
        (Settings(console=False), known),
        (Settings(console_keys=False), known),
        (Settings(), None),
    ):
        assert web_options(settings, authenticate, app.HttpOptions(), world.keys).keys is None
    assert web_options(Settings(), known, app.HttpOptions(), world.keys).keys is world.keys


class Faulty:
    """Keys in front of keys, one call of which fails: before it is carried out, or after."""

    def __init__(self, behind: EmbeddedKeys, at: int, *, after: bool) -> None:
        self._behind = behind
        self._left = at
        self._after = after
        self.has_failed = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._behind, name)

        def call(*args: Any) -> Any:
            self._left -= 1
            if self._left != 0:
                return real(*args)
            self.has_failed = True
            if self._after:
                real(*args)
            raise StoreError("the disk does not answer")

        return call


CHANGES: Sequence[tuple[str, str, Any]] = (
    ("POST", "", {"key": "new"}),
    ("POST", "/etl/rotate", {"formerSeconds": 60}),
    ("DELETE", "/etl", None),
)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0] + change[1])
def test_a_store_that_fails_at_any_call_leaves_a_key_that_is_as_before_or_as_asked(
    world: World, change: tuple[str, str, Any], *, after: bool
) -> None:
    """Whoever gets no secret can rotate, revoke or make the key then: nothing is in the way."""
    method, path, body = change
    for at in range(1, 10):
        for name, _ in list(world.keys.list()):
            if name != "ada":
                world.keys.remove(name)
        secret = made(world)
        world.told.clear()
        faulty = Faulty(world.keys, at, after=after)
        reply = world.client(faulty)(method, KEYS + path, body, world.shown("ada", world.ada))
        if not faulty.has_failed:
            assert at > 1
            return
        assert reply.json["error_code"] == 50001, at
        assert "secret" not in reply.json
        assert not any(str(line.get("event", "")).startswith("key-") for line in world.told)
        for name, record in world.keys.list():
            api_keys.read_key(name, record)
        if not path:
            assert world.ask("POST", "/new/rotate", {"formerSeconds": 0}).status in (200, 404)
        elif method == "POST":
            assert world.opens("etl", secret)
            assert world.ask("POST", path, body).status == 200
        else:
            assert world.ask(method, path).status in (200, 404)
            assert not world.opens("etl", secret)
    raise AssertionError("it never came to an end")


def test_a_token_makes_keys_under_its_own_name(world: World) -> None:
    """The name of who is behind a token may be any text."""
    script = "<script>@issuer.test"

    known = Recognises(lambda _: principal(script, "admin", ()))
    options = app.HttpOptions(authenticate=known, keys=world.keys)
    registry = Registry(world.store.catalog, world.store.bodies, world.clock)
    assert Client(app.build(registry, options=options))("POST", KEYS, {"key": "etl"}).json["by"] == script
    assert json.loads(dict(world.keys.list())["etl"])["by"] == script
