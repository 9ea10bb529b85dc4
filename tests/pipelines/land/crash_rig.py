"""A driver of batches over raw records in memory, that can be killed, or overtaken by another, at each of its steps.

All code is the product's, from the bytes of records to the files and the decision (an id that is known becomes a typed
row, another one goes to the quarantine); around it stands what Spark keeps: which batches are done.
"""

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, cast

import fastavro
import pyarrow as pa
from pyarrow.dataset import dataset
from pyarrow.fs import FileType

from sigla.decoding.decoder import Limits
from sigla.errors import BodyMissing
from sigla.model import Body, BodyKey, SchemaId
from sigla.ports.bodies import Bodies
from sigla_pipelines.land.batch import Attempt, Batch, StopIf, land_once
from sigla_pipelines.land.bindings import Binding, CatalogAnswer, Checks, Head, Layout
from sigla_pipelines.land.decoders.decoder import Native
from sigla_pipelines.land.decoders.extension import chosen_native
from sigla_pipelines.land.landed import QUARANTINE, DataFile, Landed
from sigla_pipelines.land.manifest import Manifest, Manifests, Range
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.partitions import DAILY
from sigla_pipelines.land.plan import plan_batch
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.schemas import Schemas
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.sinks.sink import STAGING, Sink, folder_of
from sigla_pipelines.land.targets import evolve
from sigla_pipelines.land.transform import land_share
from sigla_pipelines.places import Folder, Place
from tests.build import a_body
from tests.pipelines.land.world import NewTables

UUIDS = {"orders": "uuid-of-orders", "payments": "uuid-of-payments"}
EVENING = datetime(2026, 11, 21, 23, 59, 58, tzinfo=UTC)
"""The first records' time: the third is of the next day."""

NEW_ID = 9
"""The schema that is registered between two attempts. Until then it is an unknown one."""

Identity = tuple[str, int, int]


class Killed(BaseException):
    """As by a signal: no handler of exceptions sees it."""


class Lost(Exception):
    """The answer did not come; what was asked for was done."""


def raising(failure: BaseException) -> Callable[[], None]:
    """A stroke of fate."""

    def strike() -> None:
        raise failure

    return strike


@dataclass
class Fate:
    """What happens at one step of a driver. at: the number of the step, or the name of all that it strikes."""

    at: int | str | None = None
    strike: Callable[[], None] = lambda: None
    steps: list[str] = field(default_factory=list)

    def step(self, name: str) -> None:
        self.steps.append(name)
        if self.at in {len(self.steps) - 1, name}:
            self.strike()


@dataclass(frozen=True)
class Fated:
    """A folder, at whose puts and moves fate strikes."""

    inner: Folder
    fate: Fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def put_if_absent(self, name: str, content: bytes) -> bytes:
        self.fate.step("before put")
        stands = self.inner.put_if_absent(name, content)
        self.fate.step("after put")
        return stands

    def move(self, names: Mapping[str, str]) -> None:
        """File by file, in the order of a manifest."""
        for source, target in names.items():
            self.fate.step("before move")
            self.inner.move({source: target})
        self.fate.step("after moves")


