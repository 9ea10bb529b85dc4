"""A directory in one file, and a directory of that file."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from sigla.backups import making, restoring
from sigla.backups.contents import NotABackup
from sigla.cli import main
from sigla.contract import HIGHEST
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId
from sigla.ports.progress import Progress, unseen
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore, lock_data
from sigla.upkeep.importing import import_state
from tests.build import a_text
from tests.kept.stores import restore_directory
from tests.unit.journal.topic import state
from tests.unit.registry.lives import A_LIFE, contents
from tests.unit.registry.tell import ONE, THREE, TWO, register, s

KEPT = Path(__file__).parents[2] / "kept" / "2026-11-22"

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with a past: imports, deletes of all kinds, references, contexts; and an API key."""
    data = tmp_path_factory.mktemp("lived") / "data"
    with EmbeddedStore(data) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        import_state(registry, state(*A_LIFE))
        register(registry, "mine", ONE)
        register(registry, "lost", THREE)
        for permanent in (False, True):
            registry.delete_subject(s("lost"), permanent=permanent)
    EmbeddedKeys(data).put("orders", b'{"form": 1}')
    return data


@pytest.fixture
def data(lived: Path, tmp_path: Path) -> Path:
    """The same, for one test alone."""
    return Path(shutil.copytree(lived, tmp_path / "data"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.tar.gz"


def back_up(data: Path, file: Path, *, force: bool = False, progress: Progress = unseen) -> making.Made:
    return making.make(Address.of(data=str(data)), file, force=force, keys=True, progress=progress)


def restore(file: Path, to: Path, *, skip: int = 0, progress: Progress = unseen) -> restoring.Restored:
    return restoring.restore(file, to, keys=True, flawed=False, skip=skip, progress=progress)


def all_of(data: Path) -> object:
    with EmbeddedStore(data) as store:
        bodies = {key: store.bodies.get(key) for key in store.inventory.bodies()}
        return contents(Registry(store.catalog, store.bodies, SystemClock())), bodies


def test_what_is_restored_is_what_was_there(data: Path, file: Path, tmp_path: Path) -> None:
    """Ids, versions, times, deletes, settings, contexts, tombstones, the journal, keys."""
    made = back_up(data, file)
    assert restore(file, tmp_path / "restored").contents == made.contents
    assert all_of(tmp_path / "restored") == all_of(data)
    with EmbeddedStore(data) as ours, EmbeddedStore(tmp_path / "restored") as theirs:
        assert list(theirs.journal.read()) == list(ours.journal.read())
        assert list(theirs.keys.list()) == list(ours.keys.list()) != []
    assert not made.damaged


def test_a_registry_of_an_earlier_release_is_restored_as_it_is(file: Path, tmp_path: Path) -> None:
    """An upgrade begins with a backup."""
    restore_directory(KEPT, tmp_path / "data")
    address = Address.of(data=str(tmp_path / "data"))
    making.make(address, file, force=False, keys=True, progress=unseen)
    restored = restoring.restore(file, tmp_path / "restored", keys=True, flawed=True, skip=0, progress=unseen)
    assert {flaw.kind for flaw in restored.flaws} <= {"SECOND_NAME"}, "kept on purpose"
    bodies = [path.relative_to(tmp_path / "data") for path in (tmp_path / "data" / "default").rglob("*.json")]
    assert bodies
    for path in bodies:
        assert (tmp_path / "restored" / path).read_bytes() == (tmp_path / "data" / path).read_bytes()


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_keys_are_left_out_where_they_are_not_wanted(
    data: Path, file: Path, tmp_path: Path, command: str, capsys: Captured
) -> None:
    """A copy for a test environment must not let in those of production."""
    without = {command: ["--without-keys"]}
    assert main(["backup", str(file), "--data", str(data), *without.get("backup", [])]) == 0
    assert main(["restore", str(file), str(tmp_path / "restored"), *without.get("restore", [])]) == 0
    assert not EmbeddedKeys(tmp_path / "restored").names()
    told = capsys.readouterr().out
    assert "and 0 API keys" in told
    assert "API keys are those of the backup" not in told
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "restored")]) == 0


