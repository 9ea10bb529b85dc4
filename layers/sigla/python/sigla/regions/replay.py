"""What becomes of a commit of another region, decided from what it says and from what stands here.

The journal of a directory has one order, and each row names the hash of the one before it. So what comes next is known,
and two journals that have gone apart are told at the first row that differs. Nothing is ever concluded from what is
missing: it comes late, or once more.

A table has many journals at once: that of each subject, each scope's settings, each context, each KEK with its DEKs. A
commit names the number that each of those has, once it is written, and whatever it rests on: so it is known what has to
be there before. What several of them share (counts of an id's holders, who references a subject) comes to the same in
any order.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Verdict(StrEnum):
    CARRY_OUT = "carry out"
    """It comes next."""
    KNOWN = "known"
    """It was carried out before, or was there when this region began to follow."""
    EARLY = "early"
    """Something comes before it that is not here yet: it waits."""
    DIVERGES = "diverges"
    """Something else was carried out here in its place: it is set apart, and told."""
    UNKNOWN = "unknown"
    """A newer release has to carry it out: it waits."""
    LOST = "lost"
    """What one of its ids means is in neither region: it waits."""


WAIT: Final = "wait for others that did not come, for a schema that is lost, or for a newer release"
"""What commits do that are put aside, for people."""


class JournalPlace(NamedTuple):
    """Where a row stands in a journal of one order. position: from 1; 0 before the first one. hash: SHA-256, in hex."""

    position: int
    hash: str


def verdict_in_order(told: JournalPlace, before: str, end: JournalPlace, standing: str) -> Verdict:
    """A row of a journal of one order, and a journal here that has the same rows up to its end.

    before: the hash that the row names. standing: that of the row here at the same position; empty without one.
    """
    if told.position <= end.position:
        return Verdict.KNOWN if standing == told.hash else Verdict.DIVERGES
    if told.position > end.position + 1:
        return Verdict.EARLY
    return Verdict.CARRY_OUT if before == end.hash else Verdict.DIVERGES


def last_common(end: int, is_same: Callable[[int], bool]) -> int:
    """The last row that two journals of one order both have. end: of the shorter one. is_same: whether both have a row.

    Each row tells the hash of all before it: what differs once differs from there on.
    """
    return bisect_right(range(1, end + 1), 0, key=lambda position: int(not is_same(position)))


class Move(NamedTuple):
    """A number that a commit moves. told: what it is once that is written. found: what it is here."""

    told: int
    found: int


class RestsOn(NamedTuple):
    """A number that a commit rests on. least: what it was there. found: what it is here, perhaps of a later commit."""

    least: int
    found: int


class Needs(NamedTuple):
    """What a commit of a table waits for: numbers by their names. moves, rests: as of `Move.told`, `RestsOn.least`."""

    moves: Mapping[str, int]
    rests: Mapping[str, int]

    def missing(self, found: Mapping[str, int]) -> tuple[str, int] | None:
        """A name, and the number that has to be reached there before; None: none is missing."""
        wanted = [*((name, told - 1) for name, told in self.moves.items()), *self.rests.items()]
        return next(((name, least) for name, least in wanted if found.get(name, 0) < least), None)


def verdict_by_numbers(moves: Iterable[Move], rests: Iterable[RestsOn], *, is_told: bool) -> Verdict:
    """A commit of a table. is_told: whether the journal here has its row, by its time and its nonce."""
    moved = list(moves)
    if is_told:
        return Verdict.KNOWN
    if any(move.found < move.told - 1 for move in moved) or any(rest.found < rest.least for rest in rests):
        return Verdict.EARLY
    return Verdict.CARRY_OUT if all(move.found == move.told - 1 for move in moved) else Verdict.DIVERGES
