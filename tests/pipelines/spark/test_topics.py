"""Which topics of a Kafka are landed, from where on, and with how much ado."""

import json
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from sigla_pipelines.land import settings
from sigla_pipelines.land.bindings import Binding, CatalogAnswer
from sigla_pipelines.land.driver import Driver, driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.kafka import reader_options
from sigla_pipelines.land.plan import Plan
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.settings import InvalidLanding, KafkaPart
from sigla_pipelines.land.sources import Stopping
from sigla_pipelines.land.task import Task, in_arrow, send_task
from tests.pipelines.broker import Broker, written
from tests.pipelines.land.world import avro, framed
from tests.pipelines.spark.estate import Estate, from_kafka
from tests.waiting import eventually

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
NEWER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "number", "type": "int", "aliases": ["id"]}],
}


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    return Estate(tmp_path)


def order(id: int, number: int) -> bytes:
    return framed(id, avro(ORDER, {"id": number}))


def registered(estate: Estate, *topics: str) -> int:
    with estate.registry() as world:
        [id] = {world.register(f"{topic}-value", ORDER) for topic in topics}
    return id


def test_topics_by_pattern_are_landed_also_those_that_come_while_the_job_runs(
    estate: Estate, spark: SparkSession, kafka: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each in its own table, told when it is met; what no pattern means is left alone."""
    id = registered(estate, "shop.orders", "shop.paid", "shop.late", "one")
    for topic in ("shop.orders", "shop.paid", "shop.paid.dlq", "other", "one"):
        kafka.create(topic)
        written(kafka.producer(), topic, {"value": order(id, 1)}, {"value": order(id, 2)})
    bind = [{"topic": "one", "table": "Single"}, {"topic": "shop.*", "skip": ["*.dlq"], "table": "sales.{1}"}]
    config = estate.config(source=from_kafka(kafka), bind=bind, trigger={"every": "1s"})
    opened, total, stopping = driver(settings.read_settings(config)), Sum(), Stopping()
    job = Thread(target=run, args=(spark, opened, total, stopping), kwargs={"stream": True})
    job.start()
    try:
        eventually(lambda: total.landed == 6)
        kafka.create("shop.late")
        written(kafka.producer(), "shop.late", {"value": order(id, 3)})
        eventually(lambda: total.landed == 7)
    finally:
        stopping.asked.set()
        job.join(60)
    tables = {table for manifest in opened.manifests.all() for table in manifest.tables}
    assert tables == {"single", "sales_orders", "sales_paid", "sales_late"}
    told = capfd.readouterr().err
    assert told.count("The topic one goes to the table single.") == 1
    assert told.count("The topic shop.late goes to the table sales_late.") == 1


def test_a_first_run_begins_at_an_offset_or_at_a_time(estate: Estate, spark: SparkSession, kafka: Broker) -> None:
    """And the next one where that one ended, whatever the settings say by then."""
    id = registered(estate, "begun", "timed", "whole")
    noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
    ms = round(noon.timestamp() * 1000)
    for topic in ("begun", "timed", "whole"):
        kafka.create(topic)
        records = ({"value": order(id, n), "timestamp": ms + (n - 7) * 60_000} for n in range(10))
        written(kafka.producer(), topic, *records)
    start: dict[str, Any] = {"begun": {0: 4}, "timed": {"time": noon.isoformat()}}
    config = estate.config("begun", "timed", "whole", source=from_kafka(kafka, start=start))
    outcome = estate.land(spark, config)
    assert [row["id"] for row in outcome.rows("begun")] == [4, 5, 6, 7, 8, 9]
    assert [row["id"] for row in outcome.rows("timed")] == [7, 8, 9]
    assert [row["id"] for row in outcome.rows("whole")] == [*range(10)]
    config = estate.config("begun", "timed", "whole", source=from_kafka(kafka, start={"begun": {0: 0}}))
    assert estate.land(spark, config).total.read == 0


def test_an_offset_that_kafka_does_not_have_is_told(estate: Estate, spark: SparkSession, kafka: Broker) -> None:
    registered(estate, "short")
    kafka.create("short")
    config = estate.config("short", source=from_kafka(kafka, start={"short": {0: 5}}))
    with pytest.raises(InvalidLanding, match="is offset 5 of short, partition 0, and Kafka has 0 to 0"):
        estate.land(spark, config)


def test_a_table_is_landed_again_beside_the_old_one(estate: Estate, spark: SparkSession, kafka: Broker) -> None:
    """By another reader, from the beginning, while the first job goes on; then each has all, once."""
    id = registered(estate, "again")
    kafka.create("again")
    written(kafka.producer(), "again", *({"value": order(id, n)} for n in range(5)))
    first = estate.config("again", source=from_kafka(kafka))
    assert [row["id"] for row in estate.land(spark, first).rows("again")] == [*range(5)]
    with estate.registry() as world:
        world.register("again-value", NEWER)
    beside = {
        "bind": [{"topic": "again", "reader": {"version": 2}}],
        "sink": {"kind": "parquet", "lake": str(estate.root / "lake-2")},
        "work": str(estate.root / "work-2"),
    }
    again = estate.land(spark, estate.config(source=from_kafka(kafka), **beside))
    assert [row["number"] for row in again.rows("again")] == [*range(5)]
    written(kafka.producer(), "again", {"value": order(id, 5)})
    pinned = estate.config(source=from_kafka(kafka), bind=[{"topic": "again", "reader": {"version": 1}}])
    assert [row["id"] for row in estate.land(spark, pinned).rows("again")] == [*range(6)]
    swapped = estate.land(spark, estate.config(source=from_kafka(kafka), **beside))
    assert [row["number"] for row in swapped.rows("again")] == [*range(6)]


def test_a_consumer_that_has_read_all_does_not_wait_for_more_unless_the_settings_say_so() -> None:
    """Kafka's default is half a second for each topic that a task has come to the end of."""
    landing = settings.parse_landing(
        json.dumps(
            {
                "registry": {"data": "d"},
                "source": {"kind": "kafka", "brokers": "b"},
                "bind": [{"topic": "orders"}],
                "sink": {"lake": "l"},
                "work": "w",
            }
        ),
        "land.yaml",
    )
    assert isinstance(landing.source, KafkaPart)
    assumed = reader_options({}, landing.bound, start="earliest", most=None)
    assert assumed["kafka.fetch.max.wait.ms"] == "10"
    said = reader_options({"kafka.fetch.max.wait.ms": "500"}, landing.bound, start="earliest", most=None)
    assert said["kafka.fetch.max.wait.ms"] == "500"


def test_what_a_task_is_sent_does_not_grow_with_the_tables(estate: Estate, spark: SparkSession) -> None:
    """The plan of all tables goes to each worker once, and not with each of its tasks."""

    def size(tables: int) -> int:
        bindings = tuple(Binding(f"topic-{number}", table=f"table_{number}") for number in range(tables))
        task = a_task(driver(settings.read_settings(estate.config("orders"))), bindings)
        with send_task(spark.sparkContext, task) as each:
            assert each().plan.bindings == bindings
            try:
                return len(cloudpickle.dumps(in_arrow(each)))
            finally:  # the next job would send along what was pickled here
                spark.sparkContext._pickled_broadcast_vars.clear()

    assert size(1_000) < size(1) + 100


def a_task(opened: Driver, bindings: tuple[Binding, ...]) -> Task:
    plan = Plan("q", 0, ".", bindings, CatalogAnswer({}), {})
    return Task(opened.landing.registry.address, plan, opened.lake, opened.landing.sink.format, opened.now())
