"""Which ids a subject has, and what its records are read as: asked of the catalog once for each batch.

Why that is enough: who produces has registered before, and the end of a batch is fixed before it is asked. So every id
in the batch that is its subject's is in the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import orjson

from sigla.errors import FormTooNew, StoreError
from sigla.model import BodyKey, Row, SchemaId, Search, Show, Subject
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla_pipelines.land.bindings import Binding, CatalogAnswer, Head, Strategy
from sigla_pipelines.places import Place

SAVED = "heads.json"


class NoHead(Exception):
    """It cannot be said what to read a topic as; the sentence says what to do about it."""


class Misbound(Exception):
    """What `bind` says cannot be, as the registry has it; the sentence says what to say instead."""


@dataclass(frozen=True, slots=True)
class Heads:
    """place: where the last answer is kept. max_stale_ms: how old it may be when the catalog is silent."""

    catalog: Catalog | None
    place: Place
    clock: Clock
    context: str
    bindings: tuple[Binding, ...]
    max_stale_ms: int

    def now(self) -> CatalogAnswer:
        """Raises NoHead, Misbound, FormTooNew."""
        if self.catalog is None:
            return self._saved("No table is named")
        try:
            heads = {binding: _heads_of_binding(self.catalog, self.context, binding) for binding in self.bindings}
        except FormTooNew:  # waiting would not help
            raise
        except StoreError as silent:
            return self._saved(f"The catalog does not answer ({silent})")
        bound = [
            {"asked": _question(self.context, binding), "heads": [_form(head) for head in found.values()]}
            for binding, found in heads.items()
        ]
        self.place.replace(SAVED, orjson.dumps({"at": self.clock.now(), "bindings": bound}))
        return CatalogAnswer(heads)

    def _saved(self, why: str) -> CatalogAnswer:
        """What the settings pin, and of the rest what the catalog said last."""
        pinned = {each: _pinned(self.context, each) for each in self.bindings if each.reader.kind == "id"}
        last = self._last(why) if len(pinned) < len(self.bindings) else []
        heads = {each: pinned[each] if each in pinned else self._said(each, last, why) for each in self.bindings}
        return CatalogAnswer(heads, stale=True)

    def _last(self, why: str) -> list[dict[str, Any]]:
        """The last answer, binding by binding. Raises NoHead."""
        saved = self.place.read(SAVED)
        if saved is None:
            raise NoHead(f"{why}, and nothing has been landed here before: pin the reader with `reader: {{id: …}}`.")
        form: dict[str, Any] = orjson.loads(saved)
        if self.clock.now() - form["at"] > self.max_stale_ms:
            raise NoHead(f"{why}, and its last answer is older than `max_stale`: raise `max_stale`, or wait.")
        found: list[dict[str, Any]] = form.get("bindings", [])
        return found

    def _said(self, binding: Binding, last: list[dict[str, Any]], why: str) -> dict[str, Head]:
        """By subject. Raises NoHead."""
        asked = _question(self.context, binding)
        for each in last:
            if each["asked"] == asked:
                return {form["subject"]: _head(form) for form in each["heads"]}
        raise NoHead(
            f"{why}, and its last answer does not cover the {binding.part}s of {binding.topic} as they are bound now: "
            "wait, or pin the reader with `reader: {id: …}`."
        )


def _question(context: str, binding: Binding) -> dict[str, Any]:
    """All of a binding that its heads depend on."""
    return {
        "context": context,
        "topic": binding.topic,
        "part": binding.part,
        "strategy": binding.strategy.value,
        "reader": [*binding.reader],
        "records": sorted(binding.records),
    }


def _heads_of_binding(catalog: Catalog, context: str, binding: Binding) -> dict[str, Head]:
    """By subject. Raises Misbound."""
    found = {}
    for record in _record_names(catalog, context, binding):
        subject = Subject(context, binding.subject(record))
        rows = catalog.history(subject)
        head = _chosen(subject, binding, record, rows)
        if head is not None:
            found[subject.qualified] = head
        elif rows and binding.names_its_subjects:
            number = binding.reader.number
            raise Misbound(f"Subject {subject.qualified} has no version {number}: choose another `reader`.")
    return found


def _record_names(catalog: Catalog, context: str, binding: Binding) -> Iterable[str]:
    if binding.strategy is Strategy.TOPIC:
        return ("",)
    if binding.records or binding.strategy is Strategy.RECORD:
        return binding.records
    prefix = f"{binding.topic}-"
    found = catalog.subjects(Search(prefix, context), Show.ALL)
    return [subject.name.removeprefix(prefix) for subject in found]


def _chosen(subject: Subject, binding: Binding, record: str, rows: tuple[Row, ...]) -> Head | None:
    """None if the subject has no version to read as. An id needs none: it is what the settings say."""
    ids = {int(row.id): int(row.version) for row in rows}
    active = [row for row in rows if not row.deleted]
    deleted = frozenset(ids) - {int(row.id) for row in active}
    kind, number = binding.reader
    if kind == "id":
        version, id = ids.get(number, 0), number
    else:
        wanted = active[-1:] or rows[-1:] if kind == "latest" else [row for row in rows if row.version == number]
        if not wanted:
            return None
        version, id = int(wanted[0].version), int(wanted[0].id)
    return Head(subject.qualified, BodyKey(subject.context, SchemaId(id)), version, ids, deleted, record)


def _pinned(context: str, binding: Binding) -> dict[str, Head]:
    """What the settings alone tell: nothing of which ids are the subject's."""
    reader = BodyKey(context, SchemaId(binding.reader.number))
    subjects = {Subject(context, binding.subject(record)).qualified: record for record in binding.records or ("",)}
    return {subject: Head(subject, reader, 0, {}, record=record) for subject, record in subjects.items()}


def _form(head: Head) -> dict[str, Any]:
    form = {each.name: getattr(head, each.name) for each in fields(head)}
    return form | {"reader": [*head.reader], "ids": sorted(head.ids.items()), "deleted": sorted(head.deleted)}


def _head(form: dict[str, Any]) -> Head:
    reader = BodyKey(*form.pop("reader"))
    ids, deleted = dict(form.pop("ids")), frozenset(form.pop("deleted"))
    return Head(reader=reader, ids=ids, deleted=deleted, **form)
