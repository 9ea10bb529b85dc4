"""Who read which schema by its id, and on which day last."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from sigla.model import BodyKey

KEPT_DAYS: Final = 400
"""For so long a day of a last read is kept: a reader of once a year is still there."""


class Read(NamedTuple):
    """subject: the qualified name of the one that the reader named; empty where it named none that has the id.

    principal: empty where no credentials are asked for.
    """

    key: BodyKey
    subject: str
    principal: str


class LastRead(NamedTuple):
    """by: the token of a principal, as the journal has it. day: in UTC, as 2026-11-30."""

    subject: str
    by: str
    day: str


class SomeReads(NamedTuple):
    """Reads of an id, the last one first of those that were looked at. goes_on: whether there are others."""

    found: list[LastRead]
    goes_on: bool


class Reads(Protocol):
    """Notes of reads by id. All raise StoreError. A later day is never replaced by an earlier one.

    is_narrowed: whether reads for some subjects are left out, because the caller may not read these.
    """

    @property
    def is_narrowed(self) -> bool: ...

    def note(self, reads: Collection[Read], now: int, kept_ms: int) -> None:
        """That these were made today. kept_ms: for how long the names of their principals are kept from now on."""
        ...

    def last(self, keys: Sequence[BodyKey]) -> Mapping[BodyKey, list[LastRead]]:
        """What is noted of ids, the last one first."""
        ...

    def some(self, keys: Sequence[BodyKey], most: int) -> Mapping[BodyKey, SomeReads]:
        """What is noted of each, as far as so many readers: which of them is the store's own choice."""
        ...

    def since(self) -> str:
        """The day of the first note; empty where nothing was ever noted."""
        ...

    def count_of(self, principal: str, first: str) -> int | None:
        """How many schemas a principal has read by their ids on that day or later. None where that costs a scan."""
        ...


class NoReads:
    """`Reads` where none are noted."""

    is_narrowed = False

    def note(self, reads: Collection[Read], now: int, kept_ms: int) -> None: ...

    def last(self, keys: Sequence[BodyKey]) -> Mapping[BodyKey, list[LastRead]]:
        return {key: [] for key in keys}

    def some(self, keys: Sequence[BodyKey], most: int) -> Mapping[BodyKey, SomeReads]:
        return some_of(self.last(keys), most)

    def since(self) -> str:
        return ""

    def count_of(self, principal: str, first: str) -> int | None:  # noqa: ARG002 - as `Reads` has it
        return None


def newest_first(found: Collection[LastRead]) -> list[LastRead]:
    return sorted(sorted(found), key=lambda read: read.day, reverse=True)


def some_of(found: Mapping[BodyKey, list[LastRead]], most: int) -> dict[BodyKey, SomeReads]:
    """The last ones of all that is noted."""
    return {key: SomeReads(reads[:most], len(reads) > most) for key, reads in found.items()}
