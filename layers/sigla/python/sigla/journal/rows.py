"""Changes → journal rows → the records of Confluent's `_schemas` topic.

A row says what changed, in which order and under which keys, without texts: those are joined from the bodies, which
never change. A row is a JSON-able mapping:

    {"form": 1, "change": "Registered", "ts": 1700000000000, "nonce": "…", "revision": 3, "entries": [entry, …]}
        and what `Origin` names, as far as it is known

    entry, in the order in which the records are written:
        {"type": "CONTEXT", "context": ".c", "listed": true}
        {"type": "SCHEMA", "context": ".", "name": "s", "version": 1, "id": 5, "deleted": false}     id null: purged
            and "ts" where it has a time of its own: as another registry had it
        {"type": "DELETE_SUBJECT", "context": ".", "name": "s", "version": 3}
        {"type": "CLEAR_SUBJECT", "context": ".", "name": "s"}
        {"type": "CONFIG", "context": ".", "name": "s", "config": {…} or null}
        {"type": "MODE", "context": ".", "name": "s", "mode": "READONLY" or null}
        {"type": "NUMBERING", "context": ".", "after": 100000}
        {"type": "BURIED", "context": ".", "name": "s", "version": 1, "id": 5}
        {"type": "KEK", "key": {…}, "value": {…} or null}      DEK likewise: as `_dek_registry_keys` has them
            and "ts", the time of the key
        {"type": "EXPORTER", "key": {…}, "value": {…} or null, "state": "PAUSED"}    never with what is secret
        {"type": "ASSOC", "context": ".", "name": "s", "key": {…}, "association": {…} or null}
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from sigla import records as topic
from sigla.associations import records as association_records
from sigla.associations.nouns import Association
from sigla.changes import (
    AssociationsChanged,
    Change,
    ConfigChanged,
    ContextDropped,
    ContextListed,
    DeksChanged,
    Displaced,
    ExporterChanged,
    IdBuried,
    ImportBegun,
    Imported,
    KekChanged,
    ModeChanged,
    NumberingSet,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.errors import FormTooNew, RowUnreadable
from sigla.exporters import records as exporter_records
from sigla.exporters.nouns import Exporter
from sigla.forms import FORM, JOURNAL_ROW, newer
from sigla.journal.origins import NO_ORIGIN, Origin
from sigla.keks import records as key_records
from sigla.keks.nouns import Dek, Kek
from sigla.model import BodyKey, SchemaId, Subject, Version
from sigla.ports.bodies import Bodies
from sigla.ports.inventory import UNFIT
from sigla.rules import names

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Effects:
    """What a commit found and a change alone does not tell.

    listed: the context of a registration was not listed before. purged: versions an IMPORT removed. partial: it goes
    on. config, mode: a purge removed such an entry. parts: of a commit of several changes, those of each. cleared: the
    subjects of `purged`, each with the revision that it had. moved: numbers of rows of a table, for another region.
    """

    listed: bool = False
    purged: Sequence[tuple[Subject, Version]] = ()
    partial: bool = False
    config: bool = False
    mode: bool = False
    parts: "Sequence[Effects]" = ()
    cleared: Sequence[tuple[Subject, int]] = ()
    moved: Mapping[str, int] = field(default_factory=dict)


NO_EFFECTS = Effects()


# --- changes → rows --------------------------------------------------------------------------------------------------


def row(change: Change, effects: Effects = NO_EFFECTS, origin: Origin = NO_ORIGIN) -> Mapping[str, object]:
    """The journal row of a commit; its entries are in the order of the records they become."""
    return {
        FORM: JOURNAL_ROW,
        "change": type(change).__name__,
        "ts": change.ts,
        "nonce": change.nonce,
        "revision": change.revision,
        "entries": list(_entries(change, effects)),
        **origin,
    }


def known(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row as it is stored, if this release knows its form. Raises FormTooNew; rows of old say none."""
    if form := newer(stored, JOURNAL_ROW):
        raise FormTooNew("a row of the journal", form, JOURNAL_ROW)
    return stored


