"""The audit of a registry: tables and a page below a place that was empty.

    sigla audit --data ./data --out ./audit --records ./lake
    sigla audit --bucket NAME --table NAME --out s3://…/audit --level FULL_TRANSITIVE

The driver streams two lists, of versions and of objects, and holds none of them; all that grows with the registry
happens in tasks. 0: nothing is amiss. 1: something cannot be read, or is refused by the level that was asked for; or a
store fell silent, which a sentence says, and no page. 2: misused.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from sigla import opening
from sigla.model import BodyKey, SchemaId
from sigla.ports.audits import FoundRecords, Occurrence
from sigla.registry.audits import packed
from sigla.rules.compatibility import LEVELS
from sigla.settings import Address
from sigla.terminal.arguments import context_argument
from sigla.terminal.output import escape_unprintable
from sigla.terminal.statuses import MISUSED
from sigla_pipelines import spark as sessions
from sigla_pipelines.address import add_address_options, parse_address
from sigla_pipelines.audit import listing, tables, transform, usage
from sigla_pipelines.audit.committed import Committed, Files, committed
from sigla_pipelines.audit.facts import FACTS
from sigla_pipelines.audit.page import page
from sigla_pipelines.audit.pairs import BLOCK, scope_of
from sigla_pipelines.audit.retention import client_settings, retention_of
from sigla_pipelines.audit.summary import Summary, summarise
from sigla_pipelines.exit_status import Kinds, exit_status_of
from sigla_pipelines.land import exit_status as landing
from sigla_pipelines.land.driver import driver, read_settings
from sigla_pipelines.land.sinks.sink import STAGED
from sigla_pipelines.places import Place, open_place
from sigla_pipelines.progress import UNSEEN, Progress, show_progress

NAME: Final = "sigla-audit"
OWN: Final[Kinds] = {**tables.OWN, **landing.OWN, usage.NoRecords: MISUSED}
SETTINGS: Final = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
"""A row of a block is up to a thousand ids; a batch of bodies is read in a second."""

LAST_TIME_MS: Final = 253_402_300_800_000
"""The end of the year 9999."""

NOTHING_LANDED: Final = Committed()


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """records: places in which every Parquet file is looked through. landed: what tables hold, and nothing else.

    context: of the ids in them. block: as of `pairs.Scope`. for_usage: whether the registry gets what is found in data.
    kafka: how to ask the brokers how long topics keep records; None: they are not asked.
    """

    address: Address
    out: Place
    records: tuple[Place, ...] = ()
    landed: Committed = NOTHING_LANDED
    context: str = "."
    level: str | None = None
    default_level: str = "BACKWARD"
    block: int = BLOCK
    for_usage: bool = False
    kafka: Mapping[str, str] | None = None

    def files(self) -> Files:
        """What is looked through."""
        named = {each: [*usage.parquet_files(each)] for each in self.records}
        return {**self.landed.files, **named}


def audit(spark: SparkSession, asked: AuditRequest, now: int, progress: Progress = UNSEEN) -> Summary:
    """Writes the tables and the page. now: milliseconds since the epoch. Raises NotEmpty, NoRecords, DataNotOpened."""
    out = asked.out
    tables.check_empty(out)
    for each in asked.records:
        usage.check_records(each)
    files = asked.files()
    scope = scope_of(asked.level, asked.block)
    with opening.reading(asked.address) as held:
        told = listing.versions(held.catalog, asked.default_level)
        progress.step("versions")
        tables.stream(progress.counted(told), listing.VERSIONS, out.under("tables/versions"))
        progress.step("objects")
        objects_told = listing.objects(held.inventory)
        tables.stream(progress.counted(objects_told), listing.OBJECTS, out.under("tables/objects"))
    versions = tables.read(spark, out.under("tables/versions"), listing.VERSIONS).persist()
    objects = tables.read(spark, out.under("tables/objects"), listing.OBJECTS)
    write = _Tables(spark, out, progress)
    known = write("bodies", transform.facts_of(versions, objects, asked.address), FACTS)
    compared = transform.comparable(versions, known).persist()
    blocks = transform.blocks(compared, scope).persist()
    failed = transform.failures_of(blocks, asked.address, scope)
    broken = write("breaks", transform.breaks(compared, failed, scope), transform.BREAKS)
    levels = transform.level_counts(compared, broken)
    tables.stream(levels, transform.LEVEL_COUNTS, out.under("tables/levels"))
    used = transform.usage_of(spark, files, asked.landed.resolved).persist()
    ids = transform.ids(versions, known, used, asked.context)
    in_topics = write("occurrences", transform.occurrences(versions, known, used, asked.context), transform.OCCURRENCES)
    summary = summarise(
        str(asked.address),
        now,
        asked.level,
        versions=versions,
        ids=write("ids", ids, transform.IDS),
        levels=[dict(zip(transform.LEVEL_COUNTS.names, row, strict=True)) for row in levels],
        breaks=broken,
        duplicates=write("duplicates", transform.duplicates(versions, known), transform.DUPLICATES),
        references=write("references", transform.references(versions, known), transform.REFERENCES),
        compared=blocks.agg(f.sum(_pairs(neighbours=scope.neighbours))).first()[0] or 0,
        searched=bool(files),
    )
    staged = sum(bool(STAGED.fullmatch(name)) for each in asked.records for name in files[each])
    summary = replace(summary, counted={**summary.counted, "staged": staged})
    out.put_if_absent("index.html", page(summary).encode())
    if asked.for_usage:
        keep_for_usage(asked, [place.url for place in files], in_topics, now)
    return summary


def keep_for_usage(asked: AuditRequest, places: Sequence[str], in_topics: DataFrame, now: int) -> None:
    """Puts what was found in data beside the registry, for `sigla usage`. Nothing else of it is written."""
    found = [
        Occurrence(BodyKey(row.context, SchemaId(row.id)), row.topic, row.rows, _told_time(row.last_seen))
        for row in in_topics.orderBy("id", "topic").toLocalIterator()
    ]
    kept_ms = retention_of((each.topic for each in found), asked.kafka) if asked.kafka else {}
    with opening.reading(asked.address) as held:
        held.audits.put(packed(FoundRecords(now, tuple(places), found, kept_ms)))


def _told_time(last: int | None) -> int | None:
    """None for a time that no calendar has: producers write what they like."""
    return last if last is not None and 0 <= last < LAST_TIME_MS else None


class _Tables:
    """Writes a table and reads it back: nothing is worked out twice."""

    def __init__(self, spark: SparkSession, out: Place, progress: Progress) -> None:
        self._spark = spark
        self._out = out
        self._progress = progress

    def __call__(self, name: str, frame: DataFrame, schema: tables.Schema) -> DataFrame:
        self._progress.step(name)
        place = self._out.under(f"tables/{name}")
        tables.write(frame, schema, place)
        return tables.read(self._spark, place, schema).persist()


def _pairs(*, neighbours: bool) -> "f.Column":
    """How many pairs a block has."""
    newer, older = f.size("newer"), f.size("older")
    if neighbours:
        return f.when(older > 0, 1).otherwise(newer - 1)
    return f.when(older > 0, newer.cast("long") * older).otherwise(newer.cast("long") * (newer - 1) / 2).cast("long")


# --- the command -----------------------------------------------------------------------------------------------------


def main(argv: Sequence[str]) -> int:
    escape_unprintable()
    return exit_status_of(lambda: _audited(_parse_arguments(argv)), OWN, again=tables.NOT_WHOLE, spark=sessions.gave_up)


def _audited(asked: AuditRequest) -> int:
    with sessions.running_session(os.environ, name=NAME, settings=SETTINGS) as spark, show_progress(spark) as progress:
        begun = time.time()
        summary = audit(spark, asked, round(begun * 1000), progress)
    sys.stdout.write(text_for_people(summary, time.time() - begun, asked.out.uri("index.html")))
    return int(summary.amiss)


def text_for_people(summary: Summary, took_s: float, where: str) -> str:
    """What a person reads on the terminal."""
    counted = summary.counted
    lines = [
        f"audited: {counted['versions']:,} versions of {counted['subjects']:,} subjects, {counted['ids']:,} ids",
        f"compared: {counted['compared']:,} pairs",
        *(
            f"{line['level']}: would refuse {line['broken_subjects']:,} subjects"
            for line in summary.levels
            if summary.level in {None, line["level"]}
        ),
    ]
    if summary.searched:
        lines.append(f"ids in the data: {counted['seen']:,}, never seen: {counted['never']:,}")
        lines.append(
            f"unknown ids in the data: {counted['unknown']:,}, in the quarantine alone: {counted['garbage']:,}"
        )
    if counted["staged"]:
        lines.append(
            f"counted all {counted['staged']:,} files of landing jobs, including files of failed attempts; "
            "`--land CONFIG` counts only what the tables hold"
        )
    lines += [
        f"in several subjects: {counted['equal']:,} equal, {counted['equivalent']:,} equivalent",
        f"cannot be read: {counted['unreadable']:,} schemas, {counted['references']:,} references",
        f"took: {took_s:.0f} s",
        f"page: {where}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _landed(config: str) -> tuple[Committed, str]:
    """What a job's tables hold, and the context of its ids."""
    job = driver(read_settings(config))
    try:
        return committed(job), job.landing.registry.context
    finally:
        job.close()


