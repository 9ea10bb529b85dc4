"""A whole topic of a Confluent registry, imported: every answer of that registry is ours.

`tests/vectors/dump` has 1,601 records of every kind, and 7,758 reads as they were answered in the end.
"""

import asyncio
import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sigla import journal
from sigla.cli import dumps
from sigla.embedded.clock import SystemClock
from sigla.embedded.store import EmbeddedStore
from sigla.journal.replay import TopicRecord, replayed
from sigla.registry import Registry
from sigla.registry.exporting import standing
from sigla.registry.importing import CONFLICTING, IDENTICAL, IMPORTED, import_state
from sigla.web.app import build
from tests.build import tiers_before
from tests.protocol import conversations
from tests.protocol.judge import UNORDERED, Ids

DUMP = Path(__file__).parent.parent / "vectors" / "dump"
EVERYTHING = {"version": 808, "id": 35, "config": 100, "mode": 129, "context": 96}


@pytest.fixture(scope="module")
def records() -> list[TopicRecord]:
    return dumps.read(DUMP / "records.jsonl.gz")


@contextmanager
def a_registry() -> Iterator[tuple[Registry, EmbeddedStore]]:
    with EmbeddedStore() as store:
        bodies = tiers_before(store.bodies, unsettled=store.bodies.unsettled)
        yield Registry(store.catalog, bodies, SystemClock()), store


@cache
def reads() -> list[Any]:
    with gzip.open(DUMP / "state.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


async def differences(registry: Registry, wanted: Iterable[Any]) -> list[str]:
    """Statuses, numbers of errors, bodies; lists that have no order as sets."""
    app, found = build(registry), []
    for read in wanted:
        status, text = await conversations._ask(app, {"method": "GET", "path": read["path"]}, Ids())
        ours, theirs = plain(read["path"], status, json.loads(text)), plain(read["path"], read["status"], read["body"])
        if ours != theirs:
            found.append(f"{read['path']}: recorded {theirs}, ours {ours}")
    return found


def plain(path: str, status: int, body: Any) -> Any:
    if status >= 400:
        return status, body["error_code"]
    return status, sorted(body, key=json.dumps) if UNORDERED.search(path) else body


def test_every_answer_is_that_of_the_registry_the_dump_is_from(records: list[TopicRecord]) -> None:
    """Ids, versions, deletes, settings, contexts, GUIDs, times; and imported again, nothing happens."""
    with a_registry() as (registry, store):
        report = import_state(registry, replayed(records), group=store.group)
        assert report.of(IMPORTED) == EVERYTHING
        assert (report.reasons, report.remarks) == ({}, {})
        assert asyncio.run(differences(registry, reads())) == []
        rows = list(store.journal.read())
        again = import_state(registry, replayed(records), group=store.group)
        assert (again.of(IMPORTED), again.of(IDENTICAL)) == ({}, EVERYTHING)
        assert list(store.journal.read()) == rows


@pytest.mark.parametrize("compacted", [False, True])
def test_what_is_exported_of_it_is_as_good_as_the_dump(records: list[TopicRecord], compacted: bool) -> None:
    """A registry that was made from one that was made from it: every twentieth of its answers."""
    with a_registry() as (registry, store), a_registry() as (third, its):
        import_state(registry, replayed(records), group=store.group)
        exported = (
            standing(store.catalog, store.bodies)
            if compacted
            else journal.records((row for _, row in store.journal.read()), store.bodies)
        )
        state = replayed(TopicRecord(*record, offset) for offset, record in enumerate(exported))
        assert import_state(third, state, group=its.group).of(CONFLICTING) == {}
        assert asyncio.run(differences(third, reads()[::20])) == []
