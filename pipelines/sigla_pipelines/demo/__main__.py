"""A day of a shop, landed on this machine: a million records of all three kinds, by schemas that evolve meanwhile.

    make pipeline-demo
    make pipeline-demo ARGS="--records 100000 --keep"

A registry in a folder, files of raw records, Spark: no AWS, no Kafka, and while records are landed, no registry that
runs. One record in a hundred is bad, in every way there is. Ends with 0 if each record is where it belongs, with 1 if
one is not, with 130 if it was asked to stop.
"""

import argparse
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from sigla.terminal.output import escape_unprintable
from sigla_pipelines.audit import tables
from sigla_pipelines.demo import picture
from sigla_pipelines.demo.estate import Estate
from sigla_pipelines.demo.generator import (
    LEAST,
    SLICES,
    Job,
    KnownSchema,
    earned_reasons,
    jobs,
    needed_schemas,
    processes,
    write_file,
)
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.exit_status import AGAIN, OWN
from sigla_pipelines.land.job import run, stopping_on_signals
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sources import Stopping
from sigla_pipelines.spark import gave_up, session

FOLDER: Final = Path("build/pipeline-demo")
RECORDS: Final = 1_000_000
HOURS: Final = 24 // SLICES
BRIEF: Final = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Java in a run of seconds: what its second compiler takes (half of Spark's start) would never come back."""


def main(argv: Sequence[str] | None = None) -> int:
    escape_unprintable()
    asked = _parser().parse_args(argv)
    return exit_status_of(lambda: _demonstrated(asked), {**OWN, **tables.OWN}, again=AGAIN, spark=gave_up)


def _demonstrated(asked: argparse.Namespace) -> int:
    estate, begun = Estate(asked.folder.resolve()), time.monotonic()
    estate.check()
    made = jobs(asked.records, estate.raw, asked.seed)
    _say("Starting Spark …")
    with ExitStack() as until:
        with _undisturbed():
            pool = until.enter_context(processes(os.cpu_count() or 1))  # they import while Java starts
            spark = session(os.environ, name="pipeline-demo", master=f"local[{os.cpu_count()}]", settings=BRIEF)
            until.callback(spark.stop)
            stopping = stopping_on_signals()
        try:
            total = demonstrate(spark, estate, pool, made, stopping)
        except Exception:
            if stopping.asked.is_set():  # a task that a signal has ended comes as an exception of Spark's
                return _stopped(estate)
            raise
    if stopping.asked.is_set():
        return _stopped(estate)
    print("\n".join(total.lines()))
    print(f"It took {time.monotonic() - begun:.0f} seconds. The picture: {estate.picture}")
    if asked.keep:
        print(f"Everything is kept in {estate.root}")
    else:
        estate.clear()
    return judged(total, asked.records, earned_reasons(made))


def demonstrate(spark: SparkSession, estate: Estate, pool: Executor, made: Sequence[Job], stopping: Stopping) -> Sum:
    """Slice by slice of the day: new schemas are registered, producers write, what they wrote is landed.

    It ends early when it was asked to stop; else there is a picture of it.
    """
    total, known = Sum(), dict[str, KnownSchema]()
    with closing(driver(estate.begin())) as landing:
        for slice_ in range(SLICES):
            new = needed_schemas(slice_)
            known |= estate.register(new)
            news = [f", now by {schema.name}" for _, schema in new if schema.since is not None]
            _say(f"{HOURS * slice_:02}:00 records are written{''.join(news)} …")
            list(pool.map(partial(write_file, known=known), [job for job in made if job.slice == slice_]))
            if not stopping.asked.is_set():
                run(spark, landing, total, stopping, form="text")
            if stopping.asked.is_set():
                return total
        _say("Drawing the picture …")
        counts = picture.over_time(landing.sink, {name: each.id for name, each in known.items()})
    picture.draw(counts, total.reasons, estate.picture)
    return total


def judged(total: Sum, records: int, bad: Counter[str]) -> int:
    """0 if all that was written is landed or set aside, each for the reason that it was made for."""
    if (total.read, total.landed, total.reasons) == (records, records - bad.total(), bad):
        return 0
    print(f"Expected {records} records, of them bad: {dict(bad)}", file=sys.stderr)
    return 1


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C waits until the job can answer it. What Spark starts meanwhile never hears of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stopped(estate: Estate) -> int:
    estate.clear()
    print("Stopped. All files of the demonstration are removed.", file=sys.stderr)
    return 130


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sigla demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--records",
        type=_records_argument,
        default=RECORDS,
        metavar="N",
        help=f"how many, {LEAST:,} at least ({RECORDS:,})",
    )
    parser.add_argument("--keep", action="store_true", help="registry, raw records, tables and land.yaml stay")
    parser.add_argument(
        "--folder",
        type=Path,
        default=FOLDER,
        help=f"an empty folder, or that of an earlier demonstration, which is replaced ({FOLDER})",
    )
    parser.add_argument("--seed", type=int, default=7, help="another one gives other records")
    return parser


def _records_argument(text: str) -> int:
    if not text.isdecimal() or int(text) < LEAST:
        raise argparse.ArgumentTypeError(f"invalid number of records '{text}': expected {LEAST:,} or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
