"""What is priced is what happens: calls, lines and bytes of the functions as they are deployed."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest

from infra import usage
from infra.usage import MILLION, Work
from sigla import observe
from sigla.aws.clients import Calls
from sigla.functions import telemetry
from sigla.functions.heartbeat import Heartbeat
from sigla.functions.journal import following
from sigla.functions.registries import ManyRegistries
from sigla.functions.telemetry import METRICS, RequestMetrics
from sigla.model import Schema
from sigla.observe import Seen
from sigla.registry import Registry
from sigla.rules.guid import guid_of
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.served import AwsServed
from sigla.stores.dynamodb.zones import AwsZones
from sigla.stores.s3.objects import Objects
from tests.attack.stories import register
from tests.build import FixedClock
from tests.contract.aws import Account, AwsStores
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.functions.deployed import Client, deployed
from tests.functions.lambda_api import lambda_api
from tests.infra.reading import Template, all_of, only
from tests.loops import threads_loop
from tests.unit.aws.journaling import as_streamed, event_of, rows_of
from tests.unit.aws.metering import _size, metered

SUBJECT = "payments.invoices.invoice-received-value"
VERSIONS = f"/subjects/{SUBJECT}/versions"
STACK = "sigla-payments"
LOGGED = {"SIGLA_AUTH": "keys", "SIGLA_LOG_REQUESTS": "true", "SIGLA_LOG_READS": "1"}
SCHEDULED = {"source": "aws.events"}


def a_schema(fields: int) -> str:
    """Canonical; each can read the others."""
    listed = ",".join(f'{{"name":"amount_{number}","type":"int","default":0}}' for number in range(fields))
    return f'{{"type":"record","name":"Invoice","fields":[{listed}]}}'


# --- the registry's function -----------------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[dict[str, list[str]]]:
    """The lines of each of the requests that have a price, sent in environments that know their key."""
    with threads_loop(), deployed(monkeypatch, SIGLA_STACK=STACK, **LOGGED) as deployment:
        secret = deployment.key("billing-producer", "admin")
        warm, other, third = (Client(deployment.instance(), "rest", "billing-producer", secret) for _ in range(3))
        lines: dict[str, list[str]] = {}

        def send(name: str, client: Client, method: str, path: str, schema: str = "") -> None:
            status = client(method, path, {"schema": schema} if schema else None).status
            assert status == (401 if client.secret == "wrong" else 200)
            lines[name] = capsys.readouterr().out.splitlines()

        for client in (warm, other, third):
            send("", client, "GET", "/mode")
        # The first change of a key asks for its token; after that it is at hand.
        assert warm("PUT", "/config/other", {"compatibility": "FULL"}).status == 200
        capsys.readouterr()
        send(usage.FIRST, warm, "POST", VERSIONS, a_schema(1))
        send(usage.NEXT, warm, "POST", VERSIONS, a_schema(2))
        # The first time its body is looked for; after that it is at hand.
        for name in ("", usage.KNOWN):
            send(name, warm, "POST", VERSIONS, f" {a_schema(2)}")
        send("", warm, "GET", f"{VERSIONS}/latest")
        send(usage.LATEST, warm, "GET", f"{VERSIONS}/latest")
        send(usage.NEW, other, "GET", f"/schemas/ids/1?subject={SUBJECT}")
        send(usage.KEPT, other, "GET", f"/schemas/ids/1?subject={SUBJECT}")
        guid = guid_of(Schema("AVRO", a_schema(1)))
        send(usage.GUID, third, "GET", f"/schemas/guids/{guid}")
        # What was listed and read for the first of them answers for the others.
        for name in ("", usage.WRONG):
            send(name, replace(other, secret="wrong"), "GET", VERSIONS)
        del lines[""]
        yield lines


def test_a_request_asks_aws_as_often_as_it_is_priced(told: dict[str, list[str]]) -> None:
    """What a verb asks is counted elsewhere: through the whole function nothing is asked besides."""
    assert told.keys() == usage.REQUESTS.keys() >= usage.MIX.keys()
    asked = {name: json.loads(line)["calls"] for name, (line,) in told.items()}
    assert asked == {name: sum(work.trips.calls.values()) for name, work in usage.REQUESTS.items()}


def test_lines_are_no_longer_than_they_are_priced(told: dict[str, list[str]]) -> None:
    """And not much shorter."""
    for name, (line,) in told.items():
        least = 0.5 if name == usage.WRONG else 0.7  # who has no key has no name, and no release is asked for
        assert least * usage.REQUEST_LINE <= len(line) <= usage.REQUEST_LINE


def test_metrics_take_no_more_of_the_log_than_they_are_priced(capsys: pytest.CaptureFixture[str]) -> None:
    """By the minute and environment a line, with a value for each request; reads and writes in it."""
    clock = FixedClock(SystemClock().now())
    metrics = RequestMetrics("sigla-default", Calls(), clock, stack=STACK)
    read = Seen("GET", "/schemas/ids/{id}", 200, 4_567_890, b"id", 12)
    metrics(read)
    capsys.readouterr()
    count = 0
    while not (lines := capsys.readouterr().out.splitlines()):
        clock.sleep(1)
        count += 1
        metrics(read if count % 10 else read._replace(method="POST", took_ns=123_456_789))
    (line,) = lines
    assert count == 60
    assert 0.7 <= len(line) / (usage.METRICS_LINE + count * usage.METRICS_VALUE) <= 1
    assert (telemetry.MOST_TOGETHER, observe.STRANGERS_LINES) == (usage.TOGETHER, usage.STRANGERS_LINES)
    assert observe.MINUTE_MS == 60_000


@pytest.mark.usefixtures("cdk")
def test_a_line_of_the_gateway_is_no_longer_than_it_is_priced() -> None:
    """As API Gateway fills it in."""
    from sigla.cdk.parts.front_door import LINE

    filled = {"$context.requestId": "x" * 36, "$context.path": VERSIONS, "$context.requestTimeEpoch": "1" * 13}
    length = len(json.dumps({name: filled.get(value, "x" * 10) for name, value in LINE.items()}))
    assert 0.7 * usage.ACCESS_LINE <= length <= usage.ACCESS_LINE


def test_metrics_are_as_many_as_are_priced() -> None:
    """Ten at most: each costs $0.30 a month."""
    assert len(METRICS) == usage.METRICS <= 10


# --- the journal's function ------------------------------------------------------------------------------------------


@pytest.fixture
def stores() -> Iterator[AwsStores]:
    """Without the locks of others: calls that are made side by side have to be so here."""
    with ExitStack() as opened:
        clients = opened.enter_context(in_process(tables=Tables()))
        objects = opened.enter_context(closing(Objects(clients.s3, BUCKET, clock=SystemClock())))
        yield opened.enter_context(Account(clients, clients.dynamodb, clients.s3, objects).stores())


@pytest.fixture
def journal(stores: AwsStores, lines: list[Any]) -> Iterator[ManyRegistries]:
    """An instance that has caught up with an empty registry, and serves no other."""
    with closing(Objects(stores.s3, BUCKET, clock=SystemClock())) as objects:
        told = following(
            stores.dynamodb, stores.table, objects, SystemClock(), registry=stores.registry, tell=lines.append
        )
        served = AwsServed(stores.dynamodb, stores.table, SystemClock(), registry=stores.registry)
        with told as follower:
            many = ManyRegistries(
                (stores.registry, ""), lambda *_: follower, SystemClock(), served=served.list, tell=lines.append
            )
            many(SCHEDULED)
            lines.clear()
            yield many


@pytest.fixture
def lines() -> list[Any]:
    """What the journal's function tells."""
    return []


