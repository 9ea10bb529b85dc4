"""A registry that holds nothing: what files are compared with is registered there first."""

# ruff: noqa: ARG002 - it answers as `RegistryFacts` asks, and needs no argument for that

from collections.abc import Collection, Iterable, Mapping

from sigla.associations.nouns import Association
from sigla.journal.replay import State
from sigla.model import BodyKey, Guid, SchemaId, Subject
from sigla.schema_files.facts import Content, KnownId


class EmptyRegistry:
    """A `RegistryFacts`. shown: as people call what is compared with."""

    is_ours = True

    def __init__(self, shown: str) -> None:
        self.shown = shown

    def about(self, subjects: Collection[Subject]) -> State:
        return State()

    def subjects(self, prefix: str) -> Iterable[Subject]:
        return ()

    def scopes(self, prefix: str) -> Iterable[Subject]:
        return ()

    def associations(self, subject: Subject) -> tuple[Association, ...]:
        return ()

    def by_content(self, context: str, guid: Guid) -> KnownId | None:
        return None

    def learn(self, believed: Mapping[Content, SchemaId | None]) -> bool:
        return False

    def by_id(self, key: BodyKey) -> KnownId | None:
        return None

    def highest(self, context: str) -> SchemaId:
        return SchemaId(0)
