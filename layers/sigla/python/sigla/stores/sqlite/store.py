"""The stores of one machine, opened together: a directory, or memory."""

import fcntl
import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from sigla.model import BodyKey
from sigla.ports.regions import Peer
from sigla.ports.replaying import OrderedReplayer, Shipper
from sigla.regions.handing import HandsOver
from sigla.regions.nouns import Role
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite import keks
from sigla.stores.sqlite.audits import EmbeddedAudits
from sigla.stores.sqlite.bodies import EmbeddedBodies
from sigla.stores.sqlite.catalog import EmbeddedCatalog
from sigla.stores.sqlite.database import Database
from sigla.stores.sqlite.directory import Directory
from sigla.stores.sqlite.handed_keys import HandedKeys
from sigla.stores.sqlite.handing import EmbeddedHanding
from sigla.stores.sqlite.inventory import EmbeddedInventory
from sigla.stores.sqlite.journal import EmbeddedJournal, EmbeddedLog
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.links import Disk
from sigla.stores.sqlite.principals import EmbeddedPrincipals
from sigla.stores.sqlite.reads import EmbeddedReads
from sigla.stores.sqlite.recalled import RecalledCatalog
from sigla.stores.sqlite.regions import role_of
from sigla.stores.sqlite.replaying import EmbeddedReplayer, EmbeddedShipper
from sigla.stores.sqlite.room import Room
from sigla.stores.sqlite.secrets import EmbeddedSecrets
from sigla.stores.sqlite.unit import Writer

OWNERS_FOLDER: Final = 0o700
LOCK = "lock"
"""The file in a directory that is locked by the process which has it open."""


class DataInUse(Exception):
    """Another process has the data open; the sentence says so."""


