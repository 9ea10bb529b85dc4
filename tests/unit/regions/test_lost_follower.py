"""A follower that is lost for good makes room for another, and no id is given twice, whatever became of it."""

from contextlib import suppress

import pytest

from sigla.model import BodyKey, Guid, SchemaId
from sigla.regions import promotion, rules
from sigla.regions.giving import carried_out
from sigla.regions.refusals import IdMayBeGiven, NoBlock, NotFollowed, RefusedAs, RoleChanged
from sigla.second_region import polled_follower
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.replay import embedded
from tests.unit.regions.test_following import NAME, asked, asking, pair, turns


def test_a_follower_that_is_lost_makes_room_for_another_and_is_refused_from_then_on() -> None:
    with pair() as each:
        turns(each.follower())
        here = embedded(each.here).region
        with pytest.raises(RoleChanged):
            carried_out(promotion.dismissed(here, "another"))
        assert carried_out(promotion.dismissed(here, NAME)).changed
        assert not carried_out(promotion.dismissed(here, NAME)).changed, "it is done"
        for epoch in (1, 3):
            with pytest.raises(NotFollowed, match="this follower was given up there") as refused:
                each.told(asked(epoch=epoch))
            assert refused.value.reason is RefusedAs.GIVEN_UP
        role = here.role()
        assert role is not None
        assert (role.epoch, str(role.peer), role.writes) == (3, "", True), "it is not the follower again"
        each.followed.begin()
        each.told(asked(follower="another", epoch=3))
        with pytest.raises(NotFollowed, match="another follows it already"):
            each.told(asked(follower="a third", epoch=3))
        with pytest.raises(NotFollowed, match="is in epoch 3, and the follower in epoch 1"):
            each.told(asked(follower="another"))


def test_ids_of_a_lost_follower_that_is_promoted_by_force_are_not_given_by_its_primary() -> None:
    """Before it is dismissed and after that, with and without ids beyond the first block, and whoever follows then."""
    for used in (0, 7, 3 * rules.BLOCK):
        with pair() as each:
            follower = each.follower()
            turns(follower)
            here, there = (embedded(world) for world in (each.here, each.there))
            if used:
                with asking(follower):
                    here.catalog.raise_counter(".", SchemaId(used))
            turns(follower)
            carried_out(promotion.forced(there.region, now=0))
            forced = _ids_alone(there)
            carried_out(promotion.dismissed(here.region, NAME))
            first = here.catalog.next_id(".")
            here.catalog.raise_counter(".", SchemaId(first + 5 * rules.BLOCK))
            assert first > max(forced, default=0)
            if forced:
                with pytest.raises(IdMayBeGiven, match=f"may have been given in region {NAME}"):
                    here.catalog.admit(BodyKey(".", SchemaId(forced[-1])), Guid("0" * 32))


def _ids_alone(store: EmbeddedStore) -> range:
    """Those that a region gives which no other one follows, and which is not reconciled."""
    store.follow_ceilings(polled_follower(store))
    given: list[int] = []
    with suppress(NoBlock):
        given.append(store.catalog.next_id("."))
        counter = store.region.look(".").counter
        assert counter is not None
        store.catalog.raise_counter(".", counter.ceiling)
        given.append(counter.ceiling)
        store.catalog.next_id(".")
    return range(given[0], given[-1] + 1) if given else range(0)


def test_while_no_region_follows_ids_go_on_and_whoever_begins_knows_them() -> None:
    """A copy that is begun and given up leaves a registry that goes on."""
    with pair() as each:
        here = embedded(each.here)
        here.catalog.raise_counter(".", SchemaId(7 * rules.BLOCK))
        assert here.catalog.next_id(".") == 7 * rules.BLOCK + 1
        each.follower().turn()
        ceilings = [embedded(world).region.look(".").counter for world in (each.here, each.there)]
        assert ceilings[0]
        assert ceilings[1]
        assert ceilings[0].ceiling == ceilings[1].ceiling
        with pytest.raises(NoBlock):
            here.catalog.raise_counter(".", SchemaId(99 * rules.BLOCK))
