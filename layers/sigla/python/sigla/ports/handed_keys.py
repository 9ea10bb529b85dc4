"""What a primary hands to its other region before it commits keys for field encryption, and how that is committed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from sigla.changes import DeksChanged, KekChanged
from sigla.errors import StoreError
from sigla.keks.nouns import DekName, KeysSeen
from sigla.ports.replaying import Shipment
from sigla.regions.nouns import Role
from sigla.regions.replay import Verdict


class HandedUnread(StoreError):
    """A commit that was handed over is damaged, or lost. No other try reads it."""


class HandedKeys(Protocol):
    """A list of commits for each epoch and each KEK, by their numbers: how often the KEK with its DEKs has moved then.

    What is put there is never replaced, and seen by all from then on. Raises StoreError.
    """

    def put(self, epoch: int, kek: str, number: int, handed: Shipment | None) -> bool:
        """Whether it was put; not where one stands there: perhaps this very one, after an answer that was lost.

        None: the end of the list.
        """
        ...

    def read(self, epoch: int, kek: str, number: int) -> Shipment | None:
        """One that stands there; None: the end of the list. Raises HandedUnread."""
        ...

    def after(self, epoch: int, kek: str, number: int) -> Sequence[int]:
        """The numbers that stand there behind this one, ascending."""
        ...

    def keks(self, epoch: int) -> Iterator[str]:
        """The KEKs that have such a list."""
        ...


class KeysStanding(NamedTuple):
    """What a region is, and how a KEK stands there. Rows that are read together are not always of one moment.

    number: how often it has moved with its DEKs. stored, active: DEKs under it. at: the time of the last of its
    commits. seen: itself, and those of its DEKs that were asked for.
    """

    role: Role | None
    number: int = 0
    stored: int = 0
    active: int = 0
    at: int = 0
    seen: KeysSeen = KeysSeen(None, ())

    @property
    def moment(self) -> tuple[int, int]:
        """While it is the same, the KEK and its DEKs are: a table may be emptied, but not within an epoch."""
        return self.role.epoch if self.role else 0, self.number


class KeyCommits(Protocol):
    """A region's table, as far as keys are committed there by their numbers. Raises StoreError."""

    def look(self, kek: str, deks: Iterable[tuple[DekName, int]] = ()) -> KeysStanding:
        """One question; with an empty name about the role alone. deks: which versions of them are wanted, too."""
        ...

    def foretold(self, change: KekChanged | DeksChanged, standing: KeysStanding) -> Shipment:
        """The commit with the next number, as every table carries it out: no question.

        standing: with the DEKs that are changed. Raises Conflict where the change rests on something else, Closed.
        """
        ...

    def verdict(self, handed: Shipment) -> Verdict:
        """What would become of it now: one question. Raises HandedUnread."""
        ...

    def carry_out(self, handed: Shipment, epoch: int, *, is_next: bool = False) -> Verdict:
        """Carries it out as the primary of an epoch, if it comes next.

        epoch: in which it was found that it is to be. In a later one another list counts: then it is a Conflict.
        is_next: it very probably does; then that is not asked before. Raises Closed, Conflict, OutcomeUnknown,
        HandedUnread.
        """
        ...

    def tell_unread(self, epoch: int, kek: str, number: int, *, many: int = 1) -> None:
        """What was handed over in an epoch under a number is lost, or cannot be read: `Region.kept` tells of it.

        many: so many numbers, of which this one is the last. May be repeated.
        """
        ...

    def pass_over(self, handed: Shipment) -> None:
        """A number is of a commit that is lost: what stands is written once more. Raises as `carry_out`."""
        ...
