"""Bodies against catalog against journal: what is missing, different or left over. `mending` puts right what can be.

Three steps. `gather` reads everything, once, in an order in which what is written meanwhile shows itself as a suspect
and never hides one: journal rows come with their version, so the catalog is read before the journal. `suspects` asks
the questions of `flaws`. `confirmed` looks at each suspect again by point reads, in an order in which a writer at work
cannot make it look wrong; what only looks wrong for a moment is given some time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol

from sigla.contract import HIGHEST
from sigla.errors import BodyDamaged, BodyLost, BodyMissing
from sigla.model import Body, BodyKey, Row, SchemaId, Search, Subject, Target, Version
from sigla.ports.bodies import Bodies
from sigla.ports.inventory import UNFIT
from sigla.ports.journal import Journal
from sigla.ports.store import Store
from sigla.ports.subjects import VersionKey
from sigla.rules import names
from sigla.rules.guid import guid_of, is_guid_of
from sigla.upkeep import counters, kept_exporters, kept_histories, kept_records
from sigla.upkeep.flaws import KINDS, Flaw
from sigla.upkeep.told_rows import told_rows

GRACE_MS: Final = 3_600_000
"""What is younger may belong to a change that is under way: a body without a version, credentials that none names."""

SETTLE_S: Final = 7.5
"""How long what settles is waited for, in pauses that double."""

LOOKS: Final = 4
"""At what settles: one after each pause."""

JOURNAL_AHEAD: Final = "JOURNAL_AHEAD"
TOLD_OTHERWISE: Final = ("RECORD_AHEAD", "DEK_ALTERED", "RECORD_GAP")
"""Kinds of which the journal is read once more, for all of them together."""

AT_ONCE: Final = 64
"""Bodies that are read side by side."""

Facts = tuple[Any, ...]
"""A row of one of `flaws.RELATIONS`."""


class Scratch(Protocol):
    """Somewhere to put relations that need not fit into memory, and to ask about them in SQL."""

    def fill(self, relation: str, rows: Iterable[Facts]) -> None: ...
    def ask(self, query: str) -> Iterator[Mapping[str, Any]]: ...


# --- gathering -------------------------------------------------------------------------------------------------------


def gather(store: Store, scratch: Scratch) -> None:
    """Fills all relations. Bodies come first: one that is written later has its version in the catalog's."""
    keys = store.inventory.bodies()
    while some := list(islice(keys, AT_ONCE)):
        found = list(zip(some, read_bodies(store.bodies, some), strict=True))
        scratch.fill("body", [body_facts(key, body) for key, body in found])
        scratch.fill("reference", [facts for key, body in found for facts in reference_facts(key, body)])
    scratch.fill("pointer", ((guid, key.context, key.id) for guid, key in store.inventory.pointers()))
    scratch.fill("version", version_facts(store))
    scratch.fill("told", told_facts(store.journal))
    scratch.fill("second", second_name_facts(store))
    scratch.fill("mark", mark_facts(store))
    scratch.fill("kept", kept_records.kept_facts(store))
    scratch.fill("listed_dek", kept_records.listed_dek_facts(store))
    scratch.fill("told_record", kept_records.told_record_facts(store.journal))
    scratch.fill("credentials", kept_exporters.credentials_facts(store))
    scratch.fill("exporter", kept_exporters.exporter_facts(store))
    scratch.fill("history", kept_histories.history_facts(store))
    scratch.fill("told_commit", kept_histories.told_commit_facts(store))


def read_bodies(bodies: Bodies, keys: Sequence[BodyKey]) -> list[Body | None]:
    """None for an object that is not the body of its key; one whose guid is wrong is there, and not `is_sound`.

    Raises StoreError where the store does not answer.
    """
    try:
        return list(bodies.get_many(keys))
    except BodyLost:
        return [readable(bodies, key) for key in keys]


def body_facts(key: BodyKey, body: Body | None) -> Facts:
    # An object with a higher number belongs to no version, whatever is in it.
    if body is None or key.id > HIGHEST:
        return *key, False, False, None, None, 0
    # For encrypted metadata no hash can be made.
    return *key, body.gone, True, body.guid, body.guid if is_sound(body) else guid_of(body.schema), body.ts


