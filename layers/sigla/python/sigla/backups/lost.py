"""Lost bodies of a registry that is carried: their versions go along with number, id and GUID, and stay without a body.

Records carry texts. So a text of its own stands for each body that is lost, from the records of the source to the
import into the target, and is not put there. What arrives is what was there: a version whose body is missing, which a
scrub finds, and which gets its body back from whoever registers the schema once more.
"""

from collections.abc import Iterable
from dataclasses import replace

from sigla.errors import BodyLost, BodyMissing
from sigla.journal.replay import Put, State, key_of
from sigla.model import Body, BodyKey, Guid, Row, Schema, Subject, Version
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import BodiesInFront
from sigla.rules.guid import guid_of


class SourceBodies(BodiesInFront):
    """Bodies of a source. guids: of the lost ones that were asked for, as the catalog has them."""

    def __init__(self, bodies: Bodies, catalog: Catalog) -> None:
        super().__init__(bodies)
        self._catalog = catalog
        self.guids: dict[BodyKey, Guid] = {}

    def get(self, key: BodyKey) -> Body:
        """Returns what stands for a lost one. Raises StoreError where the store does not answer."""
        try:
            return super().get(key)
        except BodyLost:
            body = self._stand_in(key)
            self.guids[key] = body.guid
            return body

    def _stand_in(self, key: BodyKey) -> Body:
        """A body of a text that no other id has."""
        text = f"the body of id {key.id} in context {key.context} is lost"
        for holder in self._catalog.holders(key):
            row = self._row(holder.subject, holder.version)
            if row is not None:
                schema = Schema(row.type, text, row.references)
                return Body(schema, row.guid, (), holder.subject, row.version, row.ts, "")
        schema = Schema("AVRO", text)
        return Body(schema, guid_of(schema), (), Subject(key.context, ""), Version(0), 0, "")

    def _row(self, subject: Subject, version: Version) -> Row | None:
        return next((row for row in self._catalog.history(subject) if row.version == version), None)


class TargetBodies(BodiesInFront):
    """Bodies of a target, into which those that are lost are not put."""

    def __init__(self, bodies: Bodies, lost: Iterable[BodyKey]) -> None:
        super().__init__(bodies)
        self._lost = frozenset(lost)

    def put(self, key: BodyKey, body: Body) -> None:
        if key not in self._lost:
            super().put(key, body)

    def get(self, key: BodyKey) -> Body:
        """Raises BodyMissing of a lost one, and as what is behind it."""
        if key in self._lost:
            raise BodyMissing(key)
        return super().get(key)


def with_guids(state: State, guids: dict[BodyKey, Guid]) -> State:
    """The state, in which versions without a body have the GUID that they had."""

    def known(put: Put) -> Put:
        return replace(put, guid=guids.get(key_of(put), put.guid))

    return replace(
        state,
        subjects={subject: tuple(map(known, puts)) for subject, puts in state.subjects.items()},
        displaced={key: known(put) for key, put in state.displaced.items()},
        gone={key: put for key, put in state.gone.items() if key not in guids},
    )
