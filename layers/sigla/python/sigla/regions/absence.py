"""A catalog of a region that follows: where a question goes on to other contexts, something is not here."""

from collections.abc import Callable

from sigla.errors import Closed
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import CatalogInFront


class NothingConcluded(CatalogInFront):
    """Other contexts are asked only where nothing was found in the first place, and that may be on its way.

    follows: whether this region does so by now; else all is here that there is.
    """

    def __init__(self, catalog: Catalog, follows: Callable[[], bool] = lambda: True) -> None:
        super().__init__(catalog)
        self._follows = follows

    def contexts_of(self, name: str) -> tuple[str, ...]:
        """Raises Closed: the primary is to be asked."""
        if self._follows():
            raise Closed
        return super().contexts_of(name)
