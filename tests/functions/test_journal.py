"""The function that follows the table, fed from the stream of DynamoDB's own engine."""

import importlib
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
import pytest

from sigla import cli
from sigla.backoff import Backoff
from sigla.errors import Refusal, StoreError
from sigla.functions.journal import LATE_MS, Follower, Unfinished
from sigla.settings import InvalidSetting
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.catalog import AwsCatalog
from tests.attack.aws import Store
from tests.attack.stories import BASE, HISTORY, TWO, USING, config, delete, mode, purge, register
from tests.attack.test_aws_crowd import anything, crowd
from tests.attack.test_threads import order
from tests.attack.world import EVERYTHING, World
from tests.build import NOW, FixedClock
from tests.contract.aws import Account, AwsStores, engine, make_table, moto
from tests.contract.engines import BUCKET, REGION
from tests.unit.aws.checking import check
from tests.unit.aws.journaling import (
    as_streamed,
    check_told_once,
    event_of,
    follow,
    follower,
    journal_rows,
    lines,
    replayed,
    rows_of,
    segments,
    stores_of,
    untouched,
)

__all__ = ["engine", "moto"]

SCHEDULE = {"source": "aws.events"}

Record = dict[str, Any]


class Stream:
    """What the table's stream has, in the order of each shard; NEW_IMAGE, as infra/ makes it."""

    def __init__(self, stores: AwsStores, endpoint: str) -> None:
        self._client = botocore.session.get_session().create_client(
            "dynamodbstreams", region_name=REGION, endpoint_url=endpoint
        )
        view = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        made = stores.dynamodb.update_table(TableName=stores.table, StreamSpecification=view)
        self._arn = made["TableDescription"]["LatestStreamArn"]
        self._registry = stores.registry

    def close(self) -> None:
        self._client.close()

    def read(self) -> list[Record]:
        """What the mapping lets through of all that was ever written."""
        shards = self._client.describe_stream(StreamArn=self._arn)["StreamDescription"]["Shards"]
        return [record for shard in shards for record in self._shard(shard["ShardId"]) if self._passes(record)]

    def _shard(self, shard: str) -> Iterator[Record]:
        place = {"StreamArn": self._arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = self._client.get_shard_iterator(**place)["ShardIterator"]
        while iterator:
            answer = self._client.get_records(ShardIterator=iterator)
            if not answer["Records"]:
                return
            yield from answer["Records"]
            iterator = answer.get("NextShardIterator")

    def _passes(self, record: Record) -> bool:
        """As the filters of the mapping: new journal rows, ids just buried, ids that one holds (again)."""
        pk, sk = (record["dynamodb"]["Keys"][name]["S"] for name in ("pk", "sk"))
        image = record["dynamodb"].get("NewImage", {})
        if pk.startswith(f"{self._registry}#j#"):
            return bool(record["eventName"] == "INSERT")
        if not pk.startswith(f"{self._registry}#i#") or sk != "HOLDERS":
            return False
        held_again = record["eventName"] == "MODIFY" and image.get("count") == {"N": "1"}
        return held_again or bool(image.get("buried") == {"BOOL": True})


@contextmanager
def streamed(world: World, endpoint: str) -> Iterator[Stream]:
    stream = Stream(stores_of(world), endpoint)
    yield stream
    stream.close()


def as_shards(records: list[Record], draw: random.Random, number: int) -> list[list[Record]]:
    """The same as a busy table has it: what is of one partition stays in order, all else comes as it comes."""
    shards: dict[str, int] = {}
    found: list[list[Record]] = [[] for _ in range(number)]
    for record in records:
        pk = record["dynamodb"]["Keys"]["pk"]["S"]
        found[shards.setdefault(pk, draw.randrange(number))].append(record)
    return found


def batches(shard: list[Record], draw: random.Random) -> Iterator[Mapping[str, Any]]:
    """Cut anyhow, some brought twice."""
    while shard:
        size = draw.randrange(1, 12)
        for _ in range(draw.choice((1, 1, 2))):
            yield event_of(shard[:size])
        shard = shard[size:]


# --- the stream ------------------------------------------------------------------------------------------------------


def at_work(world: World, number: int, seed: int) -> None:
    """Four instances, two threads each, all in each other's way."""
    draw = random.Random(seed)
    verbs, instances = [anything(draw) for _ in range(number)], crowd(world)

    def act(turn: int) -> None:
        try:
            verbs[turn](instances[turn % len(instances)])
        except Refusal as refusal:
            if refusal.code >= 50_000:
                raise
        except StoreError:  # a machine so busy that DynamoDB answers too late
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, range(number)))


