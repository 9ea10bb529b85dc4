"""Raw records → typed Parquet, zstd: `land` beside what people do without it, in CPU of all processes for each record.

    python -m benchmarks.land [--quick] [--json]

Two threads, one Spark, all in turns: in each round each lands the same two million records, with seven writers' schemas
mixed in every batch; what a run takes beside its records, to start and to commit, is measured by one of a few.
Records without headers, as most are. Where a broker is installed, they come from Kafka, too: a landing of ours, and
Spark's own source, whose batches are counted and forgotten. What the broker does is not counted.
from_avro knows one writer's schema, so a query has one for each id, and their union. The UDF is
the fastest form in which fastavro can stand in one: on Arrow's batches, with parsed schemas kept.
"""

import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial, reduce
from io import BytesIO
from pathlib import Path
from typing import Final

import fastavro
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks import orders
from benchmarks.harness import Goal, Line, Lines, NotHere, best_of, main
from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.connectors.installation import kafka_jars
from sigla_pipelines.connectors.maven import Unavailable, java
from sigla_pipelines.land import kafka, settings
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.decoders.extension import installed
from sigla_pipelines.land.driver import Driver, driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.manifest import Entry
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sources import Stopping, land_frame, without_nulls
from sigla_pipelines.land.task import Task
from sigla_pipelines.spark import session
from tests.pipelines import broker
from tests.pipelines.broker import Broker

RECORDS: Final = 2_000_000
FEW: Final = 16_000
ROUNDS: Final = 2
BEGUN: Final = "begun"
"""A topic of so few records that a run of it is its start and its commit."""
MANY: Final = "many"
"""A topic with a thousand ids for each version."""
WRITERS: Final = ("seven", "one", MANY, orders.PROTOBUF, orders.JSON, BEGUN)
COPIES: Final = 1_000
AT_LEAST: Final = 8
"""Records of BEGUN: one for each file."""
META: Final = ("partition", "offset")
COLUMNS: Final = (
    pa.field("order_id", pa.string()),
    pa.field("customer_id", pa.int64()),
    pa.field("status", pa.string()),
    pa.field("created_at", pa.timestamp("us", tz="UTC")),
    pa.field("amount", pa.float64()),
    pa.field("currency", pa.string()),
    pa.field("quantity", pa.int64()),
    pa.field("paid", pa.bool_()),
    pa.field(
        "address",
        pa.struct(
            {
                "street": pa.string(),
                "city": pa.string(),
                "zip": pa.string(),
                "geo": pa.struct({"lat": pa.float64(), "lon": pa.float64()}),
            }
        ),
    ),
    pa.field("items", pa.list_(pa.struct({"sku": pa.string(), "qty": pa.int32(), "price": pa.float64()}))),
    pa.field("note", pa.string()),
    pa.field("attributes", pa.map_(pa.string(), pa.string())),
)
DDL: Final = """partition int, offset bigint, schema_id int, order_id string, customer_id bigint, status string,
    created_at timestamp, amount double, currency string, quantity bigint, paid boolean,
    address struct<street: string, city: string, zip: string, geo: struct<lat: double, lon: double>>,
    items array<struct<sku: string, qty: int, price: double>>, note string, attributes map<string, string>"""
"""The same, as Spark says it."""