def test_what_is_written_while_it_is_copied_is_not_in_it(data: Path, file: Path, tmp_path: Path) -> None:
    """One moment: a purge and a registration that come later leave no half of themselves."""
    before = all_of(data)
    with EmbeddedStore(data) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())

        def writes(what: str, done: int, _: int = 0) -> None:
            if what == "bodies" and done == 0:
                register(registry, "later", TWO)
                for permanent in (False, True):
                    registry.delete_subject(s("mine"), permanent=permanent)

        back_up(data, file, progress=writes)
    assert all_of(data) != before
    assert not restore(file, tmp_path / "restored").flaws
    assert all_of(tmp_path / "restored") == before


def test_a_body_that_is_put_back_meanwhile_does_not_make_a_backup_unfit(data: Path, file: Path, tmp_path: Path) -> None:
    """A registration heals a lost body while the backup says that it is lost; what it says is what it has."""
    lost = data / "default/schemas/_/0000000003.json"
    content = lost.read_bytes()
    lost.unlink()

    def heals(what: str, *_: int) -> None:
        if what == "bodies":
            lost.write_bytes(content)

    made = back_up(data, file, progress=heals)
    assert [key.id for key in made.damaged] == [3]
    restored = restoring.restore(file, tmp_path / "restored", keys=True, flawed=True, skip=0, progress=unseen)
    assert restored.contents == made.contents


def registered(registry: Registry, prefix: str) -> set[int]:
    """The ids of new subjects in two contexts, of which one was empty."""
    names = [f"{context}{prefix}{number}" for number in range(3) for context in ("", ":.empty:")]
    return {register(registry, name, a_text(name.strip(":.").replace(":", ""))).id or 0 for name in names}


def test_an_id_given_after_the_backup_is_never_given_to_other_content(data: Path, file: Path, tmp_path: Path) -> None:
    """Records in Kafka bear it. It means nothing at first, and what it meant once it is imported."""
    back_up(data, file)
    dump = str(tmp_path / "dump.jsonl")
    with EmbeddedStore(data) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        later = registered(registry, "later")
    assert main(["export", dump, "--data", str(data)]) == 0
    assert main(["restore", str(file), str(tmp_path / "restored")]) == 0
    with EmbeddedStore(tmp_path / "restored") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        new = registered(registry, "new")
        assert min(new) > restoring.SKIPPED > max(later)
    assert main(["import", dump, "--data", str(tmp_path / "restored")]) == 0
    assert main(["export", f"{dump}.2", "--data", str(tmp_path / "restored")]) == 0
    assert main(["import", f"{dump}.2", "--data", str(tmp_path / "third"), "--raise-ids"]) == 0
    with EmbeddedStore(tmp_path / "third") as store:
        assert store.catalog.max_id(".empty") > restoring.SKIPPED, "an export keeps it"


def test_the_numbering_is_not_left_behind_in_a_log(data: Path, file: Path, tmp_path: Path) -> None:
    """Another process that has the catalog open keeps SQLite from folding its log; ids would be given twice."""
    back_up(data, file)
    target = tmp_path / "restored"
    others: list[sqlite3.Connection] = []

    def opens(what: str, *_: int) -> None:
        if what == "scrubbing" and not others:
            others.append(sqlite3.connect(target / restoring.SCRATCH / "catalog.sqlite"))
            others[0].execute("SELECT * FROM state").fetchall()

    with pytest.raises(NotABackup, match="End that process, or look at the disk, and restore once more"):
        restore(file, target, skip=restoring.SKIPPED, progress=opens)
    with closing(others[0]):
        assert not target.exists()
    restore(file, target, skip=restoring.SKIPPED)


def test_a_context_with_few_ids_left_is_not_used_up(data: Path, file: Path, tmp_path: Path, capsys: Captured) -> None:
    with EmbeddedStore(data) as store:
        store.catalog.raise_counter(".c", SchemaId(HIGHEST - 10))
    assert main(["backup", str(file), "--data", str(data)]) == 0
    assert main(["restore", str(file), str(tmp_path / "restored")]) == 2
    assert "Context .c has 10 ids left, and 1,000,000 would be left out" in capsys.readouterr().err
    assert main(["restore", str(file), str(tmp_path / "restored"), "--skip-ids", "5"]) == 0


