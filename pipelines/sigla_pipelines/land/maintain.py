"""Upkeep of Iceberg tables, by Spark with Iceberg's own procedures, also while batches land.

    compact      small files become large ones, sorted where the table has an order, partitioned as it is now
    manifests    Iceberg's lists of files are put together by partition
    expire       snapshots older than a time go, with the files that only they have
    orphans      files that no snapshot has, and that are old, go: what attempts of engines have left

Every step is a commit that fails where another was faster, and is tried again. What a batch is remembered by is a
property of the table, which no step changes. Files that tasks have staged do not count as orphans here: a manifest may
name them, and `gc` looks after them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyarrow import fs
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.table import Table, TableProperties
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sigla_pipelines.land.maintain_settings import MaintainPart
from sigla_pipelines.land.sinks.iceberg import BOUNDED, Iceberg, metadata_address
from sigla_pipelines.land.sinks.sink import STAGED
from sigla_pipelines.land.spark_catalog import with_catalog
from sigla_pipelines.land.upsert import quoted_name
from sigla_pipelines.progress import UNSEEN, Progress
from sigla_pipelines.retries import LOST_RACE

_OVERTAKEN: Final = (
    "org.apache.iceberg.exceptions.CommitFailedException",
    "org.apache.iceberg.exceptions.CommitStateUnknownException",
    "org.apache.iceberg.exceptions.ValidationException",
)
"""How Spark reports that another writer was faster, or that the outcome of a commit is unknown."""
_STATE: Final = "sigla.state"
"""The property of tables that Spark merges into: what is tried again there decides for itself."""


_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a table. files, bytes: of its data, before and after. left: files of which a commit failed."""

    table: str
    files: tuple[int, int]
    bytes: tuple[int, int]
    snapshots_expired: int
    orphans_removed: int
    left: int

    def line(self) -> str:
        (before, after), (large, small) = self.files, self.bytes
        left = f", {self.left} files left for the next run, others were committing" if self.left else ""
        return (
            f"{self.table}: files {before} → {after}, bytes {large:,} → {small:,}, "
            f"snapshots expired {self.snapshots_expired}, orphans removed {self.orphans_removed}{left}"
        )

    def facts(self) -> dict[str, Any]:
        return asdict(self)