@dataclass(frozen=True, slots=True)
class Estate:
    """root: with a registry, and raw records of the topics `seven` and `one`, written with so many schemas."""

    spark: SparkSession
    root: Path
    records: int
    ids: dict[str, list[int]]
    brokers: str = ""

    def measured(self, land: Callable[[], int], *, of: int | None = None) -> Callable[[], float]:
        """A work: CPU seconds for each record of all. of: how many are landed, where that is not all of them."""

        def work() -> float:
            shutil.rmtree(self.root / "out", ignore_errors=True)
            before = cpu()
            landed = land()
            spent = cpu() - before
            if landed != (of or self.records):
                raise AssertionError(f"{landed} of {of or self.records} records were landed")
            return spent / self.records

        return work

    def ours(self, topic: str) -> int:
        """The job as it is: tasks read their files themselves."""
        total = Sum()
        run(self.spark, self._driver(topic), total, Stopping())
        return total.landed

    def ours_in_python(self, topic: str) -> int:
        """The same job without the extension."""
        total = Sum()
        run(self.spark, self._driver(topic, native="off"), total, Stopping())
        return total.landed

    def ours_through_spark(self, topic: str) -> int:
        """As of Kafka: Spark reads the records and hands them over."""

        def tasks(task: Task) -> list[Landed]:
            return land_frame(self._raw(topic).select(*RAW.names), task)

        opened = self._driver(topic)
        files = (self.root / topic).glob("*.parquet")
        entries = tuple(_entry(path) for path in sorted(files))
        return opened.land(Batch("through-spark", 0, entries=entries), tasks).counts.landed

    def of_kafka(self, topic: str) -> int:
        """The job as it is, of a broker: all that is there, in one batch."""
        total = Sum()
        source = {"kind": "kafka", "brokers": self.brokers}
        run(self.spark, self._driver(topic, source), total, Stopping())
        return total.landed

    def kafka_alone(self, topic: str) -> int:
        """Spark's source, with the columns that we ask of it, handed over to Python."""

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield pa.RecordBatch.from_pydict({"records": [sum(map(len, batches))]})

        frame = without_nulls(self._from_kafka(topic))
        return sum(row.records for row in frame.mapInArrow(count, "records bigint").collect())

    def fastavro_of_kafka(self, topic: str) -> int:
        return self._udf(self._from_kafka(topic), topic)

    def from_avro(self, topic: str) -> int:
        """Spark's own function, once for each id."""
        from pyspark.sql.avro.functions import from_avro  # noqa: PLC0415 - where its jar is

        payload, id = F.expr("substring(value, 6)"), F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("int")
        reader = json.dumps(orders.versions()[orders.READER])
        parts = []
        for number, schema in zip(self.ids[topic], _schemas(topic), strict=True):
            decoded = from_avro(payload, json.dumps(schema), {"avroSchema": reader, "mode": "PERMISSIVE"})
            mine = self._raw(topic).where(id == number)
            parts.append(mine.select(*META, F.lit(number).alias("schema_id"), decoded.alias("record")))
        return self._written(reduce(DataFrame.unionByName, parts).select(*META, "schema_id", "record.*"))

    def fastavro(self, topic: str) -> int:
        return self._udf(self._raw(topic), topic)

    def _udf(self, raw: DataFrame, topic: str) -> int:
        """A UDF of one's own, and Spark's writer."""
        schemas, reader = dict(zip(self.ids[topic], _schemas(topic), strict=True)), orders.versions()[orders.READER]

        def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            parsed = {id: fastavro.parse_schema(schema) for id, schema in schemas.items()}
            wanted, unpack = fastavro.parse_schema(reader), struct.Struct(">bI").unpack_from
            for batch in batches:
                ids, rows = [], []
                for value in batch.column("value").to_pylist():
                    _, id = unpack(value)
                    stream = BytesIO(value)
                    stream.seek(5)
                    ids.append(id)
                    rows.append(fastavro.schemaless_reader(stream, parsed[id], wanted))
                record = pa.array(rows, pa.struct(COLUMNS))
                arrays = [
                    batch.column("partition"),
                    batch.column("offset"),
                    pa.array(ids, pa.int32()),
                    *record.flatten(),
                ]
                names = [*META, "schema_id", *(column.name for column in COLUMNS)]
                yield pa.RecordBatch.from_arrays(arrays, names=names)

        return self._written(raw.select(*META, "value").mapInArrow(decode, DDL))

    def _from_kafka(self, topic: str) -> DataFrame:
        options = {kafka.ADDRESS: self.brokers, "subscribe": topic, "includeHeaders": "true"}
        return self.spark.read.format("kafka").options(**options).load().select(*RAW.names)

    def _raw(self, topic: str) -> DataFrame:
        return self.spark.read.parquet(str(self.root / topic))

    def _written(self, frame: DataFrame) -> int:
        out = self.root / "out"
        frame.write.option("compression", "zstd").parquet(str(out))
        return sum(pq.read_metadata(path).num_rows for path in out.glob("*.parquet"))

    def _driver(self, topic: str, source: dict[str, str] | None = None, native: str = "auto") -> Driver:
        out = self.root / "out"
        form = {
            "registry": {"data": str(self.root / "registry")},
            "source": source or {"kind": "files", "path": str(self.root / topic)},
            "bind": [{"topic": topic, "reader": {"id": _reader(self.ids[topic])}}],
            "sink": {"kind": "parquet", "lake": str(out / "lake")},
            "work": str(out / "work"),
            "native": native,
        }
        out.mkdir(parents=True, exist_ok=True)
        config = out / "land.yaml"
        config.write_text(yaml.safe_dump(form))
        return driver(settings.read_settings(config))


