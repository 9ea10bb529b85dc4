"""Kafka as a source: what Spark is told, what its checkpoint says a batch holds, and which topic of a name it is."""

import contextlib
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import orjson
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from sigla_pipelines.land import starts
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.bound import Bound
from sigla_pipelines.land.exit_status import SourceFailed
from sigla_pipelines.land.manifest import Range
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.settings import InvalidLanding, KafkaPart
from sigla_pipelines.land.starts import NUMBERS, Ask, NoSuchStart, Start
from sigla_pipelines.places import Place

CLIENTS: Final = "kafka."
"""Begins the options that are for Kafka's own clients."""
ADDRESS: Final = "kafka.bootstrap.servers"
FETCH_WAIT: Final = "kafka.fetch.max.wait.ms"
"""How long a broker keeps a consumer waiting that has read all there is: by Kafka's own default half a second."""

_LOGS: Final = "v1"
"""The form of the checkpoint's logs, of all Spark 4 so far: a line that says so, then JSON."""

_BEGINNING: Final = "sources/0/0"

_LOST: Final = "data may have been lost"
_CONCURRENT: Final = ("CONCURRENT_STREAM_LOG_UPDATE", "streaming queries are concurrently using")
"""Names of an entry that the log had already, and of the query's own id."""

Offsets = Mapping[str, Mapping[str, int]]
"""By topic and partition, as Spark writes them."""


def records(
    spark: SparkSession, options: Mapping[str, str], bound: Bound, *, start: str, most: int | None
) -> DataFrame:
    """A stream with the columns of `RAW`; of topics by pattern also those that come while it runs.

    start: `earliest`, `latest` or offsets as JSON, if the query has no checkpoint yet. most: records of a batch.
    """
    said = reader_options(options, bound, start=start, most=most)
    return spark.readStream.format("kafka").options(**said).load().select(*RAW.names)


def reader_options(options: Mapping[str, str], bound: Bound, *, start: str, most: int | None) -> dict[str, str]:
    """What Spark's source is told; options: of the settings, which come before what is assumed here."""
    return {
        # What a transaction has not committed is not there; what was lost stops the query.
        "kafka.isolation.level": "read_committed",
        "failOnDataLoss": "true",
        "includeHeaders": "true",
        FETCH_WAIT: "10",
        "startingOffsets": start,
        **({"maxOffsetsPerTrigger": str(most)} if most else {}),
        **options,
        **_subscribed(bound),
    }


def _subscribed(bound: Bound) -> Mapping[str, str]:
    if bound.rules:
        return {"subscribePattern": bound.pattern}
    return {"subscribe": ",".join(sorted({each.topic for each in bound.named}))}


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
            raise SourceFailed(
                f"{self.place.uri(name)} has the unknown form {form!r}: the job does not support this version of Spark."
            )
        offsets: Offsets = orjson.loads(lines[-1])
        return offsets

    def _read(self, name: str) -> bytes:
        content = self.place.read(name)
        if content is None:
            raise SourceFailed(f"The checkpoint lacks {self.place.uri(name)}: another program has changed it.")
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
            told = admin.describeTopics(_java_list(jvm, names)).topicNameValues()
            described = {str(name): self._described(told[name], name) for name in told}
            compacted = self._compacted(jvm, admin, described)
        return {
            name: Topic(str(each.topicId().toString()), int(each.partitions().size()), name in compacted)
            for name, each in described.items()
        }

    def names(self) -> set[str]:
        """All topics that the client may see, but for those of Kafka's own. Raises SourceFailed."""
        with self._admin() as (_, admin):
            return {str(name) for name in admin.listTopics().names().get()}

    def offsets(self, partitions: Mapping[str, Iterable[int]], at: int) -> Offsets:
        """For these partitions the offsets of the first records from a time on, or -1 without such records.

        at: milliseconds since the epoch; or as in `starts.NUMBERS` the first that Kafka still has, or the next.
        Raises SourceFailed.
        """
        with self._admin() as (jvm, admin):
            kinds = jvm.org.apache.kafka.clients.admin.OffsetSpec
            spec = {-2: kinds.earliest, -1: kinds.latest}.get(at, partial(kinds.forTimestamp, at))()
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
            told = admin.describeConfigs(_java_list(jvm, asked.values())).all().get()
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
        return SourceFailed(f"Kafka at {self.options.get(ADDRESS)} did not answer a question about {what}: {cause}")


def check_bound(checkpoint: Checkpoint, bound: Container[str]) -> None:
    """Raises InvalidLanding if a topic that was read does not exist any more: Spark would take its records for lost."""
    if others := sorted(topic for topic in checkpoint.topics() if topic not in bound):
        raise InvalidLanding(
            f"The checkpoint {checkpoint.place.url} continues with {', '.join(others)}, which `bind` no longer has: "
            "bind it again, or remove the checkpoint: the next run continues after the last landed record."
        )


def explained(failure: Exception, checkpoint: Place) -> SourceFailed | None:
    """What is known of why Spark ended a query, or a task of it, and what to do."""
    text = str(failure)
    if any(words in text for words in _CONCURRENT):
        return SourceFailed(
            f"Another driver uses the checkpoint {checkpoint.url}, so this one stops. Every record is landed once, "
            "including those that this driver had begun. Run one driver at a time."
        )
    if _LOST in text:
        return SourceFailed(
            "Kafka has deleted records that were not landed yet: they are lost. Remove the checkpoint "
            f"{checkpoint.url}: the next run continues with the records that Kafka still has."
        )
    return None


def starting_offsets(asked: Start, landed: Iterable[Range], topics: Mapping[str, Topic], ask: Ask) -> str:
    """Where a query without a checkpoint begins, as Spark wants to be told.

    landed: by other queries of the same work directory. Behind what they have landed, or where Kafka begins now if it
    has lost more; partitions and topics that they do not know, as asked. Raises InvalidLanding.
    """
    ends: dict[tuple[str, int], int] = {}
    for each in landed:
        ends[each.uuid, each.partition] = max(each.end, ends.get((each.uuid, each.partition), 0))
    if not ends and asked.plain:
        return asked.plain
    try:
        begun = starts.start_offsets(asked, {name: topic.partitions for name, topic in topics.items()}, ask)
    except NoSuchStart as problem:
        raise InvalidLanding(str(problem)) from None
    for name, partitions in ask(NUMBERS["earliest"]).items() if ends else ():
        for number, first in partitions.items():
            end = ends.get((topics[name].uuid, int(number)))
            if end is not None:
                begun[name][number] = max(end, first)
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
    return Batch(checkpoint.query(), number, ranges, gaps=compacted | frozenset(gaps), topics=frozenset(topics))


def options(source: KafkaPart) -> dict[str, str]:
    """What Spark's source, and Kafka's own clients, are told."""
    return {ADDRESS: source.brokers} | {CLIENTS + name: value for name, value in source.options.items()}


def lag(cluster: Cluster, landed: Offsets) -> Mapping[str, int]:
    """By topic how many records Kafka has behind what is landed. Raises SourceFailed."""
    partitions_of = {topic: [*map(int, partitions)] for topic, partitions in landed.items()}
    ends = cluster.offsets(partitions_of, NUMBERS["latest"])
    return {
        topic: sum(max(ends[topic][number] - end, 0) for number, end in partitions.items())
        for topic, partitions in landed.items()
    }


def _java_list(jvm: Any, items: Iterable[Any]) -> Any:
    made = jvm.java.util.ArrayList()
    for item in items:
        made.add(item)
    return made
