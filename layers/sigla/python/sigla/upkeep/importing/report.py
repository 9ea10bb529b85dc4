"""What became of each thing that was to be imported: counted, explained, with the first examples."""

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sigla.journal.replay import FOREIGN

MOST_EXAMPLES = 5
MOST_NAMES = 100_000
"""So many are kept of one reason, for whoever wants them all."""

KINDS = ("version", "id", "config", "mode", "context", "kek", "dek", "association", "record")
"""Kinds of things that are told of. An `id` is one that no version holds any more, a `record` one of the topic."""


class Outcome(Enum):
    IMPORTED = "imported"
    IDENTICAL = "identical"
    CONFLICTING = "conflicting"
    SKIPPED = "skipped"


IMPORTED, IDENTICAL, CONFLICTING, SKIPPED = Outcome


@dataclass(slots=True)
class Cases:
    """How often, and for what."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    @property
    def examples(self) -> list[str]:
        """The first of them."""
        return self.names[:MOST_EXAMPLES]

    def add(self, other: "Cases") -> None:
        self.count += other.count
        self.names += other.names[: MOST_NAMES - len(self.names)]


@dataclass(slots=True)
class Report:
    """counts: by outcome and kind of thing. reasons: why not, by outcome. remarks: on what was imported all the same.

    Reports of parts are added up.
    """

    counts: Counter[tuple[Outcome, str]] = field(default_factory=Counter)
    reasons: dict[tuple[Outcome, str], Cases] = field(default_factory=dict)
    remarks: dict[str, Cases] = field(default_factory=dict)

    def tell(self, outcome: Outcome, kind: str, about: str, why: str = "") -> None:
        """kind: one of KINDS. about: which one, for people."""
        self.counts[outcome, kind] += 1
        if why:
            self.reasons.setdefault((outcome, why), Cases()).add(Cases(1, [about]))

    def remark(self, why: str, about: str) -> None:
        self.remarks.setdefault(why, Cases()).add(Cases(1, [about]))

    def add(self, other: "Report") -> None:
        self.counts += other.counts
        for reason, cases in other.reasons.items():
            self.reasons.setdefault(reason, Cases()).add(cases)
        for why, cases in other.remarks.items():
            self.remarks.setdefault(why, Cases()).add(cases)

    def of(self, outcome: Outcome) -> dict[str, int]:
        """How many of each kind."""
        return {kind: self.counts[outcome, kind] for kind in KINDS if self.counts[outcome, kind]}

    @property
    def lost(self) -> dict[str, int]:
        """Why something was skipped that should be here, and how often."""
        return {
            why: cases.count
            for (outcome, why), cases in self.reasons.items()
            if outcome is SKIPPED and why not in FOREIGN
        }

    @property
    def is_complete(self) -> bool:
        """Whether all that there was is here now, as it was."""
        return not self.of(CONFLICTING) and not self.lost

    def form(self) -> dict[str, Any]:
        """The report as JSON."""
        counted = {outcome.value: self.of(outcome) for outcome in Outcome}
        reasons = [
            {"outcome": outcome.value, "why": why, "count": cases.count, "examples": cases.examples}
            for (outcome, why), cases in self.reasons.items()
        ]
        remarks = [
            {"why": why, "count": cases.count, "examples": cases.examples} for why, cases in self.remarks.items()
        ]
        return {**counted, "reasons": reasons, "remarks": remarks}
