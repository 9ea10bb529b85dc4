"""Lists as a person pages through them: each from a place in it on, of a moment ago, paid for as far as one looks.

What was written in the last second may be missing, or still be there. Where each read costs money a page costs the same
wherever it begins, and however long the list is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from sigla.associations.nouns import Association
from sigla.keks.nouns import Kek
from sigla.model import BodyKey, Holder, Referrer, Row, SchemaId, Subject, Version
from sigla.ports.subjects import VersionKey


class AssociationPlace(NamedTuple):
    """Where an association stands in the list of all; each store has an order of its own.

    name, namespace, id, kind: those of the resource. type: the association's own.
    """

    name: str
    namespace: str
    id: str
    kind: str
    type: str

    @classmethod
    def of(cls, one: Association) -> "AssociationPlace":
        resource = one.resource
        return cls(resource.name, resource.namespace, resource.id, resource.type, one.type)


class ReferrerPlace(NamedTuple):
    """Where a referrer stands among those of a subject. referenced: the version of the subject that it references."""

    referenced: Version
    subject: Subject
    id: SchemaId
    version: Version

    @classmethod
    def of(cls, found: tuple[Version, Referrer]) -> "ReferrerPlace":
        referenced, one = found
        return cls(referenced, one.subject, one.id, one.version)


class Glances(Protocol):
    """glance: so many are read at once, and more where they are wanted."""

    def versions_below(self, subject: Subject, version: Version | None, *, glance: int) -> Iterator[Row]:
        """`subjects.Subjects.history` from the highest version down, below a version; all of it without one.

        Sees every commit that has returned, unlike the others.
        """
        ...

    def rows_of(self, wanted: Sequence[VersionKey]) -> Mapping[VersionKey, Row]:
        """Those versions of these that are stored, soft-deleted ones too, and that may be seen."""
        ...

    def contexts_after(self, context: str, *, glance: int) -> Iterator[str]:
        """`lists.Lists.contexts` behind a name; all of them behind an empty one."""
        ...

    def holders_after(self, key: BodyKey, subject: Subject | None, *, glance: int) -> Iterator[Holder]:
        """`ids.Ids.holders` behind those of a subject; all of them without one."""
        ...

    def referrers_after(
        self, subject: Subject, version: Version | None, place: ReferrerPlace | None, *, glance: int
    ) -> Iterator[tuple[Version, Referrer]]:
        """`lists.Lists.referrers` behind a place, all of them without one.

        By the version that is referenced; those of one version in an order of the store's own.
        """
        ...

    def keks_after(self, name: str, *, glance: int) -> Iterator[Kek]:
        """`keks.port.KeyLists.keks` behind a name; all of them behind an empty one."""
        ...

    def associations_after(self, place: AssociationPlace | None, *, glance: int) -> Iterator[Association]:
        """Every association behind a place, in an order of the store's own."""
        ...
