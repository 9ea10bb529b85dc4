"""The registry of a backup, in a directory: all of it, checked, or nothing.

The directory is empty, or made, and locked for as long as it takes. Everything is unpacked, compared, opened, scrubbed
and numbered in a folder inside it, which a killed command leaves behind and the next one sweeps. Then what is in the
folder moves up, the catalog last: with it there is a registry, and without it none.

Numbers. What was registered after the backup is not in it, and its ids are in records of Kafka: no other schema may get
them. So numbering goes on far above the last id that the backup knows, or that either of two regions was allowed to
give (`carrying.last_given`), and the ids in between mean nothing until they are imported, as they were.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from sigla import opening
from sigla.backups.archive import unpack
from sigla.backups.carrying import Until, api_keys, carry, contexts_of, last_given, put_api_keys
from sigla.backups.contents import Contents, NotABackup
from sigla.backups.scratch import scratch_folder
from sigla.contract import HIGHEST
from sigla.keys import file_component
from sigla.model import SchemaId
from sigla.ports.progress import Progress
from sigla.ports.store import Store
from sigla.regions.names import drawn_pair
from sigla.registry.resources import Resources
from sigla.registry.steps import numbering
from sigla.settings import Address
from sigla.stores.not_opened import DataNotOpened
from sigla.stores.sqlite.copying import check_catalog
from sigla.stores.sqlite.links import Disk
from sigla.stores.sqlite.reading import CATALOG
from sigla.stores.sqlite.scratch import ScratchDatabase
from sigla.stores.sqlite.store import LOCK, DataInUse, lock_data
from sigla.upkeep import scrub
from sigla.upkeep.exporters import set_down_exporters
from sigla.upkeep.flaws import KINDS, RELATIONS, Flaw, Severity

SKIPPED: Final = numbering.FURTHEST
"""So many ids of each context are left out by default: more than one loses between two backups."""

SCRATCH: Final = ".restoring"
_OURS: Final = {SCRATCH, LOCK, "lost+found"}
"""What a directory may hold and be empty: what a restoration leaves behind that was killed, and a file system's own."""

_ROOM: Final = 2**20
"""Bytes that are left on the disk."""


EVERYTHING: Final = Until(at=2**63)
"""A journal to its end."""


class Flawed(Exception):
    """What a scrub has found; the message says what to do."""


class Restored(NamedTuple):
    """contents: what there is of the backup now. flaws: what needs attention in it."""

    contents: Contents
    flaws: Sequence[Flaw]


def restore_at(
    file: Path, address: Address, *, keys: bool, flawed: bool, skip: int, progress: Progress, again: bool
) -> Restored:
    """Restores as `restore` or `restore_into` does."""
    if address.scheme == "file":
        return restore(file, Path(address.path), keys=keys, flawed=flawed, skip=skip, progress=progress)
    return restore_into(file, address, keys=keys, flawed=flawed, skip=skip, progress=progress, again=again)


def restore(file: Path, directory: Path, *, keys: bool, flawed: bool, skip: int, progress: Progress) -> Restored:
    """keys: with the API keys. flawed: also what a scrub finds fault with. skip: ids of each context that are left out.

    Raises NotABackup, Flawed, DataNotOpened, StoreError, OSError.
    """
    with emptied(directory) as folder:

        def announced(contents: Contents) -> None:
            check_room(contents, directory)

        contents = unpack(file, folder, announced=announced, keys=keys, progress=progress)
        flaws = _opened(file, folder, contents, skip, progress)
        if flaws and not flawed:
            raise Flawed(_found(file, flaws))
        settle(folder)
        move_up(folder, directory, contents)
    return _as_restored(contents, flaws, keys=keys)


def restore_into(
    file: Path, address: Address, *, keys: bool, flawed: bool, skip: int, progress: Progress, again: bool = False
) -> Restored:
    """The same in a table and a bucket that have nothing of this registry. again: go on where it was cut off.

    What was written there cannot be taken back: it stays, and is met again. Raises as `restore`.
    """
    with scratch_folder(Path(tempfile.gettempdir())) as folder:

        def announced(contents: Contents) -> None:
            check_room(contents, folder)
            with opening.reading(replace(address, registry=contents.registry)) as target:
                _check_new(target, contents, again=again)

        contents = unpack(file, folder, announced=announced, keys=keys, progress=progress)
        flaws = _opened(file, folder, contents, skip, progress)
        if flaws and not flawed:
            raise Flawed(_found(file, flaws))
        where = replace(address, registry=contents.registry)
        local = Address.of(data=str(folder), registry=contents.registry)
        with opening.reading(local) as source, opening.writing(where, "restore") as target:
            carry(source, target, where, progress, until=EVERYTHING)
            flaws = flaws_of(target.store, progress)
        put_api_keys(where, api_keys(local))
    return _as_restored(contents, flaws, keys=keys)


def _as_restored(contents: Contents, flaws: Sequence[Flaw], *, keys: bool) -> Restored:
    return Restored(contents if keys else replace(contents, keys=0), flaws)


