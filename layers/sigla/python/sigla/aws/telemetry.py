"""What a function tells of itself, by Powertools: a line per request, and metrics, which CloudWatch finds in the log.

Metrics in the log (embedded metric format) cost no call; each of them costs $0.30 a month, so they are few and know no
routes: what is missing, Logs Insights counts from the lines.
"""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, NamedTuple, TextIO

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from sigla import observe
from sigla.aws.clients import LOST, THROTTLED, Calls
from sigla.aws.lifecycle import Handler
from sigla.observe import Facts, Seen
from sigla.registry.ownership import EVENT

NAMESPACE = "Sigla"

# Each request is a task of its own, whose name says nothing: no field of the line.
logging.logAsyncioTasks = False  # type: ignore[attr-defined]  # since Python 3.12


class _Stdout(logging.StreamHandler[TextIO]):
    """Writes where standard output is at that moment, as metrics are written."""

    @property
    def stream(self) -> TextIO:
        return sys.stdout

    @stream.setter
    def stream(self, _: TextIO) -> None: ...


@cache
def _logger(service: str) -> Logger:
    """One for a service: Powertools does not let go of the first, and it remembers nothing."""
    return Logger(service=service, logger_handler=_Stdout(), location=None, use_rfc3339=True, utc=True)


class RequestLog:
    """Writes the line of each request, but of successful reads by id only a share.

    service: whose lines they are. calls: to AWS. reads: the share, 0 to 1. draw: yields a number below 1 that decides
    about one line; what it yields next must not be known to a copy of the process, which makes a log of its own.
    more: is asked once for each request, for further facts about it. zone: in which it runs, if in a certain one.
    """

    def __init__(
        self,
        service: str,
        calls: Calls,
        *,
        release: str,
        reads: float = 1.0,
        draw: Callable[[], float] | None = None,
        more: Callable[[], Facts] = dict,
        zone: str = "",
    ) -> None:
        self._logger = _logger(service)
        self._tells = {"failure": self._logger.error, EVENT: self._logger.error}
        self._always: Facts = {"release": release, **({"zone": zone} if zone else {})}
        self._reads = reads
        self._more = more
        self._calls = calls
        self._before = calls.count
        self._draw = draw or Random().random  # noqa: S311 - which line is left out is no secret
        self._cold = True
        self._invocation: str | None = None

    def following(self, handler: Handler) -> Handler:
        """The handler, with Lambda's own id of each invocation in its lines: what Lambda itself logs has no other."""

        def handle(event: Any, context: Any) -> dict[str, Any]:
            self._invocation = None if context is None else context.aws_request_id
            return handler(event, context)

        return handle

    def __call__(self, seen: Seen) -> None:
        cold, self._cold = self._cold, False
        before, self._before = self._before, self._calls.count
        more = self._more()
        if observe.is_read_by_id(seen) and self._draw() >= self._reads:
            return
        facts = observe.request(seen) | {"calls": self._before - before, "cold": cold} | more | self._always
        self._write(self._logger.error if seen.status >= 500 else self._logger.info, facts)

    def tell(self, facts: Facts) -> None:
        """Another event: an `observe.Teller`."""
        self._write(self._tells.get(str(facts["event"]), self._logger.warning), dict(facts))

    def _write(self, tell: Callable[..., None], facts: Facts) -> None:
        tell(facts.pop("message", None), extra=facts | {"function_request_id": self._invocation})


class Request(NamedTuple):
    """What metrics are made of. throttles, lost_races: during this request."""

    seen: Seen
    cold: bool
    throttles: int
    lost_races: int

    @property
    def reads(self) -> bool:
        return self.seen.method in ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Metric:
    """value: of one request; None or 0 where it is not told."""

    name: str
    unit: MetricUnit
    value: Callable[[Request], float | None]


METRICS = (
    # The number of their samples is the number of requests.
    Metric("ReadLatency", MetricUnit.Milliseconds, lambda one: one.seen.took_ms if one.reads else None),
    Metric("WriteLatency", MetricUnit.Milliseconds, lambda one: None if one.reads else one.seen.took_ms),
    Metric("ClientErrors", MetricUnit.Count, lambda one: 400 <= one.seen.status < 500),
    Metric("Denied", MetricUnit.Count, lambda one: one.seen.status in (401, 403)),
    Metric("ServerErrors", MetricUnit.Count, lambda one: one.seen.status >= 500),
    Metric("ColdStarts", MetricUnit.Count, lambda one: one.cold),
    Metric("Throttles", MetricUnit.Count, lambda one: one.throttles),
    Metric("LostRaces", MetricUnit.Count, lambda one: one.lost_races),
)
"""All of them, with one dimension: the service."""

FOREIGN = "ForeignData"
"""One more, told of each request while what is stored bears another identity, or none: paid for then alone."""


class RequestMetrics:
    """Counts and times every request, also those that the log leaves out.

    is_foreign: whether what is stored is known not to be this deployment's.
    """

    def __init__(self, service: str, calls: Calls, *, is_foreign: Callable[[], bool] = lambda: False) -> None:
        self._is_foreign = is_foreign
        self._metrics = EphemeralMetrics(namespace=NAMESPACE, service=service)
        self._troubles = calls.troubles
        self._throttles, self._lost_races = calls.troubles[THROTTLED], calls.troubles[LOST]
        self._cold = True

    def __call__(self, seen: Seen) -> None:
        throttles, lost_races = self._troubles[THROTTLED], self._troubles[LOST]
        request = Request(seen, self._cold, throttles - self._throttles, lost_races - self._lost_races)
        self._cold, self._throttles, self._lost_races = False, throttles, lost_races
        for metric in METRICS:
            value = metric.value(request)
            if value:
                self._metrics.add_metric(metric.name, metric.unit, value)
        if self._is_foreign():
            self._metrics.add_metric(FOREIGN, MetricUnit.Count, 1)
        self._metrics.flush_metrics()
