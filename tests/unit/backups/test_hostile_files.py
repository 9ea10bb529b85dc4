"""Files that no backup is: they make nothing, wherever they point and whatever they unpack to."""

import gzip
import hashlib
import io
import json
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sigla.backups import making
from sigla.cli import main
from sigla.ports.progress import unseen
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.unit.registry.tell import ONE, TWO, register

Captured = pytest.CaptureFixture[str]
Member = tuple[tarfile.TarInfo, bytes]
Members = list[Member]

BODY = "default/schemas/_/0000000001.json"


def member(name: str, content: bytes = b"", **fields: object) -> Member:
    made = tarfile.TarInfo(name)
    made.size = len(content)
    for field, value in fields.items():
        setattr(made, field, value)
    return made, content


def read(file: Path) -> Members:
    with tarfile.open(file) as tar:
        return [(each, found.read()) for each in tar.getmembers() if (found := tar.extractfile(each))]


def summed(members: Members) -> Members:
    """With sums of its own: whoever can write a member can write these."""
    rest = [each for each in members if each[0].name != "SHA256SUMS"]
    lines = "".join(f"{hashlib.sha256(content).hexdigest()}  {each.name}\n" for each, content in rest)
    return [*rest, member("SHA256SUMS", lines.encode())]


def written(members: Members) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for each, content in members:
            tar.addfile(each, io.BytesIO(content))
    return out.getvalue()


def renamed(old: str, new: str) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        return [member(new if each.name == old else each.name, content) for each, content in members]

    return change


def linked(type: bytes) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        bad = member(BODY, type=type, linkname="/etc/passwd")
        return [bad if each.name == BODY else (each, content) for each, content in members]

    return change


def said(**members: object) -> Callable[[Members], Members]:
    """What it says of itself is changed."""

    def change(found: Members) -> Members:
        (_, stored), *rest = found
        return [member("backup.json", json.dumps({**json.loads(stored), **members}).encode()), *rest]

    return change


def with_content(name: str, content: bytes) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        return [member(name, content) if each.name == name else (each, old) for each, old in members]

    return change


