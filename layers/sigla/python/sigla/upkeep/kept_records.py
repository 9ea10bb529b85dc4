"""Keys and associations in a scrub: as records of Confluent's topics, which name each of them in one way.

The record's key is what a flaw tells them by; of its value the relations have a digest alone, as a KEK's settings may
hold credentials.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from sigla.associations import records as association_records
from sigla.associations.nouns import Association
from sigla.changes import KekChanged
from sigla.keks import records as key_records
from sigla.keks.nouns import Algorithm, Dek, DekName, Kek, named
from sigla.ports.inventory import UNFIT, UnreadableRow
from sigla.ports.journal import Journal
from sigla.ports.store import Store
from sigla.registry.steps.committing import nonce
from sigla.rules import names
from sigla.upkeep.told_rows import told_rows

UNREADABLE: Final = "UNREADABLE"
ASSOC: Final = "ASSOC"
KINDS: Final = (key_records.KEK, key_records.DEK, ASSOC)
_POSITION: Final = "position "
"""Stands before the number of a row of the journal."""

Facts = tuple[Any, ...]
Json = Mapping[str, Any]


class KeptRecord(NamedTuple):
    """What a store keeps of one key or association. key, value: of its record; ts: of its last write."""

    key: Json
    value: Json
    ts: int

    @property
    def name(self) -> str:
        return _record_name(self.key)

    @property
    def value_digest(self) -> str:
        return _digest(self.value)

    @property
    def material(self) -> str:
        return _material(self.value)


def record_of(kept: Kek | Dek | Association) -> KeptRecord:
    if isinstance(kept, Kek):
        return KeptRecord(key_records.kek_key(kept.name), key_records.kek_value(kept), kept.ts)
    if isinstance(kept, Dek):
        return KeptRecord(key_records.dek_key(kept), key_records.dek_value(kept), kept.ts)
    return KeptRecord(association_records.key(kept), association_records.value(kept), kept.updated)


def about(record: str) -> str:
    """What a record is about, for people; any text but a record's key comes back as it is."""
    try:
        key = orjson.loads(record)
    except ValueError:
        return record
    if not isinstance(key, dict):
        return record
    match key.get("type"):
        case key_records.KEK:
            return f"KEK {key['name']}"
        case key_records.DEK:
            dek = f"{key['subject']} {key['algorithm']} version {key['version']}"
            return f"DEK {dek} under KEK {key['kekName']}"
    topic = f"{key['resourceType']} {key['resourceNamespace']}/{key['resourceName']}"
    return f"the association of the {key['associationType']} of {topic} with {key['subject']}"


# --- gathering -------------------------------------------------------------------------------------------------------


def kept_facts(store: Store) -> Iterator[Facts]:
    """Rows of `kept`: keys first, as a KEK is written before its DEKs."""
    since = store.inventory.journal_kept_since()
    for kept in store.inventory.key_rows():
        if isinstance(kept, UnreadableRow):
            yield _unreadable(kept)
            continue
        record = record_of(kept)
        tail = record.value_digest, record.ts >= since, record.material
        if isinstance(kept, Kek):
            counted = store.catalog.deks_counted(kept.name)
            yield key_records.KEK, record.name, record.name, *counted, "", "", kept.deleted, False, True, *tail
        else:
            kek = _record_name(key_records.kek_key(kept.kek))
            yield key_records.DEK, record.name, kek, 0, 0, "", kept.subject, kept.deleted, False, True, *tail
    for one in store.inventory.association_rows():
        if isinstance(one, UnreadableRow):
            yield _unreadable(one)
        elif names.is_reachable(one.subject):
            record = record_of(one)
            place = one.subject.context, one.subject.name, False, one.strong, _is_whole(store, one)
            yield ASSOC, record.name, "", 0, 0, *place, record.value_digest, record.ts >= since, ""


def _unreadable(row: UnreadableRow) -> Facts:
    return UNREADABLE, row.place, "", 0, 0, "", "", False, False, True, "", False, ""


