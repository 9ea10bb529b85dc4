"""The files of one group, linked into their places: made, then settled or undone; or put right after a crash.

A body is written under `pending/` with its group's number, and linked to its place from there. The pending name stays until
the group is committed: whoever finds one later can tell by the number whether the body belongs where it is.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from sigla import records
from sigla.embedded.directory import Directory
from sigla.model import Body, BodyKey


class Disk:
    """Writing, durably or not; remembers which folders there are."""

    def __init__(self, *, durable: bool) -> None:
        self._durable = durable
        self._folders: set[str] = set()

    def folder_of(self, path: str) -> str:
        """The folder a path is in, made and durable."""
        folder = os.path.dirname(path)
        if folder not in self._folders:
            if not os.path.isdir(folder):
                above = self.folder_of(folder)
                with suppress(FileExistsError):
                    os.mkdir(folder)
                self.sync([above])
            self._folders.add(folder)
        return folder

    def write(self, files: Mapping[str, bytes]) -> None:
        """Writes files whose names nobody reads yet; what a crash left under such a name is overwritten."""
        opened = []
        try:
            for path, content in files.items():
                self.folder_of(path)
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
                opened.append(file)
                _write_all(file, content)
            # All are written before the first is synced: the later syncs find most of their work done.
            for file in opened if self._durable else ():
                os.fsync(file)
        finally:
            for file in opened:
                os.close(file)

    def touch(self, path: str) -> None:
        self.folder_of(path)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))

    def sync(self, folders: Iterable[str]) -> None:
        """Makes the names in these folders durable."""
        for folder in folders if self._durable else ():
            opened = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)


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
        self._pending: list[str] = []
        self._created: list[str] = []
        self._replaced: list[tuple[str, str]] = []

    def make(self, bodies: Mapping[BodyKey, tuple[Body, bool]]) -> None:
        """Puts every body in its place, durably. The flag says that another body stands there and is replaced.

        Raises FileExistsError if a body stands where none should; then, and on any OSError, `undo` takes all back.
        """
        places = {key: self._directory.pending_path(key, self._group, "new") for key in bodies}
        self._pending += places.values()
        self._disk.write({places[key]: records.body_bytes(body) for key, (body, _) in bodies.items()})
        folders = set()
        for key, (body, replaces) in bodies.items():
            folders.add(self._point(body, key))
            folders.add(self._replace(key, places[key]) if replaces else self._create(key, places[key]))
        self._disk.sync(folders)

    def settle(self) -> None:
        """The group is committed. A pending name that outlives a crash here is removed by the next opening."""
        for path in self._pending:
            with suppress(OSError):
                os.unlink(path)

    def undo(self) -> None:
        """Durably as it was before `make`, apart from pointers, which are believed only where a body agrees."""
        for path in self._created:
            os.unlink(path)
        for old, path in self._replaced:
            os.replace(old, path)
        self._disk.sync({os.path.dirname(path) for path in self._created + [path for _, path in self._replaced]})
        self.settle()

    def _point(self, body: Body, key: BodyKey) -> str:
        pointer = self._directory.guid_path(body.guid, key)
        self._disk.touch(pointer)
        return os.path.dirname(pointer)

    def _create(self, key: BodyKey, place: str) -> str:
        path = self._directory.body_path(key)
        folder = self._disk.folder_of(path)
        os.link(place, path)
        self._created.append(path)
        return folder

    def _replace(self, key: BodyKey, place: str) -> str:
        path, old = self._directory.body_path(key), self._directory.pending_path(key, self._group, "old")
        with suppress(FileNotFoundError):
            os.unlink(old)
        os.link(path, old)
        self._pending.append(old)
        os.replace(place, path)
        self._replaced.append((old, path))
        return os.path.dirname(path)


def recover(directory: Directory, disk: Disk, flushed: int) -> None:
    """Takes back what a crash left of groups that were never committed (numbers above `flushed`), and sweeps the rest."""
    for pending in directory.all_pending():
        _, group, kind = os.path.basename(pending).split(".")
        path = directory.body_path_of(pending)
        if int(group) > flushed:
            _take_back(pending, path, kind)
            if os.path.isdir(os.path.dirname(path)):
                disk.sync([os.path.dirname(path)])
        with suppress(FileNotFoundError):
            os.unlink(pending)


def _take_back(pending: str, path: str, kind: str) -> None:
    if kind == "old":
        os.replace(pending, path)
    elif os.path.exists(path) and os.path.samefile(pending, path):
        os.unlink(path)
