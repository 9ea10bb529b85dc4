"""What each page of the console costs in AWS: 20 read units, and two trips for each of its calls, but for those listed.

Each page is asked of an instance that has just started, in a registry that has one of everything and some hundred
subjects.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from types import SimpleNamespace
from typing import Any, Final

import pytest

from infra.trips import Rounds
from sigla.keys import LIST_SHARDS
from sigla.registry import Registry
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.store import AwsStore
from sigla.web import app
from tests.attack.stories import register
from tests.browser.filled import fill
from tests.browser.paid_calls import CALLER, CALLS
from tests.build import FixedClock, a_text, tiers_before
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.unit.aws.metering import metered
from tests.unit.web.conftest import Client

MOST_UNITS: Final = 20
MOST_TRIPS: Final = 2
DRAFT: Final = {"schema": a_text("Draft")}
JSON: Final = {"content-type": "application/json"}

FARTHER: Final = {
    "deleted=true&limit=21": 3,
    "/verdict": 3,
    "/diff/": 3,
    "/schemas/ids/2/versions": 7,
    "/schemas/ids/2?": 3,
    "/settings": 3,
}
"""Calls that take more trips, by a part of their paths; docs/console.md says why."""

SUBJECTS: Final = 400
FOUND: Final = 21
ALL_SHARDS: Final = ("Query",) * LIST_SHARDS


class Functions:
    """Instances of one registry, which begin without knowing anything."""

    def __init__(self, opened: ExitStack) -> None:
        self.clients = opened.enter_context(in_process(tables=Tables()))
        self._opened, self._clock = opened, FixedClock()
        table = make_table(self.clients.dynamodb)
        self._table = table
        self._store = opened.enter_context(closing(AwsStore(self.clients, table, BUCKET, self._clock)))

    def registry(self) -> Registry:
        catalog = self._opened.enter_context(closing(AwsCatalog(self.clients.dynamodb, self._table, self._clock)))
        store = self._store
        return Registry(
            catalog,
            tiers_before(store.bodies, self._clock),
            self._clock,
            secrets=store.secrets,
            principals=store.principals,
            reads=store.reads,
            pays_for_reads=True,
        )

    def client(self) -> Client:
        return Client(app.build(self.registry()))


@pytest.fixture(scope="module")
def functions() -> Iterator[Functions]:
    with ExitStack() as opened:
        made = Functions(opened)
        client, registry = made.client(), made.registry()
        fill(SimpleNamespace(ask=lambda method, path, body=None: client(method, path, body, JSON)))
        for at in range(SUBJECTS):
            register(f"many-{at:04}-value", a_text("A"))(registry)
        yield made


def rounds_of(call: str) -> Rounds:
    """Those that are made side by side; every other call is a round of its own."""
    if "/console/api/subjects?" not in call:
        return ()
    of_each = (ALL_SHARDS, ("Query",) * (FOUND - LIST_SHARDS)) if "deleted=true" in call else ()
    return (ALL_SHARDS, *of_each)


@pytest.mark.parametrize("page", CALLS)
def test_a_page_costs_20_units_and_two_trips_a_call(functions: Functions, page: str) -> None:
    client, units = functions.client(), 0.0
    for call in (CALLER, *CALLS[page]):
        method, target = call.split(" ")
        with metered(functions.clients, rounds_of(call)) as meter:
            answer: Any = client(method, target, DRAFT if method == "POST" else None, JSON)
        assert answer.status in (200, 404), answer.text
        units += meter.read
        trips = len(meter.seen)
        expected = next((most for part, most in FARTHER.items() if part in target), MOST_TRIPS)
        assert trips <= expected, (call, meter.seen)
    assert units <= MOST_UNITS, (page, units)


def test_a_function_tells_the_console_that_reads_cost_money(functions: Functions) -> None:
    assert "paid-reads" in functions.client()("GET", "/console/api/caller").json["has"]


def test_each_page_of_the_list_costs_the_same(functions: Functions) -> None:
    """The next one begins after the last name that was shown, however many names are before it."""
    client, seen, after = functions.client(), list[str](), ""
    for _ in range(5):
        target = f"/console/api/subjects?limit=21&subjectPrefix=%3A*%3A{after and f'&after={after}'}"
        with metered(functions.clients, (ALL_SHARDS,)) as meter:
            found = [each["subject"] for each in client("GET", target).json]
        assert meter.read <= MOST_UNITS
        assert len(meter.seen) <= MOST_TRIPS
        seen += found[:20]
        after = found[19]
    everything = [each["subject"] for each in client("GET", "/console/api/subjects?names=true&limit=100").json]
    assert seen == everything
