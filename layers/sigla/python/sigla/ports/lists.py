"""What goes through many subjects: lists of them, of their versions, their settings and their references."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from sigla.model import Referrer, Row, Search, Settings, Show, Subject, Version


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look through a list has met.

    found: by UTF-16 code units of the qualified name, each with its highest active version, or without one with its
    highest. searched: so many names were looked at. through: up to which one; None: nothing is behind them.
    """

    found: tuple[tuple[Subject, Row], ...] = ()
    searched: int = 0
    through: Subject | None = None


class Lists(Protocol):
    """In order, and read page by page: whoever stops early has paid for what was read."""

    def subjects(self, search: Search, show: Show = Show.ALL, *, skip: int = 0) -> Iterator[Subject]:
        """Subjects with a stored version, by UTF-16 code units of the qualified name.

        ACTIVE: with an active version.
        """
        ...

    def versions(
        self, search: Search, *, deleted: bool, latest_only: bool, skip: int = 0
    ) -> Iterator[tuple[Subject, Row]]:
        """Stored versions by subject, then number. latest_only: of each subject the highest of those included."""
        ...

    def look(self, search: Search, *, deleted: bool, most: int) -> Looked:
        """The next subjects of a search whose names have its part: at most so many, and as far as one look goes.

        That costs the same in the greatest list, and what was written in the last second may be missing. deleted: also
        those without an active version.
        """
        ...

    def settings(self, search: Search) -> Iterator[tuple[Subject, Settings]]:
        """Every scope with a config or a mode entry, also subjects without versions and contexts (empty names)."""
        ...

    def referrers(self, subject: Subject, version: Version | None = None) -> Iterator[tuple[Version, Referrer]]:
        """Stored versions that reference a version of the subject (any if None), with the version they reference.

        Ordered by the referrer's context and id, the default context first.
        """
        ...

    def contexts(self) -> tuple[str, ...]:
        """Named contexts in which anything was registered since they were last dropped, by UTF-16 code units."""
        ...

    def contexts_of(self, name: str) -> tuple[str, ...]:
        """Named contexts with a stored version of a subject of this name, by UTF-16 code units.

        Raises Closed where others may come from another region.
        """
        ...
