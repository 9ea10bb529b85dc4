"""Lands a source: all that is there, or what comes, for as long as it runs.

    sigla land CONFIG [--once | --stream] [--report text|json|emf] [--metrics-file PATH]
    spark-submit pipelines/sigla_pipelines/__main__.py land CONFIG …

What is in no manifest is landed by the next run, whatever happened to this one. SIGTERM and Ctrl-C let it finish the
batch that it is in.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from pyspark.sql import SparkSession

from sigla_pipelines.connectors.installation import iceberg, kafka_jars
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land.batch import Batch, settle_queries
from sigla_pipelines.land.decoders.extension import remark
from sigla_pipelines.land.destinations import Destinations
from sigla_pipelines.land.driver import Driver, Tasks, driver, read_settings
from sigla_pipelines.land.exit_status import AGAIN, OWN
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.prometheus import Publish, to_file, to_gateway
from sigla_pipelines.land.report import FORMS, Done, Sum
from sigla_pipelines.land.settings import KafkaPart, Landing
from sigla_pipelines.land.sources import Stopping, from_files, from_kafka
from sigla_pipelines.land.task import Task
from sigla_pipelines.land.upsert import Followed
from sigla_pipelines.land.watching import watching
from sigla_pipelines.spark import gave_up, is_submitted, running_session


def main(argv: Sequence[str]) -> int:
    """0: all was landed, or it was asked to stop. 1: it could not go on. 2: it was asked for something senseless."""
    asked = _parser().parse_args(argv)
    return exit_status_of(lambda: _land_source(asked), OWN, again=AGAIN, spark=gave_up)


def _land_source(asked: argparse.Namespace) -> int:
    landing = read_settings(asked.config)
    publish = _publishers(asked, landing.name)
    jars = [] if is_submitted(os.environ) else _needed_jars(landing)
    total = Sum()
    with closing(driver(landing)) as opened, running_session(os.environ, name=landing.name, jars=jars) as spark:
        for each in filter(None, (opened.sink.limits, remark(opened.native))):
            print(each, file=sys.stderr, flush=True)
        run(spark, opened, total, stopping_on_signals(), stream=asked.stream, form=asked.report, publish=publish)
    if asked.report == "text":
        print("\n".join(total.lines()))
    return 0


def _needed_jars(landing: Landing) -> list[Path]:
    """What Spark needs beside itself. Raises Unavailable."""
    kafka = kafka_jars() if isinstance(landing.source, KafkaPart) or landing.dead_letter else []
    return [*kafka, *(iceberg() if landing.states else [])]


def _publishers(asked: argparse.Namespace, name: str) -> Sequence[Publish]:
    """Where metrics go. Raises InvalidLanding."""
    files = [to_file(asked.metrics_file)] if asked.metrics_file else []
    return [*files, *([to_gateway(asked.metrics_gateway, name)] if asked.metrics_gateway else [])]


def run(
    spark: SparkSession,
    driver: Driver,
    total: Sum,
    stopping: Stopping,
    *,
    stream: bool = False,
    form: str = "text",
    publish: Sequence[Publish] = (),
) -> None:
    """Raises what `Driver.land` raises, SourceFailed, Undelivered, and what Spark does. publish: metrics."""
    source, follow = driver.landing.source, _following(spark, driver)
    destinations = Destinations(lambda sentence: print(sentence, file=sys.stderr, flush=True))

    def land(batch: Batch, tasks: Tasks) -> None:
        def telling(task: Task) -> Sequence[Landed]:
            destinations.add(task.plan)
            return tasks(task)

        begun = driver.clock.now()
        manifest = driver.land(batch, telling)
        states = follow()
        now = driver.clock.now()
        total.add(manifest)
        total.follow(states)
        done = Done(driver.landing.name, manifest, now, (now - begun) / 1000, states)
        _print_report(done, form)
        tell(done)

    settle_queries(driver.manifests, driver.sink)
    destinations.begin(driver.landing.bindings, driver.names.of)
    total.follow(follow())  # what a replay has landed, or a job that was killed
    with watching(spark, driver, publish) as tell:
        if isinstance(source, KafkaPart):
            from_kafka(spark, driver, source, land, stopping, stream=stream)
        else:
            from_files(spark, driver, source, land, stopping, stream=stream)


def _print_report(done: Done, form: str) -> None:
    """For people, if one looks; for programs, always."""
    if form != "text" or sys.stderr.isatty():
        print(FORMS[form](done), file=sys.stderr if form == "text" else sys.stdout, flush=True)


def _following(spark: SparkSession, driver: Driver) -> Callable[[], tuple[Followed, ...]]:
    """Brings states up to their tables. Raises InvalidLanding."""
    if not driver.landing.states:
        return lambda: ()
    from sigla_pipelines.land.states import follow_states  # noqa: PLC0415 - to import pyiceberg takes 0.6 s

    return follow_states(spark, driver.sink, driver.manifests, driver.states)


def stopping_on_signals() -> Stopping:
    stopping = Stopping()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.asked.set())
    return stopping


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sigla land", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", metavar="CONFIG", help="land.yaml, or an s3:// URL of one")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--once", dest="stream", action="store_false", help="land what is there now, then end (the default)"
    )
    how.add_argument("--stream", action="store_true", help="go on with new records until the job is stopped")
    parser.set_defaults(stream=False)  # else what `--once` is not would be the default
    parser.add_argument(
        "--report",
        choices=FORMS,
        default="text",
        help="how to report a batch: a line for a terminal, a line of JSON, or one that CloudWatch turns into metrics",
    )
    parser.add_argument(
        "--metrics-file",
        metavar="PATH",
        type=Path,
        help="write metrics for Prometheus to this file after each batch, for the textfile collector: ends with .prom",
    )
    parser.add_argument(
        "--metrics-gateway",
        metavar="URL",
        help="send the metrics to this push gateway of Prometheus, for example http://gateway:9091",
    )
    return parser
