"""Kafka as a source: what Spark is told, what its checkpoint says a batch holds, and which topic of a name it is."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from pipelines.land.batch import Batch
from pipelines.land.manifest import Range
from pipelines.land.raw import RAW
from pipelines.land.told import SourceFailed
from pipelines.places import Place

CLIENTS: Final = "kafka."
"""Begins the options that are for Kafka's own clients."""
ADDRESS: Final = "kafka.bootstrap.servers"

_LOGS: Final = "v1"
"""The form of the checkpoint's logs, of all Spark 4 so far: a line that says so, then JSON."""

Offsets = Mapping[str, Mapping[str, int]]
"""By topic and partition, as Spark writes them."""


def records(
    spark: SparkSession, options: Mapping[str, str], topics: Iterable[str], *, start: str, most: int | None
) -> DataFrame:
    """A stream with the columns of `RAW`.

    start: `earliest`, `latest` or offsets as JSON, where there is no checkpoint yet. most: records of a batch.
    """
    settings = {
        # What a transaction has not committed is not there; what was lost stops the query.
        "kafka.isolation.level": "read_committed",
        "failOnDataLoss": "true",
        "includeHeaders": "true",
        "startingOffsets": start,
        **({"maxOffsetsPerTrigger": str(most)} if most else {}),
        **options,
        "subscribe": ",".join(sorted(set(topics))),
    }
    return spark.readStream.format("kafka").options(**settings).load().select(*RAW.names)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What Spark keeps of a query. It writes what a batch holds before it hands the batch over."""

    place: Place

    def query(self) -> str:
        """The query's own id: another checkpoint is another query."""
        return str(orjson.loads(self._read("metadata"))["id"])

    def offsets(self, number: int) -> tuple[Offsets, Offsets]:
        """Where the batch of that number begins and where it ends, the end not in it.

        A partition that came since the batch before begins at 0: Spark refuses one that has lost its first records.
        """
        ends = self._log(f"offsets/{number}")
        begun = self._log(f"offsets/{number - 1}") if number else self._log("sources/0/0")
        return {
            topic: {partition: begun.get(topic, {}).get(partition, 0) for partition in partitions}
            for topic, partitions in ends.items()
        }, ends

    def _log(self, name: str) -> Offsets:
        # The first batch's file begins with a zero byte, for the sake of readers of Spark 2.
        form, *lines = self._read(name).removeprefix(b"\0").decode().splitlines()
        if form != _LOGS:
            raise SourceFailed(f"{self.place.uri(name)} is of the form {form!r}: this Spark is not known to the job.")
        offsets: Offsets = orjson.loads(lines[-1])
        return offsets

    def _read(self, name: str) -> bytes:
        content = self.place.read(name)
        if content is None:
            raise SourceFailed(f"The checkpoint has no {self.place.uri(name)}: it was changed by somebody else.")
        return content


class Topic(NamedTuple):
    """uuid: a topic that was deleted and made anew has another one. compacted: it loses records between others."""

    uuid: str
    compacted: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """Kafka's own view of its topics, through the client that Spark reads with: any way to log in that works there."""

    spark: SparkSession
    options: Mapping[str, str]

    def topics(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """Raises SourceFailed."""
        with self._admin() as (jvm, admin):
            described = admin.describeTopics(_listed(jvm, names)).allTopicNames().get()
            uuids = {str(name): str(described[name].topicId().toString()) for name in described}
            compacted = self._compacted(jvm, admin, uuids)
        return {name: Topic(uuid, name in compacted) for name, uuid in uuids.items()}

    def _compacted(self, jvm: Any, admin: Any, names: Iterable[str]) -> Collection[str]:
        resource = jvm.org.apache.kafka.common.config.ConfigResource
        asked = {name: resource(resource.Type.TOPIC, name) for name in names}
        try:
            told = admin.describeConfigs(_listed(jvm, asked.values())).all().get()
        except Py4JJavaError:  # not everybody who may read a topic may read its settings; then `gaps` has to say it
            return ()
        return [name for name, each in asked.items() if "compact" in str(told[each].get("cleanup.policy").value())]

    @contextlib.contextmanager
    def _admin(self) -> Iterator[tuple[Any, Any]]:
        jvm = self.spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no other door to its own Kafka client
        settings = jvm.java.util.Properties()
        for name, value in self.options.items():
            if name.startswith(CLIENTS):
                settings.put(name.removeprefix(CLIENTS), value)
        try:
            admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
            try:
                yield jvm, admin
            finally:
                admin.close()
        except Py4JJavaError as failure:
            cause = failure.java_exception.getCause() or failure.java_exception
            raise SourceFailed(f"Kafka at {self.options.get(ADDRESS)} does not tell of its topics: {cause}") from None


def batch(checkpoint: Checkpoint, cluster: Cluster, number: int, gaps: Collection[str]) -> Batch:
    """Which records a batch of the checkpoint's query is made of. gaps: topics that are written in transactions.

    Raises SourceFailed.
    """
    starts, ends = checkpoint.offsets(number)
    topics = cluster.topics(ends)
    ranges = tuple(
        Range(name, topics[name].uuid, int(partition), starts[name][partition], end)
        for name, partitions in sorted(ends.items())
        for partition, end in sorted(partitions.items(), key=lambda each: int(each[0]))
    )
    compacted = frozenset(name for name, topic in topics.items() if topic.compacted)
    return Batch(checkpoint.query(), number, ranges, gaps=compacted | frozenset(gaps))


def _listed(jvm: Any, items: Iterable[Any]) -> Any:
    made = jvm.java.util.ArrayList()
    for item in items:
        made.add(item)
    return made
