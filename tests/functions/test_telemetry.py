"""What a function tells of each request: a line of the log, but of most reads by id, and metrics always."""

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from sigla import observe
from sigla.aws.clients import Calls, Clients
from sigla.cache.counts import Counts, Farthest
from sigla.functions.telemetry import (
    FOREIGN,
    METRICS,
    MOST_TOGETHER,
    NAMESPACE,
    RequestLog,
    RequestMetrics,
)
from sigla.observe import STRANGERS_LINES, Seen
from sigla.stores.clock import SystemClock
from tests.build import FixedClock
from tests.contract.aws import make_table
from tests.contract.engines import in_process

READ = Seen("GET", "/schemas/ids/{id}", 200, 1_234_567, b"id", 12, params={"id": "7"})
WRITE = Seen("POST", "/subjects/{subject}/versions", 200, 9_000_000, b"id", 9, params={"subject": "orders"})
STRANGER = Seen("GET", "/subjects", 401, 1000, b"id", 51, 401)
LOST = Seen("GET", "/schemas/ids/{id}", 404, 1000, b"id", 51, 40403, {"id": "8"})
UNKNOWN = LOST._replace(status=500, error_code=50003)
SERVICE = "sigla-default"

Written = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Written:
    """The lines since one last looked."""
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def a_log(**options: Any) -> RequestLog:
    return RequestLog(SERVICE, Calls(), options.pop("clock", FixedClock()), release="1.0", **options)


@pytest.fixture
def clock() -> FixedClock:
    """A clock of today: CloudWatch takes no metrics of another month."""
    return FixedClock(SystemClock().now())


# --- the log ---------------------------------------------------------------------------------------------------------


def test_a_request_is_one_line_of_facts(written: Written) -> None:
    """The names are those of every other log of Sigla, with those that Lambda and Powertools give their own."""
    log = a_log()
    log(Seen("GET", "/subjects/{subject}", 404, 1_234_567, b"id", 12, 40401, {"subject": "orders"}, "reader"))
    (told,) = written()
    assert told.pop("timestamp").endswith("+00:00")
    assert told == {
        "level": "INFO",
        "service": SERVICE,
        "event": "request",
        "route": "GET /subjects/{subject}",
        "status": 404,
        "took_ms": 1.234,
        "bytes": 12,
        "request_id": "id",
        "error_code": 40401,
        "subject": "orders",
        "principal": "reader",
        "calls": 0,
        "cold": True,
        "release": "1.0",
    }
    log(WRITE)
    assert [line["cold"] for line in written()] == [False]


def test_a_failed_request_is_an_error(written: Written) -> None:
    """Whoever keeps errors alone, by the level of the log, keeps it, and the failure before it."""
    log = a_log()
    log.tell(observe.failure(KeyError("x"), request_id="id"))
    log(WRITE._replace(status=500))
    log(WRITE)
    log.tell({"event": "open", "message": "No key is asked for."})
    assert [(line["event"], line["level"]) for line in written()] == [
        ("failure", "ERROR"),
        ("request", "ERROR"),
        ("request", "INFO"),
        ("open", "WARNING"),
    ]


def test_a_line_says_how_often_aws_was_called(written: Written) -> None:
    """By this request: what it cost, and where its time went."""
    calls = Calls()
    log = RequestLog(SERVICE, calls, FixedClock(), release="1.0")
    for _ in range(3):
        calls(SimpleNamespace(name="GetObject"))
    log(WRITE)
    log(WRITE)
    assert [line["calls"] for line in written()] == [3, 0]


def test_a_line_says_where_it_was_and_how_far_it_had_to_go(written: Written) -> None:
    """For each request anew, also for those whose lines are left out."""
    counts = Counts()
    log = a_log(more=Farthest(counts), zone="use1-az1")
    for tier in ("behind", "ring", "memory"):
        setattr(counts, tier, 1)
        log(WRITE)
    log(WRITE)
    lines = written()
    assert [line.get("tier") for line in lines] == ["s3", "ring", "memory", None]
    assert {line["zone"] for line in lines} == {"use1-az1"}


