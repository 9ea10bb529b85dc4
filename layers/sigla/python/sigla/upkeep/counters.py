"""How far the ids of a context are given, as a scrub looks at it."""

from sigla.model import BodyKey, SchemaId
from sigla.ports.store import Store
from sigla.regions import rules
from sigla.regions.nouns import RegionKind
from sigla.registry.steps.numbering import CLEAR
from sigla.upkeep.flaws import Flaw


def is_behind(store: Store, flaw: Flaw) -> bool:
    """Only where registrations will soon meet what is taken: an operator may have set numbering back on purpose."""
    counter = _given_up_to(store, flaw.context)
    above = store.bodies.next_above(BodyKey(flaw.context, counter))
    return any(counter < (id or 0) <= counter + CLEAR for id in (flaw.id, above))


def _given_up_to(store: Store, context: str) -> SchemaId:
    """New ids come behind it. A region that follows gives none before it has begun with the next epoch."""
    role, counter = store.region.look(context)
    if role is None:
        return store.catalog.max_id(context)
    return rules.as_of(counter, role.epoch + (role.kind is not RegionKind.PRIMARY)).next
