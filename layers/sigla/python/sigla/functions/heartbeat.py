"""Each minute, for each zone: its function is asked how it is, and the directory and CloudWatch are told.

    it does not answer, or fails       not healthy
    it runs in another zone            healthy: its answers are right, but it is not where its clients think
    members of its ring do not answer  healthy: what they would have kept is read from S3

Reasons are shown to everybody (`GET /zones`), so that they name no address; the line in the log has all of it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import orjson
from aws_lambda_powertools.metrics import MetricUnit
from botocore.exceptions import BotoCoreError, ClientError

from sigla.functions.probe import ASKED
from sigla.functions.telemetry import own_metrics
from sigla.ports.clock import Clock
from sigla.ports.zones import Pulse, Zone, Zones

Event = Mapping[str, Any]


class HeartbeatEvent(NamedTuple):
    """The zone of an event. function: the ARN of the alias that its URL leads to."""

    id: str
    name: str
    url: str
    function: str

    @classmethod
    def of(cls, event: Event) -> "HeartbeatEvent":
        """Raises ValueError for a foreign event."""
        told = event.get("zone")
        if not isinstance(told, dict) or not all(isinstance(told.get(name), str) for name in cls._fields):
            raise ValueError(f"no heartbeat of a zone: an event with {sorted(event)}")
        return cls(*(told[name] for name in cls._fields))


class NoAnswer(Exception):
    """Why not, for everybody."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What the zone's function told. zone: the one it was given. runs_in: None where it cannot know."""

    zone: str
    runs_in: str | None
    members: tuple[Pulse, ...]
    release: str

    @classmethod
    def read(cls, payload: bytes) -> "ProbeAnswer":
        """Raises NoAnswer."""
        try:
            told = orjson.loads(payload)
            members = tuple(Pulse(one["name"], one["ms"], one["failure"]) for one in told["members"])
            return cls(told["zone"], told["runs_in"], members, told["release"])
        except (ValueError, LookupError, TypeError):
            raise NoAnswer("its function answers something else") from None

    @property
    def down(self) -> int:
        return sum(bool(one.failure) for one in self.members)


class Verdict(NamedTuple):
    """misplaced: it runs in another zone than that of the heartbeat. down: members of the ring."""

    healthy: bool
    reason: str
    misplaced: bool = False
    down: int = 0


def judged(asked: HeartbeatEvent, answer: ProbeAnswer) -> Verdict:
    misplaced = answer.runs_in not in (None, asked.id)
    return Verdict(healthy=True, reason="; ".join(_flaws(asked, answer)), misplaced=misplaced, down=answer.down)


def _flaws(asked: HeartbeatEvent, answer: ProbeAnswer) -> Iterator[str]:
    """What is wrong with a zone that serves."""
    if answer.runs_in not in (None, asked.id):
        yield f"it runs in {answer.runs_in}"
    if answer.zone != asked.id:
        yield f"it was given the zone {answer.zone}" if answer.zone else "it was given no zone"
    if answer.down:
        yield f"{answer.down} of the {len(answer.members)} members of its ring do not answer"


class Heartbeat:
    """What Lambda calls. functions: a client of Lambda. service, stack: whose metrics they are."""

    def __init__(self, functions: Any, zones: Zones, clock: Clock, *, service: str, stack: str = "") -> None:
        self._functions = functions
        self._zones = zones
        self._clock = clock
        self._service, self._stack = service, stack

    def __call__(self, event: Event, _: Any = None) -> dict[str, Any]:
        """What is told. Raises ValueError for a foreign event, StoreError where the table is silent."""
        asked, began = HeartbeatEvent.of(event), self._clock.now()
        answer: ProbeAnswer | None = None
        try:
            answer = self._probe(asked.function)
            verdict = judged(asked, answer)
        except NoAnswer as silence:
            verdict = Verdict(healthy=False, reason=str(silence))
        told = _log_line(verdict, answer, self._clock.now() - began)
        self._tell(asked.id, verdict, told)
        self._zones.beat(Zone(asked.id, asked.name, asked.url, verdict.healthy, began, verdict.reason))
        return {"zone": asked.id, **told}

    def _probe(self, function: str) -> ProbeAnswer:
        """Raises NoAnswer."""
        try:
            told = self._functions.invoke(FunctionName=function, Payload=orjson.dumps(ASKED))
            payload = told["Payload"].read()
        except ClientError as refused:
            code = refused.response["Error"]["Code"]
            raise NoAnswer(f"its function cannot be invoked ({code})") from refused
        except BotoCoreError as silent:
            raise NoAnswer("its function does not answer") from silent
        if "FunctionError" in told:
            raise NoAnswer("its function fails")
        return ProbeAnswer.read(payload)

    def _tell(self, zone: str, verdict: Verdict, told: dict[str, Any]) -> None:
        """One line, which is the metrics, too."""
        metrics = own_metrics(self._service, self._stack)
        metrics.add_dimension("zone", zone)
        metrics.add_metric("ZoneHealthy", MetricUnit.Count, verdict.healthy)
        for name, count in TROUBLES.items():
            if count(verdict):
                metrics.add_metric(name, MetricUnit.Count, count(verdict))
        for name, fact in told.items():
            metrics.add_metadata(name, fact)
        metrics.flush_metrics()


TROUBLES: Mapping[str, Callable[[Verdict], int]] = {
    "RingMembersDown": lambda verdict: verdict.down,
    "ZoneMismatch": lambda verdict: verdict.misplaced,
}
"""Told where there are any: each metric that is told costs $0.30 a month and zone."""


def _log_line(verdict: Verdict, answer: ProbeAnswer | None, took_ms: int) -> dict[str, Any]:
    return {
        "event": "heartbeat",
        "healthy": verdict.healthy,
        "reason": verdict.reason,
        "misplaced": verdict.misplaced,
        "runs_in": answer and answer.runs_in,
        "members": [asdict(one) for one in answer.members] if answer else [],
        "release": answer and answer.release,
        "took_ms": took_ms,
    }
