"""The nouns of associations, frozen: they are known wherever changes and records are.

An association ties one schema role of a resource (the key or the value of a topic) to a subject. It never changes once
it is written: it is there, or it is removed (ASC-3).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sigla.keys import utf16
from sigla.model import Draft, Subject

STRONG: Final = "STRONG"
"""The subject belongs to the topic: nothing else uses it, nothing references it, and it goes with the topic."""
WEAK: Final = "WEAK"
"""The topic uses the subject, like others do."""
NONE: Final = "NONE"
"""In a filter: subjects without an association."""
LIFECYCLES: Final = frozenset({STRONG, WEAK})

TOPIC: Final = "topic"
KEY: Final = "key"
VALUE: Final = "value"
TYPES: Final = (KEY, VALUE)

CREATE: Final = "CREATE"
UPSERT: Final = "UPSERT"
DELETE: Final = "DELETE"
OPERATIONS: Final = frozenset({CREATE, UPSERT, DELETE})


@dataclass(frozen=True, slots=True)
class Resource:
    """A topic. id: given by whoever created it, and never used for another one. namespace: its Kafka cluster."""

    name: str
    namespace: str
    id: str
    type: str = TOPIC


@dataclass(frozen=True, slots=True)
class Association:
    """type: the role, `key` or `value`. created, updated: milliseconds since the epoch."""

    subject: Subject
    guid: str
    resource: Resource
    type: str
    lifecycle: str
    created: int
    updated: int

    @property
    def strong(self) -> bool:
        """What is strong is frozen as well: no request can tell them apart (step 5d)."""
        return self.lifecycle == STRONG


Associations = tuple[Association, ...]

AssociationKey = tuple[str, str, str, str, Subject]
"""Name, namespace and type of the resource, the role, the subject: one association has it in a topic of records."""


def in_order(found: Collection[Association]) -> Associations:
    """Sorts them as lists tell them (ASC-14)."""
    return tuple(sorted(found, key=_place))


def _place(one: Association) -> tuple[bytes, ...]:
    resource = one.resource
    texts = (resource.name, resource.namespace, resource.type, one.type, one.subject.qualified)
    return tuple(map(utf16, texts))


def default_subject(resource: Resource, type: str) -> str:
    """The one subject that a strong association may have."""
    return f":.{resource.namespace}:{resource.name}-{type}"


def plain_subjects(one: Association) -> tuple[Subject, ...]:
    """What the topic's own subjects are called: by clients that find no association, and by a strong one."""
    own = f"{one.resource.name}-{one.type}"
    return Subject(one.subject.context, own), Subject(f".{one.resource.namespace}", own)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which associations a question is about; None and empty: all."""

    resource_type: str | None = None
    types: Collection[str] = ()
    lifecycles: Collection[str] = ()

    def takes(self, one: Association) -> bool:
        return (
            (self.resource_type is None or one.resource.type == self.resource_type)
            and (not self.types or one.type in self.types)
            and (not self.lifecycles or one.lifecycle in self.lifecycles)
        )


# --- what is asked for -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """One association as a request names it: nothing in it has been checked. cascade: of a delete."""

    operation: str
    subject: str | None = None
    type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    draft: Draft | None = None
    normalize: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What is to become of one resource."""

    name: str | None
    namespace: str | None
    id: str | None
    type: str | None
    wanted: tuple[Wanted, ...]