def row_at(position: int, read: Callable[[], Any]) -> Mapping[str, Any]:
    """The row that stands there. read: makes JSON of it. Raises RowUnreadable, FormTooNew."""
    try:
        stored = known(read())
        if _is_row(stored):
            return stored
    except UNFIT:
        pass  # told below, like any other content that is not a row
    raise RowUnreadable(position)


_NOTHING: Final = None.__class__
_OF_SUBJECT: Final = {"context": (str,), "name": (str,)}
_OF_KEY: Final = {"key": (dict,), "value": (dict, _NOTHING)}
_MEMBERS: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = {
    "CONTEXT": {"context": (str,), "listed": (bool,)},
    "SCHEMA": {**_OF_SUBJECT, "version": (int,), "id": (int, _NOTHING), "deleted": (bool,)},
    "DELETE_SUBJECT": {**_OF_SUBJECT, "version": (int,)},
    "CLEAR_SUBJECT": _OF_SUBJECT,
    "CONFIG": {**_OF_SUBJECT, "config": (dict, _NOTHING)},
    "MODE": {**_OF_SUBJECT, "mode": (str, _NOTHING)},
    "NUMBERING": {"context": (str,), "after": (int,)},
    "BURIED": {**_OF_SUBJECT, "version": (int,), "id": (int,)},
    key_records.KEK: _OF_KEY,
    key_records.DEK: _OF_KEY,
    exporter_records.EXPORTER: _OF_KEY,
    "ASSOC": {**_OF_SUBJECT, "key": (dict,), "association": (dict, _NOTHING)},
}
"""What an entry has, by its type."""
_KEY_MEMBERS: Final[Mapping[str, Mapping[str, type]]] = {
    key_records.KEK: {"name": str},
    key_records.DEK: {"kekName": str, "subject": str, "algorithm": str, "version": int},
    exporter_records.EXPORTER: {"name": str},
    "ASSOC": dict.fromkeys(("resourceType", "resourceNamespace", "resourceName", "associationType", "subject"), str),
}


def _is_row(stored: Mapping[str, Any]) -> bool:
    """Whether it is what the head of this file says. Raises what reading anything else does."""
    return (
        isinstance(stored["ts"], int) and isinstance(stored["entries"], list) and all(map(_is_entry, stored["entries"]))
    )


def _is_entry(entry: Entry) -> bool:
    members, of_key = _MEMBERS[entry["type"]], _KEY_MEMBERS.get(entry["type"], {})
    return all(isinstance(entry[name], kinds) for name, kinds in members.items()) and all(
        isinstance(entry["key"][name], kind) for name, kind in of_key.items()
    )


def _entries(change: Change, effects: Effects) -> Iterator[Entry]:
    match change:
        case Registered(head=head, row=row):
            if effects.listed:
                yield {"type": "CONTEXT", "context": head.subject.context, "listed": True}
            yield from (_schema(head.subject, purged.version, None) for purged in change.purged)
            own = {} if row.ts == change.ts else {"ts": row.ts}
            yield _schema(head.subject, row.version, row.id, deleted=row.deleted) | own
        case Imported(head=head, versions=versions):
            if effects.listed:
                yield {"type": "CONTEXT", "context": head.subject.context, "listed": True}
            for row in (each.row for each in versions):
                yield _schema(head.subject, row.version, row.id, deleted=row.deleted) | {"ts": row.ts}
        case Displaced(head=head, row=row, standing=standing):
            yield _schema(head.subject, row.version, row.id) | {"ts": row.ts}
            if all(each.version != row.version for each in standing):
                yield _schema(head.subject, row.version, None)
            for each in standing:
                yield _schema(head.subject, each.version, each.id, deleted=each.deleted) | {"ts": each.ts}
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
            yield _of("CONFIG", scope) | {"config": topic.config_json(config) if config else None}
        case ModeChanged(scope=scope, mode=mode):
            yield _of("MODE", scope) | {"mode": mode}
        case ImportBegun(scope=scope):
            yield from (_schema(subject, version, None) for subject, version in effects.purged)
            if not effects.partial:
                yield _of("CLEAR_SUBJECT", scope)
                yield _of("MODE", scope) | {"mode": "IMPORT"}
        case ContextListed() | ContextDropped() | NumberingSet():
            yield _of_context(change)
        case IdBuried(subject=subject, version=version, id=id):
            yield _of("BURIED", subject) | {"version": version, "id": id}
        case KekChanged() | DeksChanged():
            yield from _key_entries(change)
        case AssociationsChanged():
            yield from _associations(change, effects)
        case ExporterChanged():
            yield _exporter(change)
        case _:
            assert_never(change)


