"""What a backup takes of a disk, and what it leaves there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sigla.backups import making, scratch
from sigla.backups.contents import NotABackup
from sigla.ports.progress import Progress, unseen
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.unit.registry.tell import ONE, register


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with EmbeddedStore(tmp_path / "data") as store:
        register(Registry(store.catalog, store.bodies, SystemClock()), "orders", ONE)
    return tmp_path / "data"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.tar.gz"


def back_up(data: Path, file: Path, progress: Progress = unseen) -> None:
    making.make(Address.of(data=str(data)), file, force=True, keys=True, progress=progress)


@pytest.mark.process
def test_what_a_killed_backup_left_is_swept_by_the_next_one(data: Path, file: Path) -> None:
    """Each night's file has another name: what a killed command left would fill the disk, a catalog a night."""
    theirs = file.parent / f"{scratch.PREFIX}of-another"
    theirs.mkdir()
    (theirs / "notes").touch()
    script = (
        "import sys; from pathlib import Path; from sigla.backups.scratch import scratch_folder\n"
        "with scratch_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'catalog.sqlite').touch(); print(folder, flush=True); input()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(file.parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    left = Path(process.stdout.readline().strip())
    back_up(data, file)
    assert (left / "catalog.sqlite").exists(), "a backup that is being made beside it is left alone"
    process.kill()
    process.communicate()
    back_up(data, file)
    assert not left.exists()
    assert theirs.exists(), "nothing is removed that no backup made"


def test_a_backup_does_not_fill_the_disk_of_a_registry(data: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server writes to the same disk: a backup that takes the last byte would stop it."""
    catalog = (data / "catalog.sqlite").stat().st_size
    steps: list[str] = []
    for free in (scratch.RESERVE + catalog - 1, scratch.RESERVE):
        usage = shutil.disk_usage(data)._replace(free=free)
        with monkeypatch.context() as patched:
            patched.setattr(shutil, "disk_usage", lambda _, usage=usage: usage)
            with pytest.raises(NotABackup, match=r"left: make room there, or name a file on another disk"):
                back_up(data, file, lambda what, *_: steps.append(what))
    assert not [step for step in steps if "pages" in step], "nothing was begun"
    assert not [each for each in file.parent.iterdir() if each != data]
