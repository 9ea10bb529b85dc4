"""A registry in a folder and a job beside it: whole batches, as Spark or a loop over files would land them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import Driver, driver
from sigla_pipelines.land.landed import QUARANTINE, Landed
from sigla_pipelines.land.manifest import Entry, Manifest
from sigla_pipelines.land.settings import parse_landing
from sigla_pipelines.land.sinks.sink import folder_of
from sigla_pipelines.land.task import Task
from tests.pipelines.land.world import raw


class Died(Exception):
    """The driver did."""


class Landings:
    """A registry in a folder, and a job beside it that lands what it is given.

    sink: of its settings. parts: all else of them.
    """

    def __init__(self, home: Path, **sink: Any) -> None:
        self.home = home
        self.sink = sink
        self.parts: dict[str, Any] = {}
        self.landed = 0
        self.tasks = 0
        self.dies_at = 0
        self.jobs: list[Driver] = []

    def register(self, text: str, subject: str = "orders-value", type: str = "PROTOBUF") -> int:
        draft = Draft(text=text, type=type)
        with embedded(Settings(default_level="NONE"), self.home / "data") as (registry, _):
            return int(registry.register(Subject(".", subject), draft).id or 0)

    def land(self, *records: bytes | None, keys: list[bytes] | None = None, **binding: Any) -> Manifest:
        """Values, and keys if there are any, of the topic `orders`."""
        bound = [{"topic": "orders"} | binding, *([{"topic": "orders", "part": "key"}] if keys else [])]
        return self.land_batches(bound, [raw(records, start=100 * self.landed, keys=keys)])

    def land_batches(self, bound: Sequence[Mapping[str, Any]], batches: Sequence[pa.RecordBatch]) -> Manifest:
        """As one batch, a task for each, by a job that knows nothing but what it finds in its folders."""
        form = {
            "registry": {"data": str(self.home / "data")},
            "source": {"kind": "files", "path": str(self.home / "raw")},
            "bind": [*map(dict, bound)],
            "sink": {"kind": "parquet", "lake": str(self.home / "lake")} | self.sink,
            "work": str(self.home / "work"),
            **self.parts,
        }

        def tasks(task: Task) -> Sequence[Landed]:
            self.tasks += 1
            if self.tasks == self.dies_at:
                raise Died
            return [Landed.decoded(task.land([batch]).encoded()) for batch in batches]

        entry = Entry(str(self.landed), "", 0, sum(map(len, batches)))
        self.job = driver(parse_landing(yaml.safe_dump(form), "land.yaml"))
        self.jobs.append(self.job)
        manifest = self.job.land(Batch("q", self.landed, entries=(entry,)), tasks)
        self.landed += 1
        self.last = manifest
        return manifest

    def close(self) -> None:
        for job in self.jobs:
            job.close()

    def named(self, table: str) -> str:
        """What a table is called. table: as `bind` calls it."""
        return self.job.names.of([table])[table]

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of the last batch, without our own columns. table: as `bind` calls it."""
        table = self.named(table)
        files = [self.home / "lake" / folder_of(table) / file.path for file in self.last.files if file.table == table]
        found = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
        return [{name: value for name, value in row.items() if not name.startswith("_sr_")} for row in found]

    def committed(self, table: str) -> list[dict[str, Any]]:
        """All that the sink has, in the order of offsets."""
        found = [row for batch in self.job.sink.rows(self.named(table)) for row in batch.to_pylist()]
        return sorted(found, key=lambda row: row["_sr_offset"])

    def quarantined(self) -> list[tuple[str, str]]:
        return [(each["reason"], each["detail"]) for row in self.rows(QUARANTINE) for each in row["reasons"]]

    def written(self) -> list[Path]:
        return sorted((self.home / "lake").rglob("*.parquet"))
