"""States follow their tables: what was appended since is merged, by Spark, into what is current.

    history ──(snapshots since the one that is noted)──> changes ──> newest of each key ─┬─> deletions, remembered
                                                                                         └─> the state
    and then the state's table notes which snapshot of the history it has: `sigla.followed`

A batch is landed first, exactly once, as everywhere. What comes here may be repeated: a merge that was made already
changes nothing (`upsert_sql.newer`). So the note may be late, a killed job follows again, and two drivers do no harm.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import orjson
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, ancestors_of
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from sigla.errors import StoreError
from sigla_pipelines.land import upsert, upsert_sql
from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.land.sinks import iceberg
from sigla_pipelines.land.sinks.iceberg import Iceberg, arrow_schema
from sigla_pipelines.land.sinks.sink import Sink
from sigla_pipelines.land.spark_catalog import with_catalog
from sigla_pipelines.land.upsert import Followed, Layout, StateMismatch, StateTable
from sigla_pipelines.retries import LOST_RACE

FOLLOWED: Final = "sigla.followed"
"""The property of a state that says which snapshot of its history it has."""
MADE: Final = "sigla.state"
"""The property that says by which settings it was made."""
PROPERTIES: Final = {
    **iceberg.PROPERTIES,
    # Tried again by the library, a commit whose answer was lost would be made twice.
    "commit.retry.num-retries": "0",
    "write.merge.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
}
_GROWS: Final = (Operation.APPEND, Operation.REPLACE)
"""What happens to a history without a row going from it. Compaction replaces files, and no rows."""


def follow_states(
    spark: SparkSession, sink: Sink, manifests: Manifests, states: Sequence[StateTable]
) -> Callable[[], tuple[Followed, ...]]:
    """Brings states up to their histories. Raises InvalidLanding where the sink cannot have any."""
    if not isinstance(sink, Iceberg):
        raise InvalidLanding("`mode: upsert` needs Iceberg tables: write `kind: iceberg`.")
    return States(spark, sink, manifests, states).follow


class States:
    """All states of a job. Raises StateMismatch, InvalidLanding, StoreError, and what Spark does."""

    def __init__(self, spark: SparkSession, sink: Iceberg, manifests: Manifests, states: Sequence[StateTable]) -> None:
        self._spark = with_catalog(spark, sink.catalog, sink.lake)
        self._sink = sink
        self._states = states
        self._recreated = _recreated(manifests)

    def follow(self) -> tuple[Followed, ...]:
        """What their histories have more since the last time; those that had nothing new are not there."""
        return tuple(done for state in self._states if (done := self._follow(state)))

    def _follow(self, state: StateTable) -> Followed | None:
        for last in LOST_RACE:
            try:
                return self._attempt(state)
            except (PySparkException, Py4JJavaError, StoreError) as failure:
                if last or not _overtaken(failure):
                    raise
        raise AssertionError

    def _attempt(self, state: StateTable) -> Followed | None:
        history = self._sink.load(state.history)
        now = history.current_snapshot() if history else None
        if history is None or now is None:
            return None
        made = upsert.state_layout(state, arrow_schema(history))
        if made is None:
            return None
        settings = _encoded_settings(state, made)
        self._check(state, settings)
        current = self._table(state.table, made.state, {MADE: settings})
        since = current.properties.get(FOLLOWED)
        if since == str(now.snapshot_id):
            return None
        done = self._merge(state, made, self._rows(history, since))
        self._sink.note(current, {FOLLOWED: str(now.snapshot_id)})
        return done

    def _check(self, state: StateTable, settings: str) -> None:
        """Raises StateMismatch where the table is another state, or none."""
        present = self._sink.load(state.table)
        made = present.properties.get(MADE, "another program's") if present else settings
        if made != settings:
            raise StateMismatch(
                f"The table {state.table} was made with other settings ({made}): restore them. Or drop {state.table} "
                f"and {state.deleted}: the next run makes them again from {state.history}."
            )

    def _merge(self, state: StateTable, made: Layout, rows: DataFrame) -> Followed:
        counted = Observation()
        with (
            self._view(rows) as history,
            self._view(self._observed(upsert_sql.changes(made, history), made, counted)) as all_,
        ):
            last = self._spark.sql(upsert_sql.last_changes(made, all_, self._recreated)).persist()
            try:
                ops = {row[upsert.OP]: row["count"] for row in last.groupBy(upsert.OP).count().collect()}
                with self._view(last) as newest:
                    self._merge_newest(state, made, newest, ops)
                # Where no change is left to merge, Spark leaves out what would observe them, and has nothing to tell.
                found = counted.get if ops else self._counted(all_, made)
            finally:
                last.unpersist()
        merged, deleted = ops.get(upsert.UPSERT, 0), ops.get(upsert.DELETE, 0)
        return Followed(state.table, found["changes"], merged, deleted, found["left_out"])

    def _counted(self, changes: str, made: Layout) -> dict[str, int]:
        """changes: a view."""
        [row] = self._spark.table(changes).agg(*_figures(made)).collect()
        return dict(row.asDict())

    def _merge_newest(self, state: StateTable, made: Layout, newest: str, ops: dict[str, int]) -> None:
        table, deleted = self._name(state.table), self._name(state.deleted)
        if set(ops) - {upsert.UPSERT}:
            self._table(state.deleted, made.deleted, {})
            self._spark.sql(upsert_sql.remember_deletes(made, deleted, newest, self._recreated))
        if upsert.TRUNCATE in ops:
            self._spark.sql(upsert_sql.truncate(table, deleted, self._recreated))
        if set(ops) - {upsert.TRUNCATE}:
            remembered = deleted if self._sink.load(state.deleted) else None
            self._spark.sql(upsert_sql.merge(made, table, newest, remembered, self._recreated))

    def _observed(self, changes: str, made: Layout, counted: Observation) -> DataFrame:
        return self._spark.sql(changes).observe(counted, *_figures(made))

    def _rows(self, history: Table, since: str | None) -> DataFrame:
        """What it has more than in a snapshot; all of it where that cannot be told."""
        reader = self._spark.read.format("iceberg")
        now = history.current_snapshot()
        if since is not None and now is not None and _has_grown(history, int(since)):
            reader = reader.option("start-snapshot-id", since).option("end-snapshot-id", str(now.snapshot_id))
        return reader.load(self._quoted(history.name()))

    def _table(self, table: str, columns: pa.Schema, properties: dict[str, str]) -> Table:
        return self._sink.arrange(table, columns, PROPERTIES | properties)

    def _name(self, table: str) -> str:
        return self._quoted(self._sink.name(table))

    def _quoted(self, name: Sequence[str]) -> str:
        return ".".join(map(upsert.quoted_name, (self._sink.catalog.name, *name)))

    @contextmanager
    def _view(self, frame: DataFrame) -> Iterator[str]:
        """The name under which SQL finds it."""
        name = f"sigla_{id(frame)}"
        frame.createOrReplaceTempView(name)
        try:
            yield name
        finally:
            self._spark.catalog.dropTempView(name)


def _figures(made: Layout) -> tuple[Column, Column]:
    """Figures of changes: how many there are, and how many lack a key, or leave nothing to do."""
    left_out = F.coalesce(F.sum(F.expr(f"IF({made.left_out}, 1, 0)")), F.lit(0))
    return F.count(F.lit(1)).alias("changes"), left_out.alias("left_out")


def _recreated(manifests: Manifests) -> frozenset[str]:
    """Topics that were deleted and made anew: of each query the last manifest names its topics' UUIDs."""
    uuids: dict[str, set[str]] = {}
    for query in manifests.queries():
        last = manifests.last(query)
        for each in last.ranges if last else ():
            uuids.setdefault(each.topic, set()).add(each.uuid)
    return frozenset(topic for topic, several in uuids.items() if len(several) > 1)


def _has_grown(history: Table, since: int) -> bool:
    """Whether rows were only added after a snapshot: it has not expired, and no commit has changed or deleted any."""
    for snapshot in ancestors_of(history.current_snapshot(), history.metadata):
        if snapshot.snapshot_id == since:
            return True
        if snapshot.summary is None or snapshot.summary.operation not in _GROWS:
            return False
    return False


def _encoded_settings(state: StateTable, made: Layout) -> str:
    said: dict[str, Any] = {"keys": state.keys or made.key[:1], "unwrap": state.unwrap.value}
    return orjson.dumps(said).decode()


def _overtaken(failure: Exception) -> bool:
    """Another driver has committed in between, or the outcome of a commit is unknown."""
    return isinstance(failure, StoreError) or "org.apache.iceberg.exceptions." in str(failure)
