"""KEKs and DEKs that a directory has kept for its primary, before that committed them: a file for each commit.

They are adopted after a promotion by force, as far as their commits did not come. A commit that came has the place in
the journal that its file is called after; so has another one, where the first was never made.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import orjson

from sigla import keys
from sigla.ports.replaying import Shipment
from sigla.regions.shipped import shipment_form, shipment_of
from sigla.stores.sqlite.links import Disk

_OWNERS: Final = 0o600


class HandedKeys:
    """Those of one registry in a directory. Raises OSError."""

    def __init__(self, root: Path, registry: str, disk: Disk) -> None:
        self._folder = root / keys.file_component(registry) / "handed"
        self._disk = disk

    def keep(self, shipments: Sequence[Shipment]) -> None:
        """Durable when it returns."""
        files = {self._path(each.position): orjson.dumps(shipment_form(each)) for each in shipments}
        if files:
            self._disk.write(files, mode=_OWNERS)
            self._disk.sync([self._folder])

    def kept(self) -> list[Shipment]:
        """By their places in the journal of the primary. Raises ValueError where a file is damaged."""
        return [shipment_of(orjson.loads(path.read_bytes()), str(path)) for _, path in self._files()]

    def forget(self, until: int) -> None:
        """Those up to this place are in the journal here, or were never made."""
        for at, path in self._files():
            if at <= until:
                path.unlink(missing_ok=True)

    def _path(self, position: int) -> Path:
        return self._folder / f"{position:019}.json"

    def _files(self) -> list[tuple[int, Path]]:
        names = os.listdir(self._folder) if self._folder.is_dir() else ()
        return sorted((int(name.partition(".")[0]), self._folder / name) for name in names if name.endswith(".json"))