def test_a_lost_body_is_told_by_both_commands(data: Path, file: Path, tmp_path: Path, capsys: Captured) -> None:
    """A backup that fails for it would leave none of the rest."""
    (data / "default/schemas/_/0000000003.json").unlink()
    assert main(["backup", str(file), "--data", str(data)]) == 1
    assert "The body of id 3 in context . is lost or damaged: run sigla scrub" in capsys.readouterr().err
    target = tmp_path / "restored"
    assert main(["restore", str(file), str(target)]) == 1
    assert "add --with-flaws" in capsys.readouterr().err
    assert not target.exists()
    assert main(["restore", str(file), str(target), "--with-flaws"]) == 1
    assert main(["scrub", "--settle", "0", "--data", str(target)]) == 1
    with EmbeddedStore(target) as store:
        assert store.bodies.get(BodyKey(DEFAULT_CONTEXT, SchemaId(1))).schema.text


def test_a_backup_is_for_its_owner_alone_and_replaces_nothing(data: Path, file: Path, capsys: Captured) -> None:
    command = ["backup", str(file), "--data", str(data)]
    assert main(command) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    first = file.read_bytes()
    assert main(command) == 2
    assert "add --force to replace it" in capsys.readouterr().err
    assert file.read_bytes() == first
    assert main([*command, "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["keys"], told["damaged"], told["packed"]) == (1, 0, file.stat().st_size)
    assert told["bodies"] == len(list((data / "default/schemas").rglob("*.json")))


PARTS = ["catalog.sqlite", "catalog.sqlite-wal", "lock", "default/keys/orders.json", "default/b"]


@pytest.mark.parametrize("part", PARTS)
def test_a_backup_never_replaces_a_part_of_the_registry(data: Path, part: str, capsys: Captured) -> None:
    """Whoever takes FILE for what is backed up adds --force, as told, and would lose the registry by it."""
    before = sorted(everything(data)), (data / "catalog.sqlite").read_bytes()
    assert main(["backup", str(data / part), "--data", str(data), "--force"]) == 2
    assert "is a part of the registry itself: choose another name" in capsys.readouterr().err
    assert (sorted(everything(data)), (data / "catalog.sqlite").read_bytes()) == before
    assert main(["backup", str(data / "b.tar.gz"), "--data", str(data)]) == 0, "the only volume of a container"


# --- nothing half ----------------------------------------------------------------------------------------------------


class Broken(Exception):
    """What ends a command somewhere."""


def breaking(at: int, kind: type[BaseException]) -> Progress:
    """Raises at a step of the work."""
    steps = count()

    def told(*_: object) -> None:
        if next(steps) == at:
            raise kind

    return told


def steps_of(work: Callable[[Progress], object]) -> int:
    steps = 0

    def told(*_: object) -> None:
        nonlocal steps
        steps += 1

    work(told)
    return steps


def everything(folder: Path) -> Iterator[str]:
    for where, folders, files in os.walk(folder):
        names = (name for name in (*folders, *files) if not name.startswith("catalog.sqlite-"))  # of whoever reads
        yield from (os.path.relpath(Path(where) / name, folder) for name in names)


KINDS = (KeyboardInterrupt, Broken)


def test_a_backup_that_is_cut_off_leaves_nothing(data: Path, file: Path) -> None:
    """A file under its name is a whole one, and what was there before stays."""
    steps = steps_of(lambda told: back_up(data, file, progress=told))
    before, standing = sorted(everything(file.parent)), file.read_bytes()
    assert steps > 10
    for step in range(steps):
        kind = KINDS[step % 2]
        with pytest.raises(kind):
            back_up(data, file, force=True, progress=breaking(step, kind))
        assert file.read_bytes() == standing
    assert sorted(everything(file.parent)) == before


def test_a_restoration_that_is_cut_off_leaves_nothing(data: Path, file: Path, tmp_path: Path) -> None:
    """Whether the directory was there, and empty, or not."""
    back_up(data, file)
    target = tmp_path / "restored"
    steps = steps_of(lambda told: restore(file, tmp_path / "other", progress=told))
    assert steps > 10
    for step in range(steps):
        kind, there = KINDS[step % 2], step % 4 < 2
        if there:
            target.mkdir()
        before = sorted(everything(tmp_path))
        with pytest.raises(kind):
            restore(file, target, progress=breaking(step, kind))
        assert sorted(everything(tmp_path)) == before
        if there:
            target.rmdir()
    assert not restore(file, target).flaws


def fails(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device", "disk")


ACTS = [("backup", act) for act in ("fsync", "mkdir", "replace")] + [("restore", act) for act in ("fsync", "rename")]


@pytest.mark.parametrize("work", ACTS, ids=map("-".join, ACTS))
def test_a_disk_that_fails_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, work: tuple[str, str]
) -> None:
    """A sentence, and the place as it was."""
    command, act = work
    first = tmp_path / "first.tar.gz"
    back_up(data, first)
    before = sorted(everything(tmp_path))
    words = {"backup": [str(tmp_path / "b"), "--data", str(data)], "restore": [str(first), str(tmp_path / "to")]}
    with monkeypatch.context() as patched:
        patched.setattr(os, act, fails)
        assert main([command, *words[command]]) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert "No space left on device" in line
    assert sorted(everything(tmp_path)) == before


def test_what_a_killed_restoration_left_is_swept(data: Path, file: Path, tmp_path: Path) -> None:
    back_up(data, file)
    left = tmp_path / "restored" / restoring.SCRATCH / "default"
    left.mkdir(parents=True)
    (left / "half").write_bytes(b"half")
    (tmp_path / "restored" / "lock").touch()
    restore(file, tmp_path / "restored")
    assert sorted(each.name for each in (tmp_path / "restored").iterdir()) == ["catalog.sqlite", "default", "lock"]


# --- places ----------------------------------------------------------------------------------------------------------


def test_a_directory_that_another_process_uses_is_refused(data: Path, file: Path, tmp_path: Path) -> None:
    """A server may be starting there."""
    back_up(data, file)
    target = tmp_path / "restored"
    target.mkdir()
    held = lock_data(target)
    with pytest.raises(NotABackup, match="Another process is using the data"):
        restore(file, target)
    os.close(held)
    restore(file, target)
    with pytest.raises(NotABackup, match=r"is not empty, catalog.sqlite is in it"):
        restore(file, target)


@pytest.mark.parametrize(
    "words, why",
    [
        (["backup", "{folder}", "--data", "{data}"], "is a directory: name a file in it"),
        (["backup", "{folder}/no/b.tar.gz", "--data", "{data}"], "No such file or directory"),
        (["backup", "/dev/null", "--data", "{data}"], "is not a file: choose another name"),
        (["backup", "{folder}/b.tar.gz", "--data", "{folder}/no"], "Found no registry in"),
        (["backup", "{folder}/b.tar.gz", "--data", "{data}", "--registry", "x"], "not of x: give its own name"),
        (["restore", "{folder}/no", "{folder}/to"], "No such file or directory"),
        (["restore", "{folder}", "{folder}/to"], "Is a directory"),
        (["restore", "{data}/catalog.sqlite", "{folder}/to"], "is not a backup, or is damaged"),
        (["restore", "{data}/catalog.sqlite", "{data}/catalog.sqlite"], "is a file: name a directory"),
        (["restore", "{data}/catalog.sqlite", "{data}"], "is not empty, catalog.sqlite is in it"),
        (["restore", "{data}/catalog.sqlite", "{folder}/a/b/c"], "No such file or directory"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(
    data: Path, tmp_path: Path, capsys: Captured, words: list[str], why: str
) -> None:
    (tmp_path / "folder").mkdir()
    before = sorted(everything(tmp_path))
    assert main([word.format(folder=tmp_path / "folder", data=data) for word in words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line
    assert sorted(everything(tmp_path)) == before
