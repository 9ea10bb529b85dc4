"""Kafka as a source: what Spark is told, what its checkpoint says a batch holds, and which topic of a name it is."""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from pipelines.land.batch import Batch
from pipelines.land.manifest import Range
from pipelines.land.raw import RAW
from pipelines.land.settings import InvalidLanding, KafkaPart
from pipelines.land.told import SourceFailed
from pipelines.places import Place

CLIENTS: Final = "kafka."
"""Begins the options that are for Kafka's own clients."""
ADDRESS: Final = "kafka.bootstrap.servers"

_LOGS: Final = "v1"
"""The form of the checkpoint's logs, of all Spark 4 so far: a line that says so, then JSON."""

_BEGINNING: Final = "sources/0/0"

_AS_NUMBERS: Final = {"earliest": -2, "latest": -1}
"""Of where to start, as numbers among offsets."""

_LOST: Final = "data may have been lost"
_CONCURRENT: Final = ("CONCURRENT_STREAM_LOG_UPDATE", "streaming queries are concurrently using")
"""Of an entry of the log that was there already, and of the query's own id."""

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

    def begun(self) -> bool:
        """Whether Spark has written where the query begins; until then it asks."""
        return self.place.read(_BEGINNING) is not None

    def query(self) -> str:
        """The query's own id: another checkpoint is another query."""
        return str(orjson.loads(self._read("metadata"))["id"])

    def offsets(self, number: int) -> tuple[Offsets, Offsets]:
        """Where the batch of that number begins and where it ends, the end not in it.

        A partition that came since the batch before begins at 0: Spark refuses one that has lost its first records.
        """
        ends = self._log(f"offsets/{number}")
        begun = self._log(f"offsets/{number - 1}") if number else self._log(_BEGINNING)
        return {
            topic: {partition: begun.get(topic, {}).get(partition, 0) for partition in partitions}
            for topic, partitions in ends.items()
        }, ends

    def topics(self) -> set[str]:
        """Those of the newest batch, and of where it begins."""
        names = (name.removeprefix("offsets/") for name in self.place.names("offsets/"))
        newest = max((int(name) for name in names if name.isdecimal()), default=0)
        begun = self._log(f"offsets/{newest - 1}") if newest else self._log(_BEGINNING)
        return {*begun, *(self._log(f"offsets/{newest}") if self.place.read(f"offsets/{newest}") else ())}

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
    partitions: int
    compacted: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """Kafka's own view of its topics, through the client that Spark reads with: any way to log in that works there."""

    spark: SparkSession
    options: Mapping[str, str]

    def topics(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """Raises SourceFailed."""
        with self._admin() as (jvm, admin):
            told = admin.describeTopics(_listed(jvm, names)).topicNameValues()
            described = {str(name): self._described(told[name], name) for name in told}
            compacted = self._compacted(jvm, admin, described)
        return {
            name: Topic(str(each.topicId().toString()), int(each.partitions().size()), name in compacted)
            for name, each in described.items()
        }

    def beginnings(self, topics: Mapping[str, Topic]) -> Offsets:
        """Of every partition the first offset that Kafka still has. Raises SourceFailed."""
        return self._offsets({name: range(topic.partitions) for name, topic in topics.items()}, "earliest")

    def ends(self, partitions: Mapping[str, Iterable[int]]) -> Offsets:
        """Of these partitions the offsets that come next. Raises SourceFailed."""
        return self._offsets(partitions, "latest")

    def _offsets(self, partitions: Mapping[str, Iterable[int]], which: str) -> Offsets:
        with self._admin() as (jvm, admin):
            spec = getattr(jvm.org.apache.kafka.clients.admin.OffsetSpec, which)()
            partition = jvm.org.apache.kafka.common.TopicPartition
            wanted = {(name, n): partition(name, n) for name, numbers in partitions.items() for n in numbers}
            asked = jvm.java.util.HashMap()
            for each in wanted.values():
                asked.put(each, spec)
            told = admin.listOffsets(asked).all().get()
            found: dict[str, dict[str, int]] = {name: {} for name in partitions}
            for (name, number), each in wanted.items():
                found[name][str(number)] = int(told[each].offset())
        return found

    def _described(self, told: Any, name: str) -> Any:
        try:
            return told.get()
        except Py4JJavaError as failure:
            raise self._failed(f"the topic {name}", failure) from None

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
            raise self._failed("its topics", failure) from None

    def _failed(self, what: str, failure: Py4JJavaError) -> SourceFailed:
        cause = failure.java_exception.getCause() or failure.java_exception
        return SourceFailed(f"Kafka at {self.options.get(ADDRESS)} does not tell of {what}: {cause}")


def check_bound(checkpoint: Checkpoint, topics: Collection[str]) -> None:
    """Raises InvalidLanding of a topic that was read and is no more: Spark would take what it has for lost."""
    if others := sorted(checkpoint.topics() - {*topics}):
        raise InvalidLanding(
            f"The checkpoint {checkpoint.place.url} goes on with {', '.join(others)}, which is not in `bind` any more: "
            "bind it again, or remove the checkpoint, and the next run goes on behind what is landed."
        )


def explained(failure: Exception, checkpoint: Place) -> SourceFailed | None:
    """What is known of why Spark ended a query, or a task of it, and what to do."""
    text = str(failure)
    if any(words in text for words in _CONCURRENT):
        return SourceFailed(
            f"Another driver runs on the checkpoint {checkpoint.url}, and this one gives way to it: every record is "
            "landed once, also what this one had begun. One driver at a time is enough."
        )
    if _LOST in text:
        return SourceFailed(
            "Kafka does not have records any more that were to be landed: they are lost. Remove the checkpoint "
            f"{checkpoint.url}, and the next run goes on behind what is landed, with what there is."
        )
    return None


def start(asked: str, landed: Iterable[Range], topics: Mapping[str, Topic], beginnings: Callable[[], Offsets]) -> str:
    """Where a query without a checkpoint begins, as Spark wants to be told.

    asked: `earliest` or `latest`. landed: by other queries of the same work directory. Behind what they have landed, or
    where Kafka begins now if it has lost more; partitions and topics that they do not know, as asked.
    """
    ends: dict[tuple[str, int], int] = {}
    for each in landed:
        ends[each.uuid, each.partition] = max(each.end, ends.get((each.uuid, each.partition), 0))
    if not ends:
        return asked

    def begins(uuid: str, partition: int, first: int) -> int:
        end = ends.get((uuid, partition))
        return _AS_NUMBERS[asked] if end is None else max(end, first)

    begun = {
        name: {number: begins(topics[name].uuid, int(number), first) for number, first in partitions.items()}
        for name, partitions in beginnings().items()
    }
    return orjson.dumps(begun).decode()


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


def options(source: KafkaPart) -> dict[str, str]:
    """What Spark's source, and Kafka's own clients, are told."""
    return {ADDRESS: source.brokers} | {CLIENTS + name: value for name, value in source.options.items()}


def lag(cluster: Cluster, landed: Offsets) -> Mapping[str, int]:
    """By topic how many records Kafka has behind what is landed. Raises SourceFailed."""
    ends = cluster.ends({topic: map(int, partitions) for topic, partitions in landed.items()})
    return {
        topic: sum(max(ends[topic][number] - end, 0) for number, end in partitions.items())
        for topic, partitions in landed.items()
    }


def _listed(jvm: Any, items: Iterable[Any]) -> Any:
    made = jvm.java.util.ArrayList()
    for item in items:
        made.add(item)
    return made
