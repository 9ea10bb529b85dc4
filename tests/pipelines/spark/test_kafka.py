"""What a Kafka does to a topic in the meantime, and what a driver's end does to tables: the account holds."""

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from pyiceberg.catalog import load_catalog
from pyspark.sql import SparkSession

from sigla_pipelines.land.exit_status import SourceFailed
from sigla_pipelines.land.manifest import Manifest, Manifests
from tests.pipelines.broker import Broker, written
from tests.pipelines.land.world import avro, framed
from tests.pipelines.spark.estate import Estate, Identity, from_kafka

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
WIDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
COMPACTED_AT_ONCE = {
    "cleanup_policy": "compact",
    "segment_ms": "100",
    "min_cleanable_dirty_ratio": "0.01",
    "max_compaction_lag_ms": "200",
}
COMPACTED_WITHIN_S = 60


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    return Estate(tmp_path)


def left(broker: Broker, topic: str) -> list[Identity]:
    """What a reader can see of the one partition of a topic now."""
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "left", "enable.partition.eof": True})
    found = []
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while (message := consumer.poll(10)) is not None and message.error() is None:
            found.append((topic, 0, message.offset() or 0))
    finally:
        consumer.close()
    return found


def test_a_compacted_topic_and_one_of_transactions_leave_holes_and_nothing_is_missed(
    estate: Estate, spark: SparkSession, kafka: Broker
) -> None:
    """The first is known by itself, the second is named; a batch may have lost all of a partition, and says so."""
    with estate.registry() as world:
        order = world.register("compacted-value", ORDER)
        assert world.register("settled-value", ORDER) == order
    kafka.create("compacted", 1, **COMPACTED_AT_ONCE)
    kafka.create("settled")
    producer, value = kafka.producer(), framed(order, avro(ORDER, {"id": 1}))
    for _ in range(3):
        written(producer, "compacted", *({"value": value, "key": b"%d" % (n % 5)} for n in range(40)))
    written(producer, "compacted", {"value": None, "key": b"0"}, {"value": framed(order + 1, b""), "key": b"1"})
    settling = kafka.producer(transactional_id="settled")
    settling.init_transactions(30)
    records = []
    for number in range(4):
        settling.begin_transaction()
        sent = written(settling, "settled", *({"value": value} for _ in range(10)))
        if number % 2:
            settling.abort_transaction(30)
        else:
            settling.commit_transaction(30)
            records += sent
    until = time.monotonic() + COMPACTED_WITHIN_S
    while len(left(kafka, "compacted")) > 40 and time.monotonic() < until:
        time.sleep(0.2)
        # What is written last is never compacted: a new segment has to follow it.
        written(producer, "compacted", {"value": value, "key": b"2"})
    outcome = estate.land(
        spark, estate.config("compacted", "settled", source=from_kafka(kafka, gaps=["settled"], max_offsets=100))
    )
    assert outcome.holds(left(kafka, "compacted") + records)
    ranges = [(each.topic, each.end - each.start) for manifest in outcome.manifests for each in manifest.ranges]
    spanned = {topic: sum(length for name, length in ranges if name == topic) for topic in ("compacted", "settled")}
    assert spanned["compacted"] >= 122
    assert spanned["settled"] == 4 * 11
    assert outcome.total.read < 100


def test_a_topic_that_is_not_there_is_named(estate: Estate, spark: SparkSession, kafka: Broker) -> None:
    with pytest.raises(
        SourceFailed, match=f"Kafka at {kafka.address} did not answer a question about the topic nowhere: "
    ):
        estate.land(spark, estate.config("nowhere", source=from_kafka(kafka)))


def test_records_that_kafka_has_lost_stop_the_job_and_a_new_checkpoint_goes_on_behind_them(
    estate: Estate, spark: SparkSession, kafka: Broker
) -> None:
    """What is landed is not landed again, though Kafka still has it."""
    with estate.registry() as world:
        order = world.register("lost-value", ORDER)
    kafka.create("lost", 2)
    value, config = framed(order, avro(ORDER, {"id": 1})), estate.config("lost", source=from_kafka(kafka))
    records = written(kafka.producer(), "lost", *({"value": value, "partition": n % 2} for n in range(20)))
    assert estate.land(spark, config).holds(records)
    more = written(kafka.producer(), "lost", *({"value": value, "partition": n % 2} for n in range(20)))
    admin = kafka.admin()
    admin.delete_records([TopicPartition("lost", 0, 15)])[TopicPartition("lost", 0, 15)].result(30)
    with pytest.raises(SourceFailed, match=r"they are lost\. Remove the checkpoint"):
        estate.land(spark, config)
    shutil.rmtree(estate.root / "work" / "checkpoint")
    outcome = estate.land(spark, config)
    assert outcome.total.read == 15
    assert outcome.holds(records + [each for each in more if each[1] == 1 or each[2] >= 15])


class Ended(Exception):
    """As a driver does that is killed: nothing that it would have done next is done."""


def test_iceberg_s_tables_evolve_and_are_whole_though_a_driver_ended_before_its_commit(
    estate: Estate, spark: SparkSession, kafka: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read as any engine reads them: through their catalog, knowing nothing of the job."""
    with estate.registry() as world:
        first = world.register("frozen-value", ORDER)
    kafka.create("frozen")
    catalog = {"type": "sql", "uri": f"sqlite:///{estate.root}/catalog.db"}
    sink = {"kind": "iceberg", "lake": str(estate.root / "lake"), "catalog": catalog}
    config = estate.config("frozen", source=from_kafka(kafka), sink=sink)
    before = framed(first, avro(ORDER, {"id": 1}))
    records = written(kafka.producer(), "frozen", *({"value": before} for _ in range(10)))
    put = Manifests.put

    def put_and_end(self: Manifests, manifest: Manifest) -> Manifest:
        put(self, manifest)
        raise Ended

    with monkeypatch.context() as patched:
        patched.setattr(Manifests, "put", put_and_end)
        with pytest.raises(Ended):
            estate.land(spark, config)
    with estate.registry() as world:
        second = world.register("frozen-value", WIDER)
    after = framed(second, avro(WIDER, {"id": 2**40, "note": "n"}))
    records += written(kafka.producer(), "frozen", *({"value": each} for each in (before, after, b"\7")))
    outcome = estate.land(spark, config)
    assert [manifest.number for manifest in outcome.manifests] == [0, 1]
    assert outcome.holds(records)
    found = load_catalog("sigla", **catalog)
    try:
        rows = found.load_table("sigla.frozen").scan().to_arrow().sort_by("_sr_offset").to_pylist()
        assert [(row["id"], row["note"], row["_sr_batch"]) for row in rows] == [
            *[(1, None, 0)] * 10,
            (1, None, 1),
            (2**40, "n", 1),
        ]
        assert found.load_table("sigla._quarantine").scan().to_arrow().column("value").to_pylist() == [b"\7"]
        assert len(found.load_table("sigla.frozen").history()) == 2, "a commit for each batch"
    finally:
        found.close()
