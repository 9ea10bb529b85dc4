"""What a batch is landed by: fixed by the driver when the batch begins, sent to every task, kept in the manifest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sigla.decoding.decoder import Limits
from sigla.model import BodyKey


class Strategy(Enum):
    """Which subject a record's schema belongs to. Source: Confluent's serializers."""

    TOPIC = "TopicName"
    """`topic-value`, `topic-key`."""
    RECORD = "RecordName"
    """The full name of the record: many topics, one subject."""
    TOPIC_RECORD = "TopicRecordName"
    """`topic-record`."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What becomes of a part of a topic's records.

    part: `value` or `key`. reader: `latest`, `version 3` of each subject, or `id 42`. table: of records named
    otherwise by their strategy, the place of `{record}` is taken by the record's full name.
    """

    topic: str
    part: str = "value"
    strategy: Strategy = Strategy.TOPIC
    reader: str = "latest"
    table: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """A subject as the driver saw it: what may be in its topic, and what it is read as.

    ids: of every version, soft-deleted ones among them in `deleted`. reader: the id to read as. stale: the catalog was
    silent; an id that is not here may have been registered since, and is let pass.
    """

    subject: str
    version: int
    reader: BodyKey
    ids: frozenset[int]
    deleted: frozenset[int] = frozenset()
    stale: bool = False


class Policy(Enum):
    """What to do about something that is no damage by itself."""

    FAIL = "fail"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Checks:
    membership: Policy = Policy.FAIL
    deleted: Policy = Policy.ALLOW
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Plan:
    """context: of all ids. heads: by subject. Of a record whose strategy names it, heads are met as records come."""

    context: str
    bindings: tuple[Binding, ...]
    heads: Mapping[str, Head]
    checks: Checks = field(default_factory=Checks)
