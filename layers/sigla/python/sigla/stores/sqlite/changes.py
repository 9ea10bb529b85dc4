"""What each change does to the tables: first all it saw is compared, then all is written.

Every function is called inside a step, so that whatever one of them raises leaves nothing behind.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import orjson

from sigla import keys, records
from sigla.changes import (
    AssociationsChanged,
    Change,
    ConfigChanged,
    ContextDropped,
    ContextListed,
    DeksChanged,
    Displaced,
    ExporterChanged,
    Head,
    IdBuried,
    ImportBegun,
    Imported,
    ImportedVersion,
    KekChanged,
    ModeChanged,
    NumberingSet,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.changes.conflicts import GoneMeanwhile
from sigla.errors import Conflict
from sigla.journal import NO_EFFECTS, Effects
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId, Search, Settings, Subject
from sigla.stores.sqlite import associations, exporters, keks, rows
from sigla.stores.sqlite.lists import Where, within
from sigla.stores.sqlite.versions import (
    bump,
    displace,
    displaced_from,
    insert,
    is_stored,
    know,
    make_subject,
    remove,
    stored,
)


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """What a change did: ids whose holders it touched, ids it buried, and what the journal has to know."""

    touched: set[BodyKey] = field(default_factory=set)
    buried: tuple[BodyKey, ...] = ()
    effects: Effects = NO_EFFECTS


def apply(db: sqlite3.Connection, change: Change) -> ChangeOutcome:
    """Raises Conflict, and InvalidSubject for a name that is too long to be stored."""
    match change:
        case Registered():
            return _register(db, change)
        case Imported():
            return _import(db, change)
        case Displaced():
            return _displace(db, change)
        case VersionDeleted():
            return _delete_version(db, change)
        case SubjectDeleted():
            return _delete_subject(db, change)
        case VersionPurged():
            return _purge_version(db, change)
        case SubjectPurged():
            return _purge_subject(db, change)
        case ConfigChanged():
            return _change_config(db, change)
        case ModeChanged():
            return _change_mode(db, change)
        case ImportBegun():
            return _begin_import(db, change)
        case ContextListed():
            return _list(db, change)
        case ContextDropped():
            return _drop_context(db, change)
        case NumberingSet():
            return _set_numbering(db, change)
        case IdBuried():
            return ChangeOutcome()
        case KekChanged():
            keks.change_kek(db, change)
            return ChangeOutcome()
        case DeksChanged():
            keks.change_deks(db, change)
            return ChangeOutcome()
        case AssociationsChanged():
            return _change_associations(db, change)
        case ExporterChanged():
            exporters.change_exporter(db, change)
            return ChangeOutcome()
        case _:
            assert_never(change)


# --- comparing -------------------------------------------------------------------------------------------------------


def _agree(db: sqlite3.Connection, head: Head, *, referred: bool = False) -> int:
    """The subject's number (made if need be), if its head is as it was seen; else Conflict."""
    number = make_subject(db, head.subject)
    found = db.execute("SELECT revision, referred FROM subject WHERE num = ?", (number,)).fetchone()
    if found[0] != head.revision or (referred and found[1] != head.referred):
        raise Conflict
    return number


def _agree_settings(db: sqlite3.Connection, scope: Subject, seen: Settings) -> None:
    if rows.settings_of(db, scope).revision != seen.revision:
        raise Conflict


def _agree_content(db: sqlite3.Connection, key: BodyKey, change: Registered) -> None:
    """One content, one live id; and no id comes back from the dead unless its own content is imported under it."""
    is_buried = bool(db.execute("SELECT 1 FROM buried WHERE context = ? AND id = ?", key).fetchone())
    if change.lives and is_buried:
        raise GoneMeanwhile(key)
    if change.imported:
        _revive(db, key)
        return
    if is_buried:
        raise Conflict
    if rows.id_of(db, key.context, change.row.guid) not in {None, key.id}:
        raise Conflict