def registered(stores: AwsStores, count: int) -> None:
    registry = Registry(stores.catalog, stores.bodies, SystemClock())
    for number in range(count):
        register(f"{SUBJECT}-{number}", a_schema(number))(registry)


def same(stores: AwsStores, journal: ManyRegistries, event: dict[str, Any], stated: Work) -> None:
    """Its calls, round by round, and units."""
    with metered(stores.clients, stated.trips.rounds) as meter:
        journal(event)
    assert meter.seen == tuple(tuple(sorted(each)) for each in stated.trips.rounds)
    assert (meter.read, meter.write) == (stated.trips.read, stated.trips.write)


@pytest.mark.parametrize("rows", [1, 4])
def test_a_batch_of_the_journal_asks_aws_as_often_as_it_is_priced(
    stores: AwsStores, journal: ManyRegistries, rows: int
) -> None:
    """So much for the batch, and so much for each row in it."""
    registered(stores, rows)
    same(stores, journal, event_of(rows_of(as_streamed(stores))), usage.batch(rows))


def test_a_catch_up_that_finds_nothing_asks_aws_as_often_as_it_is_priced(
    stores: AwsStores, journal: ManyRegistries
) -> None:
    """It is the one thing that is paid while no requests come."""
    same(stores, journal, SCHEDULED, usage.CATCH_UP)