def _of_context(change: ContextListed | ContextDropped | NumberingSet) -> Entry:
    match change:
        case ContextListed(context=context):
            return {"type": "CONTEXT", "context": context, "listed": True}
        case ContextDropped(context=context):
            return {"type": "CONTEXT", "context": context, "listed": False}
        case NumberingSet(context=context, after=after):
            return {"type": "NUMBERING", "context": context, "after": after}


def _key_entries(change: KekChanged | DeksChanged) -> Iterator[Entry]:
    if isinstance(change, KekChanged):
        value = None if change.kek is None else key_records.kek_value(change.kek)
        yield _key_entry(key_records.KEK, key_records.kek_key(change.name), value, change.kek)
        return
    for write in change.deks:
        value = None if write.dek is None else key_records.dek_value(write.dek)
        yield _key_entry(key_records.DEK, key_records.dek_key(write.about), value, write.dek)


def _associations(change: AssociationsChanged, effects: Effects) -> Iterator[Entry]:
    """Schemas first; a subject that goes follows its association."""
    parts = iter(effects.parts)
    for each in change.registered:
        yield from _entries(each, next(parts, NO_EFFECTS))
    yield from (_association(one) for one in change.written)
    gone = {each.scope: (each, next(parts, NO_EFFECTS)) for each in change.purged}
    for one in change.removed:
        yield _association(one) | {"association": None, "ts": change.ts}
        if one.subject in gone:
            purged, found = gone[one.subject]
            active = [row.version for row in purged.rows if not row.deleted]
            if active:
                yield _of("DELETE_SUBJECT", one.subject) | {"version": max(active)}
            yield from _entries(purged, found)


def _association(one: Association) -> Entry:
    return _of("ASSOC", one.subject) | {
        "key": association_records.key(one),
        "association": association_records.value(one),
        "ts": one.updated,
    }


def _exporter(change: ExporterChanged) -> Entry:
    return {
        "type": exporter_records.EXPORTER,
        "key": exporter_records.exporter_key(change.name),
        "value": None if change.exporter is None else exporter_records.exporter_value(change.exporter),
        "state": change.state.value,
    }


def _of(type: str, subject: Subject) -> Entry:
    return {"type": type, "context": subject.context, "name": subject.name}


def _schema(subject: Subject, version: Version, id: SchemaId | None, *, deleted: bool = False) -> Entry:
    return _of("SCHEMA", subject) | {"version": version, "id": id, "deleted": deleted}


def _key_entry(type: str, key: Entry, value: Entry | None, told: Kek | Dek | None) -> Entry:
    """With the time that the key has, which may be that of another registry."""
    return {"type": type, "key": key, "value": value} | ({} if told is None else {"ts": told.ts})


def _settings_gone(subject: Subject, effects: Effects) -> Iterator[Entry]:
    if effects.mode:
        yield _of("MODE", subject) | {"mode": None}
    if effects.config:
        yield _of("CONFIG", subject) | {"config": None}


# --- rows → records --------------------------------------------------------------------------------------------------

Record = tuple[bytes, bytes | None, int]
"""Key, value (None: a tombstone) and time in milliseconds, as a Kafka record carries them."""


OF_KEYS: Final = frozenset({key_records.KEK, key_records.DEK})
"""Entries whose records stand in a topic of their own."""
_APART: Final = OF_KEYS | {exporter_records.EXPORTER}
"""Entries without a record of `_schemas`."""


def key_records_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """The records of `_dek_registry_keys` in commit order."""
    for each in rows:
        for entry in each["entries"]:
            if entry["type"] in OF_KEYS:
                yield *topic.pair(entry["key"], entry["value"]), entry.get("ts", each["ts"])


