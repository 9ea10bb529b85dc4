"""API keys, a file each beside the bodies: `<registry>/keys/<name>.json`; in `<registry>/key-uses` when each was used.

They are read and written without the store's lock, so that a key is made or revoked while the registry runs.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote

from sigla import keys as stored
from sigla.auth.api_keys import NAME, KeyTaken
from sigla.auth.uses import note_of, read_day
from sigla.errors import StoreError
from sigla.stores.sqlite.links import Disk

ENDING = ".json"


class EmbeddedKeys:
    """A `Keys` in a directory, which is made with the first key."""

    def __init__(self, root: Path, *, registry: str = "default") -> None:
        self._folder = root / stored.file_component(registry) / "keys"
        self._uses = root / stored.file_component(registry) / "key-uses"
        self._disk = Disk(durable=True)

    def put(self, name: str, record: bytes) -> None:
        path = self._path(name)
        draft = _draft(path)
        try:
            self._disk.write({draft: record})
            try:
                os.link(draft, path)
            except FileExistsError:
                raise KeyTaken(name) from None
            finally:
                os.unlink(draft)
            self._disk.sync([self._folder])
        except OSError as failure:
            raise StoreError(f"the key {name} cannot be written") from failure

    def get(self, name: str) -> bytes | None:
        return self._read(name, self._path(name))

    def names(self) -> AbstractSet[str]:
        return frozenset(_key_files(self._folder))

    def list(self) -> Iterator[tuple[str, bytes]]:
        for name, path in sorted(_key_files(self._folder).items()):
            if (record := self._read(name, path)) is not None:  # revoked since
                yield name, record

    def state(self) -> object:
        """The folder's own time, and which folder it is: what is written into a file in place is not seen by it."""
        try:
            found = self._folder.stat()
        except OSError:
            return 0
        return found.st_ino, found.st_mtime_ns

    def replace(self, name: str, seen: bytes, record: bytes) -> bool:
        path = self._path(name)
        draft = _draft(path)
        try:
            with self._alone():
                if path.read_bytes() != seen:
                    return False
                self._disk.write({draft: record})
                os.replace(draft, path)
                self._disk.sync([self._folder])
        except FileNotFoundError:
            return False
        except OSError as failure:
            with suppress(OSError):
                os.unlink(draft)
            raise StoreError(f"the key {name} cannot be replaced") from failure
        return True

    def remove(self, name: str) -> bool:
        try:
            with self._alone():
                os.unlink(self._path(name))
                self._disk.sync([self._folder])
        except FileNotFoundError:
            return False
        except OSError as failure:
            raise StoreError(f"the key {name} cannot be removed") from failure
        return True

    def note_use(self, name: str, day: str) -> None:
        path = self._uses / _file(name)
        draft = _draft(path)
        try:
            if self._noted(path) >= day:
                return
            self._uses.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(note_of(day))
            os.replace(draft, path)
        except OSError as failure:
            raise StoreError(f"the use of the key {name} cannot be noted") from failure

    def last_uses(self) -> Mapping[str, str]:
        days: dict[str, str] = {}
        with suppress(StoreError):
            for name, path in _key_files(self._uses).items():
                with suppress(OSError):
                    days[name] = self._noted(path)
        return {name: day for name, day in days.items() if day}

    def _noted(self, path: Path) -> str:
        try:
            return read_day(path.read_bytes())
        except FileNotFoundError:
            return ""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Whoever replaces a key has seen what it replaces: no other changes one meanwhile, nor takes one away."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _read(self, name: str, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise StoreError(f"the key {name} cannot be read") from failure

    def _path(self, name: str) -> Path:
        return self._folder / _file(name)


def _key_files(folder: Path) -> Mapping[str, Path]:
    """By the name of the key. A file that no key of its name would be kept in is shown by its own name.

    A pipe cannot be a key: reading it would wait for a writer.
    """
    try:
        found = [path for path in folder.iterdir() if path.suffix == ENDING and not path.is_fifo()]
    except FileNotFoundError:
        return {}
    except OSError as failure:
        raise StoreError("the keys cannot be listed") from failure
    return {_name_of(path): path for path in found}


def _draft(path: Path) -> Path:
    return path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")


def _file(name: str) -> str:
    return f"{stored.file_component(name)}{ENDING}"


def _name_of(path: Path) -> str:
    """The key of a file, or the name of the file where it is that of no key."""
    name = unquote(path.stem)
    return name if NAME.fullmatch(name) and _file(name) == path.name else path.name
