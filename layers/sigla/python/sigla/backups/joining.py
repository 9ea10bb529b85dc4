"""A directory that begins to follow: filled with a copy of its primary, made after that knew of it."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from sigla import opening
from sigla.backups.archive import unpack
from sigla.backups.contents import Contents, NotABackup
from sigla.backups.restoring import check_room, emptied, move_up, settle
from sigla.backups.scratch import scratch_folder
from sigla.ports.primary import Primary
from sigla.ports.progress import Progress
from sigla.regions.names import drawn_name
from sigla.regions.nouns import RegionKind, Role
from sigla.settings import Address
from sigla.stores.sqlite.copying import check_catalog
from sigla.stores.sqlite.reading import CATALOG

COPY: Final = "copy"


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


def _begin(address: Address, url: str) -> None:
    """It is told how far ids are given before it is a follower. A copy that is made anew has a name of its own."""
    with opening.directory(address) as store:
        seen = store.region.role()
        epoch = seen.epoch if seen else 1
        begun = Role(epoch, RegionKind.JOINING, name=drawn_name(), peer=url)
        # What its primary is not reconciled with, it is not either.
        store.region.set_role(seen, replace(begun, reconciled=seen.reconciled, lost=seen.lost) if seen else begun)
