"""A registry whose every commit says who asked for it: the verbs know nothing of that."""

from dataclasses import replace
from typing import TypeVar

from sigla.changes import Author, Change
from sigla.model import BodyKey
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import CatalogInFront
from sigla.registry.resources import Resources

AnyResources = TypeVar("AnyResources", bound=Resources)


class Attributed(CatalogInFront):
    """A `ports.Catalog`."""

    def __init__(self, catalog: Catalog, author: Author) -> None:
        super().__init__(catalog)
        self._author = author

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        return self._catalog.commit(replace(change, author=self._author))


def attributed(registry: AnyResources, author: Author) -> AnyResources:
    """The same registry, asked by an author."""
    return replace(registry, catalog=Attributed(registry.catalog, author))
