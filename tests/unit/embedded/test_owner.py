"""A data directory is its owner's: settings of KEKs may hold credentials of a key service."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.local import start_warnings
from tests.attack.keys import kek
from tests.build import FixedClock


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """What most systems have: every user may read what another one makes."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_data_directory_is_read_by_its_owner_alone(tmp_path: Path) -> None:
    """The catalog as well, and what SQLite writes beside it."""
    data = tmp_path / "data"
    with EmbeddedStore(data) as store:
        kek("k", kms_props={"secret": "s3cr3t"})(Registry(store.catalog, store.bodies, FixedClock()))
        assert mode_of(data) == 0o700
        assert {mode_of(path) for path in data.glob("catalog.sqlite*")} == {0o600}
        assert len(list(data.glob("catalog.sqlite*"))) == 3
        assert not store.tells_others


def test_a_directory_that_others_may_read_stays_so_and_is_told_of_when_it_has_keks(tmp_path: Path) -> None:
    """An earlier release made it, or a person: a backup of another user may depend on it."""
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    (data / "catalog.sqlite").touch(mode=0o644)
    with EmbeddedStore(data) as store:
        assert mode_of(data) == 0o755
        assert not store.tells_others
        kek("k")(Registry(store.catalog, store.bodies, FixedClock()))
        assert store.tells_others
        (told,) = start_warnings.of_directory(data, writable=store.writable, readable=store.tells_others)
        assert str(told["message"]).endswith(f"chmod -R go= {data}")
        data.chmod(0o700)
        assert not store.tells_others
