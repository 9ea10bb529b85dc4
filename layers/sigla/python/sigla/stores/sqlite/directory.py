"""Where the files of the bodies are, and how they are read."""

import errno
import os
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from sigla import keys
from sigla.contract import HIGHEST
from sigla.errors import BodyDamaged, StoreError
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, SchemaId
from sigla.rules.bodies import believed

BODY = re.compile(r"[0-9]{10}\.json")
"""What the name of every body is like; whatever else lies beside them is not ours."""

"""The greatest of all ids."""

_NO_FILE = {errno.ENOENT, errno.ENAMETOOLONG}
"""A name that no file system takes has no file either."""

_BROKEN = {errno.EIO, errno.EISDIR, errno.ELOOP}
"""What stands there is at fault, and not who reads, whose rights or descriptors may be too few: others can be read."""


def registries(root: Path) -> list[str]:
    """Whose bodies there are."""
    return sorted(unquote(folder.parent.name) for folder in root.glob("*/schemas"))


def with_bodies(root: Path) -> list[str]:
    """Which registries have at least one body there."""
    folders = ((name, root / keys.schemas_root(name)) for name in registries(root))
    return [name for name, folder in folders if any(BODY.fullmatch(path.name) for path in folder.rglob("*.json"))]


def context_of(encoded: str) -> str:
    """encoded: what the names of its folders spell, put together."""
    return DEFAULT_CONTEXT if encoded == "_" else unquote(encoded)


class Directory:
    """One registry's part of `root`, an existing directory."""

    def __init__(self, root: Path, registry: str) -> None:
        self._root = root
        self._registry = registry

    def check(self) -> None:
        """Raises OSError where a folder is something else, or may not be read."""
        for folder in (keys.file_component(self._registry), keys.schemas_root(self._registry), self._pending):
            with suppress(FileNotFoundError), os.scandir(self._root / folder):
                pass

    def read(self, key: BodyKey) -> Body | None:
        """None if there is no file. Raises BodyDamaged, and StoreError where it may well be sound for other readers."""
        try:
            stored = self.body_path(key).read_bytes()
        except OSError as failure:
            if failure.errno in _NO_FILE:
                return None
            if failure.errno in _BROKEN:
                raise BodyDamaged(key) from failure
            raise StoreError(f"the body of id {key.id} in context {key.context} cannot be read") from failure
        return believed(key, stored)

    def last(self, context: str) -> SchemaId:
        """The highest id with a file; 0 if none. Lists the whole context."""
        return max(self.ids(context), default=SchemaId(0))

    def ids(self, context: str) -> list[SchemaId]:
        """All that have a file, in no order."""
        folder = self._root / keys.schemas_directory(self._registry, context)
        try:
            ids = [int(path.stem) for path in folder.iterdir() if BODY.fullmatch(path.name)]
        except OSError as failure:
            if failure.errno in _NO_FILE:
                return []
            raise StoreError(f"the bodies of context {context} cannot be listed") from failure
        return [SchemaId(id) for id in ids if id <= HIGHEST]

    def size(self) -> int:
        """Bytes of all files of bodies. Looks at each of them."""
        root = self._root / keys.schemas_root(self._registry)
        return sum(path.stat().st_size for path in root.rglob("*.json") if BODY.fullmatch(path.name))

    def body_path(self, key: BodyKey) -> Path:
        return self._root / keys.body_file(self._registry, key)

    def key_of(self, path: Path) -> BodyKey:
        """That of `body_path`."""
        encoded = "".join(path.parent.relative_to(self._root / keys.schemas_root(self._registry)).parts)
        return BodyKey(context_of(encoded), SchemaId(int(path.stem)))

    def pending_path(self, key: BodyKey, group: int, kind: str) -> Path:
        return self._root / keys.pending_file(self._registry, key, group, kind)

    def all_pending(self) -> list[Path]:
        """What a crash left on its way."""
        return [path for path in self._pending.rglob("*") if path.is_file()]

    def body_path_of(self, pending: Path) -> Path:
        """Where the body goes that is on its way here: both trees have the same folders."""
        place = pending.relative_to(self._pending)
        return self._root / keys.schemas_root(self._registry) / place.parent / f"{place.name.split('.')[0]}.json"

    @property
    def _pending(self) -> Path:
        return self._root / keys.pending_directory(self._registry)
