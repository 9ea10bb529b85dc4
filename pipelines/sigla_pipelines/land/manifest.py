"""The decision about a batch: which records it is, and which files hold them.

A manifest is put before any table knows of its files, under `manifests/{query}/{number:010}.json`, and never changed:
whoever comes to this batch again, after a crash or as a second driver, finds it and follows it. So it does not matter
that tables cannot be committed together, or that a schema was registered meanwhile.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self
from urllib.parse import unquote

import orjson
import pyarrow as pa

from sigla_pipelines.land import column_types
from sigla_pipelines.land.landed import DataFile, Metric, Span
from sigla_pipelines.places import Place

FOLDER: Final = "manifests/"
QUERIES: Final = "queries/"
SETTLED: Final = "settled/"
_QUERY: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


class Stopped(Exception):
    """The query must not go on. One sentence that says why, and what to do."""


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """Offsets of one partition. uuid: of the topic, which its name outlives. end: exclusive."""

    topic: str
    uuid: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A file of raw records. tag: changes with its content. size: in bytes. source: where its path begins."""

    path: str
    tag: str
    size: int
    records: int
    source: str = ""

    @property
    def place(self) -> str:
        """The same of whatever source it is found in: one may lie within another."""
        return f"{self.source.rstrip('/')}/{self.path}"


@dataclass(frozen=True, slots=True)
class Read:
    """What a subject's records were read as. dropped: the members that were not landed, as in `address.zip`."""

    subject: str
    version: int
    id: int
    stale: bool = False
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """Records. read = landed + quarantined - resolved, of each manifest and of all together.

    read: of the source. resolved: landed out of the quarantine, by a replay, which reads nothing of the source.
    """

    read: int
    landed: int
    quarantined: int = 0
    resolved: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """ranges: of all partitions, in their order, empty ones too. entries: of files instead, in the order of paths.

    columns: of each typed table that the query has written to, those of its values, as they are since this batch: the
    last manifest of each query says all about the columns of tables. changes: of tables, as sentences.
    """

    query: str
    number: int
    ranges: tuple[Range, ...]
    entries: tuple[Entry, ...]
    files: tuple[DataFile, ...]
    columns: Mapping[str, pa.Schema]
    spans: tuple[Span, ...]
    metrics: tuple[Metric, ...]
    reads: tuple[Read, ...]
    counts: RecordCounts
    changes: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """Those that get files by it."""
        return tuple(sorted({file.table for file in self.files}))

    def encoded(self) -> bytes:
        form = {each: getattr(self, each) for each in self.__dataclass_fields__}
        form["columns"] = {table: column_types.schema_form(columns) for table, columns in self.columns.items()}
        return orjson.dumps(form, option=orjson.OPT_INDENT_2)

    @classmethod
    def decoded(cls, text: bytes) -> Self:
        form: dict[str, Any] = orjson.loads(text)
        return cls(
            query=form["query"],
            number=form["number"],
            ranges=tuple(Range(**each) for each in form["ranges"]),
            entries=tuple(Entry(**each) for each in form["entries"]),
            files=tuple(DataFile(**each) for each in form["files"]),
            columns={table: column_types.schema(columns) for table, columns in form["columns"].items()},
            spans=tuple(Span(**each) for each in form["spans"]),
            metrics=tuple(Metric(**each) for each in form["metrics"]),
            reads=tuple(Read(**each | {"dropped": tuple(each["dropped"])}) for each in form["reads"]),
            counts=RecordCounts(**form["counts"]),
            changes=tuple(form.get("changes", ())),
        )


def manifest_name(query: str, number: int) -> str:
    if not _QUERY.fullmatch(query):
        raise ValueError(f"a query cannot be called {query!r}: its name becomes part of the names of files")
    return f"{FOLDER}{query}/{number:010}.json"


