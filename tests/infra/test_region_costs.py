"""What two regions cost: what their functions ask, counted, and so on the page."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from infra import prices, region_usage, usage
from infra.usage import MILLION, Work
from sigla.aws.clients import Clients
from sigla.functions.replay import SELDOM_MS, SOURCE, OtherRegionTold, Replaying
from sigla.keks.verbs.keks import read_kek
from sigla.model import DEFAULT_CONTEXT, LATEST, BodyKey, Page, SchemaId, Version
from sigla.ports.in_front import CatalogInFront
from sigla.regions import promotion, rules
from sigla.regions.adoption import AdoptedIds, given_before
from sigla.regions.bodies import AdoptedAnew, BodiesInStep
from sigla.regions.giving import carried_out
from sigla.regions.handed_keys import KeysInStep
from sigla.regions.installed import Installed
from sigla.regions.nouns import RegionKind
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.dynamodb import sweeping
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.keys import dek, kek
from tests.attack.stories import register
from tests.build import FixedClock, a_body, tiers_before
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.infra.reading import Template
from tests.infra.test_regions import regions_stack
from tests.infra.test_usage import SUBJECT, a_schema
from tests.infra.test_zone_costs import PAGE, row, rows
from tests.unit.aws.metering import metered

__all__ = ["regions_stack"]

READS: tuple[Callable[[Registry], object], ...] = (
    lambda registry: registry.version(names.subject(SUBJECT), Version(1)),
    lambda registry: registry.version(names.subject(SUBJECT), LATEST),
    lambda registry: registry.versions(names.subject(SUBJECT), page=Page()),
    lambda registry: registry.schema_by_id(SchemaId(1), subject=names.subject(SUBJECT)),
    lambda registry: registry.config(names.subject(SUBJECT), default_to_global=True),
)
CLOCK = {"source": "aws.events"}
OTHER = f"{BUCKET}-of-the-other-region"
MINUTE_MS = 60_000


class Regions:
    """A primary and its follower, in step. bus: the entries that were put. lines: of both functions."""

    def __init__(self, clients: Clients, opened: ExitStack) -> None:
        self.clients, self.clock = clients, FixedClock()
        self.a, self.b = (
            opened.enter_context(closing(AwsStore(clients, make_table(clients.dynamodb), bucket, self.clock)))
            for bucket in (BUCKET, OTHER)
        )
        self.bus, self.lines = list[Any](), list[Any]()
        in_step = BodiesInStep(
            AdoptedAnew(self.a.bodies, self.a.region),
            self.b.bodies,
            self.b.handed_ids,
            region="b",
            required=True,
            tell=self.lines.append,
            clock=self.clock,
        )
        opened.enter_context(closing(in_step))
        self.registry = Registry(self.a.catalog, in_step, self.clock)
        self.leads = self.function(self.a, self.b, RegionKind.PRIMARY)
        self.follows = self.function(self.b, self.a, RegionKind.FOLLOWER)
        register(SUBJECT, a_schema(1))(self.registry)
        self.leads(CLOCK)
        self.clock.time += rules.KNOWN_MS
        self.follows(CLOCK)
        self.clock.time += SELDOM_MS - self.clock.time % SELDOM_MS + MINUTE_MS
        self.minute()

    def function(self, here: AwsStore, there: AwsStore, becomes: RegionKind) -> Replaying:
        told = OtherRegionTold(SimpleNamespace(put_events=self.put), "of-the-other-region", "default")
        installed = Installed("1.0", {})
        return Replaying(
            *(here, there, told), registry="default", becomes=becomes, installed=installed, tell=self.lines.append
        )

    def put(self, Entries: list[Any]) -> Any:  # noqa: N803 - as the client calls it
        self.bus += Entries
        return {"Entries": [{} for _ in Entries]}

    def minute(self) -> None:
        for function in (self.leads, self.follows):
            function(CLOCK)
        self.clock.time += MINUTE_MS
        self.lines.clear()

    def newest(self) -> Any:
        """The stream's record of the newest commit."""
        found = self.clients.dynamodb.scan(TableName=self.a._table)["Items"]
        row = max((each for each in found if each["pk"]["S"].startswith("default#j#")), key=lambda row: row["sk"]["S"])
        form = {"B": b64encode(row["form"]["B"]).decode()} if "B" in row["form"] else row["form"]
        image = {**row, "form": form}
        return {"Records": [{"eventName": "INSERT", "dynamodb": {"Keys": {"pk": row["pk"]}, "NewImage": image}}]}

    def same(self, function: Replaying, event: Any, stated: Work) -> None:
        """Its calls, round by round, and units; a bus that is asked stands before no meter."""
        rounds = tuple(each for each in stated.trips.rounds if each != ("PutEvents",))
        before = len(self.bus)
        with metered(self.clients, rounds) as meter:
            function(event)
        assert meter.seen == tuple(tuple(sorted(each)) for each in rounds)
        assert (meter.read, meter.write) == (stated.trips.read, stated.trips.write)
        assert len(self.bus) - before == stated.trips.calls.get("PutEvents", 0)
        length = len(json.dumps(self.lines[-1], separators=(",", ":")))
        assert 0.5 * (stated.lines - usage.OVERHEAD) <= length <= stated.lines - usage.OVERHEAD