def test_a_line_of_the_journal_is_no_longer_than_it_is_priced(
    stores: AwsStores, journal: ManyRegistries, lines: list[Any]
) -> None:
    registered(stores, 3)
    journal(SCHEDULED)
    (line,) = lines
    length = len(json.dumps(line, separators=(",", ":")))
    assert 0.7 * usage.JOURNAL_LINE <= length <= usage.JOURNAL_LINE


def test_functions_have_the_memory_that_is_priced(zones: Template) -> None:
    assert {each["MemorySize"] for each in all_of(zones, "AWS::Lambda::Function")} == {1_024 * usage.MEMORY_GB}


def test_batches_are_as_large_and_as_late_as_they_are_priced(template: Template) -> None:
    stream = only(template, "AWS::Lambda::EventSourceMapping")
    assert stream["BatchSize"] == usage.BATCH
    assert stream["MaximumBatchingWindowInSeconds"] == usage.WINDOW_S


def test_the_more_is_registered_the_less_the_journal_takes_of_each() -> None:
    """Rows of one minute share a batch, up to a limit."""
    alone, million, crowd = (usage.journaled(count).total for count in (1, 1e6, 1e9))
    assert alone > million > crowd
    assert usage.journaled(1e9) == usage.journaled(1e12)


# --- the heartbeat's function ----------------------------------------------------------------------------------------

ZONE = "use1-az1"
ALIAS = "arn:aws:lambda:us-east-1:111122223333:function:sigla-ZoneUse1Az1ServiceFunction4EDE52AA-x1Y2z3A4b5C6:live"
NODE = "mas1abcdefghijkl.x1y2z3.ng.0001.use1.cache.amazonaws.com:6379"
WELL = {
    "zone": ZONE,
    "runs_in": ZONE,
    "members": [{"name": NODE, "ms": 0.734, "failure": ""}] * 2,
    "release": "0.1.0",
}


