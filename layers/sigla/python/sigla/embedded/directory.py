"""Where the files of the bodies are, and how they are read."""

import os
from contextlib import suppress
from pathlib import Path

from sigla import keys, records
from sigla.model import Body, BodyKey, Guid, SchemaId


class Directory:
    """One registry's part of `root`, an existing directory."""

    def __init__(self, root: Path, registry: str) -> None:
        self._root = str(root)
        self._registry = registry

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self, key: BodyKey) -> Body | None:
        try:
            with open(self.body_path(key), "rb") as file:
                return records.body(file.read())
        except FileNotFoundError:
            return None

    def last(self, context: str) -> SchemaId:
        """The highest id with a file; 0 if none. Lists the whole context."""
        with suppress(FileNotFoundError):
            names = os.listdir(self.path(keys.schemas_directory(self._registry, context)))
            return SchemaId(max((int(name[:-5]) for name in names if name.endswith(".json")), default=0))
        return SchemaId(0)

    def pointed(self, guid: Guid) -> list[BodyKey]:
        """Where pointers say that this content was written; a pointer may outlive a body that was taken back."""
        folder, found = self.path(keys.guid_directory(self._registry, guid)), []
        start = keys.file_component(guid) + "."
        for below, _, names in os.walk(folder):
            inner = os.path.relpath(below, folder) + "/" if below != folder else ""
            found += [keys.pointed_from(inner + name) for name in names if (inner + name).startswith(start)]
        return found

    # --- paths -------------------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def body_path(self, key: BodyKey) -> str:
        return self.path(keys.body_file(self._registry, key))

    def pending_path(self, key: BodyKey, group: int, kind: str) -> str:
        return self.path(keys.pending_file(self._registry, key, group, kind))

    def all_pending(self) -> list[str]:
        """Paths of what a crash left on its way."""
        folders = os.walk(self.path(keys.pending_directory(self._registry)))
        return [os.path.join(below, name) for below, _, names in folders for name in names]

    def body_path_of(self, pending: str) -> str:
        """Where the body goes that is on its way here; the folders of both trees mirror each other."""
        inside = os.path.relpath(pending, self.path(keys.pending_directory(self._registry)))
        id_text = os.path.basename(inside).split(".")[0]
        return self.path(f"{keys.schemas_root(self._registry)}/{os.path.dirname(inside)}/{id_text}.json")

    def guid_path(self, guid: Guid, key: BodyKey) -> str:
        return self.path(keys.guid_file(self._registry, guid, key))