def _revive(db: sqlite3.Connection, key: BodyKey) -> None:
    db.execute("DELETE FROM buried WHERE context = ? AND id = ?", (key.context, key.id))


# --- versions --------------------------------------------------------------------------------------------------------


def _register(db: sqlite3.Connection, change: Registered) -> ChangeOutcome:
    subject, row = change.head.subject, change.row
    keys.check_length(subject)
    key = BodyKey(subject.context, row.id)
    number = _agree(db, change.head, referred=bool(change.purged))
    for seen in change.seen:
        _agree(db, seen)
    _agree_content(db, key, change)
    standing = rows.stored(db, subject, row.version)
    superseded = [purged.version for purged in change.purged]
    removed = remove(db, number, [*superseded, row.version])
    insert(db, number, subject, [ImportedVersion(row, change.targets, change.digests)])
    bump(db, number, change.nonce)
    touched = {row.id, *removed, *displaced_from(db, number, superseded)}
    if standing is not None and not rows.is_held(db, subject.context, standing.id):
        displace(db, number, subject.context, standing)
        removed.discard(standing.id)
    buried = _bury(db, subject.context, removed)
    return ChangeOutcome(_keys(subject, touched), buried, Effects(listed=_list_context(db, subject.context)))


def _import(db: sqlite3.Connection, change: Imported) -> ChangeOutcome:
    subject = change.head.subject
    keys.check_length(subject)
    number = _agree(db, change.head)
    for seen in change.seen:
        _agree(db, seen)
    numbers = [each.row.version for each in change.versions]
    if stored(db, number, numbers):
        raise Conflict
    touched = {BodyKey(subject.context, each.row.id) for each in change.versions}
    for key in touched:
        _revive(db, key)
    insert(db, number, subject, change.versions)
    bump(db, number, change.nonce)
    return ChangeOutcome(touched, effects=Effects(listed=_list_context(db, subject.context)))


def _displace(db: sqlite3.Connection, change: Displaced) -> ChangeOutcome:
    subject, row = change.head.subject, change.row
    keys.check_length(subject)
    number = _agree(db, change.head)
    key = BodyKey(subject.context, row.id)
    if rows.is_held(db, *key):
        raise Conflict
    _revive(db, key)
    if change.known:
        know(db, subject.context, row)
    else:
        db.execute("INSERT OR IGNORE INTO content VALUES (?, ?, ?, FALSE, FALSE)", (row.guid, *key))
    displace(db, number, subject.context, row)
    bump(db, number, change.nonce)
    return ChangeOutcome({key})


def _delete_version(db: sqlite3.Connection, change: VersionDeleted) -> ChangeOutcome:
    number = _agree(db, change.head, referred=True)
    db.execute(
        "UPDATE version SET deleted = TRUE, ts = ?, revision = ? WHERE subject = ? AND version = ?",
        (change.ts, change.revision, number, change.row.version),
    )
    bump(db, number, change.nonce)
    return ChangeOutcome({BodyKey(change.head.subject.context, change.row.id)})


def _delete_subject(db: sqlite3.Connection, change: SubjectDeleted) -> ChangeOutcome:
    number = _agree(db, change.head, referred=True)
    hidden = db.execute(
        "UPDATE version SET deleted = TRUE WHERE subject = ? AND version <= ? AND NOT deleted RETURNING id",
        (number, change.through),
    ).fetchall()
    bump(db, number, change.nonce)
    return ChangeOutcome({BodyKey(change.head.subject.context, id) for (id,) in hidden})


def _purge_version(db: sqlite3.Connection, change: VersionPurged) -> ChangeOutcome:
    number = _agree(db, change.head, referred=True)
    silenced = displaced_from(db, number, [change.row.version])
    removed = remove(db, number, [change.row.version])
    bump(db, number, change.nonce)
    return _purged(db, change, removed, silenced, wholly=not is_stored(db, number))


