"""The kinds of store, by the scheme of an address: a row each. Nothing of a kind is imported before it is chosen."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from sigla.auth.api_keys import Keys
from sigla.model import BodyKey, Guid
from sigla.ports.bodies import Bodies
from sigla.ports.replaying import RegionPair
from sigla.ports.store import Store
from sigla.settings import Address, InvalidSetting
from sigla.stores.not_opened import DataNotOpened

if TYPE_CHECKING:
    from sigla.regions.promotion import Promotion


class BodiesKind(Protocol):
    """How what needs no catalog is opened; a module is one. What was opened is closed at the end.

    Raises DataNotOpened, InvalidSetting; ImportError where a library is missing.
    """

    def bodies(self, address: Address) -> AbstractContextManager[Bodies]:
        """All that decoding needs."""
        ...

    def keys(self, address: Address) -> AbstractContextManager[Keys]:
        """The API keys of the registry."""
        ...


class StoreKind(BodiesKind, Protocol):
    """How a whole store is opened; a module is one. Raises as above."""

    def reading(self, address: Address) -> AbstractContextManager[Store]:
        """For who only reads, also while others write."""
        ...

    def writing(self, address: Address) -> AbstractContextManager[Store]:
        """Made if need be."""
        ...

    def pair(self, here: Any, there: Any) -> RegionPair:
        """A follower and its primary, both stores of this kind."""
        ...

    def promote_by_force(self, store: Any, *, now: int) -> "Promotion":
        """As of `promotion.forced`; with the keys that the primary has handed over, where one commit can have both."""
        ...

    def is_handed_over(self, store: Any, key: BodyKey, guid: Guid, over: str) -> bool:
        """Whether an id that an import has brought means something here without its commit: `ports.HandedIds`."""
        ...

    def adopt_keys(self, store: Any) -> int:
        """Carries out commits of keys that the primary before has handed over and that did not come; how many.

        None but in a region that was promoted by force, until it is reconciled. May be cut off, and repeated.
        """
        ...


def _sqlite() -> StoreKind:
    from sigla.stores.sqlite import opening

    return opening


def _dynamodb() -> StoreKind:
    from sigla.stores.dynamodb import opening

    return opening


def _s3() -> BodiesKind:
    from sigla.stores.s3 import opening

    return opening


class StoreRow(NamedTuple):
    """kind: imports it. shared: whether any number of processes may write at once."""

    kind: Callable[[], StoreKind]
    shared: bool


STORES: Final[Mapping[str, StoreRow]] = {
    "file": StoreRow(_sqlite, shared=False),
    "memory": StoreRow(_sqlite, shared=False),
    "dynamodb+s3": StoreRow(_dynamodb, shared=True),
}
BODIES: Final[Mapping[str, Callable[[], BodiesKind]]] = {"s3": _s3}
"""Bodies alone, where nothing is asked that only a catalog can tell."""


def store_row(address: Address) -> StoreRow:
    """Imports nothing. Raises DataNotOpened if the address names no catalog, InvalidSetting for unknown schemes."""
    if address.scheme in BODIES:
        raise DataNotOpened(f"The table of the registry in {address} is not named.")
    if address.scheme not in STORES:
        raise _unknown(address, STORES)
    return STORES[address.scheme]


def store_kind(address: Address) -> StoreKind:
    """Raises as `store_row`."""
    return store_row(address).kind()


def bodies_kind(address: Address) -> BodiesKind:
    """Raises InvalidSetting for an unknown scheme."""
    if address.scheme in BODIES:
        return BODIES[address.scheme]()
    if address.scheme not in STORES:
        raise _unknown(address, {**STORES, **BODIES})
    return store_kind(address)


def _unknown(address: Address, known: Mapping[str, object]) -> InvalidSetting:
    return InvalidSetting(f"Unknown kind of store {address.scheme!r}. Valid kinds: {', '.join(known)}.")
