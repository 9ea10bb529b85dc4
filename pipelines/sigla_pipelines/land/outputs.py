"""The files that a task writes: one for each partition of each table, or several where it has many rows."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sigla_pipelines.land import partitions
from sigla_pipelines.land.bindings import Layout
from sigla_pipelines.land.landed import DataFile
from sigla_pipelines.land.sinks.sink import folder_of, staged_name
from sigla_pipelines.places import Place

ROW_GROUP: Final = 250_000


@dataclass(frozen=True, slots=True)
class Format:
    """How files are written, of whatever table."""

    zstd: int = 3
    row_group: int = ROW_GROUP


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """What a task may have open. files: at once; half of what Linux lets a process have open.

    waiting: bytes in memory that a file may wait with for a full row group. waiting_in_all: those of all files.
    """

    files: int = 512
    waiting: int = 64 * 2**20
    waiting_in_all: int = 512 * 2**20


_PLAIN: Final = Layout()


@dataclass(slots=True)
class _Open:
    """A file on its way. values: of its partition. waits: bytes that are not written yet."""

    table: str
    name: str
    layout: Layout
    values: str
    stream: Any
    writer: pq.ParquetWriter
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    waits: int = 0
    rows: int = 0

    def add(self, rows: pa.RecordBatch) -> None:
        self.waiting.append(rows)
        self.waits += rows.nbytes
        self.rows += len(rows)

    def flush(self) -> None:
        if self.waiting:
            self.writer.write_table(_sorted(pa.Table.from_batches(self.waiting), self.layout.sort))
            self.waiting, self.waits = [], 0

    def close(self) -> DataFile:
        self.flush()
        self.writer.close()
        size = self.stream.tell()
        self.stream.close()
        sort = self.layout.sort
        return DataFile(
            self.table,
            self.name,
            self.rows,
            size,
            partitions.text_of_fields(self.layout.partition),
            self.values,
            None if sort is None else partitions.text_of_columns(sort),
        )


class Outputs:
    """Files become part of a table when a manifest names them; files of a failed attempt stay outside every table.

    lake: where tables lie. query, batch: whose files they are. layouts: of tables of which something is said.
    """

    def __init__(
        self,
        lake: Place,
        query: str,
        batch: int,
        format: Format | None = None,
        layouts: Mapping[str, Layout] | None = None,
        *,
        limits: OutputLimits | None = None,
    ) -> None:
        self._lake = lake
        self._query = query
        self._batch = batch
        self._format = format or Format()
        self._layouts = layouts or {}
        self._limits = limits or OutputLimits()
        self._open: dict[tuple[str, str], _Open] = {}  # in the order in which they were written to
        self._waits = 0
        self._closed: list[DataFile] = []

    def write(self, table: str, rows: pa.RecordBatch) -> None:
        """All batches of a table have one schema."""
        layout = self._layouts.get(table, _PLAIN)
        for values, part in partitions.split(rows, layout.partition):
            file = self._file(table, layout, values, part.schema)
            before = file.waits
            file.add(part)
            self._waits += file.waits - before
            if sum(map(len, file.waiting)) >= self._format.row_group or file.waits >= self._limits.waiting:
                self._flush(table, values)
            while self._waits > self._limits.waiting_in_all:
                self._flush(*max(self._open, key=lambda each: self._open[each].waits))

    def close(self) -> tuple[DataFile, ...]:
        """All files, whole and durable."""
        while self._open:
            self._finish(next(iter(self._open)))
        return tuple(sorted(self._closed, key=lambda file: (file.table, file.path)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._open:  # after a failure: closed without a footer, so that no reader takes them for whole
            self._open.popitem()[1].stream.close()

    def _file(self, table: str, layout: Layout, values: str, schema: pa.Schema) -> _Open:
        """Where rows go now. A table's partition has several files if too many others came between."""
        file = self._open.pop((table, values), None)
        if file is None:
            if len(self._open) >= self._limits.files:
                self._finish(next(iter(self._open)))
            file = self._create(table, layout, values, schema)
        self._open[table, values] = file
        return file

    def _flush(self, table: str, values: str) -> None:
        """What waits is written. A sorted file ends there: the sort takes place in memory, of the rows that wait."""
        file = self._open[table, values]
        if file.layout.sort:
            self._finish((table, values))
        else:
            self._waits -= file.waits
            file.flush()

    def _finish(self, which: tuple[str, str]) -> None:
        file = self._open.pop(which)
        self._waits -= file.waits
        self._closed.append(file.close())
        # What a manifest names must survive whatever the manifest survives.
        self._lake.under(folder_of(file.table)).sync(file.name)

    def _create(self, table: str, layout: Layout, values: str, schema: pa.Schema) -> _Open:
        name = staged_name(self._query, self._batch, uuid.uuid4().hex)
        place = self._lake.under(folder_of(table))
        stream = place.filesystem.open_output_stream(place.folder_for(name))
        writer = pq.ParquetWriter(stream, schema, compression="zstd", compression_level=self._format.zstd)
        return _Open(table, name, layout, values, stream, writer)


def _sorted(rows: pa.Table, columns: tuple[str, ...] | None) -> pa.Table:
    """In the order of these columns; where they are equal, as they came. Nulls are last."""
    if not columns:
        return rows
    keys = {f"{at}": partitions.column_of(rows, name) for at, name in enumerate(columns)}
    order = pc.sort_indices(pa.table(keys), [(key, "ascending") for key in keys])
    return rows.take(order)
