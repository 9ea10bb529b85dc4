"""What an audit has found in data: which ids occur in which topics, and when last. It lies beside the registry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from sigla.model import BodyKey


class Occurrence(NamedTuple):
    """An id in the records of a topic. last: milliseconds since the epoch; None where no record says its time."""

    key: BodyKey
    topic: str
    rows: int
    last: int | None


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """at: when they were looked for, in milliseconds since the epoch. places: where.

    retention_ms: how long topics keep records, negative: for ever; what is not in it is unknown.
    """

    at: int
    places: tuple[str, ...]
    occurrences: Sequence[Occurrence]
    retention_ms: Mapping[str, int] = field(default_factory=dict)


class Audits(Protocol):
    """The last audit of a registry, as bytes that `registry.audits` makes and reads. All raise StoreError."""

    def put(self, content: bytes) -> None:
        """In the place of the one before, whoever wrote that; a reader finds the one or the other, whole."""
        ...

    def get(self) -> bytes | None:
        """None where none was kept."""
        ...

    def shows(self, context: str, topic: str) -> bool:
        """Whether the caller may know that a topic has records of an id of this context."""
        ...


class NoAudits:
    """`Audits` where none is kept."""

    def put(self, content: bytes) -> None: ...

    def get(self) -> bytes | None:
        return None

    def shows(self, context: str, topic: str) -> bool:  # noqa: ARG002 - as `Audits` has it
        return True
