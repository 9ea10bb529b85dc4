"""What a registry costs that holds 1,000, 10,000 or 100,000 schemas: a registration, a read, an item of a list.

The peer of a full registry is a nearly empty one that does the same work in turns with it; all three are data
directories on a real disk, and the verbs are called without HTTP and without a cache of bodies. Then one subject with
up to 1,000 versions, and one schema that up to 1,000 subjects hold.

It may mislead: all files are in the memory of the operating system, as they are on a machine that is not too small.
"""

import gc
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count, islice
from pathlib import Path

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, best_of, main, median_of
from sigla.model import LATEST, BodyKey, Draft, Page, SchemaId, Search, Subject
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore

FLAT = Goal(1.2)
PAGE = 1_000
READS = 50
Work = Callable[[], float]


class Full:
    """A registry with so many schemas, and the works that are measured on it; each yields seconds per piece."""

    def __init__(self, schemas: int, path: Path, opened: ExitStack) -> None:
        self.schemas = schemas
        self.store = opened.enter_context(EmbeddedStore(filled.copy_of(schemas, path)))
        self.registry = filled.registry_over(self.store)
        self.fresh = filled.fresh()
        ids = [SchemaId(number) for number in random.Random(schemas).sample(range(1, schemas + 1), min(schemas, 1_000))]
        self.known, self.unread = ids[:READS], iter(ids)
        # What the operating system has to fetch from the disk first is not ours to measure.
        for number in ids:
            self.store.bodies.get(BodyKey(".", number))

    def register(self) -> float:
        """New subjects, each durable on its own."""
        offered = list(islice(self.fresh, 5))
        begun = time.perf_counter()
        for subject, draft in offered:
            with self.store.group():
                self.registry.register(subject, draft)
        return (time.perf_counter() - begun) / len(offered)

    def register_without_waiting(self) -> float:
        """New subjects, made durable together; processor time alone, without waiting for the disk."""
        offered = list(islice(self.fresh, 100))
        begun = time.process_time()
        with self.store.group():
            for subject, draft in offered:
                self.registry.register(subject, draft)
        return (time.process_time() - begun) / len(offered)

    def read(self) -> float:
        """Ids that were not asked for before."""
        return self._read(list(islice(self.unread, READS)))

    def read_again(self) -> float:
        return self._read(self.known)

    def _read(self, ids: list[SchemaId]) -> float:
        begun = time.perf_counter()
        for number in ids:
            self.registry.meaning(BodyKey(".", number))
        return (time.perf_counter() - begun) / len(ids)

    def list_page(self, begin: int) -> int:
        return len(self.registry.schemas(Search(), page=Page(begin, PAGE)))

    def list_first(self) -> float:
        return self._per_item(0)

    def list_last(self) -> float:
        return self._per_item(max(0, self.schemas - PAGE))

    def memory_of_a_page(self) -> float:
        """Bytes that a page in the middle takes while it is made, at most."""
        gc.collect()
        tracemalloc.start()
        self.list_page(self.schemas // 2 if self.schemas > PAGE else 0)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    def _per_item(self, begin: int) -> float:
        started = time.perf_counter()
        items = self.list_page(begin)
        return (time.perf_counter() - started) / items


def lines(*, quick: bool = False) -> Lines:
    sizes = (10, 30) if quick else (1_000, 10_000, 100_000)
    rounds = 1 if quick else 15
    with filled.workspace() as path, ExitStack() as opened:
        full = [Full(size, path, opened) for size in sizes]
        for what, works, measure in (
            ("registration, each durable", [each.register for each in full], median_of),
            ("registration, processor time", [each.register_without_waiting for each in full], best_of),
            ("first read by id", [each.read for each in full], best_of),
            ("read by id again", [each.read_again for each in full], best_of),
            ("listed item, first page of 1,000", [each.list_first for each in full], best_of),
            ("listed item, last page of 1,000", [each.list_last for each in full], best_of),
        ):
            yield from _flat(what, sizes, measure(rounds, *works), "s")
        peaks = best_of(3, *[each.memory_of_a_page for each in full])
        yield from _flat("memory that a page of 1,000 takes", sizes, peaks, "B")
    yield from one_subject((1, 5) if quick else (1, 10, 100, 1_000), rounds)
    yield from one_schema((1, 5) if quick else (1, 10, 100, 1_000), rounds)


def one_subject(sizes: tuple[int, ...], rounds: int) -> Lines:
    """Subjects with more and more versions; the next one is checked against the latest."""
    with filled.workspace() as path, EmbeddedStore(path / "data") as store:
        registry = filled.registry_over(store)
        subjects = [filled.subject(size) for size in sizes]
        next_version = [iter(range(1, 1_000_000)) for _ in sizes]
        with store.group():
            for subject, size, versions in zip(subjects, sizes, next_version, strict=True):
                for _ in range(size):
                    registry.register(subject, Draft(filled.text(size, next(versions))))

        def add(n: int) -> float:
            drafts = [Draft(filled.text(sizes[n], next(next_version[n]))) for _ in range(10)]
            begun = time.process_time()
            with store.group():
                for draft in drafts:
                    registry.register(subjects[n], draft)
            return (time.process_time() - begun) / len(drafts)

        def latest(n: int) -> float:
            begun = time.perf_counter()
            for _ in range(50):
                registry.version(subjects[n], LATEST)
            return (time.perf_counter() - begun) / 50

        every = range(len(sizes))
        added = best_of(min(rounds, 5), *_each(add, every))
        read = best_of(rounds, *_each(latest, every))
    yield from _flat("one subject's next version, processor time", sizes, added, "s", of="versions")
    yield from _flat("one subject's latest version, of so many", sizes, read, "s", of="versions")


def one_schema(sizes: tuple[int, ...], rounds: int) -> Lines:
    """One content that more and more subjects hold, as all topics hold the same key: `"string"`."""
    with filled.workspace() as path, EmbeddedStore(path / "data") as store:
        registry = filled.registry_over(store)
        with store.group():
            ids = [_held_by(registry, number, size) for number, size in enumerate(sizes)]

        def read(n: int) -> float:
            begun = time.perf_counter()
            for _ in range(50):
                registry.schema_by_id(ids[n])
            return (time.perf_counter() - begun) / 50

        def read_after_change(n: int) -> float:
            registry.register(Subject(".", f"shared-{n}-again-{next(again)}"), Draft(_shared(n)))
            begun = time.perf_counter()
            registry.schema_by_id(ids[n])
            return time.perf_counter() - begun

        again = count()
        every = range(len(sizes))
        figures = best_of(rounds, *_each(read, every))
        changed = best_of(rounds, *_each(read_after_change, every))
    yield from _flat("one id that so many subjects hold, read again", sizes, figures, "s", of="subjects")
    yield from _flat("one id that so many subjects hold, after one more", sizes, changed, "s", of="subjects")


def _shared(number: int) -> str:
    return json.dumps({"type": "record", "name": f"Shared{number}", "fields": [{"name": "f", "type": "string"}]})


def _held_by(registry: Registry, number: int, holders: int) -> SchemaId:
    draft = Draft(_shared(number))
    records = [registry.register(Subject(".", f"shared-{number}-{holder}"), draft) for holder in range(holders)]
    return records[0].id or SchemaId(0)


def _each(work: Callable[[int], float], numbers: range) -> Iterator[Work]:
    return (partial(work, n) for n in numbers)


def _flat(what: str, sizes: tuple[int, ...], figures: list[float], unit: str, of: str = "schemas") -> Lines:
    """The smallest for orientation, the others beside it."""
    for size, figure in zip(sizes, figures, strict=True):
        if size == sizes[0]:
            yield Line(f"{what}: {size:,} {of}", figure, unit)
        else:
            yield Line(f"{what}: {size:,} {of}", figure, unit, figures[0], f"{sizes[0]:,} {of}", FLAT)


if __name__ == "__main__":
    main(lines, __doc__)
