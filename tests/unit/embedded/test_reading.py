"""A directory that others write is read as they have committed it."""

from pathlib import Path

import pytest

from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId, Subject
from sigla.opening import embedded, reading
from sigla.settings import Address, Settings
from sigla.stores.not_opened import DataNotOpened
from tests.build import a_draft

ORDERS = Subject(".", "orders-value")


def test_a_registry_is_read_while_it_runs(tmp_path: Path) -> None:
    with embedded(Settings(), tmp_path) as (registry, _):
        registry.register(ORDERS, a_draft())
        with reading(Address.of(data=str(tmp_path))) as read:
            assert [row.version for row in read.catalog.history(ORDERS)] == [1]
            assert read.bodies.get(BodyKey(".", SchemaId(1))).subject == ORDERS
            newest = read.catalog.snapshot(ORDERS).head.newest
            assert newest is not None
            registry.delete_subject(ORDERS)
            assert read.catalog.snapshot(ORDERS).head.newest is None
            assert [row.deleted for row in read.catalog.history(ORDERS)] == [True]
            speaker = read.catalog.speaker(BodyKey(".", SchemaId(1)))
            assert speaker
            assert speaker.deleted
            assert len([*read.journal.read()]) == 2


def test_who_reads_writes_nothing(tmp_path: Path) -> None:
    with embedded(Settings(), tmp_path) as (registry, _):
        registry.register(ORDERS, a_draft())
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    with reading(Address.of(data=str(tmp_path))) as read:
        with pytest.raises(StoreError, match="opened to be read"):
            read.catalog.next_id(".")
        with pytest.raises(StoreError, match="opened to be read"):
            read.bodies.bury(BodyKey(".", SchemaId(1)))
        assert read.catalog.max_id(".") == 1
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("begun", [False, True])
def test_a_directory_without_a_registry_is_named(tmp_path: Path, *, begun: bool) -> None:
    """Also where a start was cut off."""
    if begun:
        (tmp_path / "catalog.sqlite").touch()
    with pytest.raises(DataNotOpened, match=f"Found no registry in {tmp_path}"), reading(Address.of(str(tmp_path))):
        raise AssertionError


def test_a_bucket_alone_is_not_read_as_a_whole_registry() -> None:
    """Before anything is asked of it."""
    where = Address.of(bucket="some-bucket")
    with pytest.raises(DataNotOpened, match="table of the registry in s3://some-bucket is not named"), reading(where):
        raise AssertionError
