"""Schemas that were found to be registered already: producers ask the same at each start.

What was found rests on the catalog alone, on the subject's versions and on all settings that bear on it. So it counts
for as long as the catalog says that nothing was committed. Whether the body stands is asked each time.
"""

from typing import NamedTuple

from sigla.bounded import BoundedMemory
from sigla.model import Draft, Record, Subject
from sigla.registry.steps.parsed import BYTES_OF_A_CHARACTER, Offered

MOST_BYTES = 16 * 2**20
LEAST_BYTES = 2_000
"""How many bytes an answer's question and its place in the order take."""


class Question(NamedTuple):
    """A registration of a text alone. under: as of the subject, which is equal to itself in every path."""

    subject: Subject
    under: str
    text: str
    type: str
    normalize: bool


class Found(NamedTuple):
    """state: of the catalog when it was asked. record: the version that the text is. offered: the text, understood."""

    state: int
    record: Record
    offered: Offered


class Known:
    """At most `most` bytes, by an estimate; what was found first goes first. Any thread may use it."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._found: BoundedMemory[Question, Found] = BoundedMemory(most, lambda question, _: _weight(question))

    def get(self, question: Question, state: int) -> Found | None:
        found = self._found.get(question)
        return found if found is not None and found.state == state else None

    def keep(self, question: Question, found: Found) -> None:
        self._found.keep(question, found)


def question(subject: Subject, draft: Draft, *, normalize: bool) -> Question | None:
    """None where the draft is more than a text, so that the answer rests on more than its subject."""
    plain = (
        draft.text is not None
        and draft.id is None
        and draft.version is None
        and draft.metadata is None
        and draft.rule_set is None
        and not (draft.references or draft.tags_to_add or draft.tags_to_remove or draft.propagate_tags)
    )
    return Question(subject, subject.under, draft.text or "", draft.type, normalize) if plain else None


def _weight(question: Question) -> int:
    return LEAST_BYTES + BYTES_OF_A_CHARACTER * len(question.text) + 4 * len(question.subject.name)
