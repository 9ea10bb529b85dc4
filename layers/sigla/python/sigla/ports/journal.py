"""What was committed, in order."""

from collections.abc import Iterator, Mapping
from typing import Protocol


class Journal(Protocol):
    """The ordered log of commits."""

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        """Rows in commit order with their position, from the one after `after`.

        The form is that of `sigla.journal.row`.
        """
        ...
