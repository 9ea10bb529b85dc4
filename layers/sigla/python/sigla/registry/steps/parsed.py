"""Schemas that were understood once and may be needed again: those of busy subjects, stored or offered again."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from sigla.bounded import BoundedMemory
from sigla.languages import LANGUAGES
from sigla.languages.language import Language
from sigla.model import Guid, Metadata, Parsed, Reference, Resolved, RuleSet, Schema, Target
from sigla.rules.guid import guid_of


@dataclass(frozen=True, slots=True)
class Offered:
    """A draft's schema, understood.

    targets: what each of `schema.references` resolved to. guid: of the schema.
    """

    schema: Schema
    parsed: Parsed
    targets: tuple[Target, ...]
    guid: Guid

    @property
    def language(self) -> Language:
        return LANGUAGES[self.schema.type]

    def described(self, metadata: Metadata | None, rule_set: RuleSet | None) -> "Offered":
        """The same schema with this metadata and these rules."""
        if metadata == self.schema.metadata and rule_set == self.schema.rule_set:
            return self
        schema = replace(self.schema, metadata=metadata, rule_set=rule_set)
        return replace(self, schema=schema, guid=guid_of(schema))


class Offer(NamedTuple):
    """All that decides how a text is understood.

    targets, texts: what the references resolve to. validated: whether with strict fields; None for not at all.
    """

    text: str
    type: str
    references: tuple[Reference, ...]
    targets: tuple[Target, ...]
    texts: tuple[Resolved, ...]
    strict: bool
    normalize: bool
    validated: bool | None


Name = TypeVar("Name", bound=Hashable)
Meaning = TypeVar("Meaning")

BYTES_OF_A_CHARACTER = 10
"""How many bytes a character of text takes, as a tree and as canonical text: 7 to 9 were measured in each language."""

MOST_BYTES = 16 * 2**20

LEAST_BYTES = 1_000
"""How many bytes the name of what was understood, and its place in the order, take."""


class Understood(Generic[Name, Meaning]):
    """At most so many bytes, by an estimate, of what was understood; the one unused for longest goes first.

    A name says all that a meaning rests on, and none of that ever changes: nothing is invalidated. Any thread may use
    it.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._kept: BoundedMemory[Name, tuple[Meaning, int]] = BoundedMemory(most, lambda _, kept: kept[1])

    def get(self, name: Name) -> Meaning | None:
        kept = self._kept.get(name)
        if kept is None:
            return None
        self._kept.use(name)
        return kept[0]

    def keep(self, name: Name, meaning: Meaning, characters: int) -> None:
        """characters: of the texts that were read."""
        self._kept.keep(name, (meaning, LEAST_BYTES + BYTES_OF_A_CHARACTER * characters))
