"""A whole topic into a registry: the order of the steps. Who runs them: `work`."""

from collections.abc import Iterator
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sigla.journal.replay import Cleared
from sigla.upkeep.importing import Report
from sigla_pipelines.load import steps, transform
from sigla_pipelines.load.frames import REPORT, Row, thawed
from sigla_pipelines.load.transform import ID, SUBJECT, arranged
from sigla_pipelines.load.work import Files, LoadWorker

MOST_WAVES: Final = 1_000
"""How many bodies may wait for each other; a longer chain of references is written as if its beginning were unknown."""


def load(raw: DataFrame, files: Files, worker: LoadWorker) -> DataFrame:
    """Everything that the topic's registry holds and this one does not. The report, one row for each fact.

    raw: as `transform.events` wants it. Raises StoreError; begun again, it goes on. The counters come last.
    """
    events = files.kept("events", transform.events(raw))
    lost = files.kept("lost", transform.lost(events))
    cleared = [thawed(row["event"]) for row in transform.of(events, Cleared).collect()]
    lives = files.kept("versions", transform.lives(events, lost, cleared))
    versions = transform.stored_versions(lives)
    told = [worker.run(steps.skip, transform.skipped(events, lost), "skipped")]
    told.append(worker.run(steps.list_contexts, transform.contexts(events), "contexts"))
    wanted = transform.with_targets(transform.late(versions), versions)
    compared = worker.run(steps.compare, arranged(wanted, SUBJECT, "offset"), "compared")
    missing = compared.where("outcome IS NULL")
    placed = _placed(missing, worker)
    gone = transform.with_targets(transform.gone(events, lost, lives), versions)
    told += [compared, *placed, worker.run(steps.bury, gone.orderBy("offset"), "gone")]
    known = _together(placed).where("placed IS NOT NULL").select(*ID, F.col("placed").alias("found"))
    ready = missing.drop("placed").join(known.withColumnRenamed("found", "placed"), [*ID], "left")
    for late in (False, True):
        some = arranged(ready.where(F.col("late") == late), SUBJECT, "offset")
        told.append(worker.run(steps.write, some, "late" if late else "early"))
    displaced = transform.with_targets(transform.displaced(lives), versions)
    told.append(worker.run(steps.displace, displaced.orderBy("offset"), "displaced"))
    told.append(worker.run(steps.settle, transform.last_settings(events), "settings"))
    told.append(worker.run(steps.bring, transform.keys_and_associations(events), "keys"))
    worker.run(steps.count, transform.highest(events), "highest")
    return _together(told).where("outcome IS NOT NULL").select(*REPORT)


def _placed(missing: DataFrame, worker: LoadWorker) -> list[DataFrame]:
    """Bodies, wave by wave: what waits for a body that another wave brings comes with the next one."""
    waves = [worker.run(steps.place_bodies, transform.bodies(missing), "bodies-0")]
    waiting = _waiting(waves[-1])
    before, left = -1, waiting.count()
    while left and left != before and len(waves) < MOST_WAVES:
        waves.append(worker.run(steps.place_bodies, waiting.orderBy("offset"), f"bodies-{len(waves)}"))
        waiting = _waiting(waves[-1])
        before, left = left, waiting.count()
    if left:
        waves.append(worker.run(steps.place_waiting, waiting.orderBy("offset"), "bodies-last"))
    return waves


def _waiting(wave: DataFrame) -> DataFrame:
    return wave.where("waiting")


def _together(frames: list[DataFrame]) -> DataFrame:
    found, *others = frames
    for each in others:
        found = found.unionByName(each)
    return found


def summed(report: DataFrame) -> Report:
    """What `sigla import` would tell."""
    return steps.total(_facts(report))


def _facts(report: DataFrame) -> Iterator[Row]:
    return (row.asDict() for row in report.toLocalIterator())
