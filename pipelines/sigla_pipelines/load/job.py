"""Everything that the registry behind a `_schemas` topic holds, with its ids, versions, times, deletes and settings.

    sigla load SOURCE (--data DIR | --bucket NAME --table NAME) [--dry-run] [--json]
        [--report PLACE]
    spark-submit pipelines/sigla_pipelines/__main__.py load SOURCE …

SOURCE: a dump, as files of JSON (an object a line: the texts key and value, timestamp and offset) or of Parquet (raw
records); or kafka://BROKERS/TOPIC, the topic itself. Nothing that stands here is overwritten: what is equal is
identical, what is not is a conflict and is told. So it may be cut off and begun again, by the same command; one load at
a time. The registry in a directory must not be served meanwhile.

`sigla import` does the same in one process, with everything in memory.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from tempfile import TemporaryDirectory
from typing import Final

from pyspark.sql import DataFrame

from sigla import opening
from sigla.settings import Address
from sigla.terminal.statuses import MISUSED, NOT_DONE
from sigla.upkeep.importing import Outcome, Report
from sigla_pipelines.address import add_address_options, name_argument, parse_address
from sigla_pipelines.audit.tables import NotEmpty
from sigla_pipelines.connectors.installation import kafka_jars
from sigla_pipelines.connectors.maven import Unavailable
from sigla_pipelines.exit_status import Kinds, exit_status_of
from sigla_pipelines.load import report as reports
from sigla_pipelines.load.load import load, summed
from sigla_pipelines.load.source import NoSource, Silent, explained_failures, is_kafka, read_records
from sigla_pipelines.load.steps import Open
from sigla_pipelines.load.work import OURS, Everywhere, Files, Here, LoadWorker
from sigla_pipelines.progress import show_progress
from sigla_pipelines.spark import gave_up, is_submitted, running_session

WRITERS: Final = 4
"""Tasks that write to AWS, each with threads: more of them only wait for the same counters and shared types."""

PLAINLY: Final = {"spark.sql.codegen.wholeStage": "false"}
"""Nearly all work is done in Python: code made for each of many short queries would be compiled for nothing."""

SAID_BY_SOURCE: Final = {"assign", "kafka.bootstrap.servers", "startingoffsets", "subscribe", "subscribepattern"}
"""Options of Spark's Kafka source, which knows no capitals."""

OWN: Final[Kinds] = {NoSource: MISUSED, NotEmpty: MISUSED, Silent: NOT_DONE, Unavailable: MISUSED}

AGAIN: Final = "Start the job again when it does: what has been written already counts as identical then."


def main(argv: Sequence[str]) -> int:
    """0: all is here now. 1: something else stands in the place of some of it, or a store is silent. 2: misused."""
    parser = _parser()
    asked = parser.parse_args(argv)
    where = parse_address(parser, asked)
    return exit_status_of(lambda: _loaded(asked, where), OWN, again=AGAIN, spark=gave_up)


def _loaded(asked: argparse.Namespace, where: Address) -> int:
    jars = kafka_jars() if is_kafka(asked.source) and not is_submitted(os.environ) else []
    with (
        running_session(os.environ, name="load", jars=jars, settings=PLAINLY) as spark,
        nullcontext(asked.work) if asked.work else TemporaryDirectory(prefix="sigla-load-") as work,
        show_progress(spark) as progress,
        explained_failures(asked.source),
    ):
        files, raw = Files(spark, work, progress), read_records(spark, asked.source, dict(asked.option))
        report = load_records(
            files, raw, where, dry_run=asked.dry_run, writers=asked.writers, report=asked.report or ""
        )
    print(json.dumps({**report.form(), "dryRun": asked.dry_run}) if asked.json else "\n".join(lines(report)))
    return int(not report.is_complete)


def load_records(
    files: Files, raw: DataFrame, address: Address, *, dry_run: bool = False, writers: int = WRITERS, report: str = ""
) -> Report:
    """Loads records into a registry. report: a place for its table, or none.

    Raises NotEmpty before anything is written, DataNotOpened, StoreError.
    """
    out = reports.claimed(report) if report else None
    with _worker(files, address, writers, dry_run=dry_run) as worker:
        table = load(raw, files, worker)
        if out:
            files.progress.step("report")
            reports.write(table, out)
        return summed(table)


@contextmanager
def _worker(files: Files, address: Address, writers: int, *, dry_run: bool) -> Iterator[LoadWorker]:
    if dry_run:
        with opening.rehearsing(address) as (stores, group):
            yield Here(files, Open(stores, group))
    elif opening.is_shared(address):
        yield Everywhere(files, address, writers)
    else:
        with opening.writing(address) as writing:
            yield Here(files, Open(writing.registry, writing.store.group))


def lines(report: Report) -> Iterator[str]:
    """The lines that people read."""
    for outcome in Outcome:
        counted = ", ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in report.of(outcome).items())
        yield f"{outcome.value + ':':<13}{counted or 'nothing'}"
        for (of, why), cases in report.reasons.items():
            if of is outcome:
                yield f"  {cases.count} × {why}: {', '.join(cases.examples)}"
    for why, cases in report.remarks.items():
        yield f"  {cases.count} × {why}: {', '.join(cases.examples)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sigla load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=name_argument, metavar="SOURCE")
    add_address_options(parser)
    parser.add_argument(
        "--writers",
        type=_number_argument,
        default=WRITERS,
        metavar="N",
        help=f"tasks that write to AWS at once ({WRITERS})",
    )
    parser.add_argument(
        "--option", type=_option, action="append", default=[], metavar="K=V", help="an option of Spark's Kafka source"
    )
    parser.add_argument(
        "--work",
        type=name_argument,
        metavar="DIR",
        help=f"a folder that all tasks can read and write; the job uses its subfolder {OURS}",
    )
    parser.add_argument(
        "--report",
        type=name_argument,
        metavar="PLACE",
        help="an empty folder, or s3://…: gets the full report, as *.json or Parquet",
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing; report what a run would report")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    return parser


def _number_argument(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**31:
        raise argparse.ArgumentTypeError(f"invalid number of tasks '{text}': expected 1 or more")
    return int(text)


def _option(text: str) -> tuple[str, str]:
    name, equals, value = name_argument(text).partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"invalid option '{text}': expected K=V")
    if name.lower() in SAID_BY_SOURCE:
        raise argparse.ArgumentTypeError(f"the option {name} cannot be set here: SOURCE or the job sets it")
    return name, value