def test_a_heartbeat_asks_aws_as_often_as_it_is_priced(
    stores: AwsStores, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One zone, one question, one row, one line: 43,800 times a month for each zone."""
    event = {"zone": {"id": ZONE, "name": "us-east-1a", "url": f"https://{'x' * 32}.lambda-url.us-east-1.on.aws/"}}
    event["zone"]["function"] = ALIAS
    asked: list[Any] = []

    def answer(question: Any) -> Any:
        asked.append(question)
        return WELL

    asking, *writing = usage.HEARTBEAT.trips.rounds
    with lambda_api({ALIAS: answer}) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", endpoint)
        zones = AwsZones(stores.dynamodb, stores.table, SystemClock(), registry=stores.registry)
        heartbeat = Heartbeat(stores.clients.functions, zones, SystemClock(), service="sigla-default", stack=STACK)
        with metered(stores.clients, tuple(writing)) as meter:
            heartbeat(event)
    assert [("Invoke",)] * len(asked) == [asking]
    assert meter.seen == tuple(writing)
    assert (meter.read, meter.write) == (usage.HEARTBEAT.trips.read, usage.HEARTBEAT.trips.write)
    (line,) = capsys.readouterr().out.splitlines()
    assert 0.7 * usage.HEARTBEAT_LINE <= len(line) <= usage.HEARTBEAT_LINE


# --- what comes to it ------------------------------------------------------------------------------------------------


def test_a_version_stores_no_more_than_is_priced(stores: AwsStores) -> None:
    """Rows and objects, which are paid by the month; those of the journal go after 35 days, and are counted in.

    DynamoDB adds 100 bytes to each item. Source: Amazon DynamoDB Developer Guide, "Item sizes and formats".
    """

    def stored() -> tuple[int, int]:
        rows = stores.dynamodb.scan(TableName=stores.table)["Items"]
        objects = stores.s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())
        return sum(100 + _size(row) for row in rows), sum(each["Size"] for each in objects)

    registry = Registry(stores.catalog, stores.bodies, SystemClock())
    register(SUBJECT, a_schema(1))(registry)
    before = stored()
    register(SUBJECT, a_schema(8))(registry)
    rows, objects = (after - was for after, was in zip(stored(), before, strict=True))
    assert 0.7 * usage.ROWS_BYTES <= rows <= usage.ROWS_BYTES
    assert 0.7 * usage.OBJECTS_BYTES <= objects <= usage.OBJECTS_BYTES


def test_a_month_is_made_of_the_requests_it_is_said_to_be() -> None:
    assert sum(usage.MIX.values()) == pytest.approx(1)


def test_a_million_reads_cost_what_they_should() -> None:
    """The aim, for a function URL: 65 cents, all in, of which S3 has 11. A REST API alone is five times that."""
    assert usage.read() * MILLION <= 0.65
    assert usage.asked(usage.KEPT, rest=False).total * MILLION <= 0.35


def test_to_count_who_reads_costs_a_nickel_for_a_million_reads() -> None:
    """At most; and less than a tenth of what the reads cost."""
    assert usage.counted_read() * MILLION <= 0.05
    assert usage.counted_read() <= usage.read() / 10


def test_the_more_is_asked_the_less_its_metrics_take() -> None:
    """Requests of one minute share a line, up to a limit."""
    alone, million, crowd = map(usage.told, (1, 1e6, 1e9))
    assert alone > million > crowd
    assert usage.told(1e9) == usage.told(1e12)


def test_who_has_no_key_writes_hardly_a_line(told: dict[str, list[str]]) -> None:
    """A flood of wrong keys costs what Lambda takes for being asked, and nothing of S3."""
    assert json.loads(told[usage.WRONG][0])["calls"] == 0
    flood = usage.asked(usage.WRONG, rest=False, requests=500 * usage.SECONDS_A_MONTH)
    assert flood.logs * MILLION <= 0.02
    assert flood.s3 == 0


@pytest.mark.parametrize(
    "millions, dollars",
    [
        (1, 3.50),
        (333, 333 * 3.50),
        (1_000, 333 * 3.50 + 667 * 2.80),
        (1_314, 333 * 3.50 + 667 * 2.80 + 314 * 2.38),
        (21_000, 333 * 3.50 + 667 * 2.80 + 19_000 * 2.38 + 1_000 * 1.51),
    ],
)
def test_the_more_a_rest_api_is_asked_the_less_each_request_costs(millions: int, dollars: float) -> None:
    """A flood is cheaper than its first million, and is not to be told as dearer than it is.

    Source: Amazon API Gateway pricing, "REST APIs", us-east-1.
    """
    requests = millions * MILLION
    assert requests * usage.rest_request(requests) == pytest.approx(dollars)
    of_it = usage.asked(usage.WRONG, rest=True, requests=requests).gateway
    assert of_it * requests == pytest.approx(dollars)


@pytest.mark.parametrize("request_", [usage.FIRST, usage.NEXT])
def test_a_million_registrations_cost_what_they_should(request_: str) -> None:
    """The aim, for a function URL: $26, the journal included, and the history of the subject, which is $1.25 of it."""
    assert usage.asked(request_, rest=False).total * MILLION <= 26
