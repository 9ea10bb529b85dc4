"""What a person sees of two regions in tables: roles, ids, and commits that wait, in two rounds of questions."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from sigla.aws.clients import Clients
from sigla.model import DEFAULT_CONTEXT
from sigla.ports.region_views import MOST_CONTEXTS, MOST_WAITING
from sigla.regions.arming import armed
from sigla.regions.giving import carried_out
from sigla.regions.installed import told_of_setting
from sigla.regions.nouns import KnownBy, RegionKind
from sigla.regions.replay import WAIT
from sigla.registry import Registry
from sigla.stores.dynamodb.region_views import DIVERGES, AwsRegionViews
from sigla.stores.dynamodb.replaying import AwsReplayer, AwsShipper
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.stories import register
from tests.build import FixedClock, a_text
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.unit.aws.metering import metered

THERE = f"{BUCKET}-there"
URLS = ("dynamodb+s3://a/b?region=eu-west-1", "dynamodb+s3://c/d?region=eu-central-1")


class Two:
    """A primary with its own data, and the region that joins it."""

    def __init__(self, clients: Clients, opened: ExitStack) -> None:
        self.clients, self.clock = clients, FixedClock()
        self.a, self.b = (
            opened.enter_context(closing(AwsStore(clients, make_table(clients.dynamodb), bucket, self.clock)))
            for bucket in (BUCKET, THERE)
        )
        self.registry = Registry(self.a.catalog, self.a.bodies, self.clock)

    def arm(self) -> None:
        contexts = [DEFAULT_CONTEXT, *self.a.catalog.contexts()]
        carried_out(
            armed(self.a.region, self.b.region, contexts, names=("A", "B"), urls=URLS, pair="p", now=self.clock.now())
        )

    def views(self, here: AwsStore, there: AwsStore | None = None) -> AwsRegionViews:
        """As of a function that has just started."""
        return AwsRegionViews(here.tools, self.clock, there.region if there else None, URLS)


@pytest.fixture
def two() -> Iterator[Two]:
    with ExitStack() as opened:
        clients = opened.enter_context(in_process(tables=Tables()))
        clients.s3.create_bucket(Bucket=THERE)
        yield Two(clients, opened)


def test_a_table_without_a_role_has_no_second_region(two: Two) -> None:
    views = two.views(two.a)
    assert not views.is_there()
    assert views.here() is None
    assert views.other().region is None


def test_both_regions_and_the_ids_that_are_left_are_told(two: Two) -> None:
    register("a", a_text("A"))(two.registry)
    register(":.eu:a", a_text("A"))(two.registry)
    two.arm()
    views = two.views(two.a, two.b)
    assert views.is_there()
    here, there = views.here(), views.other()
    assert here is not None
    assert there.region is not None
    assert (here.url, here.role.kind, here.role.writes, here.behind) == (URLS[0], RegionKind.PRIMARY, True, None)
    assert [(context, counter.next, counter.ceiling) for context, counter in here.ids or ()] == [
        (".", 1, 100_000),
        (".eu", 1, 100_000),
    ]
    assert (there.url, there.region.role.kind) == (URLS[1], RegionKind.JOINING)


def test_a_setting_that_names_another_region_than_the_data_is_told_as_the_command_tells_it(two: Two) -> None:
    """At no question more: a function knows its own settings."""
    third = "dynamodb+s3://e/f?region=eu-north-1"

    def told(here: AwsStore, named: str) -> str:
        found = AwsRegionViews(here.tools, two.clock, None, (URLS[0], named)).here()
        assert found is not None
        return found.setting

    two.arm()
    for here, other in ((two.a, URLS[1]), (two.b, URLS[0])):
        assert told(here, other) == told(here, "") == ""
        assert told(here, third) == told_of_setting(third, other)
        assert third in told_of_setting(third, other)
    role = two.a.region.role()
    assert role is not None
    assert two.a.region.set_role(role, replace(role, peer=KnownBy(), at=""))
    assert told(two.a, third) == "", "no region follows yet"


def test_commits_that_wait_and_that_diverge_are_told_with_what_they_are_about(two: Two) -> None:
    two.arm()
    register("orders", a_text("A"))(two.registry)
    replayer = AwsReplayer(two.b.catalog, two.b.tools, two.b.bodies, ())
    (shipment,) = AwsShipper(two.a.journal, two.a.bodies).shipments()
    replayer.put_aside(shipment)
    found = two.views(two.b, two.a).here()
    assert found is not None
    ((why, number, more, oldest, subjects),) = found.waiting
    assert (why, number, more, list(subjects)) == (WAIT, 1, False, ["orders"])
    assert 0 <= two.clock.now() - oldest < 60_000
    replayer.set_apart(shipment)
    found = two.views(two.b, two.a).here()
    assert found is not None
    assert [(each.why, each.number) for each in found.waiting] == [(DIVERGES, 1)]


def test_however_much_waits_it_is_two_rounds_and_twenty_units_at_most(two: Two) -> None:
    two.arm()
    for at in range(MOST_CONTEXTS + 4):
        register(f":.c{at:02}:a", a_text("A"))(two.registry)
    replayer = AwsReplayer(two.b.catalog, two.b.tools, two.b.bodies, ())
    for shipment in AwsShipper(two.a.journal, two.a.bodies).shipments():
        replayer.put_aside(shipment)
    first = ("BatchGetItem", "Query", "Query", "Query")
    with metered(two.clients, (first,)) as meter:
        found = two.views(two.b).here()
    assert meter.seen == (first,), "no context has come yet"
    assert meter.read <= 20
    assert found is not None
    assert (found.waiting[0].number, found.waiting[0].more) == (MOST_WAITING, True)
    with metered(two.clients, (first, ("BatchGetItem",))) as meter:
        found = two.views(two.a).here()
    assert found is not None
    assert (len(found.ids or ()), found.more_contexts) == (MOST_CONTEXTS, True)
    assert meter.seen == (first, ("BatchGetItem",))
    assert meter.read <= 20
