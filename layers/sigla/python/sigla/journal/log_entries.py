"""Rows of the journal, and lines of its segments, as entries of the log; and these as everybody is shown them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from sigla import records
from sigla.journal.origins import origin_of
from sigla.model import DEFAULT_CONTEXT, Subject
from sigla.ports.log import LogEntry, Matter

Json = Mapping[str, Any]

_STANDING = ("association", "config", "id", "mode", "value")
"""Members of an entry that say what there is from now on: none of them has nothing to say but where it ends."""


def entry_of_row(row: Json, at: int | None = None) -> LogEntry:
    """at: where it stands in the journal; None: when it was decided."""
    return _entry(row, row["ts"] if at is None else at, tuple(map(_matter_of_entry, row["entries"])))


def entry_of_lines(lines: Sequence[Json]) -> LogEntry:
    """lines: all of one row, in order."""
    return _entry(lines[0], lines[0]["at"], tuple(map(_matter_of_line, lines)))


def _entry(told: Json, at: int, matters: tuple[Matter, ...]) -> LogEntry:
    """told: the row, or its first line."""
    origin: Json = origin_of(told)
    return LogEntry(
        at=at,
        nonce=told["nonce"],
        change=told.get("change", ""),
        matters=matters,
        by=origin.get("by", ""),
        via=origin.get("via", {}),
        was=origin.get("was", ""),
        now=origin.get("is", ""),
    )


def _matter_of_entry(entry: Json) -> Matter:
    key, type = entry.get("key", {}), entry["type"]
    subject = Subject(entry.get("context", DEFAULT_CONTEXT), entry.get("name", "")).qualified
    standing = [entry[name] for name in _STANDING if name in entry]
    return Matter(
        type,
        key.get("subject", subject),
        _key_name(key),
        entry.get("version", key.get("version")),
        entry.get("id"),
        is_gone=(entry.get("value") or entry).get("deleted", False)
        or entry.get("listed") is False
        or (bool(standing) and all(each is None for each in standing))
        or type in _ENDS,
    )


def _matter_of_line(line: Json) -> Matter:
    key = orjson.loads(line["key"])
    value = None if line["value"] is None else orjson.loads(line["value"])
    held = value or {}
    type = records.type_of_key(key)
    if type == "NOOP":
        type = next((told for member, told in _OF_NOOP.items() if member in held), type)
    context = key.get("context") or held.get("context") if type in ("CONTEXT", "NUMBERING") else None
    subject = key.get("subject", held.get("subject", "") if type == "BURIED" else "")
    return Matter(
        type,
        Subject(context, "").qualified if context else subject,
        _key_name(key),
        key.get("version", held.get("version")),
        held.get("id", held.get("buried")),
        is_gone=held.get("deleted", False) or value is None or type in _ENDS,
    )


_ENDS = ("DELETE_SUBJECT", "CLEAR_SUBJECT")
_OF_NOOP = {"continueAfter": "NUMBERING", "buried": "BURIED"}
"""By a member of the value: Confluent's topic has no records for these."""


def _key_name(key: Json) -> str:
    """The name of a KEK, of the KEK of a DEK, of an exporter or of a topic."""
    return str(key.get("name") or key.get("kekName") or key.get("resourceName") or "")


# --- entries → JSON --------------------------------------------------------------------------------------------------


def form_of_entry(entry: LogEntry, name: str | None) -> Json:
    """name: that is kept behind its token. What an entry does not say is left out."""
    said = {
        "at": time_text(entry.at),
        "by": entry.by or None,
        "name": name,
        "change": entry.change or None,
        "via": entry.via or None,
        "was": entry.was or None,
        "is": entry.now or None,
        "commit": entry.nonce,
        "about": [_matter_form(matter) for matter in entry.matters],
        "more": entry.more or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def without_address(entry: LogEntry) -> LogEntry:
    """Without the place that its author was at, and who has told it."""
    return replace(entry, via={name: said for name, said in entry.via.items() if name in ("way", "request", "asker")})


def time_text(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _matter_form(matter: Matter) -> Json:
    said = {**matter._asdict(), "is_gone": matter.is_gone or None}
    named = {"is_gone": "gone"}
    return {named.get(name, name): value for name, value in said.items() if value not in (None, "")}
