"""One directory, one process, and what a crash leaves of it."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import sigla
from sigla.errors import BodyDamaged, BodyLost, StoreError
from sigla.model import BodyKey, SchemaId, Search
from sigla.stores.sqlite.database import CatalogLost, OtherRegistry, TooNew
from sigla.stores.sqlite.reading import ReadingStore
from sigla.stores.sqlite.store import DataInUse, EmbeddedStore
from tests.build import a_body, a_subject, registered

EVERYWHERE = Search(context=None)

REGISTERING = """
import sys
from collections.abc import Callable
from pathlib import Path
from sigla.stores.sqlite.store import EmbeddedStore
from tests.unit.embedded.test_store import register

with EmbeddedStore(Path(sys.argv[1])) as store:
    number = len(list(store.journal.read()))
    while True:
        with store.group():
            written = [register(store, number + each) for each in range(1, 9)]
        number += len(written)
        print(*written, flush=True)
"""


def register(store: EmbeddedStore, number: int) -> int:
    """A new content in a new subject; every fourth one in a named context."""
    subject = a_subject(f"s{number}", ".eu" if number % 4 == 0 else ".")
    id = store.catalog.next_id(subject.context)
    store.bodies.put(BodyKey(subject.context, id), a_body(f"text {number}", subject=subject))
    registered(store.catalog, subject, id=id, text=f"text {number}")
    return number


def check(folder: Path) -> set[int]:
    """Opens what a crash left, holds it against itself, and says which registrations are there."""
    with EmbeddedStore(folder) as store:
        there = set()
        ids: dict[str, set[int]] = {".": set(), ".eu": set()}
        for subject, row in store.catalog.versions(EVERYWHERE, deleted=True, latest_only=False):
            assert store.bodies.get(BodyKey(subject.context, row.id)).schema.text == f"text {subject.name[1:]}"
            assert store.bodies.named(row.guid) == (BodyKey(subject.context, row.id),)
            ids[subject.context].add(row.id)
            there.add(int(subject.name[1:]))
        for context, found in ids.items():
            # No gaps, and no unknown body.
            assert found == set(range(1, len(found) + 1))
            assert store.catalog.max_id(context) == store.bodies.last(context) == len(found)
        assert len(list(store.journal.read())) == len(there)
    assert [name for _, _, names in os.walk(folder / "default" / "pending") for name in names] == []
    return there


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """With a sentence that says what to do."""
    with (
        EmbeddedStore(tmp_path),
        pytest.raises(DataInUse, match=r"Another process is using the data in .*; stop it or"),
    ):
        EmbeddedStore(tmp_path)
    EmbeddedStore(tmp_path).close()


def test_data_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    """And left alone; the lock is given back."""
    EmbeddedStore(tmp_path).close()
    database = sqlite3.connect(tmp_path / "catalog.sqlite")
    database.execute("UPDATE state SET layout = 99")
    database.commit()
    database.close()
    for _ in range(2):
        with pytest.raises(
            TooNew, match=r"layout 99, written by a newer release.*Install that release or a later one,"
        ):
            EmbeddedStore(tmp_path)


@pytest.mark.parametrize("opened", [EmbeddedStore, ReadingStore])
def test_bodies_without_a_catalog_are_no_empty_registry(
    tmp_path: Path, opened: type[EmbeddedStore | ReadingStore]
) -> None:
    """Its ids would be given to other schemas, and the records that bear them would be read as those."""
    with EmbeddedStore(tmp_path) as store:
        register(store, 1)
    for name in ("catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    for _ in range(2):  # the first look leaves nothing that a second one takes for a catalog
        with pytest.raises(
            CatalogLost, match=r"schemas of default.*Restore catalog.sqlite from a backup.*sigla import"
        ):
            opened(tmp_path)


def test_what_was_begun_and_cut_off_is_an_empty_registry(tmp_path: Path) -> None:
    """There are folders, and no body in them."""
    (tmp_path / "default" / "schemas" / "_").mkdir(parents=True)
    (tmp_path / "default" / "schemas" / "_" / "notes.txt").touch()
    (tmp_path / "catalog.sqlite").touch()
    with EmbeddedStore(tmp_path) as store:
        register(store, 1)


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    """Closing twice does no harm, and leaves one file of the catalog."""
    with EmbeddedStore(tmp_path) as store:
        for number in range(1, 10):
            register(store, number)
    store.close()
    assert not (tmp_path / "catalog.sqlite-wal").exists()
    assert check(tmp_path) == set(range(1, 10))


def test_versions_are_counted(tmp_path: Path) -> None:
    """All that are stored, of every context."""
    with EmbeddedStore(tmp_path / "deep" / "er") as store:
        assert store.count() == 0
        for number in range(1, 10):
            register(store, number)
        assert store.count() == 9


def test_memory_leaves_nothing_behind() -> None:
    """It is for trying out."""
    with EmbeddedStore() as store:
        register(store, 1)
        assert store.path.exists()
    assert not store.path.exists()


@pytest.mark.parametrize("name", ["a", "A", "../a", "it's"])
def test_the_name_of_a_registry_begins_every_path(tmp_path: Path, name: str) -> None:
    """Whatever it is, it leads nowhere else."""
    for _ in range(2):
        with EmbeddedStore(tmp_path / "x", registry=name) as store:
            store.bodies.put(BodyKey(".", SchemaId(1)), a_body(name, nonce="n"))
            assert store.bodies.get(BodyKey(".", SchemaId(1))).schema.text == name
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_directory_belongs_to_one_registry(tmp_path: Path) -> None:
    """Its catalog is one, and another's bodies would not be among its own: refused before anything is tidied up."""
    EmbeddedStore(tmp_path, registry="a").close()
    for opening in (EmbeddedStore, ReadingStore):
        with pytest.raises(OtherRegistry, match=f"{tmp_path} are those of the registry a, not of b: give its own name"):
            opening(tmp_path, registry="b")
        opening(tmp_path, registry="a").close()