def reference_facts(key: BodyKey, body: Body | None) -> Iterator[Facts]:
    for target in body.targets if body and key.id <= HIGHEST else ():
        yield *key, target.context, target.subject, target.version, target.id


def version_facts(store: Store) -> Iterator[Facts]:
    since = store.inventory.journal_kept_since()
    for subject, row in store.catalog.versions(Search(context=None), deleted=True, latest_only=False):
        yield subject.context, subject.name, row.version, row.id, row.guid, row.deleted, row.ts >= since


def told_facts(journal: Journal, after: int = 0) -> Iterator[Facts]:
    number = 0
    for _, form in told_rows(journal, after):
        for entry in _entries(form):
            if entry["type"] == "SCHEMA":
                number += 1
                yield number, entry["context"], entry["name"], entry["version"], entry["id"]


def second_name_facts(store: Store) -> Iterator[Facts]:
    """A journal may know of one that is only missed where it was taken away."""
    entries = (
        Subject(each["context"], each["name"])
        for _, form in told_rows(store.journal)
        for each in _entries(form)
        if "name" in each
    )
    known = (named for named in entries if not names.is_reachable(named))
    yield from ((named.context, named.name) for named in store.inventory.second_names(known))


def mark_facts(store: Store) -> Iterator[Facts]:
    if store.marks:
        yield store.marks.catalog.read(), store.marks.bodies.read()


def _entries(form: Mapping[str, Any] | None) -> Iterable[Mapping[str, Any]]:
    return form["entries"] if form else ()


def is_sound(body: Body) -> bool:
    """Whether its guid is the hash of its content. Only then is it one to be found by."""
    return is_guid_of(body.guid, body.schema)


def readable(bodies: Bodies, key: BodyKey) -> Body | None:
    """None for an object that is not a body, or gone since it was listed: then looking again finds nothing wrong."""
    try:
        return bodies.get(key)
    except BodyMissing:
        return None
    except BodyDamaged as damaged:
        return damaged.body


# --- suspecting ------------------------------------------------------------------------------------------------------


def suspects(scratch: Scratch, kinds: Iterable[str] = KINDS) -> Iterator[Flaw]:
    for kind in kinds:
        yield from (suspect(kind, found) for found in scratch.ask(KINDS[kind].query))


def suspect(kind: str, found: Mapping[str, Any]) -> Flaw:
    """found: an answer to the kind's query."""
    target = [found.get(f"target_{part}") for part in ("context", "subject", "version", "id")]
    resolved = Target(*target) if target[0] is not None else None  # type: ignore[arg-type]  # columns are not typed
    place = (found["context"], found.get("id"), found.get("subject"), found.get("version"))
    return Flaw(kind, *place, resolved, found.get("guid"), found.get("record"))


# --- looking again ---------------------------------------------------------------------------------------------------


def confirmed(
    store: Store, found: Iterable[Flaw], *, grace_ms: int = GRACE_MS, settle_s: float = SETTLE_S
) -> Iterator[Flaw]:
    """Those that are still so, in the order found; those that settle are looked at again and again first.

    settle_s: for how long; 0 where nothing is written meanwhile.
    """
    look = _Look(store, store.clock.now() - grace_ms)
    waiting, ahead, otherwise = list[Flaw](), list[Flaw](), list[Flaw]()
    for flaw in found:
        if not look.at(flaw):
            continue
        if flaw.kind in TOLD_OTHERWISE:
            otherwise.append(flaw)
        elif KINDS[flaw.kind].settles:
            waiting.append(flaw)
        elif flaw.kind == JOURNAL_AHEAD:
            ahead.append(flaw)
        else:
            yield flaw
    if ahead:
        yield from _still_told(store.journal, ahead)
    if otherwise:
        wrong = kept_records.differing(store, {flaw.record or "" for flaw in otherwise})
        yield from (flaw for flaw in otherwise if flaw.record in wrong)
    for number in range(LOOKS if waiting else 0):
        store.clock.sleep(settle_s * 2**number / (2**LOOKS - 1))
        waiting = [flaw for flaw in waiting if look.at(flaw)]
    yield from waiting


