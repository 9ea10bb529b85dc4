"""Records of a topic, from its brokers, by Kafka's own client in C; it need not be installed for anything else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sigla.cli.misuse import Misuse, Refused
from sigla.journal.replay import TopicRecord
from sigla.ports.progress import Progress

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

WAIT, WAIT_MS = "default.api.timeout.ms", "15000"
"""For a broker's answer: as the setting is called that Kafka's tools have for it, and Kafka's client in C has not."""
SCHEME = "kafka://"
FORM = "such a topic is kafka://HOST:PORT/TOPIC, with commas between several brokers"
SCHEMAS, KEYS = "_schemas", "_dek_registry_keys"
"""The topics of a registry, unless it is told others."""
MOMENT_S = 0.5
"""So long a topic is waited for that is followed."""
INSTALL = "pip install 'sigla-registry[kafka]'"

Settings = dict[str, str]
"""A client's options, as Kafka's tools name them."""


class Reader:
    """A consumer, and what its client has said of the brokers."""

    def __init__(self, consumer: "Consumer", said: list[str], wait_s: float) -> None:
        self._consumer = consumer
        self._said = said
        self._wait_s = wait_s

    def begin(self, topic: str, partition: int, offset: int) -> None:
        from confluent_kafka import TopicPartition

        self._consumer.assign([TopicPartition(topic, partition, offset)])

    def next(self) -> Any:
        """A message, as `poll` gives it; its types say that headers are text. None where no broker answers in time."""
        return self.next_within(self._wait_s)

    def next_within(self, seconds: float) -> Any:
        """The same, for as long as this."""
        return self._consumer.poll(seconds)

    def partitions(self, topic: str) -> int:
        """How many there are; 0 where there is no such topic."""
        return len(self._consumer.list_topics(topic, timeout=self._wait_s).topics[topic].partitions)

    def span(self, topic: str, partition: int) -> tuple[int, int]:
        """The first offset, and the one that the next record will have."""
        from confluent_kafka import TopicPartition

        first, end = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=self._wait_s)
        return first, end

    @property
    def reason(self) -> str:
        """Why brokers do not answer, in brackets, as far as that is known."""
        return f" ({self._said[-1]})" if self._said else ""


@contextmanager
def consuming(what: str, settings: Settings) -> Iterator[Reader]:
    """what: is read, as people call it. settings: of the consumer. Raises Misuse, Refused."""
    try:
        import confluent_kafka as kafka
    except ImportError:
        raise Misuse(f"Topics are read by confluent-kafka, which is not installed: {INSTALL}.") from None
    said: list[str] = []
    own = {
        "group.id": "sigla",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        # Else it writes a line of its own for each try.
        "log_level": 0,
        "error_cb": lambda error: said.append(error.str()),
    }
    known = {name: value for name, value in settings.items() if name != WAIT}
    try:
        wait_s = int(settings.get(WAIT, WAIT_MS)) / 1000
    except ValueError:
        raise Misuse(f"Invalid {WAIT} {settings[WAIT]!r}: expected a number of milliseconds.") from None
    try:
        consumer = kafka.Consumer({"auto.offset.reset": "error", **known, **own})
    except kafka.KafkaException as problem:
        raise Misuse(f"A consumer cannot be made of these settings: {problem.args[0].str()}.") from None
    reader = Reader(consumer, said, wait_s)
    try:
        yield reader
    except kafka.KafkaException as problem:
        raise Refused(f"{what} cannot be read: {problem.args[0].str()}{reader.reason}.") from None
    finally:
        consumer.close()


def is_topic(source: str) -> bool:
    return source.startswith(SCHEME)


def read(source: str, settings: Settings, told: Progress) -> list[TopicRecord]:
    """All records of a topic of schemas, as far as it goes now. Raises Misuse, Refused."""
    brokers, topic = _brokers_and_topic(source)
    with consuming(source, {**settings, "bootstrap.servers": brokers}) as reader:
        _check_partitions(reader, source, topic)
        first, end = reader.span(topic, 0)
        reader.begin(topic, 0, first)
        return list(_records(reader, source, end, told))


@contextmanager
def following(source: str, settings: Settings) -> Iterator["Following"]:
    """A topic of schemas from its first record on. Raises Misuse, Refused."""
    brokers, topic = _brokers_and_topic(source)
    with consuming(source, {**settings, "bootstrap.servers": brokers}) as reader:
        _check_partitions(reader, source, topic)
        first, _ = reader.span(topic, 0)
        reader.begin(topic, 0, first)
        yield Following(reader, source, topic)


