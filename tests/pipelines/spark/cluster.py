"""A job on a cluster of its own, two hosts in one process, where the first task stands still after it wrote its files.

python -m tests.pipelines.spark.cluster CONFIG

Spark tries a slow task once more on another host alone, and has no speculation at all where the driver does the work.
So a master and two workers are begun within the driver's JVM, as Spark does for its own tests; executors are processes.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyspark import SparkContext

from sigla_pipelines.land import files, settings, sources
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sources import Stopping
from sigla_pipelines.land.task import Sent
from sigla_pipelines.places import Place
from sigla_pipelines.spark import HERE, running_session

HOSTS = ("127.0.0.1", "127.0.0.2")
STANDS_STILL_S = 600.0
SPECULATING = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.quantile": "0.5",
}
SMALL = {
    "spark.driver.host": HOSTS[0],
    "spark.driver.bindAddress": HOSTS[0],
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
}


def master(work: Path) -> str:
    """Its URL. work: a folder for what executors leave."""
    SparkContext._ensure_initialized()  # a JVM that has no context yet
    gateway = SparkContext._gateway
    assert gateway
    jvm, deploy = gateway.jvm, gateway.jvm.org.apache.spark.deploy
    conf = jvm.org.apache.spark.SparkConf()
    url = str(deploy.master.Master.startRpcEnvAndEndpoint(HOSTS[0], 0, 0, conf)._1().address().toSparkURL())
    urls = gateway.new_array(jvm.java.lang.String, 1)
    urls[0] = url
    maybe = jvm.scala.Option.apply
    for number, host in enumerate(HOSTS):
        deploy.worker.Worker.startRpcEnvAndEndpoint(
            host, 0, 0, 1, 1024, urls, str(work), maybe(number), conf, maybe(None)
        )
    return url


def standing_still(first: Path) -> Callable[[Sent, Place], Callable[[files.Share], bytes]]:
    """Instead of `sources._land_files`. first: a file that the first attempt at all makes."""

    def own(task: Sent, raw: Place) -> Callable[[files.Share], bytes]:
        def landed(share: files.Share) -> bytes:
            found = task().land(files.read(raw, share)).encoded()
            try:
                first.touch(exist_ok=False)
            except FileExistsError:
                return found
            time.sleep(STANDS_STILL_S)
            return found

        return landed

    return own


def main(config: Path) -> None:
    os.environ |= {"SPARK_LOCAL_IP": HOSTS[0], "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(HERE)}
    for module, name, value in (
        (files, "SHARE", (1, 1)),  # a row group for each task
        (sources, "_land_files", standing_still(config.with_name("first"))),
    ):
        setattr(module, name, value)
    total = Sum()
    with running_session(
        os.environ, name="cluster", master=master(config.parent), settings=SMALL | SPECULATING
    ) as spark:
        run(spark, driver(settings.read_settings(config)), total, Stopping())
    print("\n".join(total.lines()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
