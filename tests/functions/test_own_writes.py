"""Who writes through the follower of two regions in AWS reads there what was written, in every environment of it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest

from sigla import wiring
from sigla.ports.primary import MOVED
from sigla.stores.dynamodb import bringing
from tests.functions.test_two_regions import Region, Two, answering, fixed, pair, two
from tests.protocol.rounds import in_javascript, in_python

__all__ = ["pair", "two"]

CONFIG_NONE = {"compatibility": "NONE"}
WRITES: tuple[tuple[str, str, Any], ...] = (
    ("PUT", "/config", CONFIG_NONE),
    ("POST", "/subjects/orders/versions", fixed("Second")),
    ("POST", "/subjects/orders/versions", fixed("Second")),
    ("POST", "/subjects/news/versions", fixed("News")),
    ("POST", "/subjects/:.ctx:news/versions", fixed("News")),
    ("PUT", "/config/orders", {"compatibility": "FULL"}),
    ("DELETE", "/config/orders", None),
    ("PUT", "/mode/news", {"mode": "READONLY"}),
    ("DELETE", "/mode/news", None),
    ("DELETE", "/subjects/orders/versions/1", None),
    ("DELETE", "/subjects/orders/versions/1?permanent=true", None),
    ("DELETE", "/subjects/news", None),
    ("DELETE", "/subjects/orders", None),
    ("DELETE", "/subjects/orders?permanent=true", None),
)
READS = (
    "/subjects",
    "/contexts",
    "/config/orders?defaultToGlobal=true",
    "/mode/news?defaultToGlobal=true",
    "/subjects/orders/versions/latest",
    "/subjects/:.ctx:news/versions/latest",
    "/schemas/ids/1",
    "/schemas",
)


@pytest.fixture
def other(pair: Two, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    """Another environment of the follower's function. What any of them remembers of an id for seconds is left out."""
    pair.b.turn()
    with environment(pair.b, monkeypatch) as made:
        yield made


@contextmanager
def environment(region: Region, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    with monkeypatch.context() as variables, ExitStack() as opened:
        for name, value in {**region.told, "SIGLA_HOLDERS_SECONDS": "0"}.items():
            variables.setenv(name, value)
        yield replace(region, handler=opened.enter_context(closing(wiring.lambda_handler())))


def test_every_write_is_read_at_once_wherever_it_is_asked(pair: Two, other: Region) -> None:
    """As the primary answers; and what is there is answered by the follower itself."""
    assert pair.ask(other, "GET", "/subjects/orders/versions/latest").body["version"] == 1
    for method, target, body in WRITES:
        told = pair.ask(pair.b, method, target, body)
        assert told.status == 200, (method, target, told)
        assert MOVED not in told.headers
        for read in READS:
            here, there = pair.ask(other, "GET", read), pair.ask(pair.a, "GET", read)
            assert (here.status, here.body) == (there.status, there.body), (method, target, read)
            if here.status == 200:
                assert "x-sigla-behind" in here.headers, (method, target, read)
    assert pair.b.turn()["carry_out"] == 0


def test_what_others_wrote_at_the_primary_comes_with_what_rests_on_it(pair: Two, other: Region) -> None:
    pair.ask(pair.a, "PUT", "/config", CONFIG_NONE)
    pair.register(pair.a, "orders", "Second")
    pair.register(pair.b, "orders", "Third")
    assert pair.ask(other, "GET", "/subjects/orders/versions").body == [1, 2, 3]
    assert pair.ask(other, "GET", "/config").body == {"compatibilityLevel": "NONE"}


def test_a_known_schema_is_the_latest_where_it_was_registered_once_more(pair: Two, other: Region) -> None:
    """Its first registration, a moment ago at the primary, is still on its way."""
    pair.ask(pair.b, "PUT", "/config", CONFIG_NONE)
    given = pair.register(pair.a, "orders", "Second")
    assert pair.ask(other, "GET", "/subjects/orders/versions/latest").body["version"] == 1
    assert pair.register(pair.b, "orders", "Second") == given
    assert pair.ask(other, "GET", "/subjects/orders/versions/latest").body["version"] == 2


def test_a_write_that_does_not_come_back_is_told_as_one_that_cannot_be_read_here(
    pair: Two, other: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is carried out once, and asked again at the primary it is answered: clients try their next URL."""
    monkeypatch.setattr(bringing, "PATIENCE_S", 0.0)
    pair.ask(pair.a, "PUT", "/config", CONFIG_NONE)
    told = pair.ask(pair.b, "POST", "/subjects/orders/versions", fixed("Second"))
    assert (told.status, told.code) == (500, 50003)
    assert "it was carried out there" in told.body["message"]
    assert pair.ask(pair.a, "GET", "/subjects/orders/versions").body == [1, 2]
    given = pair.register(pair.a, "orders", "Second")
    monkeypatch.setattr(bringing, "PATIENCE_S", 60.0)
    assert pair.register(pair.b, "orders", "Second") == given
    assert pair.ask(other, "GET", "/subjects/orders/versions").body == [1, 2]


def test_a_primary_of_an_older_release_is_not_waited_for(pair: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names no commits: they come by themselves."""
    monkeypatch.setattr("sigla.regions.moved.header_of", lambda _: "older=1&commit=none")
    assert pair.register(pair.b, "news", "News") == 2
    assert pair.b.turn()["carry_out"] == 1


def test_whoever_says_that_it_sends_on_hears_of_its_own_commits_alone(pair: Two) -> None:
    """A client with a key for some subjects is to count nothing of the others by it."""
    forward = {"X-Forward": "true"}
    pair.register(pair.a, "secret", "Secret")
    told = pair.ask(pair.a, "POST", "/subjects/orders/versions", fixed("First"), **forward).headers[MOVED]
    assert told == "context=.&subject=orders&revision=1"
    assert MOVED not in pair.ask(pair.a, "GET", "/subjects", **forward).headers
    assert MOVED not in pair.ask(pair.a, "POST", "/subjects/news/versions", fixed("News")).headers
    named = pair.ask(pair.a, "POST", "/subjects/more/versions", fixed("More"), **forward).headers[MOVED]
    assert named.startswith("commit=")
    assert named.count("=") == 1


@pytest.mark.parametrize("confluents", [in_python, in_javascript])
def test_clients_of_confluent_read_the_version_that_they_have_registered(
    pair: Two, monkeypatch: pytest.MonkeyPatch, confluents: Callable[[str], Any]
) -> None:
    """Through the follower alone, whose environments take turns, while its other function brings the same commits."""
    pair.b.variables["SIGLA_AUTH"] = pair.a.variables["SIGLA_AUTH"] = "none"
    pair.a.begin(monkeypatch, pair.b)
    pair.b.begin(monkeypatch, pair.a)
    with environment(pair.b, monkeypatch) as other:
        turns: Iterator[Any] = cycle([pair.b.handler, other.handler])

        def handler(event: Any, context: Any) -> Any:
            return next(turns)(event, context)

        follower = replace(pair.b, handler=handler)
        with answering(follower) as server, confluents(f"http://127.0.0.1:{server.server_port}") as told:
            for _ in range(3):
                told.goes_on()
                assert pair.b.turn()["diverges"] == 0
        assert (told.failures, told.stale) == ([], 0)
        for id, schema in told.meaning.items():
            found = pair.ask(other, "GET", f"/schemas/ids/{id}").body
            assert json.loads(found["schema"]) == json.loads(schema)
    assert not [each for each in pair.a.asked if "latest" in each], "the follower answers what it has"
