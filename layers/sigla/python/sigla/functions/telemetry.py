"""What a function tells of itself, by Powertools: a line per request, and metrics, which CloudWatch finds in the log.

Metrics in the log (embedded metric format) cost no call; each of them costs $0.30 a month, so they are few and know no
routes: what is missing, Logs Insights counts from the lines. The log itself is paid by the byte, and a line of metrics
for each request would cost more than the request: the values of a minute share one.
"""

import logging
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from typing import Any, NamedTuple, TextIO

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from sigla import observe
from sigla.aws.clients import LOST, THROTTLED, Calls
from sigla.functions.lifecycle import Handler
from sigla.observe import MINUTE_MS, STRANGERS_LINES, Facts, Ration, Seen, Watcher
from sigla.ports.clock import Clock
from sigla.regions.refusals import NotForwarded
from sigla.stores.ownership import EVENT

NAMESPACE = "Sigla"

MOST_TOGETHER = 99
"""Requests whose metrics share a line. With a hundred values of a metric Powertools writes the line itself."""


def own_metrics(service: str, stack: str) -> EphemeralMetrics:
    """Takes what a function tells of itself, under the dimensions `service` and, where there is one, `stack`.

    Two stacks may serve registries of one name: without the second, the live one would hide the dead one.
    """
    return EphemeralMetrics(namespace=NAMESPACE, service=service, default_dimensions={"stack": stack} if stack else {})


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
    """Writes the line of each request, but of successful reads by id only a share, and of a flood of 401 its beginning.

    service: whose lines they are. calls: to AWS. reads: the share, 0 to 1. draw: yields a number below 1 that decides
    about one line; what it yields next must not be known to a copy of the process, which makes a log of its own.
    more: is asked once for each request, for further facts about it. zone: in which it runs, if in a certain one.
    """

    def __init__(
        self,
        service: str,
        calls: Calls,
        clock: Clock,
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
        self._draw = draw or Random().random  # noqa: S311 - which line is left out need not be secret
        self._clock = clock
        self._strangers = Ration(STRANGERS_LINES, clock)
        self._cold = True
        self._invocation: str | None = None

    def following(self, handler: Handler) -> Handler:
        """The handler, with Lambda's own id of each invocation in its lines: what Lambda itself logs has no other."""

        def handle(event: Any, context: Any) -> dict[str, Any]:
            self._invocation = None if context is None else context.aws_request_id
            return handler(event, context)

        return handle

    def of(self, registry: str, more: Callable[[], Facts] = dict) -> Watcher:
        """Tells of one of several registries, and says of which; a flood in one of them hides no line of another.

        more: likewise, of its requests.
        """
        strangers = Ration(STRANGERS_LINES, self._clock)
        return lambda seen: self._tell_request(seen, more() | {"registry": registry}, strangers)

    def __call__(self, seen: Seen) -> None:
        self._tell_request(seen, self._more(), self._strangers)

    def _tell_request(self, seen: Seen, more: Facts, strangers: Ration) -> None:
        cold, self._cold = self._cold, False
        before, self._before = self._before, self._calls.count
        if observe.is_read_by_id(seen) and self._draw() >= self._reads:
            return
        left_out = strangers.spend() if seen.status == 401 else 0
        if left_out is None:
            return
        facts = observe.request(seen) | {"calls": self._before - before, "cold": cold} | more | self._always
        if left_out:
            facts["left_out"] = left_out
        self._write(self._logger.error if seen.status >= 500 else self._logger.info, facts)

    def tell(self, facts: Facts) -> None:
        """Another event: an `observe.Teller`."""
        self._write(self._tells.get(str(facts["event"]), self._logger.warning), dict(facts))

    def _write(self, tell: Callable[..., None], facts: Facts) -> None:
        tell(facts.pop("message", None), extra=facts | {"function_request_id": self._invocation})


class Request(NamedTuple):
    """What metrics are made of. throttles, lost_races: during this request. foreign: whether the data are another's.

    registry: which one was asked, where there are several.
    """

    seen: Seen
    cold: bool
    throttles: int
    lost_races: int
    foreign: bool
    registry: str = ""

    @property
    def reads(self) -> bool:
        return self.seen.method in ("GET", "HEAD", "OPTIONS")

    @property
    def is_urgent(self) -> bool:
        """Whether an alarm has to hear of it at once."""
        return self.fails or self.foreign

    @property
    def is_unknown_id(self) -> bool:
        """Whether it asks for what the other region may have: any id that a client thinks of."""
        return self.seen.error_code == NotForwarded.code and self.seen.route.startswith(observe.BY_ID)

    @property
    def fails(self) -> bool:
        return self.seen.status >= 500 and not self.is_unknown_id


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
    Metric("ServerErrors", MetricUnit.Count, lambda one: one.fails),
    Metric("ColdStarts", MetricUnit.Count, lambda one: one.cold),
    Metric("Throttles", MetricUnit.Count, lambda one: one.throttles),
    Metric("LostRaces", MetricUnit.Count, lambda one: one.lost_races),
)
"""All of them, with the same dimensions: the service and the stack."""

