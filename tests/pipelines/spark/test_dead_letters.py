"""Dead letters arrive, whatever happens to the broker and to the job in between, and landing waits for none of them."""

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from sigla_pipelines.land import settings
from sigla_pipelines.land.dead_letters import DeadLetters
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.exit_status import Undelivered
from sigla_pipelines.land.job import run
from sigla_pipelines.land.manifest import Manifest
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sources import Stopping
from tests.pipelines.broker import Broker, written
from tests.pipelines.land.world import avro, framed, raw
from tests.pipelines.spark.estate import Estate, from_kafka

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
HURRIED = {"max.block.ms": "100", "request.timeout.ms": "100", "delivery.timeout.ms": "200"}


def letters(broker: Broker, topic: str) -> list[Message]:
    """All that a reader can see of the one partition of a topic."""
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "letters", "enable.partition.eof": True})
    found = []
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while (message := consumer.poll(10)) is not None and message.error() is None:
            found.append(message)
    finally:
        consumer.close()
    return found


def headers(letter: Message) -> list[tuple[str, Any]]:
    return [*(letter.headers() or ())]


def header(letter: Message, name: str) -> bytes:
    found: bytes = dict(headers(letter))[name]
    return found


@contextmanager
def silent() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_what_is_quarantined_is_sent_as_it_was_and_prometheus_is_told(
    tmp_path: Path, spark: SparkSession, kafka: Broker
) -> None:
    """Key, value and headers; a null key and a null header among them."""
    estate = Estate(tmp_path)
    with estate.registry() as world:
        good = framed(world.register("dues-value", ORDER), avro(ORDER, {"id": 1}))
    for topic in ("dues", "dues.dlq"):
        kafka.create(topic)
    bad: list[dict[str, Any]] = [
        {"value": b"\7no frame", "key": b"k", "headers": [("trace", b"\xff"), ("none", None)]},
        {"value": framed(99, b"")},
    ]
    written(kafka.producer(), "dues", {"value": good}, *bad, {"value": good})
    config = estate.config("dues", source=from_kafka(kafka), dead_letter={"topic": "{topic}.dlq"})
    metrics: list[str] = []
    run(spark, driver(settings.read_settings(config)), Sum(), Stopping(), publish=[metrics.append])
    found = letters(kafka, "dues.dlq")
    assert [(each.key(), each.value()) for each in found] == [(b"k", b"\7no frame"), (None, framed(99, b""))]
    assert headers(found[0])[:2] == [("trace", b"\xff"), ("none", None)]
    reasons = [header(each, "__connect.errors.exception.class.name") for each in found]
    assert reasons == [b"BAD_MAGIC", b"UNKNOWN_ID"]
    assert [header(each, "__connect.errors.offset") for each in found] == [b"1", b"2"]
    samples = [each for family in text_string_to_metric_families(metrics[-1]) for each in family.samples]
    assert [each.value for each in samples if each.name == "sigla_land_lag_records"] == [0]
    assert sum(each.value for each in samples if each.name == "sigla_land_records_quarantined_total") == 2


def test_a_silent_broker_stops_no_landing_and_gets_its_letters_later(
    tmp_path: Path, spark: SparkSession, kafka: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch's letters, in order, also where the job died after it had sent some: those come twice."""
    estate = Estate(tmp_path)
    with estate.registry() as world:
        world.register("sent-value", ORDER)
    kafka.create("letters")
    for number in range(2):
        estate.write(f"{number}.parquet", raw([b"\7", b"\10"], "sent", start=2 * number))
    with silent() as nobody:
        source = {"kind": "files", "path": str(tmp_path / "raw"), "batch_files": 1}
        letter = {"topic": "letters", "brokers": nobody, "options": HURRIED}
        config = estate.config("sent", source=source, dead_letter=letter)
        spark.sparkContext.setJobGroup("silent", "landings while the broker is silent")
        with pytest.raises(Undelivered, match=r"does not take the dead letters of batch 0 .*its dead letters wait"):
            estate.land(spark, config)
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("silent")
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
        assert len(jobs) == 2, "a job for each batch: what Spark tries again is not begun while the broker is silent"
    opened = driver(settings.read_settings(config))
    assert sum(manifest.counts.quarantined for manifest in opened.manifests.all()) == 4, "all of it is landed"
    opened.close()
    config = estate.config("sent", dead_letter={"topic": "letters", "brokers": kafka.address})
    send = DeadLetters._send

    def send_and_end(self: DeadLetters, manifest: Manifest) -> None:
        send(self, manifest)
        raise InterruptedError

    with monkeypatch.context() as patched:
        patched.setattr(DeadLetters, "_send", send_and_end)
        with pytest.raises(InterruptedError):
            estate.land(spark, config)
    estate.land(spark, config)
    offsets = [int(header(each, "__connect.errors.offset")) for each in letters(kafka, "letters")]
    assert Counter(offsets) == {0: 2, 1: 2, 2: 1, 3: 1}
    estate.land(spark, config)
    assert len(letters(kafka, "letters")) == len(offsets), "what was sent is not sent by each run"


def test_letters_of_what_was_landed_before_they_were_asked_for_are_not_sent(
    tmp_path: Path, spark: SparkSession, kafka: Broker
) -> None:
    """A quarantine of years would be a flood; it is where it was."""
    estate = Estate(tmp_path)
    with estate.registry() as world:
        world.register("old-value", ORDER)
    kafka.create("fresh")
    estate.write("0.parquet", raw([b"\7"], "old"))
    estate.land(spark, estate.config("old"))
    estate.write("1.parquet", raw([b"\10"], "old", start=1))
    estate.land(spark, estate.config("old", dead_letter={"topic": "fresh", "brokers": kafka.address}))
    assert [each.value() for each in letters(kafka, "fresh")] == [b"\10"]
