"""What was committed, in order."""

from collections.abc import Iterator, Mapping
from typing import Protocol


class Journal(Protocol):
    """The ordered log of commits."""

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        """Rows in commit order with their position, from the one after `after`.

        The form is that of `sigla.journal.row`. Raises RowUnreadable at one that has another: a reader may go on
        after it.
        """
        ...

    def end(self) -> int:
        """A position before which no row will come any more that is not there yet.

        Whoever reads from there is told of everything that is committed from now on.
        """
        ...

    def newest(self) -> int:
        """The time of the newest commit, in milliseconds since the epoch; 0 if no row is kept."""
        ...

    def reaches(self, after: int) -> bool:
        """Whether all rows after a position are still kept, and not only the later ones of them."""
        ...