def _purge_subject(db: sqlite3.Connection, change: SubjectPurged) -> ChangeOutcome:
    number = _agree(db, change.head, referred=True)
    silenced = displaced_from(db, number, _numbers(db, number))
    removed = remove(db, number, None)
    bump(db, number, change.nonce, generations=1)
    return _purged(db, change, removed, silenced, wholly=True)


def _purged(
    db: sqlite3.Connection,
    change: VersionPurged | SubjectPurged,
    removed: set[SchemaId],
    silenced: set[SchemaId],
    *,
    wholly: bool,
) -> ChangeOutcome:
    """silenced: ids that were displaced from what is removed: nothing stands in their place any more."""
    subject = change.head.subject
    effects = _drop_settings(db, subject, change.nonce) if wholly else NO_EFFECTS
    return ChangeOutcome(_keys(subject, removed | silenced), _bury(db, subject.context, removed), effects)


def _keys(subject: Subject, ids: Iterable[SchemaId]) -> set[BodyKey]:
    return {BodyKey(subject.context, id) for id in ids}


def _bury(db: sqlite3.Connection, context: str, removed: set[SchemaId]) -> tuple[BodyKey, ...]:
    """Remembers which of the removed ids lost their last holder."""
    lost = sorted({id for id in removed if not rows.is_held(db, context, id)})
    db.executemany("INSERT OR IGNORE INTO buried VALUES (?, ?)", [(context, id) for id in lost])
    return tuple(BodyKey(context, id) for id in lost)


# --- associations ----------------------------------------------------------------------------------------------------


def _change_associations(db: sqlite3.Connection, change: AssociationsChanged) -> ChangeOutcome:
    if associations.of_resource(db, change.resource) != change.seen:
        raise Conflict
    for head in change.heads:
        keys.check_length(head.subject)
        _agree(db, head, referred=change.rests_on_referrers(head.subject))
    outcomes = [_register(db, each) for each in change.registered]
    for one in change.removed:
        associations.remove(db, one)
    outcomes += [_purge_subject(db, each) for each in change.purged]
    moved = {each.scope for each in (*change.registered, *change.purged)}
    for head in change.heads:
        if head.subject not in moved:
            bump(db, make_subject(db, head.subject), change.nonce)
    for one in change.written:
        associations.write(db, make_subject(db, one.subject), one)
    return _together(outcomes)


def _together(outcomes: Sequence[ChangeOutcome]) -> ChangeOutcome:
    """What several changes of one commit did. parts: of the effects, as the journal tells them one by one."""
    return ChangeOutcome(
        {key for each in outcomes for key in each.touched},
        tuple(key for each in outcomes for key in each.buried),
        Effects(parts=tuple(each.effects for each in outcomes)),
    )


# --- contexts and settings -------------------------------------------------------------------------------------------


def _list_context(db: sqlite3.Connection, context: str) -> bool:
    """Whether the context was not listed before; the default context never is."""
    if context == DEFAULT_CONTEXT:
        return False
    listed = db.execute(
        "INSERT INTO context VALUES (?, ?, 0, TRUE) ON CONFLICT (name) DO UPDATE SET listed = TRUE WHERE NOT listed",
        (context, keys.utf16(context)),
    )
    return listed.rowcount > 0


def _list(db: sqlite3.Connection, change: ContextListed) -> ChangeOutcome:
    keys.check_length(Subject(change.context, ""))
    _list_context(db, change.context)
    return ChangeOutcome()


def _drop_context(db: sqlite3.Connection, change: ContextDropped) -> ChangeOutcome:
    if _in_scope(db, Search(context=change.context)):
        raise Conflict
    db.execute("UPDATE context SET listed = FALSE WHERE name = ?", (change.context,))
    return ChangeOutcome()


