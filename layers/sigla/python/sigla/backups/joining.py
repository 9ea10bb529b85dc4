"""A directory that begins to follow: filled with a copy of its primary, made after that knew of it."""

import os
import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

from sigla import opening
from sigla.backups.archive import unpack
from sigla.backups.contents import Contents, NotABackup
from sigla.backups.restoring import SCRATCH, check_room, emptied, move_up, settle
from sigla.backups.scratch import PREFIX, scratch_folder
from sigla.ports.primary import Primary
from sigla.ports.progress import Progress
from sigla.regions.names import drawn_name
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.settings import Address
from sigla.stores.sqlite.copying import check_catalog
from sigla.stores.sqlite.links import Disk
from sigla.stores.sqlite.reading import CATALOG
from sigla.stores.sqlite.store import LOCK, lock_data

COPY: Final = "copy"
BESIDE: Final = ".joining"
"""The folder of a directory in which a copy is made that takes the place of what is there."""
BEFORE: Final = "passed-over"
"""The folder, with a number behind it, of what was there."""
_STAY: Final = {BESIDE, SCRATCH, LOCK, "lost+found"}


def join(address: Address, primary: Primary, url: str, progress: Progress) -> Contents:
    """Fills the directory, or leaves it as it is. What was begun and cut off begins anew.

    Raises NotFollowed, NotABackup, DataNotOpened, StoreError, OSError.
    """
    directory = Path(address.path)
    with emptied(directory) as folder, scratch_folder(directory.resolve().parent) as beside:
        file = beside / COPY
        progress("copying the registry", 0)
        with file.open("wb") as opened:
            primary.copy(opened.write)

        def announced(contents: Contents) -> None:
            if contents.registry != address.registry:
                raise NotABackup(
                    f"The registry there is called {contents.registry}, and this one {address.registry}: set "
                    f"SIGLA_REGISTRY_NAME={contents.registry}."
                )
            check_room(contents, directory)

        contents = unpack(file, folder, announced=announced, progress=progress)
        check_catalog(folder / CATALOG)
        _begin(Address.of(data=str(folder), registry=contents.registry), url)
        settle(folder)
        move_up(folder, directory, contents)
        return contents


def join_anew(address: Address, primary: Primary, url: str, progress: Progress) -> Path:
    """Puts a copy into the place of what the directory has. Where that is from then on.

    It may be cut off anywhere, and called again. Raises as `join`.
    """
    directory = Path(address.path)
    if not is_copied(directory):
        folder = directory / BESIDE
        place = Address.of(data=str(folder), registry=address.registry)
        join(place, primary, url, progress)
    return change_places(directory)


def is_copied(directory: Path) -> bool:
    """Whether a copy is whole that has not taken its place yet."""
    return (directory / BESIDE / CATALOG).exists()


def change_places(directory: Path) -> Path:
    """The copy takes its place: first what is there goes, its catalog last, then the copy comes, its catalog last."""
    copy, disk, held = directory / BESIDE, Disk(durable=True), lock_data(directory)
    try:
        numbered = (directory / f"{BEFORE}-{number}" for number in count(1))
        before = next(folder for folder in numbered if not (folder / CATALOG).exists())
        if (directory / CATALOG).exists():
            before.mkdir(mode=0o700, exist_ok=True)
            _move(directory, before, disk)
        else:
            before = before.with_name(f"{BEFORE}-{int(before.name.rpartition('-')[2]) - 1}")
        _move(copy, directory, disk)
        shutil.rmtree(copy, ignore_errors=True)
    finally:
        os.close(held)
    return before


def _move(source: Path, target: Path, disk: Disk) -> None:
    """All that is a registry's. The catalog last: where it is, the registry is."""
    ours = [each for each in source.iterdir() if each.name not in _STAY and not each.name.startswith((BEFORE, PREFIX))]
    for each in sorted(ours, key=lambda each: each.name == CATALOG):
        disk.sync([target] if each.name == CATALOG else [])
        each.rename(target / each.name)
    disk.sync([source, target])


def _begin(address: Address, url: str) -> None:
    """It is told how far ids are given before it is a follower. A copy that is made anew has a name of its own."""
    with opening.directory(address) as store:
        seen = store.region.role()
        epoch = seen.epoch if seen else 1
        begun = Role(epoch, RegionKind.JOINING, name=drawn_name(), peer=KnownBy(url=url))
        # What its primary is not reconciled with, it is not either.
        known = {name: getattr(seen, name) for name in ("reconciled", "lost", "pair", "traces")} if seen else {}
        kept = replace(begun, **known)
        store.region.set_role(seen, kept)
