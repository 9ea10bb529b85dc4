"""The directory of zones: what their heartbeats said, as long as they go on saying it."""

from dataclasses import replace

import pytest

from sigla.ports.zones import Zone
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.stores.sqlite.zones import EmbeddedZones
from tests.build import NOW, FixedClock

A = Zone("use1-az1", "us-east-1a", "https://a.example", healthy=True, checked=NOW)
B = Zone("use1-az2", "us-east-1b", "https://b.example", healthy=False, checked=NOW, reason="its function fails")

MINUTE = 60_000


@pytest.fixture
def directory() -> EmbeddedZones:
    return EmbeddedZones()


@pytest.fixture
def registry(store: EmbeddedStore, clock: FixedClock, directory: EmbeddedZones) -> Registry:
    return Registry(store.catalog, store.bodies, clock, directory=directory)


def test_a_registry_without_zones_has_an_empty_directory(store: EmbeddedStore, clock: FixedClock) -> None:
    assert Registry(store.catalog, store.bodies, clock).zones() == ()


def test_zones_are_told_as_their_heartbeats_found_them(registry: Registry, directory: EmbeddedZones) -> None:
    directory.beat(B)
    directory.beat(A)
    assert registry.zones() == (A, B)


def test_a_silent_zone_is_not_healthy(registry: Registry, directory: EmbeddedZones, clock: FixedClock) -> None:
    """One heartbeat may get lost; whoever has missed three is not to be counted on."""
    directory.beat(A)
    clock.time = NOW + 3 * MINUTE - 1
    assert registry.zones() == (A,)
    clock.time += 1
    silence = "not heard of since 2023-11-14 22:13:20 UTC"
    assert registry.zones() == (replace(A, healthy=False, reason=silence),)
    directory.beat(replace(A, checked=clock.time))
    assert [zone.healthy for zone in registry.zones()] == [True]


def test_a_zone_that_was_removed_is_forgotten(registry: Registry, directory: EmbeddedZones, clock: FixedClock) -> None:
    """After an hour; its row may stay longer."""
    directory.beat(A)
    directory.beat(replace(B, checked=NOW + MINUTE))
    clock.time = NOW + 60 * MINUTE
    assert [zone.id for zone in registry.zones()] == ["use1-az2"]
