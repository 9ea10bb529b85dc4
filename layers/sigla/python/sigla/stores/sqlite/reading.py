"""What stands in a directory, for who only reads it: also while another process writes there."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from sigla.model import BodyKey
from sigla.ports.log import RecentLog
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.audits import EmbeddedAudits
from sigla.stores.sqlite.bodies import EmbeddedBodies
from sigla.stores.sqlite.catalog import EmbeddedCatalog
from sigla.stores.sqlite.database import CatalogLost, Database, NoData
from sigla.stores.sqlite.directory import Directory, with_bodies
from sigla.stores.sqlite.inventory import EmbeddedInventory
from sigla.stores.sqlite.journal import EmbeddedJournal, EmbeddedLog
from sigla.stores.sqlite.principals import EmbeddedPrincipals
from sigla.stores.sqlite.reads import EmbeddedReads
from sigla.stores.sqlite.secrets import SeenSecrets
from sigla.stores.sqlite.unit import Reader

CATALOG = "catalog.sqlite"


class ReadingStore:
    """A `ports.Store` as others have committed it. Raises NoData, CatalogLost, TooNew, OtherRegistry."""

    marks = None
    served = None
    zones = None

    def __init__(self, path: Path, *, registry: str = "default") -> None:
        self.clock = SystemClock()
        try:
            (path / CATALOG).stat()
        except (FileNotFoundError, NotADirectoryError):
            if lost := with_bodies(path):
                raise CatalogLost(path, lost) from None
            raise NoData(f"Found no registry in {path}.") from None
        directory = Directory(path, registry)
        directory.check()
        self._database = Database(path / CATALOG, registry=registry, durable=False, written=False)
        self._unit = unit = Reader(self._database)
        self.catalog = EmbeddedCatalog(unit)
        self.region = self.catalog.region
        self.bodies = EmbeddedBodies(unit, directory)
        self.journal = EmbeddedJournal(unit)
        self.log = EmbeddedLog(unit, self.journal)
        self.recent_log: RecentLog = self.log
        self.principals = EmbeddedPrincipals(unit)
        self.reads = EmbeddedReads(unit)
        self.inventory = EmbeddedInventory(unit, path, registry)
        self.audits = EmbeddedAudits(path, registry=registry)
        self.secrets = SeenSecrets(path, registry=registry)

    def mark(self) -> str:
        """None: it is not served."""
        return ""

    def group(self) -> AbstractContextManager[None]:
        """Raises StoreError: nothing can be written."""
        return self._unit.group()

    def unsettled(self, key: BodyKey) -> bool:  # noqa: ARG002 - as `ports.Store` has it
        """Never: what is committed stays."""
        return False

    def on_replaced(self, tell: Callable[[set[BodyKey]], None]) -> None:
        """Commits of others are not told."""

    def close(self) -> None:
        self._database.close()
