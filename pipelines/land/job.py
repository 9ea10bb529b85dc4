"""Lands a source: all that is there, or what comes, for as long as it runs.

    python -m pipelines land CONFIG [--once | --stream] [--report text|json|emf]
    spark-submit pipelines/__main__.py land CONFIG …

What is in no manifest is landed by the next run, whatever happened to this one. SIGTERM and Ctrl-C let it finish the
batch that it is in.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from pyspark.sql import SparkSession

from pipelines.connectors.installation import Unavailable, connectors
from pipelines.land.batch import Batch
from pipelines.land.driver import Driver, Tasks, configured, driver
from pipelines.land.report import FORMS, Done, Sum
from pipelines.land.settings import InvalidLanding, KafkaPart
from pipelines.land.sources import Stopping, from_files, from_kafka
from pipelines.land.told import told
from pipelines.spark import session, submitted
from sigla.errors import StoreError


def main(argv: Sequence[str]) -> int:
    """0: all was landed, or it was asked to stop. 1: it could not go on. 2: it was asked for something senseless."""
    asked = _parser().parse_args(argv)
    try:
        landing = configured(asked.config)
        jars = connectors() if isinstance(landing.source, KafkaPart) and not submitted(os.environ) else []
    except InvalidLanding as problem:
        return _say(problem, 2)
    except (StoreError, Unavailable) as missing:
        return _say(missing, 1)
    spark = session(os.environ, name=landing.name, jars=jars)
    total = Sum()
    try:
        run(spark, driver(landing), total, stopping_on_signals(), stream=asked.stream, form=asked.report)
    except Exception as failure:  # what a task raised comes as an exception of Spark's
        sentence = told(failure)
        if sentence is None:
            raise
        return _say(sentence, 1)
    finally:
        spark.stop()
    if asked.report == "text":
        print("\n".join(total.lines()))
    return 0


def run(
    spark: SparkSession, driver: Driver, total: Sum, stopping: Stopping, *, stream: bool = False, form: str = "text"
) -> None:
    """Raises what `told` knows, and whatever else goes wrong."""
    clock, name = driver.clock, driver.landing.name

    def land(batch: Batch, tasks: Tasks) -> None:
        begun = clock.now()
        manifest = driver.land(batch, tasks)
        now = clock.now()
        total.add(manifest)
        if form != "text" or sys.stderr.isatty():
            line = FORMS[form](Done(name, manifest, now, (now - begun) / 1000))
            print(line, file=sys.stderr if form == "text" else sys.stdout, flush=True)

    source = driver.landing.source
    if isinstance(source, KafkaPart):
        from_kafka(spark, driver, source, land, stopping, stream=stream)
    else:
        from_files(spark, driver, source, land, stopping, stream=stream)


def stopping_on_signals() -> Stopping:
    stopping = Stopping()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.asked.set())
    return stopping


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pipelines land", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", metavar="CONFIG", help="land.yaml, or an s3:// URL of one")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--once", dest="stream", action="store_false", help="all that is there now (the default)")
    how.add_argument("--stream", action="store_true", help="what comes, too, until it is asked to stop")
    parser.add_argument(
        "--report",
        choices=FORMS,
        default="text",
        help="of each batch: a line for a terminal, or one of JSON, or one that CloudWatch makes metrics of",
    )
    return parser


def _say(what: object, code: int) -> int:
    print(what, file=sys.stderr)
    return code
