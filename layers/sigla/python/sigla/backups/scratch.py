"""A folder for what is in the making, and room for it on the disk.

A command that is killed leaves its folder behind. It is held by a lock as long as its command lives, so the next
command that works in the same place knows whose maker is gone, and removes it.
"""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PREFIX: Final = ".sigla-"
HELD: Final = "held"

RESERVE: Final = 2**24
"""Bytes that are left on a disk: a registry that is served from the same one goes on writing."""


@contextmanager
def scratch_folder(place: Path) -> Iterator[Path]:
    """Makes a folder in the place, which goes at the end, however that comes. Sweeps those that were left there."""
    _sweep(place)
    while True:
        with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place) as name:
            held = Path(name) / HELD
            with held.open("xb") as opened:
                with suppress(OSError):  # where a file system has no locks, folders are not swept either
                    fcntl.flock(opened, fcntl.LOCK_EX)
                if not held.exists():
                    continue  # swept before it was held
                yield Path(name)
                return


def free_bytes(folder: Path) -> int:
    """The room on a folder's disk that may be used."""
    return max(0, shutil.disk_usage(folder).free - RESERVE)


def _sweep(place: Path) -> None:
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / HELD).open("r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
