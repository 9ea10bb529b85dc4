"""What a served registry does when its role changes while it runs, and something fails at that moment."""

from contextlib import ExitStack

import pytest

from sigla.auth.guesses import Guesses
from sigla.errors import StoreError
from sigla.regions.nouns import RegionKind, Role
from sigla.second_region import keeper
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.served_region import region_alone
from tests.waiting import eventually

NOBODY = "http://127.0.0.1:1"


def test_a_primary_that_is_to_follow_goes_on_where_its_disk_failed_at_that_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has no name yet by which it follows, and writes one down: else it would send nothing on until a restart."""
    monkeypatch.setattr(keeper, "LOOK_S", 0.01)
    with EmbeddedStore() as store, ExitStack() as until:
        store.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="p"))
        region = region_alone(store, None, Guesses(FixedClock()), until)
        set_role, failures = store.region.set_role, [StoreError("the disk is full")]

        def failing_once(seen: Role | None, role: Role) -> bool:
            if role.name and failures:
                raise failures.pop()
            return set_role(seen, role)

        monkeypatch.setattr(store.region, "set_role", failing_once)
        set_role(store.region.role(), Role(2, RegionKind.FOLLOWER, peer=NOBODY, pair="p"))
        eventually(lambda: region.control.report().problem)
        assert not failures
        assert "127.0.0.1:1 does not answer" in region.control.report().problem
