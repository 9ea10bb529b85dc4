"""A registry and its mirror in one process: what the source's topics say is what the mirror is made of."""

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from sigla.journal.replay import State, replayed
from sigla.model import BodyKey, Schema, Search
from sigla.ports.progress import unseen
from sigla.upkeep import exporting
from sigla.upkeep.mirroring import Mirror, Tally, begin
from tests.unit.exporting.places import Place


def told(place: Place) -> State:
    """What the topics of a registry say of it."""
    records = chain(exporting.topic(place.store, unseen), exporting.key_topic(place.store, unseen))
    return replayed(record._replace(offset=offset) for offset, record in enumerate(records))


def held(place: Place) -> dict[str, Any]:
    """All of it with its times, but for the marks and the modes that a mirror has of its own."""
    catalog = place.store.catalog
    everything = Search(context=None)
    rows = catalog.versions(everything, deleted=True, latest_only=False)
    return {
        **place.picture(),
        "rows": [(subject, replace(row, revision=0)) for subject, row in rows],
        "associations": [replace(one, guid="") for one in catalog.associations_named()],
        "active": list(catalog.versions(everything, deleted=False, latest_only=True)).__len__(),
        "referrers": [
            (subject, *pair) for subject in catalog.subjects(everything) for pair in catalog.referrers(subject)
        ],
        "highest": [catalog.max_id(context) for context in (".", *catalog.contexts())],
    }


def meanings(place: Place) -> dict[BodyKey, tuple[Schema, bool]]:
    """What every body means, and whether it is a tombstone."""
    bodies = ((key, place.store.bodies.get(key)) for key in place.store.inventory.bodies())
    return {key: (body.schema, body.gone) for key, body in bodies}


@dataclass
class Mirrored:
    source: Place
    target: Place
    mirror: Mirror = field(init=False)

    def __post_init__(self) -> None:
        self.again()
        begin(self.target.registry)

    def again(self) -> "Mirrored":
        """A process that has just begun."""
        self.mirror = Mirror(self.target.registry, self.target.store.group)
        return self

    def turn(self) -> Tally:
        return self.mirror.turn(told(self.source))

    def check(self) -> None:
        assert held(self.target) == held(self.source)
