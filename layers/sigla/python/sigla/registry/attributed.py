"""A registry whose every commit says who asked for it, and in which epoch: the verbs know nothing of that."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from sigla.changes import Author, Change
from sigla.model import BodyKey, Guid, Subject
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import CatalogInFront
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.registry.resources import Resources

AnyResources = TypeVar("AnyResources", bound=Resources)


class _EpochAsked(threading.local):
    """epoch: of the first question since the last commit; 0 without one."""

    epoch = 0


class Attributed(CatalogInFront):
    """A `ports.Catalog` for one request, or one command. Any thread may use it.

    The epoch of a commit is that of its thread's first question since the one before: what was decided rests on it.
    """

    def __init__(self, catalog: Catalog, author: Author) -> None:
        super().__init__(catalog)
        self._author = author
        self._asked = _EpochAsked()

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        found = self._catalog.snapshot(subject, wanted=wanted, guess=guess)
        self._asked.epoch = self._asked.epoch or found.epoch
        return found

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        epoch, self._asked.epoch = self._asked.epoch, 0
        return self._catalog.commit(replace(change, author=self._author, epoch=epoch))


def attributed(registry: AnyResources, author: Author) -> AnyResources:
    """The same registry, asked by an author."""
    return replace(registry, catalog=Attributed(registry.catalog, author))
