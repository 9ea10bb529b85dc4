"""Roles and ceilings of ids, in every store: who may write, and how far ids are given."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sigla.changes import ConfigChanged, ContextListed, NumberingSet
from sigla.errors import Closed, Conflict
from sigla.model import REGISTRY_WIDE, BodyKey, Config, SchemaId, Settings
from sigla.ports.regions import Region
from sigla.regions import giving, rules
from sigla.regions.nouns import Counter, KnownBy, RegionKind, RegionSeen, Role
from sigla.regions.refusals import IdMayBeGiven, NoBlock
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW, FixedClock, a_draft, a_guid, a_nonce, a_registered, a_text, registered
from tests.contract.aws import AwsStores
from tests.contract.conftest import Stores
from tests.contract.observing import ORDERS, head
from tests.unit.registry.tell import s

BLOCK = 6

PRIMARY = Role(1, RegionKind.PRIMARY, peer=KnownBy("B"), armed=NOW)
FOLLOWER = Role(1, RegionKind.FOLLOWER, peer=KnownBy("A"), armed=NOW)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK", BLOCK)
    monkeypatch.setattr(fence, "COPIES", 3)


@pytest.fixture
def here(stores: Stores) -> Region:
    return stores.region


@pytest.fixture
def there(stores: Stores) -> Iterator[Region]:
    """The region of another registry in a store of the same kind, which follows."""
    with EmbeddedStore() as embedded:
        other: Region = embedded.region
        if isinstance(stores, AwsStores):
            other = AwsRegion.of(stores.dynamodb, stores.table, SystemClock(), registry=f"{stores.registry}-b")
        become(other, FOLLOWER)
        yield other


def become(region: Region, role: Role) -> Role:
    """The role as it is now."""
    assert region.set_role(region.role(), role)
    now = region.role()
    assert now is not None
    return now


def counter(next: int, ceiling: int, epoch: int = 1, first: int = 1) -> Counter:
    return Counter(SchemaId(next), SchemaId(ceiling), epoch, SchemaId(first))


def drawn(here: Region, there: Region | None, many: int = 1) -> list[int]:
    return [giving.carried_out(giving.drawn(here, there, ".")) for _ in range(many)]


def listed(stores: Stores, context: str = ".c", epoch: int = 0) -> None:
    stores.catalog.commit(ContextListed(context, NOW, a_nonce(), epoch=epoch))


# --- roles -----------------------------------------------------------------------------------------------------------


def test_a_registry_has_no_role_before_it_gets_one(stores: Stores) -> None:
    """That is every registry of today: it commits and gives ids as ever."""
    registered(stores.catalog, ORDERS)
    assert stores.region.role() is None
    assert stores.region.look(".") == RegionSeen(None, None)
    assert stores.catalog.next_id(".") == 1
    assert stores.region.look(".").counter == counter(1, 1, epoch=0)


def test_a_role_is_replaced_by_whoever_saw_it(here: Region) -> None:
    first = become(here, PRIMARY)
    assert replace(first, turn=0) == PRIMARY
    closed = become(here, replace(first, open=False, token="t"))
    assert (closed.open, closed.token, closed.epoch) == (False, "t", 1)
    assert not here.set_role(first, PRIMARY), "it was seen before another change"
    assert not here.set_role(None, PRIMARY)
    assert here.role() == closed


def test_a_change_of_a_role_that_was_cut_off_is_finished_by_the_same_call(here: Region) -> None:
    role = become(here, PRIMARY)
    assert here.set_role(role, role)
    assert here.role() == role


@pytest.mark.parametrize(
    "role",
    [FOLLOWER, Role(2, RegionKind.JOINING), Role(1, RegionKind.PRIMARY, open=False)],
    ids=["follows", "joins", "closed"],
)
def test_a_region_that_takes_no_writes_refuses_commits_and_ids(stores: Stores, role: Role) -> None:
    """They are refused apart from lost races: the writer goes elsewhere, and does not try again here."""
    registered(stores.catalog, ORDERS)
    stores.catalog.snapshot(ORDERS)
    become(stores.region, role)
    before = head(stores.catalog)
    for write in (
        lambda: stores.catalog.commit(a_registered(before, id=2, text="text 2")),
        lambda: listed(stores),
        lambda: stores.catalog.next_id("."),
        lambda: stores.catalog.raise_counter(".", SchemaId(9)),
    ):
        with pytest.raises(Closed):
            write()
    assert head(stores.catalog) == before
    assert stores.catalog.contexts() == ()


def test_a_region_that_is_opened_takes_writes_again(stores: Stores) -> None:
    role = become(stores.region, replace(PRIMARY, open=False))
    with pytest.raises(Closed):
        listed(stores)
    become(stores.region, replace(role, open=True))
    listed(stores)
    assert stores.catalog.contexts() == (".c",)


def test_what_was_decided_in_another_epoch_is_decided_anew(stores: Stores) -> None:
    """In between the other region may have written: what was seen then is of another life."""
    become(stores.region, replace(PRIMARY, epoch=3))
    assert stores.catalog.snapshot(ORDERS).epoch == 3
    with pytest.raises(Conflict):
        listed(stores, epoch=1)
    listed(stores, epoch=3)


def test_what_is_told_of_a_commit_is_told_for_another_region_once_there_is_a_role(stores: Stores) -> None:
    """Its epoch, and what the other region carries out; a registry without a role writes neither."""
    listed(stores, ".before")
    become(stores.region, PRIMARY)
    listed(stores, ".first")
    become(stores.region, replace(PRIMARY, epoch=3))
    listed(stores, ".third")
    told = [(row.get("epoch"), row.get("commit")) for _, row in stores.journal.read()]
    assert [epoch for epoch, _ in told] == [None, 1, 3]
    assert told[0] == (None, None)
    assert [".first" in str(told[1]), ".third" in str(told[2])] == [True, True]


def test_the_settings_of_the_whole_registry_and_the_role_leave_each_other_alone(stores: Stores) -> None:
    """One row has both in AWS: neither of them may take the other away."""
    change = ConfigChanged(REGISTRY_WIDE, Settings(), Config(level="FULL"), NOW, a_nonce())
    stores.catalog.commit(change)
    role = become(stores.region, PRIMARY)
    own = stores.catalog.snapshot(REGISTRY_WIDE).chain.own
    assert own.config == Config(level="FULL")
    stores.catalog.commit(ConfigChanged(REGISTRY_WIDE, own, None, NOW, a_nonce()))
    assert stores.region.role() == role
    assert stores.catalog.snapshot(REGISTRY_WIDE).chain.own.config is None


def test_a_role_alone_is_no_settings(stores: Stores) -> None:
    become(stores.region, PRIMARY)
    registry = Registry(stores.catalog, stores.bodies, FixedClock())
    assert stores.catalog.snapshot(ORDERS).chain.registry_wide == Settings()
    registry.change_mode(REGISTRY_WIDE, "IMPORT")
    assert stores.catalog.snapshot(ORDERS).chain.registry_wide.mode == "IMPORT"
    assert stores.region.role() is not None


# --- counters --------------------------------------------------------------------------------------------------------


def test_ids_go_on_where_they_were_when_a_registry_gets_a_role(stores: Stores, there: Region) -> None:
    given = [stores.catalog.next_id(".") for _ in range(2)]
    become(stores.region, PRIMARY)
    assert [*given, *drawn(stores.region, there, 2)] == [1, 2, 3, 4]
    assert stores.catalog.next_id(".") == 5
    assert stores.region.look(".").counter == counter(5, 2 * BLOCK)


def test_a_registry_beyond_its_block_tells_the_other_region_before_it_goes_on(stores: Stores, there: Region) -> None:
    """Otherwise the other one, once promoted, would begin below what was given here."""
    stores.catalog.raise_counter(".", SchemaId(20))
    become(stores.region, PRIMARY)
    assert drawn(stores.region, there) == [21]
    told = there.look(".").counter
    assert told is not None
    assert (told.ceiling, told.epoch) == (20 + BLOCK, 1)


def test_ceilings_of_before_are_told_without_a_draw(stores: Stores, there: Region) -> None:
    stores.catalog.raise_counter(".", SchemaId(20))
    stores.catalog.raise_counter(".small", SchemaId(2))
    become(stores.region, PRIMARY)
    for context in (".", ".small"):
        giving.carried_out(giving.tell_ceiling(stores.region, there, context))
    assert there.look(".").counter == counter(0, 20)
    assert there.look(".small").counter is None, "its block is taken for granted"


def test_a_block_is_raised_when_half_of_it_is_used(here: Region, there: Region) -> None:
    become(here, PRIMARY)
    assert drawn(here, there, 2) == [1, 2]
    assert there.look(".").counter is None
    assert drawn(here, there) == [3]
    assert there.look(".").counter == counter(0, 2 * BLOCK)
    assert here.look(".").counter == counter(3, 2 * BLOCK)


def test_without_the_other_region_the_block_is_given_to_its_end(here: Region) -> None:
    become(here, PRIMARY)
    assert drawn(here, None, BLOCK) == list(range(1, BLOCK + 1))
    with pytest.raises(NoBlock) as refused:
        drawn(here, None)
    assert refused.value.code == 50002
    assert "region B" in refused.value.message


def test_a_new_epoch_begins_above_all_that_was_told(here: Region, there: Region) -> None:
    """Its first raise stops the old primary, which may not know of it yet."""
    become(here, PRIMARY)
    assert drawn(here, there, BLOCK + 1)[-1] == BLOCK + 1
    ceiling = 2 * BLOCK
    become(there, Role(2, RegionKind.PRIMARY, peer=KnownBy("A")))
    assert drawn(there, here) == [ceiling + 1]
    assert there.look(".").counter == counter(ceiling + 1, 3 * BLOCK, epoch=2, first=ceiling + 1)
    with pytest.raises(Closed):
        drawn(here, None)


def test_a_raise_for_an_epoch_that_is_over_is_refused(here: Region, there: Region) -> None:
    become(here, PRIMARY)
    become(there, Role(2, RegionKind.PRIMARY, peer=KnownBy("A")))
    drawn(there, here)
    assert drawn(here, there, BLOCK)[-1] == BLOCK
    with pytest.raises(Closed):
        drawn(here, there)


SEEN = counter(0, 12, epoch=2)


@pytest.mark.parametrize(
    "standing, role, epoch, seen, done",
    [
        (None, FOLLOWER, 1, None, True),
        (None, FOLLOWER, 1, SEEN, False),
        (SEEN, FOLLOWER, 2, SEEN, True),
        (SEEN, FOLLOWER, 3, SEEN, True),
        (SEEN, FOLLOWER, 1, SEEN, False),
        (SEEN, FOLLOWER, 2, None, False),
        (SEEN, FOLLOWER, 2, SEEN._replace(ceiling=SchemaId(11)), False),
        (SEEN, FOLLOWER, 2, SEEN._replace(next=SchemaId(3)), True),
        (SEEN, Role(2, RegionKind.PRIMARY), 2, SEEN, True),
        (SEEN, Role(2, RegionKind.JOINING), 2, SEEN, False),
    ],
)
def test_when_a_ceiling_may_be_raised_for_the_other_region(
    here: Region, *, standing: Counter | None, role: Role, epoch: int, seen: Counter | None, done: bool
) -> None:
    """A region that joins may have forgotten what it gave; only its ceilings may be copied."""
    become(here, role)
    if standing is not None:
        assert here.set_counter(".", None, standing)
    assert here.raise_for(".", epoch, seen, SchemaId(18)) is done
    after = here.look(".").counter
    assert after == (counter(0, 18, epoch, standing.first if standing else 1) if done else standing)
    if role.kind is RegionKind.JOINING:
        assert here.copy_ceiling(".", epoch, seen, SchemaId(18))


def test_a_region_without_a_role_is_no_peer(here: Region) -> None:
    assert not here.raise_for(".", 1, None, SchemaId(BLOCK))


def test_a_follower_that_was_told_of_a_ceiling_gives_no_id_of_it(stores: Stores) -> None:
    """Its counter has the epoch of the primary, whose ids these are: a body of it would be in their way here."""
    become(stores.region, FOLLOWER)
    assert stores.region.raise_for(".", 1, None, SchemaId(2 * BLOCK))
    stores.catalog.snapshot(ORDERS)
    with pytest.raises(Closed):
        stores.catalog.next_id(".")
    assert stores.region.look(".").counter == counter(0, 2 * BLOCK)


def test_a_counter_without_a_ceiling_is_raised_as_one_that_ends_where_it_is(stores: Stores) -> None:
    """A rejoining registry may have contexts in which nothing was given since it got its first role."""
    stores.catalog.raise_counter(".", SchemaId(4))
    become(stores.region, FOLLOWER)
    seen = stores.region.look(".").counter
    assert seen == counter(4, 4, epoch=0)
    assert stores.region.raise_for(".", 2, seen, SchemaId(18))
    assert stores.region.look(".").counter == counter(4, 18, epoch=2)


def test_a_counter_is_put_only_in_the_place_of_the_one_that_was_seen(here: Region) -> None:
    assert here.set_counter(".", None, counter(1, 6))
    assert not here.set_counter(".", None, counter(2, 6))
    assert not here.set_counter(".", counter(2, 6), counter(3, 6))
    assert here.set_counter(".", counter(1, 6), counter(6, 12, 2, 7))
    assert here.look(".").counter == counter(6, 12, 2, 7)


def test_ceilings_only_rise_and_only_in_their_epoch(here: Region) -> None:
    here.set_counter(".", None, counter(1, 6))
    assert here.raise_own(".", 1, SchemaId(12))
    assert here.raise_own(".", 1, SchemaId(3))
    assert not here.raise_own(".", 2, SchemaId(20))
    assert not here.raise_own(".other", 1, SchemaId(20))
    assert here.look(".").counter == counter(1, 12)


def test_ids_are_passed_over_below_the_ceiling_alone(here: Region) -> None:
    here.set_counter(".", None, counter(1, 6))
    assert here.pass_over(".", 1, SchemaId(4))
    assert here.pass_over(".", 1, SchemaId(2))
    assert not here.pass_over(".", 1, SchemaId(7))
    assert not here.pass_over(".", 2, SchemaId(5))
    assert here.look(".").counter == counter(4, 6)


# --- ids that are brought --------------------------------------------------------------------------------------------


def admitted(here: Region, there: Region | None, id: int, *, held: bool = False) -> None:
    giving.carried_out(giving.admitted(here, there, ".", SchemaId(id), lambda: held))


def test_an_id_above_the_ceiling_is_brought_once_the_other_region_knows(here: Region, there: Region) -> None:
    become(here, PRIMARY)
    admitted(here, None, BLOCK)
    with pytest.raises(NoBlock):
        admitted(here, None, 50)
    admitted(here, there, 50)
    assert there.look(".").counter == counter(0, 50 + BLOCK)
    assert drawn(here, there) == [1]


def test_below_its_first_id_a_promoted_region_takes_what_it_knows_alone(here: Region, there: Region) -> None:
    """What the lost region gave last is not known: another content under the same id would be a second meaning."""
    role = become(here, Role(2, RegionKind.PRIMARY, peer=KnownBy("A"), reconciled=False))
    with pytest.raises(IdMayBeGiven) as refused:
        admitted(here, there, BLOCK)
    assert refused.value.message == (
        f"Id {BLOCK} may have been given in region A before the promotion; run `sigla rejoin`, or "
        "`sigla regions abandon` with the URL of this registry if that region never comes back"
    )
    assert refused.value.code == 42205
    admitted(here, there, BLOCK, held=True)
    admitted(here, there, BLOCK + 1)
    become(here, replace(role, reconciled=True))
    admitted(here, there, BLOCK)


def test_an_import_keeps_to_the_bounds(stores: Stores) -> None:
    """From a client's request to the refusal, and the same content that is held is taken."""
    registry = Registry(stores.catalog, stores.bodies, FixedClock())
    known = registry.register(s("known"), a_draft(a_text("Known"))).id
    assert known == 1
    become(stores.region, Role(2, RegionKind.PRIMARY, peer=KnownBy("A"), reconciled=False))
    registry.change_mode(s("i"), "IMPORT")
    with pytest.raises(IdMayBeGiven):
        registry.register(s("i"), a_draft(a_text("New"), id=2, version=1))
    assert registry.register(s("i"), a_draft(a_text("Known"), id=1, version=1)).id == 1
    with pytest.raises(NoBlock):
        registry.register(s("i"), a_draft(a_text("Far"), id=100, version=2))
    assert stores.bodies.last(".") == 1, "no body stands under an id that was refused"
    stores.catalog.admit(BodyKey(".", SchemaId(2 * BLOCK)), a_guid("x"))


