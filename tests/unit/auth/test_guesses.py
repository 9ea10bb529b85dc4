"""Wrong secrets wait; right ones never do."""

import asyncio
from contextlib import ExitStack

import pytest
from starlette.responses import Response
from starlette.routing import Route

from sigla.auth.guesses import EACH_MS, FREE, LONGEST_MS, MOST_WAITING, Guesses
from sigla.auth.permissions import Principal, principal
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.api.beside import description, for_keys
from tests.build import FixedClock, Recognises
from tests.served_region import region_alone
from tests.unit.web.conftest import Client
from tests.unit.web.conftest import Response as Answer


def test_a_few_wrong_secrets_wait_for_nothing() -> None:
    """A client with an old secret, restarting, needs its 401 and no riddle."""
    guesses = Guesses(FixedClock())
    assert [guesses.wait_s() for _ in range(FREE)] == [0.0] * FREE


def test_the_more_wrong_secrets_come_the_longer_they_wait_up_to_a_bound() -> None:
    guesses = Guesses(FixedClock())
    waits = [guesses.wait_s() for _ in range(1000)]
    assert waits == sorted(waits)
    assert waits[FREE] == EACH_MS / 1000
    assert waits[-1] == LONGEST_MS / 1000


def test_what_was_guessed_is_soon_forgotten() -> None:
    """However long an attack lasted, a quarter of a minute later a wrong secret is a mistake again."""
    clock = FixedClock()
    guesses = Guesses(clock)
    for _ in range(100_000):
        guesses.wait_s()
    clock.time += FREE * EACH_MS + LONGEST_MS
    assert [guesses.wait_s() for _ in range(FREE)] == [0.0] * FREE


def test_only_so_many_wait_at_a_time() -> None:
    """Each that waits takes memory; an attack must not take more of it than any other."""
    guesses = Guesses(FixedClock())
    for _ in range(1000):
        guesses.wait_s()
    guesses.waiting = MOST_WAITING
    assert guesses.wait_s() == 0


class Slow(Guesses):
    """Every wrong secret waits for a while."""

    def __init__(self) -> None:
        super().__init__(FixedClock())

    def wait_s(self) -> float:
        return 0.2


def who(header: bytes | None) -> Principal | None:
    return principal("orders", "reader", ()) if header == b"right" else None


def test_the_right_secret_is_answered_while_wrong_ones_wait() -> None:
    """Guessing a secret locks no client out, and a client that sent none is told so at once."""
    guesses = Slow()
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        client = Client(app.build(registry, options=app.HttpOptions(authenticate=Recognises(who), guesses=guesses)))
        _asked_side_by_side(client)
    assert guesses.waiting == 0


@pytest.mark.parametrize("path", ["/openapi.json", "/metrics"])
def test_a_guess_waits_wherever_a_key_is_asked_for(path: str) -> None:
    """What stands beside the API would be the quicker way to try secrets."""
    guesses = Slow()
    options = app.HttpOptions(authenticate=Recognises(who), guesses=guesses)
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        metrics = Route("/metrics", for_keys(lambda: Response("told"), options.authenticate, guesses))
        beside = [description(options.authenticate, guesses), metrics]
        _asked_side_by_side(Client(app.build(registry, options=options, beside=beside)), path)
    assert guesses.waiting == 0


@pytest.mark.parametrize("path", ["/regions/journal", "/regions/copy"])
def test_a_guess_waits_also_where_another_region_asks(path: str) -> None:
    guesses = Slow()
    options = app.HttpOptions(authenticate=Recognises(who), guesses=guesses)
    with EmbeddedStore() as store, ExitStack() as until:
        region = region_alone(store, options.authenticate, guesses, until)
        registry = Registry(store.catalog, store.bodies, FixedClock())
        _asked_side_by_side(Client(app.build(registry, options=options, beside=region.routes)), path, right=403)
    assert guesses.waiting == 0


def _asked_side_by_side(client: Client, path: str = "/subjects", *, right: int = 200) -> None:
    order: list[str] = []

    async def ask(secret: str) -> Answer:
        answer = await client.send("GET", path, [b""], {"authorization": secret} if secret else {})
        order.append(secret)
        return answer

    async def all_at_once() -> list[Answer]:
        return await asyncio.gather(*map(ask, ("wrong", "wrong", "right", "")))

    assert [answer.status for answer in asyncio.run(all_at_once())] == [401, 401, right, 401]
    assert order == ["right", "", "wrong", "wrong"]