class Manifests:
    """All of a work directory.

    None ever changes, and those of a query come one after another: what was seen is not asked for again.
    """

    def __init__(self, work: Place) -> None:
        self._work = work
        self._last: dict[str, Manifest] = {}
        self._named: set[str] = set()
        self._entries: dict[str, Entry] = {}
        self._sources: dict[str, str] = {}
        self._listed: dict[str, int] = {}

    def get(self, query: str, number: int) -> Manifest | None:
        last = self._last.get(query)
        return last if last and last.number == number else self._read(manifest_name(query, number))

    def put(self, manifest: Manifest) -> Manifest:
        """The one that stands now: ours, or another driver's."""
        at = manifest_name(manifest.query, manifest.number)
        self._name(manifest.query, {"id": manifest.query}, manifest.query)
        ours = manifest.encoded()
        there = self._work.put_if_absent(at, ours)
        stands = manifest if there == ours else Manifest.decoded(there)
        self._last[manifest.query] = stands
        return stands

    def last(self, query: str) -> Manifest | None:
        """The query's newest."""
        known = self._last.get(query)
        newer = list(self._names(query, known.number if known else -1))
        if newer:
            found = self._read(newer[-1])
            if found is not None:
                self._last[query] = found
        return self._last.get(query)

    def all(self) -> Iterator[Manifest]:
        """The manifests of all queries: those of each query in the order of its batches.

        Those that are put meanwhile may be among them.
        """
        yield from self.since({})

    def since(self, listed: dict[str, int]) -> Iterator[Manifest]:
        """Those above the numbers in `listed`, by query, which is brought up to date."""
        for query in self.queries():
            for each in self._names(query, listed.get(query, -1)):
                found = self._read(each)
                if found is not None:
                    listed[query] = found.number
                    yield found

    def entries(self) -> Mapping[str, Entry]:
        """Every file of raw records that was landed, by its place."""
        for manifest in self.since(self._listed):
            for entry in manifest.entries:
                placed = entry if entry.source else replace(entry, source=self._source(manifest.query))
                self._entries[placed.place] = placed
        return self._entries

    def query(self, called: str) -> str:
        """The id of a query that has no checkpoint to bear one; drawn once for this work directory.

        Not made of what it is called: tables may remember a deleted work directory, and what it had landed.
        """
        drawn = {"name": called, "id": str(uuid.uuid4())}
        return self._name(hashlib.sha256(called.encode()).hexdigest()[:16], drawn, None)

    def queries(self) -> list[str]:
        """Every query that has landed here, or was drawn."""
        return sorted(self._called())

    def unsettled(self) -> Iterator[Manifest]:
        """The newest manifest of each query, if nothing says that its tables have it."""
        for query in self.queries():
            last = self.last(query)
            text = self._work.read(f"{SETTLED}{query}.json")
            if last is not None and (text is None or orjson.loads(text)["number"] < last.number):
                yield last

    def settle(self, manifest: Manifest) -> None:
        """Its tables have it, and all before it."""
        self._work.replace(f"{SETTLED}{manifest.query}.json", orjson.dumps({"number": manifest.number}))

    def _called(self) -> dict[str, str]:
        """Queries by their ids, with what they were called when they were drawn."""
        texts = [self._work.read(name) for name in self._work.names(QUERIES)]
        forms = [orjson.loads(text) for text in texts if text]
        return {str(form["id"]): str(form.get("name", "")) for form in forms}

    def _source(self, query: str) -> str:
        """The source of files whose entries name none, as older ones did: their query is called by its URI."""
        if query not in self._sources:
            self._sources = self._called()
        called = self._sources.get(query, "")
        return unquote(called.removeprefix("file://")) if called.startswith("file://") else called

    def _name(self, file: str, form: Mapping[str, str], known: str | None) -> str:
        """Keeps a query's id under `queries/`, where `queries` finds it; the one that stands there."""
        if known in self._named:
            return str(known)
        at = f"{QUERIES}{file}.json"
        kept = self._work.read(at) or self._work.put_if_absent(at, orjson.dumps(form))
        found = str(orjson.loads(kept)["id"])
        self._named.add(found)
        return found

    def _names(self, query: str, above: int) -> Iterator[str]:
        return self._work.names(f"{FOLDER}{query}/", after=manifest_name(query, above) if above >= 0 else "")

    def _read(self, name: str) -> Manifest | None:
        text = self._work.read(name)
        return None if text is None else Manifest.decoded(text)
