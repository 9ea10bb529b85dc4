"""What was changed, when and by whom: the journal, as far back as anything keeps it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Protocol

MOST_MATTERS: Final = 20
"""So many things are told of what a commit did to one subject; thousands of versions may go in one."""


class Matter(NamedTuple):
    """What one entry of a commit is about.

    type: as records have it: SCHEMA, DELETE_SUBJECT, CONFIG, … subject: its qualified name, or that of a scope; empty
    for the global one. name: of a key of encryption, of an exporter, of a topic. is_gone: whether it is hidden or no
    more.
    """

    type: str
    subject: str = ""
    name: str = ""
    version: int | None = None
    id: int | None = None
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One commit. at: in milliseconds since the epoch. change: of which kind; empty where nothing tells that.

    by: the token of its author; empty in what earlier releases wrote. via, was, now: as `journal.Origin` has them.
    more: so many matters besides were left out.
    """

    at: int
    nonce: str
    change: str
    matters: tuple[Matter, ...]
    by: str = ""
    via: Mapping[str, Any] = field(default_factory=dict)
    was: str = ""
    now: str = ""
    more: int = 0

    def is_about(self, subject: str) -> bool:
        return any(matter.subject == subject for matter in self.matters)

    def as_seen_by(self, subject: str) -> "LogEntry":
        """What the commit did to one subject: of the others it tells nothing, and neither do `was` and `now`."""
        own = tuple(matter for matter in self.matters if matter.subject == subject)
        alone = all(matter.subject == subject or matter.type == "CONTEXT" for matter in self.matters)
        kept = replace(self, matters=own[:MOST_MATTERS], more=max(0, len(own) - MOST_MATTERS))
        return kept if alone else replace(kept, was="", now="")


class Link(NamedTuple):
    """What the journal is chained of: a row, or a segment of rows.

    number: later ones have greater ones. hash: the SHA-256 of what stands there, in hex. before, follows: hash and
    number of the link before it, as it says itself; empty in the first one, and in those of earlier releases. damage:
    what is wrong with it, as the end of a sentence.
    """

    number: int
    hash: str
    before: str = ""
    follows: int = 0
    damage: str = ""


class Misfit(NamedTuple):
    """What is wrong with a commit, as a sentence. is_told: whether a link tells it, though in another way."""

    sentence: str
    is_told: bool = False


class RecentLog(Protocol):
    """Commits from the newest one back, where that can be asked while the registry answers."""

    def recent(self) -> Iterator[LogEntry]: ...


class Log(Protocol):
    """Link by link and entry by entry. link: how one link is called."""

    @property
    def link(self) -> str: ...

    def entries(self, since: int = 0) -> Iterator[LogEntry]:
        """Commits of a time and later ones, each once, in the order of the journal. Raises StoreError, FormTooNew."""
        ...

    def links(self) -> Iterator[Link]:
        """All of them, by their numbers."""
        ...

    def end(self) -> Link | None:
        """The last link, as it was written down apart from the chain; None before there is one."""
        ...

    def newest(self) -> int:
        """The number of the last link, also of one that is still being written; 0 before there is one."""
        ...

    def misfits(self) -> Iterator[Misfit]:
        """Commits that ought to be in a link and are in none, or are told there in another way than beside it."""
        ...
