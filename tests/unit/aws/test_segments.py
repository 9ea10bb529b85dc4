"""The journal in S3: each row in one segment, whatever comes twice, dies in between or cannot be read."""

import random
from contextlib import suppress
from typing import Any

import pytest

from sigla import keys
from sigla.functions import segments as module
from sigla.functions.journal import Unfinished
from sigla.model import BodyKey, SchemaId
from sigla.stores.dynamodb.values import read_item
from tests.attack.aws import Store, failing
from tests.attack.keys import KEYS, kek, kek_deleted, kek_purged
from tests.attack.ports import At, Call
from tests.attack.stories import DELETED, HISTORY, config, delete, purge, register
from tests.attack.test_threads import order
from tests.attack.world import World
from tests.build import NOW, FixedClock
from tests.contract.aws import Account, AwsStores
from tests.contract.engines import BUCKET
from tests.unit.aws.faults import Fault, Killed
from tests.unit.aws.journaling import (
    as_streamed,
    at_any_call,
    check_told_once,
    do,
    event_of,
    follow,
    follower,
    journal_rows,
    lines,
    replayed,
    rows_of,
    segments,
    stores,
    stores_of,
    told_rows,
    world,
)

__all__ = ["stores", "world"]

STORY = (*DELETED, purge("orders"), register(":.c:x"), config("orders", level="FULL"))
LATER = NOW + module.OWNED_MS
SCHEDULE = {"source": "aws.events"}


# --- what a segment says ---------------------------------------------------------------------------------------------


def test_a_line_is_a_record_of_the_topic_and_says_where_it_belongs(world: World, stores: AwsStores) -> None:
    """Key and value as a dump has them; several records of one commit are parts of it."""
    do(world, register(":.c:orders"), delete(":.c:orders", 1), purge(":.c:orders", 1))
    follow(stores)
    told = lines(stores)
    first, listed = journal_rows(stores), told[0]
    at, nonce = min(first)
    assert listed == {
        "form": 1,
        "timestamp": NOW,
        "key": '{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}',
        "value": '{"tenant":"default","context":".c"}',
        "at": at,
        "nonce": nonce,
        "part": 0,
        "revision": 1,
        "change": "Registered",
        "by": next(stores.principals.names(NOW)).token,
        "via": {"way": "api", "request": "request-1", "address": "192.0.2.1"},
        "is": "4b77c730-6bf0-4b39-46f6-8f30c367cb3f",
    }
    assert [(line["part"], line["revision"]) for line in told] == [(0, 1), (1, 1), (0, 2), (0, 3)]
    assert '"schema":"{' in told[1]["value"]
    assert '"deleted":true' in told[2]["value"]
    assert told[3]["key"] == told[1]["key"]
    assert told[3]["value"] is None


def test_segments_are_named_by_the_time_of_their_claim(world: World, stores: AwsStores) -> None:
    """Each later than the one before, also within a millisecond; names sort as segments were claimed."""
    clock = FixedClock()
    for number in range(3):
        do(world, register(f"s{number}"))
        follow(stores, clock=clock)
    assert list(segments(stores)) == [f"2023/11/14/{NOW + number}.jsonl" for number in range(3)]
    assert [line["key"].count(f'"s{number}"') for number, line in enumerate(lines(stores))] == [1, 1, 1]


def test_what_segments_say_adds_up_to_the_catalog(world: World, stores: AwsStores) -> None:
    do(world, *STORY, *KEYS, kek("gone"), kek_deleted("gone"), kek_purged("gone"))
    follow(stores)
    check_told_once(stores)
    assert replayed(lines(stores)) == world.catalogued(world.rows())


# --- once ------------------------------------------------------------------------------------------------------------


def test_batches_may_come_again_cut_otherwise_and_in_any_order(world: World, stores: AwsStores) -> None:
    """Half of them twice, by two instances that take turns."""
    do(world, *(register(f"s{number}", order(number)) for number in range(6)), *STORY)
    rows, draw = rows_of(as_streamed(stores)), random.Random(7)
    with follower(stores) as one, follower(stores) as other:
        for _ in range(8):
            draw.shuffle(rows)
            one(event_of(rows[: draw.randrange(1, len(rows))]))
            other(event_of(rows[draw.randrange(len(rows)) :]))
    follow(stores)
    check_told_once(stores)
    before = segments(stores)
    assert follow(stores)["rows"] == 0
    assert segments(stores) == before


