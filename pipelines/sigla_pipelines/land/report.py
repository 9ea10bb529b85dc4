"""What a job says of its batches: to a person, to a program, to CloudWatch."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.manifest import Manifest, RecordCounts
from sigla_pipelines.land.upsert import Followed

NAMESPACE: Final = "Sigla/Land"
"""The namespace of the metrics in CloudWatch."""

LONGEST: Final = 200_000
"""Bytes of a line of JSON: logs cut longer ones (CloudWatch Logs did at 256 KiB), and half a line counts nothing."""


@dataclass(frozen=True, slots=True)
class Done:
    """A batch that is in its tables. job: as the settings name it. at: ms since the epoch. seconds: it took.

    states: those that had something to follow.
    """

    job: str
    manifest: Manifest
    at: int
    seconds: float
    states: tuple[Followed, ...] = ()


def as_text(done: Done) -> str:
    counts = done.manifest.counts
    speed = counts.read / done.seconds if done.seconds else 0.0
    sentences = [*_additional_lines(_additional(done.manifest)), *map(_state_line, done.states), *done.manifest.changes]
    said = "".join(f", {sentence}" for sentence in sentences)
    return (
        f"batch {done.manifest.number}: read {counts.read:,}, landed {counts.landed:,}, "
        f"quarantined {counts.quarantined:,}{said} ({speed:,.0f} records/s)"
    )


def as_json(done: Done) -> str:
    """All that is known of a batch, each schema with what became of its records.

    Where schemas are so many that the line would be cut, it tells how many they are; the manifest has them.
    """
    manifest = done.manifest
    facts = {
        "job": done.job,
        "query": manifest.query,
        "batch": manifest.number,
        "seconds": round(done.seconds, 3),
        **asdict(manifest.counts),
        "reasons": _reasons(manifest),
        "tables": _tables(manifest),
        "dropped": _dropped(manifest),
        "additional": _additional(manifest),
        "states": {each.table: each.facts() for each in done.states},
        "changes": manifest.changes,
    }
    whole = json.dumps(facts | {"schemas": [asdict(metric) for metric in manifest.metrics]}, ensure_ascii=False)
    if len(whole.encode(errors="replace")) <= LONGEST:
        return whole
    return json.dumps(facts | {"schemas_left_out": len(manifest.metrics)}, ensure_ascii=False)


def as_emf(done: Done) -> str:
    """CloudWatch's embedded metric format: metrics of the job; reasons and tables beside them, to be searched.

    Schemas do not become dimensions: each value of one is a metric that is paid for.
    """
    counts = done.manifest.counts
    figures: dict[str, tuple[float, str]] = {
        "Read": (counts.read, "Count"),
        "Landed": (counts.landed, "Count"),
        "Quarantined": (counts.quarantined, "Count"),
        "Unchecked": (sum(metric.unchecked for metric in done.manifest.metrics), "Count"),
        "Seconds": (round(done.seconds, 3), "Seconds"),
    }
    metrics = [{"Name": name, "Unit": unit} for name, (_, unit) in figures.items()]
    directive = {"Namespace": NAMESPACE, "Dimensions": [["Job"]], "Metrics": metrics}
    facts: dict[str, Any] = {
        "_aws": {"Timestamp": done.at, "CloudWatchMetrics": [directive]},
        "Job": done.job,
        "Batch": done.manifest.number,
        **{name: figure for name, (figure, _) in figures.items()},
        "Reasons": _reasons(done.manifest),
        "Tables": _tables(done.manifest),
        "Dropped": _dropped(done.manifest),
        "Additional": _additional(done.manifest),
        "States": {each.table: each.facts() for each in done.states},
    }
    return json.dumps(facts, ensure_ascii=False)


FORMS: Final[Mapping[str, Callable[[Done], str]]] = {"text": as_text, "json": as_json, "emf": as_emf}


@dataclass(slots=True)
class Sum:
    """Over all batches of a run."""

    read: int = 0
    landed: int = 0
    quarantined: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    dropped: set[str] = field(default_factory=set)
    additional: Counter[str] = field(default_factory=Counter)
    changes: list[str] = field(default_factory=list)
    states: dict[str, Followed] = field(default_factory=dict)

    def follow(self, states: Iterable[Followed]) -> None:
        """What states have followed."""
        for each in states:
            self.states[each.table] = self.states[each.table].plus(each) if each.table in self.states else each

    def add(self, manifest: Manifest) -> None:
        counts: RecordCounts = manifest.counts
        self.read += counts.read
        self.landed += counts.landed
        self.quarantined += counts.quarantined
        self.reasons.update(_reasons(manifest))
        self.additional.update(_additional(manifest))
        self.changes += manifest.changes
        self.dropped |= {f"{subject} {name}" for subject, names in _dropped(manifest).items() for name in names}

    def lines(self) -> list[str]:
        """For a person, and simple enough for a script."""
        why = [f"  {reason}: {rows}" for reason, rows in self.reasons.most_common()]
        left_out = [f"left out, for its table is pinned: {name}" for name in sorted(self.dropped)]
        more = _additional_lines(self.additional)
        return [
            f"read: {self.read}",
            f"landed: {self.landed}",
            f"quarantined: {self.quarantined}",
            *why,
            *left_out,
            *more,
            *map(_state_line, self.states.values()),
            *self.changes,
        ]


def _reasons(manifest: Manifest) -> dict[str, int]:
    """Quarantined records by the first thing that was wrong with them."""
    found: Counter[str] = Counter()
    for metric in manifest.metrics:
        if metric.table == QUARANTINE:
            found[metric.reason] += metric.rows
    return dict(found)


def _dropped(manifest: Manifest) -> dict[str, list[str]]:
    """By subject, what of its records has no column."""
    found: dict[str, dict[str, None]] = {}
    for read in manifest.reads:  # a subject has several where bindings read it differently
        if read.dropped:
            found.setdefault(read.subject, {}).update(dict.fromkeys(read.dropped))
    return {subject: list(names) for subject, names in found.items()}


def _additional(manifest: Manifest) -> dict[str, int]:
    """How many properties of JSON no schema named that they were read by."""
    return {
        "kept": sum(metric.additional for metric in manifest.metrics),
        "dropped": sum(metric.left_out for metric in manifest.metrics),
    }


def _additional_lines(properties: Mapping[str, int]) -> list[str]:
    """No line for an empty count."""
    kept, dropped = properties["kept"], properties["dropped"]
    said = [f"properties that the schema does not name, kept: {kept}"] if kept else []
    return said + ([f"properties that the schema does not name, dropped: {dropped}"] if dropped else [])


def _state_line(state: Followed) -> str:
    left_out = f", {state.left_out} changes without a key left out" if state.left_out else ""
    return f"{state.table}: {state.merged} merged, {state.deleted} deleted{left_out}"


def _tables(manifest: Manifest) -> dict[str, int]:
    found: Counter[str] = Counter()
    for file in manifest.files:
        found[file.table] += file.rows
    return dict(found)