class Upkeep:
    """The upkeep of the tables in a sink's lake. Raises StoreError, and what Spark does."""

    def __init__(self, spark: SparkSession, sink: Iceberg, rules: MaintainPart, now: datetime) -> None:
        self._spark = with_catalog(spark, sink.catalog, sink.lake)
        self._sink = sink
        self._rules = rules
        self._now = now

    def tables(self) -> list[str]:
        """Those of the namespace that lie in the lake: others belong to other jobs."""
        lake = metadata_address(self._sink.lake, "").rstrip("/")
        return sorted(name for name, table in self._sink.tables() if table.location().startswith(f"{lake}/"))

    def keep(self, table: str, progress: Progress = UNSEEN) -> Done | None:
        """None if the table does not exist, or is empty."""
        before = self._sink.load(table)
        if before is None or before.current_snapshot() is None:
            return None
        self._adapt(before)
        progress.step(f"{table}: compacting files")
        left = self._compact(before)
        progress.step(f"{table}: putting manifests together")
        self._put_manifests_together(table)
        progress.step(f"{table}: expiring snapshots")
        expired = self._expire(table)
        progress.step(f"{table}: removing orphans")
        orphans = self._remove_orphans(before)
        after = self._sink.load(table) or before
        return Done(
            table,
            (_total(before, "total-data-files"), _total(after, "total-data-files")),
            (_total(before, "total-files-size"), _total(after, "total-files-size")),
            expired,
            orphans,
            left,
        )

    def _adapt(self, table: Table) -> None:
        """Gives tables of an older release the properties that new ones have.

        They forbid engines to try a commit again, which landing forbids to itself alone, and keep all metadata.
        """

        def adapt() -> None:
            found = self._sink.catalog.load_table(table.name())
            missing = {name: value for name, value in BOUNDED.items() if name not in found.properties}
            forbids = _STATE not in found.properties and TableProperties.COMMIT_NUM_RETRIES in found.properties
            if missing or forbids:
                with found.transaction() as change:
                    change.set_properties(missing)
                    if forbids:
                        change.remove_properties(TableProperties.COMMIT_NUM_RETRIES)

        _tried(adapt)

    def _compact(self, table: Table) -> int:
        options = {
            "target-file-size-bytes": self._rules.target,
            "min-input-files": self._rules.min_files,
            "partial-progress.enabled": "true",
            "remove-dangling-deletes": "true",
        }
        if _total(table, "total-data-files") < self._rules.min_files:
            return 0
        said = ", ".join(f"'{name}', '{value}'" for name, value in options.items())
        how = "binpack" if table.sort_order().is_unsorted else "sort"
        [done] = self._call("rewrite_data_files", table, f"strategy => '{how}', options => map({said})")
        return int(done["failed_data_files_count"])

    def _put_manifests_together(self, name: str) -> None:
        table = self._sink.load(name)
        now = table.current_snapshot() if table else None
        if table and now and len(now.manifests(table.io)) > 1:
            self._call("rewrite_manifests", table, "use_caching => false")

    def _expire(self, name: str) -> int:
        """How many: those that are old, but for the last one."""
        table, older = self._sink.load(name), self._now - self._rules.snapshots
        if table is None:
            return 0
        others = [each for each in table.snapshots() if each.snapshot_id != table.metadata.current_snapshot_id]
        if all(each.timestamp_ms >= older.timestamp() * 1000 for each in others):
            return 0
        said = f"older_than => {_moment(older)}, retain_last => 1, stream_results => true"
        self._call("expire_snapshots", table, said)
        there = {each.snapshot_id for each in (self._sink.load(name) or table).snapshots()}
        return sum(each.snapshot_id not in there for each in table.snapshots())

    def _remove_orphans(self, table: Table) -> int:
        files = list(self._files(table))
        if not files:
            return 0
        view = f"sigla_files_{id(files)}"
        # Arrow's rows go to Spark as they are; a list would begin workers.
        names, moments = (list(each) for each in zip(*files, strict=True))
        rows = pa.table({"file_path": names, "last_modified": pa.array(moments, pa.timestamp("us", tz="UTC"))})
        self._spark.createDataFrame(rows).createOrReplaceTempView(view)
        try:
            older = _moment(self._now - self._rules.orphans)
            return len(self._call("remove_orphan_files", table, f"file_list_view => '{view}', older_than => {older}"))
        finally:
            self._spark.catalog.dropTempView(view)

    def _files(self, table: Table) -> Iterator[tuple[str, datetime]]:
        """What may be an orphan: of the table's folder, old, and neither hidden nor staged by a task."""
        place = self._sink.lake.under(table.name()[-1])
        above = place.path("").rstrip("/")
        selected = fs.FileSelector(above, recursive=True, allow_not_found=True)
        for info in place.filesystem.get_file_info(selected):
            name = info.path.removeprefix(f"{above}/")
            ours = info.type is fs.FileType.File and not info.base_name.startswith((".", "_"))
            old = info.type is fs.FileType.File and info.mtime < self._now - self._rules.orphans
            if ours and old and not STAGED.fullmatch(name):
                yield metadata_address(place, name), info.mtime

    def _call(self, procedure: str, table: Table, more: str) -> Sequence[Any]:
        """The rows that Iceberg answers with."""
        catalog = quoted_name(self._sink.catalog.name)
        # With the catalog: a namespace may be called as it is.
        name = ".".join([catalog, *map(quoted_name, table.name())]).replace("'", "\\'")
        statement = f"CALL {catalog}.system.{procedure}(table => '{name}', {more})"
        return _tried(lambda: self._spark.sql(statement).collect())


def _tried(do: Callable[[], _Result]) -> _Result:
    """Again where others got in the way."""
    for last in LOST_RACE:
        try:
            return do()
        except (PySparkException, Py4JJavaError, CommitFailedException, CommitStateUnknownException) as failure:
            ours = isinstance(failure, (CommitFailedException, CommitStateUnknownException))
            if last or not (ours or any(each in str(failure) for each in _OVERTAKEN)):
                raise
    raise AssertionError


def _total(table: Table, name: str) -> int:
    """What the current snapshot says."""
    snapshot = table.current_snapshot()
    return int(snapshot.summary.additional_properties.get(name, 0)) if snapshot and snapshot.summary else 0


def _moment(at: datetime) -> str:
    return f"TIMESTAMP '{at:%Y-%m-%d %H:%M:%S.%f}'"
