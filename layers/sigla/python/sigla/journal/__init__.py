"""Changes → rows → the records of Confluent's `_schemas` topic; `replay` leads from records back to a state."""

from sigla.journal.origins import ANYONE, SIGLA, Origin, Via, fresh_token, origin, origin_of, plain_token
from sigla.journal.rows import (
    NO_EFFECTS,
    Effects,
    Entry,
    Record,
    exporter_records_of,
    exporters_told,
    ids,
    key_records_of,
    known,
    numbered_contexts,
    records,
    row,
    row_at,
)

__all__ = [
    "ANYONE",
    "NO_EFFECTS",
    "SIGLA",
    "Effects",
    "Entry",
    "Origin",
    "Record",
    "Via",
    "exporter_records_of",
    "exporters_told",
    "fresh_token",
    "ids",
    "key_records_of",
    "known",
    "numbered_contexts",
    "origin",
    "origin_of",
    "plain_token",
    "records",
    "row",
    "row_at",
]
