"""Spark sessions of the jobs: what every one of them sets, and why."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

HERE: Final = Path(__file__).parent.parent
"""The path that Python workers need to import `sigla_pipelines`, where their environment lacks it."""

LOGS: Final = Path(__file__).parent / "log4j2.properties"

EVERYWHERE: Final[Mapping[str, str]] = {
    "spark.sql.session.timeZone": "UTC",
    # A batch of Arrow is bounded by rows alone; so many of the largest records that are let pass must fit.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # A task that returns columns of another type than it promised is told so.
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
}
ON_ONE_MACHINE: Final[Mapping[str, str]] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Nothing is shuffled; where a test does, 200 empty partitions would be most of its time.
    "spark.sql.shuffle.partitions": "2",
}


def session(
    environ: MutableMapping[str, str],
    *,
    name: str,
    master: str | None = None,
    jars: Sequence[Path] = (),
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """The session of a job: a new one, or the one that this process has.

    environ: of this process; Python workers inherit it. master: None if spark-submit says it; without spark-submit, two
    threads of this machine. settings: beside ours, and before them; options of Java are added to ours.
    """
    builder = SparkSession.builder.appName(name)
    chosen = dict(EVERYWHERE)
    if master is None and not is_submitted(environ):
        master = "local[2]"
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):
        chosen |= {**ON_ONE_MACHINE, "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOGS}"}
        environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # Else workers start the python3 of the PATH, which has no pyarrow.
        environ.setdefault("PYSPARK_PYTHON", sys.executable)
        environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([str(HERE), *_paths(environ)]))
    if jars:
        chosen["spark.jars"] = ",".join(str(jar) for jar in jars)
    for option, value in (settings or {}).items():
        chosen[option] = f"{chosen.get(option, '')} {value}".strip() if option.endswith("JavaOptions") else value
    for option, value in chosen.items():
        builder = builder.config(option, value)
    return builder.getOrCreate()


@contextmanager
def running_session(environ: MutableMapping[str, str], **options: Any) -> Iterator[SparkSession]:
    """A `session` for as long as the block lasts. options: as there."""
    made = session(environ, **options)
    try:
        yield made
    finally:
        # A JVM that was killed need not be stopped, and why the block has ended is more to the point.
        with suppress(Py4JNetworkError, ConnectionError):
            made.stop()


def is_submitted(environ: Mapping[str, str]) -> bool:
    """Whether spark-submit started this process: it knows the master."""
    return "PYSPARK_GATEWAY_PORT" in environ


_BEGINS: Final = re.compile(
    r"(?s)\A\s*(?:\[STREAM_FAILED\] Query \[.*?\] terminated with exception: |An error occurred while calling \S+\n: )?"
)
_ENDS: Final = re.compile(r"(?: SQLSTATE: \w+)*\s*(?:\n\s*at |\n=== |\n\n?JVM stacktrace|\n\nDriver stacktrace|\Z)")


def gave_up(failure: BaseException) -> str | None:
    """Why Spark did not go on, in one line; None where it was not Spark, or was Python within one of its tasks."""
    if isinstance(failure, Py4JNetworkError):
        return "Spark gave up: its JVM has ended, by a signal or for want of memory."
    text = str(failure)
    if not isinstance(failure, PySparkException | Py4JError) or "Traceback (most recent call last)" in text:
        return None
    cause = _BEGINS.sub("", text, count=1)
    return f"Spark gave up: {' '.join(_ENDS.split(cause, maxsplit=1)[0].split())}"


def _paths(environ: Mapping[str, str]) -> list[str]:
    return [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path]
