"""A registry gets a second region: the other one joins, and ids are given as before."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sigla.errors import StoreError
from sigla.model import SchemaId
from sigla.ports.regions import Region
from sigla.regions import giving, rules
from sigla.regions.arming import armed
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import AlreadyARegion
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW
from tests.contract.aws import AwsStores
from tests.contract.conftest import Stores

BLOCK = 6
NAMES = ("A", "B")
CONTEXTS = (".", ".small", ".new")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK", BLOCK)
    monkeypatch.setattr(fence, "COPIES", 3)


@pytest.fixture
def there(stores: Stores) -> Iterator[Region]:
    """The region of another registry in a store of the same kind, with nothing in it."""
    with EmbeddedStore() as embedded:
        other: Region = embedded.region
        if isinstance(stores, AwsStores):
            other = AwsRegion.of(stores.dynamodb, stores.table, SystemClock(), registry=f"{stores.registry}-b")
        yield other


def arm(stores: Stores, there: Region) -> None:
    giving.carried_out(armed(stores.region, there, CONTEXTS, names=NAMES, now=NOW))


def kinds(stores: Stores, there: Region) -> list[tuple[str, int, str]]:
    return [(role.kind.value, role.epoch, role.peer) for role in (stores.region.role(), there.role()) if role]


def test_ids_are_given_while_the_other_region_joins(stores: Stores, there: Region) -> None:
    """Also where those of the first block are used up: the other one knows of a block more, and would begin above."""
    stores.catalog.raise_counter(".", SchemaId(20))
    stores.catalog.raise_counter(".small", SchemaId(2))
    arm(stores, there)
    assert kinds(stores, there) == [("primary", 1, "B"), ("joining", 0, "A")]
    drawn = [giving.carried_out(giving.drawn(stores.region, there, ".")) for _ in range(BLOCK)]
    assert drawn == [21, 22, 23, 24, 25, 26]
    told = there.look(".").counter
    assert told is not None
    assert told.ceiling >= drawn[-1]
    assert giving.carried_out(giving.drawn(stores.region, there, ".small")) == 3
    assert there.look(".small").counter is None


def test_whoever_is_promoted_begins_above_what_was_told(stores: Stores, there: Region) -> None:
    stores.catalog.raise_counter(".", SchemaId(20))
    arm(stores, there)
    joining = there.role()
    assert joining is not None
    assert there.set_role(joining, replace(joining, kind=RegionKind.PRIMARY, epoch=2))
    assert giving.carried_out(giving.drawn(there, stores.region, ".")) > 20 + BLOCK


def test_arming_that_is_cut_off_anywhere_is_done_again(stores: Stores, there: Region) -> None:
    """Before each request, and after it: the same two roles, and a ceiling that the other region knows of."""
    stores.catalog.raise_counter(".", SchemaId(20))
    for cut in range(100):
        course = armed(stores.region, there, CONTEXTS, names=NAMES, now=NOW)
        try:
            answer = None
            for _ in range(cut):
                answer = course.send(answer)()
        except StopIteration:
            break
    assert kinds(stores, there) == [("primary", 1, "B"), ("joining", 0, "A")]
    own, told = stores.region.look(".").counter, there.look(".").counter
    assert own is not None
    assert told is not None
    assert (own.next, own.ceiling) == (20, told.ceiling)
    assert own.ceiling > own.next


@pytest.mark.parametrize("kind, epoch", [(RegionKind.FOLLOWER, 1), (RegionKind.PRIMARY, 2), (RegionKind.JOINING, 2)])
def test_a_region_that_was_one_before_is_not_armed(stores: Stores, there: Region, kind: RegionKind, epoch: int) -> None:
    """It may have given ids: it joins by another way."""
    assert there.set_role(None, Role(epoch, kind, peer="A"))
    with pytest.raises(AlreadyARegion):
        arm(stores, there)
    assert stores.region.role() is None


def test_a_primary_of_a_later_epoch_is_not_armed(stores: Stores, there: Region) -> None:
    assert stores.region.set_role(None, Role(3, RegionKind.PRIMARY, peer="B"))
    with pytest.raises(AlreadyARegion):
        arm(stores, there)
    assert there.role() is None


def test_a_silent_region_leaves_the_registry_without_a_role(stores: Stores, there: Region) -> None:
    """The role is the last thing that it gets: until then it is the registry of before."""

    class Silent:
        def __getattr__(self, name: str) -> object:
            raise StoreError("silent")

    with pytest.raises(StoreError):
        giving.carried_out(armed(stores.region, Silent(), CONTEXTS, names=NAMES, now=NOW))  # type: ignore[arg-type]  # it answers nothing
    assert stores.region.role() is None
    assert there.role() is None
