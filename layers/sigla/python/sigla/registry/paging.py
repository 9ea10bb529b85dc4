"""A window on a list that is never held whole."""

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from sigla.model import Page

Item = TypeVar("Item")


def paged(items: Iterable[Item], page: Page) -> list[Item]:
    return list(islice(items, page.offset, page.offset + page.limit))
