"""What stands in a registry as records of `_schemas`: the topic as if nothing had ever been otherwise."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from sigla import journal, records
from sigla.associations import records as association_records
from sigla.journal import Record
from sigla.journal.replay import TopicRecord
from sigla.keks import records as key_records
from sigla.model import BodyKey, Guid, Row, SchemaId, Search, Subject, Version
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.progress import Progress
from sigla.ports.store import Store
from sigla.rules import names
from sigla.upkeep.order import needed_first

JournalRow = Mapping[str, Any]

EVERYTHING = Search(context=None)

Place = tuple[Subject, Version]


Included = Callable[[int, JournalRow], bool]
"""Whether a row of the journal, by its position, is meant."""


def every_row(_: int, __: JournalRow) -> bool:
    """The whole journal."""
    return True


def topic(
    store: Store,
    progress: Progress,
    *,
    compacted: bool = False,
    until: Included = every_row,
    bodies: Bodies | None = None,
) -> Iterator[TopicRecord]:
    """A registry as the topic, with offsets. Where the store does not keep its whole journal, as if compacted.

    bodies: those of the store, where something stands in front of them.
    """
    bodies, ids = bodies or store.bodies, store.inventory.bodies()
    if compacted or store.inventory.journal_kept_since() > 0:
        records = standing(store.catalog, bodies, ids)
    else:
        # A registry that was made by an import has ids of which its own journal never spoke.
        spoken_of = journal.ids(row for _, row in store.journal.read())
        imported = gone(bodies, (key for key in ids if key not in spoken_of))
        records = chain(imported, journal.records(_rows(store, until), bodies))
    return _numbered(records, progress)


def key_topic(
    store: Store, progress: Progress, *, compacted: bool = False, until: Included = every_row
) -> Iterator[TopicRecord]:
    """The same of keys of field encryption, as the topic `_dek_registry_keys`."""
    if compacted or store.inventory.journal_kept_since() > 0:
        return _numbered(standing_keys(store.catalog), progress)
    return _numbered(journal.key_records_of(_rows(store, until)), progress)


def _rows(store: Store, until: Included) -> Iterator[JournalRow]:
    return (row for position, row in store.journal.read() if until(position, row))


def _numbered(records: Iterable[Record], progress: Progress) -> Iterator[TopicRecord]:
    for offset, (key, value, ts) in enumerate(records):
        progress("records", offset)
        yield TopicRecord(key, value, ts, offset)


def unspeakable(store: Store) -> str:
    """Why a topic cannot say what is kept, as two sentences; empty if it can.

    A record names a subject by its text, and two of one text would become one.
    """
    for named in store.inventory.second_names():
        return (
            f"{named} is kept in context {named.context} too, under a name that is read as another subject's."
            " Call `sigla scrub --fix SECOND_NAME` first."
        )
    return ""


def standing(catalog: Catalog, bodies: Bodies, ids: Iterable[BodyKey] = ()) -> Iterator[Record]:
    """Contexts, versions (what is referenced before what refers), settings, which bear no time, then associations.

    A soft-deleted version says so itself. What is changed meanwhile is told as it was or as it is. ids: all that have a
    body: those without a holder are told first, and that they are gone; those that were displaced as the versions that
    they were, right before those which were written over them.
    """
    for context in catalog.contexts():
        yield *records.context_record(context, listed=True), 0
    rows = list(catalog.versions(EVERYTHING, deleted=True, latest_only=False))
    held = {BodyKey(subject.context, row.id) for subject, row in rows}
    unheld = [key for key in ids if key not in held]
    over = _written_over(catalog, unheld)
    yield from gone(bodies, set(unheld).difference(*over.values()))
    versions = {(subject, row.version): row for subject, row in _ordered(catalog, bodies, rows, over)}
    for subject, version in needed_first(versions, lambda place: _referenced(place, versions)):
        row = versions[subject, version]
        for key, ts in over.get((subject, version), {}).items():
            yield *records.schema_record(subject, version, key.id, bodies.get(key).schema, deleted=False), ts
        schema = bodies.get(BodyKey(subject.context, row.id)).schema
        yield *records.schema_record(subject, version, row.id, schema, deleted=row.deleted), row.ts
    for scope, settings in catalog.settings(EVERYTHING):
        if settings.config is not None:
            yield *records.config_record(scope, records.config_json(settings.config)), 0
        if settings.mode is not None:
            yield *records.mode_record(scope, settings.mode), 0
    for one in catalog.associations_named():
        if names.is_reachable(one.subject):
            yield *records.pair(association_records.key(one), association_records.value(one)), one.updated


def standing_keys(catalog: Catalog) -> Iterator[Record]:
    """The topic `_dek_registry_keys`, likewise: each KEK, then the DEKs under it."""
    for kek in catalog.keks():
        yield *records.pair(key_records.kek_key(kek.name), key_records.kek_value(kek)), kek.ts
        for dek in sorted(catalog.deks(kek.name), key=lambda dek: (dek.subject, dek.algorithm.value, dek.version)):
            yield *records.pair(key_records.dek_key(dek), key_records.dek_value(dek)), dek.ts


def gone(bodies: Bodies, ids: Iterable[BodyKey]) -> Iterator[Record]:
    """What these ids meant, as far as they are tombstones: each is written by the first who had it, and purged.

    So is what a second name had, under a name that is read as it stands.
    """
    for body, key in ((bodies.get(key), key) for key in ids):
        reachable = names.is_reachable(body.subject)
        if body.gone or not reachable:
            subject = body.subject if reachable else Subject(key.context, body.subject.name.lstrip(":"))
            yield *records.schema_record(subject, body.version, key.id, body.schema, deleted=False), body.ts
            yield *records.schema_record(subject, body.version, None, None, deleted=False), body.ts


def _written_over(catalog: Catalog, unheld: Iterable[BodyKey]) -> dict[Place, dict[BodyKey, int]]:
    """By their places the ids that were displaced, each with the time of its version, in the order of writing."""
    found = [(holder, key) for key in unheld if (holder := catalog.displaced(key)) is not None]
    over: dict[Place, dict[BodyKey, int]] = defaultdict(dict)
    for holder, key in sorted(found, key=lambda each: each[0].revision):
        over[holder.subject, holder.version][key] = holder.ts
    return over


def _ordered(
    catalog: Catalog, bodies: Bodies, found: list[tuple[Subject, Row]], over: Mapping[Place, Iterable[BodyKey]]
) -> list[tuple[Subject, Row]]:
    """As they were written, as far as is known. The id that stands for a content comes last of its ids."""
    displaced = {key: (key.context, bodies.get(key).guid) for keys in over.values() for key in keys}
    ids: dict[tuple[str, Guid], set[SchemaId]] = defaultdict(set)
    for subject, row in found:
        ids[subject.context, row.guid].add(row.id)
    for key, content in displaced.items():
        ids[content].add(key.id)
    known = {content: catalog.id_of(*content) for content, several in ids.items() if len(several) > 1}
    late = {place for place, keys in over.items() if any(known.get(displaced[key]) == key.id for key in keys)}

    def order(each: tuple[Subject, Row]) -> tuple[bool, int, int]:
        subject, row = each
        is_last = known.get((subject.context, row.guid)) == row.id or (subject, row.version) in late
        return is_last, row.ts, row.revision

    return sorted(found, key=order)


def _referenced(place: Place, versions: Mapping[Place, Row]) -> Iterator[Place]:
    subject, _ = place
    for reference in versions[place].references:
        yield names.reference_target(reference.subject, subject.context), reference.version
