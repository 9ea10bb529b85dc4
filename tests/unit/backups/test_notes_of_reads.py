"""What a backup has of who reads what: the notes of a directory go with its catalog, what an audit found stays."""

from pathlib import Path

import pytest

from sigla.changes.kinds import DAY_MS
from sigla.cli import main
from sigla.model import BodyKey, SchemaId
from sigla.ports.audits import FoundRecords
from sigla.ports.clock import day_of
from sigla.ports.reads import LastRead, Read
from sigla.registry import Registry
from sigla.registry.audits import packed
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW, FixedClock, a_draft
from tests.unit.registry.tell import s

ONE = BodyKey(".", SchemaId(1))


def test_a_directory_that_is_restored_goes_on_with_the_notes_of_the_backup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are of the same registry, at an earlier moment; its data are looked through anew."""
    data, file, restored = (str(tmp_path / name) for name in ("data", "backup.sigla", "restored"))
    with EmbeddedStore(Path(data)) as store:
        Registry(store.catalog, store.bodies, FixedClock()).register(s("orders-value"), a_draft())
        store.reads.note([Read(ONE, "orders-value", "")], NOW, 400 * DAY_MS)
        store.audits.put(packed(FoundRecords(NOW, (), ())))
    assert main(["backup", file, "--data", data]) == 0, capsys.readouterr().err
    assert main(["restore", file, restored]) == 0, capsys.readouterr().err
    with EmbeddedStore(Path(restored)) as store:
        assert store.reads.last([ONE]) == {ONE: [LastRead("orders-value", "anyone", day_of(NOW))]}
        assert store.audits.get() is None
