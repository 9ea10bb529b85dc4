"""What the catalog knows of associations. Every read sees every commit that has returned."""

from collections.abc import Iterator
from typing import Protocol

from sigla.associations.nouns import Association, Associations
from sigla.model import Subject


class AssociationLists(Protocol):
    """Each question is one question to the store, as long as a name is given."""

    def associations_of_resource(self, id: str) -> Associations:
        """All of one resource, in order."""
        ...

    def associations_of_subject(self, subject: Subject) -> Associations:
        """All of one subject, in order."""
        ...

    def associations_named(self, name: str | None = None, namespace: str | None = None) -> Iterator[Association]:
        """Those of resources of this name and namespace, in order; None: of any."""
        ...
