"""Changes → rows → the records of Confluent's `_schemas` topic; `replay` leads from records back to a state."""

from sigla.journal.rows import (
    NO_EFFECTS,
    Effects,
    Entry,
    Origin,
    Record,
    exporter_records_of,
    exporters_told,
    ids,
    key_records_of,
    known,
    numbered_contexts,
    origin_of,
    records,
    row,
)

__all__ = [
    "NO_EFFECTS",
    "Effects",
    "Entry",
    "Origin",
    "Record",
    "exporter_records_of",
    "exporters_told",
    "ids",
    "key_records_of",
    "known",
    "numbered_contexts",
    "origin_of",
    "records",
    "row",
]