def listed_dek_facts(store: Store) -> Iterator[Facts]:
    for listed in store.catalog.deks_listed():
        yield _record_name(key_records.kek_key(listed.kek)), listed.subject, listed.deleted


def told_record_facts(journal: Journal) -> Iterator[Facts]:
    """The journal's entries about keys and associations, numbered; a digest of None: gone.

    A row that cannot be read has its position as its record.
    """
    number = 0
    for position, row in told_rows(journal):
        if row is None:
            yield number, UNREADABLE, f"{_POSITION}{position}", None, ""
            number += 1
        for kind, key, value, _ in _entries(row):
            yield (
                number,
                kind,
                _record_name(key),
                *((None, "") if value is None else (_digest(value), _material(value))),
            )
            number += 1


def _told_entries(journal: Journal) -> Iterator[tuple[str, Json, Json | None, int]]:
    for _, row in told_rows(journal):
        yield from _entries(row)


def _entries(row: Mapping[str, Any] | None) -> Iterator[tuple[str, Json, Json | None, int]]:
    for entry in row["entries"] if row else ():
        if row and entry["type"] in KINDS:
            value = entry["association"] if entry["type"] == ASSOC else entry["value"]
            yield entry["type"], entry["key"], value, entry.get("ts", row["ts"])


# --- looking again ---------------------------------------------------------------------------------------------------


def standing_record(store: Store, record: str) -> Kek | Dek | Association | None:
    """What stands in the catalog under a record's key."""
    key = orjson.loads(record)
    if key.get("type") == key_records.KEK:
        return store.catalog.kek(key["name"])
    if key.get("type") == key_records.DEK:
        name = DekName(key["kekName"], named(key["subject"]), Algorithm(key["algorithm"]))
        # A subject may have two spellings: the journal tells the one under which the DEK stands.
        found = store.catalog.deks_of(name, key["version"]).deks
        return next((dek for dek in found if dek.subject == key["subject"]), None)
    return association_of(store, record)


def is_missing(store: Store, record: str) -> bool:
    return standing_record(store, record) is None


def is_standing(store: Store, record: str) -> bool:
    return standing_record(store, record) is not None


def association_of(store: Store, record: str) -> Association | None:
    """The association of a record's key, wherever it stands.

    Raises ValueError where it is not found, and something that cannot be read may be it.
    """
    key = orjson.loads(record)
    told = association_records.key_of(key)
    asked: tuple[Callable[[], Iterable[Association | UnreadableRow]], ...] = (
        lambda: store.catalog.associations_named(key["resourceName"], key["resourceNamespace"]),
        lambda: store.catalog.associations_of_subject(told[-1]),
        store.inventory.association_rows,
    )
    unreadable = False
    for ask in asked:
        for one in _as_far_as_readable(ask):
            if isinstance(one, UnreadableRow):
                unreadable = True
            elif association_records.key_of(association_records.key(one)) == told:
                return one
    if unreadable:
        raise ValueError(record)
    return None


def _as_far_as_readable(
    ask: Callable[[], Iterable[Association | UnreadableRow]],
) -> Iterator[Association | UnreadableRow]:
    try:
        yield from ask()
    except UNFIT as problem:
        yield UnreadableRow(str(problem))


def _readable_associations(store: Store) -> Iterator[Association]:
    return (one for one in store.inventory.association_rows() if not isinstance(one, UnreadableRow))


def _is_whole(store: Store, one: Association) -> bool:
    """Not where a question for it meets a row that cannot be read: that question fails."""
    try:
        return store.inventory.is_whole(one)
    except UNFIT:
        return False


def differing(store: Store, records: Iterable[str]) -> set[str]:
    """Those of the records of which the journal's last word is another one than what stands.

    What stands is looked at before and after the journal: it is compared only where no writer has come between.
    """
    before = {record: _digest_of(standing_record(store, record)) for record in records}
    last: dict[str, str | None] = dict.fromkeys(before)
    for _, _, record, digest, _ in told_record_facts(store.journal):
        if record in last:
            last[record] = digest
    after = {record: _digest_of(standing_record(store, record)) for record in before}
    return {record for record, digest in before.items() if after[record] == digest != last[record]}