def test_older_data_belong_to_the_registry_whose_bodies_they_are(tmp_path: Path) -> None:
    """They do not tell its name; without a body every registry may come, and of two sharing it each may go on."""
    older(tmp_path)
    for name in ("A", "b"):
        with EmbeddedStore(tmp_path, registry=name):
            """It is refused to no registry."""
    with EmbeddedStore(tmp_path, registry="A") as store:
        store.bodies.put(BodyKey(".", SchemaId(1)), a_body("A"))
    with pytest.raises(OtherRegistry, match="the registry A, not of b"):
        EmbeddedStore(tmp_path, registry="b")
    (tmp_path / "b" / "schemas").mkdir(parents=True)
    EmbeddedStore(tmp_path, registry="b").close()
    with pytest.raises(OtherRegistry, match="the registry A and b, not of c"):
        ReadingStore(tmp_path, registry="c")


def older(folder: Path) -> None:
    EmbeddedStore(folder).close()
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as database:
        database.execute("ALTER TABLE state DROP COLUMN registry")


class Crashes:
    """Copies the data wherever it could stop: before and after every sync, link and commit."""

    def __init__(self, data: Path, copies: Path) -> None:
        self.data, self.copies = data, copies
        self.acknowledged: list[int] = []
        self.at: list[tuple[Path, set[int]]] = []
        self.copying = False

    def copy(self) -> None:
        if self.copying:  # copying makes folders itself
            return
        self.copying = True
        target = self.copies / str(len(self.at))
        shutil.copytree(self.data, target)
        self.at.append((target, set(self.acknowledged)))
        self.copying = False

    def around(self, act: Callable[..., object]) -> Callable[..., object]:
        def acting(*arguments: object, **options: object) -> object:
            self.copy()
            result = act(*arguments, **options)
            self.copy()
            return result

        return acting