@pytest.fixture
def regions() -> Iterator[Regions]:
    with ExitStack() as opened:
        clients = opened.enter_context(in_process(tables=Tables()))
        clients.s3.create_bucket(Bucket=OTHER)
        yield Regions(clients, opened)


def test_a_turn_asks_aws_as_often_as_it_is_priced(regions: Regions) -> None:
    """Nothing is missing, and nothing waits: 43,800 times a month in each region."""
    regions.same(regions.follows, CLOCK, region_usage.FOLLOWING)
    regions.same(regions.leads, CLOCK, region_usage.LEADING)


def test_a_new_version_is_told_and_carried_out_for_what_it_is_priced(regions: Regions) -> None:
    register(SUBJECT, a_schema(2))(regions.registry)
    regions.minute()
    register(SUBJECT, a_schema(3))(regions.registry)
    record = regions.newest()
    regions.same(regions.leads, record, region_usage.NAMING)
    told = {"source": SOURCE, "detail": json.loads(regions.bus[-1]["Detail"])}
    regions.same(regions.follows, told, region_usage.HEARING)
    regions.same(regions.follows, record, region_usage.NAMING_NOTHING)
    sent = len(json.dumps(record)) + len(a_schema(3)) + len(regions.bus[-1]["Detail"])
    assert 0.3 * region_usage.TOLD_BYTES <= sent <= region_usage.TOLD_BYTES


def test_a_commit_of_a_primary_writes_two_units_more_and_puts_its_body_there(regions: Regions) -> None:
    """A registry without a second region pays what `infra/trips.py` says: tests/unit/aws/test_trips.py."""
    lone = AwsStore(regions.clients, make_table(regions.clients.dynamodb), OTHER, regions.clock)
    written, asked = [], []
    with closing(lone):
        for registry in (regions.registry, Registry(lone.catalog, lone.bodies, regions.clock)):
            for number in (2, 3):
                register(SUBJECT, a_schema(number))(registry)
            with metered(regions.clients, (), 0.0) as meter:
                register(SUBJECT, a_schema(4))(registry)
            written.append(meter.write)
            asked.append((meter.read, sorted(operation for each in meter.seen for operation in each)))
    assert written[0] - written[1] == region_usage.CHECKED_UNITS
    (read, more), (read_alone, alone) = asked
    assert read == read_alone
    assert Counter(more) - Counter(alone) == Counter(region_usage.HANDING.trips.calls)


