"""What a region has that was passed over by a forced promotion, and its new primary lacks, comes to that primary.

It is told by the journal of that region: the commits that the primary lacks.

    versions whose number is free       are imported, with their ids
    versions whose number is taken      the id goes on meaning what it did there, and no version is invented
    KEKs, DEKs, contexts, associations  are imported where nothing is in their way
    deletes, config, modes, exporters   are told: what the primary has since then is what counts

Nothing that stands is changed. Cut off anywhere, it is done again: what is there by then is found equal.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson

from sigla import journal
from sigla.errors import BodyLost
from sigla.journal.replay import Put, State, TopicRecord, key_of, replayed
from sigla.model import Body, BodyKey, Guid, SchemaId, Subject, Version
from sigla.ports.bodies import Bodies
from sigla.ports.in_front import BodiesInFront, CatalogInFront
from sigla.ports.replaying import Shipment
from sigla.registry.resources import Resources
from sigla.upkeep.importing import AT_ONCE, CONFLICTING, Group, Report, import_state
from sigla.upkeep.importing.versions import OTHER_VERSION, named
from sigla.upkeep.left_behind import left_behind, place_of

_TRIES: Final = 8


class Rejoined(NamedTuple):
    """What became of it. report: of what came over. left: what did not, a line for each, for people."""

    commits: int
    report: Report
    left: Sequence[str]


class _Admitting(CatalogInFront):
    """Takes ids that were given in the region before: no other meaning of them was brought here since."""

    def admit(self, key: BodyKey, guid: Guid) -> None:
        """It is of the other region, and it is known which content it has there."""


class _InEither(BodiesInFront):
    """Bodies of the other region; one that is lost there may stand here: a new one is put into both regions."""

    def __init__(self, there: Bodies, here: Bodies) -> None:
        super().__init__(there)
        self._here = here

    def get(self, key: BodyKey) -> Body:
        try:
            return super().get(key)
        except BodyLost:
            with suppress(BodyLost):
                return self._here.get(key)
            raise

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        try:
            return super().get_many(keys)
        except BodyLost:
            return [self.get(key) for key in keys]


def merge(
    shipments: Iterable[Shipment],
    there: Bodies,
    here: Resources,
    *,
    group: Group = nullcontext,
    at_once: int = AT_ONCE,
) -> Rejoined:
    """Brings commits of the other region. there: its bodies. group, at_once: as of `importing.carry_out`.

    All of it is in memory: what is deleted in the end is not brought before. Raises StoreError, RowUnreadable.
    """
    rows, there = [_row(each) for each in shipments], _InEither(there, here.bodies)
    lost = list[str]()
    try:
        told = _state_of(rows, there)
    except BodyLost:
        rows, lost = _without_lost(rows, there)
        told = _state_of(rows, there)
    resources = replace(here, catalog=_Admitting(here.catalog))
    for _ in range(_TRIES):
        free, taken = _by_number(told, resources)
        report = import_state(resources, free, group=group, at_once=at_once, whole=told)
        # A number that was free when it was looked at, and is taken by now: its id is brought as that of others.
        if (CONFLICTING, OTHER_VERSION) not in report.reasons:
            break
    apart = [*map(_displaced, taken), *_references(told, there, here)]
    return Rejoined(len(rows), report, [*left_behind(rows, here), *lost, *apart, *_reasons(report)])


def _row(shipment: Shipment) -> Mapping[str, Any]:
    """What is looked at of it: how the commit is carried out once more is most of a row, and all rows are in memory."""
    row = journal.row_at(shipment.position, lambda: orjson.loads(shipment.form))
    return {"ts": row["ts"], "entries": row["entries"]}


def _records(rows: Sequence[Mapping[str, Any]], bodies: Bodies) -> Iterator[TopicRecord]:
    records = chain(journal.records(rows, bodies), journal.key_records_of(rows))
    return (TopicRecord(key, value, ts, offset) for offset, (key, value, ts) in enumerate(records))


def _state_of(rows: Sequence[Mapping[str, Any]], bodies: Bodies) -> State:
    return _with_buried(replayed(_records(rows, bodies)), rows, bodies)


def _without_lost(rows: Sequence[Mapping[str, Any]], bodies: Bodies) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The same without versions of which no region has the schema, and a line about each of those."""
    ids = {key for key in journal.ids(rows) | journal.buried_ids(rows) if _is_lost(key, bodies)}
    lost = [each for row in rows for each in row["entries"] if _id_of_entry(each) in ids]
    kept = [{**row, "entries": [each for each in row["entries"] if each not in lost]} for row in rows]
    lines = (f"{place_of(each)}: what id {each['id']} means is in neither region" for each in lost)
    return [*kept], [*dict.fromkeys(lines)]


def _is_lost(key: BodyKey, bodies: Bodies) -> bool:
    try:
        bodies.get(key)
    except BodyLost:
        return True
    return False


def _id_of_entry(entry: Mapping[str, Any]) -> BodyKey | None:
    return BodyKey(entry["context"], entry["id"]) if entry.get("id") is not None else None


def _with_buried(told: State, rows: Iterable[Mapping[str, Any]], bodies: Bodies) -> State:
    """With ids that were brought there without a version: no record tells of them."""
    gone = dict(told.gone)
    for key in journal.buried_ids(rows):
        body = bodies.get(key)
        gone[key] = Put(0, body.subject, body.version, key.id, body.schema, body.guid, deleted=True, ts=body.ts)
    return replace(told, gone=gone)


def _by_number(told: State, resources: Resources) -> tuple[State, Sequence[Put]]:
    """What is imported, and versions whose number is taken here: those are displaced, their ids alone are brought."""
    free: dict[Subject, tuple[Put, ...]] = {}
    taken: list[Put] = []
    for subject, puts in told.subjects.items():
        standing = {row.version: row.id for row in resources.catalog.history(subject)}
        free[subject] = tuple(put for put in puts if standing.get(put.version, put.id) == put.id)
        taken += [put for put in puts if put not in free[subject]]
    displaced = {**told.displaced, **{key_of(put): put for put in taken}}
    return replace(told, subjects=free, displaced=displaced, settings={}, highest={}), taken


def _displaced(put: Put) -> str:
    return f"{put.subject} version {put.version}: the number is taken here; id {put.id} means what it meant there"


def _references(told: State, there: Bodies, here: Resources) -> Iterator[str]:
    """Versions and ids whose schemas reference what is another one here: who follows references reads that."""

    @cache
    def ids(subject: Subject) -> Mapping[Version, SchemaId]:
        return {row.version: row.id for row in here.catalog.history(subject)}

    for put in chain(*told.subjects.values(), told.displaced.values()):
        for target in there.get(key_of(put)).targets if put.schema.references else ():
            referenced = Subject(target.context, target.subject)
            if ids(referenced).get(target.version) != target.id:
                yield f"{named(put)}: it references {referenced} version {target.version}, which is another schema here"


def _reasons(report: Report) -> Iterator[str]:
    for (outcome, why), cases in report.reasons.items():
        yield from (f"{name}: {outcome.value}, {why}" for name in cases.names)
        if cases.count > len(cases.names):
            yield f"and {cases.count - len(cases.names)} more: {outcome.value}, {why}"
