"""API keys, a file each beside the bodies: `<registry>/keys/<name>.json`.

They are read and written without the store's lock, so that a key is made or revoked while the registry runs.
"""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from sigla import keys as stored
from sigla.auth.api_keys import KeyTaken
from sigla.embedded.links import Disk
from sigla.errors import StoreError


class EmbeddedKeys:
    """A `Keys` in a directory, which is made with the first key."""

    def __init__(self, root: Path, *, registry: str = "default") -> None:
        self._folder = root / stored.file_component(registry) / "keys"
        self._disk = Disk(durable=True)

    def put(self, name: str, record: bytes) -> None:
        path = self._path(name)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
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
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise StoreError(f"the key {name} cannot be read") from failure

    def list(self) -> Iterator[bytes]:
        names = self._folder.glob("*.json") if self._folder.is_dir() else ()
        for name in sorted(unquote(path.stem) for path in names):
            if (record := self.get(name)) is not None:  # revoked since
                yield record

    def remove(self, name: str) -> bool:
        try:
            os.unlink(self._path(name))
            self._disk.sync([self._folder])
        except FileNotFoundError:
            return False
        except OSError as failure:
            raise StoreError(f"the key {name} cannot be removed") from failure
        return True

    def _path(self, name: str) -> Path:
        return self._folder / f"{stored.file_component(name)}.json"
