"""A registry, a lake and raw records: what a task is tried with."""

import io
import json
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from sigla.decoding.decoder import Limits
from sigla.model import Draft, Subject
from sigla.registry import Registry
from sigla_pipelines.land.bindings import Binding, Checks
from sigla_pipelines.land.landed import QUARANTINE, Landed
from sigla_pipelines.land.outputs import Format, Outputs
from sigla_pipelines.land.partitions import Fields
from sigla_pipelines.land.plan import Plan, plan_batch
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.reader_schemas import Heads
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.schemas import Schemas
from sigla_pipelines.land.sinks.sink import folder_of
from sigla_pipelines.land.transform import STANDARD, SliceSize, land_share
from sigla_pipelines.places import open_place
from tests.build import FixedClock

SEEN = datetime(2026, 1, 2, tzinfo=UTC)
TS = datetime(2026, 1, 1, 12, tzinfo=UTC)
Header = tuple[str, bytes | None]


@dataclass(frozen=True)
class NewTables:
    """Tables that are not there yet, unless a test says what there is."""

    columns: Callable[[str], pa.Schema | None] = lambda _: None
    partition: Callable[[str], Fields | None] = lambda _: ()

    def fitted(self, reader: pa.StructType, present: pa.Schema | None) -> pa.StructType:
        del present
        return reader


@dataclass
class World:
    """registry: in memory. lake: a folder."""

    registry: Registry
    lake: Path
    query: str = "q"
    readers: Readers = field(init=False)

    def __post_init__(self) -> None:
        self.readers = Readers(Schemas(self.registry.bodies, "."), Limits())

    def register(self, subject: str, text: Any, type: str = "AVRO") -> int:
        """The id."""
        written = text if isinstance(text, str) else json.dumps(text)
        record = self.registry.register(Subject(".", subject), Draft(text=written, type=type))
        assert record.id
        return record.id

    def heads(self, *bindings: Binding) -> Heads:
        return Heads(self.registry.catalog, open_place(self.lake / "work"), FixedClock(), ".", bindings, 1000)

    def plan(self, *bindings: Binding, checks: Checks | None = None, **others: Any) -> Plan:
        """others: of `plan_batch`, and of its tables; no table is there yet."""
        tables = {name: others.pop(name) for name in ("columns", "partition") if name in others}
        return plan_batch(
            query=self.query,
            batch=7,
            context=".",
            bindings=bindings,
            answer=self.heads(*bindings).now(),
            checks=checks or Checks(),
            readers=self.readers,
            tables=NewTables(**tables),
            **others,
        )

    def land(
        self, plan: Plan, *batches: pa.RecordBatch, format: Format | None = None, size: SliceSize = STANDARD
    ) -> "Outcome":
        self.readers.schemas.forget_absent()
        outputs = Outputs(open_place(self.lake), plan.query, plan.batch, format, plan.layouts)
        return Outcome(land_share(batches, plan, self.readers, outputs, SEEN, size=size), self.lake)


@dataclass(frozen=True)
class Outcome:
    landed: Landed
    lake: Path

    def rows(self, table: str) -> list[dict[str, Any]]:
        """In the order of their offsets."""
        files = [self.lake / folder_of(table) / file.path for file in self.landed.files if file.table == table]
        found = [row for path in files for row in pq.read_table(path).to_pylist()]
        name = "offset" if table == QUARANTINE else "_sr_offset"
        return sorted(found, key=lambda row: row[name])

    def reasons(self) -> list[tuple[int, str, str]]:
        """Offset, part and reason of whatever is in the quarantine."""
        return [
            (row["offset"], each["part"], each["reason"]) for row in self.rows(QUARANTINE) for each in row["reasons"]
        ]


def raw(
    values: Sequence[bytes | None],
    topic: str = "orders",
    *,
    keys: Sequence[bytes | None] | None = None,
    headers: Sequence[Iterable[Header]] | None = None,
    start: int = 0,
) -> pa.RecordBatch:
    """Records of one partition, from an offset on."""
    count = len(values)
    said = [[{"key": name, "value": value} for name, value in each] for each in headers or [()] * count]
    columns = {
        "topic": [topic] * count,
        "partition": [0] * count,
        "offset": range(start, start + count),
        "timestamp": [TS] * count,
        "key": keys or [None] * count,
        "value": values,
        "headers": said,
    }
    return pa.RecordBatch.from_arrays([pa.array(columns[kind.name], kind.type) for kind in RAW], schema=RAW)


def framed(id: int, payload: bytes) -> bytes:
    return b"\0" + struct.pack(">I", id) + payload


def avro(schema: Any, value: Any) -> bytes:
    """A payload, without its frame."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()
