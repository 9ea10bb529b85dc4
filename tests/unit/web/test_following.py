"""A follower before its primary, both in this process: what it sends on, and for whom."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from sigla.auth.permissions import Principal, principal
from sigla.model import Draft, Subject
from sigla.observe import Seen
from sigla.ports.primary import FOLLOWER, Forwarded
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.local.following import Following, FollowingTable, LeadingTable
from sigla.web.local.forwarding import Forwarding
from sigla.web.local.news import News
from tests.build import FixedClock, Recognises
from tests.unit.web.conftest import Client

KEYS = {b"admin": principal("admin", "admin", ()), b"writer": principal("writer", "writer", ())}


def who(header: bytes | None) -> Principal | None:
    return KEYS.get(header or b"")


@dataclass
class Primary:
    """A `ports.primary.Forwards`: an application that is called from another machine. shown: the follower's key."""

    client: Client
    shown: str

    def forward(self, method: str, target: str, headers: Mapping[str, str], body: bytes, whole_s: float) -> Forwarded:  # noqa: ARG002 - it is quick
        sent = {**headers, **({FOLLOWER: self.shown} if self.shown else {})}
        answer = self.client(method, target, body, sent)
        return Forwarded(answer.status, answer.headers, answer.body)

    def answers(self) -> bool:
        return True


@dataclass
class Pair:
    """client: of the follower. begun: of one that has not heard of its primary yet. seen: what that was asked."""

    client: Client
    begun: Client
    primary: Primary
    seen: list[Seen]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with ExitStack() as opened:
        here, there = (opened.enter_context(EmbeddedStore()) for _ in range(2))
        seen: list[Seen] = []

        def served(store: EmbeddedStore, table: Any, **more: Any) -> Any:
            registry = Registry(store.catalog, store.bodies, FixedClock())
            options = app.HttpOptions(authenticate=Recognises(who), **more)
            return app.build(registry, options=options, table=table)

        there.region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy("b")))
        clock = SystemClock()
        primary = Primary(
            Client(
                served(there, partial(LeadingTable, there.journal.end, ""), watchers=(seen.append,)), "198.51.100.7"
            ),
            "admin",
        )
        following = Following(Forwarding(primary, clock), clock.elapsed, lambda _: True, News(), clock)
        client, begun = (
            Client(served(here, partial(FollowingTable, each)), "203.0.113.9")
            for each in (following, replace(following, complete_at=lambda: None))
        )
        Registry(here.catalog, here.bodies, FixedClock()).register(Subject(".", "held"), Draft('"int"'))
        here.region.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy(url="http://a")))
        yield Pair(client, begun, primary, seen)


LIES: tuple[dict[str, str], ...] = (
    {},
    {"X-Forwarded-For": "192.0.2.1"},
    {"X-Forwarded-For": "192.0.2.1, 127.0.0.1"},
    {"Forwarded": "for=192.0.2.1"},
)


@pytest.mark.parametrize("lie", LIES)
def test_the_primary_is_told_the_address_that_the_follower_has_seen(pair: Pair, lie: dict[str, str]) -> None:
    """No client of a follower chooses who it seems to be."""
    assert pair.client("DELETE", "/subjects/a", None, {"Authorization": "writer", **lie}).status == 403
    assert [(each.principal, each.address) for each in pair.seen] == [("writer", "203.0.113.9")]


@pytest.mark.parametrize("lie", LIES)
def test_who_only_says_that_it_sends_on_is_told_by_its_own_address(pair: Pair, lie: dict[str, str]) -> None:
    for shown in ({}, {FOLLOWER: "writer"}, {FOLLOWER: "wrong"}):
        headers = {"X-Forward": "true", "Authorization": "writer", **lie, **shown}
        assert pair.primary.client("DELETE", "/subjects/a", None, headers).status == 403
    assert {each.address for each in pair.seen} == {"198.51.100.7"}


@pytest.mark.parametrize("method, path", [("GET", ""), ("POST", ""), ("POST", "/ada/rotate"), ("DELETE", "/ada")])
def test_keys_are_of_one_region_and_never_asked_of_the_other(pair: Pair, method: str, path: str) -> None:
    for who in ("admin", "nobody"):
        assert pair.client(method, f"/console/api/keys{path}", {}, {"Authorization": who}).status in (404, 401)
    assert not pair.seen


def test_a_body_that_does_not_come_to_its_end_is_sent_nowhere(pair: Pair) -> None:
    """The client has left: what it would have said is not known."""

    async def ask() -> list[Any]:
        sent: list[Any] = []
        messages = [{"type": "http.request", "body": b'{"compati', "more_body": True}, {"type": "http.disconnect"}]

        async def receive() -> Any:
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "PUT",
            "path": "/config",
            "raw_path": b"/config",
            "query_string": b"",
            "headers": [(b"authorization", b"admin")],
        }
        await pair.client.application(scope, receive, send)
        return sent

    assert asyncio.run(ask()) == []
    assert not pair.seen


@pytest.mark.parametrize(
    "method, path, body",
    [
        ("GET", "/schemas/ids/2", None),
        ("GET", "/subjects/a/versions", None),
        ("POST", "/subjects/a", {"schema": '"int"'}),
        ("POST", "/compatibility/subjects/a/versions/latest", {"schema": '"int"'}),
        ("POST", "/subjects/a/versions", {"schema": '"int"'}),
    ],
)
@pytest.mark.parametrize("who", ["writer", "nobody"])
def test_what_was_sent_on_is_not_sent_on_again_and_nothing_is_concluded_from_what_is_missing(
    pair: Pair, method: str, path: str, body: Any, who: str
) -> None:
    """Two regions that follow each other for a moment, or a third one, must not turn a silence into "not found"."""
    answer = pair.client(method, path, body, {"X-Forward": "true", "Authorization": who})
    assert (answer.status, answer.json["error_code"]) == (500, 50003)
    assert not pair.seen


def test_a_region_that_cannot_know_it_is_as_silent_as_one_that_does_not_answer(pair: Pair, monkeypatch: Any) -> None:
    """A follower that has just begun asks the other region even for what is here, and that one may know less."""
    silence = Forwarded(
        500,
        {"content-type": "application/vnd.schemaregistry.v1+json"},
        b'{"error_code":50003,"message":"Error while forwarding"}',
    )
    monkeypatch.setattr(pair.primary, "forward", lambda *_: silence)
    answer = pair.begun("GET", "/schemas/ids/1", None, {"Authorization": "writer"})
    assert (answer.status, answer.json["schema"]) == (200, '"int"')
    assert pair.begun("GET", "/schemas/ids/2", None, {"Authorization": "writer"}).json["error_code"] == 50003
