"""The log of a registry in AWS: the table while it keeps the rows, then the segments."""

import copy
import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sigla import keys
from sigla.ports.log import LogEntry
from sigla.stores.dynamodb.log import AwsLog, segment_number
from sigla.stores.dynamodb.values import packed, read, unpacked, written
from sigla.upkeep.chain import Break, Verified, verify
from tests.attack.stories import ONE, TWO, config, register
from tests.attack.test_aws_restored import Backup, store_of
from tests.attack.world import World
from tests.build import FixedClock
from tests.contract.aws import AwsStores
from tests.contract.engines import BUCKET
from tests.unit.aws.journaling import do, follow, journal_rows, segments, stores, world

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


# --- the chain -------------------------------------------------------------------------------------------------------


def in_segments(world: World, stores: AwsStores) -> None:
    """A story of which each commit has a segment of its own."""
    for verb in STORY:
        do(world, verb)
        follow(stores)


def kinds(found: Verified) -> list[Break]:
    return [flaw.kind for flaw in found.flaws]


def rewritten(stores: AwsStores, name: str, change: Callable[[bytes], bytes]) -> None:
    name = f"{stores.registry}/journal/{name}"
    content = stores.s3.get_object(Bucket=BUCKET, Key=name)["Body"].read()
    stores.s3.put_object(Bucket=BUCKET, Key=name, Body=change(content))


def test_each_segment_names_the_one_before(world: World, stores: AwsStores) -> None:
    in_segments(world, stores)
    first, *others = [lines[0] for lines in segments(stores).values()]
    assert "before" not in first
    assert all({"before", "follows"} <= line.keys() for line in others)
    found = verify(stores.log)
    assert (found.links, found.unchained, found.flaws) == (4, 0, [])


@pytest.mark.parametrize("which", range(4))
def test_a_segment_that_was_changed_or_taken_away_is_told(world: World, stores: AwsStores, which: int) -> None:
    """Also the last one, which the table knows."""
    in_segments(world, stores)
    name = list(segments(stores))[which]
    rewritten(stores, name, lambda content: content.replace(b"192.0.2.1", b"192.0.2.2"))
    found = verify(stores.log)
    assert kinds(found) == 2 * [Break.DAMAGED], "the segment, and what it tells of the row"
    stores.s3.delete_object(Bucket=BUCKET, Key=f"{stores.registry}/journal/{name}")
    missing = verify(stores.log)
    assert set(kinds(missing)) == {Break.MISSING}
    assert len(missing.flaws) == 2, "the segment, and the row that it has told"


UNSHOWN = {("form",), ("revision",), ("ts",), ("entries", 0, "config", "compatibilityLevel")}
"""What a row says that the log does not show: of a config it has the digest."""


@pytest.mark.parametrize("which", range(4))
def test_a_row_that_was_changed_after_its_segment_is_told(world: World, stores: AwsStores, which: int) -> None:
    """While the table keeps a row, the log shows that one: another author there would be believed."""
    in_segments(world, stores)
    row = journal_rows(stores)[sorted(journal_rows(stores))[which]]
    key = {"pk": {"S": row["pk"]}, "sk": {"S": row["sk"]}}
    item = stores.dynamodb.get_item(TableName=stores.table, Key=key)["Item"]
    form = read(item["form"])
    for place in places(unpacked(form)):
        changed = {"form": written(packed(with_another(unpacked(form), place)))}
        stores.dynamodb.put_item(TableName=stores.table, Item={**item, **changed})
        assert kinds(verify(stores.log)) == ([] if place in UNSHOWN else [Break.DAMAGED]), place
    stores.dynamodb.put_item(TableName=stores.table, Item=item)
    assert verify(stores.log).flaws == []