def test_an_import_puts_a_mark_there_besides_the_body(regions: Regions) -> None:
    lone = AwsStore(regions.clients, make_table(regions.clients.dynamodb), OTHER, regions.clock)
    asked = []
    with closing(lone):
        # The bucket of the one that is alone has what was handed over: it brings other ids.
        for registry, id in ((regions.registry, 10), (Registry(lone.catalog, lone.bodies, regions.clock), 20)):
            registry.change_mode(names.subject("brought"), "IMPORT")
            for number in (2, 3):
                register("brought", a_schema(id + number), id=id + number, version=number)(registry)
            with metered(regions.clients, (), 0.0) as meter:
                register("brought", a_schema(id + 4), id=id + 4, version=4)(registry)
            asked.append(Counter(operation for each in meter.seen for operation in each)["PutObject"])
    more, alone = asked
    handed = region_usage.HANDING.trips.calls["PutObject"] + region_usage.MARKING.trips.calls["PutObject"]
    assert more - alone == handed


def test_an_import_that_finds_its_schema_without_a_version_writes_it_anew(regions: Regions) -> None:
    """What one has left that was cut off. An id that a version holds asks S3 for nothing, in two regions as in one."""
    lone = AwsStore(regions.clients, make_table(regions.clients.dynamodb), OTHER, regions.clock)
    asked = []
    with closing(lone):
        for store, registry, id in (
            (regions.a, regions.registry, 10),
            (lone, Registry(lone.catalog, lone.bodies, regions.clock), 20),
        ):
            for subject in ("brought", "again"):
                registry.change_mode(names.subject(subject), "IMPORT")
                register(subject, a_schema(id), id=id, version=1)(registry)
            left = replace(a_body(a_schema(id + 1)), brought=True)
            store.bodies.put(BodyKey(DEFAULT_CONTEXT, SchemaId(id + 1)), left)
            for subject in ("brought", "again"):
                with metered(regions.clients, (), 0.0) as meter:
                    register(subject, a_schema(id + 1), id=id + 1, version=2)(registry)
                asked.append(Counter(call for each in meter.seen for call in each if call.endswith("Object")))
    found, held, found_alone, held_alone = asked
    handed = Counter(region_usage.HANDING.trips.calls) + Counter(region_usage.MARKING.trips.calls)
    assert found - found_alone == handed + Counter({"PutObject": 2, "GetObject": 1})
    assert held == held_alone
    assert "takes two writes and a read of S3 more" in PAGE


def test_the_first_version_of_an_adopted_id_writes_its_schema_anew(
    regions: Regions, monkeypatch: pytest.MonkeyPatch
) -> None:
    b, asked = regions.b, []
    carried_out(promotion.forced(b.region, now=regions.clock.now()))
    bodies = tiers_before(b.bodies, regions.clock)
    adopting = AdoptedIds(b.catalog, bodies, given_before(b.region.look), replays_sleep=True)
    registry = Registry(adopting, bodies, regions.clock)
    for number in (7, 8):
        b.bodies.put(BodyKey(DEFAULT_CONTEXT, SchemaId(number)), a_body(a_schema(number)))
        with metered(regions.clients, (), 0.0) as meter:
            register(f"adopted-{number}", a_schema(number))(registry)
        asked.append(Counter(call for each in meter.seen for call in each if call.endswith("Object")))
        monkeypatch.setattr(AdoptedIds, "commit", CatalogInFront.commit)
    assert asked[0] - asked[1] == Counter({"PutObject": 2, "GetObject": 1})


