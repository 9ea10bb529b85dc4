"""`sigla export`: a registry as a dump, whole when it appears."""

import gzip
import json
import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sigla.cli import dumps, main
from sigla.journal.replay import TopicRecord, replayed
from sigla.keks.nouns import KekDraft
from sigla.keks.verbs.keks import create_kek
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.importing import import_state
from tests.build import FixedClock
from tests.unit.journal.topic import s, state
from tests.unit.registry.lives import A_LIFE, contents
from tests.unit.registry.tell import ONE, TWO, register

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A registry with a past: what was imported, what was registered, what was deleted for good."""
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        import_state(registry, state(*A_LIFE))
        register(registry, "mine", ONE)
        register(registry, "mine", TWO)
        registry.delete_subject(s("mine"))
        registry.delete_subject(s("mine"), permanent=True)
    return str(tmp_path / "data")


@pytest.mark.parametrize("name", ["dump.jsonl", "dump.jsonl.gz"])
def test_what_was_exported_is_imported_as_it_was(tmp_path: Path, data: str, name: str, capsys: Captured) -> None:
    """Ids that were deleted for good included: they are never given again."""
    dump = str(tmp_path / name)
    assert main(["export", dump, "--data", data]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith(f" records in {dump}\n")
    assert Path(dump).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert main(["import", dump, "--data", str(tmp_path / "copy")]) == 0
    with EmbeddedStore(Path(data)) as ours, EmbeddedStore(tmp_path / "copy") as theirs:
        assert contents(Registry(theirs.catalog, theirs.bodies, FixedClock())) == contents(
            Registry(ours.catalog, ours.bodies, FixedClock())
        )


@pytest.mark.parametrize("form", [[], ["--compacted"]], ids=["the journal", "compacted"])
def test_keys_are_exported_to_a_file_of_their_own(tmp_path: Path, data: str, form: list[str]) -> None:
    """As Confluent keeps them: in another topic than schemas."""
    with EmbeddedStore(Path(data)) as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        create_kek(registry, KekDraft("k", "local-kms", "id"))
    dump, copy = str(tmp_path / "keys.jsonl"), tmp_path / "copy"
    assert main(["export", "--keys", dump, "--data", data, *form]) == 0
    assert [json.loads(line)["key"] for line in Path(dump).read_text().splitlines()] == [
        '{"tenant":"default","name":"k","type":"KEK"}'
    ]
    assert main(["import", dump, "--data", str(copy)]) == 0
    with EmbeddedStore(copy) as store:
        assert [kek.name for kek in store.catalog.keks()] == ["k"]


def test_exported_keys_are_for_their_owner_alone(tmp_path: Path, data: str) -> None:
    """They come with the credentials of key services; schemas are for all to read."""
    before = os.umask(0o022)
    try:
        modes: dict[tuple[str, ...], int] = {}
        for what in ([], ["--keys"]):
            dump = tmp_path / f"dump{len(what)}.jsonl"
            dump.touch()
            assert main(["export", *what, str(dump), "--data", data]) == 0
            modes[*what,] = stat.S_IMODE(dump.stat().st_mode)
    finally:
        os.umask(before)
    assert modes == {(): 0o644, ("--keys",): 0o600}


def test_it_may_be_served_meanwhile(data: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Nothing is locked; without a file it is printed, a line for each record, in order."""
    with EmbeddedStore(Path(data)):
        assert main(["export", "--data", data]) == 0
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert [line["offset"] for line in lines] == list(range(len(lines)))
    assert {frozenset(line) for line in lines} == {frozenset({"offset", "timestamp", "key", "value"})}
    assert sum(line["value"] is None for line in lines) == 3


def test_compacted_is_what_stands_and_what_ids_meant(tmp_path: Path, data: str) -> None:
    """An id without a holder is written and purged: so no registry that reads the dump gives it again."""
    dump = tmp_path / "dump.jsonl"
    assert main(["export", str(dump), "--data", data, "--compacted"]) == 0
    found = replayed(dumps.read(dump))
    assert sum(map(len, found.subjects.values())) == 9
    assert {key.id for key in found.gone} == {9, 10}
    assert s("mine") not in found.subjects
    assert main(["import", str(dump), "--data", str(tmp_path / "copy")]) == 0
    with EmbeddedStore(tmp_path / "copy") as copy:
        assert copy.catalog.max_id(".") == 10