@pytest.mark.parametrize("fault", [Fault.KILLED, Fault.KILLED_AFTER, Fault.SILENT, Fault.LOST])
def test_a_segment_that_was_claimed_is_written_by_whoever_comes_next(
    world: World, stores: AwsStores, fault: Fault
) -> None:
    """The process ends between the claim and the object, or between the object and the end of the claim."""

    def between(call: Call, carry_out: Any) -> Any:
        return failing(fault)(call, carry_out) if call.name == "s3.put_object" else carry_out()

    do(world, *HISTORY)
    with pytest.raises((Killed, Unfinished)):
        follow(stores, between=between, clock=FixedClock())
    assert all("segment" in item for item in journal_rows(stores).values())
    with follower(stores) as next_one:
        next_one(SCHEDULE)
    check_told_once(stores)
    do(world, register("other"))
    follow(stores)
    check_told_once(stores)
    assert len(segments(stores)) == 2


@pytest.mark.parametrize("fault", at_any_call(Fault.KILLED, Fault.LOST))
def test_a_failure_at_any_call_leaves_nothing_out_and_nothing_twice(moto: Account, fault: Fault) -> None:
    """Every call that a batch costs; the batch comes again, as the stream brings it."""
    number, met = 0, True
    while met:
        with World(register("a"), config("a", level="FULL"), store=Store(moto)) as world:
            stores, disturbed = stores_of(world), At(number, failing(fault))
            with suppress(Unfinished, Killed):
                follow(stores, clock=FixedClock(), between=disturbed)
            follow(stores, clock=FixedClock(LATER))
            met = disturbed.acted
            check_told_once(stores)
        number += 1
    assert number > 5


def test_rows_that_were_read_before_another_told_them_are_not_told_again(world: World, stores: AwsStores) -> None:
    """A BatchGet does not read a snapshot: it reads the rows, another tells them, then it reads the last segment."""
    do(world, *HISTORY)

    def torn(_: Call, carry_out: Any) -> Any:
        early = carry_out()["Responses"][stores.table]
        follow(stores)
        late = [item for item in carry_out()["Responses"][stores.table] if item["sk"]["S"] == keys.LAST]
        return {"Responses": {stores.table: early + late}}

    assert follow(stores, between=At(0, torn))["rows"] == 0
    check_told_once(stores)


# --- a table behind its bucket ---------------------------------------------------------------------------------------


def test_a_restored_table_goes_on_past_what_the_bucket_has(world: World, stores: AwsStores) -> None:
    """Also where clocks are so far apart that a number comes again: its segment stays as it is."""
    clock = FixedClock()
    do(world, register("a"))
    earlier = [record["dynamodb"]["NewImage"] for record in as_streamed(stores)]
    follow(stores, clock=clock)
    do(world, register("b"))
    follow(stores, clock=FixedClock(NOW + 1))
    lost = segments(stores)

    for record in as_streamed(stores):
        stores.dynamodb.delete_item(TableName=stores.table, Key=record["dynamodb"]["Keys"])
    for item in earlier:
        stores.dynamodb.put_item(TableName=stores.table, Item=item)
    do(world, register("c"), register("d"))
    follow(stores, clock=clock)

    found = segments(stores)
    assert {name: found[name] for name in lost} == lost
    (new,) = (told for name, told in found.items() if name not in lost)
    assert sorted((line["at"], line["nonce"]) for line in new) == sorted(journal_rows(stores))
    number = int(list(found)[-1].split("/")[-1].removesuffix(".jsonl"))
    assert number == NOW + 2
    assert {item["segment"] for item in journal_rows(stores).values()} == {number}


def test_two_that_come_upon_a_used_number_write_one_segment(moto: Account) -> None:
    """Whatever one is about to do, another does it all meanwhile."""
    number, met = 0, True
    while met:
        with World(*HISTORY, store=Store(moto)) as world:
            met = _overtaken(world, number)
        number += 1
    assert number > 8


def _overtaken(world: World, number: int) -> bool:
    stores = stores_of(world)
    name = keys.journal_object(stores.registry, 2023, 11, 14, NOW)
    stores.s3.put_object(Bucket=BUCKET, Key=name, Body=FOREIGN)

    def meanwhile(_: Call, carry_out: Any) -> Any:
        follow(stores, clock=FixedClock(LATER))
        return carry_out()

    overtaken = At(number, meanwhile)
    follow(stores, clock=FixedClock(), between=overtaken)
    told = [row for row in told_rows(stores) if row != (1, "foreign")]
    assert told == sorted(journal_rows(stores))
    assert len(segments(stores)) == 2
    return overtaken.acted


