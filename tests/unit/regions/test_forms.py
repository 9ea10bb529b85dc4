"""A registry of one region stores what it did, and says so; one with a role is closed to releases that know of none."""

from pathlib import Path

import pytest

from sigla import forms
from sigla.errors import FormTooNew
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import actions, fence, values
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.sqlite import tables
from sigla.stores.sqlite.database import TooNew
from sigla.stores.sqlite.store import EmbeddedStore
from tests.contract.aws import Account, moto
from tests.unit.registry.tell import s

__all__ = ["moto"]

PRIMARY = Role(1, RegionKind.PRIMARY, peer=KnownBy("B"))


def test_a_directory_says_that_it_has_a_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older program would give ids that the other region gives as well."""
    with EmbeddedStore(tmp_path / "data") as store:
        store.catalog.next_id(".")
        db = store._unit.connection
        assert db.execute("SELECT layout FROM state").fetchone() == (tables.LAYOUT,)
        assert [db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("region", "ceiling")] == [0, 0]
        assert store.region.set_role(None, PRIMARY)
    with EmbeddedStore(tmp_path / "data") as store:
        role = store.region.role()
        assert role is not None
        assert role.writes
    monkeypatch.setattr(tables, "LAYOUT_OF_REGIONS", 1)
    with pytest.raises(TooNew, match="layout 2"):
        EmbeddedStore(tmp_path / "data")


def test_an_older_release_neither_reads_nor_draws_beside_a_role(moto: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does not know it would not obey: it says what to install."""
    monkeypatch.setattr(fence, "COPIES", 1)
    with moto.stores() as stores:
        assert stores.catalog.next_id(".") == 1
        told = moto.dynamodb.scan(TableName=stores.table)["Items"]
        assert [set(item) for item in told] == [{"pk", "sk", "form", "next"}]
        assert stores.region.set_role(None, PRIMARY)
        stores.catalog.snapshot(s("a"))
        assert stores.catalog.next_id(".") == 2
        known = actions.Condition(actions._KNOWN.text, {**actions._KNOWN.values, f"known_{forms.FORM}": forms.ITEM})
        monkeypatch.setattr(actions, "_KNOWN", known)
        monkeypatch.setattr(values, "ITEM_OF_REGIONS", forms.ITEM)
        older = AwsCatalog(moto.dynamodb, stores.table, SystemClock(), registry=stores.registry)
        for ask in (lambda: older.snapshot(s("a")), lambda: older.next_id(".")):
            with pytest.raises(FormTooNew, match="install that release"):
                ask()
        older.close()