def test_a_crash_at_any_point_leaves_all_or_nothing_of_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Acknowledged is there; what is there is whole; nothing is in the way of what comes next."""
    crashes = Crashes(tmp_path / "data", tmp_path)
    with EmbeddedStore(crashes.data) as store:
        register(store, 1)
        crashes.acknowledged.append(1)
        for name in ("fsync", "link", "unlink", "mkdir"):
            monkeypatch.setattr(os, name, crashes.around(getattr(os, name)))
        with store.group():
            for number in (2, 3, 4):
                register(store, number)
        crashes.acknowledged += [2, 3, 4]
        crashes.copy()
        monkeypatch.undo()
    assert len(crashes.at) > 20
    for folder, acknowledged in crashes.at:
        there = check(folder)
        assert acknowledged <= there
        assert there in ({1}, {1, 2, 3, 4})
        with EmbeddedStore(folder) as store:
            register(store, 9)
        assert check(folder) == there | {9}


def test_a_crash_at_any_point_leaves_a_tombstone_or_a_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never an id without a meaning; a group that was not committed buried nothing."""
    crashes = Crashes(tmp_path / "data", tmp_path)
    key = BodyKey(".", SchemaId(1))
    with EmbeddedStore(crashes.data) as store:
        register(store, 1)
        for name in ("fsync", "link", "replace", "unlink"):
            monkeypatch.setattr(os, name, crashes.around(getattr(os, name)))
        with store.group():
            store.bodies.bury(key)
            registered(store.catalog, a_subject("s2"), id=1, text="text 1")
        crashes.copy()
        monkeypatch.undo()
    states = set()
    for folder, _ in crashes.at:
        with EmbeddedStore(folder) as store:
            states.add((store.bodies.get(key).gone, len(store.catalog.holders(key))))
    assert states == {(False, 1), (True, 2)}


@pytest.mark.parametrize("content", [None, b"damaged"], ids=["missing", "damaged"])
def test_a_crash_while_a_body_is_mended_leaves_it_lost_or_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    """Never another one; whoever mends it again succeeds."""
    crashes = Crashes(tmp_path / "data", tmp_path)
    key = BodyKey(".", SchemaId(1))
    body = a_body("text 1", subject=a_subject("s1"))
    with EmbeddedStore(crashes.data) as store:
        register(store, 1)
        file = crashes.data / "default" / "schemas" / "_" / "0000000001.json"
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        for name in ("fsync", "link", "replace", "unlink"):
            monkeypatch.setattr(os, name, crashes.around(getattr(os, name)))
        store.bodies.mend(key, body, None)
        crashes.copy()
        monkeypatch.undo()
    seen = set()
    for folder, _ in crashes.at:
        with EmbeddedStore(folder) as store:
            try:
                assert store.bodies.get(key) == body
                seen.add("mended")
            except BodyLost:
                seen.add("lost")
            store.bodies.mend(key, body, None)
            assert store.bodies.get(key) == body
    assert seen == {"lost", "mended"}


def test_a_body_that_nobody_can_read_is_a_failure_of_the_store(tmp_path: Path) -> None:
    """Not an absence: another program touched the file, or the disk does not read it."""
    with EmbeddedStore(tmp_path) as store:
        register(store, 1)
        file = tmp_path / "default" / "schemas" / "_" / "0000000001.json"
        file.write_bytes(b"{}")
        with pytest.raises(BodyDamaged, match=r"id 1 in context . is damaged"):
            store.bodies.get(BodyKey(".", SchemaId(1)))
        file.unlink()
        file.mkdir()
        with pytest.raises(BodyDamaged, match=r"id 1 in context . is damaged"):
            store.bodies.get(BodyKey(".", SchemaId(1)))
        (tmp_path / "default" / "schemas" / "%2eeu").write_bytes(b"")
        with pytest.raises(StoreError, match=r"context .eu cannot be listed"):
            store.bodies.last(".eu")


def test_torn_files_of_a_crash_are_swept(tmp_path: Path) -> None:
    """Also those that no reader can read."""
    with EmbeddedStore(tmp_path) as store:
        register(store, 1)
    pending = tmp_path / "default" / "pending" / "_"
    (pending / "0000000002.2.new").write_bytes(b'{"schemaTy')
    (pending / "0000000003.1.new").write_bytes(b"")
    (pending / "strange").write_bytes(b"")
    assert check(tmp_path) == {1}


@pytest.mark.process
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs the Linux kernel: SIGKILL")
def test_killing_the_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Three times, under load."""
    acknowledged: set[int] = set()
    path = [str(Path(sigla.__file__).parent.parent), str(Path(__file__).parents[3])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    for lines in (1, 7, 20):
        command = [sys.executable, "-c", REGISTERING, str(tmp_path / "data")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
            assert child.stdout
            for _ in range(lines):
                acknowledged |= {int(number) for number in child.stdout.readline().split()}
            child.kill()
            acknowledged |= {int(number) for line in child.stdout if line.endswith("\n") for number in line.split()}
        assert acknowledged
        assert acknowledged <= check(tmp_path / "data")
