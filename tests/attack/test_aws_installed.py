"""What the stacks of two regions run is in their data, and compared before they change places."""

from contextlib import closing

from sigla.functions.replay import SELDOM_MS
from sigla.regions.installed import Installed
from sigla.stores.dynamodb.installed import LATELY_MS
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.promoting import TablePair
from tests.attack.aws_replay import stores
from tests.attack.test_aws_copying import account
from tests.attack.test_aws_region_turns import MINUTE_MS
from tests.attack.test_aws_replay_function import CLOCK, Two, regions

__all__ = ["account", "regions"]


def test_each_region_says_what_its_stack_runs_and_whoever_promotes_compares_them(regions: Two) -> None:
    """From the first turn of a deployment on. One that says nothing of late, as without this function, is let pass."""
    regions.begin()
    regions.tick(regions.a)
    with closing(regions.store(regions.a)) as a, closing(regions.store(regions.b)) as b:
        assert [each.region.installed() for each in (a, b)] == regions.installed
        assert TablePair(b, a).rehearse() == []
        regions.installed[1] = Installed("1.1", {"SIGLA_AUTH": "none"})
        regions.tick(regions.b)
        assert TablePair(b, a).rehearse() == [
            "The primary runs release 1.0 and this region 1.1: install one at both.",
            "The primary has SIGLA_AUTH=keys and this region none: clients would be answered otherwise.",
        ]
        regions.clock.time += LATELY_MS
        regions.tick(regions.b)
        assert [each.region.installed() for each in (a, b)] == [None, regions.installed[1]]
        assert TablePair(b, a).rehearse() == []


def test_what_a_stack_runs_is_written_by_each_environment_once_and_then_each_half_hour(regions: Two) -> None:
    """A turn comes each minute, and is paid for."""
    regions.begin()
    written = list[int]()
    with regions.function(regions.a) as function:
        for _ in range(2 * SELDOM_MS // MINUTE_MS):
            regions.clock.time += MINUTE_MS
            function(CLOCK)
            row = stores(regions.a).catalog._tools.table.get(Places(stores(regions.a).registry).installed())
            assert row
            written += [row["at"]] * (row["at"] not in written)
    assert len(written) == 3
    assert written[2] - written[1] == SELDOM_MS
