"""What a store tells of its registry, subject by subject: a directory that is opened to be read."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from sigla.associations.nouns import Association
from sigla.errors import BodyMissing
from sigla.journal.replay import Put, State
from sigla.model import GLOBAL, REGISTRY_WIDE, BodyKey, Guid, SchemaId, Settings, Show, Subject
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.rules import names
from sigla.schema_files.facts import Content, KnownId


class StoredRegistry:
    """A `RegistryFacts`. shown: the store's address."""

    is_ours = True

    def __init__(self, catalog: Catalog, bodies: Bodies, shown: str) -> None:
        self.shown = shown
        self._catalog = catalog
        self._bodies = bodies

    def about(self, subjects: Collection[Subject]) -> State:
        """Raises BodyLost."""
        settings: dict[Subject, Settings] = {}
        for each in subjects:
            chain = self._catalog.snapshot(each).chain
            scopes = {each: chain.own, Subject(each.context, ""): chain.context}
            settings |= scopes | {GLOBAL: chain.default, REGISTRY_WIDE: chain.registry_wide}
        return State(
            subjects={each: puts for each in subjects if (puts := tuple(self._versions(each)))},
            settings={scope: each for scope, each in settings.items() if each.config or each.mode},
        )

    def subjects(self, prefix: str) -> Iterable[Subject]:
        return self._catalog.subjects(names.search(prefix), show=Show.ACTIVE)

    def scopes(self, prefix: str) -> Iterable[Subject]:
        return (scope for scope, _ in self._catalog.settings(names.search(prefix)))

    def associations(self, subject: Subject) -> tuple[Association, ...]:
        return tuple(self._catalog.associations_of_subject(subject))

    def _versions(self, subject: Subject) -> Iterator[Put]:
        """In the order in which they were written."""
        rows = sorted(self._catalog.history(subject), key=lambda row: row.revision)
        bodies = self._bodies.get_many([BodyKey(subject.context, row.id) for row in rows])
        for row, body in zip(rows, bodies, strict=True):
            yield Put(row.revision, subject, row.version, row.id, body.schema, row.guid, deleted=row.deleted, ts=row.ts)

    def by_content(self, context: str, guid: Guid) -> KnownId | None:
        id = self._catalog.id_of(context, guid)
        return None if id is None else self.by_id(BodyKey(context, id))

    def learn(self, believed: Mapping[Content, SchemaId | None]) -> bool:  # noqa: ARG002 - as `RegistryFacts` has it
        return False

    def by_id(self, key: BodyKey) -> KnownId | None:
        holder = self._catalog.speaker(key)
        if holder is not None and not holder.displaced and holder.catalogued:
            return KnownId(key.id, holder.subject)
        try:
            body = self._bodies.get(key)
        except BodyMissing:
            return None
        if holder is None or not holder.displaced:
            return KnownId(key.id, body.subject, body=body)
        put = Put(
            0, holder.subject, holder.version, key.id, body.schema, body.guid, deleted=holder.deleted, ts=holder.ts
        )
        return KnownId(key.id, holder.subject, displaced=put)

    def highest(self, context: str) -> SchemaId:
        return self._catalog.max_id(context)