FOREIGN = "ForeignData"
"""One more, told of each request while what is stored bears another identity, or none: paid for then alone."""

UNKNOWN_IDS = "UnknownIds"
"""Likewise, of ids and GUIDs that this region lacks and another one may have, which is told with 500: no alarm counts
them, for a client with an id that was never given would ring it."""

_ALL = (
    *METRICS,
    Metric(FOREIGN, MetricUnit.Count, lambda one: one.foreign),
    Metric(UNKNOWN_IDS, MetricUnit.Count, lambda one: one.is_unknown_id),
)


class RequestMetrics:
    """Counts and times every request, also those that the log leaves out.

    What comes within a minute of the last line waits for the next one, which bears the time of the first value in it.
    A failure of ours is told at once and by itself, so that it has its own time, after all that waits; a request after
    a minute of silence is told at once, too. An environment that ends takes along what it has not told: a minute's
    requests at most, none of them a failure.

    stack: of which the function is a part. is_foreign: whether what is stored is known not to be this deployment's.

    Several registries of one function have their metrics together: each for itself would be paid by the registry, asked
    or not. A line says how many of its requests were of which.
    """

    def __init__(
        self,
        service: str,
        calls: Calls,
        clock: Clock,
        *,
        stack: str = "",
        is_foreign: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_foreign = is_foreign
        self._metrics = own_metrics(service, stack)
        self._troubles = calls.troubles
        self._throttles, self._lost_races = calls.troubles[THROTTLED], calls.troubles[LOST]
        self._cold = True
        self._clock = clock
        self._waiting: list[Request] = []
        self._since = self._told = -MINUTE_MS

    def of(self, registry: str) -> Watcher:
        """Counts what one of several registries is asked."""
        return partial(self._count, registry=registry)

    def __call__(self, seen: Seen) -> None:
        self._count(seen)

    def _count(self, seen: Seen, registry: str = "") -> None:
        throttles, lost_races = self._troubles[THROTTLED], self._troubles[LOST]
        troubles = throttles - self._throttles, lost_races - self._lost_races
        request = Request(seen, self._cold, *troubles, self._is_foreign(), registry)
        self._cold, self._throttles, self._lost_races = False, throttles, lost_races
        now = self._clock.now()
        if self._waiting and (request.is_urgent or _is_past(self._since, now)):
            self.tell()
        if not self._waiting:
            self._since = now
        self._waiting.append(request)
        if request.is_urgent or _is_past(self._told, now) or len(self._waiting) == MOST_TOGETHER:
            self.tell()
            self._told = now

    def tell(self) -> None:
        """Writes what waits, in one line."""
        waiting, self._waiting = self._waiting, []
        for metric in _ALL:
            for value in filter(None, map(metric.value, waiting)):
                self._metrics.add_metric(metric.name, metric.unit, value)
        if registries := Counter(each.registry for each in waiting if each.registry):
            self._metrics.add_metadata("registries", dict(registries))
        self._metrics.set_timestamp(self._since)
        self._metrics.flush_metrics()


def _is_past(then: int, now: int) -> bool:
    """Whether a minute has gone, or the clock was set back."""
    return not 0 <= now - then < MINUTE_MS
