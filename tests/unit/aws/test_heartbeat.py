"""Each zone is asked how it is; what is wrong with it is told in words for everybody, and counted for the alarms."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from sigla.aws.clients import PROBING, Clients
from sigla.errors import StoreError
from sigla.functions.heartbeat import Heartbeat
from sigla.functions.probe import ASKED
from sigla.ports.zones import Zone
from sigla.stores.sqlite.zones import EmbeddedZones
from tests.build import NOW, FixedClock
from tests.functions.lambda_api import Function, Hangs, Throttled, lambda_api

ARN = "arn:aws:lambda:us-east-1:123456789012:function:sigla-use1-az1:live"
ZONE = {"id": "use1-az1", "name": "us-east-1a", "url": "https://a.example", "function": ARN}
WELL = {"zone": "use1-az1", "runs_in": "use1-az1", "members": [], "release": "1.0"}
ALIVE = {"name": "10.0.0.7:6379", "ms": 0.4, "failure": ""}
DEAD = {"name": "10.0.0.8:6379", "ms": 101.0, "failure": "it does not answer"}


@dataclass
class Told:
    """What one heartbeat left behind: the zone as the directory has it, and its line."""

    zone: Zone
    line: dict[str, Any]

    @property
    def metrics(self) -> dict[str, float]:
        listed = self.line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
        return {metric["Name"]: self.line[metric["Name"]][0] for metric in listed}


@dataclass
class Patient:
    """A zone's function; `answer` makes what it tells. asked: the events it got."""

    answer: Function
    asked: list[Any] = field(default_factory=list)

    def __call__(self, event: Any) -> Any:
        self.asked.append(event)
        return self.answer(event)


Examine = Callable[[Function], Told]