@dataclass(frozen=True, slots=True)
class _Look:
    """before: when a body, or credentials, must have been written to be suspected of belonging to nothing."""

    store: Store
    before: int

    def at(self, flaw: Flaw) -> bool:
        return _CHECKS[flaw.kind](self, flaw)

    def row(self, subject: Subject, version: Version) -> Row | None:
        return row_of(self.store, subject, version)

    def held_row(self, flaw: Flaw) -> Row | None:
        """The version that the flaw is about, if it still has the id."""
        row = self.row(flaw.owner, flaw.version or Version(0))
        return row if row is not None and row.id == flaw.id else None

    def body(self, key: BodyKey) -> Body | None:
        return readable(self.store.bodies, key)

    def is_there(self, key: BodyKey) -> bool:
        with suppress(BodyDamaged):
            try:
                self.store.bodies.get(key)
            except BodyMissing:
                return False
        return True

    def is_buried(self, key: BodyKey) -> bool:
        return key in self.store.inventory.buried((key,))


def row_of(store: Store, subject: Subject, version: Version) -> Row | None:
    key = VersionKey(subject, version)
    return store.catalog.snapshot(subject, wanted=(key,)).rows.get(key)


def _meta_no_object(look: _Look, flaw: Flaw) -> bool:
    """The row first: where it is, its body was there before it."""
    return look.held_row(flaw) is not None and not look.is_there(flaw.key)


def _unreadable(look: _Look, flaw: Flaw) -> bool:
    return look.is_there(flaw.key) and (flaw.key.id > HIGHEST or look.body(flaw.key) is None)


def _mismatch(look: _Look, flaw: Flaw) -> bool:
    body = look.body(flaw.key)
    if body is None:
        return False
    if flaw.subject is None:
        return not is_sound(body)
    row = look.held_row(flaw)
    return row is not None and row.guid != body.guid


def _pointer_astray(look: _Look, flaw: Flaw) -> bool:
    """A store may keep the pointers of those who lost an id: it looks at the body before it answers."""
    body, guid = look.body(flaw.key), flaw.guid
    if body is None or guid is None or not is_sound(body):
        return False
    return body.guid != guid and flaw.key in look.store.bodies.named(guid)


def _reference_missing(look: _Look, flaw: Flaw) -> bool:
    target = flaw.target
    return target is not None and not look.is_there(BodyKey(target.context, target.id))


def _row_missing(look: _Look, flaw: Flaw) -> bool:
    return look.row(flaw.owner, flaw.version or Version(0)) is None


def _still_told(journal: Journal, flaws: Sequence[Flaw]) -> Iterator[Flaw]:
    """The rows were missing; now the journal once more: whoever purged one before we looked has said so there."""
    last: dict[tuple[Any, ...], SchemaId | None] = {(each.context, each.subject, each.version): None for each in flaws}
    for _, *place, id in told_facts(journal):
        if tuple(place) in last:
            last[tuple(place)] = id
    yield from (each for each in flaws if last[each.context, each.subject, each.version] == each.id)


def _tombstone_held(look: _Look, flaw: Flaw) -> bool:
    """The body first: an import takes the tombstone away after its commit."""
    body = look.body(flaw.key)
    return body is not None and body.gone and bool(look.store.catalog.holders(flaw.key))


def _unheld(look: _Look, flaw: Flaw) -> Body | None:
    """The living body that no version holds."""
    if look.store.catalog.holders(flaw.key):
        return None
    body = look.body(flaw.key)
    return None if body is None or body.gone else body


def _tombstone_missing(look: _Look, flaw: Flaw) -> bool:
    return _unheld(look, flaw) is not None and look.is_buried(flaw.key)


def _object_no_meta(look: _Look, flaw: Flaw) -> bool:
    if look.store.catalog.displaced(flaw.key) is not None:
        return False
    body = _unheld(look, flaw)
    return body is not None and body.ts < look.before and not look.is_buried(flaw.key)


