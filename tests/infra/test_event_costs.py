"""What events cost: what they add to the journal's function, counted, and so on the page."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from infra import prices, usage
from infra.trips import Trips
from infra.usage import MILLION, Work
from sigla.functions.events import EventDelivery
from sigla.observe import Facts
from tests.attack.aws import Store
from tests.attack.stories import config, register
from tests.attack.world import World
from tests.contract.aws import Account, AwsStores, moto
from tests.infra.reading import Template
from tests.infra.test_zone_costs import PAGE, row, rows
from tests.unit.aws.buses import delivery
from tests.unit.aws.journaling import as_streamed, do, event_of, rows_of, stores_of
from tests.unit.aws.metering import metered

__all__ = ["moto"]


@pytest.fixture
def world(moto: Account) -> Iterator[World]:
    with World(store=Store(moto)) as world:
        yield world


@pytest.fixture
def stores(world: World) -> AwsStores:
    return stores_of(world)


@pytest.fixture
def told() -> list[Facts]:
    """The lines of the journal's function."""
    return []


@pytest.fixture
def function(stores: AwsStores, told: list[Facts]) -> Iterator[EventDelivery]:
    """An instance with events, whose journal's part has caught up."""
    with delivery(stores, stores.clients.events, told=told) as made:
        yield made


def same(stores: AwsStores, function: EventDelivery, event: dict[str, Any], journal: Work, stated: Work) -> None:
    """Its calls, round by round, and units; the journal's part stands behind the first look."""
    first, *rest = stated.trips.rounds
    rounds = (first, *journal.trips.rounds, *rest)
    with metered(stores.clients, rounds) as meter:
        function(event)
    assert meter.seen == tuple(tuple(sorted(each)) for each in rounds)
    assert meter.read == stated.trips.read + journal.trips.read
    assert meter.write == stated.trips.write + journal.trips.write


@pytest.mark.parametrize("commits", [1, 12])
def test_events_add_to_a_batch_what_they_are_priced(
    world: World, stores: AwsStores, function: EventDelivery, commits: int
) -> None:
    """So much for the segment, and a call for each ten; a batch that comes again has none to hand over."""
    do(world, register("before"))
    former = event_of(rows_of(as_streamed(stores)))["Records"]
    function({"Records": former})
    do(world, *(config(f"s{number}", level="FULL") for number in range(commits)))
    known = [each["dynamodb"]["Keys"] for each in former]
    all_rows = event_of(rows_of(as_streamed(stores)))["Records"]
    batch = {"Records": [each for each in all_rows if each["dynamodb"]["Keys"] not in known]}
    told = usage.batch(commits).trips  # of settings, for which no text is read
    segment = replace(told, rounds=tuple(each for each in told.rounds if "GetObject" not in each))
    same(stores, function, batch, Work(segment), usage.delivered(commits))
    looked = Work(Trips((("BatchGetItem",),), read=commits + 1))
    same(stores, function, batch, looked, usage.BEHIND_NOTHING)


def test_a_line_of_events_is_no_longer_than_it_is_priced(
    world: World, stores: AwsStores, function: EventDelivery, told: list[Facts]
) -> None:
    do(world, register("s"))
    function(event_of(rows_of(as_streamed(stores))))
    length = len(json.dumps(told[-1], separators=(",", ":")))
    assert 0.7 * usage.EVENTS_LINE <= length <= usage.EVENTS_LINE


def test_the_page_shows_what_events_cost(all_on: Template) -> None:
    """The alarm, and a million commits."""
    alarm = {name: each for name, each in all_on["Resources"].items() if "EventsWaiting" in name}
    (alarms,) = prices.idle({"Resources": alarm})
    assert rows("| events, a month |") == [
        row(alarms.what, alarms.dollars),
        row("a million commits", usage.commit_events(MILLION)),
    ]
    alone = usage.commit_events(1) * MILLION - usage.commit_events(MILLION)
    assert f"${alone:,.2f} more per million where each is alone in its segment" in PAGE
