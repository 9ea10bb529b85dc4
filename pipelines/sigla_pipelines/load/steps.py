"""What is done in the registry: each step takes rows and gives rows, for the next step or for the report.

The verbs are those of `sigla.upkeep.importing`. Every step may be repeated and cut off.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Final, TypeVar

from sigla.errors import BodyMissing
from sigla.journal import replay
from sigla.journal.replay import ConfigSet, Put, Skipped
from sigla.model import BodyKey, SchemaId, Settings, Subject, Version
from sigla.ports.subjects import VersionKey
from sigla.registry import Resources
from sigla.upkeep import importing
from sigla.upkeep.importing import CONFLICTING, IMPORTED, SKIPPED, Group, Outcome, Placed, Report, TargetOf
from sigla_pipelines.load.frames import Row, frozen, key_of, thawed
from sigla_pipelines.load.transform import SUBJECT

REMARK: Final = "remark"
OTHER_MEANING: Final = "its id belongs to another schema here"
REBOUND: Final = "its id belongs to another schema in that context"

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True)
class Open:
    """An open registry. group, threads: as of `importing.carry_out`."""

    stores: Resources
    group: Group
    threads: int = 1

    def together(self, units: Iterable[Unit], work: Callable[[Unit], Iterable[Row]]) -> Iterator[Row]:
        """What the work on each unit gives, told when it is durable."""

        def done(unit: Unit) -> list[Row]:
            return [*work(unit)]

        return chain.from_iterable(importing.carry_out(units, done, group=self.group, threads=self.threads))


Step = Callable[[Open, Iterable[Row]], Iterator[Row]]


class Told(Report):
    """A report whose single facts become rows."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []

    def tell(self, outcome: Outcome, kind: str, about: str, why: str = "") -> None:
        self.rows.append(fact(outcome.value, kind, about, why))

    def remark(self, why: str, about: str) -> None:
        self.rows.append(fact(REMARK, "version", about, why))

    def add(self, other: Report) -> None:
        """What was counted without names is counted on."""
        for (outcome, kind), count in other.counts.items():
            whys = [why for told, why in other.reasons if told is outcome]
            self.rows.append(fact(outcome.value, kind, "", ", ".join(whys), count))


def fact(outcome: str, kind: str, about: str, why: str, count: int = 1) -> Row:
    return {"outcome": outcome, "kind": kind, "about": about, "why": why, "count": count}


def total(facts: Iterable[Row]) -> Report:
    """The report that `sigla import` would give."""
    report = Report()
    for each in facts:
        if each["outcome"] == REMARK:
            report.remark(each["why"], each["about"])
            continue
        outcome, kind = Outcome(each["outcome"]), each["kind"]
        report.tell(outcome, kind, each["about"], each["why"])
        report.counts[outcome, kind] += each["count"] - 1
    return report


# --- versions --------------------------------------------------------------------------------------------------------


