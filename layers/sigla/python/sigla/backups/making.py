"""A backup of a registry, also while it is served: whole when it appears under its name, or not there at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Final, NamedTuple

from sigla import keys as stored
from sigla import opening
from sigla.backups.archive import CONTENTS, Packer
from sigla.backups.carrying import Moment, Records, Until, api_keys, carry, moment
from sigla.backups.contents import Contents, NotABackup
from sigla.backups.scratch import free_bytes, scratch_folder
from sigla.model import BodyKey
from sigla.ports.progress import Progress
from sigla.ports.store import Store
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.copying import CopiedDirectory, catalog_bytes, check_catalog, copy_catalog
from sigla.stores.sqlite.links import Disk
from sigla.stores.sqlite.reading import CATALOG
from sigla.stores.sqlite.store import LOCK

PACKED: Final = "packed"

REWRITTEN: Final = 256
"""Bytes by which a body may grow that is written anew, for what its catalog says of it."""

OWNERS_ALONE: Final = 0o600
"""Who may read it: it has the schemas of all, and by what keys are verified."""


class Made(NamedTuple):
    """damaged: ids of which there was no sound body."""

    contents: Contents
    bytes: int
    damaged: list[BodyKey]


def make(
    address: Address, file: Path, *, force: bool, keys: bool, progress: Progress, until: Until | None = None
) -> Made:
    """force: also in the place of another file. keys: with the API keys. until: an earlier moment of a directory.

    Raises NotABackup, StoreError, OSError, and as `opening.reading`.
    """
    file = file.resolve()
    _check_place(file, address, force=force)
    with opening.reading(address) as source, scratch_folder(file.parent) as folder:
        kept = api_keys(address) if keys else []
        found = Moment(SystemClock().now(), 0)
        if until:
            found = moment(source, until)
            # By its position from here on: after a clock was set back, rows are not in the order of their times.
            until = Until(position=found.position)
        data, lost = Path(address.path), list[BodyKey]()
        if not _is_whole(address, until):
            data, lost = folder / "carried", _carry(source, address, folder / "carried", until, progress)
        _check_room(folder, catalog_bytes(data))
        copy_catalog(data, folder / CATALOG, progress)
        check_catalog(folder / CATALOG)
        with CopiedDirectory(data, folder / CATALOG, address.registry) as copied:
            contents = _announced(copied, folder / CATALOG, kept, address.registry, found)
            contents = replace(contents, identity=source.marks.bodies.read() if source.marks else "")
            _pack(folder, contents, copied, kept, progress)
            size = (folder / PACKED).stat().st_size
            _check_place(file, address, force=force)  # once more: it took its time
            _put(folder / PACKED, file)
            return Made(contents, size, sorted({*lost, *copied.damaged}))


def _is_whole(address: Address, until: Until | None) -> bool:
    """Whether the directory is what is wanted, as it stands."""
    return address.scheme == "file" and until is None


def _carry(source: Store, address: Address, data: Path, until: Until | None, progress: Progress) -> list[BodyKey]:
    """Fills a directory with what another kind of store has, or with an earlier moment; ids whose body is lost."""
    where = Address.of(data=str(data), registry=address.registry)
    with opening.writing(where, "backup") as target:
        return carry(source, target, where, progress, until=until)


def _check_room(folder: Path, wanted: int) -> None:
    """Raises NotABackup where so many bytes are not left."""
    if wanted > (free := free_bytes(folder)):
        raise NotABackup(
            f"The backup takes {wanted:,} bytes or more, and the disk of {folder.parent} has {free:,} left: make room "
            "there, or name a file on another disk."
        )


def _check_place(file: Path, address: Address, *, force: bool) -> None:
    """Raises NotABackup."""
    if file.is_dir():
        raise NotABackup(f"{file} is a directory: name a file in it.")
    if _is_of_registry(file, address):
        raise NotABackup(f"{file} is a part of the registry itself: choose another name.")
    if file.exists() and not file.is_file():
        raise NotABackup(f"{file} is not a file: choose another name.")
    if file.exists() and not force:
        raise NotABackup(f"{file} exists already: choose another name, or add --force to replace it.")


def _is_of_registry(file: Path, address: Address) -> bool:
    """Whether the registry keeps something under this name, or would."""
    if address.scheme != "file" or not file.is_relative_to(data := Path(address.path).resolve()):
        return False
    first = "".join(file.relative_to(data).parts[:1])
    return first in (LOCK, stored.file_component(address.registry)) or first.startswith(CATALOG)


def _announced(copied: CopiedDirectory, catalog: Path, kept: Records, registry: str, found: Moment) -> Contents:
    """Said before the bodies are read, so that whoever restores them knows what it will take."""
    sizes = [size for key in copied if (size := copied.size(key)) is not None]
    size = catalog.stat().st_size + sum(len(record) for _, record in kept)
    position = found.position or copied.position
    return Contents(registry, found.at, position, len(sizes), len(kept), size + sum(sizes) + REWRITTEN * len(sizes))


def _pack(folder: Path, contents: Contents, copied: CopiedDirectory, kept: Records, progress: Progress) -> None:
    """folder: with the copied catalog."""
    with _new(folder / PACKED) as out, Packer(out, contents.at // 1000) as packer:
        packer.add(CONTENTS, contents.written())
        packer.add_file(CATALOG, folder / CATALOG)
        for number, key in enumerate(copied):
            progress("bodies", number, contents.bodies)
            if (body := copied.stored(key)) is not None:
                _check_room(folder, len(body))
                packer.add(stored.body_file(contents.registry, key), body)
        for name, record in kept:
            packer.add(stored.api_key_file(contents.registry, name), record)


@contextmanager
def _new(file: Path) -> Iterator[IO[bytes]]:
    """On the disk when this ends."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNERS_ALONE), "wb") as out:
        yield out
        out.flush()
        os.fsync(out.fileno())


def _put(packed: Path, file: Path) -> None:
    packed.replace(file)
    Disk(durable=True).sync([file.parent])
