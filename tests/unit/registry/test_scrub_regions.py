"""A region that follows is sound as it is: it gives no ids, and so counts none."""

from contextlib import closing
from typing import Any

from sigla.model import SchemaId
from sigla.regions import promotion, rules
from sigla.regions.giving import carried_out
from sigla.stores.sqlite.promoting import DirectoryPair
from sigla.upkeep.counters import is_behind
from sigla.upkeep.flaws import Flaw
from tests.attack.replay import ask, embedded
from tests.attack.stories import HISTORY, ONE, register
from tests.attack.test_aws_copying import account
from tests.attack.test_aws_region_turns import Regions, regions
from tests.contract.aws import moto
from tests.unit.regions.test_following import pair, turns
from tests.unit.registry.test_scrub import found_in

__all__ = ["account", "moto", "regions"]


def test_a_directory_that_follows_has_no_flaws_nor_has_it_once_it_was_promoted() -> None:
    with pair() as each:
        follower = each.follower()
        turns(follower)
        ask(each.here, [*HISTORY, register(":.c:b", ONE)])
        turns(follower)
        here, there = embedded(each.here), embedded(each.there)
        assert found_in(there) == []
        drain = DirectoryPair(there, here).drain
        ways: Any = {"rehearse": tuple, "token": "t", "now": 0, "url": "http://there"}
        carried_out(promotion.planned(there.region, here.region, drain, **ways))
        assert found_in(there) == found_in(here) == []
        ask(each.there, [register("after", ONE)])
        assert found_in(there) == []


def test_the_counter_of_a_table_that_follows_is_not_behind(regions: Regions) -> None:
    regions.join()
    regions.turn(regions.b)
    with closing(regions.store(regions.b)) as store:
        assert not is_behind(store, Flaw("COUNTER_BEHIND", ".", SchemaId(1)))
        assert store.bodies.last(".") > store.catalog.max_id(".")


def test_a_counter_of_a_primary_that_ids_have_passed_is_found_as_ever() -> None:
    with pair() as each:
        ask(each.here, HISTORY)
        store = embedded(each.here)
        store.region.set_counter(".", store.region.look(".").counter, rules.begun(None, 1))
        assert [flaw.kind for flaw in found_in(store)] == ["COUNTER_BEHIND"]
