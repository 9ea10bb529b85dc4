"""What a task tells the driver: which files it wrote, which records it read, and what became of them."""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final, Self

import orjson

QUARANTINE = "_quarantine"
"""The table of what could not be read."""


KEY = "_key"
"""The column of what a record's key says, where it is decoded."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """rows: in it. path: below the place of its table.

    partition: by what it is partitioned, as `partitions.text_of_fields` writes it; None of files that are older than
    this field. values: of its partition, as `partitions.encoded` writes them. sort: the columns in whose order its rows
    are; None where nothing is said about them.
    """

    table: str
    path: str
    rows: int
    size: int
    partition: str | None = None
    values: str = "[]"
    sort: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Records that a task read of one partition: so many, between these offsets, both included."""

    topic: str
    partition: int
    first: int
    last: int
    records: int


@dataclass(frozen=True, slots=True)
class Metric:
    """The counts of one schema in one table, and of one reason in the quarantine.

    Times in milliseconds since the epoch. schema_id: None where a record names none. version: 0 where the subject has
    no such id. unchecked: rows whose schema could not be checked against the subject, because the catalog was silent.
    additional: properties of JSON that its reader does not name, kept in `_additional`. left_out: those that have no
    column, or one that a rule hides.
    """

    table: str
    topic: str
    subject: str
    schema_id: int | None
    version: int
    reason: str
    rows: int
    bytes: int
    unchecked: int
    first_offset: int
    last_offset: int
    first_ts: int
    last_ts: int
    additional: int = 0
    left_out: int = 0


_FIGURES: Final = attrgetter(*(each.name for each in fields(Metric)))
"""Without their names: of a topic with thousands of ids there are as many metrics."""


@dataclass(frozen=True, slots=True, order=True)
class Met:
    """A Protobuf message of which a part of a topic has records. path: where the reader's file has it."""

    topic: str
    part: str
    path: tuple[int, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Landed:
    """What one task did. Only what `collect` returns counts: files of lost attempts belong to no batch.

    met: of topics whose subjects go by the topic. Records of a message that the plan does not know of are in no file.
    """

    files: tuple[DataFile, ...]
    spans: tuple[Span, ...]
    metrics: tuple[Metric, ...]
    met: tuple[Met, ...] = ()

    def encoded(self) -> bytes:
        metrics = [_FIGURES(each) for each in self.metrics]
        return orjson.dumps({"files": self.files, "spans": self.spans, "metrics": metrics, "met": self.met})

    @classmethod
    def decoded(cls, text: bytes | str) -> Self:
        form: dict[str, Any] = orjson.loads(text)
        return cls(
            tuple(DataFile(**each) for each in form["files"]),
            tuple(Span(**each) for each in form["spans"]),
            tuple(Metric(*each) for each in form["metrics"]),
            tuple(Met(**each | {"path": tuple(each["path"])}) for each in form["met"]),
        )
