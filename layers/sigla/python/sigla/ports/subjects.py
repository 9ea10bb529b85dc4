"""One subject, as a decision about it needs it.

A registration asks once (`snapshot`), decides purely, commits once (`catalog.Catalog.commit`). All a decision rests on
is in the `Change`, as it was seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sigla.changes import Head
from sigla.model import Chain, Guid, Row, SchemaId, Subject, Version
from sigla.ports.log import LogEntry


class VersionKey(NamedTuple):
    """A tuple, because each snapshot is looked up by some."""

    subject: Subject
    version: Version
    """LATEST means the highest active one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one question was answered with.

    rows: the versions asked for, by the key they were asked by; absent if not stored. Soft-deleted ones are present.
    heads: of every subject named in the question, also those never heard of.
    known: the id that the guessed content has in the subject's context, as `ids.Ids.id_of` would say.
    epoch: of the region's role; 0 without one.
    """

    head: Head
    chain: Chain
    rows: Mapping[VersionKey, Row]
    heads: Mapping[Subject, Head]
    known: SchemaId | None = None
    epoch: int = 0


class Subjects(Protocol):
    """Versions and settings of one subject. Every read sees every commit that has returned."""

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        """All that a decision about one subject rests on, in one round trip."""
        ...

    def history(self, subject: Subject) -> tuple[Row, ...]:
        """Every stored version, soft-deleted ones included, ascending."""
        ...

    def candidates(self, subject: Subject, digests: Sequence[str]) -> tuple[Row, ...]:
        """Stored versions registered with one of these digests, descending; soft-deleted ones included."""
        ...

    def commits_about(self, subject: Subject) -> Iterator[LogEntry]:
        """What commits did to the subject, newest first: to its versions, its settings and its associations.

        Also of a subject that is deleted for good. It begins with the first commit of release 0.3.0 or later.
        """
        ...
