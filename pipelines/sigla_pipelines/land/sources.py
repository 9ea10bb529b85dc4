"""Where batches come from: a stream of Kafka's, cut by Spark, or files, cut here."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import array, coalesce

from sigla_pipelines.land import files, kafka
from sigla_pipelines.land.batch import Batch, next_number
from sigla_pipelines.land.driver import Driver, Tasks
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.settings import FilesPart, InvalidLanding, KafkaPart
from sigla_pipelines.land.task import Sent, Task, in_arrow, send_task
from sigla_pipelines.places import Place, open_place

Land = Callable[[Batch, Tasks], None]

POLLS_EVERY_S = 0.2


class AskedToStop(Exception):
    """No batch begins any more."""


class Stopping:
    """A signal may ask to stop; the batch that has begun is landed."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._landing = threading.Lock()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Raises AskedToStop."""
        with self._landing:
            if self.asked.is_set():
                raise AskedToStop
            yield

    def now(self) -> bool:
        """Whether it was asked to, and no batch is under way. One that begins now ends at once."""
        return self.asked.is_set() and not self._landing.locked()


def from_kafka(
    spark: SparkSession, driver: Driver, source: KafkaPart, land: Land, stopping: Stopping, *, stream: bool
) -> None:
    """Until all is landed that is there, or, of a stream, until it is asked to stop.

    Raises InvalidLanding, SourceFailed.
    """
    landing = driver.landing
    options = kafka.options(source)
    kept = driver.work.under("checkpoint")
    checkpoint, cluster = kafka.Checkpoint(kept), kafka.Cluster(spark, options)
    failures: list[Exception] = []
    reached = -1

    def on_batch(frame: DataFrame, number: int) -> None:
        nonlocal reached

        try:
            with stopping.batch():
                land(kafka.batch(checkpoint, cluster, number, source.gaps), partial(land_frame, frame))
        except Exception as failure:
            failures.append(failure)
            raise
        reached = max(reached, number)

    bound = landing.bound
    found = {topic for topic in cluster.names() if topic in bound} if bound.rules else set[str]()
    topics = cluster.topics({*landing.topics, *found})  # in any case: it says which one is missing
    start = "earliest"
    if checkpoint.begun():
        kafka.check_bound(checkpoint, bound)
    else:
        landed_before = (each for manifest in driver.manifests.all() for each in manifest.ranges)
        whole = {name: range(topic.partitions) for name, topic in topics.items()}
        start = kafka.starting_offsets(source.start, landed_before, topics, partial(cluster.offsets, whole))
    frame = kafka.records(spark, options, bound, start=start, most=source.max_offsets)
    writer = frame.writeStream.queryName(landing.name).foreachBatch(on_batch).option("checkpointLocation", kept.url)
    every = f"{landing.trigger.every.total_seconds():.0f} seconds"
    writer = writer.trigger(processingTime=every) if stream else writer.trigger(availableNow=True)
    while True:
        before = reached
        try:
            query = writer.start()
            while not query.awaitTermination(POLLS_EVERY_S):
                if stopping.now():
                    query.stop()
        except (PySparkException, Py4JJavaError) as failure:
            if failures and isinstance(failures[0], AskedToStop):
                return
            # Spark tells in many lines what our own function raised.
            cause = failures[0] if failures else failure
            known = kafka.explained(cause, kept)
            if known or failures:
                raise known or cause from None
            # Spark 4.1 ends a query after a batch that an earlier run had begun and not committed: it reports on
            # offsets that it has not asked for yet (SPARK-57438). Whoever has come further goes on.
            if reached == before:
                raise
            # A wait with a limit tells of a failure before the query has let go of its name; one without, afterwards.
            with suppress(PySparkException, Py4JJavaError):
                query.awaitTermination()
        else:
            return


def from_files(
    spark: SparkSession, driver: Driver, source: FilesPart, land: Land, stopping: Stopping, *, stream: bool
) -> None:
    """The same, of files: only those that no manifest names. Raises InvalidLanding, Stopped."""
    raw, context, bound = open_place(source.path), spark.sparkContext, driver.landing.bound
    for setting, folder in (("sink.lake", driver.lake), ("work", driver.work)):
        if files.finds(raw, folder):
            raise InvalidLanding(
                f"`{setting}` ({folder.url}) is within `source.path` ({raw.url}), so the job would read its own "
                "output. Choose a folder outside."
            )
    query = driver.manifests.query(raw.uri(""))
    while True:
        # In this order: what another driver lands in between is seen.
        start = next_number(query, driver.manifests, driver.sink)
        new = files.new(raw, driver.manifests.entries())
        for number, several in enumerate(files.batches(new, source.batch_files), start):
            shares = files.shares(several, context.defaultParallelism)

            def tasks(task: Task, shares: Sequence[files.Share] = shares) -> list[Landed]:
                if not shares:  # files without a row, which Spark cannot divide
                    return []
                with send_task(context, task) as each:
                    done = context.parallelize(shares, len(shares)).map(_land_files(each, raw)).collect()
                return [Landed.decoded(one) for one in done]

            entries = tuple(file.entry for file in several)
            topics = files.topics(raw, several) if bound.rules else frozenset[str]()
            land(Batch(query, number, entries=entries, topics=topics), tasks)
            if stopping.asked.is_set():
                return
        if not stream or stopping.asked.wait(driver.landing.trigger.every.total_seconds()):
            return


def land_frame(frame: DataFrame, task: Task) -> list[Landed]:
    """What its tasks did. frame: with the columns of RAW, and no others: so those of tables may change in between."""
    with send_task(frame.sparkSession.sparkContext, task) as each:
        rows = without_nulls(frame).mapInArrow(in_arrow(each), "landed binary").collect()
    return [Landed.decoded(row.landed) for row in rows]


def without_nulls(frame: DataFrame) -> DataFrame:
    """The same, in which a record without headers has an empty list of them."""
    # Spark 4.1 asks after each row how large its batch has become, and Arrow's list vector then goes through all nulls
    # since the last list: records without headers, which Spark's source has as nulls, would cost 1.6 ns for each one
    # before them in the batch. Empty lists cost nothing.
    return frame.withColumn("headers", coalesce("headers", array().cast(frame.schema["headers"].dataType)))


def _land_files(task: Sent, raw: Place) -> Callable[[files.Share], bytes]:
    """What a task does that reads its files itself."""
    return lambda share: task().land(files.read(raw, share)).encoded()