def _check_new(target: Store, contents: Contents, *, again: bool) -> None:
    """Raises NotABackup."""
    for mark in target.marks or ():
        if contents.identity and mark.read() == contents.identity:
            raise NotABackup(
                f"The {mark.kind} {mark.name} has the identity of the registry that the backup was made of: restore "
                "it into a deployment of its own, with a new identity (docs/operations.md#backup-in-aws)."
            )
    if not again and not target.inventory.is_empty():
        raise NotABackup(
            f"There is something of a registry {contents.registry} already: name a table and a bucket without it, or "
            "add --again to go on with a restoration that was cut off."
        )


def check_room(contents: Contents, directory: Path) -> None:
    """Raises NotABackup."""
    free = shutil.disk_usage(directory).free
    if contents.size + _ROOM > free:
        raise NotABackup(
            f"The backup takes up to {contents.size:,} bytes, and the disk of {directory} has {free:,} left: make "
            "room there, or choose another directory."
        )


def leave_out(resources: Resources, given: Mapping[str, SchemaId], number: int) -> None:
    """New ids of every context go on so much farther. given: the last one of each.

    Raises NotABackup where so many are not left.
    """
    for context, last in given.items():
        if number and last + number >= HIGHEST > last:
            raise NotABackup(
                f"Context {context} has {HIGHEST - last:,} ids left, and {number:,} would be left out: give a "
                "smaller number with --skip-ids."
            )
        if last < HIGHEST:
            numbering.continue_after(resources, context, SchemaId(last + number))


def flaws_of(store: Store, progress: Progress) -> list[Flaw]:
    """What needs attention where nothing is written meanwhile."""
    with closing(ScratchDatabase(RELATIONS)) as scratch:
        progress("scrubbing", 0)
        scrub.gather(store, scratch)
        found = scrub.confirmed(store, scrub.suspects(scratch), settle_s=0)
        return [flaw for flaw in found if KINDS[flaw.kind].severity is not Severity.INFO]


def _opened(file: Path, folder: Path, contents: Contents, skip: int, progress: Progress) -> list[Flaw]:
    check_catalog(folder / CATALOG)
    address = Address.of(data=str(folder), registry=contents.registry)
    try:
        with opening.directory(address) as store:
            given = {context: last_given(store, context) for context in contexts_of(store)}
            if (role := store.region.role()) is not None:
                store.region.set_role(role, role.made_anew(drawn_pair()))
        with opening.writing(address, "restore") as writing:
            leave_out(writing.registry, given, skip)
            set_down_exporters(writing.registry)
            flaws = flaws_of(writing.store, progress)
    except DataNotOpened as problem:
        raise NotABackup(f"What is in {file} cannot be opened: {problem}") from None
    if (folder / f"{CATALOG}-wal").exists():
        # The numbering is in it, and it would stay behind.
        raise NotABackup(
            f"The log of {folder / CATALOG} is not in that file yet: another process has it open, or the disk failed. "
            "End that process, or look at the disk, and restore once more."
        )
    return flaws


def _found(file: Path, flaws: Sequence[Flaw]) -> str:
    more = f", and {len(flaws) - 1} more" if len(flaws) > 1 else ""
    return (
        f"The registry in {file} has flaws: {flaws[0].sentence[:-1]}{more}. Nothing was restored: take an earlier "
        "backup, or add --with-flaws and see what `sigla scrub` says."
    )


@contextmanager
def emptied(directory: Path) -> Iterator[Path]:
    """A folder in the directory, which is locked. On failure all is as it was. Raises NotABackup, OSError."""
    there = directory.exists()
    if there and not directory.is_dir():
        raise NotABackup(f"{directory} is a file: name a directory that is empty, or not there.")
    directory.mkdir(mode=0o700, exist_ok=True)
    lock = None
    had_lock = (directory / LOCK).exists()
    try:
        _check_empty(directory)
        lock = _locked(directory)
        _check_empty(directory)
        folder = directory / SCRATCH
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        if lock is not None and not had_lock:
            (directory / LOCK).unlink(missing_ok=True)
        if not there:
            with suppress(OSError):
                directory.rmdir()
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _locked(directory: Path) -> int:
    try:
        return lock_data(directory)
    except DataInUse as taken:
        raise NotABackup(str(taken)) from None


def _check_empty(directory: Path) -> None:
    """Raises NotABackup."""
    found = sorted(each.name for each in directory.iterdir() if each.name not in _OURS)
    if found:
        raise NotABackup(
            f"{directory} is not empty, {found[0]} is in it: name a directory that is empty, or not there."
        )


def settle(folder: Path) -> None:
    """All of it is on the disk when this returns."""
    for where, _, files in os.walk(folder):
        for name in (*files, "."):
            opened = os.open(Path(where) / name, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)


def move_up(folder: Path, directory: Path, contents: Contents) -> None:
    """The catalog last. Raises OSError, and has moved nothing then."""
    disk = Disk(durable=True)
    root = directory / file_component(contents.registry)
    try:
        if (folder / root.name).exists():
            (folder / root.name).rename(root)
        disk.sync([directory])
        (folder / CATALOG).rename(directory / CATALOG)
    except BaseException:
        if not (directory / CATALOG).exists():
            shutil.rmtree(root, ignore_errors=True)
        raise
    disk.sync([directory])
