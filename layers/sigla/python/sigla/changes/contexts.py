"""Changes of one context."""

from dataclasses import dataclass

from sigla.changes.kinds import ContextChange, Evidence
from sigla.model import SchemaId


@dataclass(frozen=True, slots=True)
class ContextListed(ContextChange):
    """A context is listed, also without a version in it; one that is listed stays so. The default context never is."""

    ts: int
    nonce: str

    def was_written(self, catalog: Evidence) -> bool:
        return self.context in catalog.contexts()


@dataclass(frozen=True, slots=True)
class ContextDropped(ContextChange):
    """A context is no longer listed. Conflict if a version is stored in it."""

    ts: int
    nonce: str

    def was_written(self, catalog: Evidence) -> bool:
        return self.context not in catalog.contexts()


@dataclass(frozen=True, slots=True)
class NumberingSet(ContextChange):
    """New ids of a context go on after a number, which may be lower than the one given out last.

    seen: that one, as `Catalog.max_id` told it; Conflict if another was given out meanwhile.
    """

    seen: SchemaId
    after: SchemaId
    ts: int
    nonce: str

    def was_written(self, catalog: Evidence) -> bool:
        highest = catalog.max_id(self.context)
        return self.after <= highest and (highest < self.seen or self.seen < self.after)
