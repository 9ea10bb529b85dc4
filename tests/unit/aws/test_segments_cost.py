"""What a segment costs, how large it becomes, and who waits for whom: counted in calls."""

from typing import Any

import pytest

from sigla.functions.journal import Unfinished
from tests.attack.ports import Call
from tests.attack.stories import HISTORY, config, register
from tests.attack.test_threads import order
from tests.attack.world import World
from tests.build import FixedClock
from tests.contract.aws import AwsStores
from tests.unit.aws.journaling import (
    as_streamed,
    check_told_once,
    do,
    event_of,
    follow,
    follower,
    rows_of,
    segments,
    stores,
    world,
)

__all__ = ["stores", "world"]

SCHEDULE = {"source": "aws.events"}


@pytest.mark.parametrize("rows, segments_of_them", [(1, 1), (97, 2)])
def test_a_segment_costs_three_calls_and_a_put(
    world: World, stores: AwsStores, rows: int, segments_of_them: int
) -> None:
    """And a GET for each row that tells a text."""
    do(world, register("a"), *(config("a", group=str(number)) for number in range(rows - 1)))
    event = event_of(rows_of(as_streamed(stores)))
    with follower(stores) as one:
        before = stores.clients.calls.read()
        assert one(event)["segments"] == segments_of_them
        calls = stores.clients.calls.read() - before
    each = segments_of_them
    assert calls == {
        "BatchGetItem": each,
        "TransactWriteItems": each,
        "UpdateItem": each,
        "PutObject": each,
        "GetObject": 1,
    }


def test_what_was_told_before_costs_one_call(world: World, stores: AwsStores) -> None:
    do(world, *HISTORY)
    follow(stores)
    event = event_of(rows_of(as_streamed(stores)))
    with follower(stores) as again:
        before = stores.clients.calls.read()
        again(event)
        assert stores.clients.calls.read() - before == {"BatchGetItem": 1}


def test_a_schedule_without_anything_to_do_costs_twenty_calls(world: World, stores: AwsStores) -> None:
    """A query for each shard of the journal, however old and large the registry is."""
    do(world, *HISTORY)
    follow(stores)
    with follower(stores) as again:
        again(SCHEDULE)
        before = stores.clients.calls.read()
        again(SCHEDULE)
        assert stores.clients.calls.read() - before == {"BatchGetItem": 2, "Query": 17, "UpdateItem": 1}


def test_a_segment_has_an_end(world: World, stores: AwsStores) -> None:
    """Rows with long texts: as many as fit, but one at least."""
    texts = [order(number) for number in range(4)]
    do(world, *(register(f"s{number}", text, metadata=None) for number, text in enumerate(texts)))
    do(world, register("long", '{"type":"enum","name":"E","symbols":["' + "X" * 4_000 + '"]}'))
    follow(stores, segment_bytes=2_000)
    check_told_once(stores)
    sizes = [len(told) for told in segments(stores).values()]
    assert max(sizes) > 1
    assert len(sizes) > 2


def test_rows_of_another_registry_in_the_same_table_are_not_ours(world: World, stores: AwsStores) -> None:
    do(world, *HISTORY)
    records = rows_of(as_streamed(stores))
    for record in records:
        record["dynamodb"]["Keys"]["pk"]["S"] = "other#j#1"
    with follower(stores) as one:
        assert one(event_of(records))["rows"] == 0
    assert not segments(stores)


class Stopped(FixedClock):
    """A clock that stands still."""

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def test_whoever_meets_a_young_claim_waits_for_its_owner(world: World, stores: AwsStores) -> None:
    """A busy table has several shards, whose batches come in the same moment; here the owner is slow."""
    do(world, *HISTORY)
    impatient = Stopped()

    def meanwhile(call: Call, carry_out: Any) -> Any:
        if call.name == "s3.put_object":
            with pytest.raises(Unfinished):
                follow(stores, clock=impatient)
        return carry_out()

    follow(stores, clock=FixedClock(), between=meanwhile)
    assert impatient.slept
    check_told_once(stores)