def _digest_of(kept: Kek | Dek | Association | None) -> str | None:
    return None if kept is None else record_of(kept).value_digest


def is_kek_missing(store: Store, record: str) -> bool:
    """A DEK before, none of its KEK, and the same DEK after: a KEK is written before its DEKs, and goes after them."""
    name = orjson.loads(record)["name"]
    before = _revisions(store, name)
    return bool(before) and store.catalog.kek(name) is None and bool(before & _revisions(store, name))


def _revisions(store: Store, kek: str) -> set[tuple[DekName, int, str]]:
    return {(dek.name, dek.version, dek.revision) for dek in store.catalog.deks(kek)}


def is_miscounted(store: Store, record: str) -> bool:
    """Whether counts or lists say otherwise than the DEKs of a KEK. A writer in between makes it look so."""
    name = orjson.loads(record)["name"]
    deks = list(store.catalog.deks(name))
    listed = {(each.subject, each.deleted) for each in store.catalog.deks_listed() if each.kek == name}
    if listed != {(dek.subject, dek.deleted) for dek in deks}:
        return True
    counted = store.catalog.deks_counted(name)
    return store.catalog.kek(name) is not None and counted != (len(deks), sum(not dek.deleted for dek in deks))


def is_unreadable(store: Store, place: str) -> bool:
    inventory = store.inventory
    rows = (*inventory.key_rows(), *inventory.association_rows(), *inventory.exporter_rows())
    return UnreadableRow(place) in rows


def is_told_unreadable(store: Store, record: str) -> bool:
    position = int(record.removeprefix(_POSITION))
    return next(told_rows(store.journal, position - 1), None) == (position, None)


def is_scattered(store: Store, record: str) -> bool:
    one = association_of(store, record)
    return one is not None and not _is_whole(store, one)


def is_without_subject(store: Store, record: str) -> bool:
    """The association before and after: no subject of one loses its last version."""
    before = association_of(store, record)
    if before is None or store.catalog.snapshot(before.subject).head.newest is not None:
        return False
    return association_of(store, record) == before


def is_shared(store: Store, record: str) -> bool:
    """Whether a subject that belongs to a topic alone is used by others as well."""
    one = association_of(store, record)
    if one is None or not one.strong:
        return False
    others = any(each != one and each.subject == one.subject for each in _readable_associations(store))
    used = others or next(store.catalog.referrers(one.subject), None) is not None
    return used and association_of(store, record) == one


# --- putting right ---------------------------------------------------------------------------------------------------


def put_kek_back(store: Store, record: str) -> bool:
    """As the journal told it last; False where it told something else, or that the KEK is gone for good."""
    name = orjson.loads(record)["name"]
    told = [(value, ts) for _, key, value, ts in _told_entries(store.journal) if _record_name(key) == record]
    if not told or (last := told[-1])[0] is None:
        return False
    value, ts = last
    mark = nonce()
    try:
        kek = key_records.kek({**(value or {}), "ts": ts, "revision": mark})
    except UNFIT:
        return False
    if kek.name != name:
        return False
    if store.catalog.kek(name) is None:
        store.catalog.commit(KekChanged(name, None, kek, store.clock.now(), mark))
    store.inventory.recount_deks(name, store.clock.now())
    return True


def recount(store: Store, record: str) -> None:
    store.inventory.recount_deks(orjson.loads(record)["name"], store.clock.now())


def make_whole(store: Store, record: str) -> bool:
    """False where a row beside it cannot be read, which a person has to put right first."""
    try:
        one = association_of(store, record)
        return one is None or store.inventory.make_whole(one, store.clock.now())
    except UNFIT:
        return False


def _record_name(key: Json) -> str:
    return orjson.dumps(key).decode()


def _material(value: Json) -> str:
    """A digest of what a DEK encrypts with; empty for anything else, and for a DEK without."""
    material = value.get("encryptedKeyMaterial")
    return "" if material is None else _digest({"material": material})


def _digest(value: Json) -> str:
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()
