"""Whole topics of a Confluent registry, imported: every answer of that registry is ours, wherever we keep it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sigla import journal
from sigla.journal.replay import State, TopicRecord, replayed
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.exporting import standing
from sigla.upkeep.importing import CONFLICTING, IDENTICAL, IMPORTED, SIDE_BY_SIDE, Report, import_state
from tests.build import tiers_before
from tests.contract.aws import Account, AwsStores, engine
from tests.protocol.dumped import (
    BY_HAND,
    BY_HAND_HIGHEST,
    BY_HAND_TOLD,
    COMPACTED_HIGHEST,
    EVERYTHING,
    by_hand_reads,
    compacted,
    differences,
    reads,
    records,
)

__all__ = ["engine"]


class CutOff(Exception):
    """The process ends here."""


@contextmanager
def a_registry() -> Iterator[tuple[Registry, EmbeddedStore]]:
    with EmbeddedStore() as store:
        bodies = tiers_before(store.bodies, unsettled=store.bodies.unsettled)
        yield Registry(store.catalog, bodies, SystemClock()), store


@contextmanager
def on_aws(of: Account) -> Iterator[tuple[Registry, AwsStores]]:
    with of.stores() as stores:
        yield Registry(stores.catalog, tiers_before(stores.bodies), SystemClock()), stores


def cut_off(registry: Registry, state: State) -> None:
    """An import side by side whose process ends half-way through the versions."""

    def progress(what: str, done: int, total: int = 0, /) -> None:
        if what == "versions" and done > total // 2:
            raise CutOff

    with pytest.raises(CutOff):
        import_state(registry, state, threads=SIDE_BY_SIDE, progress=progress)


def imported_or_there(report: Report) -> dict[str, int]:
    counted = report.of(IDENTICAL)
    return {kind: number + counted.pop(kind, 0) for kind, number in report.of(IMPORTED).items()} | counted


Whole = tuple[Registry, EmbeddedStore, Report]


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    """The dump, imported once for all who only read it, or import it again."""
    with a_registry() as (registry, store):
        yield registry, store, import_state(registry, replayed(records()), group=store.group)


def test_every_answer_is_that_of_the_registry_the_dump_is_from(whole: Whole) -> None:
    """Ids, versions, deletes, settings, contexts, GUIDs, times; and imported again, nothing happens."""
    registry, store, report = whole
    assert report.of(IMPORTED) == EVERYTHING
    assert (report.reasons, report.remarks) == ({}, {})
    assert asyncio.run(differences(registry, reads())) == []
    rows = list(store.journal.read())
    again = import_state(registry, replayed(records()), group=store.group)
    assert (again.of(IMPORTED), again.of(IDENTICAL)) == ({}, EVERYTHING)
    assert list(store.journal.read()) == rows


@pytest.mark.soak
def test_on_dynamodb_too_every_answer_is_that_of_the_registry(engine: Account) -> None:
    """DynamoDB's own engine and S3: cut off among the versions, begun again, and then once more, for nothing."""
    with on_aws(engine) as (registry, stores):
        cut_off(registry, replayed(records()))
        report = import_state(registry, replayed(records()), threads=SIDE_BY_SIDE)
        assert imported_or_there(report) == EVERYTHING
        assert (report.reasons, report.remarks) == ({}, {})
        rows = list(stores.journal.read())
        again = import_state(registry, replayed(records()), threads=SIDE_BY_SIDE)
        assert (again.of(IMPORTED), again.of(IDENTICAL)) == ({}, EVERYTHING)
        assert list(stores.journal.read()) == rows
        assert asyncio.run(differences(registry, reads())) == []


@pytest.mark.parametrize(
    "topic, told, highest",
    [
        (BY_HAND, BY_HAND_TOLD, BY_HAND_HIGHEST),
        # Kafka forgets what ids without a holder meant.
        (compacted(BY_HAND), {**BY_HAND_TOLD, "id": 1}, COMPACTED_HIGHEST),
    ],
)
def test_a_topic_with_every_turn_of_the_rules_answers_as_they_say(
    topic: list[TopicRecord], told: dict[str, int], highest: int
) -> None:
    """Tombstones of the unknown, deletes in a race, records of old forms, ids with two texts, ids given up."""
    with a_registry() as (registry, store):
        report = import_state(registry, replayed(topic), group=store.group)
        assert report.of(IMPORTED) == told
        assert asyncio.run(differences(registry, by_hand_reads())) == []
        assert registry.catalog.max_id(".") == highest


def test_on_dynamodb_too_it_answers_as_they_say(engine: Account) -> None:
    """Several threads, cut off among the versions and begun again; and once more, for nothing."""
    with on_aws(engine) as (registry, stores):
        cut_off(registry, replayed(BY_HAND))
        report = import_state(registry, replayed(BY_HAND), threads=SIDE_BY_SIDE)
        assert imported_or_there(report) == BY_HAND_TOLD
        assert asyncio.run(differences(registry, by_hand_reads())) == []
        assert registry.catalog.max_id(".") == BY_HAND_HIGHEST
        rows = list(stores.journal.read())
        again = import_state(registry, replayed(BY_HAND), threads=SIDE_BY_SIDE)
        assert (again.of(IMPORTED), again.of(IDENTICAL)) == ({}, BY_HAND_TOLD)
        assert list(stores.journal.read()) == rows


@pytest.mark.parametrize("brief", [False, True])
def test_what_is_exported_of_it_is_as_good_as_the_dump(whole: Whole, brief: bool) -> None:
    """A registry that was made from one that was made from it: every twentieth of its answers."""
    _, store, _ = whole
    exported = (
        standing(store.catalog, store.bodies)
        if brief
        else journal.records((row for _, row in store.journal.read()), store.bodies)
    )
    state = replayed(TopicRecord(*record, offset) for offset, record in enumerate(exported))
    with a_registry() as (third, its):
        assert import_state(third, state, group=its.group).of(CONFLICTING) == {}
        assert asyncio.run(differences(third, reads()[::20])) == []
