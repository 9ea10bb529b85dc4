"""The log of a registry in AWS: the table while it keeps the rows, then the segments."""

from sigla.ports.log import LogEntry
from sigla.stores.dynamodb.log import AwsLog
from tests.attack.stories import ONE, TWO, config, register
from tests.attack.world import World
from tests.build import FixedClock
from tests.contract.aws import AwsStores
from tests.unit.aws.journaling import do, follow, stores, world

__all__ = ["stores", "world"]

DAY_MS = 86_400_000
STORY = (register("a", ONE), register(":.eu:a", ONE), config("a", level="FULL"), register("a", TWO))


def log(stores: AwsStores, *, days_later: int = 0, since: int = 0) -> list[LogEntry]:
    clock = FixedClock()
    clock.time += days_later * DAY_MS
    return list(AwsLog(stores.journal, stores.objects, clock, registry=stores.registry).entries(since))


def test_segments_tell_the_same_as_the_table(world: World, stores: AwsStores) -> None:
    """When its rows are gone, a commit is still told: with its author, its kind and all that it was about."""
    do(world, *STORY)
    young = log(stores, since=FixedClock().time - 1)
    assert [entry.change for entry in young] == ["Registered", "Registered", "ConfigChanged", "Registered"]
    follow(stores)
    assert log(stores, days_later=40) == young


def test_what_no_segment_tells_yet_is_told_from_the_table(world: World, stores: AwsStores) -> None:
    do(world, *STORY[:2])
    follow(stores)
    do(world, *STORY[2:])
    assert [entry.change for entry in log(stores)] == ["Registered", "Registered", "ConfigChanged", "Registered"]
