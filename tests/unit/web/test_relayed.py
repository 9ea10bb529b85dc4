"""What a primary makes of requests that its follower sends on."""

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest

from sigla.auth.guesses import Guesses
from sigla.auth.permissions import Principal, principal
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.local.following import LeadingTable
from tests.build import FixedClock, Recognises
from tests.unit.web.conftest import Client, Response

KEYS = {
    b"follower": principal("follower", "admin", ()),
    b"narrow": principal("narrow", "admin", ("orders",)),
    b"writer": principal("writer", "writer", ()),
}
WRITE = ("PUT", "/config/orders", {"compatibility": "NONE"})


class Counted(Guesses):
    """Keeps no caller waiting. asked: how often a wait was asked for."""

    def __init__(self) -> None:
        super().__init__(FixedClock())
        self.asked = 0

    def wait_s(self) -> float:
        self.asked += 1
        return 0.0


def who(header: bytes | None) -> Principal | None:
    return KEYS.get(header or b"")


@pytest.fixture
def guesses() -> Counted:
    return Counted()


@pytest.fixture
def client(guesses: Counted) -> Iterator[Client]:
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        options = app.HttpOptions(authenticate=Recognises(who), guesses=guesses)
        yield Client(app.build(registry, options=options, table=partial(LeadingTable, store.journal.end, "")))


def relayed(client: Client, key: str, shown: str | None) -> Response:
    headers = {"X-Forward": "true", "Authorization": key}
    return client(*WRITE, headers | ({"X-Sigla-Follower": shown} if shown else {}))


def test_a_wrong_secret_that_a_follower_sends_on_waits_there_and_not_here(client: Client, guesses: Counted) -> None:
    """It would keep a place on the way that others need."""
    assert relayed(client, "wrong", "follower").status == 401
    assert guesses.asked == 0
    assert relayed(client, "narrow", "follower").status == 200


@pytest.mark.parametrize("shown", [None, "narrow", "writer", "wrong"])
def test_who_only_says_that_it_sends_on_waits_as_all_do(client: Client, guesses: Counted, shown: str | None) -> None:
    """A guess at a follower's key waits as well."""
    assert relayed(client, "wrong", shown).status == 401
    assert guesses.asked == (2 if shown == "wrong" else 1)


def test_a_right_caller_is_answered_also_behind_a_follower_that_is_not_known(client: Client) -> None:
    """Its own key is right: 401 would be a lie."""
    assert relayed(client, "narrow", "wrong").status == 200


def test_many_are_relayed_at_a_time(client: Client) -> None:
    async def all_at_once() -> list[Response]:
        headers = {"X-Forward": "true", "X-Sigla-Follower": "follower", "Authorization": "wrong"}
        return await asyncio.gather(*(client.send("GET", "/subjects", [b""], headers) for _ in range(50)))

    assert {each.status for each in asyncio.run(all_at_once())} == {401}
