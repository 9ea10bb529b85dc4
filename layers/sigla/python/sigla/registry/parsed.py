"""Schemas that were understood once and may be needed again: those of busy subjects, stored or offered again."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

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


class Understood(Generic[Name, Meaning]):
    """A memory bounded by the length of the texts that were understood, the one unused for longest going first.

    A name says all that a meaning rests on, and none of that ever changes: nothing is invalidated. Any thread may use
    it.
    """

    def __init__(self, characters: int = 1_000_000) -> None:
        self._room = characters
        self._kept: OrderedDict[Name, tuple[Meaning, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Name) -> Meaning | None:
        with self._lock:
            kept = self._kept.get(name)
            if kept is None:
                return None
            self._kept.move_to_end(name)
            return kept[0]

    def keep(self, name: Name, meaning: Meaning, characters: int) -> None:
        with self._lock:
            if name in self._kept:
                return
            self._kept[name] = (meaning, characters)
            self._room -= characters
            while self._room < 0:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._room += dropped
