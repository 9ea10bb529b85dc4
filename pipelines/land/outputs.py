"""The files that a task writes: one for each table and, where a sink wants it, each day."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.land.landed import DataFile
from pipelines.land.sinks.sink import DAY, days, folder, staged
from pipelines.places import Place

ROW_GROUP: Final = 250_000
BUFFERED: Final = 64 * 2**20
"""Bytes in memory that a table may wait with for a full row group."""
FILES: Final = 512
"""That a task writes to at once: half of what Linux lets a process have open."""


@dataclass(frozen=True, slots=True)
class Format:
    """How files are written. by_day: none has rows of two days, as `days` tells them by `_sr_ts`."""

    zstd: int = 3
    row_group: int = ROW_GROUP
    by_day: bool = False


@dataclass(slots=True)
class _Open:
    """A file on its way."""

    table: str
    name: str
    stream: Any
    writer: pq.ParquetWriter
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    rows: int = 0

    def flush(self) -> None:
        if self.waiting:
            self.writer.write_table(pa.Table.from_batches(self.waiting))
            self.waiting = []

    def close(self) -> DataFile:
        self.flush()
        self.writer.close()
        size = self.stream.tell()
        self.stream.close()
        return DataFile(self.table, self.name, self.rows, size)


class Outputs:
    """Files become part of a table when a manifest names them; of an attempt that failed they are nobody's.

    lake: where tables lie. query, batch: whose files they are.
    """

    def __init__(self, lake: Place, query: str, batch: int, format: Format | None = None) -> None:
        self._lake = lake
        self._query = query
        self._batch = batch
        self._format = format or Format()
        self._open: dict[tuple[str, int | None], _Open] = {}  # in the order in which they were written to
        self._closed: list[DataFile] = []

    def write(self, table: str, rows: pa.RecordBatch) -> None:
        """All batches of a table have one schema."""
        for day, part in self._by_day(rows):
            file = self._file(table, day, part.schema)
            file.waiting.append(part)
            file.rows += len(part)
            many = sum(map(len, file.waiting)) >= self._format.row_group
            if many or sum(each.nbytes for each in file.waiting) >= BUFFERED:
                file.flush()

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
        while self._open:  # after a failure: closed without a footer, so that nobody takes them for whole
            self._open.popitem()[1].stream.close()

    def _file(self, table: str, day: int | None, schema: pa.Schema) -> _Open:
        """Where rows go now. Of a table's day there are several where too many others came between."""
        file = self._open.pop((table, day), None)
        if file is None:
            if len(self._open) >= FILES:
                self._finish(next(iter(self._open)))
            file = self._create(table, schema)
        self._open[table, day] = file
        return file

    def _finish(self, which: tuple[str, int | None]) -> None:
        file = self._open.pop(which)
        self._closed.append(file.close())
        # What a manifest names must survive whatever the manifest survives.
        self._lake.under(folder(file.table)).sync(file.name)

    def _create(self, table: str, schema: pa.Schema) -> _Open:
        name = staged(self._query, self._batch, uuid.uuid4().hex)
        place = self._lake.under(folder(table))
        stream = place.filesystem.open_output_stream(place.folder_for(name))
        writer = pq.ParquetWriter(stream, schema, compression="zstd", compression_level=self._format.zstd)
        return _Open(table, name, stream, writer)

    def _by_day(self, rows: pa.RecordBatch) -> Iterator[tuple[int | None, pa.RecordBatch]]:
        if not self._format.by_day or DAY not in rows.schema.names:
            yield None, rows
            return
        each = days(rows.column(DAY).cast(pa.int64()).to_numpy())
        distinct = np.unique(each).tolist()
        for day in distinct:
            yield day, rows if len(distinct) == 1 else rows.filter(pa.array(each == day))
