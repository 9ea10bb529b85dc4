"""What commits leave to whoever follows the journal: rows to sweep, tombstones to put or to take away."""

from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace

from sigla.errors import BodyLost, FormTooNew, StoreError
from sigla.functions.segments import BROKEN
from sigla.journal import known
from sigla.model import BodyKey, Subject
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.values import Item, unpacked
from sigla.stores.s3.bodies import AwsBodies

TRIES = 8

SWEPT = frozenset({"SubjectPurged", "ImportBegun"})
"""Changes that begin a new generation of subjects and may leave rows of the old one."""


def left_behind(row: Item) -> tuple[Subject, ...]:
    """The subjects that a journal row wants swept; of a row that cannot be read none."""
    try:
        form = known(unpacked(row["form"]))
        if form["change"] not in SWEPT:
            return ()
        gone = [entry for entry in form["entries"] if entry["type"] == "SCHEMA"]
        return tuple(dict.fromkeys(Subject(entry["context"], entry["name"]) for entry in gone))
    except (*BROKEN, FormTooNew):  # whoever writes segments meets the same row, and says what is wrong with it
        return ()


class Tombstones:
    """Bodies that say what the catalog says of their ids: the catalog decides, a body only tells.

    An import may bring an id back while its tombstone is on the way. So the catalog is asked before and after; whoever
    changes it later is heard of by the stream, and then this is done once more.
    """

    def __init__(self, catalog: AwsCatalog, bodies: AwsBodies, executor: Executor) -> None:
        self._catalog = catalog
        self._bodies = bodies
        self._executor = executor

    def settle(self, ids: Iterable[BodyKey]) -> int:
        """Bodies of buried ids are gone and those of others are not, when it returns; how many ids there were.

        Raises StoreError.
        """
        given = left = frozenset(ids)
        for _ in range(TRIES):
            left = self._settle(left)
            if not left:
                return len(given)
        raise StoreError(f"ids come and go: {sorted(left)[:3]}")

    def _settle(self, ids: frozenset[BodyKey]) -> frozenset[BodyKey]:
        """Those that were buried or revived meanwhile."""
        if not ids:
            return ids
        buried = self._catalog.buried(ids)
        list(self._executor.map(lambda key: self._agree(key, gone=key in buried), ids))
        return buried ^ self._catalog.buried(ids)

    def _agree(self, key: BodyKey, *, gone: bool) -> None:
        """A body that is lost says nothing; a scrub tells of it, and whoever restores it makes it agree.

        Nor does one that a newer release wrote: its own scrub finds it.
        """
        with suppress(BodyLost, FormTooNew):
            if gone:
                self._bodies.bury(key)
                return
            standing = self._bodies.get(key)
            if standing.gone:
                self._bodies.revive(key, replace(standing, gone=False))
