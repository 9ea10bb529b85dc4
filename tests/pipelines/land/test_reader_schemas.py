"""What a topic is read as: the catalog says so, or what it said last, or the settings."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId, Subject, Version
from sigla.opening import embedded
from sigla.registry import Registry
from sigla.settings import Settings
from sigla.stores.sqlite.store import EmbeddedStore
from sigla_pipelines.land.bindings import Binding, CatalogAnswer, Head, Reader, Strategy
from sigla_pipelines.land.reader_schemas import Heads, Misbound, NoHead
from sigla_pipelines.places import open_place
from tests.build import FixedClock, a_draft, a_text

HOUR_MS = 3_600_000
ORDERS = Subject(".", "orders-value")
BOUND = Binding("orders", table="orders")


class Silent:
    """A catalog that does not answer."""

    def __getattr__(self, name: str) -> Any:
        raise StoreError("no answer")


@pytest.fixture
def registry() -> Iterator[Registry]:
    with embedded(Settings(default_level="NONE"), None) as (registry, store):
        assert isinstance(store, EmbeddedStore)
        yield registry


@pytest.fixture
def heads(registry: Registry, tmp_path: Path) -> Heads:
    return Heads(registry.catalog, open_place(tmp_path), FixedClock(), ".", (BOUND,), max_stale_ms=HOUR_MS)


def read_as(heads: Heads, binding: Binding) -> Head:
    """That of its one subject."""
    [head] = replace(heads, bindings=(binding,)).now().heads[binding].values()
    return head


def test_the_latest_version_is_read_as_and_every_id_is_known(registry: Registry, heads: Heads) -> None:
    for name in ("One", "Two", "Three"):
        registry.register(ORDERS, a_draft(a_text(name)))
    registry.delete_version(ORDERS, Version(2))
    assert read_as(heads, BOUND) == Head(
        "orders-value", BodyKey(".", SchemaId(3)), 3, ids={1: 1, 2: 2, 3: 3}, deleted=frozenset({2})
    )


def test_a_version_or_an_id_can_be_pinned(registry: Registry, heads: Heads) -> None:
    for name in ("One", "Two"):
        registry.register(ORDERS, a_draft(a_text(name)))
    assert read_as(heads, replace(BOUND, reader=Reader("version", 1))).reader.id == 1
    by_id = read_as(heads, replace(BOUND, reader=Reader("id", 2)))
    assert (by_id.reader.id, by_id.version) == (2, 2)
    with pytest.raises(Misbound, match="Subject orders-value has no version 9"):
        read_as(heads, replace(BOUND, reader=Reader("version", 9)))


def test_subjects_of_records_are_found_by_their_topic(registry: Registry, heads: Heads) -> None:
    for name in ("orders-com.acme.Paid", "orders-com.acme.Sent", "other-com.acme.Paid"):
        registry.register(Subject(".", name), a_draft(a_text(name[-4:])))
    binding = Binding("orders", strategy=Strategy.TOPIC_RECORD, table="{record}")
    found = replace(heads, bindings=(binding,)).now()
    assert {head.record for head in found.heads[binding].values()} == {"com.acme.Paid", "com.acme.Sent"}


def test_a_topic_without_a_subject_has_no_head(heads: Heads) -> None:
    assert heads.now().heads == {BOUND: {}}


def test_a_silent_catalog_is_what_it_said_last(registry: Registry, heads: Heads) -> None:
    """For as long as the settings allow; what is unknown then may have been registered since."""
    registry.register(ORDERS, a_draft())
    said = heads.now()
    silent = replace(heads, catalog=Silent())
    assert silent.now() == replace(said, stale=True)
    assert isinstance(heads.clock, FixedClock)
    heads.clock.time += HOUR_MS + 1
    with pytest.raises(NoHead, match=r"does not answer.*older than `max_stale`"):
        silent.now()


def test_without_a_catalog_a_first_start_needs_a_pinned_reader(heads: Heads) -> None:
    for catalog in (None, Silent()):
        with pytest.raises(NoHead, match=r"pin the reader with `reader: \{id: …\}`"):
            replace(heads, catalog=catalog).now()
    pinned = replace(BOUND, reader=Reader("id", 7))
    assert replace(heads, catalog=None, bindings=(pinned,)).now() == CatalogAnswer(
        {pinned: {"orders-value": Head("orders-value", BodyKey(".", SchemaId(7)), 0, {})}}, stale=True
    )


@pytest.mark.parametrize(
    "change",
    [
        {"topic": "payments"},
        {"part": "key"},
        {"reader": Reader("version", 1)},
        {"strategy": Strategy.TOPIC_RECORD},
        {"strategy": Strategy.RECORD, "records": ("com.acme.Paid",)},
    ],
    ids=str,
)
def test_what_was_bound_since_the_last_answer_waits_for_the_next(
    change: dict[str, Any], registry: Registry, heads: Heads
) -> None:
    """It would be read as what was asked for before, or be called unbound."""
    registry.register(ORDERS, a_draft())
    heads.now()
    silent = replace(heads, catalog=Silent(), bindings=(BOUND, replace(BOUND, **change)))
    with pytest.raises(
        NoHead, match=r"does not answer.*not cover the (values|keys) of \w+ as they are bound now: wait"
    ):
        silent.now()
    assert replace(silent, bindings=(replace(BOUND, table="elsewhere"),)).now().stale
