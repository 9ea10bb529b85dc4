"""What no other port tells: everything there is, whether or not anything points to it."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from sigla.associations.nouns import Association
from sigla.exporters.nouns import Exporter
from sigla.keks.nouns import Dek, Kek
from sigla.model import Body, BodyKey, Guid, Subject
from sigla.ports.log import LogEntry
from sigla.ports.progress import Progress, unseen

UNFIT: Final = (ValueError, LookupError, TypeError, AttributeError, zlib.error)
"""What reading a row raises that no commit has written."""

MISPLACED: Final = "what stands in a row belongs to another place"


class UnreadableRow(NamedTuple):
    """A row that is not what its place is for. place: where it stands, for people."""

    place: str


class ProgressAlone(NamedTuple):
    """Progress that is of no exporter. exporter: the name that it would have."""

    exporter: str


class Inventory(Protocol):
    """For who reads a registry from end to end: a scrub, an audit, an export."""

    def bodies(self) -> Iterator[BodyKey]:
        """Every id with an object."""
        ...

    def pointers(self) -> Iterator[tuple[Guid, BodyKey]]:
        """Every way from a guid to a body."""
        ...

    def buried(self, ids: Iterable[BodyKey]) -> frozenset[BodyKey]:
        """Those of the ids that have lost their last holder."""
        ...

    def unheld(self, progress: Progress = unseen, /) -> Iterator[BodyKey]:
        """Every id with a body that no version holds, and that no import has written over.

        progress: is told of the bodies looked at, where all of them have to be.
        """
        ...

    def point(self, key: BodyKey, guid: Guid) -> None:
        """Puts a pointer that is missing; one that is there stays."""
        ...

    def second_names(self, known: Iterable[Subject] = ()) -> Iterator[Subject]:
        """Every subject that is kept under a name which is read as another (`rules.names.is_reachable`).

        Also where only a list has it in the place of that other one. known: some that may be nowhere else any more.
        """
        ...

    def is_kept(self, named: Subject) -> bool:
        """Whether this second name is one of them."""
        ...

    def take_away(self, named: Subject, at: int) -> tuple[BodyKey, ...]:
        """Takes away what is kept under a second name, and nothing else; the ids that lost their last holder.

        What its qualified name is read as is in the lists as it stands. Repeated, it changes nothing. at: the time.
        """
        ...

    def earlier(self, key: BodyKey) -> Iterator[Body]:
        """What stood under the id before, newest first, as far as it can be believed and anything keeps it."""
        ...

    def key_rows(self) -> Iterator[Kek | Dek | UnreadableRow]:
        """Every KEK, and every DEK that stands under one, or is listed under one that is missing."""
        ...

    def association_rows(self) -> Iterator[Association | UnreadableRow]:
        """Every association, as the list of all of them has it."""
        ...

    def exporter_rows(self) -> Iterator[Exporter | ProgressAlone | UnreadableRow]:
        """Every exporter whose row and progress can be read, and whatever else stands in the place of one."""
        ...

    def drop_progress(self, exporter: str) -> None:
        """Takes away progress that is of no exporter; where there is one by now, it changes nothing."""
        ...

    def is_whole(self, one: Association) -> bool:
        """Whether every question finds the association, and its subject and its topic know of it."""
        ...

    def make_whole(self, one: Association, at: int) -> bool:
        """Puts the association wherever it is missing, and counts those of its subject anew; at: the time.

        False where another one stands in a place of it: then nothing is changed. Raises Conflict.
        """
        ...

    def recount_deks(self, kek: str, at: int) -> None:
        """Counts and lists the DEKs under a KEK anew, as they stand; at: the time. Raises Conflict."""
        ...

    def with_history(self, known: Iterable[Subject] = ()) -> Iterator[Subject]:
        """Every subject that may have a history (`Subjects.commits_about`).

        known: some that are in no list any more.
        """
        ...

    def history_positions(self, subject: Subject) -> Iterator[int]:
        """Positions in the journal of the commits in a history, as far back as the journal is kept."""
        ...

    def is_in_history(self, subject: Subject, position: int) -> bool:
        """Whether a history has the commit whose row stands there in the journal."""
        ...

    def mend_history(self, subject: Subject, position: int, row: Mapping[str, Any] | None) -> None:
        """Puts what is missing in a history. row: what the journal has there; None: nothing, and so the history has."""
        ...

    def bring_history(self, subject: Subject, entries: Sequence[LogEntry]) -> None:
        """Puts what the journal of another registry told of the subject, which counts as older than all of this one's.

        Repeated, it changes nothing. entries: newest first.
        """
        ...

    def is_empty(self) -> bool:
        """Whether nothing of this registry is there, or ever was; the identity of a deployment does not count."""
        ...

    def journal_kept_since(self) -> int:
        """Milliseconds since the epoch: versions written before need not be in the journal any more."""
        ...
