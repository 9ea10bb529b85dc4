"""Counters in Prometheus' text format.

Written by hand: adding to a dict costs a tenth of a client library's labelled counter, on a path where a microsecond
counts, and the format is a page. One thread counts and tells (the event loop's), so there is no lock.

The `kafka_schema_registry_*` names are those of the reference behind a JMX exporter: dashboards go on working.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from sigla.observe import Seen

REGISTER = "/subjects/{subject}/versions"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UP_TO_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

Source = Callable[[], Iterable[str]]
"""Tells lines of that format: another part of the process, of itself."""


def metric_lines(name: str, kind: str, about: str, samples: Iterable[tuple[str, object]]) -> Iterator[str]:
    """The lines of one metric. samples: labels in braces, or the empty text, and the value."""
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        yield f"{name}{labels} {value}"


def of_registries(told: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    """What several registries tell, as one text: each metric once, and its series with the names of their registries.

    told: the lines of each by its name; of the empty name as they are.
    """
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for registry, lines in told:
        metric = ""
        for line in lines:
            if line.startswith("#"):
                metric = line.split(" ", 3)[2]
                head = heads.setdefault(metric, [])
                if line not in head:
                    head.append(line)
            else:
                samples.setdefault(metric, []).append(_of_registry(line, registry))
    for metric, head in heads.items():
        yield from (*head, *samples.get(metric, ()))


def _of_registry(sample: str, registry: str) -> str:
    if not registry:
        return sample
    before, value = sample.rsplit(" ", 1)
    name, _, labels = before.partition("{")
    own = f'registry="{registry}"'
    return f"{name}{{{own},{labels} {value}" if labels else f"{name}{{{own}}} {value}"


def key_lines(counted: Callable[[], tuple[int, int, int]]) -> Iterator[str]:
    """What the reference tells of keys, by its names. counted: KEKs, shared ones among them, and DEKs."""
    keks, shared, deks = counted()
    counts = (
        ("num_keks", keks, "KEKs stored, soft-deleted ones included."),
        ("num_keks_shared", shared, "Shared KEKs among them."),
        ("num_deks", deks, "DEKs stored, soft-deleted ones included."),
    )
    for name, value, about in counts:
        yield from metric_lines(f"kafka_schema_registry_dek_registry_{name}", "gauge", about, [("", value)])


def dropped_lines(dropped: Callable[[], int]) -> Iterator[str]:
    about = "Lines of the log that were dropped since the start."
    yield from metric_lines("sigla_log_lines_dropped_total", "counter", about, [("", dropped())])


def as_page(lines: Iterable[str]) -> str:
    """One page of them, as scrapers read it."""
    return "\n".join([*lines, ""])


@dataclass(slots=True)
class Timing:
    """How long a route took: requests by the first bound they did not pass, the last for those that passed all."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(UP_TO_S) + 1))
    sum_s: float = 0.0


class Counters:
    """Is told of every request; `text()` tells Prometheus.

    stored: how many versions are stored; without it only those registered since the start are counted. dropped: how
    many lines the log has lost; None where that is told elsewhere. ready: whether writes are taken. more: what others
    tell.
    """

    def __init__(
        self,
        *,
        stored: Callable[[], int] | None = None,
        dropped: Callable[[], int] | None = lambda: 0,
        ready: Callable[[], bool] = lambda: True,
        more: Sequence[Source] = (),
    ) -> None:
        self._stored = stored
        self._dropped = dropped
        self._ready = ready
        self._more = more
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._timings: dict[tuple[str, str], Timing] = {}
        self._deleted = 0

    def __call__(self, seen: Seen) -> None:
        name = (seen.method, seen.route)
        self._deleted += seen.deleted
        self._requests[*name, seen.status] += 1
        timing = self._timings.get(name)
        if timing is None:
            timing = self._timings[name] = Timing()
        took_s = seen.took_ns / 1e9
        timing.sum_s += took_s
        timing.counts[bisect_left(UP_TO_S, took_s)] += 1

    def text(self) -> str:
        return as_page(self.lines())

    def lines(self) -> Iterator[str]:
        yield from chain(self._reference(), self.requests(), self._durations(), self._state())
        yield from chain.from_iterable(source() for source in self._more)

    def _reference(self) -> Iterator[str]:
        """What the reference tells, by its names."""
        registered = self._count("POST", REGISTER) if self._stored is None else self._stored()
        counts = (
            ("registered_count", registered, "Schemas registered."),
            ("deleted_count", self._deleted, "Schema versions deleted since the start, softly or for good."),
            ("api_success_count", self._answered(100, 400), "Requests answered with success since the start."),
            ("api_failure_count", self._answered(400, 600), "Requests refused or failed since the start."),
            ("master_slave_role", 1, "1: this registry accepts writes. It always does."),
            ("node_count", 1, "Registries that share these schemas."),
        )
        for name, value, about in counts:
            yield from metric_lines(f"kafka_schema_registry_{name}", "gauge", about, [("", value)])

    def requests(self) -> Iterator[str]:
        """How many there were, by route and status."""
        samples = (
            (f'{{method="{_label(method)}",route="{route}",status="{status}"}}', count)
            for (method, route, status), count in sorted(self._requests.items())
        )
        yield from metric_lines("sigla_requests_total", "counter", "Requests by route and status.", samples)

    def _durations(self) -> Iterator[str]:
        yield "# HELP sigla_request_duration_seconds Time from a request's head to its last byte sent."
        yield "# TYPE sigla_request_duration_seconds histogram"
        for (method, route), timing in sorted(self._timings.items()):
            labels, total = f'method="{_label(method)}",route="{route}"', 0
            for bound, count in zip((*UP_TO_S, "+Inf"), timing.counts, strict=True):
                total += count
                yield f'sigla_request_duration_seconds_bucket{{{labels},le="{bound}"}} {total}'
            yield f"sigla_request_duration_seconds_sum{{{labels}}} {timing.sum_s:.6f}"
            yield f"sigla_request_duration_seconds_count{{{labels}}} {total}"

    def _state(self) -> Iterator[str]:
        if self._dropped is not None:
            yield from dropped_lines(self._dropped)
        about = "1 where writes are taken, as /health/ready says; else 0."
        yield from metric_lines("sigla_ready", "gauge", about, [("", int(self._ready()))])

    def _count(self, method: str, route: str) -> int:
        return self._requests[method, route, 200]

    def _answered(self, least: int, below: int) -> int:
        return sum(count for (_, _, status), count in self._requests.items() if least <= status < below)


def _label(method: str) -> str:
    return method if method.isalpha() else "other"
