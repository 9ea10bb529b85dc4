"""KEKs and DEKs that a directory has kept for its primary, before that committed them: a file for each commit.

They are adopted by a promotion by force, as far as their commits did not come (`promoting`). A commit that came has the
place in the journal that its file is called after; so has another one, where the first was never made.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import orjson

from sigla import keys
from sigla.errors import StoreError
from sigla.ports.replaying import Shipment
from sigla.regions.shipped import shipment_form, shipment_of
from sigla.stores.sqlite.links import Disk

_OWNERS: Final = 0o600
_KEPT, _WRITTEN = ".json", ".new"


class HandedKeys:
    """Those of one registry in a directory. Raises OSError."""

    def __init__(self, root: Path, registry: str, disk: Disk) -> None:
        self._folder = root / keys.file_component(registry) / "handed"
        self._disk = disk

    def keep(self, shipments: Sequence[Shipment], *, end: int, begin: int) -> None:
        """Durable when it returns.

        end: of the journal here: up to there commits came, or were never made. begin: where the primary goes on with
        these: what was kept from there on, or in the place of one of them, was never made.
        """
        self._forget(lambda at: at <= end or at >= begin)
        files = {self._path(each.position, _WRITTEN): each for each in shipments}
        if files:
            self._disk.write({path: orjson.dumps(shipment_form(each)) for path, each in files.items()}, mode=_OWNERS)
            for path in files:
                path.replace(path.with_suffix(_KEPT))
            self._disk.sync([self._folder])

    def after(self, end: int, is_of: Callable[[Shipment], bool]) -> Iterator[Shipment]:
        """Those behind a place in the journal of the primary, in their order. is_of: which. Raises StoreError."""
        for at, path in self._files():
            if at > end and is_of(found := _shipment_in(path)):
                yield found

    def forget(self) -> None:
        """All of them."""
        self._forget(lambda _: True)

    def _forget(self, is_over: Callable[[int], bool]) -> None:
        for at, path in self._files():
            if is_over(at):
                path.unlink(missing_ok=True)

    def _path(self, position: int, suffix: str) -> Path:
        return self._folder / f"{position:019}{suffix}"

    def _files(self) -> list[tuple[int, Path]]:
        names = os.listdir(self._folder) if self._folder.is_dir() else ()
        return sorted((int(Path(name).stem), self._folder / name) for name in names if name.endswith(_KEPT))


def _shipment_in(path: Path) -> Shipment:
    try:
        return shipment_of(orjson.loads(path.read_bytes()), str(path))
    except (OSError, ValueError, LookupError, TypeError) as failure:
        raise StoreError(
            f"Keys that the primary has handed over cannot be read from {path} ({failure}): put that right, or move it "
            "away to go on without them"
        ) from failure
