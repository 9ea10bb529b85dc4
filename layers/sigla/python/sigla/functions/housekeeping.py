"""What commits leave to whoever follows the journal: rows to sweep, tombstones to put or to take away."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor

from sigla.errors import BodyLost, FormTooNew
from sigla.functions.segments import BROKEN
from sigla.journal import known
from sigla.model import BodyKey, Subject
from sigla.registry import tombstones
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.values import Item, unpacked
from sigla.stores.s3.bodies import AwsBodies

SWEPT = frozenset({"SubjectPurged", "ImportBegun", "AssociationsChanged"})
"""Changes that begin a new generation of subjects and may leave rows of the old one."""


def left_behind(row: Item) -> tuple[Subject, ...]:
    """The subjects that a journal row wants swept; of a row that cannot be read none."""
    try:
        form = known(unpacked(row["form"]))
        if form["change"] not in SWEPT:
            return ()
        gone = [entry for entry in form["entries"] if entry["type"] == "SCHEMA" and entry["id"] is None]
        return tuple(dict.fromkeys(Subject(entry["context"], entry["name"]) for entry in gone))
    except (*BROKEN, FormTooNew):  # whoever writes segments meets the same row, and says what is wrong with it
        return ()


class Tombstones:
    """Bodies that say what the catalog says of their ids (`registry/tombstones`), many at once.

    Whoever changes the catalog later is heard of by the stream, and then this is done once more.
    """

    def __init__(self, catalog: AwsCatalog, bodies: AwsBodies, executor: Executor) -> None:
        self._catalog = catalog
        self._bodies = bodies
        self._executor = executor

    def settle(self, ids: Iterable[BodyKey]) -> int:
        """Bodies of buried ids are gone and those of others are not, when it returns; how many ids there were.

        A body that is lost says nothing; a scrub tells of it, and whoever restores it makes it agree.
        Raises StoreError.
        """
        given = frozenset(ids)
        if given:
            tombstones.settle(self._bodies, given, self._says, run=self._executor.map, passed_over=(BodyLost,))
        return len(given)

    def _says(self, ids: frozenset[BodyKey]) -> Mapping[BodyKey, bool]:
        buried = self._catalog.buried(ids) if ids else frozenset()
        return {key: key in buried for key in ids}
