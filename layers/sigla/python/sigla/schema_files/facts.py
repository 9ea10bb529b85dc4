"""What a registry knows, as far as registrations rest on it."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

from sigla.associations.nouns import Association
from sigla.journal.replay import Put, State
from sigla.model import GLOBAL, REGISTRY_WIDE, Body, BodyKey, Guid, SchemaId, Subject

Content = tuple[str, Guid]
"""A context, and what a schema says and refers to."""


class KnownId(NamedTuple):
    """Whose an id is. subject: holds it, or held it.

    displaced: what it means, where another version was written in the place of the last that held it. body: what stands
    under it that no version holds in any of these ways, as of an id that is buried.
    """

    id: SchemaId
    subject: Subject
    displaced: Put | None = None
    body: Body | None = None


class RegistryFacts(Protocol):
    """A registry that is only read. All may be asked once for the same thing; what they tell does not change.

    shown: as people call it. is_ours: whether Sigla answers there, so that its verdict is the one that is foretold.
    """

    @property
    def shown(self) -> str: ...

    @property
    def is_ours(self) -> bool: ...

    def about(self, subjects: Collection[Subject]) -> State:
        """Their versions, and the settings of each scope that bears on them; nothing of others."""
        ...

    def subjects(self, prefix: str) -> Iterable[Subject]:
        """Those with an active version whose names, with their context, begin so."""
        ...

    def scopes(self, prefix: str) -> Iterable[Subject]:
        """Subjects, contexts and the whole registry with config or a mode of their own, as far as that is told."""
        ...

    def associations(self, subject: Subject) -> tuple[Association, ...]:
        """The topics of a subject that is about to be referenced: one that belongs to a topic alone may not be."""
        ...

    def by_content(self, context: str, guid: Guid) -> KnownId | None:
        """By which id the content is known in the context; None also where it would be asked for each content."""
        ...

    def learn(self, believed: Mapping[Content, SchemaId | None]) -> bool:
        """Asks about contents together. Whether one is known by another id than is believed: `by_content` says so now.

        believed: None of those that are believed to be new.
        """
        ...

    def by_id(self, key: BodyKey) -> KnownId | None:
        """What an id means that a registration brings along; None if nothing, or if that cannot be asked."""
        ...

    def highest(self, context: str) -> SchemaId:
        """The highest id that was given out there; 0 where that cannot be asked."""
        ...


def scopes_above(subject: Subject) -> tuple[Subject, ...]:
    """The scopes whose settings bear on a subject, its own first."""
    return subject, Subject(subject.context, ""), GLOBAL, REGISTRY_WIDE
