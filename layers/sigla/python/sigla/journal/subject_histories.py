"""The history of a subject: of each row of the journal, what is told to each subject that it is about.

Rows of release 0.2.0 and earlier ones are in no history: they do not say by whom they were written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sigla.journal.log_entries import entry_of_row
from sigla.model import Subject
from sigla.ports.log import LogEntry, Matter

Json = Mapping[str, Any]


def subjects_of(row: Json) -> Sequence[Subject]:
    """Those that have the commit in their history; settings of contexts are in the history of none."""
    if "by" not in row:
        return ()
    named = (Subject(entry["context"], entry["name"]) for entry in row["entries"] if entry.get("name"))
    return tuple(dict.fromkeys(named))


def entry_about(row: Json, subject: Subject, at: int | None = None) -> LogEntry:
    """at: as of `entry_of_row`."""
    return entry_of_row(row, at).as_seen_by(subject.qualified)


def entry_form(entry: LogEntry) -> Json:
    """An entry of a history as JSON, without its time and its nonce."""
    said = {
        "change": entry.change,
        "about": [[matter.type, matter.name, matter.version, matter.id, matter.is_gone] for matter in entry.matters],
        "more": entry.more,
        "by": entry.by,
        "via": entry.via,
        "was": entry.was,
        "is": entry.now,
    }
    return {name: value for name, value in said.items() if value}


def entry_in(form: Json, subject: Subject, at: int, nonce: str) -> LogEntry:
    """What `entry_form` has written."""
    matters = (
        Matter(type, subject.qualified, name, version, id, is_gone)
        for type, name, version, id, is_gone in form["about"]
    )
    return LogEntry(
        at,
        nonce,
        form.get("change", ""),
        tuple(matters),
        by=form.get("by", ""),
        via=form.get("via", {}),
        was=form.get("was", ""),
        now=form.get("is", ""),
        more=form.get("more", 0),
    )
