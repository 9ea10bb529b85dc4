"""A registry that is not served, a lake and a source: what jobs are tried with, and what became of every record."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from moto.server import ThreadedMotoServer
from pyspark.sql import SparkSession

from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land import settings
from sigla_pipelines.land.driver import Driver, driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.manifest import Manifest
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sources import Stopping
from tests.pipelines.broker import Broker
from tests.pipelines.land.world import World

ROOT = Path(__file__).parent.parent.parent.parent

Identity = tuple[str, int, int]
"""Topic, partition, offset."""


@dataclass(frozen=True)
class Estate:
    """root: a folder with the registry, what is raw, the lake and what the job remembers."""

    root: Path

    @contextmanager
    def registry(self) -> Iterator[World]:
        """Open while schemas are registered; closed while records are landed."""
        with embedded(Settings(default_level="NONE"), self.root / "registry") as (registry, store), store.group():
            yield World(registry, self.root)

    def config(self, *topics: str, source: dict[str, Any] | None = None, **parts: Any) -> Path:
        """A `land.yaml`: of files, unless another source is said."""
        form = {
            "registry": {"data": str(self.root / "registry")},
            "source": source or {"kind": "files", "path": str(self.root / "raw")},
            "bind": [{"topic": topic} for topic in topics],
            "sink": {"kind": "parquet", "lake": str(self.root / "lake")},
            "work": str(self.root / "work"),
            **parts,
        }
        path = self.root / "land.yaml"
        path.write_text(yaml.safe_dump(form))
        return path

    def write(self, name: str, *batches: pa.RecordBatch, row_group: int = 1000) -> list[Identity]:
        """A file of raw records."""
        path = self.root / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_batches(batches)
        pq.write_table(table, path, row_group_size=row_group)
        columns = (table.column(each).to_pylist() for each in ("topic", "partition", "offset"))
        return list(zip(*columns, strict=True))

    def land(self, spark: SparkSession, config: Path) -> "Outcome":
        opened, total = driver(settings.read_settings(config)), Sum()
        run(spark, opened, total, Stopping())
        return Outcome(opened, total)


def from_kafka(broker: Broker, **more: Any) -> dict[str, Any]:
    return {"kind": "kafka", "brokers": broker.address, **more}


def killed(step: str, config: Path) -> int:
    """How a job in a process group of its own ended."""
    command = [sys.executable, "-m", "tests.pipelines.spark.killed", step, str(config)]
    return subprocess.run(command, cwd=ROOT, start_new_session=True, capture_output=True, check=False).returncode


@contextmanager
def in_s3(bucket: str, *, tables: bool = False) -> Iterator[dict[str, str]]:
    """A bucket of moto's: the environment that leads this process there, and others.

    tables: without them, DynamoDB answers no request.
    """
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    environ = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ENDPOINT_URL_DYNAMODB": f"http://{host}:{port}" if tables else "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environ.items():
            patched.setenv(name, value)
        boto3.client("s3").create_bucket(Bucket=bucket)
        yield environ
    server.stop()


@dataclass(frozen=True)
class Outcome:
    """total: of this run; all else: of all runs so far."""

    driver: Driver
    total: Sum

    @property
    def manifests(self) -> list[Manifest]:
        return list(self.driver.manifests.all())

    def rows(self, table: str) -> list[dict[str, Any]]:
        """In the order of their identities."""
        names = (
            ("topic", "partition", "offset") if table == QUARANTINE else ("_sr_topic", "_sr_partition", "_sr_offset")
        )
        found = [row for batch in self.driver.sink.rows(table) for row in batch.to_pylist()]
        return sorted(found, key=lambda row: tuple(row[name] for name in names))

    def identities(self) -> Counter[Identity]:
        """Every record that is anywhere, and how often."""
        found: Counter[Identity] = Counter()
        for table in {name for manifest in self.manifests for name in manifest.tables}:
            start = "" if table == QUARANTINE else "_sr_"
            found.update((r[f"{start}topic"], r[f"{start}partition"], r[f"{start}offset"]) for r in self.rows(table))
        return found

    def holds(self, records: Sequence[Identity]) -> bool:
        """Whether every record is somewhere, once, and the sums say so."""
        counts = [manifest.counts for manifest in self.manifests]
        return (
            self.identities() == Counter(records)
            and sum(each.read for each in counts) == len(records)
            and sum(each.landed + each.quarantined for each in counts) == len(records)
        )

    def reasons(self) -> Counter[tuple[str, str]]:
        """Topic and reason of what is in the quarantine."""
        return Counter((row["topic"], each["reason"]) for row in self.rows(QUARANTINE) for each in row["reasons"])

    def files(self) -> set[Path]:
        """All that tasks ever wrote, whether it is part of a table or not."""
        return {Path(folder) / name for folder, _, names in os.walk(self.driver.lake.path("")) for name in names}
