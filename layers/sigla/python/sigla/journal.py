"""Changes → journal rows → the records of Confluent's `_schemas` topic.

A row says what changed, in which order and under which keys, without texts: those are joined from the bodies, which never
change. A row is a JSON-able mapping:

    {"change": "Registered", "ts": 1700000000000, "nonce": "…", "revision": 3, "entries": [entry, …]}

    entry, in the order in which the records are written:
        {"type": "CONTEXT", "context": ".c", "listed": true}
        {"type": "SCHEMA", "context": ".", "name": "s", "version": 1, "id": 5, "deleted": false}     id null: purged
        {"type": "DELETE_SUBJECT", "context": ".", "name": "s", "version": 3}
        {"type": "CLEAR_SUBJECT", "context": ".", "name": "s"}
        {"type": "CONFIG", "context": ".", "name": "s", "config": {…} or null}
        {"type": "MODE", "context": ".", "name": "s", "mode": "READONLY" or null}
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from sigla import records as forms
from sigla.model import BodyKey, Config, SchemaId, Subject, Version
from sigla.ports import (
    Bodies,
    Change,
    ConfigChanged,
    ContextDropped,
    ImportBegun,
    ModeChanged,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Effects:
    """What a commit found and a change alone does not tell.

    listed: the context of a registration was not listed before. purged: versions an IMPORT removed. config, mode: a purge
    removed such an entry.
    """

    listed: bool = False
    purged: Sequence[tuple[Subject, Version]] = ()
    config: bool = False
    mode: bool = False


NO_EFFECTS = Effects()


# --- changes → rows --------------------------------------------------------------------------------------------------


def row(change: Change, effects: Effects = NO_EFFECTS) -> Mapping[str, object]:
    """The journal row of a commit; its entries are in the order of the records they become."""
    head = getattr(change, "head", None)
    return {
        "change": type(change).__name__,
        "ts": change.ts,
        "nonce": change.nonce,
        "revision": head.revision + 1 if head else None,
        "entries": list(_entries(change, effects)),
    }


def _entries(change: Change, effects: Effects) -> Iterator[Entry]:
    match change:
        case Registered(head=head, row=row):
            if effects.listed:
                yield {"type": "CONTEXT", "context": head.subject.context, "listed": True}
            yield from (_schema(head.subject, purged.version, None) for purged in change.purged)
            yield _schema(head.subject, row.version, row.id)
        case VersionDeleted(head=head, row=row):
            yield _schema(head.subject, row.version, row.id, deleted=True)
        case SubjectDeleted(head=head, through=through):
            yield _of("DELETE_SUBJECT", head.subject) | {"version": through}
        case VersionPurged(head=head, row=row):
            yield _schema(head.subject, row.version, None)
            yield from _settings_gone(head.subject, effects)
        case SubjectPurged(head=head, rows=rows):
            descending = sorted((row.version for row in rows), reverse=True)
            yield from (_schema(head.subject, version, None) for version in descending)
            yield from _settings_gone(head.subject, effects)
        case ConfigChanged(scope=scope, config=config):
            yield _of("CONFIG", scope) | {"config": forms.config_json(config) if config else None}
        case ModeChanged(scope=scope, mode=mode):
            yield _of("MODE", scope) | {"mode": mode}
        case ImportBegun(scope=scope):
            yield from (_schema(subject, version, None) for subject, version in effects.purged)
            yield _of("CLEAR_SUBJECT", scope)
            yield _of("MODE", scope) | {"mode": "IMPORT"}
        case ContextDropped(context=context):
            yield {"type": "CONTEXT", "context": context, "listed": False}


def _of(type: str, subject: Subject) -> Entry:
    return {"type": type, "context": subject.context, "name": subject.name}


def _schema(subject: Subject, version: Version, id: SchemaId | None, *, deleted: bool = False) -> Entry:
    return _of("SCHEMA", subject) | {"version": version, "id": id, "deleted": deleted}


def _settings_gone(subject: Subject, effects: Effects) -> Iterator[Entry]:
    if effects.mode:
        yield _of("MODE", subject) | {"mode": None}
    if effects.config:
        yield _of("CONFIG", subject) | {"config": None}


# --- rows → records --------------------------------------------------------------------------------------------------

Record = tuple[bytes, bytes | None, int]
"""Key, value (None: a tombstone) and time in milliseconds, as a Kafka record carries them."""


def records(rows: Iterable[Mapping[str, Any]], bodies: Bodies) -> Iterator[Record]:
    """The records of `_schemas` in commit order; texts come from the bodies, also of ids that are gone by now.

    Keys are compared byte by byte when the topic is compacted: the order of their fields is part of the format.
    """
    for each in rows:
        for entry in each["entries"]:
            key, value = _RECORDS[entry["type"]](entry, bodies)
            yield orjson.dumps(key), None if value is None else orjson.dumps(value), each["ts"]


def _subject_field(entry: Entry) -> Entry:
    """Global entries (of the default context itself) name no subject."""
    qualified = _subject(entry).qualified
    return {"subject": qualified} if qualified else {}


def _subject(entry: Entry) -> Subject:
    return Subject(entry["context"], entry["name"])


def _context_record(entry: Entry, bodies: Bodies) -> tuple[Entry, Entry | None]:
    value = {"tenant": "default", "context": entry["context"]}
    return {"keytype": "CONTEXT"} | value | {"magic": 0}, value if entry["listed"] else None


def _schema_record(entry: Entry, bodies: Bodies) -> tuple[Entry, Entry | None]:
    subject, version = _subject(entry).qualified, entry["version"]
    key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
    if entry["id"] is None:
        return key, None
    body = bodies.get(BodyKey(entry["context"], SchemaId(entry["id"])))
    value = {"subject": subject, "version": version, "id": entry["id"]} | forms.schema_json(body.schema)
    return key, value | {"deleted": entry["deleted"]}


def _delete_subject_record(entry: Entry, bodies: Bodies) -> tuple[Entry, Entry | None]:
    subject = _subject(entry).qualified
    return _key("DELETE_SUBJECT", {"subject": subject}), {"subject": subject, "version": entry["version"]}


def _clear_subject_record(entry: Entry, bodies: Bodies) -> tuple[Entry, Entry | None]:
    return _key("CLEAR_SUBJECT", _subject_field(entry)), _subject_field(entry)


def _config_record(entry: Entry, bodies: Bodies) -> tuple[Entry, Entry | None]:
    field, config = _subject_field(entry), entry["config"]
    return _key("CONFIG", field), None if config is None else field | _without_empty(config)


def _mode_record(entry: Entry, bodies: Bodies) -> tuple[Entry, Entry | None]:
    field, mode = _subject_field(entry), entry["mode"]
    return _key("MODE", field), None if mode is None else field | {"mode": mode}


def _key(keytype: str, subject: Entry) -> Entry:
    return {"keytype": keytype} | subject | {"magic": 0}


def _without_empty(config: Entry) -> Entry:
    return {name: value for name, value in config.items() if value != ""}


_RECORDS = {
    "CONTEXT": _context_record,
    "SCHEMA": _schema_record,
    "DELETE_SUBJECT": _delete_subject_record,
    "CLEAR_SUBJECT": _clear_subject_record,
    "CONFIG": _config_record,
    "MODE": _mode_record,
}


def config_of(entry: Mapping[str, Any]) -> Config | None:
    """The settings of a CONFIG entry."""
    return None if entry["config"] is None else forms.config(entry["config"])
