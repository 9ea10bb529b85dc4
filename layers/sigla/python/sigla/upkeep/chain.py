"""Whether the journal is what was written: each link of it names the one before by its SHA-256.

A link is a row in a directory, a segment in AWS. What does not fit together tells what has happened:

    damaged   a link is not what the next one, or the end of the chain, knows it to be
    missing   a link that another one follows is not there, or a row is in none
    forked    two links follow the same one: the table was restored to an earlier moment, and went on from there

Links that name none before them are those of earlier releases, and the first of all. What they say is held by the first
one after them that names one: it follows the last of them. A link that names none, and is passed by like that, belongs
to no chain; and one behind the last that the table knows was put there, or the table was restored.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from sigla.bounded import BoundedMemory
from sigla.ports.log import Link, Log

REMEMBERED: Final = 100_000
"""So many links are known again by those that follow them."""


class Break(StrEnum):
    DAMAGED = "damaged"
    MISSING = "missing"
    FORKED = "forked"


class ChainFlaw(NamedTuple):
    kind: Break
    sentence: str


@dataclass
class Verified:
    """What was looked at. unchained: links that name none before them, and are not the first one. first, last: numbers.

    hash: of the last link: a later look can begin there.
    """

    links: int = 0
    unchained: int = 0
    first: int = 0
    last: int = 0
    hash: str = ""
    flaws: list[ChainFlaw] = field(default_factory=list)


def verify(log: Log, *, since: str = "") -> Verified:
    """since: the hash of a link that an earlier look has told. What came before it is not looked at."""
    end = log.end()  # first: what is written meanwhile comes after it
    found, known = Verified(), _MetLinks(log.link)
    for link in _beginning(log.links(), since):
        found.flaws += known.misfits(link)
        found.links += 1
        found.first = found.first or link.number
        found.unchained += not link.before and found.links > 1
        found.last, found.hash = link.number, link.hash
    if since and not found.links:
        found.flaws.append(
            ChainFlaw(
                Break.MISSING,
                f"No {log.link} has the hash {since}: it was changed or removed, or the registry was restored to an "
                "earlier moment.",
            )
        )
        return found
    found.flaws += known.misfits_at_end(end)
    if end is not None and found.last > end.number:
        found.flaws += known.misfits_behind(log.newest())  # asked last: what is being written meanwhile is known there
    for misfit in log.misfits():
        found.flaws.append(ChainFlaw(Break.DAMAGED if misfit.is_told else Break.MISSING, misfit.sentence))
    return found


def _beginning(links: Iterable[Link], since: str) -> Iterator[Link]:
    """The links from the one with that hash on, which then is the first of all."""
    begun = False
    for link in links:
        if begun or not since:
            yield link
        elif link.hash == since:
            begun = True
            yield link._replace(before="")


class _MetLinks:
    """What was met of a chain. what: how one of its links is called."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._chained = False
        self._hashes: BoundedMemory[int, str] = BoundedMemory(REMEMBERED)
        self._followers: BoundedMemory[int, int] = BoundedMemory(REMEMBERED)
        # Links in a row that name none before them, and the last link of all.
        self._unchained: list[int] = []
        self._last = 0

    def misfits(self, link: Link) -> Iterator[ChainFlaw]:
        if link.damage:
            yield ChainFlaw(Break.DAMAGED, f"The {self._what} {link.number} {link.damage}.")
        if link.before:
            self._chained = True
            yield from self._passed_by(link.follows)
            yield from self._misfits(link)
        elif not link.follows and not link.damage:
            self._unchained.append(link.number)
        self._hashes.keep(link.number, link.hash)
        self._last = link.number

    def _passed_by(self, held: int) -> Iterator[ChainFlaw]:
        """Links that name none before them, behind the one that is held by a later one or by the end."""
        for number in self._unchained:
            if number > held:
                yield ChainFlaw(
                    Break.DAMAGED,
                    f"The {self._what} {number} belongs to no chain: it follows none, and none follows it.",
                )
        self._unchained.clear()

    def _misfits(self, link: Link) -> Iterator[ChainFlaw]:
        follows = link.follows
        known, follower = self._hashes.get(follows), self._followers.get(follows)
        if known is None:
            yield ChainFlaw(
                Break.MISSING, f"The {self._what} {follows} is missing, which the {self._what} {link.number} follows."
            )
        elif known != link.before:
            yield ChainFlaw(
                Break.DAMAGED,
                f"The {self._what}s {follows} and {link.number} do not fit together: one of them was changed.",
            )
        elif follower is not None:
            yield ChainFlaw(
                Break.FORKED,
                f"The {self._what}s {follower} and {link.number} both follow {follows}: the table was "
                "restored to an earlier moment.",
            )
        self._followers.keep(follows, link.number)

    def misfits_at_end(self, end: Link | None) -> Iterator[ChainFlaw]:
        """end: as the table knows it, by number and hash."""
        if end is None:
            if self._chained:
                yield ChainFlaw(Break.DAMAGED, f"Which {self._what} was the last one is not known any more.")
            return
        yield from self._passed_by(end.number)
        known = self._hashes.get(end.number)
        if known is None:
            yield ChainFlaw(Break.MISSING, f"The {self._what} {end.number} is missing, which was the last one.")
        elif known != end.hash:
            yield ChainFlaw(
                Break.DAMAGED, f"The {self._what} {end.number} was changed, or what is known of it as the last one."
            )

    def misfits_behind(self, newest: int) -> Iterator[ChainFlaw]:
        """newest: the number of the last link that the table knows, after all of them were looked at."""
        if self._last > newest:
            yield ChainFlaw(
                Break.FORKED,
                f"The {self._what} {self._last} comes after {newest}, the last one that the table knows: the table was "
                "restored to an earlier moment, or it was put there by hand.",
            )
