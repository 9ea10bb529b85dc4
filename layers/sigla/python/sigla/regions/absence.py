"""A catalog of a region that follows: where a question goes on to other contexts, something is not here."""

from collections.abc import Callable

from sigla.errors import Closed
from sigla.model import BodyKey
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import CatalogInFront


class NothingConcluded(CatalogInFront):
    """Other contexts are asked only where nothing was found in the first place, and that may be on its way.

    follows: whether this region does so by now; else all is here that there is. followed: whether it did so a while
    ago, which may be known without a question.
    """

    def __init__(
        self,
        catalog: Catalog,
        follows: Callable[[], bool] = lambda: True,
        *,
        followed: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(catalog)
        self._follows = follows
        self._followed = followed

    def contexts_of(self, name: str) -> tuple[str, ...]:
        """Raises Closed: the primary is to be asked."""
        if self._follows():
            raise Closed
        return super().contexts_of(name)

    def check_absent(self, key: BodyKey | None, knows: Callable[[BodyKey], bool] = lambda _: True) -> None:
        """Raises Closed: the primary is to be asked.

        Where a refusal follows, that is done in any case. What is told of a record is an answer.
        """
        if self._followed():
            raise Closed
        super().check_absent(key, knows)