def lines(*, quick: bool) -> Lines:
    records, rounds = (FEW, 1) if quick else (RECORDS, ROUNDS)
    try:
        java()
        jars = kafka_jars()
    except Unavailable as reason:
        raise NotHere(str(reason)) from None
    with tempfile.TemporaryDirectory() as folder, ExitStack() as until:
        brokers = until.enter_context(broker_beside())
        spark = session(os.environ, name="bench", master="local[2]", jars=jars, settings={"spark.driver.memory": "4g"})
        try:
            yield from _lines(_estate(spark, Path(folder), records, brokers), rounds)
        finally:
            spark.stop()


def _lines(estate: Estate, rounds: int) -> Lines:
    def best(*lands: Callable[[str], int], topic: str) -> list[float]:
        works = [estate.measured(partial(land, topic)) for land in lands]
        for work in works:  # once unmeasured: compilers, and what workers import
            work()
        return best_of(rounds, *works)

    ways = (estate.ours, estate.ours_in_python, estate.ours_through_spark, estate.from_avro, estate.fastavro)
    ours, in_python, through, from_avro, udf = best(*ways, topic="seven")
    ahead = installed() is not None
    ids = f"{len(estate.ids[MANY]):,} ids"
    of_few, of_many = (estate.measured(partial(estate.ours, topic)) for topic in ("seven", MANY))
    met = of_many()
    few, many = best_of(rounds, of_few, of_many)
    yield Line(f"land of files, {ids} mixed, that no process has met", met, "s", few, "7 ids")
    yield Line(f"land of files, {ids} mixed", many, "s", few, "7 ids", Goal(1.3) if ahead else None)
    for topic, label in ((orders.PROTOBUF, "Protobuf"), (orders.JSON, "JSON Schema")):
        found, python = best(estate.ours, estate.ours_in_python, topic=topic)
        yield Line(f"land of files, {label}", found, "s", python, "the same without the extension")
    (begun,) = best_of(rounds, estate.measured(partial(estate.ours, BEGUN), of=AT_LEAST))
    yield Line("of it a run's start and its commit", begun, "s", ours, "land of files, 7 schemas mixed", Goal(0.1))
    yield Line("land of files, 7 schemas mixed", ours, "s", in_python, "the same without the extension")
    yield Line("land of files, 7 schemas mixed", ours, "s", udf, "fastavro UDF, Spark's writer", Goal(0.9))
    yield Line(
        "land through Spark, as of Kafka, 7 schemas mixed", through, "s", udf, "fastavro UDF, Spark's writer", Goal(0.9)
    )
    yield Line(
        "land of files, 7 schemas mixed",
        ours,
        "s",
        from_avro,
        "from_avro for each id, and their union",
        Goal(1 / 4) if ahead else None,
    )
    yield Line(
        "land through Spark, as of Kafka, 7 schemas mixed",
        through,
        "s",
        from_avro,
        "from_avro for each id, and their union",
    )
    if estate.brokers:
        ours, alone, udf = best(estate.of_kafka, estate.kafka_alone, estate.fastavro_of_kafka, topic="seven")
        yield Line("land of Kafka, 7 schemas mixed", ours, "s", udf, "fastavro UDF of Kafka, Spark's writer", Goal(0.9))
        yield Line("land of Kafka, 7 schemas mixed", ours, "s", alone, "Spark's Kafka source, counted and forgotten")
    ours, in_python, through, from_avro, udf = best(*ways, topic="one")
    yield Line("land of files, all of one schema", ours, "s", from_avro, "from_avro", Goal(1 / 2) if ahead else None)
    yield Line("land of files, all of one schema", ours, "s", in_python, "the same without the extension")
    yield Line("land through Spark, as of Kafka, all of one schema", through, "s", from_avro, "from_avro")
    yield Line("land of files, all of one schema", ours, "s", udf, "fastavro UDF, Spark's writer", Goal(0.9))


