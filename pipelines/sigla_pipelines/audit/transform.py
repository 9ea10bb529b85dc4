"""Frames in, frames out: what the tables of an audit say, from listings, facts and failures."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.window import Window

from sigla.rules.compatibility import LEVELS, Against, Level
from sigla.settings import Address
from sigla_pipelines.audit.facts import FACTS, Status, rows_of_facts
from sigla_pipelines.audit.pairs import DIRECTIONS, FAILURES, Scope, failures_of_blocks
from sigla_pipelines.audit.usage import USAGE, usage_of_files
from sigla_pipelines.land.resolved import Resolved
from sigla_pipelines.places import Place

IDS: Final = pa.schema(
    [
        pa.field("context", pa.string()),
        pa.field("id", pa.int64()),
        pa.field("type", pa.string()),
        pa.field("status", pa.string()),
        pa.field("detail", pa.string()),
        pa.field("gone", pa.bool_()),
        pa.field("versions", pa.int64()),
        pa.field("active", pa.int64()),
        pa.field("subject", pa.string()),
        pa.field("rows", pa.int64()),
        pa.field("quarantined", pa.int64()),
        pa.field("last_seen", pa.int64()),
        pa.field("topics", pa.list_(pa.string())),
    ]
)
"""Every id that a version, a body or a record knows. subject: the smallest that has it; null: no version points to it.
status: null where only records know it. quarantined: those of `rows` that are in the quarantine."""

OCCURRENCES: Final = pa.schema(
    [
        pa.field("context", pa.string()),
        pa.field("id", pa.int64()),
        pa.field("topic", pa.string()),
        pa.field("rows", pa.int64()),
        pa.field("last_seen", pa.int64()),
    ]
)
"""An id that a version has, in the records of a topic; those of the quarantine included."""

BREAKS: Final = pa.schema(
    [
        pa.field("context", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("level", pa.string()),
        pa.field("newer", pa.int32()),
        pa.field("older", pa.int32()),
        pa.field("newer_id", pa.int64()),
        pa.field("older_id", pa.int64()),
        pa.field("direction", pa.string()),
        pa.field("neighbours", pa.bool_()),
        pa.field("own", pa.bool_()),
        pa.field("messages", pa.list_(pa.string())),
    ]
)
"""Pairs of active versions that a level would refuse. level: that of the subject now. neighbours: none is between. own:
the subject's own level would refuse the pair, too."""

LEVEL_COUNTS: Final = pa.schema(
    [
        pa.field("level", pa.string()),
        pa.field("subjects", pa.int64()),
        pa.field("broken_subjects", pa.int64()),
        pa.field("broken_pairs", pa.int64()),
    ]
)
"""subjects: that have the level now. broken: that have versions which the level would refuse."""

DUPLICATES: Final = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("digest", pa.string()),
        pa.field("context", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("id", pa.int64()),
    ]
)
"""Versions of different subjects with EQUAL content, or EQUIVALENT ones after normalising, in groups by digest."""

