"""What exporters cost: what the function asks, counted as it is deployed, and so on the page."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from infra import prices, usage
from infra.usage import MILLION, Work
from sigla.aws.clients import Clients
from sigla.exporters.nouns import ContextType, Exporter, ExporterDraft
from sigla.exporters.verbs.changing import create_exporter
from sigla.functions.exporters import ExporterTurns
from sigla.registry import Registry
from sigla.remote.destination import LIMITS, HttpDestination, destination
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.stories import register
from tests.build import FixedClock
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.infra.reading import Template
from tests.infra.test_zone_costs import PAGE, row, rows
from tests.unit.aws.metering import metered
from tests.unit.exporting.places import Connection, let_pass, places

Turns = Callable[[], dict[str, Any]]


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with in_process(tables=Tables()) as made:
        yield made


@pytest.fixture
def store(clients: Clients) -> Iterator[AwsStore]:
    """Its time stands still: an exporter says each second how far it has come, however busy the machine is."""
    with closing(AwsStore(clients, make_table(clients.dynamodb), BUCKET, FixedClock())) as made:
        yield made


@pytest.fixture
def registry(store: AwsStore) -> Registry:
    return Registry(store.catalog, store.bodies, store.clock, secrets=store.secrets)


@pytest.fixture
def turns(store: AwsStore) -> Iterator[Turns]:
    """One invocation."""

    def connect(*_: Any, **__: Any) -> Any:
        return Connection(target.client, let_pass)

    def enter(exporter: Exporter) -> HttpDestination:
        return destination(exporter, store.secrets, store.clock, connect=connect)

    with places(1) as (target,):
        function = ExporterTurns(store, enter, source="here", tell=lambda _: None)
        yield lambda: function({})


def export(registry: Registry) -> None:
    config = {"schema.registry.url": "http://there.example"}
    create_exporter(registry, ExporterDraft("e", context_type=ContextType.NONE, config=config))


def same(clients: Clients, turns: Turns, *stated: Work) -> None:
    """Its calls, round by round, and units."""
    rounds = tuple(each for work in stated for each in work.trips.rounds)
    with metered(clients, rounds) as meter:
        turns()
    assert meter.seen == tuple(tuple(sorted(each)) for each in rounds)
    assert meter.read == sum(work.trips.read for work in stated)
    assert meter.write == sum(work.trips.write for work in stated)


def test_a_tick_asks_aws_as_often_as_it_is_priced(clients: Clients, registry: Registry, turns: Turns) -> None:
    """Without exporters, with one that has nothing to write, and with one that has."""
    same(clients, turns, usage.EXPORTERS)
    export(registry)
    register("s0", '"long"')(registry)
    turns()
    same(clients, turns, usage.EXPORTERS, usage.EXPORTER)
    for number in (1, 2):
        register(f"s{number}", f'{{"type":"fixed","name":"F{number}","size":3}}')(registry)
    same(clients, turns, usage.EXPORTERS, usage.exported(2))


def test_a_line_of_the_exporters_is_no_longer_than_it_is_priced(turns: Turns) -> None:
    length = len(json.dumps(turns(), separators=(",", ":")))
    assert 0.7 * usage.EXPORTERS_LINE <= length <= usage.EXPORTERS_LINE


def test_the_page_shows_what_exporters_cost(all_on: Template) -> None:
    """What is there without any, what each adds, and what it takes to write a million versions."""
    function = {
        name: each for name, each in all_on["Resources"].items() if name.startswith(("Exporters", "WatchExporters"))
    }
    parts = {item.what: item.dollars for item in prices.idle({"Resources": function})}
    assert rows("| exporters, a month |") == [
        *(row(what, month) for what, month in parts.items()),
        row("each exporter that has nothing to write", usage.idle_exporter()),
        row("a million versions that an exporter writes", usage.exported_version() * MILLION),
    ]
    assert f"at each tick: ${usage.silent_destination():.2f} a month" in PAGE


def test_a_silent_destination_is_waited_for_as_long_as_it_is_priced() -> None:
    assert LIMITS.patience_s == usage.SILENT_S
