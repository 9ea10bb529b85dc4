"""A whole state, imported by one process."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, TypeVar, cast

from sigla.changes import Change
from sigla.errors import SchemaNamedNotFound, Taken
from sigla.journal.replay import Put, State, key_of, last_words
from sigla.model import Body, BodyKey, SchemaId, Subject, Version
from sigla.ports import Bodies, Catalog, VersionKey
from sigla.registry.importing.report import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Report
from sigla.registry.importing.settings import count, list_context, settle
from sigla.registry.importing.versions import (
    OTHER_MEANING,
    Placed,
    TargetOf,
    batches,
    bury,
    compare,
    named,
    place,
    targets_of,
    write,
)
from sigla.registry.order import needed_first
from sigla.registry.stores import Stores

AT_ONCE = 200
"""Steps that become durable together, where a store can do that."""

Group = Callable[[], AbstractContextManager[object]]
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""

Item = TypeVar("Item")


def import_state(
    stores: Stores, state: State, *, group: Group = nullcontext, progress: Progress = lambda *_: None
) -> Report:
    """Everything that the state has and this registry has not. Raises StoreError; begun again, it goes on.

    group: what is written inside becomes durable together.
    """
    return _Import(stores, state, group, progress).run()


@dataclass(slots=True)
class _Import:
    stores: Stores
    state: State
    group: Group
    progress: Progress
    report: Report = field(default_factory=Report)

    def run(self) -> Report:
        for skipped in self.state.skipped:
            self.report.tell(SKIPPED, "record", f"offset {skipped.offset}: {skipped.about}", skipped.why)
        listed = set(self.stores.catalog.contexts())
        missing = self._missing()
        placed = self._place(missing)
        self._write(missing, placed)
        self._settle(listed)
        return self.report

    def _missing(self) -> list[Put]:
        missing: list[Put] = []
        for subject, puts in self._told("comparing", self.state.subjects.items()):
            missing += compare(self.stores, subject, puts, self.report)
        return missing

    def _place(self, missing: Iterable[Put]) -> dict[BodyKey, Placed | None]:
        """Bodies of what is missing, and of ids that nobody holds any more. None: it means something else here."""
        first: dict[BodyKey, Put] = {}
        for put in missing:
            first.setdefault(key_of(put), put)
        target_of = _targets(self.stores, self.state)
        puts = {**self.state.gone, **first}

        def needs(key: BodyKey) -> Iterator[BodyKey]:
            return (BodyKey(each.context, each.id) for each in targets_of(puts[key], target_of))

        placed: dict[BodyKey, Placed | None] = {}
        for keys in _chunks(self._told("bodies", needed_first(puts, needs))):
            with self.group():
                for key in keys:
                    if key in self.state.gone:
                        bury(self.stores, puts[key], target_of, self.report)
                    else:
                        placed[key] = place(self.stores, puts[key], target_of, self.report)
        return placed

    def _write(self, missing: Iterable[Put], placed: Mapping[BodyKey, Placed | None]) -> None:
        last = last_words(chain(*self.state.subjects.values()))
        early: dict[Subject, list[Placed]] = defaultdict(list)
        late: dict[Subject, list[Placed]] = defaultdict(list)
        for put in missing:
            body = placed[key_of(put)]
            # An id may mean two things in the source itself: JRN-4 looks at texts alone.
            if body is None or body.put.schema != put.schema:
                self.report.tell(CONFLICTING, "version", named(put), OTHER_MEANING)
            else:
                (late if (put.subject, put.version) in last else early)[put.subject].append(replace(body, put=put))
        commits = [
            (subject, batch) for order in (early, late) for subject, some in order.items() for batch in batches(some)
        ]
        for some in _chunks(self._told("versions", commits)):
            with self.group():
                for subject, batch in some:
                    write(self.stores, subject, batch, self.report)

    def _settle(self, listed: set[str]) -> None:
        with self.group():
            for scope, settings in self.state.settings.items():
                settle(self.stores, scope, settings, self.report)
            for context in self.state.contexts:
                list_context(self.stores, context)
                self.report.tell(IDENTICAL if context in listed else IMPORTED, "context", context)
            for context, highest in self.state.highest.items():
                count(self.stores, context, highest)

    def _told(self, what: str, items: Iterable[Item]) -> Iterator[Item]:
        """The items, with progress."""
        known = list(items)
        for done, item in enumerate(known):
            self.progress(what, done, len(known))
            yield item
        self.progress(what, len(known), len(known))


def rehearsal(stores: Stores) -> Stores:
    """The same registry, for an import that writes nothing and reports as if it had."""
    return replace(stores, catalog=cast("Catalog", _Unmoved(stores.catalog)), bodies=_Imagined(stores.bodies))


class _Unmoved:
    """A catalog that answers as it is and takes no change."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)

    def commit(self, _: Change) -> tuple[BodyKey, ...]:
        return ()

    def raise_counter(self, context: str, to: SchemaId) -> None:
        """Nothing."""


class _Imagined:
    """Bodies as they would be: those that would be put are remembered."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._put: dict[BodyKey, Body] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bodies, name)

    def put(self, key: BodyKey, body: Body) -> None:
        try:
            standing = self.get(key)
        except SchemaNamedNotFound:
            self._put[key] = body
        else:
            raise Taken(standing)

    def get(self, key: BodyKey) -> Body:
        return self._put[key] if key in self._put else self._bodies.get(key)

    def revive(self, key: BodyKey, body: Body) -> None:
        """Nothing."""


def _targets(stores: Stores, state: State) -> TargetOf:
    """Where the state says nothing of a version, this registry may know it."""
    ids: dict[tuple[Subject, Version], SchemaId | None] = {
        (put.subject, put.version): put.id for put in chain(*state.subjects.values())
    }

    def target_of(subject: Subject, version: Version) -> SchemaId | None:
        if (subject, version) not in ids:
            key = VersionKey(subject, version)
            row = stores.catalog.snapshot(subject, wanted=[key]).rows.get(key)
            ids[subject, version] = row.id if row else None
        return ids[subject, version]

    return target_of


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    items = iter(items)
    while some := list(islice(items, AT_ONCE)):
        yield some
