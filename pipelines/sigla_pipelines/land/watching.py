"""Who else is told of each batch: a topic of dead letters, Prometheus."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from pyspark.sql import SparkSession

from sigla_pipelines.land import kafka
from sigla_pipelines.land.dead_letters import DeadLetters
from sigla_pipelines.land.driver import Driver
from sigla_pipelines.land.prometheus import Ends, Figures, Publish
from sigla_pipelines.land.report import Done
from sigla_pipelines.land.settings import KafkaPart, Landing


@contextmanager
def watching(spark: SparkSession, driver: Driver, publish: Sequence[Publish]) -> Iterator[Callable[[Done], None]]:
    """To be told of a batch when it is in its tables. Raises Undelivered at the end, if letters wait."""
    landing = driver.landing
    figures = Figures(driver.work, landing.name, _lag(spark, landing)) if publish else None
    letters = DeadLetters(spark, landing, driver.work, driver.lake, driver.manifests) if landing.dead_letter else None

    def tell(done: Done) -> None:
        if letters:
            letters.deliver(driver.clock)
        if figures:
            figures.add(done)
            _publish(figures, publish)

    if letters:
        letters.begin()
        letters.deliver(driver.clock)
    yield tell
    if figures:
        _publish(figures, publish)
    if letters:
        letters.end()


def _lag(spark: SparkSession, landing: Landing) -> Callable[[Ends], Mapping[str, int]]:
    """The number of files to come is unknown."""
    if not isinstance(landing.source, KafkaPart):
        return lambda _: {}
    return partial(kafka.lag, kafka.Cluster(spark, kafka.options(landing.source)))


def _publish(figures: Figures, publish: Sequence[Publish]) -> None:
    """Metrics do not stop the job: what cannot be published is told."""
    text = figures.text()
    for each in publish:
        try:
            each(text)
        except OSError as problem:
            print(f"Metrics were not published: {problem}.", file=sys.stderr, flush=True)
