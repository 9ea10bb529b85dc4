"""What a turn has done, counted by kinds of things."""

from collections import Counter
from dataclasses import dataclass, field

from sigla.upkeep.importing import IMPORTED, Report


class TooMuchGone(Exception):
    """The source lacks so much of what stands here that it may be the wrong one. Nothing was written.

    gone, stored: subjects.
    """

    def __init__(self, gone: int, stored: int) -> None:
        super().__init__(gone, stored)
        self.gone = gone
        self.stored = stored


@dataclass(slots=True)
class Tally:
    """report: of what was brought, and why something could not be. changed, removed: how many of each kind."""

    report: Report = field(default_factory=Report)
    changed: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)

    @property
    def brought(self) -> dict[str, int]:
        return self.report.of(IMPORTED)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing had to be done."""
        return not (self.brought or self.changed.total() or self.removed.total())

    @property
    def is_complete(self) -> bool:
        """Whether everything that the source has is here, as it is there."""
        return self.report.is_complete
