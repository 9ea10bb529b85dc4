"""A whole state, imported by one process."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

from sigla.changes import DEKS_AT_ONCE, Change
from sigla.errors import BodyMissing, Taken
from sigla.journal.replay import Put, State, key_of, last_words
from sigla.keks.nouns import Dek, Kek
from sigla.model import Body, BodyKey, Guid, SchemaId, Settings, Subject, Version
from sigla.ports.bodies import Bodies
from sigla.ports.in_front import BodiesInFront, CatalogInFront
from sigla.ports.progress import Progress, unseen
from sigla.ports.subjects import VersionKey
from sigla.registry.resources import Resources
from sigla.upkeep.importing.associations import associate
from sigla.upkeep.importing.keys import bring_deks, bring_kek
from sigla.upkeep.importing.report import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Report
from sigla.upkeep.importing.settings import count, list_context, settle
from sigla.upkeep.importing.units import AT_ONCE, Group, carry_out
from sigla.upkeep.importing.versions import (
    OTHER_MEANING,
    Placed,
    TargetOf,
    batches,
    bury,
    compare,
    displace,
    named,
    place_body,
    targets_of,
    write,
)
from sigla.upkeep.order import needed_first

Needs = Callable[[BodyKey], Iterable[BodyKey]]

Item = TypeVar("Item")
Result = TypeVar("Result")


def import_state(
    resources: Resources,
    state: State,
    *,
    group: Group = nullcontext,
    threads: int = 1,
    at_once: int = AT_ONCE,
    bodies: bool = False,
    progress: Progress = unseen,
    whole: State | None = None,
) -> Report:
    """Everything that the state has and this registry has not. Raises StoreError; begun again, it goes on.

    group, threads, at_once: as of `units.carry_out`. bodies: as of `versions.compare`. whole: what the state is a part
    of: it tells by which id a content is known, and what references mean.
    """
    return _Import(resources, state, group, threads, at_once, bodies, progress, whole or state).run()


@dataclass(slots=True)
class _Import:
    resources: Resources
    state: State
    group: Group
    threads: int
    at_once: int
    bodies: bool
    progress: Progress
    whole: State
    report: Report = field(default_factory=Report)

    def run(self) -> Report:
        for skipped in self.state.skipped:
            self.report.tell(SKIPPED, "record", f"offset {skipped.offset}: {skipped.about}", skipped.why)
        listed = set(self.resources.catalog.contexts())
        missing = self._missing()
        placed = self._place(missing)
        self._write(missing, placed)
        self._displace()
        self._settle(listed)
        self._bring_keys()
        self._associate()
        return self.report

    def _missing(self) -> list[Put]:
        def work(of: tuple[Subject, Sequence[Put]], report: Report) -> list[Put]:
            return compare(self.resources, *of, report, bodies=self.bodies)

        return [*chain(*self._each("comparing", work, self.state.subjects.items()))]

    def _place(self, missing: Iterable[Put]) -> dict[BodyKey, Placed | str]:
        """Bodies of what is missing, and of ids without a version. A text: why it cannot be put."""
        first: dict[BodyKey, Put] = {}
        for put in sorted(missing, key=lambda put: put.offset):  # they come by subject
            first.setdefault(key_of(put), put)
        target_of = target_of_state(self.resources, self.whole)
        displaced = {key: put for key, put in self.state.displaced.items() if key not in first}
        puts = {**self.state.gone, **displaced, **first}

        def needs(key: BodyKey) -> Iterator[BodyKey]:
            return (BodyKey(each.context, each.id) for each in targets_of(puts[key], target_of))

        def work(key: BodyKey, report: Report) -> tuple[BodyKey, Placed | str]:
            if key not in self.state.gone:
                told = Report() if key in displaced else report  # what becomes of it is told by `_displace`
                return key, place_body(self.resources, puts[key], target_of, told, mend=self.bodies)
            bury(self.resources, puts[key], target_of, report, mend=self.bodies)
            return key, OTHER_MEANING

        return dict(self._each("bodies", work, *_waves(needed_first(puts, needs), needs)))

    def _write(self, missing: Iterable[Put], placed: Mapping[BodyKey, Placed | str]) -> None:
        last = last_words(chain(*self.whole.subjects.values()))
        early: dict[Subject, list[Placed]] = defaultdict(list)
        late: dict[Subject, list[Placed]] = defaultdict(list)
        for put in missing:
            body = placed[key_of(put)]
            # An id may mean two things in the source itself: JRN-4 looks at texts alone.
            if isinstance(body, str):
                self.report.tell(CONFLICTING, "version", named(put), body)
            elif body.put.schema != put.schema:
                self.report.tell(CONFLICTING, "version", named(put), OTHER_MEANING)
            else:
                (late if (put.subject, put.version) in last else early)[put.subject].append(replace(body, put=put))

        def work(of: tuple[Subject, list[Placed]], report: Report) -> None:
            subject, some = of
            for batch in batches(some):
                write(self.resources, subject, batch, report)

        self._do("versions", work, early.items(), late.items())

    def _displace(self) -> None:
        """By the id that was written last its content is known here, too."""
        displaced = sorted(self.state.displaced.values(), key=lambda put: put.offset)
        last: dict[tuple[str, Guid], int] = {}
        for put in chain(self.whole.displaced.values(), *self.whole.subjects.values()):
            content = put.subject.context, put.guid
            last[content] = max(put.offset, last.get(content, put.offset))
        target_of = target_of_state(self.resources, self.whole)

        def work(put: Put, report: Report) -> None:
            known = last[put.subject.context, put.guid] == put.offset
            displace(self.resources, put, target_of, report, known=known, mend=self.bodies)

        if displaced:
            self._do("displaced ids", work, displaced)

    def _settle(self, listed: set[str]) -> None:
        def settled(of: tuple[Subject, Settings], report: Report) -> None:
            settle(self.resources, *of, report)

        def listing(context: str, report: Report) -> None:
            list_context(self.resources, context)
            report.tell(IDENTICAL if context in listed else IMPORTED, "context", context)

        def counted(of: tuple[str, SchemaId], _: Report) -> None:
            count(self.resources, *of)

        self._do("settings", settled, self.state.settings.items())
        self._do("contexts", listing, self.state.contexts)
        self._do("counters", counted, self.state.highest.items())

    def _bring_keys(self) -> None:
        """KEKs first. Registries without keys see no progress of them."""

        def kek(told: Kek, report: Report) -> None:
            bring_kek(self.resources, told, report)

        def deks(some: Sequence[Dek], report: Report) -> None:
            bring_deks(self.resources, self.state.keks.get(some[0].kek), some, report)

        under: dict[str, list[Dek]] = defaultdict(list)
        for dek in self.state.deks.values():
            under[dek.kek].append(dek)
        batches = [all[at : at + DEKS_AT_ONCE] for all in under.values() for at in range(0, len(all), DEKS_AT_ONCE)]
        if self.state.keks or batches:
            self._do("KEKs", kek, self.state.keks.values())
            self._do("DEKs", deks, batches)

    def _associate(self) -> None:
        """One after the other: those of a topic are compared with each other. Last, as their subjects come before."""
        rehearsed = isinstance(self.resources.catalog, _Unmoved)
        for one in self.state.associations:
            imagined = rehearsed and any(not put.deleted for put in self.state.subjects.get(one.subject, ()))
            with self.group():
                associate(self.resources, one, self.report, imagined=imagined)

    def _do(self, what: str, work: Callable[[Item, Report], None], *waves: Collection[Item]) -> None:
        for _ in self._each(what, work, *waves):
            """The report tells all that comes of it."""

    def _each(self, what: str, work: Callable[[Item, Report], Result], *waves: Collection[Item]) -> Iterator[Result]:
        """What the work on each item gives, a wave after the other, with progress."""

        def told(item: Item) -> tuple[Result, Report]:
            report = Report()
            return work(item, report), report

        done, total = 0, sum(map(len, waves))
        self.progress(what, done, total)
        for wave in waves:
            for result, report in carry_out(wave, told, group=self.group, threads=self.threads, at_once=self.at_once):
                self.report.add(report)
                done += 1
                self.progress(what, done, total)
                yield result


def _waves(needed_first: Iterable[BodyKey], needs: Needs) -> list[list[BodyKey]]:
    """Those that need nothing, those that need nothing but these, and so on: none needs another of its own wave."""
    waves: list[list[BodyKey]] = []
    wave_of: dict[BodyKey, int] = {}
    for key in needed_first:
        wave_of[key] = max((wave_of[each] + 1 for each in needs(key) if each in wave_of), default=0)
        if wave_of[key] == len(waves):
            waves.append([])
        waves[wave_of[key]].append(key)
    return waves


def rehearsal(resources: Resources, imagined: Bodies) -> Resources:
    """The same registry, for an import that writes nothing and reports as if it had.

    imagined: where bodies are kept that would be put.
    """
    return replace(resources, catalog=_Unmoved(resources.catalog), bodies=_Imagined(resources.bodies, imagined))


class _Unmoved(CatalogInFront):
    """A catalog that answers as it is and takes no change."""

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        self.rehearse(change)
        return ()

    def raise_counter(self, context: str, to: SchemaId) -> None:
        """Nothing."""


class _Imagined(BodiesInFront):
    """Bodies as they would be."""

    def __init__(self, bodies: Bodies, imagined: Bodies) -> None:
        super().__init__(bodies)
        self._imagined = imagined

    def put(self, key: BodyKey, body: Body) -> None:
        try:
            standing = self.get(key)
        except BodyMissing:
            self._imagined.put(key, body)
        else:
            raise Taken(standing)

    def get(self, key: BodyKey) -> Body:
        try:
            return self._imagined.get(key)
        except BodyMissing:
            return self._bodies.get(key)

    def revive(self, key: BodyKey, body: Body) -> None:
        """Nothing."""

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
        self._imagined.mend(key, body, seen)


def target_of_state(resources: Resources, state: State) -> TargetOf:
    """Where the state says nothing of a version, this registry may know it."""
    ids: dict[tuple[Subject, Version], SchemaId | None] = {
        (put.subject, put.version): put.id for put in chain(*state.subjects.values())
    }

    def target_of(subject: Subject, version: Version) -> SchemaId | None:
        if (subject, version) not in ids:
            key = VersionKey(subject, version)
            row = resources.catalog.snapshot(subject, wanted=[key]).rows.get(key)
            ids[subject, version] = row.id if row else None
        return ids[subject, version]

    return target_of
