"""Many small topics of Kafka, landed in one batch as tables of Iceberg: by the clock, beside one topic of all records.

    python -m benchmarks.many_topics [--quick] [--json]

205 topics of 780 records each. Spark has two threads, and what of two processors is busy meanwhile is told, too: a
batch of many topics waits where a task asks the broker for what is not there. Kafka's own default keeps each such
question for half a second; `land` asks for less. Each landing begins anew, with a work directory and a lake of its own.
"""

import json
import os
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import yaml
from pyspark.sql import SparkSession

from benchmarks import orders
from benchmarks.harness import Line, Lines, NotHere, main
from benchmarks.land import broker_beside, cpu
from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.connectors.installation import kafka_jars
from sigla_pipelines.connectors.maven import Unavailable, java
from sigla_pipelines.land import settings
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sources import Stopping
from sigla_pipelines.spark import session
from tests.pipelines.broker import Broker

TOPICS: Final = 205
RECORDS: Final = 780
ONE: Final = "all"
"""The topic that has the records of all others."""
KAFKAS_OWN: Final = {"fetch.max.wait.ms": "500"}


@dataclass(frozen=True, slots=True)
class Ran:
    seconds: float
    cpu: float

    @property
    def busy(self) -> float:
        """How many processors, on average."""
        return self.cpu / self.seconds


@dataclass(frozen=True, slots=True)
class Estate:
    """root: with a registry. topics: with so many records each; one more has as many as all of them."""

    spark: SparkSession
    root: Path
    brokers: str
    topics: tuple[str, ...]
    records: int

    def landed(self, *topics: str, options: Mapping[str, str] | None = None) -> Ran:
        """All records of some topics, by a job of their own. options: of Kafka's consumer."""
        home = Path(tempfile.mkdtemp(dir=self.root))
        form: dict[str, Any] = {
            "registry": {"data": str(self.root / "registry")},
            "source": {"kind": "kafka", "brokers": self.brokers, "options": dict(options or {})},
            "bind": [{"topic": topic} for topic in topics],
            "sink": {"lake": str(home / "lake")},
            "work": str(home / "work"),
        }
        config = home / "land.yaml"
        config.write_text(yaml.safe_dump(form))
        total, spent, begun = Sum(), cpu(), time.perf_counter()
        with closing(driver(settings.read_settings(config))) as opened:
            run(self.spark, opened, total, Stopping())
        ran = Ran(time.perf_counter() - begun, cpu() - spent)
        expected = self.records * (len(self.topics) if topics == (ONE,) else len(topics))
        if total.landed != expected:
            raise AssertionError(f"{total.landed} of {expected} records were landed")
        return ran


def lines(*, quick: bool) -> Lines:
    topics, records = (8, 20) if quick else (TOPICS, RECORDS)
    try:
        java()
        jars = kafka_jars()
    except Unavailable as reason:
        raise NotHere(str(reason)) from None
    with tempfile.TemporaryDirectory() as folder, ExitStack() as until:
        brokers = until.enter_context(broker_beside())
        if not brokers:
            raise NotHere("no broker is installed: python -m tests.pipelines.broker --install")
        spark = session(os.environ, name="bench", master="local[2]", jars=jars)
        try:
            yield from _lines(_estate(spark, Path(folder), brokers, topics, records))
        finally:
            spark.stop()


def _lines(estate: Estate) -> Lines:
    estate.landed(*estate.topics[:4])  # unmeasured: compilers, and what workers import
    one, many = estate.landed(ONE), estate.landed(*estate.topics)
    waiting = estate.landed(*estate.topics, options=KAFKAS_OWN)
    what = f"land of {len(estate.topics)} small topics in one batch"
    yield Line(what, many.seconds, "s", one.seconds, "one topic with all records")
    yield Line(f"{what}, with Kafka's own wait", waiting.seconds, "s", many.seconds, "land's own wait")
    yield Line(f"{what}, processors busy", many.busy, "of 2", one.busy, "one topic with all records")


def _estate(spark: SparkSession, root: Path, brokers: str, count: int, records: int) -> Estate:
    topics = tuple(f"topic-{number:03}" for number in range(count))
    schema = json.dumps(orders.versions()[orders.READER])
    with embedded(Settings(), root / "registry") as (registry, _):
        for topic in (*topics, ONE):
            draft = Draft(text=schema, type="AVRO")
            id = int(registry.register(Subject(".", f"{topic}-value"), draft).id or 0)
    orders.write(root / "raw", records, [id], ONE, files=1)
    [file] = (root / "raw").glob("*.parquet")
    values = pq.read_table(file, columns=["value"]).column("value").to_pylist()
    broker = Broker(brokers)
    producer = broker.producer(queue_buffering_max_messages="1000000")
    for topic in (*topics, ONE):
        broker.create(topic)
    for topic in topics:
        for value in values:
            producer.produce(topic, value=value)
            producer.produce(ONE, value=value)
        producer.poll(0)
    producer.flush()
    return Estate(spark, root, brokers, topics, records)


if __name__ == "__main__":
    main(lines, __doc__)
