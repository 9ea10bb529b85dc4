"""The journal's function, as it is deployed, over several registries of one table."""

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from sigla import cli, keys
from sigla.functions.journal import Unfinished
from sigla.functions.registries import PATIENCE_MS
from tests.attack.aws import Store
from tests.attack.keys import KEYS
from tests.attack.stories import DELETED, config, purge, register
from tests.attack.world import World
from tests.contract.aws import Account, AwsStores, engine, moto
from tests.contract.engines import BUCKET, REGION
from tests.unit.aws.journaling import as_streamed, check_told_once, event_of, journal_rows, rows_of, segments, stores_of

__all__ = ["engine", "moto"]

SCHEDULE = {"source": "aws.events"}
IDENTITY, ANOTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2

Handler = Callable[[Any, Any], dict[str, Any]]


class Deployment:
    """A journal function, and the registries of its table: its own is the first."""

    def __init__(self, worlds: Sequence[World]) -> None:
        self.own, self.second, self.third = (stores_of(world) for world in worlds)
        self.claim(self.own)

    @property
    def everything(self) -> dict[str, Any]:
        """All journal rows of the table, in one batch."""
        return event_of(rows_of(as_streamed(self.own)))

    def claim(self, stores: AwsStores, identity: str = IDENTITY, *, served: bool = False) -> None:
        """As a person does, for a registry of this table and bucket."""
        place = ["--bucket", BUCKET, "--table", stores.table, "--registry", stores.registry]
        of = ["--journal-of", self.own.registry] if served else []
        assert cli.main(["init", *place, *of, "--identity", identity, "--i-mean-it"]) == 0


@pytest.fixture
def deployment(engine: Account, dynamodb_local: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """Three registries in one table, a schema in each."""
    with ExitStack() as opened:
        first = opened.enter_context(World(store=Store(engine)))
        table = stores_of(first).table
        worlds = [first, *(opened.enter_context(World(store=Store(engine, table))) for _ in range(2))]
        for world in worlds:
            world.clock.time = int(time.time() * 1000)  # the schedule looks at the rows of the last weeks
            register("orders")(world.registry)
        for name, value in (
            ("AWS_DEFAULT_REGION", REGION),
            ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_local),
            ("SIGLA_REGISTRY_NAME", stores_of(first).registry),
            ("SIGLA_IDENTITY", IDENTITY),
            ("SIGLA_TABLE", table),
            ("SIGLA_BUCKET", BUCKET),
        ):
            monkeypatch.setenv(name, value)
        yield Deployment(worlds)


@pytest.fixture
def handler(deployment: Deployment) -> Iterator[Handler]:
    """The function as infra/ deploys it, begun after the first registry was claimed and before the others were."""
    sys.modules.pop("functions.journal.handler", None)
    made = importlib.import_module("functions.journal.handler").handler
    yield made
    made.close()


def test_one_function_writes_the_journal_of_each_registry_that_said_so(
    deployment: Deployment, handler: Handler
) -> None:
    """One batch brings rows of all; segments and their chain are each registry's own."""
    deployment.claim(deployment.second, served=True)
    deployment.claim(deployment.third, ANOTHER, served=True)
    done = handler(deployment.everything, None)
    assert (done["registries"], done["rows"], done["segments"]) == (3, 3, 3)
    for stores in (deployment.own, deployment.second, deployment.third):
        check_told_once(stores)


def test_a_registry_that_did_not_say_so_is_passed_by(deployment: Deployment, handler: Handler) -> None:
    """It has a function of its own, perhaps with another bucket, in which its segments belong."""
    deployment.claim(deployment.second)
    assert handler(deployment.everything, None)["rows"] == 1
    assert handler(SCHEDULE, None)["rows"] == 0
    assert not segments(deployment.second)
    assert not any("segment" in row for row in journal_rows(deployment.second).values())


def test_a_registry_that_comes_later_is_served_by_a_function_that_is_running(
    deployment: Deployment, handler: Handler
) -> None:
    """Nothing of the function changes, and no other registry notices."""
    assert handler(deployment.everything, None)["rows"] == 1
    deployment.claim(deployment.second, served=True)
    assert handler(deployment.everything, None)["rows"] == 1
    check_told_once(deployment.second)


def test_the_schedule_looks_at_every_registry(deployment: Deployment, handler: Handler) -> None:
    """What the stream never brought; and so does what a person asks for."""
    deployment.claim(deployment.second, served=True)
    assert handler(SCHEDULE, None)["rows"] == 2
    check_told_once(deployment.own)
    check_told_once(deployment.second)
    done = handler({"catch_up": {}}, None)
    assert (done["registries"], done["rows"], done["segments"]) == (2, 0, 0)


