"""Keys for field encryption that a region has kept for its primary, which is lost before their commits came here."""

from collections.abc import Iterable
from functools import partial

import orjson

from sigla import journal
from sigla.journal.replay import State, TopicRecord, replayed
from sigla.ports.replaying import Shipment
from sigla.registry.resources import Resources
from sigla.upkeep.importing import Report, import_state


def adopt_keys(shipments: Iterable[Shipment], here: Resources) -> Report:
    """They come to be here, where nothing is in their way; done again, it changes nothing. Raises StoreError."""
    rows = [journal.row_at(each.position, partial(orjson.loads, each.form)) for each in shipments]
    records = enumerate(journal.key_records_of(rows))
    told = replayed(TopicRecord(key, value, ts, at) for at, (key, value, ts) in records)
    return import_state(here, State(keks=told.keks, deks=told.deks))
