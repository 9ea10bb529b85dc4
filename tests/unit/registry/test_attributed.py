"""Commits of a command with several threads: each is of the epoch in which its own thread has asked."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from sigla.changes import Author, ModeChanged
from sigla.errors import Conflict
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.store import AwsStore
from tests.build import NOW, FixedClock, a_draft, a_nonce
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.unit.registry.tell import s


def test_what_a_thread_decided_is_of_no_later_epoch_that_another_thread_has_met(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The region has given writes away in between, and got them back."""
    monkeypatch.setattr(fence, "COPIES", 2)
    with (
        in_process(tables=Tables()) as clients,
        closing(AwsStore(clients, make_table(clients.dynamodb), BUCKET, FixedClock())) as store,
        ThreadPoolExecutor(1) as other,
    ):
        assert store.region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy("b")))
        importing = attributed(Registry(store.catalog, store.bodies, store.clock), Author("cli", "import"))
        seen = other.submit(importing.catalog.snapshot, s("slow")).result()
        role = store.region.role()
        assert role
        assert store.region.set_role(role, Role(3, RegionKind.PRIMARY, peer=KnownBy("b")))
        importing.register(s("quick"), a_draft())
        slow = ModeChanged(s("slow"), seen.chain.own, "READONLY", NOW, a_nonce())
        with pytest.raises(Conflict):
            other.submit(importing.catalog.commit, slow).result()
        assert importing.catalog.snapshot(s("slow")).chain.own.mode is None
