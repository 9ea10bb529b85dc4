"""All ports of one place."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from sigla.model import BodyKey
from sigla.ports.audits import Audits
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.inventory import Inventory
from sigla.ports.journal import Journal
from sigla.ports.log import Log, RecentLog
from sigla.ports.marks import Marks, Served
from sigla.ports.principals import Principals
from sigla.ports.reads import Reads
from sigla.ports.regions import Region
from sigla.ports.secrets import Secrets
from sigla.ports.zones import Zones


class Store(Protocol):
    """Everything that one registry keeps in one place, opened; `sigla.stores.kinds` knows the kinds of them.

    Any thread may use it. Nothing of it stands behind a cache of bodies, so that what is told is what is there.
    """

    @property
    def catalog(self) -> Catalog: ...
    @property
    def bodies(self) -> Bodies: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def log(self) -> Log: ...
    @property
    def recent_log(self) -> RecentLog | None:
        """None where the journal is for its operators alone."""
        ...

    @property
    def inventory(self) -> Inventory: ...
    @property
    def secrets(self) -> Secrets:
        """Credentials of exporters; a directory that is only read tells at most which there are."""
        ...

    @property
    def principals(self) -> Principals: ...
    @property
    def reads(self) -> Reads: ...
    @property
    def audits(self) -> Audits: ...
    @property
    def region(self) -> Region:
        """Roles and counters of ids, for a registry that has a second region."""
        ...

    @property
    def clock(self) -> Clock:
        """Dates what is written there."""
        ...

    @property
    def marks(self) -> Marks | None:
        """None where catalog and bodies are one whole, and cannot be put together wrongly."""
        ...

    @property
    def served(self) -> Served | None:
        """None where no function writes journals."""
        ...

    @property
    def zones(self) -> Zones | None:
        """None where no directory of zones is kept."""
        ...

    def mark(self) -> str:
        """As `Itself.mark`: that of the pair of a registry with two regions, else one of its own. Raises StoreError."""
        ...

    def group(self) -> AbstractContextManager[None]:
        """What this thread writes inside becomes durable together at the end, where the store can do that."""
        ...

    def unsettled(self, key: BodyKey) -> bool:
        """Whether this thread sees a body that may yet be undone, so that no cache should remember it."""
        ...

    def on_replaced(self, tell: Callable[[set[BodyKey]], None]) -> None:
        """Has a cache told which bodies were replaced, where they are so later than the call that said so returned."""
        ...
