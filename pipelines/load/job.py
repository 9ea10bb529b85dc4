"""Everything that the registry behind a `_schemas` topic holds, with its ids, versions, times, deletes and settings.

    python -m pipelines load SOURCE (--data DIR | --bucket NAME --table NAME) [--dry-run] [--json] [--report FILE]
    spark-submit pipelines/__main__.py load SOURCE …

SOURCE: a dump, as files of JSON (an object a line: the texts key and value, timestamp and offset) or of Parquet (raw
records); or kafka://BROKERS/TOPIC, the topic itself. Nothing that stands here is overwritten: what is equal is
identical, what is not is a conflict and is told. So it may be cut off and begun again; one load at a time. The registry
in a directory must not be served meanwhile.

`sigla import` does the same in one process, with everything in memory.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pipelines.connectors.installation import Unavailable, connectors
from pipelines.load.load import load, summed
from pipelines.load.steps import Open
from pipelines.load.work import Everywhere, Files, Here, Worker
from pipelines.spark import session, submitted
from sigla import opening
from sigla.errors import StoreError
from sigla.opening import DataNotOpened
from sigla.registry import Stores
from sigla.registry.importing import CONFLICTING, Outcome, Report, rehearsal
from sigla.settings import Address, Settings

BROKEN: Final = "broken"
LINE: Final = f"key string, value string, timestamp bigint, offset bigint, {BROKEN} string"
WRITERS: Final = 16
"""Tasks that commit side by side: more of them only wait for the same counters and shared types."""


PLAINLY: Final = {"spark.sql.codegen.wholeStage": "false"}
"""Nearly all work is done in Python: code made for each of many short queries would be compiled for nothing."""


class NoSource(Exception):
    """The sentence says what is wrong with it."""


def main(argv: Sequence[str]) -> int:
    """0: all is here now. 1: something else stands in the place of some of it. 2: nothing could be loaded."""
    asked = _parser().parse_args(argv)
    address = Address(asked.data, asked.bucket, asked.table, asked.registry)
    if not (address.data or (address.bucket and address.table)) or (address.data and address.bucket):
        return _say("Say where the registry is: --data DIR, or --bucket NAME and --table NAME.")
    try:
        jars = connectors() if _is_kafka(asked.source) and not submitted(os.environ) else []
    except Unavailable as missing:
        return _say(str(missing))
    spark = session(os.environ, name="load", jars=jars, settings=PLAINLY)
    work = asked.work or tempfile.mkdtemp(prefix="sigla-load-")
    try:
        raw = read(spark, asked.source, dict(each.split("=", 1) for each in asked.option))
        report = run(
            Files(spark, work), raw, address, dry_run=asked.dry_run, writers=asked.writers, report=asked.report
        )
    except (DataNotOpened, NoSource, StoreError) as problem:
        return _say(str(problem))
    finally:
        spark.stop()
        if not asked.work:
            shutil.rmtree(work, ignore_errors=True)
    print(json.dumps({**report.form(), "dryRun": asked.dry_run}) if asked.json else "\n".join(lines(report)))
    return int(bool(report.of(CONFLICTING)))


def run(
    files: Files, raw: DataFrame, address: Address, *, dry_run: bool = False, writers: int = WRITERS, report: str = ""
) -> Report:
    """Loads records into a registry; keeps the report as a table under its name. Raises DataNotOpened, StoreError."""
    with _worker(files, address, writers, dry_run=dry_run) as worker:
        table = load(raw, files, worker)
        if report:
            form = "json" if report.endswith(".json") else "parquet"
            table.write.mode("overwrite").format(form).save(report)
        return summed(table)


def read(spark: SparkSession, source: str, options: dict[str, str] | None = None) -> DataFrame:
    """The records of a dump or of the topic, in no order. Raises NoSource."""
    if _is_kafka(source):
        found = urlsplit(source)
        kafka = {"kafka.bootstrap.servers": found.netloc, "subscribe": found.path.strip("/") or "_schemas"}
        raw = spark.read.format("kafka").options(**kafka, startingOffsets="earliest", **(options or {})).load()
        return _raw(raw)
    if "://" not in source and not Path(source).exists():
        raise NoSource(f"There is no file {source}.")
    if Path(source).suffix == ".parquet" or any(Path(source).glob("*.parquet")):
        return _raw(spark.read.parquet(source))
    lines = spark.read.schema(LINE).option("columnNameOfCorruptRecord", BROKEN).json(source)
    # Two dumps of one topic may overlap.
    return lines.where("offset IS NOT NULL").dropDuplicates(["offset"]).unionByName(lines.where("offset IS NULL"))


def _raw(records: DataFrame) -> DataFrame:
    stamped = dict(records.dtypes)["timestamp"]
    ts = F.col("timestamp") if stamped == "bigint" else F.unix_millis("timestamp")
    return records.select("key", "value", ts.alias("timestamp"), "offset")


@contextmanager
def _worker(files: Files, address: Address, writers: int, *, dry_run: bool) -> Iterator[Worker]:
    """For a dry run nothing is made and nothing is locked; what would be put is kept in memory."""
    if dry_run:
        with _looked_at(address) as stores:
            yield Here(files, Open(rehearsal(stores), nullcontext))
    elif address.bucket:
        yield Everywhere(files, address, writers)
    else:
        with opening.writing(address) as writing:
            yield Here(files, Open(writing.registry, writing.group))


@contextmanager
def _looked_at(address: Address) -> Iterator[Stores]:
    if address.bucket or Path(address.data).exists():
        with opening.reading(address) as held:
            yield Stores(held.catalog, held.bodies, held.clock)
    else:
        with opening.embedded(Settings(), None) as (registry, _):
            yield registry


def lines(report: Report) -> Iterator[str]:
    """For people."""
    for outcome in Outcome:
        counted = ", ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in report.of(outcome).items())
        yield f"{outcome.value + ':':<13}{counted or 'nothing'}"
        for (of, why), cases in report.reasons.items():
            if of is outcome:
                yield f"  {cases.count} × {why}: {', '.join(cases.examples)}"
    for why, cases in report.remarks.items():
        yield f"  {cases.count} × {why}: {', '.join(cases.examples)}"


def _is_kafka(source: str) -> bool:
    return source.startswith("kafka://")


def _say(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pipelines load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", metavar="SOURCE")
    parser.add_argument("--data", default="", metavar="DIR", help="a registry in a directory, made if need be")
    parser.add_argument("--bucket", default="", metavar="NAME", help="a registry on AWS: where its bodies are")
    parser.add_argument("--table", default="", metavar="NAME", help="and its catalog")
    parser.add_argument("--registry", default="default", metavar="NAME", help="its name there (default: default)")
    parser.add_argument("--writers", type=int, default=WRITERS, help=f"tasks that write to AWS at once ({WRITERS})")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="of Spark's Kafka source")
    parser.add_argument("--work", default="", metavar="DIR", help="what lies between the steps; a folder all tasks see")
    parser.add_argument("--report", default="", metavar="FILE", help="every fact as a table: *.json, or else Parquet")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and tell what would be told")
    parser.add_argument("--json", action="store_true", help="tell the sum as JSON")
    return parser