@contextmanager
def broker_beside() -> Iterator[str]:
    """Where a broker answers, whose CPU is not counted; empty where none is installed."""
    with ExitStack() as until:
        try:
            address = until.enter_context(broker.running()).address
        except Unavailable:
            address = ""
        BESIDE.update(child.pid for child in psutil.Process().children(recursive=True))
        yield address


def _estate(spark: SparkSession, root: Path, records: int, brokers: str) -> Estate:
    ids: dict[str, list[int]] = {}
    with embedded(Settings(default_level="NONE"), root / "registry") as (registry, _):
        for topic in WRITERS:
            subject = Subject(".", f"{topic}-value")
            drafts = list(_drafts(topic, COPIES if records > FEW else 10))
            ids[topic] = [int(registry.register(subject, draft).id or 0) for draft in drafts]
    for topic in WRITERS:
        orders.write(root / topic, AT_LEAST if topic == BEGUN else records, ids[topic], topic)
    if brokers:
        _produce(Broker(brokers), root / "seven", "seven")
    return Estate(spark, root, records, ids, brokers)


def _produce(to: Broker, folder: Path, topic: str) -> None:
    """The same records; a partition for each file."""
    files = sorted(folder.glob("*.parquet"))
    to.create(topic, len(files))
    producer = to.producer(queue_buffering_max_messages="1000000")
    for number, path in enumerate(files):
        table = pq.read_table(path, columns=["key", "value"])
        for key, value in zip(*(column.to_pylist() for column in table.columns), strict=True):
            producer.produce(topic, key=key, value=value, partition=number)
        producer.flush()


def _reader(ids: list[int]) -> int:
    """The id that the newest version but one has, the last of its copies."""
    copies = len(ids) // len(orders.WEIGHTS)
    return ids[(orders.READER + 1) * copies - 1]


def _drafts(topic: str, copies: int) -> Iterator[Draft]:
    """In the order of versions. copies: of each, of MANY, which differ in what they say of themselves."""
    if topic == orders.PROTOBUF:
        yield Draft(text=orders.PROTOBUF_TEXT, type="PROTOBUF")
    elif topic == orders.JSON:
        yield Draft(text=json.dumps(orders.JSON_SCHEMA), type="JSON")
    else:
        for schema in _schemas(topic):
            for number in range(copies if topic == MANY else 1):
                said = {**schema, "doc": f"copy {number}"} if topic == MANY else schema
                yield Draft(text=json.dumps(said), type="AVRO")


def _schemas(topic: str) -> list[orders.Schema]:
    return orders.versions() if topic in ("seven", MANY) else [orders.versions()[orders.READER]]


def _entry(path: Path) -> Entry:
    return Entry(path.name, "", path.stat().st_size, pq.read_metadata(path).num_rows)


def cpu() -> float:
    """Seconds of user and system time of this process and all below it.

    Workers that are idle for long are ended, and then their time is counted nowhere: so what was last seen of each is
    kept.
    """
    me = psutil.Process()
    for process in [me, *me.children(recursive=True)]:
        with suppress(psutil.Error):
            if process.pid in BESIDE:
                continue
            times = process.cpu_times()
            SEEN[process.pid, process.create_time()] = times.user + times.system
    return sum(SEEN.values())


BESIDE: Final[set[int]] = set()
"""Processes that are not what is measured."""

SEEN: Final[dict[tuple[int, float], float]] = {}
"""CPU seconds by process and when it began."""


if __name__ == "__main__":
    main(lines, __doc__)
