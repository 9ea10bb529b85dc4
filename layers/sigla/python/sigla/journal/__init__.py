"""Changes → rows → the records of Confluent's `_schemas` topic; `replay` leads from records back to a state."""

from sigla.journal.commits import commit_form, for_region
from sigla.journal.origins import ANYONE, SIGLA, Origin, Via, fresh_token, origin, origin_of, plain_token
from sigla.journal.rows import (
    NO_EFFECTS,
    Effects,
    Entry,
    Record,
    buried_ids,
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
from sigla.journal.told_changes import ToldHead, UnknownCommit, change_of, effects_of, heads_of, targets_of

__all__ = [
    "ANYONE",
    "NO_EFFECTS",
    "SIGLA",
    "Effects",
    "Entry",
    "Origin",
    "Record",
    "ToldHead",
    "UnknownCommit",
    "Via",
    "buried_ids",
    "change_of",
    "commit_form",
    "effects_of",
    "exporter_records_of",
    "exporters_told",
    "for_region",
    "fresh_token",
    "heads_of",
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
    "targets_of",
]
