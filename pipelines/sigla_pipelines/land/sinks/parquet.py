"""Tables of plain Parquet files: a table is what the manifests say it is, and a folder for whoever does not read them.

All tables of a batch come to be in the same instant, with its manifest. Tasks write below `{lake}/_sigla-staging/`, and
a commit moves the files of a manifest to `{lake}/{table}/data/`: so a folder has no file that is in no manifest, and
lacks those of a batch until it is committed. Old files are never written again, and need not be: each column has the
widest of its types from the first file on.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
from pyarrow.fs import FileType

from sigla_pipelines.land.landed import DataFile
from sigla_pipelines.land.manifest import Manifest, Manifests
from sigla_pipelines.land.partitions import Fields
from sigla_pipelines.land.sinks.sink import OURS, STAGING, in_staging, in_table, table_schema
from sigla_pipelines.land.targets import TargetTable, evolve, project
from sigla_pipelines.land.widest_types import widest
from sigla_pipelines.places import Place


class Parquet:
    """A `Sink`. lake: where tables lie. One driver writes to a table at a time, beside its replay."""

    limits: ClassVar = (
        "Plain Parquet: files from before a column was added lack it, so read by name (docs/tables.md); and while a "
        "batch is committed, a reader of the folder sees a part of it. Iceberg tables (`kind: iceberg`) have neither "
        "limit."
    )

    def __init__(self, lake: Place, manifests: Manifests) -> None:
        self._lake = lake
        self._manifests = manifests
        self._moved: dict[str, int] = {}

    @property
    def staging(self) -> Place:
        return self._lake.under(STAGING)

    def columns(self, table: str) -> pa.Schema | None:
        known = None
        for query in self._manifests.queries():
            last = self._manifests.last(query)
            if last is not None and table in last.columns:
                # If two queries write to one table, each may have widened it.
                known = evolve(known, pa.struct(last.columns[table]), version=0)
        return known

    def fitted(self, reader: pa.StructType, present: pa.Schema | None) -> pa.StructType:
        # A table from before has narrow columns, and keeps them for as long as no reader widens them.
        columns = pa.struct(present or [])
        return widest(reader) if widest(columns) == columns else reader

    def partition(self, table: str) -> Fields | None:  # noqa: ARG002 - of any table
        """By nothing: a table is what the manifests list."""
        return ()

    def check(self, table: str, columns: pa.Schema) -> None:
        """Any that Arrow has."""

    def commit(self, manifest: Manifest) -> None:
        if self._moved.get(manifest.query, -1) < manifest.number:
            self._lake.move({in_staging(file): in_table(file) for file in manifest.files})
            self._moved[manifest.query] = manifest.number

    def close(self) -> None:
        """It has nothing open."""

    def files(self, table: str) -> tuple[str, ...]:
        """What manifests name, as paths of the lake's file system."""
        return tuple(self.paths({table}))

    def paths(self, tables: Collection[str]) -> Iterator[str]:
        for manifest in self._manifests.all():
            yield from self._paths(manifest, [file for file in manifest.files if file.table in tables])

    def _paths(self, manifest: Manifest, files: Sequence[DataFile]) -> list[str]:
        """Where files of a manifest are now. They are in their tables if a later one stands: it was put after that."""
        placed = [self._lake.path(in_table(file)) for file in files]
        last = self._manifests.last(manifest.query)
        if not files or (last is not None and manifest.number < last.number):
            return placed
        waiting = [self._lake.path(in_staging(file)) for file in files]
        infos = self._lake.filesystem.get_file_info(waiting)
        return [
            there if info.type is FileType.File else path
            for path, there, info in zip(placed, waiting, infos, strict=True)
        ]

    def schema(self, table: str) -> pa.Schema:
        """All columns. Raises KeyError if the table does not exist."""
        if table in OURS:
            return OURS[table]
        columns = self.columns(table)
        if columns is None:
            raise KeyError(table)
        return table_schema(columns)

    def dataset(self, table: str) -> pyarrow.dataset.Dataset:
        """The table for any engine that reads Arrow's; the columns are those of the newest reader. Raises KeyError."""
        return pyarrow.dataset.dataset(
            list(self.files(table)), schema=self.schema(table), format="parquet", filesystem=self._lake.filesystem
        )

    def rows(self, table: str) -> Iterator[pa.RecordBatch]:
        files = self.files(table)
        if not files:
            return
        target = TargetTable(self.schema(table))
        for path in files:
            with self._lake.filesystem.open_input_file(path) as opened, pq.ParquetFile(opened) as file:
                for batch in file.iter_batches():
                    columns = project(batch.to_struct_array(), target)
                    yield pa.RecordBatch.from_arrays(columns, schema=target.schema)
