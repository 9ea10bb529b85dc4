"""Keeps Iceberg tables in shape: compacts files, expires snapshots, removes orphans. Safe beside a running `land`.

    sigla maintain CONFIG [--table NAME …] [--json]
    spark-submit pipelines/sigla_pipelines/__main__.py maintain CONFIG …

A line for each table tells what became of it.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from sigla_pipelines.connectors.installation import iceberg
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land.dead_letters import letters_wait
from sigla_pipelines.land.driver import Driver, driver, read_settings
from sigla_pipelines.land.exit_status import OWN
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.land.sinks.sink import folder_of
from sigla_pipelines.progress import show_progress
from sigla_pipelines.spark import gave_up, is_submitted, running_session

if TYPE_CHECKING:
    from sigla_pipelines.land.maintain import Done
    from sigla_pipelines.land.sinks.iceberg import Iceberg


def main(argv: Sequence[str]) -> int:
    """0: done. 1: a store does not answer, or others were always faster. 2: it was asked for something senseless."""
    parser = argparse.ArgumentParser(
        prog="sigla maintain",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", metavar="CONFIG", help="land.yaml, or an s3:// URL of one")
    parser.add_argument(
        "--table", action="append", default=[], metavar="NAME", help="maintain this table only; can be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each table")
    asked = parser.parse_args(argv)
    return exit_status_of(lambda: _maintained(asked), OWN, again="Start the job again when it does.", spark=gave_up)


def _maintained(asked: argparse.Namespace) -> int:
    landing = read_settings(asked.config)
    with closing(driver(landing)) as opened:
        checked_sink(opened)
        jars = [] if is_submitted(os.environ) else iceberg()
        with running_session(os.environ, name=f"{landing.name}-maintain", jars=jars) as spark:
            for done in maintain_each(spark, opened, asked.table):
                print(json.dumps(done.facts()) if asked.json else done.line(), flush=True)
    return 0


def checked_sink(driver: Driver) -> "Iceberg":
    """The sink, before Spark is begun. Raises InvalidLanding."""
    from sigla_pipelines.land.sinks.iceberg import Iceberg  # noqa: PLC0415 - to import pyiceberg takes 0.6 s

    if not isinstance(driver.sink, Iceberg):
        raise InvalidLanding(
            "`maintain` needs Iceberg tables, and `sink.kind` is parquet. `gc` removes the files of failed attempts."
        )
    return driver.sink


def without_letters(driver: Driver, tables: Sequence[str]) -> list[str]:
    """The tables without the quarantine, where dead letters have yet to be sent from its files; said where it is so."""
    kept = folder_of(QUARANTINE)
    if kept not in tables or driver.landing.dead_letter is None or not letters_wait(driver.work, driver.manifests):
        return [*tables]
    print(f"{kept} is not maintained: dead letters of its files wait to be sent. `land` sends them.", file=sys.stderr)
    return [table for table in tables if table != kept]


def maintain_each(spark: SparkSession, driver: Driver, names: Sequence[str] = ()) -> Iterator["Done"]:
    """One table after another. names: of those alone. Raises InvalidLanding, StoreError, and what Spark does."""
    from sigla_pipelines.land.maintain import Upkeep  # noqa: PLC0415 - to import pyiceberg takes 0.6 s

    upkeep = Upkeep(spark, checked_sink(driver), driver.landing.maintain, driver.now())
    there = upkeep.tables()
    chosen = [name if name in there else folder_of(name) for name in names] or there
    chosen = without_letters(driver, chosen)
    if unknown := next((name for name in chosen if name not in there), None):
        raise InvalidLanding(f"Unknown table {unknown}. Tables: {', '.join(there) or 'none'}.")
    with show_progress(spark) as progress:
        for name in chosen:
            done = upkeep.keep(name, progress)
            if done is not None:
                yield done