def test_a_delete_for_good_checks_the_role_each_twenty_versions(
    regions: Regions, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweeping.AT_ONCE == 20
    monkeypatch.setattr(sweeping, "AT_ONCE", 2)
    lone = AwsStore(regions.clients, make_table(regions.clients.dynamodb), OTHER, regions.clock)
    more = []
    with closing(lone):
        for versions in (1, 2, 3, 4, 5):
            written = []
            for registry in (regions.registry, Registry(lone.catalog, lone.bodies, regions.clock)):
                for number in range(versions):
                    register("gone", a_schema(10 * versions + number))(registry)
                registry.delete_subject(names.subject("gone"))
                with metered(regions.clients, (), 0.0) as meter:
                    registry.delete_subject(names.subject("gone"), permanent=True)
                written.append(meter.write)
            more.append(written[0] - written[1] - region_usage.CHECKED_UNITS)
    assert more == [2, 2, 4, 4, 6]
    assert "a delete for good two write units more for each twenty versions" in PAGE


def test_keys_are_handed_over_for_what_it_is_priced(regions: Regions) -> None:
    lone = AwsStore(regions.clients, make_table(regions.clients.dynamodb), OTHER, regions.clock)
    a, there, clock = regions.a, regions.b.handed_keys, regions.clock
    role = a.region.role()
    assert role is not None
    in_step = KeysInStep(a.catalog, a.key_commits, a.key_adoption, there, region="b", clock=clock, url=role.at)
    stated = (region_usage.HANDING_A_KEY, region_usage.ASKING_FOR_A_KEY)
    with closing(lone), closing(in_step):
        found = []
        for registry in (replace(regions.registry, catalog=in_step), Registry(lone.catalog, lone.bodies, clock)):
            kek("k")(registry)
            for verb in (dek("k", "s"), lambda registry: read_kek(registry, "k")):
                with metered(regions.clients, (), 0.0) as meter:
                    verb(registry)
                found.append((Counter(call for each in meter.seen for call in each), meter.read, meter.write))
        for (calls, read, write), (alone, read_alone, write_alone), work in zip(found, found[2:], stated, strict=False):
            assert calls - alone == Counter(work.trips.calls)
            assert (read - read_alone, write - write_alone) == (work.trips.read, work.trips.write)


def test_a_read_of_a_follower_takes_the_units_that_it_takes_in_its_primary_and_alone(regions: Regions) -> None:
    """That its function asks as often as theirs: tests/functions/test_region_reads.py."""
    lone = AwsStore(regions.clients, make_table(regions.clients.dynamodb), OTHER, regions.clock)
    took = []
    with closing(lone):
        register(SUBJECT, a_schema(1))(Registry(lone.catalog, lone.bodies, regions.clock))
        for store in (lone, regions.a, regions.b):
            registry = Registry(store.catalog, store.bodies, regions.clock)
            with metered(regions.clients, (), 0.0) as meter:
                for read in READS:
                    read(registry)
            took.append((meter.read, meter.write, meter.seen))
    assert took[0] == took[1] == took[2]
    assert took[0][0] > len(READS)


def test_the_page_shows_what_two_regions_cost(regions_stack: Template, template: Template) -> None:
    """What each stack has besides, and together no more than is promised."""
    one, more = ({item.what: item.dollars for item in prices.idle(each)} for each in (template, regions_stack))
    added = {what: more[what] - one.get(what, 0.0) for what in more if more[what] != one.get(what, 0.0)}
    leads = region_usage.TURNS * usage.bill(region_usage.LEADING).total
    turns = added.pop(prices.TURN[0])
    (alarms,) = added.values()
    idle = 2 * alarms + turns + leads
    million = MILLION * region_usage.in_two_regions(MILLION)
    assert rows("| two regions, a month |") == [
        row("metrics in alarms, of both stacks", 2 * alarms),
        row("turns of the follower", turns),
        row("turns of the primary", leads),
        row("together, without a request", idle),
        row("a million new schemas, besides what they take in the primary", million),
        row("a million of them that are imported with their ids: marks", MILLION * region_usage.marking_bill().total),
        row("a million changes of keys, handed over before they are made", MILLION * region_usage.key_bill().total),
    ]
    assert idle <= 3
    assert million <= 35
    assert f"assumed that a question to the other region takes {region_usage.FAR_MS} ms more" in PAGE
