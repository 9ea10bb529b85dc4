"""A table with history that is appended to directly, and its state that follows: what merges are tried with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.sinks.iceberg import PROPERTIES, Iceberg, catalog
from sigla_pipelines.land.sinks.sink import table_schema
from sigla_pipelines.land.states import States
from sigla_pipelines.land.upsert import Followed, StateTable
from sigla_pipelines.places import open_place
from tests.pipelines.land.changes import Change

COLUMNS = table_schema(pa.schema([("id", pa.string()), ("note", pa.string())]))


class Histories:
    """root: a folder for the lake, its catalog and what the job remembers. landed: rounds, as a test counts them."""

    def __init__(self, root: Path, spark: SparkSession, state: StateTable) -> None:
        self.state = state
        self.spark = spark
        self.landed = 0
        lake = open_place(root / "lake")
        self.catalog = catalog({"type": "sql", "uri": f"sqlite:///{root}/catalog.db"}, lake)
        self.sink = Iceberg(self.catalog, "sigla", lake)
        self.manifests = Manifests(open_place(root / "work"))

    def close(self) -> None:
        self.catalog.close()

    def append(self, changes: Sequence[tuple[str, Change]]) -> None:
        """Changes, each with what its key begins with."""
        columns: dict[str, list[Any]] = {
            "id": [None if change.value is None else before + change.key for before, change in changes],
            "note": [change.value for _, change in changes],
            "_sr_topic": ["t"] * len(changes),
            "_sr_partition": [change.partition for _, change in changes],
            "_sr_offset": [change.offset for _, change in changes],
            "_sr_ts": [change.ts for _, change in changes],
            "_sr_key": [(before + change.key).encode() for before, change in changes],
            "_sr_op": ["D" if change.value is None else "U" for _, change in changes],
        }
        arrays = [pa.array(columns.get(field.name, [None] * len(changes)), field.type) for field in COLUMNS]
        table = self.sink.arrange(self.state.history, COLUMNS, PROPERTIES)
        table.append(pa.Table.from_arrays(arrays, schema=COLUMNS))

    def follow(self) -> tuple[Followed, ...]:
        return States(self.spark, self.sink, self.manifests, [self.state]).follow()

    def rows(self) -> dict[str, tuple[str, int, int]]:
        """What the state says of each key: its value, and by which record."""
        found = [row for batch in self.sink.rows(self.state.table) for row in batch.to_pylist()]
        rows = {row["id"]: (row["note"], row["_sr_partition"], row["_sr_offset"]) for row in found}
        assert len(rows) == len(found), "a key has one row"
        return rows
