"""One Spark session and one Kafka broker for all tests of this process, begun when the first test wants them.

For tests/pipelines/conftest.py alone: a fixture that is imported into several places is begun anew for each of them.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.connectors.installation import iceberg, kafka_jars
from sigla_pipelines.connectors.maven import Unavailable, java
from sigla_pipelines.spark import session
from tests.pipelines import broker
from tests.pipelines.broker import Broker

# Tests run each query once: what makes the thousandth run faster only makes the first one slower.
QUICKLY: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two threads, four attempts of each task; the connectors of Kafka and Iceberg where they are installed.

    A task that is slow is tried beside itself on another host alone: see tests/pipelines/spark/cluster.py.
    """
    try:
        java()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("SPARK_LOCAL_IP", "127.0.0.1")  # so that what the session sets is undone behind us
        environ.delenv("PYSPARK_PYTHON", raising=False)
        made = session(os.environ, name="tests", master="local[2,4]", jars=_installed(), settings=QUICKLY)
        assert made.version == os.environ.get("SPARK_VERSION", made.version), (
            "another Spark than tests/pipelines/versions.py means"
        )
        yield made
        made.stop()


@pytest.fixture(scope="session")
def kafka(spark: SparkSession) -> Iterator[Broker]:
    """A broker, and a session that can read from it."""
    try:
        kafka_jars()
        with broker.running() as running:
            yield running
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def iceberg_spark(spark: SparkSession) -> SparkSession:
    """A session that can change tables of Iceberg."""
    try:
        iceberg()
    except Unavailable as reason:
        pytest.skip(str(reason))
    return spark


def _installed() -> list[Path]:
    jars: list[Path] = []
    for kind in (kafka_jars, iceberg):
        with suppress(Unavailable):
            jars += kind()
    return jars
