"""Everything a registry holds, for who reads it from end to end: a scrub, an audit, an export."""

from dataclasses import dataclass

from sigla.model import Search
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.inventory import Inventory
from sigla.ports.journal import Journal
from sigla.ports.marks import Marks


@dataclass(frozen=True, slots=True)
class Holdings:
    """bodies: not behind a cache, so that what is told is what is there. marks: None where a store is one whole."""

    catalog: Catalog
    bodies: Bodies
    journal: Journal
    inventory: Inventory
    clock: Clock
    marks: Marks | None = None

    @property
    def has_lost_its_catalog(self) -> bool:
        """Whether there are bodies beside a catalog that knows nothing: each was given its id by one that did."""
        body = next(self.inventory.bodies(), None)
        if body is None or self.catalog.max_id(body.context):
            return False
        return next(self.catalog.versions(Search(context=None), deleted=True, latest_only=True), None) is None
