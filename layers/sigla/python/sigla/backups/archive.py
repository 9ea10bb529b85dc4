"""The file of a backup: a tar, packed by gzip, whose members are those of a data directory.

    backup.json                    what it is (`contents`)
    catalog.sqlite
    REGISTRY/schemas/…             bodies
    REGISTRY/keys/…                API keys
    SHA256SUMS                     of all members before it, in their order: a file that was cut off has none

What is unpacked comes from a stranger until the sums are compared, and may come from one even then. So names are those
that a backup has and no others, which leave no way out of the directory; nothing but plain files is made, each once;
and no more is read, kept or written than the first member announces.
"""

import gzip
import hashlib
import re
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, cast

from sigla.backups.contents import Contents, NotABackup
from sigla.keys import file_component
from sigla.ports.progress import Progress
from sigla.stores.sqlite.reading import CATALOG

CONTENTS: Final = "backup.json"
SUMS: Final = "SHA256SUMS"

COMPRESSION: Final = 6
CHUNK: Final = 2**18
HEADERS: Final = 2**16
"""Bytes that may lie between the content of two members: headers, padding, and what is read ahead."""

_BROKEN: Final = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError, OverflowError, RecursionError)
"""What unpacking raises for bytes that no backup has."""


CUT_OFF: Final = "is cut off"
AGAIN: Final = "make it anew, or fetch it once more"


class _Damaged(ValueError):
    """What is wrong with the file, as the end of a sentence."""


class _RefusedByCaller(Exception):
    """What `announced` raised, which says nothing of the file."""

    def __init__(self, why: Exception) -> None:
        super().__init__(why)
        self.why = why


