"""What a request has moved, as its primary tells the region that sent it on: that one has it here before it answers.

A request that finds that it has nothing to write, such as the registration of a known schema, rests on what another one
wrote a moment ago: the revision that it has seen of its subject is told then.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from sigla.model import Subject

MOST_COMMITS: Final = 64
"""So many are named: headers have an end. Whoever reads that many looks for all."""


class Moved(NamedTuple):
    """commits: times and nonces, in their order. seen: the subject that was asked about last, and its revision."""

    commits: Sequence[tuple[int, str]] = ()
    seen: tuple[Subject, int] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all commits are named."""
        return len(self.commits) < MOST_COMMITS


@dataclass(slots=True)
class MovedNotes:
    """What is noted while a request is carried out."""

    commits: list[tuple[int, str]] = field(default_factory=list)
    seen: tuple[Subject, int] | None = None

    @property
    def moved(self) -> Moved:
        """The last commits rest on those before."""
        return Moved(tuple(self.commits[-MOST_COMMITS:]), self.seen)


_notes: ContextVar[MovedNotes | None] = ContextVar("moved", default=None)


@contextmanager
def noted() -> Iterator[MovedNotes]:
    """What the thread does inside is noted."""
    notes = MovedNotes()
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def committed(at: int, nonce: str) -> None:
    """A commit is made, or may be."""
    if (notes := _notes.get()) is not None:
        notes.commits.append((at, nonce))


def seen(subject: Subject, revision: int) -> None:
    """A subject was found at a revision."""
    if (notes := _notes.get()) is not None:
        notes.seen = subject, revision


def header_of(moved: Moved) -> str:
    """Gives the value of a header."""
    told = [("commit", f"{at}-{nonce}") for at, nonce in moved.commits]
    if moved.seen and not told:
        subject, revision = moved.seen
        told += [("context", subject.context), ("subject", subject.name), ("revision", str(revision))]
    return urlencode(told)


def moved_of(header: str) -> Moved:
    """Raises ValueError for what no region tells."""
    told = parse_qsl(header, keep_blank_values=True)
    commits = []
    for each in (value for name, value in told if name == "commit"):
        at, _, nonce = each.partition("-")
        commits.append((int(at), nonce))
    rest = dict(told)
    if "revision" not in rest:
        return Moved(tuple(commits))
    subject = Subject(rest.get("context", ""), rest.get("subject", ""))
    return Moved(tuple(commits), (subject, int(rest["revision"])))