def compare(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """rows: by subject. What is not there yet goes on, what is there is told."""

    def work(some: list[Row]) -> Iterator[Row]:
        by_version = {put.version: (put, row) for row in some for put in [thawed(row["put"])]}
        puts = [put for put, _ in by_version.values()]
        told = Told()
        for put in importing.compare(open.stores, puts[0].subject, puts, told):
            yield {name: by_version[put.version][1][name] for name in CARRIED}
        yield from told.rows

    return open.together(_grouped_by(SUBJECT, rows), work)


CARRIED: Final = ("offset", *SUBJECT, "version", "id", "late", "targets", "put")


def place_bodies(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """rows: one for each id. Its body stands, or it waits for one that it references."""

    def work(row: Row) -> Iterator[Row]:
        put = thawed(row["put"])
        target_of = targets(open.stores, row)
        if all(_stands(open.stores, each) for each in _needed(row)):
            yield from _placed(open, put, row, target_of)
        else:
            yield {name: row[name] for name in CARRIED} | {"waiting": True}

    return open.together(rows, work)


def place_waiting(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """Like `place_bodies`, for those that wait for each other, or for a missing body."""
    return open.together(rows, lambda row: _placed(open, thawed(row["put"]), row, targets(open.stores, row)))


def _placed(open: Open, put: Put, row: Row, target_of: TargetOf) -> Iterator[Row]:
    told = Told()
    placed = importing.place_body(open.stores, put, target_of, told)
    yield {"context": row["context"], "id": row["id"], "placed": frozen(placed)}
    yield from told.rows


def bury(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """rows: as of `place_bodies`, of ids that no version holds."""

    def work(row: Row) -> Iterable[Row]:
        told = Told()
        importing.bury(open.stores, thawed(row["put"]), targets(open.stores, row), told)
        return told.rows

    return open.together(rows, work)


def displace(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """rows: as of `place_bodies`, of ids whose last version was written over; when all versions are written."""

    def work(row: Row) -> Iterable[Row]:
        told = Told()
        put = thawed(row["put"])
        importing.displace(open.stores, put, targets(open.stores, row), told, known=row["known"])
        return told.rows

    return open.together(rows, work)


def write(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """rows: by subject, in the order of the topic, with what became of the bodies of their ids."""

    def work(some: list[Row]) -> Iterable[Row]:
        told = Told()
        ready: list[Placed] = []
        for row in some:
            put: Put = thawed(row["put"])
            placed: Placed | str = thawed(row["placed"]) if row["placed"] is not None else OTHER_MEANING
            # An id may mean two things in the topic itself: JRN-4 looks at texts alone.
            if isinstance(placed, str) or placed.put.schema != put.schema:
                why = placed if isinstance(placed, str) else OTHER_MEANING
                told.tell(CONFLICTING, "version", f"{put.subject} version {put.version} id {put.id}", why)
            else:
                ready.append(replace(placed, put=put))
        for batch in importing.batches(ready):
            importing.write(open.stores, batch[0].put.subject, batch, told)
        return told.rows

    return open.together(_grouped_by(SUBJECT, rows), work)


def targets(stores: Resources, row: Row) -> TargetOf:
    """Where the topic says nothing of a version, this registry may know it."""
    known = {(each["context"], each["name"], each["version"]): each["id"] for each in row["targets"] or ()}

    def target_of(subject: Subject, version: Version) -> SchemaId | None:
        id = known.get((subject.context, subject.name, version))
        if id is None:
            place = VersionKey(subject, version)
            found = stores.catalog.snapshot(subject, wanted=[place]).rows.get(place)
            id = found.id if found else None
        return None if id is None else SchemaId(id)

    return target_of


def _needed(row: Row) -> Iterator[BodyKey]:
    return (BodyKey(each["context"], each["id"]) for each in row["targets"] or () if each["id"] is not None)


def _stands(stores: Resources, key: BodyKey) -> bool:
    try:
        stores.bodies.get(key)
    except BodyMissing:
        return False
    return True


def _grouped_by(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[list[Row]]:
    return ([*some] for _, some in groupby(rows, lambda row: key_of(row, columns)))


# --- the rest --------------------------------------------------------------------------------------------------------


def settle(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """rows: by scope."""

    def work(some: list[Row]) -> Iterable[Row]:
        events = [thawed(row["event"]) for row in some]
        told = Told()
        wanted = Settings()
        for event in events:
            if isinstance(event, ConfigSet):
                wanted = replace(wanted, config=event.config)
            else:
                wanted = replace(wanted, mode=event.mode)
        importing.settle(open.stores, events[0].scope, wanted, told)
        return told.rows

    return open.together(_grouped_by(SUBJECT, rows), work)


def bring(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """rows: events about keys of field encryption and associations, all of them; their subjects are written."""
    state = replay.state_of(thawed(row["event"]) for row in rows)
    told = Told()
    told.add(importing.import_state(open.stores, state, group=open.group, threads=open.threads))
    yield from told.rows


def list_contexts(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    listed = set(open.stores.catalog.contexts())

    def work(row: Row) -> Iterator[Row]:
        event = thawed(row["event"])
        if event.listed:
            importing.list_context(open.stores, event.context)
            outcome = importing.IDENTICAL if event.context in listed else IMPORTED
            yield fact(outcome.value, "context", event.context, "")

    return open.together(rows, work)


def skip(_: Open, rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        event = thawed(row["event"])
        if isinstance(event, Skipped):
            about, why = event.about, event.why
        else:
            about, why = f"{event.subject} version {event.version} id {event.id}", REBOUND
        yield fact(SKIPPED.value, "record", f"offset {event.offset}: {about}", why)


def count(open: Open, rows: Iterable[Row]) -> Iterator[Row]:
    """Last of all: an id is given out only where everything has one."""

    def work(row: Row) -> Iterable[Row]:
        importing.count(open.stores, row["context"], row["id"])
        return ()

    return open.together(rows, work)
