"""Drivers as people start them: two at once, asked to stop, submitted from elsewhere; every record lands once."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sigla.aws.clients import Clients
from sigla.deployment.pipeline_package import code
from sigla.model import BodyKey, SchemaId
from sigla.stores.clock import SystemClock
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from sigla_pipelines.land import settings, sources
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import Tasks, driver
from sigla_pipelines.land.exit_status import SourceFailed
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.settings import KafkaPart
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.task import Task
from sigla_pipelines.places import open_place
from tests.build import a_body
from tests.pipelines.broker import Broker, written
from tests.pipelines.land.world import avro, framed, raw
from tests.pipelines.spark.estate import ROOT, Estate, Outcome, from_kafka, in_s3

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
BEGUN_WITHIN_S = 300
ENDS_WITHIN_S = 120


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    return Estate(tmp_path)


def started(*command: str, module: str = "sigla_pipelines") -> "subprocess.Popen[str]":
    """A job as a terminal starts it: a group of processes, that Ctrl-C reaches as a whole."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *command],
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(job: "subprocess.Popen[str]", within_s: float = BEGUN_WITHIN_S) -> tuple[int, str, str]:
    """Its status, and what it wrote; it is gone, and so is its JVM."""
    try:
        told, said = job.communicate(timeout=within_s)
    finally:
        if job.returncode is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.communicate()
    return job.returncode, told, said


def test_of_two_drivers_on_one_checkpoint_one_goes_on_and_no_record_lands_twice(
    estate: Estate, spark: SparkSession, kafka: Broker
) -> None:
    """The other is a process of its own, and lands all while this one's first batch is written and not decided."""
    with estate.registry() as world:
        order = world.register("raced-value", ORDER)
    kafka.create("raced", 2)
    config = estate.config("raced", source=from_kafka(kafka, max_offsets=20))
    records = written(
        kafka.producer(),
        "raced",
        *({"value": framed(order + n % 2, avro(ORDER, {"id": n})), "partition": n % 2} for n in range(40)),
    )
    opened = driver(settings.read_settings(config))

    def land(batch: Batch, tasks: Tasks) -> None:
        def overtaken(task: Task) -> list[Landed]:
            mine = list(tasks(task))
            status, told, said = ended(started("land", str(config)))
            assert status == 0, said
            assert told.splitlines()[:3] == ["read: 40", "landed: 20", "quarantined: 20"]
            return mine

        opened.land(batch, overtaken)

    assert isinstance(opened.landing.source, KafkaPart)
    with pytest.raises(SourceFailed, match="Another driver uses the checkpoint"):
        sources.from_kafka(spark, opened, opened.landing.source, land, sources.Stopping(), stream=False)
    outcome = Outcome(opened, Sum())
    assert outcome.holds(records)
    assert len(outcome.files()) > sum(len(manifest.files) for manifest in outcome.manifests), "the loser wrote, too"
    assert estate.land(spark, config).total.read == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.soak)])
def test_a_stream_that_is_told_to_end_lands_its_batch_and_ends_well(
    number: signal.Signals, estate: Estate, spark: SparkSession, kafka: Broker
) -> None:
    """SIGTERM is for the job, as of whoever runs it; Ctrl-C is for all that it has started, too."""
    topic = f"told-{number.name}"
    with estate.registry() as world:
        order = world.register(f"{topic}-value", ORDER)
    kafka.create(topic)
    config = estate.config(topic, source=from_kafka(kafka, max_offsets=10), trigger={"every": "0s"})
    value = framed(order, avro(ORDER, {"id": 1}))
    records = written(kafka.producer(), topic, *({"value": value} for _ in range(2_000)))
    job = started("land", str(config), "--stream")
    until = time.monotonic() + BEGUN_WITHIN_S
    while not list((estate.root / "lake").rglob("*.parquet")) and job.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    if number == signal.SIGINT:
        os.killpg(job.pid, number)
    else:
        job.send_signal(number)
    status, told, said = ended(job, ENDS_WITHIN_S)
    assert status == 0, said
    outcome = Outcome(driver(settings.read_settings(config)), Sum())
    landed = sum(manifest.counts.landed for manifest in outcome.manifests)
    assert 0 < landed < len(records)
    assert told.splitlines() == [f"read: {landed}", f"landed: {landed}", "quarantined: 0"]
    config = estate.config(topic, source=from_kafka(kafka))
    assert estate.land(spark, config).holds(records)


