"""What records are bound to: which subject's schemas write them, what reads them, which table they land in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from sigla.decoding.decoder import Limits
from sigla.model import BodyKey
from sigla_pipelines.land.partitions import Fields

TOMBSTONES: Final = "_tombstones"
"""Stands for the record's name in the table of nulls, which have none."""


class Strategy(Enum):
    """Which subject a record's schema belongs to. Source: Confluent's serializers."""

    TOPIC = "TopicName"
    """`topic-value`, `topic-key`."""
    RECORD = "RecordName"
    """The full name of the record: many topics, one subject."""
    TOPIC_RECORD = "TopicRecordName"
    """`topic-record`."""


class Reader(NamedTuple):
    """What records are read as: the latest version of their subject, a version of it, or one id.

    kind: `latest`, `version` or `id`; number: of the latter two.
    """

    kind: str = "latest"
    number: int = 0


LATEST = Reader()


@dataclass(frozen=True, slots=True)
class Binding:
    """What becomes of a part of a topic's records.

    part: `value` or `key`; a topic's key without a binding stays bytes. records: full names, of the strategies that go
    by them; () with TOPIC_RECORD: those of all subjects of the topic. table: of a value; `{record}` in it is the
    record's full name. message: of a Protobuf file, the full name of the only one that is read; else each is.
    partition, sort: of the table's files; None where the settings do not say.
    """

    topic: str
    part: str = "value"
    strategy: Strategy = Strategy.TOPIC
    reader: Reader = LATEST
    records: tuple[str, ...] = ()
    table: str = ""
    message: str = ""
    partition: Fields | None = None
    sort: tuple[str, ...] | None = None

    def subject(self, record: str = "") -> str:
        """The name, without a context."""
        match self.strategy:
            case Strategy.TOPIC:
                return f"{self.topic}-{self.part}"
            case Strategy.RECORD:
                return record
            case Strategy.TOPIC_RECORD:
                return f"{self.topic}-{record}"

    @property
    def names_its_subjects(self) -> bool:
        """Else they are found by what they begin with, and some may have nothing to do with the topic."""
        return self.strategy is Strategy.TOPIC or bool(self.records)

    def admits(self, record: str) -> bool:
        """Whether the settings let it be here; its subject may yet have no versions."""
        return not self.records or record in self.records

    def table_of(self, record: str = "") -> str:
        return self.table.replace("{record}", record)

    def asked(self, record: str, messages: tuple[str, ...] | None) -> str:
        """What the table of a record is asked to be called.

        messages: of a Protobuf topic, of which the first has the table of the topic itself.
        """
        if messages is None:
            return self.table_of(record)
        return self.table_of() if record == messages[0] else f"{self.table_of()}.{record}"


@dataclass(frozen=True, slots=True)
class Head:
    """A subject as the driver saw it: what may be in its topic, and what it is read as.

    reader, version: the id to read as, and which version of the subject that is; 0 if none. ids: of every version, each
    with the last one that carries it. deleted: those of which every version is soft-deleted. record: the full name by
    which the subject goes; empty where it goes by the topic.
    """

    subject: str
    reader: BodyKey
    version: int
    ids: Mapping[int, int]
    deleted: frozenset[int] = frozenset()
    record: str = ""


@dataclass(frozen=True, slots=True)
class CatalogAnswer:
    """What the catalog says of all bindings.

    heads: by binding, because several may share a subject and read it as something else, and by subject; those without
    a version are missing. stale: the catalog was silent. What is not here may have been registered since: an id is let
    pass, a record of a subject waits for the next answer.
    """

    heads: Mapping[Binding, Mapping[str, Head]]
    stale: bool = False


class Policy(Enum):
    """What to do about something that does no damage by itself."""

    FAIL = "fail"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Checks:
    membership: Policy = Policy.FAIL
    deleted: Policy = Policy.ALLOW
    limits: Limits = field(default_factory=Limits)


class Layout(NamedTuple):
    """How the files of a table are written. sort: the columns in whose order rows are; None: as records came."""

    partition: Fields = ()
    sort: tuple[str, ...] | None = None