@dataclass
class World:
    """What outlives a driver. done: Spark's log of batches. fates: of the drivers under way, the last one runs."""

    root: Path
    iceberg: bool = False
    known: set[int] = field(default_factory=lambda: {1, 2})
    done: set[int] = field(default_factory=set)
    fates: list[Fate] = field(default_factory=lambda: [Fate()])

    @property
    def lake(self) -> Folder:
        return Folder(str(self.root / "lake"))

    @property
    def staging(self) -> Folder:
        """Where tasks write."""
        return self.lake if self.iceberg else self.lake.under(STAGING)

    @property
    def work(self) -> Folder:
        return Folder(str(self.root / "work"))

    @property
    def layouts(self) -> dict[str, Layout]:
        """The layouts of typed tables, as landing makes them by itself."""
        return dict.fromkeys(("orders", "payments", "t"), Layout(DAILY)) if self.iceberg else {}

    def sink(self, manifests: Manifests) -> Sink:
        if not self.iceberg:
            # Fate is asked for at each move: a world that is only looked at has none.
            return Parquet(cast("Place", Fated(self.lake, self.fates[-1])), manifests)
        from sigla_pipelines.land.sinks.iceberg import Iceberg

        return Iceberg(self.catalog, "sigla", self.lake)

    @cached_property
    def catalog(self) -> Any:
        from sigla_pipelines.land.sinks.iceberg import catalog

        found = catalog({"type": "sql", "uri": f"sqlite:///{self.root / 'catalog.db'}"}, self.lake)
        commit = found.commit_table

        def commit_table(*what: Any) -> Any:
            self.fates[-1].step("before commit")
            answer = commit(*what)
            self.fates[-1].step("after commit")
            return answer

        found.commit_table = commit_table  # type: ignore[method-assign, assignment]  # fate's door
        return found

    def close(self) -> None:
        if "catalog" in self.__dict__:
            self.catalog.close()


BATCHES = (
    Batch("q", 0, (Range("orders", UUIDS["orders"], 0, 0, 6), Range("payments", UUIDS["payments"], 0, 100, 104))),
    Batch("q", 1, (Range("orders", UUIDS["orders"], 0, 6, 9), Range("payments", UUIDS["payments"], 0, 104, 104))),
)


def framed_id(id: int) -> bytes:
    """A record of a schema, which says its id."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(SCHEMA)), {"n": id})
    return b"\0" + id.to_bytes(4, "big") + out.getvalue()


def raw(topic: str, partition: int, start: int, end: int) -> pa.RecordBatch:
    """Every third record has an id that is not known yet, every fifth is a tombstone."""
    offsets = range(start, end)
    seconds = [EVENING.timestamp() + offset % 100 for offset in offsets]
    values = [None if n % 5 == 4 else framed_id(NEW_ID if n % 3 == 2 else 1) for n in offsets]
    columns = {
        "topic": [topic] * len(offsets),
        "partition": [partition] * len(offsets),
        "offset": list(offsets),
        "timestamp": [datetime.fromtimestamp(second, UTC) for second in seconds],
        "key": [b"%d" % offset for offset in offsets],
        "value": values,
        "headers": [[("h", b"1")]] * len(offsets),
    }
    arrays = [pa.array(columns[kind.name], kind.type) for kind in RAW if kind.name != "headers"]
    headers = pa.array([[{"key": "h", "value": b"1"}]] * len(offsets), RAW.field("headers").type)
    return pa.RecordBatch.from_arrays([*arrays, headers], schema=RAW)


def identities(batches: Any = BATCHES) -> set[Identity]:
    return {
        (each.topic, each.partition, offset)
        for batch in batches
        for each in batch.ranges
        for offset in range(each.start, each.end)
    }


READER = pa.struct([pa.field("n", pa.int32())])
SCHEMA = '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}'


@dataclass(frozen=True)
class _Bodies:
    """Those of the ids that are known, which all mean the same."""

    known: frozenset[int]

    def get(self, key: BodyKey) -> Body:
        if int(key.id) not in self.known:
            raise BodyMissing(key)
        return a_body(SCHEMA)


@cache
def _readers(known: frozenset[int], native: Native) -> Readers:
    return Readers(Schemas(cast("Bodies", _Bodies(known)), "."), Limits(), native=native)


def task(records: pa.RecordBatch, query: str, number: int, world: World, outputs: Outputs) -> Landed:
    """The product's, with the extension or without, as SIGLA_NATIVE says. Records are of one partition."""
    readers = _readers(frozenset(world.known), chosen_native(Native.AUTO, os.environ))
    bindings = tuple(Binding(topic, table=topic) for topic in UUIDS)
    ids = dict.fromkeys(world.known, 1)
    heads = {
        each: {each.subject(): Head(each.subject(), BodyKey(".", SchemaId(1)), version=1, ids=ids)} for each in bindings
    }
    plan = plan_batch(
        query=query,
        batch=number,
        context=".",
        bindings=bindings,
        answer=CatalogAnswer(heads),
        checks=Checks(),
        readers=readers,
        tables=NewTables(),
    )
    return land_share([records], plan, readers, outputs, EVENING)