class Following:
    """What a topic has had since it was asked last, time and again."""

    def __init__(self, reader: Reader, source: str, topic: str) -> None:
        self._reader = reader
        self._source = source
        self._topic = topic
        self._offset = 0
        """That of the record which comes next."""

    def all(self, told: Progress, into: list[TopicRecord]) -> None:
        """Its records so far, as the first question, at the end of a list. Raises Refused."""
        number = 0
        while (message := self._reader.next()) is not None:
            if self._is_end(message):
                return
            into.append(_record(message))
            number += 1
            told("records", number)
        raise self._silence()

    def more(self, into: list[TopicRecord]) -> None:
        """What has come since, at the end of a list; nothing, after a moment without any.

        What came before a failure stands in the list: it does not come again. Raises Refused, also where brokers are
        silent: that nothing comes of them does not say that there is nothing.
        """
        self._read(into)
        if self._offset < self._end():  # it has come meanwhile, or does not come
            before = len(into)
            self._read(into)
            if len(into) == before and self._offset < self._end():
                raise self._silence()

    def _read(self, into: list[TopicRecord]) -> None:
        before = len(into)
        while (message := self._reader.next_within(MOMENT_S)) is not None:
            if not self._is_end(message):
                into.append(_record(message))
            elif len(into) > before:
                break

    def _end(self) -> int:
        """Raises Refused."""
        from confluent_kafka import KafkaException

        try:
            return self._reader.span(self._topic, 0)[1]
        except KafkaException:
            raise self._silence() from None

    def _silence(self) -> Refused:
        return Refused(f"{self._source} does not answer{self._reader.reason}.")

    def has_beside(self, topic: str) -> bool:
        """Whether its brokers have this topic as well, as a registry makes it. Raises Refused."""
        from confluent_kafka import KafkaException

        try:
            return self._reader.partitions(topic) == 1
        except KafkaException as problem:
            raise Refused(f"{self._source} does not answer ({problem.args[0].str()}).") from None

    def _is_end(self, message: "Message") -> bool:
        """Whether it says that nothing comes after it yet. Raises Refused."""
        problem = message.error()
        if problem is not None and problem.code() != _end_of_partition():
            raise Refused(f"{self._source} cannot be read: {problem.str()}.")
        self._offset = (message.offset() or 0) + (problem is None)
        return problem is not None


def _check_partitions(reader: Reader, source: str, topic: str) -> None:
    """Raises Misuse."""
    partitions = reader.partitions(topic)
    if partitions != 1:
        why = f"has {partitions} partitions, and a topic of schemas has one" if partitions else "is not there"
        raise Misuse(f"{source} {why}: give the topic that the registry names in kafkastore.topic.")


def _records(reader: Reader, source: str, end: int, told: Progress) -> Iterator[TopicRecord]:
    """Until the offset `end`: a topic that is compacted, or has transactions, may have nothing right before it."""
    number = 0
    while True:
        message = reader.next()
        if message is None:
            raise Refused(f"{source} does not answer any more{reader.reason}.")
        if message.error() is None and message.offset() < end:
            number += 1
            told("records", number)
            yield _record(message)
        elif message.error() is None or message.error().code() == _end_of_partition():
            return
        else:
            raise Refused(f"{source} cannot be read: {message.error().str()}.")


def _record(message: "Message") -> TopicRecord:
    _, ts = message.timestamp()
    return TopicRecord(_bytes(message.key()) or b"", _bytes(message.value()), ts, message.offset() or 0)


def _bytes(part: str | bytes | None) -> bytes | None:
    """The client's types say that a part may be text."""
    return part.encode() if isinstance(part, str) else part


def _end_of_partition() -> int:
    from confluent_kafka import KafkaError

    return int(KafkaError._PARTITION_EOF)  # noqa: SLF001 - the name that the client documents


def _brokers_and_topic(source: str) -> tuple[str, str]:
    """Brokers and topic. Raises Misuse."""
    brokers, _, topic = source.removeprefix(SCHEME).partition("/")
    if not brokers or "/" in topic or "@" in brokers:
        raise Misuse(f"{SCHEME}{brokers.rpartition('@')[2]}/{topic} names no topic: {FORM}.")
    return brokers, topic or SCHEMAS


def topic_beside(source: str, topic: str) -> str:
    """Another topic of the same brokers. Raises Misuse."""
    return f"{SCHEME}{_brokers_and_topic(source)[0]}/{topic}"


def properties(path: Path | None) -> Settings:
    """Settings as Kafka's tools keep them: `name=value` lines. Raises Misuse."""
    if path is None:
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise Misuse(f"{path} cannot be read ({problem}).") from None
    pairs = (line.partition("=") for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}