FOREIGN = b'{"timestamp":1,"key":"{}","value":null,"at":1,"nonce":"foreign","part":0,"revision":null}'


def test_the_row_of_the_last_segment_never_expires(world: World, stores: AwsStores) -> None:
    """Journal rows do; their numbers are not needed any longer."""
    do(world, *HISTORY)
    follow(stores)
    items = [read_item(record["dynamodb"]["NewImage"]) for record in as_streamed(stores)]
    assert [item["sk"] for item in items if item["pk"].endswith("#segments") and "expires" not in item] == ["LAST"]
    assert all("expires" in item for item in journal_rows(stores).values())


# --- rows that cannot be read ----------------------------------------------------------------------------------------


def damage(stores: AwsStores, **attributes: Any) -> dict[str, Any]:
    """Something else than a form in the place of the youngest row's; the item as it was."""
    row = journal_rows(stores)[max(journal_rows(stores))]
    key = {"pk": {"S": row["pk"]}, "sk": {"S": row["sk"]}}
    item: dict[str, Any] = stores.dynamodb.get_item(TableName=stores.table, Key=key)["Item"]
    stores.dynamodb.put_item(TableName=stores.table, Item=item | attributes)
    return item


BROKEN: dict[str, dict[str, Any]] = {
    "no JSON": {"form": {"S": "{"}},
    "no form": {"form": {"S": "[]"}},
    "bytes that are not compressed": {"form": {"B": b"x"}},
    "a change from the future": {"form": {"S": '{"ts":1,"nonce":"n","revision":1,"entries":[{"type":"NEW"}]}'}},
    "a config that is none": {
        "form": {
            "S": '{"ts":1,"nonce":"n","revision":1,"entries":[{"type":"CONFIG","context":".","name":"s","config":[1]}]}'
        }
    },
    "a body that is not there": {
        "form": {
            "S": '{"change":"Registered","ts":1,"nonce":"n","revision":1,"entries":[{"type":"SCHEMA","context":".",'
            '"name":"s","version":1,"id":77,"deleted":false}]}'
        }
    },
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_row_that_cannot_be_read_holds_up_no_other(world: World, stores: AwsStores, broken: str) -> None:
    """It is told aloud and put aside: it stays in the table for ever, and is tried again on an operator's demand."""
    do(world, *HISTORY)
    item = damage(stores, **BROKEN[broken])
    told: list[Any] = []
    done = follow(stores, told=told)
    assert (done["rows"], done["aside"]) == (1, 1)
    assert told[0]["event"] == "unreadable"
    assert told[0]["row"] == {"pk": item["pk"]["S"], "sk": item["sk"]["S"]}
    assert follow(stores)["aside"] == 0
    with follower(stores) as again:
        assert again(SCHEDULE)["aside"] == 0
        assert again({"catch_up": {"since": "2023-11-14T00:00:00Z"}})["aside"] == 1
    aside = journal_rows(stores)[max(journal_rows(stores))]
    assert "expires" not in aside
    # An operator has mended it.
    mended = {"aside": {"BOOL": True}} | {name: value for name, value in item.items() if name != "expires"}
    stores.dynamodb.put_item(TableName=stores.table, Item=mended)
    with follower(stores) as again:
        assert again(SCHEDULE)["rows"] == 0
        assert again({"catch_up": {"since": "2023-11-14"}})["rows"] == 1
    check_told_once(stores)
    assert all("expires" in row and "aside" not in row for row in journal_rows(stores).values())


def test_a_body_that_cannot_be_read_holds_up_no_row_but_its_own(world: World, stores: AwsStores) -> None:
    do(world, *HISTORY)
    name = keys.body_object(stores.registry, BodyKey(".", SchemaId(1)))
    stores.s3.put_object(Bucket=BUCKET, Key=name, Body=b"no body")
    done = follow(stores)
    assert (done["rows"], done["aside"]) == (1, 1)


def test_storage_that_does_not_answer_makes_no_row_unreadable(world: World, stores: AwsStores) -> None:
    """S3 refuses every read: the batch fails and comes again."""
    do(world, *HISTORY)

    def between(call: Call, carry_out: Any) -> Any:
        return failing(Fault.THROTTLED)(call, carry_out) if call.name == "s3.get_object" else carry_out()

    with pytest.raises(Unfinished):
        follow(stores, between=between, clock=FixedClock())
    assert all("aside" not in item for item in journal_rows(stores).values())
    follow(stores)
    check_told_once(stores)
