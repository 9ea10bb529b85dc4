"""Everything a registry holds, for who reads it from end to end: a scrub, an audit, an export."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from sigla.model import BodyKey, Guid
from sigla.ports import Bodies, Catalog, Clock, Journal


class Inventory(Protocol):
    """What the ports do not tell: everything there is, whether or not anybody points to it."""

    def bodies(self) -> Iterator[BodyKey]:
        """Every id with an object."""
        ...

    def pointers(self) -> Iterator[tuple[Guid, BodyKey]]:
        """Every way from a guid to a body."""
        ...

    def buried(self, ids: Iterable[BodyKey]) -> frozenset[BodyKey]:
        """Those of the ids that have lost their last holder."""
        ...

    def point(self, key: BodyKey, guid: Guid) -> None:
        """Puts a pointer that is missing; one that is there stays."""
        ...

    def journal_kept_since(self) -> int:
        """Milliseconds since the epoch: versions written before need not be in the journal any more."""
        ...


@dataclass(frozen=True, slots=True)
class Holdings:
    """bodies: not behind a cache, so that what is told is what is there."""

    catalog: Catalog
    bodies: Bodies
    journal: Journal
    inventory: Inventory
    clock: Clock