def _pointer_missing(look: _Look, flaw: Flaw) -> bool:
    body = look.body(flaw.key)
    return body is not None and is_sound(body) and flaw.key not in look.store.bodies.named(body.guid)


def _journal_gap(look: _Look, flaw: Flaw) -> bool:
    """Its row comes with the version, in one commit, so that it was there when the journal was read."""
    return look.held_row(flaw) is not None


def _deleted_but_referenced(look: _Look, flaw: Flaw) -> bool:
    """The target first: as long as a version references it, it may not be deleted."""
    target = flaw.target
    if target is None:
        return False
    row = look.row(Subject(target.context, target.subject), target.version)
    if row is not None and not row.deleted:
        return False
    referrer = look.held_row(flaw)
    return referrer is not None and not referrer.deleted


def _version_gap(look: _Look, flaw: Flaw) -> bool:
    rows = look.store.catalog.history(flaw.owner)
    return bool(rows) and rows[-1].version > len(rows)


def _second_name(look: _Look, flaw: Flaw) -> bool:
    return look.store.inventory.is_kept(flaw.owner)


def _identity_mismatch(look: _Look, _: Flaw) -> bool:
    return any(catalog != bodies for catalog, bodies in mark_facts(look.store))


def _of_record(check: Callable[[Store, str], bool]) -> Callable[[_Look, Flaw], bool]:
    """A row that cannot be read is told as such, and as nothing else."""

    def at(look: _Look, flaw: Flaw) -> bool:
        with suppress(*UNFIT):
            return check(look.store, flaw.record or "")
        return False

    return at


_CHECKS: Mapping[str, Callable[[_Look, Flaw], bool]] = {
    "IDENTITY_MISMATCH": _identity_mismatch,
    "SECOND_NAME": _second_name,
    "META_NO_OBJECT": _meta_no_object,
    "UNREADABLE_OBJECT": _unreadable,
    "HASH_MISMATCH": _mismatch,
    "REFERENCE_MISSING": _reference_missing,
    "POINTER_ASTRAY": _pointer_astray,
    "COUNTER_BEHIND": lambda look, flaw: counters.is_behind(look.store, flaw),
    JOURNAL_AHEAD: _row_missing,
    "TOMBSTONE_HELD": _tombstone_held,
    "TOMBSTONE_MISSING": _tombstone_missing,
    "POINTER_MISSING": _pointer_missing,
    "JOURNAL_GAP": _journal_gap,
    "DELETED_BUT_REFERENCED": _deleted_but_referenced,
    "OBJECT_NO_META": _object_no_meta,
    "VERSION_GAP": _version_gap,
    "JOURNAL_UNREADABLE": _of_record(kept_records.is_told_unreadable),
    "ROW_UNREADABLE": _of_record(kept_records.is_unreadable),
    "KEK_MISSING": _of_record(kept_records.is_kek_missing),
    "KEK_MISCOUNTED": _of_record(kept_records.is_miscounted),
    "ASSOCIATION_WITHOUT_SUBJECT": _of_record(kept_records.is_without_subject),
    "ASSOCIATION_SCATTERED": _of_record(kept_records.is_scattered),
    "SUBJECT_SHARED": _of_record(kept_records.is_shared),
    "RECORD_AHEAD": _of_record(kept_records.is_missing),
    "DEK_ALTERED": _of_record(kept_records.is_standing),
    "RECORD_GAP": _of_record(kept_records.is_standing),
    "CREDENTIALS_MISSING": _of_record(kept_exporters.is_without_credentials),
    "CREDENTIALS_LEFT": lambda look, flaw: kept_exporters.is_left(look.store, flaw.record or "", look.before),
    "CREDENTIALS_UNLISTED": lambda *_: True,
    "PROGRESS_WITHOUT_EXPORTER": _of_record(kept_exporters.is_progress_alone),
    "HISTORY_GAP": lambda look, flaw: kept_histories.is_missing(look.store, flaw),
    "HISTORY_AHEAD": lambda look, flaw: kept_histories.is_ahead(look.store, flaw),
}