@contextmanager
def clients(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    """The clients of a caller with credentials, which does not wait as long as the function does."""
    for name, value in {
        "AWS_ENDPOINT_URL_LAMBDA": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(PROBING, "read_timeout", 0.3)
    with closing(Clients(region="us-east-1")) as made:
        yield made


@pytest.fixture
def examine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Examine:
    """One heartbeat of a zone with such a function."""

    def examined(function: Function) -> Told:
        zones = EmbeddedZones()
        with lambda_api({ARN: function}) as endpoint, clients(endpoint, monkeypatch) as aws:
            Heartbeat(aws.functions, zones, FixedClock(), service="sigla-default", stack="prod")({"zone": ZONE}, None)
        (zone,) = zones.list()
        (line,) = capsys.readouterr().out.splitlines()
        return Told(zone, json.loads(line))

    return examined


def telling(**facts: Any) -> Function:
    return lambda _: WELL | facts


def test_a_zone_that_is_well_is_told_so(examine: Examine) -> None:
    """One question, one row, one line."""
    patient = Patient(telling(members=[ALIVE]))
    told = examine(patient)
    assert patient.asked == [ASKED]
    assert told.zone == Zone("use1-az1", "us-east-1a", "https://a.example", healthy=True, checked=NOW)
    assert told.metrics == {"ZoneHealthy": 1}
    (directive,) = told.line["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], sorted(directive["Dimensions"][0])) == ("Sigla", ["service", "stack", "zone"])
    facts = {name: told.line[name] for name in told.line.keys() - {"_aws", "ZoneHealthy"}}
    assert facts == {
        "service": "sigla-default",
        "stack": "prod",
        "zone": "use1-az1",
        "event": "heartbeat",
        "healthy": True,
        "reason": "",
        "misplaced": False,
        "runs_in": "use1-az1",
        "members": [ALIVE],
        "release": "1.0",
        "took_ms": 0,
    }


def test_a_zone_without_a_part_of_its_ring_serves(examine: Examine) -> None:
    """What the member kept is read from S3. Addresses are for the log, not for everybody."""
    told = examine(telling(members=[ALIVE, DEAD]))
    assert (told.zone.healthy, told.zone.reason) == (True, "1 of the 2 members of its ring do not answer")
    assert told.metrics == {"ZoneHealthy": 1, "RingMembersDown": 1}
    assert told.line["members"] == [ALIVE, DEAD]


def test_a_zone_that_runs_elsewhere_serves(examine: Examine) -> None:
    """Its answers are right; that it costs more, and fails with another zone, is an alarm's business."""
    told = examine(telling(runs_in="use1-az6"))
    assert (told.zone.healthy, told.zone.reason) == (True, "it runs in use1-az6")
    assert told.metrics == {"ZoneHealthy": 1, "ZoneMismatch": 1}
    assert told.line["misplaced"] is True


def test_where_nobody_knows_the_zone_nothing_is_wrong_with_it(examine: Examine) -> None:
    """Outside AWS there is no such metadata."""
    told = examine(telling(runs_in=None))
    assert (told.zone.healthy, told.zone.reason, told.metrics) == (True, "", {"ZoneHealthy": 1})


@pytest.mark.parametrize(
    "given, reason", [("use1-az2", "it was given the zone use1-az2"), ("", "it was given no zone")]
)
def test_a_function_that_takes_itself_for_another_serves(examine: Examine, given: str, reason: str) -> None:
    assert examine(telling(zone=given)).zone.reason == reason


def test_everything_that_is_wrong_is_told(examine: Examine) -> None:
    told = examine(telling(runs_in="use1-az6", members=[DEAD]))
    assert told.zone.reason == "it runs in use1-az6; 1 of the 1 members of its ring do not answer"
    assert told.metrics == {"ZoneHealthy": 1, "RingMembersDown": 1, "ZoneMismatch": 1}


def failing(failure: Exception) -> Function:
    def fail(_: Any) -> Any:
        raise failure

    return fail


@pytest.mark.parametrize(
    "function, reason",
    [
        (failing(Hangs()), "its function does not answer"),
        (failing(KeyError("x")), "its function fails"),
        (failing(Throttled()), "its function cannot be invoked (TooManyRequestsException)"),
        (lambda _: {"statusCode": 200, "body": "{}"}, "its function answers something else"),
        (lambda _: None, "its function answers something else"),
        (lambda _: [], "its function answers something else"),
        (lambda _: b"no JSON", "its function answers something else"),
        (lambda _: WELL | {"members": [{"name": "x"}]}, "its function answers something else"),
        (lambda _: WELL | {"members": 7}, "its function answers something else"),
    ],
)
def test_a_zone_that_does_not_answer_is_not_healthy(examine: Examine, function: Function, reason: str) -> None:
    """A hung one is a row that says so, and does not hold up its heartbeat for long."""
    told = examine(function)
    assert (told.zone.healthy, told.zone.reason) == (False, reason)
    assert told.metrics == {"ZoneHealthy": 0}
    assert (told.line["runs_in"], told.line["members"]) == (None, [])


def test_a_function_that_is_not_there_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    zones = EmbeddedZones()
    with lambda_api({}) as endpoint, clients(endpoint, monkeypatch) as aws:
        Heartbeat(aws.functions, zones, FixedClock(), service="sigla-default")({"zone": ZONE})
    assert zones.list()[0].reason == "its function cannot be invoked (ResourceNotFoundException)"


def test_alarms_hear_of_a_zone_whose_row_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is written first; then the invocation fails."""

    class Silent(EmbeddedZones):
        def beat(self, _: Zone) -> None:
            raise StoreError("DynamoDB did not answer")

    with (
        lambda_api({ARN: failing(KeyError("x"))}) as endpoint,
        clients(endpoint, monkeypatch) as aws,
        pytest.raises(StoreError),
    ):
        Heartbeat(aws.functions, Silent(), FixedClock(), service="sigla-default")({"zone": ZONE})
    assert json.loads(capsys.readouterr().out)["ZoneHealthy"] == [0]


@pytest.mark.parametrize("event", [{}, {"zone": "use1-az1"}, {"zone": {"id": "use1-az1"}}, {"zone": ZONE | {"url": 7}}])
def test_another_event_is_none_of_ours(event: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no heartbeat of a zone"):
        Heartbeat(None, EmbeddedZones(), FixedClock(), service="sigla-default")(event)
