"""A store by its address, whichever kind that is, and a registry over it. Knows neither HTTP nor the environment."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cache, partial
from os import getuid
from pathlib import Path
from pwd import getpwuid
from typing import TYPE_CHECKING, NamedTuple

from sigla.cache.ring import Ring
from sigla.changes import Author
from sigla.instances import among_others, beside
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.progress import Progress
from sigla.ports.replaying import RegionPair
from sigla.ports.store import Store
from sigla.registry import Registry, Resources
from sigla.registry.attributed import attributed
from sigla.settings import Address, Settings
from sigla.stores import kinds
from sigla.stores.not_opened import DataNotOpened, NoRegistry

if TYPE_CHECKING:  # each kind of store is imported where it is chosen
    from sigla.regions.promotion import Promotion
    from sigla.stores.sqlite.store import EmbeddedStore
    from sigla.upkeep.importing import Group


class Writing(NamedTuple):
    """A registry for who writes much, and its store."""

    registry: Registry
    store: Store


def bodies(address: Address) -> AbstractContextManager[Bodies]:
    """All that decoding needs. Raises as `kinds.BodiesKind` does."""
    return kinds.bodies_kind(address).bodies(address)


def reading(address: Address) -> AbstractContextManager[Store]:
    """Opens it for reading, also while a server writes there. Raises as `kinds.StoreKind` does."""
    return kinds.store_kind(address).reading(address)


def is_shared(address: Address) -> bool:
    """Whether any number of processes may write there at once. Raises as `reading` does."""
    return kinds.store_row(address).shared


@contextmanager
def lookup(address: Address) -> Iterator[tuple[Bodies, Catalog | None]]:
    """What an id means and, where the address names a catalog, whose it is. Raises as `reading` does."""
    if address.scheme in kinds.BODIES:
        with bodies(address) as found:
            yield found, None
    else:
        with reading(address) as store:
            yield store.bodies, store.catalog


@contextmanager
def writing(address: Address, way: str = "cli") -> Iterator[Writing]:
    """A store is made if need be. way: by which this process writes, for the journal. Raises as `reading` does."""
    from sigla.upkeep.claiming import differing

    kind, settings = kinds.store_kind(address), Settings(registry_name=address.registry)
    with kind.writing(address) as store, ExitStack() as opened:
        if store.marks and (wrong := differing(store.marks)):
            raise DataNotOpened(f"{wrong} Name those that belong together.")
        ring = Ring({}, store.clock)
        if is_shared(address):
            registry, _ = opened.enter_context(among_others(store, settings, ring))
        else:
            registry, _ = beside(store, settings, ring)
        yield Writing(attributed(registry, Author(operator(), way)), store)


class TwoRegions(NamedTuple):
    """A follower and its primary, and what a promotion asks of both."""

    here: Store
    there: Store
    pair: RegionPair


@contextmanager
def region(address: Address) -> Iterator[Store]:
    """For who changes its role, or only asks. It is not made. Raises as `reading` does."""
    kind = kinds.store_kind(address)
    with kind.reading(address):
        """Where nothing is, nothing comes to be."""
    with kind.writing(address) as store:
        yield store


@contextmanager
def regions(here: Address, there: Address) -> Iterator[TwoRegions]:
    """here: the follower. Neither is made. Raises as `reading` does."""
    kind = kinds.store_kind(here)
    if kinds.store_kind(there) is not kind:
        raise DataNotOpened(f"{here} and {there} are stores of two kinds: neither follows the other one.")
    with region(here) as one, region(there) as other:
        yield TwoRegions(one, other, kind.pair(one, other))


def promote_by_force(address: Address, store: Store) -> "Promotion":
    """Makes a follower the primary by force. store: that of the address. Raises NotPromoted, StoreError."""
    return kinds.store_kind(address).promote_by_force(store, now=store.clock.now())


def adopt_keys(address: Address, store: Store) -> int:
    """Carries out commits of keys as `kinds.StoreKind` says. store: that of the address. Raises StoreError."""
    return kinds.store_kind(address).adopt_keys(store)


def adopted_ids(address: Address, store: Store, progress: Progress) -> Iterator[str]:
    """What people are told of ids that mean something here though their versions did not come, a sentence each.

    store: that of the address, promoted by force. Raises StoreError.
    """
    from sigla.regions.adoption import adopted, given_before

    is_marked = partial(kinds.store_kind(address).is_handed_over, store)
    is_before = given_before(cache(store.region.look))
    return adopted(store.inventory.unheld(progress), store.bodies, is_before, is_marked)


def operator() -> str:
    """Who has started this process. No API key has a colon in its name."""
    with suppress(KeyError):
        return f"cli:{getpwuid(getuid()).pw_name}"
    return f"cli:{getuid()}"


@contextmanager
def rehearsing(address: Address) -> "Iterator[tuple[Resources, Group]]":
    """A registry as it stands, and a group, for an import that writes nothing. Raises as `reading` does.

    Nothing is made and nothing is locked: it may be tried while a server runs, and where nothing is yet. Bodies that
    would be put lie in a temporary directory, so that they need not fit into memory.
    """
    from sigla.upkeep.importing import rehearsal

    with directory(Address.of()) as imagined, ExitStack() as opened:
        store: Store = imagined
        with suppress(NoRegistry):
            store = opened.enter_context(reading(address))
        yield rehearsal(Resources(store.catalog, store.bodies, store.clock), imagined.bodies), imagined.group


@contextmanager
def embedded(settings: Settings, data: Path | None) -> "Iterator[tuple[Registry, EmbeddedStore]]":
    """A registry on this machine. data: a directory, made if need be; None for memory. Raises DataNotOpened."""
    with directory(Address.of(data=str(data) if data else "", registry=settings.registry_name)) as store:
        yield beside(store, settings, Ring({}, store.clock))[0], store


def directory(address: Address) -> "AbstractContextManager[EmbeddedStore]":
    """The store of this machine at an address, with what only a server asks of it. Raises DataNotOpened."""
    from sigla.stores.sqlite import opening

    return opening.writing(address)
