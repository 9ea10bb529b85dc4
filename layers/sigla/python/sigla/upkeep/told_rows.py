"""The rows of a journal, for a reader that goes on where one of them cannot be read."""

from collections.abc import Iterator, Mapping

from sigla.errors import RowUnreadable
from sigla.ports.journal import Journal


def told_rows(journal: Journal, after: int = 0) -> Iterator[tuple[int, Mapping[str, object] | None]]:
    """Each with its position; None for one that cannot be read."""
    while True:
        try:
            yield from journal.read(after)
        except RowUnreadable as broken:
            after = broken.position
            yield after, None
        else:
            return