def attempt(batch: Batch, world: World, fate: Fate) -> Attempt:
    """Each partition is read by two tasks."""
    landed, topics = [], set()
    for each in batch.ranges:
        middle = (each.start + each.end) // 2
        for start, end in ((each.start, middle), (middle, each.end)):
            if start < end:
                records = raw(each.topic, each.partition, start, end)
                outputs = Outputs(world.staging, batch.query, batch.number, layouts=world.layouts)
                fate.step("before files")
                landed.append(task(records, batch.query, batch.number, world, outputs))
                fate.step("after files")
                topics.add(each.topic)
    return Attempt(landed, {topic: evolve(None, READER, version=1) for topic in topics})


def drive(world: World, fate: Fate | None = None) -> None:
    """A driver from its start to the end of all batches."""
    fate = fate or Fate()
    world.fates.append(fate)
    try:
        manifests = Manifests(Fated(world.work, fate))
        sink = world.sink(manifests)
        for batch in BATCHES:
            if batch.number not in world.done:
                land_once(batch, partial(attempt, batch, world, fate), manifests, sink, stop_if=StopIf(1.0))
                fate.step("before done")
                world.done.add(batch.number)
                fate.step("after done")
    finally:
        world.fates.pop()


def tables(world: World) -> dict[str, list[dict[str, Any]]]:
    """All that a reader can see."""
    sink = world.sink(Manifests(world.work))
    return {
        table: [row for batch in sink.rows(table) for row in batch.to_pylist()]
        for table in ("orders", "payments", QUARANTINE)
    }


def identity(row: dict[str, Any]) -> Identity:
    names = ("_sr_topic", "_sr_partition", "_sr_offset") if "_sr_topic" in row else ("topic", "partition", "offset")
    topic, partition, offset = (row[name] for name in names)
    return topic, partition, offset


def in_folders(world: World) -> Counter[Identity]:
    """What a plain read of the tables' folders finds, by a reader that knows of no manifest."""
    found: Counter[Identity] = Counter()
    for table in ("orders", "payments", QUARANTINE):
        data = world.lake.path(f"{folder_of(table)}/data")
        if world.lake.filesystem.get_file_info(data).type is FileType.Directory:
            rows = dataset(data, filesystem=world.lake.filesystem).to_table().to_pylist()
            found.update(identity(row) for row in rows)
    return found


def is_never_twice(world: World) -> None:
    """Asserts of any moment between two steps: what is decided can be read, and a folder has no record twice."""
    read = Counter(identity(row) for rows in tables(world).values() for row in rows)
    assert read.total() == sum(file.rows for file in files_of(world))
    assert set(read.values()) <= {1}
    assert in_folders(world) <= read


def is_landed_once(world: World) -> None:
    """Asserts that every record is in one row of one table, and that the manifests say so."""
    found = Counter(identity(row) for rows in tables(world).values() for row in rows)
    assert set(found) == identities()
    assert set(found.values()) == {1}
    assert world.iceberg or in_folders(world) == found
    counts = [manifest.counts for manifest in Manifests(world.work).all()]
    assert [each.read for each in counts] == [10, 3]
    assert all(each.read == each.landed + each.quarantined for each in counts)


def manifests_of(world: World) -> Iterator[Manifest]:
    return Manifests(world.work).all()


def files_of(world: World) -> set[DataFile]:
    return {file for manifest in manifests_of(world) for file in manifest.files}