def _parse_arguments(argv: Sequence[str]) -> AuditRequest:
    parser = argparse.ArgumentParser(prog="sigla audit", description=(__doc__ or "").partition("\n")[0])
    add_address_options(parser)
    parser.add_argument("--out", required=True, metavar="PLACE", help="an empty folder, or s3://…")
    parser.add_argument("--land", metavar="CONFIG", help="a land.yaml: look through its tables and its quarantine")
    parser.add_argument(
        "--records",
        nargs="*",
        default=[],
        metavar="PLACE",
        help="look through all Parquet files there, of landed or raw records",
    )
    parser.add_argument(
        "--context",
        type=context_argument,
        metavar="NAME",
        help="the context of the ids in the records (default: the one of --land, else .)",
    )
    parser.add_argument(
        "--level", choices=[each for each in LEVELS if each != "NONE"], help="compare by this level only"
    )
    parser.add_argument(
        "--default-level",
        default="BACKWARD",
        choices=LEVELS,
        metavar="LEVEL",
        help="the default level of the registry (BACKWARD)",
    )
    parser.add_argument(
        "--for-usage",
        action="store_true",
        help="put what is found in data beside the registry, where `sigla usage` finds it",
    )
    parser.add_argument(
        "--brokers",
        metavar="HOST:PORT,…",
        help="with --for-usage: Kafka's brokers, which say how long topics keep records",
    )
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="for --brokers: settings of Kafka's client, such as credentials, as name=value lines",
    )
    given = parser.parse_args(list(argv))
    if given.for_usage and not (given.land or given.records):
        parser.error("--for-usage needs records: name them with --land or --records")
    if given.brokers and not given.for_usage:
        parser.error("--brokers are asked for --for-usage alone: add it")
    kafka = client_settings(given.brokers, given.settings) if given.brokers else None
    landed, context = _landed(given.land) if given.land else (NOTHING_LANDED, ".")
    return AuditRequest(
        parse_address(parser, given),
        open_place(given.out),
        tuple(tables.filled(url, ".parquet") for url in given.records),
        landed,
        given.context or context,
        given.level,
        given.default_level,
        for_usage=given.for_usage,
        kafka=kafka,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