def test_data_of_another_deployment_in_one_registry_does_not_stop_the_others(
    deployment: Deployment, handler: Handler, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its bucket is another one's: nothing of it is written, the others are told, and the batch comes again."""
    deployment.claim(deployment.second, served=True)
    deployment.claim(deployment.third, served=True)
    foreign = keys.identity_object(deployment.second.registry)
    deployment.own.s3.put_object(Bucket=BUCKET, Key=foreign, Body=json.dumps({"identity": ANOTHER}).encode())
    with pytest.raises(Unfinished, match=f"1 of 3 registries failed: {deployment.second.registry}$"):
        handler(deployment.everything, None)
    assert not segments(deployment.second)
    check_told_once(deployment.own)
    check_told_once(deployment.third)
    told = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines() if b'"failure"' in line]
    assert [(line["error"], line["registry"]) for line in told] == [("ForeignData", deployment.second.registry)]


def test_a_row_that_cannot_be_read_is_put_aside_and_the_others_go_on(deployment: Deployment, handler: Handler) -> None:
    """In its registry it waits for a person, and the others do not notice it."""
    deployment.claim(deployment.second, served=True)
    break_row(deployment.second)
    done = handler(deployment.everything, None)
    assert (done["rows"], done["aside"]) == (1, 1)
    check_told_once(deployment.own)


def test_a_registry_that_goes_on_failing_is_left_to_the_schedule(
    deployment: Deployment, handler: Handler, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A shard waits for a batch that fails, with rows of others behind it: after a quarter of an hour it goes on."""
    deployment.claim(deployment.second, served=True)
    mark, ours = keys.identity_object(deployment.second.registry), json.dumps({"identity": IDENTITY}).encode()
    deployment.own.s3.put_object(Bucket=BUCKET, Key=mark, Body=json.dumps({"identity": ANOTHER}).encode())
    young, old = (dated(deployment.everything, ago_ms) for ago_ms in (PATIENCE_MS - 60_000, PATIENCE_MS + 60_000))
    with pytest.raises(Unfinished):
        handler(young, None)
    assert handler(old, None)["registries"] == 1
    left = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines() if b'"left"' in line]
    assert left == [{"event": "left", "registry": deployment.second.registry, "records": 1}]
    deployment.own.s3.put_object(Bucket=BUCKET, Key=mark, Body=ours)
    handler.renew()  # type: ignore[attr-defined]  # a function asks whose its data is every half minute
    assert handler(SCHEDULE, None)["rows"] == 1
    check_told_once(deployment.second)


def test_a_registry_cannot_name_itself_as_the_one_that_serves_it(
    deployment: Deployment, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is served already; a row that says so would look like a second one."""
    own = deployment.own
    place = ["--bucket", BUCKET, "--table", own.table, "--registry", own.registry, "--identity", IDENTITY]
    assert cli.main(["init", *place, "--journal-of", own.registry]) == 2
    assert capsys.readouterr().err == (
        "sigla: A registry's own journal function writes its journal: leave out --journal-of.\n"
    )


def test_of_all_that_a_registry_writes_journal_rows_alone_have_no_number_as_their_form(moto: Account) -> None:
    """By that the stream's filter knows them, and no registry has to be named in it."""
    long = config("orders", group="g" * 5_000)
    verbs = (*DELETED, purge("orders"), *KEYS, register(":.c:x"), long)
    with World(*verbs, store=Store(moto)) as world:
        items = [record["dynamodb"]["NewImage"] for record in as_streamed(stores_of(world))]
    assert {("#j#" in item["pk"]["S"], *item["form"]) for item in items} == {(True, "S"), (True, "B"), (False, "N")}


def break_row(stores: AwsStores) -> None:
    """Replaces its form by bytes that cannot be read."""
    (row,) = journal_rows(stores).values()
    key = {name: {"S": row[name]} for name in ("pk", "sk")}
    stores.dynamodb.put_item(TableName=stores.table, Item={**key, "form": {"B": b"no row"}})


def dated(event: dict[str, Any], ago_ms: int) -> dict[str, Any]:
    """The same batch, of records that were written so long ago."""
    written = (time.time() * 1000 - ago_ms) / 1000
    for record in event["Records"]:
        record["dynamodb"]["ApproximateCreationDateTime"] = written
    return event
