"""Which ids a subject has, and what its records are read as: asked of the catalog once for each batch.

Why that is enough: who produces has registered before, and the end of a batch is fixed before it is asked. So every id
in the batch that is its subject's is in the answer.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from pipelines.land.plan import Binding, Head, Strategy
from pipelines.places import Place
from sigla.errors import StoreError
from sigla.model import BodyKey, Row, SchemaId, Search, Show, Subject
from sigla.ports import Catalog, Clock

SAVED = "heads.json"


class NoHead(Exception):
    """It cannot be said what to read a topic as; the sentence says what to do about it."""


@dataclass(frozen=True, slots=True)
class Heads:
    """place: where the last answer is kept. max_stale_ms: how old it may be when the catalog is silent."""

    catalog: Catalog | None
    place: Place
    clock: Clock
    context: str
    bindings: tuple[Binding, ...]
    max_stale_ms: int

    def now(self) -> Mapping[str, Head]:
        """By subject; those without a version are missing. Raises NoHead."""
        if self.catalog is None:
            return self._saved("No table is named")
        try:
            found = {head.subject: head for head in _asked(self.catalog, self.context, self.bindings)}
        except StoreError as silent:
            return self._saved(f"The catalog does not answer ({silent})")
        form = {"at": self.clock.now(), "heads": [_form(head) for head in found.values()]}
        self.place.replace(SAVED, orjson.dumps(form))
        return found

    def _saved(self, why: str) -> Mapping[str, Head]:
        pinned = {head.subject: head for head in _pinned(self.context, self.bindings)}
        saved = self.place.read(SAVED)
        form: dict[str, Any] = orjson.loads(saved) if saved else {"at": None, "heads": []}
        kept = [_head(each) for each in form["heads"]]
        found = {head.subject: replace(head, stale=True) for head in kept} | pinned
        if all(binding.reader.kind == "id" for binding in self.bindings):
            return found
        if form["at"] is None:
            raise NoHead(f"{why}, and nothing was landed here before: pin what to read with `reader: {{id: …}}`.")
        if self.clock.now() - form["at"] > self.max_stale_ms:
            raise NoHead(f"{why}, and its last answer is older than `max_stale`: allow more, or wait.")
        return found


def _asked(catalog: Catalog, context: str, bindings: Iterable[Binding]) -> Iterator[Head]:
    for binding in bindings:
        for record in _records(catalog, context, binding):
            subject = Subject(context, binding.subject(record))
            if rows := catalog.history(subject):
                yield _chosen(subject, binding, record, rows)


def _records(catalog: Catalog, context: str, binding: Binding) -> Iterable[str]:
    if binding.strategy is Strategy.TOPIC:
        return ("",)
    if binding.records or binding.strategy is Strategy.RECORD:
        return binding.records
    prefix = f"{binding.topic}-"
    found = catalog.subjects(Search(prefix, context), Show.ALL)
    return [subject.name.removeprefix(prefix) for subject in found]


def _chosen(subject: Subject, binding: Binding, record: str, rows: tuple[Row, ...]) -> Head:
    ids = {int(row.id): int(row.version) for row in rows}
    active = [row for row in rows if not row.deleted]
    deleted = frozenset(ids) - {int(row.id) for row in active}
    kind, number = binding.reader
    if kind == "id":
        version, id = ids.get(number, 0), number
    else:
        wanted = active[-1:] or rows[-1:] if kind == "latest" else [row for row in rows if row.version == number]
        if not wanted:
            raise NoHead(f"Subject {subject.qualified} has no version {number}: say another in `reader`.")
        version, id = int(wanted[0].version), int(wanted[0].id)
    return Head(subject.qualified, BodyKey(subject.context, SchemaId(id)), version, ids, deleted, record)


def _pinned(context: str, bindings: Iterable[Binding]) -> Iterator[Head]:
    """What the settings alone tell: nothing of which ids are the subject's."""
    for binding in bindings:
        if binding.reader.kind == "id":
            for record in binding.records or ("",):
                subject = Subject(context, binding.subject(record)).qualified
                yield Head(subject, BodyKey(context, SchemaId(binding.reader.number)), 0, {}, record=record, stale=True)


def _form(head: Head) -> dict[str, Any]:
    tuples = {"reader": [*head.reader], "ids": sorted(head.ids.items()), "deleted": sorted(head.deleted)}
    return asdict(head) | tuples


def _head(form: dict[str, Any]) -> Head:
    reader = BodyKey(*form.pop("reader"))
    ids, deleted = dict(form.pop("ids")), frozenset(form.pop("deleted"))
    return Head(reader=reader, ids=ids, deleted=deleted, **form)
