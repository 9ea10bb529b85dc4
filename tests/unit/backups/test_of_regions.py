"""A backup of one of two regions makes a registry of its own, of which neither region knows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sigla.backups.restoring import restore
from sigla.model import BodyKey, SchemaId, Version
from sigla.ports.progress import unseen
from sigla.regions import rules
from sigla.regions.adoption import AdoptedIds, given_before
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_body
from tests.unit.backups.test_directories import back_up
from tests.unit.registry.tell import ONE, TWO, register, s

FOLLOWED = Role(1, RegionKind.PRIMARY, peer=KnownBy("b"), at="http://b", pair="p")
ROLES = {
    "primary": FOLLOWED,
    "closed": Role(1, RegionKind.PRIMARY, peer=KnownBy("b"), open=False, pair="p"),
    "follower": Role(1, RegionKind.FOLLOWER, peer=KnownBy(url="http://a"), name="b", pair="p"),
    "joining": Role(1, RegionKind.JOINING, peer=KnownBy(url="http://a"), name="b", pair="p"),
    "by force": Role(2, RegionKind.PRIMARY, peer=KnownBy(url="http://a"), reconciled=False, adopts=True, pair="p"),
}


@pytest.fixture(params=ROLES)
def role(request: pytest.FixtureRequest) -> Role:
    return ROLES[request.param]


@pytest.fixture
def file(tmp_path: Path, role: Role) -> Path:
    with EmbeddedStore(tmp_path / "data") as store:
        register(Registry(store.catalog, store.bodies, SystemClock()), "orders", ONE)
        store.bodies.put(BodyKey(".", SchemaId(2)), a_body("Adopted"))
        store.catalog.raise_counter(".", SchemaId(2))
        assert store.region.set_role(None, role)
    back_up(tmp_path / "data", tmp_path / "file")
    return tmp_path / "file"


@contextmanager
def restored(file: Path, skip: int = 1_000_000) -> Iterator[EmbeddedStore]:
    new = file.with_name("new")
    restore(file, new, keys=True, flawed=False, skip=skip, progress=unseen)
    with EmbeddedStore(new) as store:
        yield store


@pytest.mark.parametrize("skip", [0, 1_000_000])
def test_it_takes_writes_and_gives_no_id_of_either_region(file: Path, role: Role, skip: int) -> None:
    """The other one may go on, and take the next epoch."""
    with restored(file, skip) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        assert registry.version(s("orders"), Version(1)).id == 1
        register(registry, "new", TWO)
        assert registry.version(s("new"), Version(1)).id == rules.granted(role.epoch + 1) + skip + 1


@pytest.mark.parametrize("skip", [0, 1_000_000])
def test_it_gives_no_id_of_either_region_however_many_promotions_there_were(
    file: Path, role: Role, tmp_path: Path, skip: int
) -> None:
    """After ten, the ids that another region may give lie a million above the last one that is here."""
    late = replace(role, epoch=role.epoch + 10)
    with EmbeddedStore(tmp_path / "data") as store:
        assert store.region.set_role(store.region.role(), late)
    back_up(tmp_path / "data", tmp_path / "late")
    with restored(tmp_path / "late", skip) as store:
        register(Registry(store.catalog, store.bodies, SystemClock()), "new", TWO)
        assert store.catalog.max_id(".") == rules.granted(late.epoch + 1) + skip + 1


def test_the_regions_do_not_take_it_for_one_of_them(file: Path, role: Role) -> None:
    with restored(file) as store:
        now = store.region.role()
    assert now
    assert now.is_alone
    assert not now.is_of(role)
    assert not now.elsewhere


def test_ids_without_a_version_go_on_meaning_what_they_did(file: Path, role: Role) -> None:
    """Where the region was promoted by force."""
    with restored(file) as store:
        catalog = AdoptedIds(store.catalog, store.bodies, given_before(store.region.look))
        assert bool(catalog.speaker(BodyKey(".", SchemaId(2)))) == role.adopts