def test_a_line_bears_the_id_that_lambda_gave_the_invocation(written: Written) -> None:
    """A request that runs out of time is told by Lambda alone, under that id."""
    log = a_log()

    def handler(_: Any, __: Any) -> dict[str, Any]:
        log(WRITE)
        return {"statusCode": 200}

    handle = log.following(handler)
    for id in ("one", "two"):
        assert handle({}, SimpleNamespace(aws_request_id=id)) == {"statusCode": 200}
    assert [line["function_request_id"] for line in written()] == ["one", "two"]


# --- what is left out ------------------------------------------------------------------------------------------------


def test_of_successful_reads_by_id_a_share_is_written(written: Written) -> None:
    """The share that was asked for: each line is drawn for by itself."""
    draws = [number / 1000 for number in range(1000)]
    log = a_log(reads=0.01, draw=iter(draws).__next__)
    for _ in draws:
        log(READ)
    assert len(written()) == 10


def test_everything_else_is_written_always(written: Written) -> None:
    """Refusals, above all; nothing is drawn for them."""
    log = a_log(reads=0.0, draw=lambda: 0.0)
    seen = (LOST, READ._replace(status=500), WRITE, WRITE._replace(method="GET"))
    for each in seen:
        log(each)
    assert [line["status"] for line in written()] == [each.status for each in seen]
    log(READ)
    assert not written()


@pytest.mark.parametrize("share, count", [(0.0, 0), (1.0, 50)])
def test_the_ends_of_the_share_are_none_and_all(written: Written, share: float, count: int) -> None:
    log = a_log(reads=share)
    for _ in range(50):
        log(READ)
    assert len(written()) == count


def test_two_logs_draw_differently(written: Written) -> None:
    """Instances that left out the same requests would hide the same clients."""

    def drawn() -> list[bool]:
        log, lines = a_log(reads=0.5), []
        for _ in range(64):
            log(READ)
            lines.append(bool(written()))
        return lines

    assert drawn() != drawn()


def test_of_a_flood_of_unknown_callers_the_beginning_is_written(written: Written, clock: FixedClock) -> None:
    """Whoever has no key must not write the bill: lines are paid by the byte. The next one says what is missing."""
    log = a_log(clock=clock)
    for _ in range(500):
        log(STRANGER)
    log(STRANGER._replace(status=403))
    assert [line["status"] for line in written()] == [401] * STRANGERS_LINES + [403]
    clock.sleep(60)
    for _ in range(2):
        log(STRANGER)
    assert [line.get("left_out") for line in written()] == [500 - STRANGERS_LINES, None]


def test_a_flood_in_one_registry_hides_no_stranger_of_another(written: Written) -> None:
    """Whoever guesses keys of a registry must not cover who tries those of its neighbour."""
    log = a_log()
    of_ads, of_pay = log.of("ads"), log.of("pay")
    for _ in range(3 * STRANGERS_LINES):
        of_ads(STRANGER)
    of_pay(STRANGER)
    log(STRANGER)
    told = [line.get("registry") for line in written()]
    assert told == ["ads"] * STRANGERS_LINES + ["pay", None]


# --- metrics ---------------------------------------------------------------------------------------------------------


def test_every_request_is_a_metric(written: Written, clock: FixedClock) -> None:
    """CloudWatch reads it from the log; no call is made for it, and no route makes it dear."""
    metrics = RequestMetrics(SERVICE, Calls(), clock)
    metrics(READ)
    clock.sleep(60)
    metrics(READ)
    cold, warm = written()
    directive = warm["_aws"]["CloudWatchMetrics"][0]
    assert (directive["Namespace"], directive["Dimensions"]) == (NAMESPACE, [["service"]])
    assert directive["Metrics"] == [{"Name": "ReadLatency", "Unit": "Milliseconds"}]
    assert (warm["service"], warm["ReadLatency"]) == (SERVICE, [1.234])
    assert set(warm) == {"_aws", "service", "ReadLatency"}
    assert cold["ColdStarts"] == [1.0]


