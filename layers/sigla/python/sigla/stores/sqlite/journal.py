"""The journal: a table that commits append to."""

from collections.abc import Iterator, Mapping

import orjson

from sigla.journal import known
from sigla.stores.sqlite.unit import Reader

PAGE = 500


class EmbeddedJournal:
    """A `ports.Journal`; positions count from 1."""

    def __init__(self, unit: Reader) -> None:
        self._unit = unit

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        while page := self._page(after):
            for position, form in page:
                yield position, known(orjson.loads(form))
            after = page[-1][0]

    def end(self) -> int:
        """Rows are written one after the other."""
        (position,) = self._unit.connection.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()
        return int(position)

    def reaches(self, after: int) -> bool:  # noqa: ARG002 - as `ports.Journal` has it
        """Always: all rows are kept."""
        return True

    def _page(self, after: int) -> list[tuple[int, bytes]]:
        return self._unit.connection.execute(
            "SELECT position, form FROM journal WHERE position > ? ORDER BY position LIMIT ?", (after, PAGE)
        ).fetchall()