def triggered(members: Members) -> Members:
    """A catalog that does more than to be read."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(next(content for each, content in members if each.name == "catalog.sqlite"))
        database.execute("CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM version; END")
        database.commit()
        return with_content("catalog.sqlite", database.serialize())(members)


NOT_ONE = "what it says of itself is not what a backup says"
NO_MEMBER = "has a member that no backup has"
NO_FILE = "has a member that is not a plain file"

CHANGES: dict[str, tuple[Callable[[Members], Members], str]] = {
    "a way up": (renamed(BODY, "default/schemas/../../../out.json"), NO_MEMBER),
    "a way up at once": (renamed(BODY, "../out.json"), NO_MEMBER),
    "an absolute path": (renamed(BODY, "/var/out.json"), NO_MEMBER),
    "a backslash": (renamed(BODY, "default\\schemas\\_\\0000000001.json"), NO_MEMBER),
    "a dot": (renamed(BODY, "./" + BODY), NO_MEMBER),
    "another registry": (renamed(BODY, BODY.replace("default", "other")), NO_MEMBER),
    "a file of no kind": (renamed(BODY, "default/schemas/_/run.sh"), NO_MEMBER),
    "the lock": (renamed(BODY, "lock"), NO_MEMBER),
    "the log of the catalog": (renamed(BODY, "catalog.sqlite-wal"), NO_MEMBER),
    "a symbolic link": (linked(tarfile.SYMTYPE), NO_FILE),
    "a hard link": (linked(tarfile.LNKTYPE), NO_FILE),
    "a device": (linked(tarfile.CHRTYPE), NO_FILE),
    "a pipe": (linked(tarfile.FIFOTYPE), NO_FILE),
    "a folder": (linked(tarfile.DIRTYPE), NO_FILE),
    "one twice": (lambda found: [*found[:3], found[2], *found[3:]], "twice"),
    "more than it says": (with_content(BODY, bytes(2**20)), "holds more than it says"),
    "less than it says": (lambda found: [*found[:2], *found[3:]], "holds less than it says"),
    "no catalog": (lambda found: [found[0], *found[2:]], "holds less than it says"),
    "another beginning": (lambda found: [found[1], found[0], *found[2:]], "its first member is not backup.json"),
    "more numbers than there are": (said(bodies=10**6), "holds less than it says"),
    "a disk that nobody has": (said(size=10**18), "make room there"),
    "a number that is none": (said(bodies="3"), NOT_ONE),
    "a negative number": (said(size=-1), NOT_ONE),
    "no name": (said(registry=""), NOT_ONE),
    "a name that leads out": (said(registry="../../x"), NO_MEMBER),
    "an identity that is none": (said(identity="x"), NOT_ONE),
    "not an object": (with_content("backup.json", b"[1]"), NOT_ONE),
    "not JSON": (with_content("backup.json", b"{"), "is not a backup, or is damaged"),
    "a newer form": (said(form=2), "install that release or a later one"),
    "a catalog that is none": (with_content("catalog.sqlite", b"x" * 5000), "the catalog cannot be read"),
    "a catalog with a trigger": (triggered, "the catalog has more than tables"),
    "another body": (with_content(BODY, b"{}"), "has flaws"),
}


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    folder = tmp_path_factory.mktemp("backup")
    with EmbeddedStore(folder / "data") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        register(registry, "orders", ONE)
        register(registry, "orders", TWO)
    making.make(Address.of(data=str(folder / "data")), folder / "b.tar.gz", force=False, keys=False, progress=unseen)
    return read(folder / "b.tar.gz")


@pytest.fixture
def refused(tmp_path: Path, capsys: Captured) -> Callable[[bytes], str]:
    """What is said of a file that must make nothing."""

    def told(content: bytes) -> str:
        room = tmp_path / "room"
        room.mkdir(exist_ok=True)
        (tmp_path / "hostile").write_bytes(content)
        assert main(["restore", str(tmp_path / "hostile"), str(room / "to")]) in (1, 2)
        assert not list(room.iterdir())
        assert sorted(each.name for each in tmp_path.iterdir()) == ["hostile", "room"]
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return told


def test_what_these_tests_write_is_a_backup_where_nothing_is_changed(members: Members, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(written(summed(members)))
    assert main(["restore", str(tmp_path / "b"), str(tmp_path / "to")]) == 0


@pytest.mark.parametrize("change, why", CHANGES.values(), ids=CHANGES)
def test_a_file_that_was_made_with_care_makes_nothing(
    members: Members, refused: Callable[[bytes], str], change: Callable[[Members], Members], why: str
) -> None:
    assert why in refused(written(summed(change(members))))


def test_a_file_that_was_cut_off_is_recognised_wherever_that_was(
    members: Members, refused: Callable[[bytes], str]
) -> None:
    """A copy that broke off is the failure that happens."""
    whole = written(summed(members))
    for length in (1, 9, 25, *range(60, len(whole) - 1, len(whole) // 12)):
        assert "make it anew, or fetch it once more" in refused(whole[:length])
    unpacked = gzip.decompress(whole)
    for length in range(600, len(unpacked) - 20_480, len(unpacked) // 12):
        assert "make it anew, or fetch it once more" in refused(gzip.compress(unpacked[:length], 1))


def test_a_changed_byte_is_found(members: Members, refused: Callable[[bytes], str]) -> None:
    """A disk that forgets a bit."""
    for at, (_, content) in enumerate(members[:-1]):
        changed = bytearray(content)
        changed[len(changed) // 2] ^= 1
        told = refused(written([*members[:at], (members[at][0], bytes(changed)), *members[at + 1 :]]))
        assert "backup" in told


def test_what_unpacks_to_any_size_is_given_up_soon(refused: Callable[[bytes], str]) -> None:
    """A few thousand bytes: a header that is gigabytes long must not be kept in memory."""
    bomb = member("x", bytes(2**21), type=tarfile.XHDTYPE)
    assert "has a header that is too long" in refused(written([bomb]))
    assert "is not a backup" in refused(gzip.compress(bytes(2**21)))
    assert "its first member is not backup.json" in refused(written([member("backup.json", bytes(2**21))]))
