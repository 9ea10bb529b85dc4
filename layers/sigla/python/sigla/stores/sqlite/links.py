"""The files of one group, linked into their places; then settled or undone, or put right after a crash.

A body is written under `pending/` with its group's number, and linked to its place from there. The pending name stays
until the group is committed: whoever finds one later can tell by the number whether the body belongs where it is.

    step                                                            a crash after it leaves
    1  the bodies under pending/*.new, synced                       names that are not read: swept
    2  linked into their places, never over another body; where     a body in its place whose group's number is not in
       one is replaced, that is linked to pending/*.old before      the database: taken back, and the old one put back
    3  the folders are synced                                       the same
    4  SQLite commits the rows and the group's number together      everything: pending names are swept
    5  pending names are removed                                    nothing to do
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from sigla import records
from sigla.model import Body, BodyKey
from sigla.stores.sqlite.directory import Directory

_PENDING = re.compile(r"\.(?P<group>\d+)\.(?P<kind>new|old)$")


class Disk:
    """Writing, durably or not; remembers which folders there are."""

    def __init__(self, *, durable: bool) -> None:
        self._durable = durable
        self._folders: set[Path] = set()

    def folder_of(self, path: Path) -> Path:
        """The folder a path is in, made and durable."""
        folder = path.parent
        if folder not in self._folders:
            if not folder.is_dir():
                above = self.folder_of(folder)
                folder.mkdir(exist_ok=True)
                self._sync_new(folder, above)
            self._folders.add(folder)
        return folder

    def _sync_new(self, folder: Path, above: Path) -> None:
        """Makes a new folder durable; otherwise it is not there, so that the next attempt does not pass it by."""
        try:
            self.sync([above])
        except OSError:
            folder.rmdir()
            raise

    def write(self, files: Mapping[Path, bytes], *, mode: int = 0o644) -> None:
        """Writes files whose names no reader knows yet; what a crash left under such a name is overwritten.

        mode: who may read and write a new file.
        """
        opened = []
        try:
            for path, content in files.items():
                self.folder_of(path)
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
                opened.append(file)
                _write_all(file, content)
            # All are on their way before the first is waited for: the later syncs find most of their work done.
            for act in (_begin, os.fsync) if self._durable else ():
                for file in opened:
                    act(file)
        finally:
            for file in opened:
                os.close(file)

    def sync(self, folders: Iterable[Path]) -> None:
        """Makes the names in these folders durable."""
        for folder in folders if self._durable else ():
            opened = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)


def _begin(file: int) -> None:
    """Has Linux begin to write a file to the disk; elsewhere nothing."""
    _advise(file, 0, 0, _NOT_NEEDED)


_advise: Final[Callable[[int, int, int, int], None]] = getattr(os, "posix_fadvise", lambda *_: None)
_NOT_NEEDED: Final[int] = getattr(os, "POSIX_FADV_DONTNEED", 0)


def _write_all(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


class Links:
    """What one group does to the directory."""

    def __init__(self, directory: Directory, disk: Disk, group: int) -> None:
        self._directory = directory
        self._disk = disk
        self._group = group
        self._pending: list[Path] = []
        self._created: list[Path] = []
        self._replaced: list[tuple[Path, Path]] = []

    def make(self, bodies: Mapping[BodyKey, tuple[Body, bool]]) -> None:
        """Puts every body in its place, durably. The flag says that another body stands there and is replaced.

        Raises FileExistsError if a body stands where none should; then, and on any OSError, `undo` takes all back.
        """
        places = {key: self._directory.pending_path(key, self._group, "new") for key in bodies}
        self._pending += places.values()
        self._disk.write({places[key]: records.body_bytes(key, body) for key, (body, _) in bodies.items()})
        linked = [
            self._replace(key, places[key]) if replaces else self._create(key, places[key])
            for key, (_, replaces) in bodies.items()
        ]
        self._disk.sync(set(linked))

    def settle(self) -> None:
        """The group is committed. A pending name that outlives a crash here is removed by the next opening."""
        for path in self._pending:
            with suppress(OSError):
                path.unlink()

    def undo(self) -> None:
        """Durably as it was before `make`. After an OSError it can be tried again."""
        for path in self._created:
            path.unlink(missing_ok=True)
        for old, path in self._replaced:
            with suppress(FileNotFoundError):
                old.replace(path)
        self._disk.sync({path.parent for path in self._created + [path for _, path in self._replaced]})
        self.settle()

    def keep(self) -> None:
        """As `undo`, but for the ids of bodies in places where none stood: another region may have these by now."""
        use_up(self._created, self._directory, self._disk)
        self._created = []
        self.undo()

    def _create(self, key: BodyKey, place: Path) -> Path:
        path = self._directory.body_path(key)
        folder = self._disk.folder_of(path)
        path.hardlink_to(place)
        self._created.append(path)
        return folder

    def _replace(self, key: BodyKey, place: Path) -> Path:
        path, old = self._directory.body_path(key), self._directory.pending_path(key, self._group, "old")
        old.unlink(missing_ok=True)
        old.hardlink_to(path)
        self._pending.append(old)
        place.replace(path)
        self._replaced.append((old, path))
        return path.parent


def use_up(paths: Iterable[Path], directory: Directory, disk: Disk) -> None:
    """Puts tombstones in the places of bodies that were never committed: their ids are given for nothing else."""
    keys = {path: directory.key_of(path) for path in paths}
    gone = {key: replace(records.body(key, path.read_bytes()), gone=True) for path, key in keys.items()}
    drafts = {path: directory.pending_path(key, 0, "new") for path, key in keys.items()}
    disk.write({drafts[path]: records.body_bytes(key, gone[key]) for path, key in keys.items()})
    for path, draft in drafts.items():
        draft.replace(path)
    disk.sync({path.parent for path in keys})


def recover(directory: Directory, disk: Disk, flushed: int, *, keeps: bool) -> None:
    """Takes back what a crash left of groups above `flushed`, which were never committed; sweeps the rest.

    keeps: as `Links.keep`.
    """
    left = directory.all_pending()
    for pending in left:
        if _group_of(pending) > flushed:
            _take_back(pending, directory.body_path_of(pending), disk, uses_up=directory if keeps else None)
    for pending in left:
        pending.unlink(missing_ok=True)


def _group_of(pending: Path) -> int:
    found = _PENDING.search(pending.name)
    return int(found["group"]) if found else 0


def _take_back(pending: Path, path: Path, disk: Disk, *, uses_up: Directory | None) -> None:
    if pending.suffix == ".old":
        pending.replace(path)
    elif path.exists() and path.read_bytes() == pending.read_bytes():
        # Compared by content, not by inode: a copy of the data has its links doubled. No two writers' bodies are equal.
        if uses_up is not None:
            use_up([path], uses_up, disk)
            return
        path.unlink()
    else:
        return
    disk.sync([path.parent])