class Packer:
    """Writes members to a file. at: the time of all members, in seconds.

    It is whole at the end of a `with`; where that is an exception, it is a file that was cut off.
    """

    def __init__(self, out: IO[bytes], at: int) -> None:
        self._at = at
        self._opened = ExitStack()
        self._sums = self._opened.enter_context(_Sums())
        self._packed = gzip.GzipFile("", "wb", COMPRESSION, cast("Any", out), mtime=at)
        self._tar = tarfile.open(fileobj=self._packed, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - closed at the end of `with`

    def add(self, name: str, content: bytes) -> None:
        self._add(name, len(content), BytesIO(content))

    def add_file(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            self._add(name, path.stat().st_size, file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._opened, suppress(OSError) if error else nullcontext(), self._packed:
            if error is None:
                self._put(SUMS, self._sums.size, self._sums.file)
                self._tar.close()

    def _add(self, name: str, size: int, file: IO[bytes]) -> None:
        hashed = _Hashed(file)
        self._put(name, size, cast("IO[bytes]", hashed))
        self._sums.add(name, hashed.digest)

    def _put(self, name: str, size: int, file: IO[bytes]) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = size, self._at, 0o644
        self._tar.addfile(member, file)
        self._tar.members = []  # type: ignore[attr-defined]  # or each of a million would stay in memory


def unpack(
    file: Path, folder: Path, *, announced: Callable[[Contents], None], keys: bool = True, progress: Progress
) -> Contents:
    """Fills an empty folder. announced: told what the file says of itself, before anything is written.

    keys: whether API keys are wanted. Raises NotABackup, FormTooNew, OSError, and what `announced` raises.
    """
    try:
        with file.open("rb") as opened, gzip.GzipFile(fileobj=opened) as packed:
            return _Unpacking(packed, folder, progress, keys=keys).run(announced)
    except _RefusedByCaller as refused:
        raise refused.why from None
    except _Damaged as damage:
        raise NotABackup(f"The backup {file} {damage}: {AGAIN}.") from None
    except EOFError:
        raise NotABackup(f"The backup {file} {CUT_OFF}: {AGAIN}.") from None
    except _BROKEN as damage:
        raise NotABackup(f"{file} is not a backup, or is damaged ({damage}): {AGAIN}.") from None


class _Unpacking:
    def __init__(self, packed: gzip.GzipFile, folder: Path, progress: Progress, *, keys: bool) -> None:
        self._source = _Limited(packed)
        self._folder = folder
        self._keys = keys
        self._progress = progress
        self._left = 0
        self._counts = {"bodies": 0, "keys": 0}

    def run(self, announced: Callable[[Contents], None]) -> Contents:
        with (
            tarfile.open(fileobj=cast("IO[bytes]", self._source), mode="r|") as tar,
            _Sums() as sums,
        ):
            members = self._members(tar)
            contents = self._first(tar, members, sums)
            try:
                announced(contents)
            except Exception as why:
                raise _RefusedByCaller(why) from why
            self._left = contents.size
            kinds = _Kinds(contents)
            for member in members:
                if member.name == SUMS:
                    self._compare(tar, member, sums)
                    break
                self._take(tar, member, kinds, sums)
            else:
                raise _Damaged(CUT_OFF)
            self._finish(members, contents)
            return contents

    def _members(self, tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
        """Plain files, one after the other. Raises _Damaged."""
        while True:
            self._source.allow(HEADERS)
            member = tar.next()
            tar.members = []  # type: ignore[attr-defined]  # or each of a million would stay in memory
            if member is None:
                return
            if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                raise _Damaged(f"has a member that is not a plain file, {member.name!r}")
            self._source.allow(member.size + HEADERS)
            yield member

    def _first(self, tar: tarfile.TarFile, members: Iterator[tarfile.TarInfo], sums: "_Sums") -> Contents:
        member = next(members, None)
        if member is None or member.name != CONTENTS or member.size > HEADERS:
            raise ValueError(f"its first member is not {CONTENTS}")
        stored = _content(tar, member).read()
        sums.add(CONTENTS, hashlib.sha256(stored).hexdigest())
        return Contents.read(stored)

    def _take(self, tar: tarfile.TarFile, member: tarfile.TarInfo, kinds: "_Kinds", sums: "_Sums") -> None:
        kind = kinds.kind_of(member.name)
        self._left -= member.size
        if kind == "":
            raise _Damaged(f"has a member that no backup has, {member.name!r}")
        if self._left < 0:
            raise _Damaged("holds more than it says")
        if kind != CATALOG:
            self._counts[kind] += 1
            self._progress(kind, self._counts[kind], kinds.counts[kind])
        hashed = _Hashed(_content(tar, member))
        path = self._folder / member.name if self._keys or kind != "keys" else None
        self._write(path, hashed)
        sums.add(member.name, hashed.digest)

    def _write(self, path: Path | None, source: "_Hashed") -> None:
        """Into a file that is new. path: None for what is only looked at."""
        if path is None:
            while source.read(CHUNK):
                """Its sum is wanted."""
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            out = path.open("xb")
        except FileExistsError:
            raise _Damaged(f"has {path.relative_to(self._folder)} twice") from None
        with out:
            while chunk := source.read(CHUNK):
                out.write(chunk)

    def _compare(self, tar: tarfile.TarFile, member: tarfile.TarInfo, sums: "_Sums") -> None:
        stated = _content(tar, member)
        for ours in sums.lines():
            if stated.readline(len(ours)) != ours:
                raise _Damaged(f"is damaged at {ours.split()[1].decode()}")
        if stated.read(1):
            raise _Damaged("has fewer members than it says")

    def _finish(self, members: Iterator[tarfile.TarInfo], contents: Contents) -> None:
        """Nothing comes behind the sums, and there is as much as was said."""
        if next(members, None) is not None:
            raise _Damaged(f"has members behind {SUMS}")
        self._source.allow(HEADERS)
        while rest := self._source.read(CHUNK):
            if rest.strip(b"\0"):
                raise _Damaged("has something behind its end")
        if not (self._folder / CATALOG).exists() or self._counts != _counts(contents):
            raise _Damaged("holds less than it says")


class _Kinds:
    """Which members a backup has, by their names."""

    def __init__(self, contents: Contents) -> None:
        root = re.escape(file_component(contents.registry))
        part = r"[a-z0-9_%-]{1,200}"
        self.counts = _counts(contents)
        self._patterns = {
            CATALOG: re.compile(re.escape(CATALOG)),
            "bodies": re.compile(rf"{root}/schemas(/{part})+/[0-9]{{10}}\.json"),
            "keys": re.compile(rf"{root}/keys/{part}\.json"),
        }

    def kind_of(self, name: str) -> str:
        """Empty for every other name."""
        return next((kind for kind, pattern in self._patterns.items() if pattern.fullmatch(name)), "")


def _counts(contents: Contents) -> dict[str, int]:
    return {"bodies": contents.bodies, "keys": contents.keys}


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    found = tar.extractfile(member)
    if found is None:
        raise _Damaged(f"has no content for {member.name!r}")
    return found


class _Limited:
    """A source that ends with an error where more is read than was allowed: a few bytes may unpack to any number."""

    def __init__(self, source: gzip.GzipFile) -> None:
        self._source = source
        self._left = HEADERS

    def allow(self, number: int) -> None:
        self._left = number

    def read(self, number: int) -> bytes:
        found = self._source.read(number)
        self._left -= len(found)
        if self._left < 0:
            raise _Damaged("has a header that is too long")
        return found


class _Hashed:
    """A source that remembers the sum of what was read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._sum = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._sum.hexdigest()

    def read(self, number: int) -> bytes:
        found = self._source.read(number)
        self._sum.update(found)
        return found


class _Sums:
    """The lines of SHA256SUMS, which `sha256sum -c` reads; in a file once they are many."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(2**20)  # noqa: SIM115 - closed at the end of `with`

    @property
    def size(self) -> int:
        return self._file.tell()

    @property
    def file(self) -> IO[bytes]:
        """The file, read from its beginning."""
        self._file.seek(0)
        return cast("IO[bytes]", self._file)

    def add(self, name: str, digest: str) -> None:
        self._file.write(f"{digest}  {name}\n".encode())

    def lines(self) -> Iterator[bytes]:
        yield from self.file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
