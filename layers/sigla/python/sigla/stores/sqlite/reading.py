"""What stands in a directory, for who only reads it: also while another process writes there."""

from pathlib import Path

from sigla.stores.sqlite.bodies import EmbeddedBodies
from sigla.stores.sqlite.catalog import EmbeddedCatalog
from sigla.stores.sqlite.database import CatalogLost, Database, NoData
from sigla.stores.sqlite.directory import Directory, with_bodies
from sigla.stores.sqlite.inventory import EmbeddedInventory
from sigla.stores.sqlite.journal import EmbeddedJournal
from sigla.stores.sqlite.unit import Reader

CATALOG = "catalog.sqlite"


class ReadingStore:
    """Catalog, bodies and journal as others have committed them. Raises NoData, CatalogLost, TooNew, OtherRegistry."""

    def __init__(self, path: Path, *, registry: str = "default") -> None:
        try:
            (path / CATALOG).stat()
        except (FileNotFoundError, NotADirectoryError):
            if lost := with_bodies(path):
                raise CatalogLost(path, lost) from None
            raise NoData(f"Found no registry in {path}.") from None
        directory = Directory(path, registry)
        directory.check()
        self._database = Database(path / CATALOG, registry=registry, durable=False, written=False)
        unit = Reader(self._database)
        self.catalog = EmbeddedCatalog(unit)
        self.bodies = EmbeddedBodies(unit, directory)
        self.journal = EmbeddedJournal(unit)
        self.inventory = EmbeddedInventory(unit, path, registry)

    def close(self) -> None:
        self._database.close()
