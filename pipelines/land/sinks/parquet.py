"""Tables of plain Parquet files: a table is what the manifests say it is.

So all tables of a batch come to be in the same instant, with its manifest, and there is nothing to commit. Files lie in
`{lake}/{table}/data/`; whoever reads the folder itself sees what failed attempts left there, too.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from pipelines.land.manifest import Manifest, Manifests
from pipelines.land.sinks.sink import OURS, folder, schema
from pipelines.land.targets import Target, evolve, project
from pipelines.places import Place


class Parquet:
    """A `Sink`. lake: where tables lie. One driver writes to a table at a time, beside its replay."""

    def __init__(self, lake: Place, manifests: Manifests) -> None:
        self._lake = lake
        self._manifests = manifests

    def columns(self, table: str) -> pa.Schema | None:
        known = None
        for query in self._manifests.queries():
            last = self._manifests.last(query)
            if last is not None and table in last.columns:
                # Of two queries that write to one table each may have widened it.
                known = evolve(known, pa.struct(last.columns[table]), version=0)
        return known

    def check(self, table: str, columns: pa.Schema) -> None:
        """Any that Arrow has."""

    def commit(self, manifest: Manifest) -> None:
        """The manifest stands: it is done."""

    def close(self) -> None:
        """It has nothing open."""

    def files(self, table: str) -> tuple[str, ...]:
        """What is committed, as paths of the lake's file system."""
        place = self._lake.under(folder(table))
        return tuple(
            place.path(file.path)
            for manifest in self._manifests.all()
            for file in manifest.files
            if file.table == table
        )

    def schema(self, table: str) -> pa.Schema:
        """All columns. Raises KeyError if there is no such table."""
        if table in OURS:
            return OURS[table]
        columns = self.columns(table)
        if columns is None:
            raise KeyError(table)
        return schema(columns)

    def dataset(self, table: str) -> pyarrow.dataset.Dataset:
        """The table for any engine that reads Arrow's; the columns are those of the newest reader. Raises KeyError."""
        return pyarrow.dataset.dataset(
            list(self.files(table)), schema=self.schema(table), format="parquet", filesystem=self._lake.filesystem
        )

    def rows(self, table: str) -> Iterator[pa.RecordBatch]:
        files = self.files(table)
        if not files:
            return
        target = Target(self.schema(table))
        for path in files:
            with self._lake.filesystem.open_input_file(path) as opened, pq.ParquetFile(opened) as file:
                for batch in file.iter_batches():
                    columns = project(batch.to_struct_array(), target)
                    yield pa.RecordBatch.from_arrays(columns, schema=target.schema)