def test_a_job_submitted_from_anywhere_needs_its_zip_and_a_bucket_alone(tmp_path: Path) -> None:
    """Settings, bodies, records, tables and memory are in S3; there is no table, and DynamoDB answers nothing."""
    shutil.copy(ROOT / "pipelines" / "sigla_pipelines" / "__main__.py", tmp_path / "job.py")
    (tmp_path / "code").mkdir()
    code().fill(tmp_path / "code")
    zipped = shutil.make_archive(str(tmp_path / "pipelines"), "zip", tmp_path / "code")
    with in_s3("submitted") as environ:
        with closing(Clients()) as clients, closing(Objects(clients.s3, "submitted", clock=SystemClock())) as objects:
            AwsBodies(objects).put(BodyKey(".", SchemaId(1)), a_body(json.dumps(ORDER)))
        records = raw([framed(1, avro(ORDER, {"id": id})) for id in range(50)] + [framed(2, b"")])
        lake = open_place("s3://submitted")
        pq.write_table(pa.Table.from_batches([records]), "submitted/raw/a.parquet", filesystem=lake.filesystem)
        config = Estate(tmp_path).config(
            registry={"bucket": "submitted"},
            source={"kind": "files", "path": "s3://submitted/raw"},
            bind=[{"topic": "orders", "reader": {"id": 1}}],
            sink={"kind": "parquet", "lake": "s3://submitted/lake"},
            work="s3://submitted/work",
        )
        lake.replace("land.yaml", config.read_bytes())
        done = submitted(tmp_path, ["--py-files", zipped, "job.py", "land", "s3://submitted/land.yaml"], environ)
        assert done.returncode == 0, done.stderr
        # spark-submit makes one stream of both: what is told at the start is on standard error.
        *start, read, landed, quarantined, reason = done.stdout.splitlines()
        assert start == [Parquet.limits, "The topic orders goes to the table orders."]
        assert [read, landed, quarantined, reason] == ["read: 51", "landed: 50", "quarantined: 1", "  UNKNOWN_ID: 1"]
        outcome = Outcome(driver(settings.read_settings(config)), Sum())
        assert outcome.holds([("orders", 0, offset) for offset in range(51)])


def submitted(folder: Path, command: list[str], environ: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """As from a shell in that folder, with no way to our code but the one that the command names."""
    local = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": ""}
    return subprocess.run(
        [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]", *command],
        cwd=folder,
        env={**os.environ, **environ, **local},
        capture_output=True,
        text=True,
        check=False,
        timeout=BEGUN_WITHIN_S,
    )


@pytest.mark.soak
def test_a_task_that_is_slow_is_tried_beside_itself_and_its_records_land_once(
    estate: Estate,
) -> None:
    """On two hosts. Both attempts wrote their files; those of the attempt that was given up belong to no table."""
    with estate.registry() as world:
        order = world.register("orders-value", ORDER)
    values = [framed(order, avro(ORDER, {"id": id})) for id in range(100)]
    records = estate.write("a.parquet", raw(values), row_group=50)
    config = estate.config("orders")
    status, told, said = ended(started(str(config), module="tests.pipelines.spark.cluster"))
    assert status == 0, said
    assert told.splitlines() == ["read: 100", "landed: 100", "quarantined: 0"]
    outcome = Outcome(driver(settings.read_settings(config)), Sum())
    assert outcome.holds(records)
    assert (len(outcome.files()), len(outcome.manifests[0].files)) == (3, 2)
