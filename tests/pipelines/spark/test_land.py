"""Records land through Spark: of files and of a real Kafka, each with its own schema, with no registry running.

All in one file, so that one worker of the tests starts one Spark.
"""

import gc
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sigla.aws.clients import Clients
from sigla.model import BodyKey, SchemaId
from sigla.stores.clock import SystemClock
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from sigla_pipelines.land import files, settings, sources
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import Tasks, driver
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.settings import KafkaPart
from sigla_pipelines.land.sinks.sink import STAGING
from sigla_pipelines.land.task import Sent
from sigla_pipelines.places import Place, open_place
from tests.build import a_body
from tests.pipelines.broker import Broker, written
from tests.pipelines.land.earners import BOUND, STRICT, earners
from tests.pipelines.land.world import avro, framed, raw
from tests.pipelines.spark.estate import Estate, Identity, Outcome, from_kafka, in_s3, killed

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
ORDER_2 = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
PAYMENT = """
syntax = "proto3";
message Money { string currency = 1; }
message Payment { int64 cents = 1; string note = 2; }
"""
CLICK = {"title": "Click", "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What PySpark leaves open is closed here, and not while another test runs."""
    yield
    gc.collect()


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    return Estate(tmp_path)


def test_files_of_all_three_languages_land_once(estate: Estate, spark: SparkSession) -> None:
    with estate.registry() as world:
        order = world.register("orders-value", ORDER)
        payment = world.register("payments-value", PAYMENT, "PROTOBUF")
        click = world.register("clicks-value", CLICK, "JSON")
    config = estate.config("orders", "payments", "clicks")
    records = estate.write(
        "one.parquet",
        raw([framed(order, avro(ORDER, {"id": id})) for id in range(300)] + [None], keys=[b"k"] * 301),
        raw([framed(payment, b"\x02\x02\x08\x96\x01\x12\x01n")] * 20, "payments"),
        row_group=100,
    )
    records += estate.write("two.parquet", raw([framed(click, b'{"x": 3}'), framed(click, b'{"x": "3"}')], "clicks"))
    outcome = estate.land(spark, config)
    assert outcome.holds(records)
    assert [row["id"] for row in outcome.rows("orders")] == [*range(300), None]
    assert [row["_sr_op"] for row in outcome.rows("orders")][-2:] == ["U", "D"]
    assert (outcome.rows("payments")[0]["cents"], outcome.rows("clicks")[0]["x"]) == (150, 3)
    assert outcome.reasons() == {("clicks", "JSON_SCHEMA"): 1}

    again = estate.land(spark, config)
    assert again.total.read == 0, "what a manifest names is not read again"

    records += estate.write("three.parquet", raw([framed(click, b'{"x": 4}')], "clicks", start=2))
    assert estate.land(spark, config).total.landed == 1
    assert again.holds(records)


def test_seven_thousand_schemas_in_one_batch(estate: Estate, spark: SparkSession) -> None:
    def order(number: int) -> dict[str, Any]:
        return {**ORDER, "fields": [*ORDER["fields"], {"name": f"f{number}", "type": "int", "default": 0}]}

    with estate.registry() as world:
        world.register("orders-value", ORDER)
        ids = range(1_000, 8_000)
        for id in ids:
            body = a_body(json.dumps(order(id)))
            world.registry.bodies.put(BodyKey(".", SchemaId(id)), body)
    payload = avro(order(0), {"id": 7, "f0": 1})
    records = estate.write("all.parquet", raw([framed(id, payload) for id in ids]), row_group=1_000)
    outcome = estate.land(spark, estate.config("orders", checks={"membership": "allow"}))
    assert outcome.holds(records)
    assert {(row["id"], row["_sr_schema_id"]) for row in outcome.rows("orders")} == {(7, id) for id in ids}


def test_kafka_evolves_grows_and_leaves_gaps(estate: Estate, spark: SparkSession, kafka: Broker) -> None:
    with estate.registry() as world:
        first = world.register("orders-value", ORDER)
    kafka.create("orders", 2)
    config = estate.config("orders", source=from_kafka(kafka, gaps=["orders"]))
    records = written(
        kafka.producer(),
        "orders",
        *({"value": framed(first, avro(ORDER, {"id": id})), "key": b"%d" % id} for id in range(100)),
        {"value": None, "key": b"1"},
        {"value": b"\0\0\0\0\x63", "key": b"2", "headers": [("trace", b"t"), ("none", None)]},
    )
    outcome = estate.land(spark, config)
    assert outcome.holds(records)
    (unread,) = outcome.rows(QUARANTINE)
    assert (unread["key"], unread["headers"]) == (
        b"2",
        [{"key": "trace", "value": b"t"}, {"key": "none", "value": None}],
    )

    # A new version, a partition more, one transaction that came to nothing and one that counts: the same query.
    with estate.registry() as world:
        second = world.register("orders-value", ORDER_2)
    kafka.widen("orders", 3)
    producer = kafka.producer(transactional_id="orders")
    producer.init_transactions(30)
    value = framed(second, avro(ORDER_2, {"id": 2**40, "note": "n"}))
    producer.begin_transaction()
    written(producer, "orders", *({"value": value, "partition": number % 3} for number in range(30)))
    producer.abort_transaction(30)
    producer.begin_transaction()
    records += written(producer, "orders", *({"value": value, "partition": number % 3} for number in range(9)))
    producer.commit_transaction(30)
    outcome = estate.land(spark, config)
    assert outcome.total.landed == 9
    assert outcome.holds(records)
    assert [row["note"] for row in outcome.rows("orders")].count("n") == 9
    assert [manifest.number for manifest in outcome.manifests] == [0, 1]
    assert {(each.partition, each.start) for each in outcome.manifests[1].ranges} >= {(2, 0)}


def test_every_reason_through_one_job(estate: Estate, spark: SparkSession) -> None:
    """None of them keeps the others from their place, and none keeps the good ones from landing."""
    with estate.registry() as world:
        earned = earners(world)
    topics = sorted({topic for topic, _, _ in earned.values()})
    records = []
    for topic in topics:
        mine = [(value, headers) for where, value, headers in earned.values() if where == topic]
        values = [value for value, _ in mine] + [None]
        records += estate.write(f"{topic}.parquet", raw(values, topic, headers=[*(said for _, said in mine), []]))
    readers = {each.topic: each.reader for each in BOUND}
    bind = [
        {"topic": topic, "reader": {readers[topic].kind: readers[topic].number} if readers[topic].number else "latest"}
        for topic in topics
    ]
    config = estate.config(bind=bind, checks={"deleted": "fail", "max_bytes": STRICT.limits.max_bytes})
    outcome = estate.land(spark, config)
    assert outcome.holds(records)
    wanted = Counter((topic, reason.value) for reason, (topic, _, _) in earned.items())
    assert outcome.reasons() == wanted
    assert outcome.total.landed == len(topics), "a tombstone of each"


def fails() -> None:
    raise OSError("the machine under this task went away")


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("fate", [fails, dies])
def test_a_task_that_is_lost_once_lands_its_records_once(
    fate: Callable[[], None], estate: Estate, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the attempt that was lost had written is part of no table."""
    with estate.registry() as world:
        order = world.register("orders-value", ORDER)
    records = estate.write("one.parquet", raw([framed(order, avro(ORDER, {"id": id})) for id in range(50)]))
    failed = str(estate.root / "failed")

    def lost_once(task: Sent, source: Place) -> Callable[[files.Share], bytes]:
        def own(share: files.Share) -> bytes:
            landed = task().land(files.read(source, share)).encoded()
            if not Path(failed).exists():
                Path(failed).touch()
                fate()
            return landed

        return own

    monkeypatch.setattr(sources, "_land_files", lost_once)
    outcome = estate.land(spark, estate.config("orders"))
    assert outcome.holds(records)
    assert Path(failed).exists()
    assert len(list((estate.root / "lake" / "orders").rglob("*.parquet"))) == 1
    assert len(list((estate.root / "lake" / STAGING).rglob("*.parquet"))) == 1


def test_a_kafka_stream_that_is_asked_to_stop_has_landed_its_batch(
    estate: Estate, spark: SparkSession, kafka: Broker
) -> None:
    """And lands the rest when it is started again."""
    with estate.registry() as world:
        order = world.register("streams-value", ORDER)
    kafka.create("streams")
    config = estate.config("streams", source=from_kafka(kafka, max_offsets=10), trigger={"every": "0s"})
    value = framed(order, avro(ORDER, {"id": 1}))
    records = written(kafka.producer(), "streams", *({"value": value} for _ in range(40)))
    opened, total, stopping = driver(settings.read_settings(config)), Sum(), sources.Stopping()

    def land(batch: Batch, tasks: Tasks) -> None:
        stopping.asked.set()
        total.add(opened.land(batch, tasks))

    assert isinstance(opened.landing.source, KafkaPart)
    sources.from_kafka(spark, opened, opened.landing.source, land, stopping, stream=True)
    assert total.landed == 10
    assert estate.land(spark, config).holds(records)


@pytest.fixture
def bucket(spark: SparkSession) -> Iterator[str]:
    """For this process, and for Spark's workers."""
    workers = spark.sparkContext.environment
    name = f"sigla-{uuid4()}"  # moto's servers of one process have the same buckets
    with in_s3(name) as environ, pytest.MonkeyPatch.context() as patched:
        for variable, value in environ.items():
            patched.setitem(workers, variable, value)
        yield name


@pytest.fixture
def bodies(bucket: str) -> str:
    """A bucket with the bodies of the ids 1 and 2, and nothing else."""
    with closing(Clients()) as clients, closing(Objects(clients.s3, bucket, clock=SystemClock())) as objects:
        for id, schema in ((1, ORDER), (2, ORDER_2)):
            AwsBodies(objects).put(BodyKey(".", SchemaId(id)), a_body(json.dumps(schema)))
    return bucket


PAID = "paid"
OF_S3 = (framed(1, avro(ORDER, {"id": 1})), framed(2, avro(ORDER_2, {"id": 2, "note": "n"})), framed(3, b""))
BY_ID = [{"topic": PAID, "reader": {"id": 2}}]


def landed_by_bodies_alone(outcome: Outcome, records: list[Identity]) -> bool:
    """OF_S3, read as id 2; it could not be told whether the ids are the topic's."""
    counted = {(each.unchecked, each.schema_id) for each in outcome.manifests[0].metrics if each.table == PAID}
    return (
        outcome.holds(records)
        and [(row["id"], row["note"]) for row in outcome.rows(PAID)] == [(1, None), (2, "n")]
        and outcome.reasons() == {(PAID, "UNKNOWN_ID"): 1}
        and counted == {(1, 1), (1, 2)}
    )


def test_bodies_in_s3_are_enough(estate: Estate, spark: SparkSession, bodies: str) -> None:
    """DynamoDB answers nothing; records, tables and all that the job remembers are in S3, too."""
    path, here = f"{bodies}/raw/a.parquet", open_place(f"s3://{bodies}").filesystem
    pq.write_table(pa.Table.from_batches([raw(OF_S3, PAID)]), path, filesystem=here)
    config = estate.config(
        registry={"bucket": bodies, "table": "silent"},
        source={"kind": "files", "path": f"s3://{bodies}/raw"},
        bind=BY_ID,
        sink={"kind": "parquet", "lake": f"s3://{bodies}/lake"},
        work=f"s3://{bodies}/work",
    )
    assert landed_by_bodies_alone(estate.land(spark, config), [(PAID, 0, offset) for offset in range(3)])


def test_bodies_in_s3_are_enough_for_records_of_kafka(
    estate: Estate, spark: SparkSession, kafka: Broker, bodies: str
) -> None:
    """The same, of a topic."""
    kafka.create(PAID)
    records = written(kafka.producer(), PAID, *({"value": value} for value in OF_S3))
    config = estate.config(
        registry={"bucket": bodies, "table": "silent"},
        source=from_kafka(kafka),
        bind=BY_ID,
        sink={"kind": "parquet", "lake": f"s3://{bodies}/lake"},
    )
    assert landed_by_bodies_alone(estate.land(spark, config), records)


def test_a_kafka_job_killed_before_and_after_its_manifest_lands_every_record_once(
    estate: Estate, spark: SparkSession, kafka: Broker
) -> None:
    """Schemas are registered between the attempts: what the manifest has decided stands."""
    with estate.registry() as world:
        first = world.register("kills-value", ORDER)
    kafka.create("kills", 2)
    config = estate.config("kills", source=from_kafka(kafka, max_offsets=40))
    ids = (first, first + 1, first + 2)
    values = [framed(ids[number % 3], avro(ORDER, {"id": number})) for number in range(60)]
    records = written(
        kafka.producer(), "kills", *({"value": value, "partition": n % 2} for n, value in enumerate(values))
    )

    assert killed("before", config) == -signal.SIGKILL
    lost = set((estate.root / "lake").rglob("*.parquet"))
    assert lost, "tasks had written, and nobody knows of it"
    with estate.registry() as world:
        assert world.register("kills-value", {**ORDER, "doc": "2"}) == ids[1]
    assert killed("after", config) == -signal.SIGKILL
    with estate.registry() as world:
        assert world.register("kills-value", {**ORDER, "doc": "3"}) == ids[2]

    outcome = estate.land(spark, config)
    assert outcome.holds(records)
    first_batch, *later = outcome.manifests
    assert (first_batch.counts.read, first_batch.counts.quarantined) == (40, 13)
    assert [manifest.counts.quarantined for manifest in later] == [0]
    assert not lost & {Path(path) for path in outcome.driver.sink.files("kills")}  # type: ignore[attr-defined]  # Parquet
