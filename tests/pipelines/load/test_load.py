"""A whole topic through Spark: what comes of it is the registry that `sigla import` makes, whatever came between."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pipelines.load import job
from pipelines.load.frames import Row
from pipelines.load.load import load
from pipelines.load.steps import Open, Step
from pipelines.load.work import Files, Here
from sigla import opening
from sigla.cli import dumps
from sigla.journal.replay import TopicRecord, replayed
from sigla.registry import importing
from sigla.registry.exporting import standing
from sigla.registry.importing import IDENTICAL, IMPORTED, Report
from sigla.settings import Address
from tests.attack.stories import BASE, DELETED, ONE, THREE, TWO, USING, config, delete, mode, purge, register
from tests.attack.world import World
from tests.pipelines.load.registries import everything

DUMP = Path(__file__).parents[2] / "vectors" / "dump" / "records.jsonl.gz"
# Spark's own, between its process and ours: closed when nobody refers to them any more.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

STANDS = ("versions", "settings", "referrers")
EVERYTHING = {"version": 808, "id": 35, "config": 100, "mode": 129, "context": 96}


class CutOff(Exception):
    """The process ends here."""


@dataclass(frozen=True)
class CutIn:
    """A worker whose process ends in the middle of a step."""

    worker: Here
    name: str

    def run(self, step: Step, frame: DataFrame, name: str) -> DataFrame:
        def cut(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
            some = [*rows]
            yield from step(open, some[: len(some) // 2])
            raise CutOff

        return self.worker.run(cut if name == self.name else step, frame, name)


def cut_off(files: Files, raw: DataFrame, address: Address) -> int:
    """How many versions were written by a load whose process ended half-way through them."""
    with opening.writing(address) as writing, pytest.raises(CutOff):
        load(raw, files, CutIn(Here(files, Open(writing.registry, writing.group)), "early"))
    return len(stored(Path(address.data))["versions"])


def imported(records: list[TopicRecord], folder: Path) -> Report:
    with opening.writing(Address(str(folder))) as writing:
        return importing.import_state(writing.registry, replayed(records), group=writing.group)


def stored(folder: Path) -> dict[str, Any]:
    with opening.reading(Address(str(folder))) as held:
        return everything(held.catalog, held.bodies)


def test_a_load_that_is_cut_off_and_begun_again_ends_as_an_import(spark: SparkSession, tmp_path: Path) -> None:
    """1,601 records of every kind, from a real topic: every version, id, meaning and setting; every fact is told."""
    files, address = Files(spark, str(tmp_path / "work")), Address(str(tmp_path / "loaded"))
    raw = job.read(spark, str(DUMP))
    begun = cut_off(files, raw, address)
    assert 0 < begun < EVERYTHING["version"]
    report = job.run(files, raw, address, report=str(tmp_path / "report.json"))
    whole = imported(dumps.read(DUMP), tmp_path / "imported")
    assert whole.of(IMPORTED) == EVERYTHING
    assert stored(tmp_path / "loaded") == stored(tmp_path / "imported")
    assert report.of(IMPORTED)["version"] == EVERYTHING["version"] - begun
    assert {**report.of(IMPORTED), **report.of(IDENTICAL), "version": whole.of(IMPORTED)["version"]} == EVERYTHING
    told = "".join(each.read_text() for each in (tmp_path / "report.json").glob("*.json"))
    assert len([json.loads(line) for line in told.splitlines()]) == sum(EVERYTHING.values())


@pytest.mark.soak
def test_what_we_export_is_loaded_cut_off_and_begun_again(spark: SparkSession, tmp_path: Path) -> None:
    """References that come before what they refer to, a content with two ids, gone and deleted versions, settings."""
    with World(
        *DELETED,
        register("base", BASE),
        register("using", USING, "base"),
        delete("using", 1),
        delete("base", 1),
        register(":.c:x", THREE),
        delete(":.c:x"),
        purge(":.c:x"),
        mode(":.d:", "IMPORT"),
        register(":.d:a", ONE, id=7, version=3),
        register(":.d:b", ONE, id=5),
        register(":.d:b", TWO, id=9),
        config("orders", level="FULL"),
        config("", level="NONE"),
    ) as world:
        records = [
            TopicRecord(key, value, ts, offset)
            for offset, (key, value, ts) in enumerate(standing(world.store.catalog, world.store.bodies))
        ]
        theirs = everything(world.store.catalog, world.store.bodies)
    # The topic's order is not that of its references: compaction keeps the last record of each key.
    turned = [each._replace(offset=len(records) - at) for at, each in enumerate(records)]
    spark.createDataFrame(
        [(each.key, each.value, each.ts, each.offset) for each in turned],
        "key binary, value binary, timestamp bigint, offset bigint",
    ).write.parquet(str(tmp_path / "dump.parquet"))
    raw = job.read(spark, str(tmp_path / "dump.parquet"))
    files, address = Files(spark, str(tmp_path / "work")), Address(str(tmp_path / "loaded"))
    begun = cut_off(files, raw, address)
    report = job.run(files, raw, address)
    whole = imported(turned, tmp_path / "imported")
    assert 0 < begun < whole.of(IMPORTED)["version"]
    assert report.of(IDENTICAL)["version"] == begun
    assert report.of(IMPORTED)["version"] == whole.of(IMPORTED)["version"] - begun
    ours = stored(tmp_path / "loaded")
    assert ours == stored(tmp_path / "imported")
    # What an id meant that nobody holds any more is no part of what stands.
    assert {key: ours[key] for key in STANDS} == {key: theirs[key] for key in STANDS}
