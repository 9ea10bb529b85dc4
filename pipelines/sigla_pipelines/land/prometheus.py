"""The figures of a landing job for Prometheus: as a file for node exporter's textfile collector, or to a push gateway.

Counters go on from run to run: what was counted is kept in the work directory, so a job that runs each hour and ends
again looks as one that never ends. A figure that cannot be told (lag, while Kafka is silent) is left out.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import orjson

from sigla_pipelines.land.exit_status import SourceFailed
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.report import Done
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.places import Place

KEPT: Final = "metrics.json"
"""In the work directory: what was counted so far."""

ANSWERS_WITHIN_S: Final = 10.0
"""A push gateway."""

FAMILIES: Final[Mapping[str, tuple[str, str]]] = {
    "sigla_land_records_read_total": ("counter", "Records read, by topic."),
    "sigla_land_records_landed_total": ("counter", "Records that became rows of a table."),
    "sigla_land_records_quarantined_total": ("counter", "Records in the quarantine, by topic and first reason."),
    "sigla_land_records_resolved_total": ("counter", "Records that a replay landed out of the quarantine."),
    "sigla_land_additional_properties_total": ("counter", "Properties of JSON that no schema names, kept or dropped."),
    "sigla_land_batch_duration_seconds": ("summary", "Time that batches took."),
    "sigla_land_last_batch_duration_seconds": ("gauge", "Time that the last batch took."),
    "sigla_land_last_batch_timestamp_seconds": ("gauge", "When the last batch was landed, in Unix time."),
    "sigla_land_lag_records": ("gauge", "Records of a topic that Kafka has and no batch has landed."),
}
"""By name: type and help."""

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels]
Ends = Mapping[str, Mapping[str, int]]
"""By topic and partition the offset behind what is landed."""

Publish = Callable[[str], None]
"""Raises OSError."""


class Figures:
    """The figures of all runs of a job that share a work directory. lag: records behind these ends, by topic."""

    def __init__(self, work: Place, name: str, lag: Callable[[Ends], Mapping[str, int]]) -> None:
        self._work = work
        self._name = name
        self._lag = lag
        kept = orjson.loads(work.read(KEPT) or b"{}")
        self._counted: defaultdict[Sample, float] = defaultdict(float)
        for sample, labels, value in kept.get("counted", ()):
            self._counted[sample, tuple(map(tuple, labels))] = value
        self._batches: dict[str, int] = kept.get("batches", {})
        self._ends: dict[str, dict[str, int]] = kept.get("ends", {})
        self._last: dict[str, float] = kept.get("last", {})

    def add(self, done: Done) -> None:
        """A batch, once: whoever lands it a second time after a crash changes nothing."""
        manifest = done.manifest
        if self._batches.get(manifest.query, -1) >= manifest.number:
            return
        self._batches[manifest.query] = manifest.number
        for sample, value in _counted(done):
            self._counted[sample] += value
        for each in manifest.ranges:
            self._ends.setdefault(each.topic, {})[str(each.partition)] = each.end
        self._last = {
            "sigla_land_last_batch_duration_seconds": done.seconds,
            "sigla_land_last_batch_timestamp_seconds": done.at / 1000,
        }
        self._work.replace(KEPT, self._encoded())

    def text(self) -> str:
        """All metrics in Prometheus' text format."""
        samples: dict[Sample, float] = dict(self._counted)
        samples |= {(name, ()): value for name, value in self._last.items()}
        with suppress(SourceFailed):
            lag = self._lag(self._ends)
            samples |= {("sigla_land_lag_records", (("topic", topic),)): value for topic, value in lag.items()}
        return exposition(samples, {"landing": self._name})

    def _encoded(self) -> bytes:
        counted = [[sample, labels, value] for (sample, labels), value in sorted(self._counted.items())]
        kept = {"counted": counted, "batches": self._batches, "ends": self._ends, "last": self._last}
        return orjson.dumps(kept, option=orjson.OPT_INDENT_2)


def _counted(done: Done) -> Iterator[tuple[Sample, float]]:
    """What a batch adds."""
    manifest = done.manifest
    for span in manifest.spans:
        yield ("sigla_land_records_read_total", (("topic", span.topic),)), span.records
    for metric in manifest.metrics:
        if metric.table == QUARANTINE:
            labels = ("topic", metric.topic), ("reason", metric.reason)
            yield ("sigla_land_records_quarantined_total", labels), metric.rows
        for fate, properties in (("kept", metric.additional), ("dropped", metric.left_out)):
            if properties:
                yield ("sigla_land_additional_properties_total", (("fate", fate),)), properties
    for file in manifest.files:
        if file.table != QUARANTINE:
            yield ("sigla_land_records_landed_total", (("table", file.table),)), file.rows
    if manifest.counts.resolved:
        yield ("sigla_land_records_resolved_total", ()), manifest.counts.resolved
    yield ("sigla_land_batch_duration_seconds_sum", ()), done.seconds
    yield ("sigla_land_batch_duration_seconds_count", ()), 1


def exposition(samples: Mapping[Sample, float], common: Mapping[str, str]) -> str:
    """common: labels of every sample. Families stand together, each behind its help and its type."""
    lines = []
    for family, (kind, help_) in FAMILIES.items():
        parts = {family, f"{family}_sum", f"{family}_count"} if kind == "summary" else {family}
        found = sorted((sample, value) for sample, value in samples.items() if sample[0] in parts)
        if found:
            lines += [f"# HELP {family} {_escaped(help_)}", f"# TYPE {family} {kind}"]
        lines += [f"{name}{_labels({**common, **dict(labels)})} {value!r}" for (name, labels), value in found]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    said = ",".join(f'{name}="{_escaped(value, quotes=True)}"' for name, value in labels.items())
    return f"{{{said}}}"


def _escaped(text: str, *, quotes: bool = False) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped.replace('"', '\\"') if quotes else escaped


def to_file(path: Path) -> Publish:
    """Replaces the file by one rename: who reads it finds all of the old text or all of the new one.

    Raises InvalidLanding if its folder does not exist.
    """
    if not path.parent.is_dir():
        raise InvalidLanding(f"Folder not found: {path.parent}, for the file of metrics: create it, or choose another.")
    # The collector reads files that end with .prom, and this one does not.
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")

    def publish(text: str) -> None:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)

    return publish


def to_gateway(url: str, name: str) -> Publish:
    """name: of the job; its group in the gateway is replaced. Raises InvalidLanding."""
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise InvalidLanding(f"Invalid address of a push gateway '{url}': expected a form like http://gateway:9091.")
    group = f"{url.rstrip('/')}/metrics/job/{quote(name, safe='')}"

    def publish(text: str) -> None:
        headers = {"Content-Type": "text/plain; version=0.0.4"}
        request = Request(group, text.encode(), headers, method="PUT")  # noqa: S310 - the scheme was looked at above
        try:
            with urlopen(request, timeout=ANSWERS_WITHIN_S):  # noqa: S310 - as above
                pass
        except HTTPError as refusal:
            refusal.close()
            raise OSError(f"it answers {refusal.code} {refusal.reason}") from None
        except HTTPException as odd:
            raise OSError(f"it does not speak HTTP: {odd!r}") from None

    return publish