def _set_numbering(db: sqlite3.Connection, change: NumberingSet) -> ChangeOutcome:
    keys.check_length(Subject(change.context, ""))
    found = db.execute("SELECT given FROM context WHERE name = ?", (change.context,)).fetchone()
    if (found[0] if found else 0) != change.seen:
        raise Conflict
    db.execute(
        "INSERT INTO context VALUES (?, ?, ?, FALSE) ON CONFLICT (name) DO UPDATE SET given = excluded.given",
        (change.context, keys.utf16(change.context), change.after),
    )
    return ChangeOutcome()


def _drop_settings(db: sqlite3.Connection, subject: Subject, nonce: str) -> Effects:
    """Removes both entries; the revision that stays lets no writer pass over a purge unseen."""
    before = rows.settings_of(db, subject)
    db.execute(
        "UPDATE settings SET config = NULL, mode = NULL, revision = ? WHERE key = ?", (nonce, rows.subject_key(subject))
    )
    return Effects(config=before.config is not None, mode=before.mode is not None)


def _change_config(db: sqlite3.Connection, change: ConfigChanged) -> ChangeOutcome:
    _agree_settings(db, change.scope, change.seen)
    form = None if change.config is None else orjson.dumps(records.config_json(change.config)).decode()
    _set(db, change.scope, "config", form, change.nonce)
    return ChangeOutcome()


def _change_mode(db: sqlite3.Connection, change: ModeChanged) -> ChangeOutcome:
    _agree_settings(db, change.scope, change.seen)
    _set(db, change.scope, "mode", change.mode, change.nonce)
    return ChangeOutcome()


def _set(db: sqlite3.Connection, scope: Subject, column: str, value: str | None, nonce: str) -> None:
    keys.check_length(scope)
    db.execute(
        f"INSERT INTO settings (key, context, name, {column}, revision) VALUES (?, ?, ?, ?, ?)"
        f" ON CONFLICT (key) DO UPDATE SET {column} = excluded.{column}, revision = excluded.revision,"
        " context = excluded.context, name = excluded.name",
        (rows.subject_key(scope), scope.context, scope.name, value, nonce),
    )


def _begin_import(db: sqlite3.Connection, change: ImportBegun) -> ChangeOutcome:
    _agree_settings(db, change.scope, change.seen)
    found = _in_scope(db, change.search)
    if any(newest for _, _, newest in found) or any(_is_referenced(db, number) for number, *_ in found):
        raise Conflict
    touched, buried, purged = set[BodyKey](), list[BodyKey](), []
    for number, subject, _ in found:
        versions = _numbers(db, number)
        purged += [(subject, version) for version in versions]
        silenced = displaced_from(db, number, versions)
        removed = remove(db, number, None)
        bump(db, number, change.nonce, generations=1)
        touched |= _keys(subject, removed | silenced)
        buried += _bury(db, subject.context, removed)
    _set(db, change.scope, "mode", "IMPORT", change.nonce)
    return ChangeOutcome(touched, tuple(buried), Effects(purged=purged))


def _in_scope(db: sqlite3.Connection, search: Search) -> list[tuple[int, Subject, int | None]]:
    """Number, name and newest version of each stored subject that the search finds."""
    found = []
    for where in within(search, Where(("s.highest",))):
        sql = f"SELECT s.num, s.context, s.name, s.newest FROM subject s WHERE {where} ORDER BY s.key"
        for number, context, name, newest in db.execute(sql, where.parameters):
            found.append((number, Subject(context, name), newest))
    return [each for each in found if search.matches(each[1])]


def _numbers(db: sqlite3.Connection, number: int) -> list[Any]:
    return [version for (version,) in db.execute("SELECT version FROM version WHERE subject = ? ORDER BY 1", (number,))]


def _is_referenced(db: sqlite3.Connection, number: int) -> bool:
    return db.execute("SELECT 1 FROM reference WHERE target = ? LIMIT 1", (number,)).fetchone() is not None