def test_half_a_dump_never_bears_its_name(tmp_path: Path) -> None:
    """Not after a failure, either; what stood there before stays."""
    dump = tmp_path / "dump.jsonl.gz"
    dump.write_bytes(b"before")

    def failing() -> Iterator[TopicRecord]:
        yield TopicRecord("{}", None, 1, 0)
        raise MemoryError

    with pytest.raises(MemoryError):
        dumps.write(failing(), dump)
    assert dump.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [dump]
    assert dumps.write([TopicRecord(b"{}", b"{}", 1, 0)], dump) == 1
    assert json.loads(gzip.decompress(dump.read_bytes())) == {"offset": 0, "timestamp": 1, "key": "{}", "value": "{}"}


RECORD = TopicRecord(b"{}", b"{}", 1, 0)
LINE = {"offset": 0, "timestamp": 1, "key": "{}", "value": "{}"}


def test_two_exports_to_one_name_do_not_meet(tmp_path: Path) -> None:
    """A timer that comes before the last one has ended: each file is whole, and what is secret has its own rights."""
    file = tmp_path / "dump.jsonl"
    first, second, third = (TopicRecord(f"{number}", None, 0, number) for number in range(3))

    def records() -> Iterator[TopicRecord]:
        yield first
        assert dumps.write([second], file, secret=True) == 1
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        yield third

    assert dumps.write(records(), file) == 2
    assert dumps.read(file) == [first, third]
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_is_followed(tmp_path: Path) -> None:
    """Also one to a file that is not there yet."""
    (tmp_path / "there").mkdir()
    for target in (tmp_path / "there" / "a.jsonl", tmp_path / "there" / "b"):
        link = tmp_path / f"to-{target.name}"
        link.symlink_to(target)
        for _ in range(2):
            dumps.write([RECORD], link)
            assert link.is_symlink()
            assert json.loads(target.read_bytes()) == LINE
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["a.jsonl", "b"]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    """It stays what it is, as a device does."""
    pipe = tmp_path / "pipe.gz"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as threads:
        heard = threads.submit(pipe.read_bytes)
        dumps.write([RECORD], pipe)
        assert json.loads(gzip.decompress(heard.result())) == LINE
    assert pipe.is_fifo()


def test_a_dash_is_standard_output(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", "-", "--data", data]) == 0
    assert json.loads(capsysbinary.readouterr().out.splitlines()[0])["offset"] == 0
    assert not Path("-").exists()


def test_what_is_not_there_cannot_be_exported(tmp_path: Path, data: str, capsys: Captured) -> None:
    """One sentence, and no file."""
    wrong: list[tuple[list[str], str]] = [
        ([str(tmp_path / "a.jsonl"), "--data", str(tmp_path / "none")], "none"),
        ([str(tmp_path / "no" / "a.jsonl"), "--data", data], "cannot be used"),
        (["--table", "t"], "--bucket"),
    ]
    for arguments, said in wrong:
        assert main(["export", *arguments]) == 2
        printed = capsys.readouterr()
        assert said in printed.err
        assert printed.err.count("\n") == 1
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize("options", [[], ["--compacted"]])
def test_a_registry_with_a_lost_body_is_not_exported(
    tmp_path: Path, data: str, options: list[str], capsys: Captured
) -> None:
    """Half of it would pass for the whole."""
    (Path(data) / "default" / "schemas" / "_" / "0000000001.json").unlink()
    assert main(["export", str(tmp_path / "a.jsonl"), "--data", data, *options]) == 1
    assert capsys.readouterr().err == (
        f"sigla: In {data} the body of id 1 in context . is missing: "
        "run sigla scrub, which names its versions and the remedy.\n"
    )
    assert not (tmp_path / "a.jsonl").exists()


def test_a_table_is_exported_as_it_stands(data: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its journal forgets after 35 days, and half a journal does not make a dump."""
    from contextlib import nullcontext

    from sigla import opening
    from sigla.settings import Address

    where = Address.of("", "b", "t")
    with opening.reading(Address.of(data)) as reading:
        monkeypatch.setattr(opening, "reading", {where: nullcontext(reading)}.__getitem__)
        assert main(["export", str(tmp_path / "a.jsonl"), "--bucket", "b", "--table", "t"]) == 0
    assert s("mine") not in replayed(dumps.read(tmp_path / "a.jsonl")).subjects


def test_one_record_is_counted_as_one(tmp_path: Path, capsys: Captured) -> None:
    dump = tmp_path / "one.jsonl"
    with EmbeddedStore(tmp_path / "one") as store:
        register(Registry(store.catalog, store.bodies, FixedClock()), "mine", ONE)
    assert main(["export", str(dump), "--data", str(tmp_path / "one")]) == 0
    assert capsys.readouterr().err.endswith(f"1 record in {dump}\n")
