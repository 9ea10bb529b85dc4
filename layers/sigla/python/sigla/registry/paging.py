"""A window on a list that is never held whole."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from sigla import effort
from sigla.model import Page

Item = TypeVar("Item")


STEPS_OF_AN_ITEM: Final = 10


def paged(items: Iterable[Item], page: Page) -> list[Item]:
    """Asks about once a millisecond whether to go on, see `effort`: there may be a million items."""
    return list(islice(pulsing(items), page.offset, page.offset + page.limit))


def pulsing(items: Iterable[Item]) -> Iterator[Item]:
    """The items, as `paged` goes through them: for lists of which most is left out."""
    for item in items:
        effort.pulse(STEPS_OF_AN_ITEM)
        yield item
