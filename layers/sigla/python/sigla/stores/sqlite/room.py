"""Whether a disk has room for a write: asked by health, also while nothing is written."""

import os
from pathlib import Path

LEAST = 2**20
"""Bytes: a schema of the longest kind, and what the catalog's log grows by."""

PROBE = ".room"


class Room:
    """The room of the disk on which a folder is."""

    def __init__(self, folder: Path, *, least: int = LEAST) -> None:
        self._folder = folder
        self._least = least

    def is_there(self, *, tried: bool) -> bool:
        """tried: whether the last write went well; else one is tried, for quotas and rights that no figure tells."""
        try:
            disk = os.statvfs(self._folder)
            if disk.f_bavail * disk.f_frsize < self._least:
                return False
            if not tried:
                self._try()
        except OSError:
            return False
        return True

    def _try(self) -> None:
        probe = self._folder / PROBE
        try:
            probe.write_bytes(bytes(self._least))
        finally:
            probe.unlink(missing_ok=True)
