"""Before something is written at an address, whoever answers there has said lately of which registry it is."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.ports.primary import PAIR, NotSent
from sigla.remote.primary import PROVEN_MS, RemotePrimary
from tests.build import FixedClock
from tests.unit.regions.serving import serving


class Address:
    """Where a product answers. pair: what it says of the one that it is asked for; None: it knows of none."""

    def __init__(self) -> None:
        self.pair: str | None = "ours"
        self.sent: list[tuple[str, dict[str, str]]] = []
        self.url = ""

    @property
    def methods(self) -> list[str]:
        methods = [method for method, _ in self.sent]
        self.sent.clear()
        return methods


@pytest.fixture
def address() -> Iterator[Address]:
    found = Address()
    with _served(found) as found.url:
        yield found


def _served(address: Address) -> AbstractContextManager[str]:
    class Product(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            address.sent.append((self.command, {name.lower(): value for name, value in self.headers.items()}))
            self.send_response(200)
            if address.pair is not None:
                self.send_header(PAIR, address.pair)
            self.end_headers()

        do_POST = do_HEAD = do_GET  # noqa: N815 - as the base calls them

    return serving(Product)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def there(address: Address, clock: FixedClock) -> RemotePrimary:
    return RemotePrimary(address.url, "admin:secret", clock, pair="ours")


def ask(there: RemotePrimary, method: str) -> int:
    return there.forward(method, "/subjects", {"Authorization": "a client's"}, b"", 10.0).status


def test_what_is_written_within_a_minute_costs_one_question(
    there: RemotePrimary, address: Address, clock: FixedClock
) -> None:
    """Each answer is one as well."""
    for _ in range(3):
        assert ask(there, "POST") == 200
    assert address.methods == ["HEAD", "POST", "POST", "POST"]
    for _ in range(3):
        clock.time += PROVEN_MS - 1
        ask(there, "POST")
    assert address.methods == ["POST", "POST", "POST"]
    clock.time += PROVEN_MS
    ask(there, "POST")
    assert address.methods == ["HEAD", "POST"]
    clock.time += PROVEN_MS
    ask(there, "GET")
    ask(there, "POST")
    assert address.methods == ["GET", "POST"]


@pytest.mark.parametrize("pair", [None, "another"])
def test_what_is_not_of_the_pair_is_written_nothing(there: RemotePrimary, address: Address, pair: str | None) -> None:
    """And gets no credentials with the question."""
    address.pair = pair
    for _ in range(2):
        with pytest.raises(NotSent):
            ask(there, "POST")
    assert [method for method, _ in address.sent] == ["HEAD", "HEAD"]
    assert not any("authorization" in headers or "x-sigla-follower" in headers for _, headers in address.sent)
    assert not there.answers()
    address.pair = "ours"
    assert there.answers()


def test_after_an_answer_of_another_product_it_is_asked_anew(there: RemotePrimary, address: Address) -> None:
    """It took the place of the primary within the minute: one write was carried out, which is told, and no other."""
    ask(there, "POST")
    address.pair = None
    with pytest.raises(StoreError) as unknown:
        ask(there, "POST")
    assert not isinstance(unknown.value, NotSent)
    with pytest.raises(NotSent):
        ask(there, "POST")
    assert address.methods == ["HEAD", "POST", "POST", "HEAD"]


def test_a_registry_without_a_pair_is_asked_nothing_before(address: Address, clock: FixedClock) -> None:
    address.pair = None
    there = RemotePrimary(address.url, "", clock)
    assert ask(there, "POST") == 200
    assert there.answers()
    assert address.methods == ["POST", "HEAD"]