def places(form: Any, begin: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each text, number and truth in it."""
    if not isinstance(form, dict | list):
        yield begin
        return
    for key, value in form.items() if isinstance(form, dict) else enumerate(form):
        yield from places(value, (*begin, key))


def with_another(form: Any, place: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(form)
    around = functools.reduce(lambda found, key: found[key], place[:-1], changed)
    was = around[place[-1]]
    around[place[-1]] = not was if isinstance(was, bool) else was + 1 if isinstance(was, int) else f"{was}x"
    return changed


def test_a_row_that_its_segment_does_not_tell_is_missing(world: World, stores: AwsStores) -> None:
    """Or that was put aside; whatever the segments say of each other."""
    in_segments(world, stores)
    row = journal_rows(stores)[max(journal_rows(stores))]
    key = {"pk": {"S": row["pk"]}, "sk": {"S": row["sk"]}}
    item = stores.dynamodb.get_item(TableName=stores.table, Key=key)["Item"]
    stores.dynamodb.put_item(TableName=stores.table, Item={**item, "sk": {"S": f"{row['sk']}x"}})
    assert kinds(verify(stores.log)) == [Break.MISSING]
    del item["segment"]
    stores.dynamodb.put_item(TableName=stores.table, Item={**item, "sk": {"S": f"{row['sk']}x"}})
    assert kinds(verify(stores.log)) == [Break.MISSING]


def test_a_restored_table_makes_a_fork_and_nothing_else(world: World, stores: AwsStores) -> None:
    """What was told after the moment that it was restored to stays in the bucket."""
    do(world, STORY[0])
    follow(stores)
    backup = Backup(store_of(world))
    do(world, STORY[1])
    follow(stores)
    backup.restore()
    do(world, STORY[2])
    follow(stores)
    assert kinds(verify(stores.log)) == [Break.FORKED]


def test_a_table_that_was_just_restored_has_segments_behind_its_end(world: World, stores: AwsStores) -> None:
    """Before the next segment follows the same one as they do."""
    do(world, STORY[0])
    follow(stores)
    backup = Backup(store_of(world))
    do(world, STORY[1])
    follow(stores)
    backup.restore()
    assert kinds(verify(stores.log)) == [Break.FORKED]


@pytest.mark.parametrize("after", range(4))
@pytest.mark.parametrize("is_chained", [False, True])
def test_a_segment_that_was_put_there_is_told(world: World, stores: AwsStores, after: int, is_chained: bool) -> None:
    """Whoever writes to the bucket alone cannot tell a story of its own there: in the middle, and at the end."""
    in_segments(world, stores)
    names = [f"{stores.registry}/journal/{name}" for name in segments(stores)]
    real = stores.s3.get_object(Bucket=BUCKET, Key=names[after])["Body"].read()
    first, _, rest = real.partition(b"\n")
    line = {name: value for name, value in json.loads(first).items() if name not in ("before", "follows")}
    number = segment_number(names[after])
    if is_chained:
        line |= {"follows": number, "before": hashlib.sha256(real).hexdigest()}
    forged = json.dumps(line).encode() + b"\n" + rest
    stores.s3.put_object(Bucket=BUCKET, Key=keys.segment_object(stores.registry, number + 1), Body=forged)
    behind = {Break.FORKED} if after == len(STORY) - 1 else set()
    assert set(kinds(verify(stores.log))) == behind | {Break.FORKED if is_chained else Break.DAMAGED}


def test_segments_of_an_earlier_release_are_held_by_the_first_that_names_one(world: World, stores: AwsStores) -> None:
    """The table knew no hash of them then."""
    for verb in STORY[:2]:
        do(world, verb)
        follow(stores)
    stores.dynamodb.update_item(
        TableName=stores.table,
        Key={"pk": {"S": f"{stores.registry}#segments"}, "sk": {"S": "LAST"}},
        UpdateExpression="REMOVE #hash",
        ExpressionAttributeNames={"#hash": "hash"},
    )
    for name in segments(stores):
        rewritten(stores, name, lambda content: content.replace(b'"before"', b'"earlier"'))
    do(world, STORY[2])
    follow(stores)
    found = verify(stores.log)
    assert (found.links, found.unchained, found.flaws) == (3, 1, [])
    rewritten(stores, list(segments(stores))[1], lambda content: content.replace(b"192.0.2.1", b"192.0.2.2"))
    assert kinds(verify(stores.log)) == 2 * [Break.DAMAGED]