def test_numbering_is_not_set_back_to_where_the_other_region_may_have_given(stores: Stores) -> None:
    become(stores.region, Role(2, RegionKind.PRIMARY, peer=KnownBy("A"), reconciled=False))
    catalog = stores.catalog
    catalog.snapshot(ORDERS)
    assert catalog.next_id(".") == BLOCK + 1
    with pytest.raises(IdMayBeGiven):
        catalog.commit(NumberingSet(".", SchemaId(BLOCK + 1), SchemaId(2), NOW, a_nonce()))
    with pytest.raises(NoBlock):
        catalog.commit(NumberingSet(".", SchemaId(BLOCK + 1), SchemaId(1_000), NOW, a_nonce()))
    catalog.commit(NumberingSet(".", SchemaId(BLOCK + 1), SchemaId(BLOCK), NOW, a_nonce()))
    assert catalog.next_id(".") == BLOCK + 1


def test_a_registry_registers_across_its_block(stores: Stores, there: Any) -> None:
    """All of it, from a draft to its id, with the other region where the catalog finds it."""
    become(stores.region, PRIMARY)
    catalog: Any = stores.catalog
    getattr(catalog, "_catalog", catalog).peer = there
    registry = Registry(stores.catalog, stores.bodies, FixedClock())
    given = [registry.register(s(f"o-{n}"), a_draft(a_text(f"T{n}"))).id for n in range(2 * BLOCK + 1)]
    assert given == list(range(1, 2 * BLOCK + 2))
    assert there.look(".").counter.ceiling == 3 * BLOCK