def test_requests_of_a_minute_share_a_line(written: Written, clock: FixedClock) -> None:
    """The log is paid by the byte: one line for each read was a third of what the read cost."""
    metrics = RequestMetrics(SERVICE, Calls(), clock)
    for _ in range(25):
        metrics(READ)
        clock.sleep(3)
    first, together = written()
    assert (first["ReadLatency"], together["ReadLatency"]) == ([1.234], [1.234] * 20)


def test_a_failure_is_told_at_once_and_with_its_own_time(written: Written, clock: FixedClock) -> None:
    """An alarm must not wait for the next request, which may never come; nor look for it in another minute."""
    metrics = RequestMetrics(SERVICE, Calls(), clock)
    metrics(READ)
    metrics(READ)
    metrics(LOST)
    assert len(written()) == 1
    waited = clock.now()
    clock.sleep(50)
    metrics(WRITE._replace(status=500))
    waiting, failed = written()
    assert (waiting["_aws"]["Timestamp"], len(waiting["ReadLatency"]), waiting["ClientErrors"]) == (waited, 2, [1])
    assert (failed["_aws"]["Timestamp"], failed["WriteLatency"], failed["ServerErrors"]) == (clock.now(), [9], [1])
    assert "ServerErrors" not in waiting
    clock.sleep(1)
    metrics(WRITE._replace(status=500))
    assert len(written()) == 1


def test_data_of_another_deployment_is_told_with_its_own_time(written: Written, clock: FixedClock) -> None:
    """And of no request from before it was found."""
    found = False
    metrics = RequestMetrics(SERVICE, Calls(), clock, is_foreign=lambda: found)
    metrics(READ)
    metrics(READ)
    written()
    clock.sleep(50)
    found = True
    metrics(READ)
    before, told = written()
    assert FOREIGN not in before
    assert (told["_aws"]["Timestamp"], told[FOREIGN]) == (clock.now(), [1])


def test_what_waited_through_a_silence_is_told_with_its_own_time(written: Written, clock: FixedClock) -> None:
    """Or a quiet night would look like a busy morning."""
    metrics = RequestMetrics(SERVICE, Calls(), clock)
    metrics(READ)
    clock.sleep(10)
    metrics(LOST)
    waited = clock.now()
    clock.sleep(3600)
    metrics(WRITE)
    _, old, new = written()
    assert (old["_aws"]["Timestamp"], old["ClientErrors"]) == (waited, [1])
    assert (new["_aws"]["Timestamp"], new["WriteLatency"]) == (clock.now(), [9])


def test_nothing_is_lost_of_a_busy_minute(written: Written, clock: FixedClock) -> None:
    """CloudWatch reads a hundred values of a metric in a line, and no more."""
    metrics = RequestMetrics(SERVICE, Calls(), clock)
    for _ in range(1 + 3 * MOST_TOGETHER):
        metrics(READ)
    assert [len(line["ReadLatency"]) for line in written()] == [1, *[MOST_TOGETHER] * 3]
    assert MOST_TOGETHER < 100


def test_a_clock_that_is_set_back_stops_nothing(written: Written, clock: FixedClock) -> None:
    metrics = RequestMetrics(SERVICE, Calls(), clock)
    metrics(READ)
    clock.set_by = -7_200_000
    metrics(READ)
    assert len(written()) == 2