class EmbeddedStore:
    """A `ports.Store` of one process at a time.

    path: a directory, made if need be; None for memory: the same, not durable, on a temporary directory that goes with
    `close`. peer: the other region, where there is one.

    Raises DataInUse, CatalogLost, TooNew, OtherRegistry; StoreError and OSError where the data are damaged, or the disk
    is full.

    epoch: as of `journal.for_region`, where it has no role.

    Any thread may read and write. A write is durable when its call returns; inside `group`, when the group ends.
    """

    marks = None
    served = None
    zones = None

    def __init__(
        self, path: Path | None = None, *, registry: str = "default", epoch: int = 0, peer: Peer | None = None
    ) -> None:
        self.clock = SystemClock()
        with ExitStack() as opened:
            self.path = path or Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="sigla-")))
            durable = path is not None
            disk = Disk(durable=durable)
            is_new = not self.path.is_dir()
            disk.folder_of(self.path / LOCK)
            if is_new:
                self.path.chmod(OWNERS_FOLDER)
            opened.callback(os.close, lock_data(self.path))
            database = Database(self.path / "catalog.sqlite", registry=registry, durable=durable)
            opened.callback(database.close)
            directory = Directory(self.path, registry)
            directory.check()
            self._directory = directory
            disk.sync([self.path])
            self._unit = Writer(database, directory, disk)
            self._room = Room(self.path)
            self.handed = HandedKeys(self.path, registry, disk)
            catalog = EmbeddedCatalog(self._unit, epoch=epoch, peer=peer)
            self._catalog = catalog
            self.catalog = RecalledCatalog(catalog, self._unit)
            self.region = catalog.region
            self.bodies = EmbeddedBodies(self._unit, directory)
            self.journal = EmbeddedJournal(self._unit)
            self.log = EmbeddedLog(self._unit, self.journal)
            self.recent_log = self.log
            self.principals = EmbeddedPrincipals(self._unit)
            self.reads = EmbeddedReads(self._unit)
            self.inventory = EmbeddedInventory(self._unit, self.path, registry)
            self.keys = EmbeddedKeys(self.path, registry=registry)
            self.audits = EmbeddedAudits(self.path, registry=registry)
            self.secrets = EmbeddedSecrets(self.path, self._unit, disk, registry=registry)
            self._mark = secrets.token_hex(16)
            self._opened = opened.pop_all()

    def mark(self) -> str:
        """Its own is drawn each time it is opened: a copy of the directory is another registry."""
        role = self.region.role()
        return (role.pair if role else "") or self._mark

    def group(self) -> AbstractContextManager[None]:
        """What this thread writes inside is visible to it at once, and durable for all together at the end.

        An exception, or a failure of the disk at the end, undoes everything and is raised on. Groups in groups are one.
        """
        return self._unit.group()

    def step(self) -> AbstractContextManager[None]:
        """A part of a group, undone alone when it raises, with its bodies and drawn ids; else a group of its own."""
        return self._unit.step()

    def follow_ceilings(self, peer: Peer) -> None:
        """peer: the other region, which has to know how far ids are given."""
        self._catalog.peer = peer

    def hand_over(self, over: HandsOver) -> None:
        """Has what comes to be committed handed to another region first."""
        self._unit.handing = EmbeddedHanding(self._unit, self.journal, self.bodies, over)

    def shipper(self) -> Shipper:
        """Tells its commits to another region."""
        return EmbeddedShipper(self.journal, self.bodies)

    def replayer(self, allowed: Callable[[], None]) -> OrderedReplayer:
        """Carries out commits of another region. allowed: raises where that is not to be done any more."""
        return EmbeddedReplayer(self._unit, self.bodies, allowed, self.handed)

    def unsettled(self, key: BodyKey) -> bool:
        return self.bodies.unsettled(key)

    def on_replaced(self, tell: Callable[[set[BodyKey]], None]) -> None:
        """After each flush, the bodies that it buried or revived."""
        self._unit.flushed.append(lambda _, replaced: tell(replaced) if replaced else None)

    def on_committed(self, tell: Callable[[bool], None]) -> None:
        """Has it called after each commit, in the thread that wrote, and told whether an exporter was changed."""
        self._unit.flushed.append(lambda *_: tell(self._unit.touched_exporters))

    def on_role_changed(self, tell: Callable[[Role], None]) -> None:
        """Has it called after each commit that changed the role of the region, in the thread that wrote.

        It must neither write nor fail: what the commit has written is durable by then.
        """

        def hear(*_: object) -> None:
            if self._unit.touched_role and (role := role_of(self._unit.committed)):
                tell(role)

        self._unit.flushed.append(hear)

    def count(self) -> int:
        """How many versions are stored, soft-deleted ones included."""
        (number,) = self._unit.connection.execute("SELECT count(*) FROM version").fetchone()
        return int(number)

    def count_bytes(self) -> int:
        """How many bytes the files of bodies have, those of ids without a version included: they stay."""
        return self._directory.size()

    def count_keys(self) -> tuple[int, int, int]:
        """How many KEKs, shared KEKs and DEKs are stored, soft-deleted ones included."""
        return keks.count(self._unit.connection)

    @property
    def writable(self) -> bool:
        """Whether a write would find room now.

        For good False once the disk failed in a way that leaves open what it holds; opening the store again finds out.
        """
        if self._unit.broken or not self._room.is_there(tried=not self._unit.failing):
            return False
        self._unit.failing = False
        return True

    @property
    def tells_others(self) -> bool:
        """Whether other users of the machine can read the catalog while there are KEKs, whose settings it has."""
        catalog = self.path / "catalog.sqlite"
        is_open = self.path.stat().st_mode & 0o011 and catalog.stat().st_mode & 0o044
        return bool(is_open) and self.count_keys()[0] > 0

    def close(self) -> None:
        """No thread may be inside a group. Closing again does nothing."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def lock_data(path: Path) -> int:
    """The descriptor that holds the lock of a directory, until it is closed or the process ends. Raises DataInUse."""
    file = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as taken:
        os.close(file)
        raise DataInUse(f"Another process is using the data in {path}; stop it or choose another directory.") from taken
    return file