REFERENCES: Final = pa.schema(
    [
        pa.field("context", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("id", pa.int64()),
        pa.field("name", pa.string()),
        pa.field("target", pa.string()),
        pa.field("target_version", pa.int32()),
        pa.field("target_id", pa.int64()),
        pa.field("problem", pa.string()),
    ]
)
"""References that lead nowhere: NO_BODY under the id they resolved to, or NO_VERSION, or a DELETED one."""

_KEY: Final = ["context", "id"]
_SUBJECT: Final = ["context", "subject"]


def facts_of(versions: DataFrame, objects: DataFrame, address: Address) -> DataFrame:
    """The FACTS of every id that a version or a body has."""
    ids = versions.select(*_KEY).union(objects.select(*_KEY)).distinct()
    return ids.mapInArrow(partial(rows_of_facts, address=address), from_arrow_schema(FACTS))


# --- pairs -----------------------------------------------------------------------------------------------------------


def comparable(versions: DataFrame, known: DataFrame) -> DataFrame:
    """Active versions that can be compared, with their position among those of their subject and group."""
    understood = known.where(f.col("status") == Status.UNDERSTOOD.name).select(*_KEY, "properties")
    group = f.when(f.col("property").isNotNull(), f.expr("properties[property]"))
    of_group = Window.partitionBy(*_SUBJECT, "group").orderBy("version")
    return (
        versions.where(~f.col("deleted"))
        .join(understood, _KEY)
        .withColumn("group", group)
        .withColumn("position", f.row_number().over(of_group) - 1)
        .select(*_SUBJECT, "version", "id", "level", "policy", "group", "position")
    )


def blocks(compared: DataFrame, scope: Scope) -> DataFrame:
    """Blocks of ids that are to be compared, each once however many subjects have it."""
    of_group = Window.partitionBy(*_SUBJECT, "group")
    block = f.floor(f.col("position") / scope.block)
    others = f.sequence(f.lit(0), f.col("last"))
    if scope.neighbours:
        others = f.filter(others, lambda other: f.abs(other - f.col("block")) <= 1)
    members = (
        compared.withColumn("block", block.cast("int"))
        .withColumn("last", f.max("block").over(of_group))
        .withColumn("other", f.explode(others))
        .withColumn("above", f.greatest("block", "other"))
        .withColumn("below", f.least("block", "other"))
    )
    whole = members.groupBy(*_SUBJECT, "group", "policy", "above", "below").agg(
        f.sort_array(f.collect_list(f.struct("position", "block", "id"))).alias("members")
    )
    newer = f.filter("members", lambda each: each["block"] == f.col("above"))
    older = f.filter("members", lambda each: each["block"] < f.col("above"))
    sides = whole.select(
        "context",
        "policy",
        f.transform(newer, lambda each: each["id"]).alias("newer"),
        f.transform(older, lambda each: each["id"]).alias("older"),
    )
    return sides.where(f.size("newer") + f.size("older") > 1).distinct()


def failures_of(blocks: DataFrame, address: Address, scope: Scope) -> DataFrame:
    found = blocks.mapInArrow(partial(failures_of_blocks, address=address, scope=scope), from_arrow_schema(FAILURES))
    # A pair may be in the blocks of several subjects; its messages are the same in each.
    return found.dropDuplicates(["context", "policy", "newer", "older", "direction"])


def breaks(compared: DataFrame, failed: DataFrame, scope: Scope) -> DataFrame:
    """The rows of BREAKS: failures of ids as pairs of versions."""
    pair = failed.withColumnsRenamed({"newer": "newer_id", "older": "older_id"}).withColumn(
        "policy", f.coalesce("policy", f.lit(""))
    )
    sides = compared.withColumn("policy", f.coalesce("policy", f.lit("")))
    newer = sides.select(
        *_SUBJECT,
        "policy",
        "group",
        "level",
        f.col("version").alias("newer"),
        f.col("id").alias("newer_id"),
        f.col("position").alias("at"),
    )
    older = sides.select(
        *_SUBJECT,
        f.col("group").alias("older_group"),
        f.col("version").alias("older"),
        f.col("id").alias("older_id"),
        f.col("position").alias("before"),
    )
    together = (
        newer.join(pair, ["context", "policy", "newer_id"])
        .join(older, [*_SUBJECT, "older_id"])
        .where(f.col("group").eqNullSafe(f.col("older_group")) & (f.col("before") < f.col("at")))
        .withColumn("neighbours", f.col("at") - f.col("before") == 1)
        .withColumn("own", _breaks_own_level())
    )
    wanted = together.where("neighbours") if scope.neighbours else together
    return wanted.select(*BREAKS.names)


def _breaks_own_level() -> "f.Column":
    """Whether the level of the subject refuses the pair."""
    refused = f.lit(False)  # noqa: FBT003 - a value, and no switch
    for name, level in LEVELS.items():
        refused = refused | ((f.col("level") == name) & _refused(level))
    return refused


def _refused(level: Level) -> "f.Column":
    names = [name for name, direction in DIRECTIONS.items() if direction in level.directions]
    return f.col("direction").isin(names) & (f.col("neighbours") | (level.against is Against.ALL))


def level_counts(compared: DataFrame, broken: DataFrame) -> list[tuple[str, int, int, int]]:
    """The rows of LEVEL_COUNTS, one for each level beside NONE, in their order."""
    asked = {name: level for name, level in LEVELS.items() if level.directions}
    now = dict(compared.groupBy("level").agg(f.count_distinct(*map(f.col, _SUBJECT))).collect())
    counts = []
    for level in asked.values():
        refused = _refused(level)
        subject = f.when(refused, f.struct(*_SUBJECT))
        pair = f.when(refused, f.struct(*_SUBJECT, "newer", "older"))
        counts += [f.count_distinct(subject), f.count_distinct(pair)]
    found = broken.agg(*(count.alias(str(at)) for at, count in enumerate(counts))).first()
    return [(name, now.get(name, 0), found[2 * at], found[2 * at + 1]) for at, name in enumerate(asked)]


# --- usage -----------------------------------------------------------------------------------------------------------


def usage_of(spark: SparkSession, files: Mapping[Place, Sequence[str]], resolved: Resolved | None = None) -> DataFrame:
    """The USAGE of files, named below places. resolved: rows of the quarantine that count elsewhere."""
    rows = [(place, name) for place, names in enumerate(files.values()) for name in names]
    listed = spark.createDataFrame(rows, "place int, name string").repartition(max(1, min(len(rows), 1000)))
    return listed.mapInArrow(partial(usage_of_files, places=[*files], resolved=resolved), from_arrow_schema(USAGE))


def ids(versions: DataFrame, known: DataFrame, used: DataFrame, context: str) -> DataFrame:
    """The rows of IDS. context: of the ids in data."""
    held = versions.groupBy(*_KEY).agg(
        f.count("*").alias("versions"),
        f.sum((~f.col("deleted")).cast("long")).alias("active"),
        f.min("subject").alias("subject"),
    )
    here = f.lit(context)
    seen = (
        _with_ids(known, used, context)
        .groupBy("id")
        .agg(
            f.sum("rows").alias("rows"),
            f.sum(f.when(f.col("quarantined"), f.col("rows"))).alias("quarantined"),
            f.max("last_seen").alias("last_seen"),
            f.sort_array(f.collect_set("topic")).alias("topics"),
        )
        .withColumn("context", here)
    )
    facts = known.select(*_KEY, "type", "status", "detail", "gone")
    everything = facts.join(held, _KEY, "full").join(seen, _KEY, "full")
    return everything.fillna(0, ["versions", "active", "rows", "quarantined"]).select(*IDS.names)


def occurrences(versions: DataFrame, known: DataFrame, used: DataFrame, context: str) -> DataFrame:
    """The rows of OCCURRENCES: of each id that a version has, in each topic. context: of the ids in data."""
    here = f.lit(context)
    held = versions.where(f.col("context") == here).select("id").distinct()
    return (
        _with_ids(known, used, context)
        .join(held, "id")
        .groupBy("id", "topic")
        .agg(f.sum("rows").alias("rows"), f.max("last_seen").alias("last_seen"))
        .withColumn("context", here)
        .select(*OCCURRENCES.names)
    )


def _with_ids(known: DataFrame, used: DataFrame, context: str) -> DataFrame:
    """A record that says a GUID has the last id that means it."""
    by_guid = known.where(f.col("context") == f.lit(context)).groupBy("guid").agg(f.max("id").alias("named"))
    found = used.join(by_guid, "guid", "left").withColumn("id", f.coalesce("id", "named"))
    return found.where(f.col("id").isNotNull())


# --- duplicates and references ---------------------------------------------------------------------------------------


def duplicates(versions: DataFrame, known: DataFrame) -> DataFrame:
    """The rows of DUPLICATES, of active versions."""
    digests = known.where(f.col("digest").isNotNull()).select(*_KEY, f.col("guid").alias("content"), "digest")
    active = versions.where(~f.col("deleted")).select(*_SUBJECT, "version", "id").join(digests, _KEY)
    columns = [*_SUBJECT, "version", "id"]
    equal = _groups(active, "content", f.countDistinct(*_SUBJECT) > 1)
    equivalent = _groups(active, "digest", (f.countDistinct(*_SUBJECT) > 1) & (f.countDistinct("content") > 1))
    return equal.select(f.lit("EQUAL").alias("kind"), f.col("content").alias("digest"), *columns).union(
        equivalent.select(f.lit("EQUIVALENT").alias("kind"), "digest", *columns)
    )


def _groups(active: DataFrame, by: str, wanted: "f.Column") -> DataFrame:
    shared = active.groupBy(by).agg(wanted.alias("wanted")).where("wanted").select(by)
    return active.join(shared, by)


def references(versions: DataFrame, known: DataFrame) -> DataFrame:
    """The rows of REFERENCES, of active versions."""
    used = known.select(*_KEY, f.explode("targets").alias("to"))
    targets = versions.select(
        f.col("context").alias("target_context"),
        f.col("subject").alias("target_subject"),
        f.col("version").alias("target_version"),
        f.col("deleted").alias("target_deleted"),
    )
    bodies = known.where(f.col("status") != Status.NO_BODY.name).select(
        f.col("context").alias("target_context"), f.col("id").alias("target_id"), f.lit(1).alias("there")
    )
    problem = (
        f.when(f.col("there").isNull(), "NO_BODY")
        .when(f.col("target_deleted").isNull(), "NO_VERSION")
        .when(f.col("target_deleted"), "DELETED")
    )
    return (
        versions.where(~f.col("deleted"))
        .join(used, _KEY)
        .withColumn("target_context", f.col("to.context"))
        .withColumn("target_subject", f.col("to.subject"))
        .withColumn("target_version", f.col("to.version"))
        .withColumn("target_id", f.col("to.id"))
        .join(targets, ["target_context", "target_subject", "target_version"], "left")
        .join(bodies, ["target_context", "target_id"], "left")
        .withColumn("problem", problem)
        .where(f.col("problem").isNotNull())
        .withColumn("name", f.col("to.name"))
        .withColumn("target", _qualified("target_context", "target_subject"))
        .select(*REFERENCES.names)
    )


def _qualified(context: str, subject: str) -> "f.Column":
    named = f.concat(f.lit(":"), f.col(context), f.lit(":"), f.col(subject))
    return f.when(f.col(context) == ".", f.col(subject)).otherwise(named)