def exporters_told(rows: Iterable[Mapping[str, Any]]) -> list[Exporter]:
    """The exporters that stand at the end of these rows, in the order in which they were created."""
    standing: dict[str, Exporter] = {}
    for each in rows:
        for entry in each["entries"]:
            if entry["type"] == exporter_records.EXPORTER:
                name = entry["key"]["name"]
                if entry["value"] is None:
                    standing.pop(name, None)
                else:
                    standing[name] = exporter_records.exporter(entry["value"])
    return [*standing.values()]


def exporter_records_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """What was decided about exporters, in commit order: records that no topic of Confluent's has."""
    for each in rows:
        for entry in each["entries"]:
            if entry["type"] == exporter_records.EXPORTER:
                yield *topic.pair(entry["key"], entry["value"]), each["ts"]


def records(rows: Iterable[Mapping[str, Any]], bodies: Bodies) -> Iterator[Record]:
    """The records of `_schemas` in commit order; texts come from the bodies, also of ids that are gone by now.

    A record says a subject by its text: what happened under a second name is left out, as it does not concern the
    subject that the text is read as.
    """
    for each in rows:
        for entry in _reachable_entries(each):
            key, value = _RECORDS[entry["type"]](entry, bodies)
            yield key, value, entry.get("ts", each["ts"])


def ids(rows: Iterable[Mapping[str, Any]]) -> set[BodyKey]:
    """Every id that their records speak of."""
    entries = (entry for each in rows for entry in _reachable_entries(each))
    return {
        BodyKey(entry["context"], SchemaId(entry["id"]))
        for entry in entries
        if entry["type"] == "SCHEMA" and entry["id"] is not None
    }


def buried_ids(rows: Iterable[Mapping[str, Any]]) -> set[BodyKey]:
    """Those that an import brought without a version: no record speaks of them."""
    entries = (entry for each in rows for entry in each["entries"] if entry["type"] == "BURIED")
    return {BodyKey(entry["context"], SchemaId(entry["id"])) for entry in entries}


def numbered_contexts(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Contexts whose numbering was set, whether or not anything is in them."""
    return {entry["context"] for each in rows for entry in each["entries"] if entry["type"] == "NUMBERING"}


def _reachable_entries(row: Mapping[str, Any]) -> Iterator[Entry]:
    """Those of `_schemas`."""
    return (
        entry
        for entry in row["entries"]
        if entry["type"] not in _APART and ("name" not in entry or names.is_reachable(_subject(entry)))
    )


def _subject(entry: Entry) -> Subject:
    return Subject(entry["context"], entry["name"])


def _schema_record(entry: Entry, bodies: Bodies) -> topic.Pair:
    body = None
    if entry["id"] is not None:
        body = bodies.get(BodyKey(entry["context"], SchemaId(entry["id"])))
    return topic.schema_record(
        _subject(entry), entry["version"], entry["id"], body.schema if body else None, deleted=entry["deleted"]
    )


_RECORDS: dict[str, Callable[[Entry, Bodies], topic.Pair]] = {
    "CONTEXT": lambda entry, _: topic.context_record(entry["context"], listed=entry["listed"]),
    "SCHEMA": _schema_record,
    "DELETE_SUBJECT": lambda entry, _: topic.delete_subject_record(_subject(entry), entry["version"]),
    "CLEAR_SUBJECT": lambda entry, _: topic.clear_subject_record(_subject(entry)),
    "CONFIG": lambda entry, _: topic.config_record(_subject(entry), entry["config"]),
    "MODE": lambda entry, _: topic.mode_record(_subject(entry), entry["mode"]),
    "ASSOC": lambda entry, _: topic.pair(entry["key"], entry["association"]),
    "NUMBERING": lambda entry, _: topic.noop_record({"context": entry["context"], "continueAfter": entry["after"]}),
    "BURIED": lambda entry, _: topic.noop_record(
        {"subject": _subject(entry).qualified, "version": entry["version"], "buried": entry["id"]}
    ),
}
