"""Records of `_schemas` → what their registry holds at the end: frames in, frames out.

The rules are those of `sigla.journal.replay`, which look at one record, one version, one id or one subject: a group
comes to its function in one piece, sorted, so that memory holds one group at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sigla.journal import replay
from sigla.journal.replay import (
    Associated,
    Cleared,
    ConfigSet,
    ContextSet,
    DekSet,
    Event,
    Hidden,
    KekSet,
    ModeSet,
    Purged,
    Put,
    Skipped,
    TopicRecord,
)
from sigla.model import Subject
from sigla.rules import names
from sigla_pipelines.load.frames import (
    CLAIMS,
    EVENTS,
    LIVES,
    LOST,
    Row,
    batches,
    frozen,
    key_of,
    rows,
    spark_ddl,
    thawed,
)

SUBJECT: Final = ("context", "name")
VERSION: Final = (*SUBJECT, "version")
ID: Final = ("context", "id")

NOT_A_RECORD: Final = "a record of a registry has a key and an offset"

Work = Callable[[Iterable[Row]], Iterator[Row]]


# --- what happened ---------------------------------------------------------------------------------------------------


def events(raw: DataFrame) -> DataFrame:
    """raw: as `source.read_records` gives it."""
    return raw.mapInArrow(partial(_each_row, _parse_records, EVENTS), spark_ddl(EVENTS))


def _parse_records(raw: Iterable[Row]) -> Iterator[Row]:
    for row in raw:
        if row["key"] is None or row["offset"] is None:
            event: Event = Skipped(row["offset"] or 0, "no key", NOT_A_RECORD)
        else:
            event = replay.read(TopicRecord(row["key"], row["value"], row["timestamp"] or 0, row["offset"]))
        yield {"offset": event.offset, "kind": type(event).__name__, **_about(event), "event": frozen(event)}


def _about(event: Event) -> Row:
    """The columns by which it is grouped."""
    match event:
        case Put(subject=subject, version=version, id=id):
            uses = [
                {**_subject(names.reference_target(each.subject, subject.context)), "version": each.version}
                for each in event.schema.references
            ]
            return {**_subject(subject), "version": version, "id": id, "uses": uses}
        case Purged(subject=subject, version=version):
            return {**_subject(subject), "version": version}
        case Hidden(subject=subject):
            return _subject(subject)
        case ConfigSet(scope=scope) | ModeSet(scope=scope):
            return _subject(scope)
        case ContextSet(context=context):
            return {"context": context}
    return {}


def _subject(subject: Subject) -> dict[str, Any]:
    return {"context": subject.context, "name": subject.name}


def of(events: DataFrame, *kinds: type) -> DataFrame:
    return events.where(F.col("kind").isin([kind.__name__ for kind in kinds]))


# --- versions --------------------------------------------------------------------------------------------------------


def lost(events: DataFrame) -> DataFrame:
    """Offsets of the records whose id stood for another text (JRN-4)."""
    claims = _by_group(of(events, Put, Purged), VERSION, _claims, CLAIMS)
    return _by_group(claims, ID, _lost, LOST)


def _claims(group: Iterable[Row]) -> Iterator[Row]:
    for claim in replay.claims(thawed(row["event"]) for row in group):
        context, id = claim.key
        yield {"offset": claim.offset, "context": context, "id": id, "claim": frozen(claim)}


def _lost(group: Iterable[Row]) -> Iterator[Row]:
    for offset in replay.rejected(thawed(row["claim"]) for row in group):
        yield {"offset": offset}


def lives(events: DataFrame, lost: DataFrame, cleared: Sequence[Cleared]) -> DataFrame:
    """What is stored at the end, and what was written `over` in its place. cleared: all of them; they are few."""
    left = of(events, Put, Purged, Hidden).join(lost, "offset", "left_anti")
    return _by_group(left, SUBJECT, partial(_lived, tuple(cleared)), LIVES)


def _lived(cleared: Sequence[Cleared], group: Iterable[Row]) -> Iterator[Row]:
    lives = replay.lived([thawed(row["event"]) for row in group], cleared)
    for over, puts in ((False, lives.stored.values()), (True, lives.written_over)):
        for put in puts:
            yield {"offset": put.offset, **_about(put), "guid": put.guid, "put": frozen(put), "over": over}


def stored_versions(lives: DataFrame) -> DataFrame:
    """What is stored at the end."""
    return lives.where("NOT over").drop("over")


def displaced(lives: DataFrame) -> DataFrame:
    """As `stored_versions`: the last of each id that no version holds. known: of its content it is the last of all."""
    held = stored_versions(lives).select(*ID).distinct()
    every = lives.columns
    over = lives.where("over").join(held, [*ID], "left_anti").groupBy(*ID)
    last = over.agg(F.max_by(F.struct(*every), "offset").alias("last")).select("last.*")
    contents = stored_versions(lives).unionByName(last.drop("over")).groupBy("context", "guid")
    words = contents.agg(F.max("offset").alias("word"))
    told = last.join(words, ["context", "guid"])
    return told.withColumn("known", F.col("offset") == F.col("word")).drop("over", "word")


def gone(events: DataFrame, lost: DataFrame, lives: DataFrame) -> DataFrame:
    """As `stored_versions`: what ids meant that no version holds any more, and none was written over."""
    last = (
        of(events, Put)
        .join(lost, "offset", "left_anti")
        .join(lives.select(*ID).distinct(), [*ID], "left_anti")
        .groupBy(*ID)
        .agg(
            F.max_by(F.struct("offset", "name", "version", "uses", F.col("event").alias("put")), "offset").alias("last")
        )
    )
    return last.select(*ID, "last.*")


def late(versions: DataFrame) -> DataFrame:
    """With a flag on those to be written after all others: by the last of them a content with several ids is known."""
    last = (
        versions.groupBy("context", "guid")
        .agg(F.count_distinct("id").alias("ids"), F.max("offset").alias("offset"))
        .where("ids > 1")
        .select("offset", F.lit(True).alias("late"))  # noqa: FBT003 - a value
    )
    return versions.join(last, "offset", "left").fillna({"late": False})


def with_targets(puts: DataFrame, versions: DataFrame) -> DataFrame:
    """With the id of each version that is referenced; null where the topic has none."""
    used = puts.select("offset", F.explode("uses").alias("use")).select("offset", "use.*")
    found = (
        used.join(versions.select(*VERSION, "id"), [*VERSION], "left")
        .groupBy("offset")
        .agg(F.collect_list(F.struct(*VERSION, "id")).alias("targets"))
    )
    return puts.join(found, "offset", "left")


def bodies(missing: DataFrame) -> DataFrame:
    """One of the versions of each id, the first in the topic; in its order: few refer to later ones."""
    first = missing.groupBy(*ID).agg(F.min("offset").alias("offset")).select("offset")
    return missing.join(first, "offset", "left_semi").orderBy("offset")


# --- the rest --------------------------------------------------------------------------------------------------------


def last_settings(events: DataFrame) -> DataFrame:
    """The last word on config and on mode of each scope."""
    last = of(events, ConfigSet, ModeSet).groupBy(*SUBJECT, "kind").agg(F.max_by("event", "offset").alias("event"))
    return arranged(last, SUBJECT, "kind")


def contexts(events: DataFrame) -> DataFrame:
    """Those that are listed at the end."""
    last = of(events, ContextSet).groupBy("context").agg(F.max_by("event", "offset").alias("event"))
    return last.orderBy("context")


def highest(events: DataFrame) -> DataFrame:
    """The highest id that each context ever had, rejected ones among them."""
    return of(events, Put).groupBy("context").agg(F.max("id").alias("id"))


def keys_and_associations(events: DataFrame) -> DataFrame:
    """All of them in one part, in the order of the topic: they are few."""
    return of(events, KekSet, DekSet, Associated).coalesce(1).sortWithinPartitions("offset")


def skipped(events: DataFrame, lost: DataFrame) -> DataFrame:
    return of(events, Skipped).unionByName(of(events, Put).join(lost, "offset", "left_semi")).orderBy("offset")


# --- groups ----------------------------------------------------------------------------------------------------------


def arranged(frame: DataFrame, keys: Sequence[str], *order: str) -> DataFrame:
    """Each group in one piece, sorted."""
    return frame.repartition(*keys).sortWithinPartitions(*keys, *order)


def _by_group(frame: DataFrame, keys: Sequence[str], work: Work, schema: pa.Schema) -> DataFrame:
    together = partial(_groups, tuple(keys), work)
    return arranged(frame, keys, "offset").mapInArrow(partial(_each_row, together, schema), spark_ddl(schema))


def _groups(keys: Sequence[str], work: Work, arranged: Iterable[Row]) -> Iterator[Row]:
    for _, group in groupby(arranged, lambda row: key_of(row, keys)):
        yield from work(group)


def _each_row(work: Work, schema: pa.Schema, given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches(work(rows(given)), schema)
