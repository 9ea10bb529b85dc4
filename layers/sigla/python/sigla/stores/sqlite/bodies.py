"""What ids mean: a directory of bodies, readable without the catalog; only the way from a guid to them is a table."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from sigla.errors import BodyDamaged, BodyMissing, Taken
from sigla.keys import check_length, utf16
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Guid, SchemaId, Subject
from sigla.rules.bodies import check_stays
from sigla.stores.sqlite.directory import Directory
from sigla.stores.sqlite.unit import Reader


class EmbeddedBodies:
    """A `ports.Bodies`."""

    def __init__(self, unit: Reader, directory: Directory) -> None:
        self._unit = unit
        self._directory = directory

    def put(self, key: BodyKey, body: Body) -> None:
        check_length(Subject(key.context, ""))
        with self._unit.group():
            standing = self._find(key)
            if standing is None:
                self._create(key, body)
            elif standing.nonce != body.nonce:
                self._point(key, standing.guid)  # whoever adopts it has it, whatever became of the one that put it
        if standing is not None and standing.nonce != body.nonce:
            raise Taken(standing)

    def get(self, key: BodyKey) -> Body:
        found = self._find(key)
        if found is None:
            raise BodyMissing(key)
        return found

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        return [self.get(key) for key in keys]

    def named(self, guid: Guid, *, known: Collection[BodyKey] = ()) -> tuple[BodyKey, ...]:  # noqa: ARG002 - one question finds all: there is no trip to save
        found = self._unit.connection.execute("SELECT context, id FROM content WHERE guid = ? AND body", (guid,))
        return tuple(sorted((BodyKey(context, id) for context, id in found), key=_order))

    def last(self, context: str) -> SchemaId:
        staged = max((key.id for key in self._unit.all_staged() if key.context == context), default=SchemaId(0))
        return max(staged, self._directory.last(context))

    def next_above(self, key: BodyKey) -> SchemaId | None:
        staged = (each.id for each in self._unit.all_staged() if each.context == key.context)
        above = [id for id in (*staged, *self._directory.ids(key.context)) if id > key.id]
        return min(above, default=None)

    def bury(self, key: BodyKey) -> None:
        with self._unit.group():
            standing = self._find(key)
            if standing and not standing.gone:
                self._unit.stage(key, replace(standing, gone=True), replaces=True)

    def revive(self, key: BodyKey, body: Body) -> None:
        with self._unit.group():
            standing = self._find(key)
            if standing and standing.schema != body.schema:
                raise Taken(standing)
            if standing is None:
                self._create(key, body)
            elif standing.gone:
                self._create(key, body, replaces=True)

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
        with self._unit.group():
            standing, is_damaged = None, False
            try:
                standing = self._find(key)
            except BodyDamaged:
                is_damaged = True
            if standing != seen:
                check_stays(standing, body)
                return
            if replaces := is_damaged or standing is not None:
                self._unit.connection.execute(
                    "DELETE FROM content WHERE context = ? AND id = ? AND guid <> ? AND NOT latest", (*key, body.guid)
                )
            self._create(key, body, replaces=replaces)

    def unsettled(self, key: BodyKey) -> bool:
        """Whether this thread sees a body that may yet be undone, so that it should not be remembered."""
        return self._unit.staged(key) is not None

    def _find(self, key: BodyKey) -> Body | None:
        return self._unit.staged(key) or self._directory.read(key)

    def _create(self, key: BodyKey, body: Body, *, replaces: bool = False) -> None:
        self._unit.stage(key, body, replaces=replaces)
        self._point(key, body.guid)

    def _point(self, key: BodyKey, guid: Guid) -> None:
        self._unit.connection.execute(
            "INSERT INTO content VALUES (?, ?, ?, TRUE, FALSE) ON CONFLICT DO UPDATE SET body = TRUE",
            (guid, key.context, key.id),
        )


def _order(key: BodyKey) -> tuple[bool, bytes, int]:
    return key.context != DEFAULT_CONTEXT, utf16(key.context), key.id