def brought(one: Follower, event: Mapping[str, Any]) -> None:
    """As Lambda does it: once more where an invocation failed, since others were in its way too often."""
    for is_last in Backoff(SystemClock(), 0.05, tries=10):
        try:
            one(event)
        except Unfinished:
            if is_last:
                raise
        else:
            return


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_segments_replayed_say_what_the_catalog_says(engine: Account, dynamodb_local: str, seed: int) -> None:
    """Three shards followed at the same time, batches cut anyhow and brought twice; the schedule comes in between."""
    before = [config("", level="NONE"), register("base", BASE), register("u", USING, "base")]
    with World(store=Store(engine)) as world, streamed(world, dynamodb_local) as stream:
        stores, draw = stores_of(world), random.Random(seed)
        for verb in before:
            verb(world.registry)
        at_work(world, 120, seed)
        shards = as_shards(stream.read(), draw, 3)

        def follow(shard: list[Record], seed: int) -> None:
            with follower(stores) as one:
                for event in batches(shard, random.Random(seed)):
                    brought(one, event)
                brought(one, SCHEDULE)

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(follow, shards, range(3)))
        check_told_once(stores)
        assert replayed(lines(stores)) == world.catalogued(world.rows())
        # What the function itself has written brings it nothing to do: its marks do not count as inserts.
        with follower(stores) as one:
            assert one(event_of(stream.read()))["rows"] == 0
        check(stores)
        assert len(segments(stores)) > 3


def test_a_tombstone_and_its_end_come_by_the_stream(engine: Account, dynamodb_local: str) -> None:
    """A permanent delete buries the id, an import of the same content brings it back."""
    imported = register(":.c:a", order(1), id=7, version=1)
    with World(store=Store(engine)) as world, streamed(world, dynamodb_local) as stream:
        stores = stores_of(world)
        for verb in (mode(":.c:", "IMPORT"), imported, delete(":.c:a", 1), purge(":.c:a", 1), imported):
            verb(world.registry)
        of_ids = [record for record in stream.read() if record not in rows_of(stream.read())]
        assert [sorted(record["dynamodb"]["NewImage"]) for record in of_ids] == [
            ["buried", "count", "form", "known", "pk", "sk"],
            ["count", "form", "known", "pk", "sk"],
        ]
        with follower(stores) as one:
            assert one(event_of(of_ids))["settled"] == 1
        check(stores)