def test_metrics_of_two_stacks_are_others(written: Written, clock: FixedClock) -> None:
    """Both may serve a registry of one name: what lives in one must not hide what died in the other."""
    for stack in ("dev", "prod"):
        metrics = RequestMetrics(SERVICE, Calls(), clock, stack=stack)
        metrics(READ)
        metrics(WRITE._replace(status=500))
        lines = written()
        assert len(lines) == 2
        for line in lines:
            assert sorted(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"][0]) == ["service", "stack"]
            assert (line["service"], line["stack"]) == (SERVICE, stack)


def test_there_are_few_metrics() -> None:
    """Each costs $0.30 a month and dimension; a test against the eleventh."""
    assert len({metric.name for metric in METRICS}) == len(METRICS) <= 10


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    """They do not pause before they try again."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    with in_process() as made:
        yield made


def refused_as_too_fast(request: Any, **_: object) -> AWSResponse:
    """DynamoDB finds a request too fast."""
    content = b'{"__type":"com.amazon.coral.availability#ThrottlingException","message":"slow down"}'
    raw = SimpleNamespace(stream=lambda **_: iter([content]))
    return AWSResponse(request.url, 400, {"x-amzn-requestid": "id"}, raw)


def throttled(clients: Clients) -> None:
    clients.dynamodb.meta.events.register_first("before-send.dynamodb.ListTables", refused_as_too_fast)
    with pytest.raises(clients.dynamodb.exceptions.ClientError, match="slow down"):
        clients.dynamodb.list_tables()


def cancelled(clients: Clients) -> None:
    table = make_table(clients.dynamodb)
    put = {"TableName": table, "Item": {"pk": {"S": "a"}, "sk": {"S": "b"}}}
    actions = [{"Put": put | {"ConditionExpression": "attribute_exists(pk)"}}]
    with pytest.raises(clients.dynamodb.exceptions.TransactionCanceledException):
        clients.dynamodb.transact_write_items(TransactItems=actions)


def nothing(clients: Clients) -> None:
    clients.dynamodb.list_tables()


@pytest.mark.parametrize(
    "seen, trouble, told",
    [
        (READ, nothing, {"ReadLatency": 1.234}),
        (WRITE, nothing, {"WriteLatency": 9.0}),
        (LOST, nothing, {"ReadLatency": 0.001, "ClientErrors": 1}),
        (LOST._replace(status=401), nothing, {"ReadLatency": 0.001, "ClientErrors": 1, "Denied": 1}),
        (LOST._replace(status=403), nothing, {"ReadLatency": 0.001, "ClientErrors": 1, "Denied": 1}),
        (LOST._replace(status=503), nothing, {"ReadLatency": 0.001, "ServerErrors": 1}),
        (UNKNOWN, nothing, {"ReadLatency": 0.001, "UnknownIds": 1}),
        (UNKNOWN._replace(error_code=50001), nothing, {"ReadLatency": 0.001, "ServerErrors": 1}),
        (UNKNOWN._replace(route="/subjects"), nothing, {"ReadLatency": 0.001, "ServerErrors": 1}),
        (WRITE, throttled, {"WriteLatency": 9.0, "Throttles": 1}),
        (WRITE, cancelled, {"WriteLatency": 9.0, "LostRaces": 1}),
    ],
)
def test_a_metric_tells_what_it_is_called_by(
    clients: Clients, written: Written, seen: Seen, trouble: Any, told: dict[str, float], *, clock: FixedClock
) -> None:
    """Figures of this request alone, and every try counts: what succeeds when it is tried again is trouble, too."""
    metrics = RequestMetrics(SERVICE, clients.calls, clock)
    metrics(READ)  # the cold one
    clock.sleep(60)
    trouble(clients)
    metrics(seen)
    clock.sleep(60)
    metrics(READ)
    _, line, after = written()
    assert {name: sum(line[name]) for name in line.keys() - {"_aws", "service"}} == told
    assert set(after) == {"_aws", "service", "ReadLatency"}


def test_what_a_batch_left_undone_was_too_fast() -> None:
    """DynamoDB refuses a part of a batch without an error."""
    calls = Calls()
    calls.tried((object(), {"UnprocessedKeys": {"table": {"Keys": []}}}))
    calls.tried((object(), {"UnprocessedKeys": {}}))
    calls.tried(None)
    assert calls.troubles == {"Throttles": 1}
