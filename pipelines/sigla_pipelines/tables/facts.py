"""What a lake has: each table with what is in it, where it lies, and which batch came last.

An Iceberg table says so itself, in its current snapshot. What is in a table of plain Parquet is what the manifests of
the work directory say. Neither reads any data.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from sigla_pipelines.land.driver import Driver
from sigla_pipelines.land.landed import DataFile
from sigla_pipelines.land.manifest import Manifest, manifest_name
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.sinks.sink import OURS, folder_of

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

QUERY: Final = "sigla.query"
BATCH: Final = "sigla.batch"
"""What the summary of a snapshot says of the batch that made it."""


@dataclass(frozen=True, slots=True)
class LastBatch:
    """The batch that changed a table last. at: when it was decided or committed, in milliseconds since the epoch."""

    query: str
    number: int
    at: int


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One table.

    table: as `land.yaml` and reports call it. name: of its folder, and in a catalog. topics: of the last batches.
    schema: all columns; the metadata of a field has its comment. partitions: as in `day(_sr_ts)`.
    metadata: of Iceberg, where its current state is written down.
    """

    table: str
    name: str
    topics: tuple[str, ...]
    rows: int
    file_count: int
    size: int
    last: LastBatch | None
    location: str
    schema: pa.Schema
    partitions: tuple[str, ...] = ()
    metadata: str = ""


def table_facts(driver: Driver) -> list[TableFacts]:
    """All tables of the lake, in the order of their names. Raises StoreError."""
    found = _of_parquet(driver) if isinstance(driver.sink, Parquet) else _of_iceberg(driver)
    return sorted(found, key=lambda facts: facts.table)


# --- plain Parquet ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Counted:
    """What manifests say of one table. manifests: by query, the last one that has files of it."""

    rows: int = 0
    file_count: int = 0
    size: int = 0
    topics: set[str] = field(default_factory=set)
    manifests: dict[str, Manifest] = field(default_factory=dict)

    def add(self, manifest: Manifest, file: DataFile) -> None:
        self.rows += file.rows
        self.file_count += 1
        self.size += file.size
        self.manifests[manifest.query] = manifest


def _of_parquet(driver: Driver) -> Iterator[TableFacts]:
    counted: dict[str, _Counted] = {}
    for manifest in driver.manifests.all():
        for file in manifest.files:
            counted.setdefault(file.table, _Counted()).add(manifest, file)
        for metric in manifest.metrics:
            counted.setdefault(metric.table, _Counted()).topics.add(metric.topic)
    sink: Any = driver.sink
    for table, each in counted.items():
        place = driver.lake.under(folder_of(table))
        yield TableFacts(
            table=table,
            name=folder_of(table),
            topics=tuple(sorted(each.topics)),
            rows=each.rows,
            file_count=each.file_count,
            size=each.size,
            last=_last_decided(driver, each.manifests.values()),
            location=place.uri("").rstrip("/"),
            schema=sink.schema(table),
        )


def _last_decided(driver: Driver, manifests: Iterable[Manifest]) -> LastBatch | None:
    """Queries number their batches alike; the age of a manifest tells which is the newest."""
    by_path = {driver.work.path(manifest_name(each.query, each.number)): each for each in manifests}
    found = [
        LastBatch(by_path[info.path].query, by_path[info.path].number, int(info.mtime.timestamp() * 1000))
        for info in driver.work.filesystem.get_file_info(list(by_path))
        if info.mtime is not None
    ]
    return max(found, key=lambda each: each.at, default=None)


# --- Iceberg ---------------------------------------------------------------------------------------------------------


def _of_iceberg(driver: Driver) -> Iterator[TableFacts]:
    sink: Any = driver.sink
    known = _KnownTables(driver)
    for name_, table in sink.tables():
        yield _facts(known, name_, table)


@dataclass
class _KnownTables:
    """What the work directory knows of the tables of a catalog."""

    driver: Driver

    @cached_property
    def tables(self) -> dict[str, str]:
        """By their names in the catalog: what `land.yaml` calls them."""
        last = [self.driver.manifests.last(query) for query in self.driver.manifests.queries()]
        called = {table for manifest in last if manifest for table in (*manifest.columns, *manifest.tables)}
        return {folder_of(table): table for table in (*OURS, *sorted(called))}

    def topics(self, table: str, last: LastBatch | None) -> tuple[str, ...]:
        """The topics of its last batch: to read all manifests would take as long as all batches together are many."""
        manifest = self.driver.manifests.get(last.query, last.number) if last else None
        metrics = manifest.metrics if manifest else ()
        return tuple(sorted({metric.topic for metric in metrics if metric.table == table}))


def _facts(known: _KnownTables, name_: str, found: "Table") -> TableFacts:
    from sigla_pipelines.land.sinks.iceberg import arrow_schema  # noqa: PLC0415 - to import pyiceberg takes 0.6 s

    table = known.tables.get(name_, name_)
    current = found.current_snapshot()
    counts: Any = current.summary.additional_properties if current and current.summary else {}
    last = _last_committed(found)
    return TableFacts(
        table=table,
        name=name_,
        topics=known.topics(table, last),
        rows=int(counts.get("total-records", 0)) - int(counts.get("total-position-deletes", 0)),
        file_count=int(counts.get("total-data-files", 0)),
        size=int(counts.get("total-files-size", 0)),
        last=last,
        location=found.location(),
        schema=arrow_schema(found),
        partitions=_partitions(found),
        metadata=found.metadata_location,
    )


def _last_committed(found: "Table") -> LastBatch | None:
    """The newest snapshot that is a batch; others compact files."""
    batches = [batch for snapshot in found.snapshots() if (batch := _batch(snapshot))]
    return max(batches, key=lambda each: each.at, default=None)


def _batch(snapshot: "Snapshot") -> LastBatch | None:
    said: Any = snapshot.summary.additional_properties if snapshot.summary else {}
    if QUERY not in said:
        return None
    return LastBatch(said[QUERY], int(said[BATCH]), snapshot.timestamp_ms)


def _partitions(found: "Table") -> tuple[str, ...]:
    schema = found.schema()
    return tuple(
        schema.find_column_name(each.source_id) or ""
        if str(each.transform) == "identity"
        else f"{each.transform}({schema.find_column_name(each.source_id)})"
        for each in found.spec().fields
    )