def test_what_came_after_the_moment_of_a_restored_table_is_imported_from_the_segments(
    engine: Account, dynamodb_local: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in docs/deploy.md: versions under their numbers and ids, settings, times, the counter; nothing is told."""
    later = [register("u", USING, "base"), register("base", BASE), register("late"), config("late", level="FULL")]
    with World(register("base", BASE), *HISTORY, store=Store(engine)) as world:
        stores = stores_of(world)
        restored = a_copy(stores)
        for verb in (*later, delete("late", 1), register("late", TWO)):
            verb(world.registry)
        follow(stores)
        for name, some in segments(stores).items():
            segment = tmp_path / "journal" / name
            segment.parent.mkdir(parents=True, exist_ok=True)
            segment.write_text("".join(f"{json.dumps(line)}\n" for line in some))
        for name, value in (("AWS_DEFAULT_REGION", REGION), ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_local)):
            monkeypatch.setenv(name, value)
        there = ["--bucket", BUCKET, "--table", restored, "--registry", stores.registry]
        assert cli.main(["import", str(tmp_path / "journal"), *there]) == 0
        assert held(stores, restored) == held(stores, stores.table)
        assert cli.main(["scrub", *there]) == 0


def a_copy(stores: AwsStores) -> str:
    """A table with all that is in another one now."""
    name = make_table(stores.dynamodb)
    for record in as_streamed(stores):
        stores.dynamodb.put_item(TableName=name, Item=record["dynamodb"]["NewImage"])
    return name


def held(stores: AwsStores, table: str) -> dict[str, Any]:
    """What a catalog says of its registry; when its rows changed is its own affair."""
    with closing(AwsCatalog(stores.dynamodb, table, SystemClock(), registry=stores.registry)) as catalog:
        versions = catalog.versions(EVERYTHING, deleted=True, latest_only=False)
        return {
            "versions": [(subject, replace(row, revision=0)) for subject, row in versions],
            "settings": [(scope, of.config, of.mode) for scope, of in catalog.settings(EVERYTHING)],
            "contexts": list(catalog.contexts()),
            "counter": catalog.max_id("."),
        }


# --- the schedule ----------------------------------------------------------------------------------------------------


def test_catch_up_finds_what_the_stream_never_brought(moto: Account) -> None:
    """And what came late by another's clock; what lies further back is looked at when an operator asks for it."""
    with World(*HISTORY, store=Store(moto)) as world:
        stores, clock = stores_of(world), FixedClock()
        with follower(stores, clock) as one:
            assert one(SCHEDULE)["rows"] == 2
            check_told_once(stores)
            clock.time = NOW + 2 * LATE_MS
            assert one(SCHEDULE)["rows"] == 0
            world.clock.time = NOW + LATE_MS
            register("late")(world.registry)
            done = one(SCHEDULE)
            assert (done["rows"], done["lag_ms"]) == (1, LATE_MS)
            world.clock.time = NOW
            register("far too late")(world.registry_with(untouched))
            assert one(SCHEDULE)["rows"] == 0
            assert one({"catch_up": {"since": "2023-11-14T23:13:20+01:00"}})["rows"] == 1
        check_told_once(stores)


def test_a_great_deal_can_be_caught_up_with(moto: Account) -> None:
    """Several segments."""
    with World(*(config("a", group=str(number)) for number in range(150)), store=Store(moto)) as world:
        stores = stores_of(world)
        with follower(stores) as one:
            done = one({"catch_up": {"since": "2023-11-01"}})
        assert (done["rows"], done["segments"]) == (150, 2)
        check_told_once(stores)


# --- the function ----------------------------------------------------------------------------------------------------


@pytest.fixture
def deployed(engine: Account, dynamodb_local: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[World, Any]]:
    """A registry, and the function as infra/ deploys it for it."""
    with World(*HISTORY, store=Store(engine)) as world:
        stores = stores_of(world)
        for name, value in (
            ("AWS_DEFAULT_REGION", REGION),
            ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_local),
            ("SIGLA_REGISTRY_NAME", stores.registry),
            ("SIGLA_TABLE", stores.table),
            ("SIGLA_BUCKET", BUCKET),
        ):
            monkeypatch.setenv(name, value)
        sys.modules.pop("functions.journal.handler", None)
        handler = importlib.import_module("functions.journal.handler").handler
        yield world, handler
        handler.close()


def test_the_deployed_function_writes_segments_and_a_line(
    deployed: tuple[World, Any], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The line says how much there was and how long it had waited."""
    world, handler = deployed
    stores = stores_of(world)
    done = handler(event_of(rows_of(as_streamed(stores))), None)
    check_told_once(stores)
    assert b'"event":"journal"' in capfdbinary.readouterr().out
    assert (done["rows"], done["segments"], done["aside"]) == (2, 1, 0)
    assert time.time() * 1000 - NOW - 60_000 < done["lag_ms"] < time.time() * 1000 - NOW
    assert len(journal_rows(stores)) == 2


def test_an_event_of_nobody_is_refused(deployed: tuple[World, Any]) -> None:
    """A mapping or a rule that was set up wrongly shows at once."""
    _, handler = deployed
    with pytest.raises(ValueError, match="neither of a stream nor of a schedule"):
        handler({"requestContext": {}}, None)


def test_without_a_table_there_is_nothing_to_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    from sigla import wiring

    for name in ("SIGLA_TABLE", "SIGLA_BUCKET"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidSetting, match="SIGLA_TABLE and SIGLA_BUCKET"):
        wiring.journal_handler()
