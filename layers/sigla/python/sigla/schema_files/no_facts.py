"""A registry that holds nothing: what files are compared with is registered there first."""

from collections.abc import Collection, Iterable

from sigla.associations.nouns import Association
from sigla.journal.replay import State
from sigla.model import BodyKey, Guid, SchemaId, Subject
from sigla.schema_files.facts import KnownId


class EmptyRegistry:
    """A `RegistryFacts`. shown: as people call what is compared with."""

    is_ours = True

    def __init__(self, shown: str) -> None:
        self.shown = shown

    def about(self, subjects: Collection[Subject]) -> State:  # noqa: ARG002 - as `RegistryFacts` has it
        return State()

    def subjects(self, prefix: str) -> Iterable[Subject]:  # noqa: ARG002 - as `RegistryFacts` has it
        return ()

    def associations(self, subject: Subject) -> tuple[Association, ...]:  # noqa: ARG002 - as `RegistryFacts` has it
        return ()

    def by_content(self, context: str, guid: Guid) -> KnownId | None:  # noqa: ARG002 - as `RegistryFacts` has it
        return None

    def by_id(self, key: BodyKey) -> KnownId | None:  # noqa: ARG002 - as `RegistryFacts` has it
        return None

    def highest(self, context: str) -> SchemaId:  # noqa: ARG002 - as `RegistryFacts` has it
        return SchemaId(0)
