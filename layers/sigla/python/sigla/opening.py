"""A registry over its store, whichever kind that is. Knows neither HTTP nor the environment."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, NamedTuple

from sigla import keys
from sigla.auth.api_keys import Keys
from sigla.cache.counts import Counts
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.store import Store
from sigla.ports.zones import Zones
from sigla.registry import Options, Registry, Stores
from sigla.settings import PREFIX, Address, InvalidSetting, Settings
from sigla.stores import kinds
from sigla.stores.clock import SystemClock
from sigla.stores.not_opened import DataNotOpened, NoRegistry
from sigla.stores.ownership import OwnBodies, OwnCatalog, Ownership, OwnZones

if TYPE_CHECKING:  # a function has no use for SQLite, `sigla serve` none for AWS: each is imported where it is chosen
    from sigla.aws.clients import Calls, Clients
    from sigla.stores.dynamodb.store import AwsStore
    from sigla.stores.sqlite.store import EmbeddedStore
    from sigla.upkeep.importing import Group


class Opened(NamedTuple):
    """What a function works with. calls: those to AWS. counts: of bodies, from where they came.

    ownership: None where the identity is not compared.
    """

    registry: Registry
    keys: Keys
    calls: "Calls"
    ring: Ring
    counts: Counts
    ownership: Ownership | None = None


class Writing(NamedTuple):
    """A registry for who writes much, and its store."""

    registry: Registry
    store: Store


# --- without a server ------------------------------------------------------------------------------------------------


def bodies(address: Address) -> AbstractContextManager[Bodies]:
    """All that decoding needs. Raises as `kinds.BodiesKind` does."""
    return kinds.bodies_kind(address).bodies(address)


def reading(address: Address) -> AbstractContextManager[Store]:
    """Also while a server writes there. Raises as `kinds.StoreKind` does."""
    return kinds.store_kind(address).reading(address)


def is_shared(address: Address) -> bool:
    """Whether any number of processes may write there at once. Raises as `reading` does."""
    return kinds.store_kind(address).shared


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
def writing(address: Address) -> Iterator[Writing]:
    """A store is made if need be. Raises as `reading` does."""
    from sigla.upkeep.claiming import differing

    kind, settings = kinds.store_kind(address), Settings(registry_name=address.registry)
    with kind.writing(address) as store, ExitStack() as opened:
        if store.marks and (wrong := differing(store.marks)):
            raise DataNotOpened(f"{wrong} Name those that belong together.")
        ring = Ring({}, store.clock)
        if kind.shared:
            registry, _ = opened.enter_context(among_others(store, settings, ring))
        else:
            registry, _ = beside(store, settings, ring)
        yield Writing(registry, store)


@contextmanager
def rehearsing(address: Address) -> "Iterator[tuple[Stores, Group]]":
    """A registry as it stands, and a group, for an import that writes nothing. Raises as `reading` does.

    Nothing is made and nothing is locked: it may be tried while a server runs, and where nothing is yet. Bodies that
    would be put lie in a temporary directory, so that they need not fit into memory.
    """
    from sigla.upkeep.importing import rehearsal

    with directory(Settings(), None) as imagined, ExitStack() as opened:
        store: Store = imagined
        with suppress(NoRegistry):
            store = opened.enter_context(reading(address))
        yield rehearsal(Stores(store.catalog, store.bodies, store.clock), imagined.bodies), imagined.group


# --- for a server ----------------------------------------------------------------------------------------------------


@contextmanager
def embedded(settings: Settings, data: Path | None) -> "Iterator[tuple[Registry, EmbeddedStore]]":
    """A registry on this machine. data: a directory, made if need be; None for memory. Raises DataNotOpened."""
    with directory(settings, data) as store:
        yield beside(store, settings, Ring({}, store.clock))[0], store


def directory(settings: Settings, data: Path | None) -> "AbstractContextManager[EmbeddedStore]":
    """Its store alone. Raises DataNotOpened."""
    from sigla.stores.sqlite import opening

    return opening.writing(Address.of(data=str(data) if data else "", registry=settings.registry_name))


@contextmanager
def aws(settings: Settings) -> Iterator[Opened]:
    """A registry in a DynamoDB table and an S3 bucket. Any number of instances may share them."""
    from sigla.aws.clients import Clients

    with ExitStack() as opened:
        clients = opened.enter_context(closing(Clients()))
        store = opened.enter_context(closing(table_and_bucket(settings, clients)))
        ring = opened.enter_context(closing(_ring(settings, clients, store.clock)))
        ownership = opened.enter_context(closing(owning(settings, store))) if settings.identity else None
        registry, counts = opened.enter_context(among_others(store, settings, ring, ownership))
        yield Opened(registry, store.keys, clients.calls, ring, counts, ownership)


def table_and_bucket(settings: Settings, clients: "Clients") -> "AwsStore":
    """Those of the settings; to be closed, as the clients are."""
    from sigla.stores.dynamodb.store import AwsStore

    return AwsStore(clients, settings.table, settings.bucket, SystemClock(), registry=settings.registry_name)


def owning(settings: Settings, store: "AwsStore") -> Ownership:
    """Whether table and bucket bear the identity of settings, for who writes there."""
    return Ownership(settings.identity, store.marks, store.clock, patience_s=_patience_s(settings))


# --- a registry in front of a store ----------------------------------------------------------------------------------


def beside(store: Store, settings: Settings, ring: Ring, zones: Zones | None = None) -> tuple[Registry, Counts]:
    """A registry with a memory of its own; any number of them may share a store in one process, and no other writes."""
    bodies, counts = _remembered(store, store.bodies, settings, ring)
    return Registry(store.catalog, bodies, store.clock, _options(settings), directory=zones), counts


@contextmanager
def among_others(
    store: Store, settings: Settings, ring: Ring, ownership: Ownership | None = None
) -> Iterator[tuple[Registry, Counts]]:
    """The same where other processes write, too: what the catalog said of an id is remembered for a while only.

    ownership: what is not of this deployment is neither believed nor written to.
    """
    from sigla.cache.speakers import Speakers

    catalog, stored, zones = store.catalog, store.bodies, store.zones
    if ownership is not None:
        catalog, stored = OwnCatalog(catalog, ownership), OwnBodies(stored, ownership)
        zones = zones and OwnZones(zones, ownership)
    bodies, counts = _remembered(store, stored, settings, ring)
    remembered_ms, patience_s = 1000 * settings.holders_seconds, _patience_s(settings)
    speakers = Speakers(catalog, bodies, store.clock, remembered_ms=remembered_ms, patience_s=patience_s)
    with closing(speakers):
        yield Registry(speakers, bodies, store.clock, _options(settings), directory=zones), counts


def _remembered(store: Store, behind: Bodies, settings: Settings, ring: Ring) -> tuple[Tiers, Counts]:
    """behind: the store's bodies, or what stands in front of them."""
    flight = _flight(settings, ring, store.clock)
    bodies = Tiers(_memory(settings, store.clock), flight, behind, unsettled=store.unsettled)
    store.on_replaced(bodies.forget)
    return bodies, flight.counts


def _patience_s(settings: Settings) -> float:
    return min(settings.catalog_seconds, TIMEOUT_MAX)


def _memory(settings: Settings, clock: Clock) -> Memory:
    return Memory(settings.memory_bytes, clock, presence_ms=1000 * settings.memory_seconds)


def _ring(settings: Settings, clients: "Clients", clock: Clock) -> Ring:
    """That of the zone this function is in, if it has one. Raises InvalidSetting."""
    if not settings.ring:
        return Ring({}, clock)
    from sigla.aws.elasticache import Tokens
    from sigla.cache.members import member  # who has no ring pays for no client of one

    token = Tokens(clients.session)
    try:
        return Ring(dict(member(address.strip(), token=token) for address in settings.ring.split(",")), clock)
    except (ValueError, OSError) as problem:
        raise InvalidSetting(f"{PREFIX}RING: {problem}") from problem


def _flight(settings: Settings, ring: Ring, clock: Clock) -> SingleFlight:
    whose = keys.ring_namespace(settings.registry_name, bucket=settings.bucket, identity=settings.identity)
    return SingleFlight(ring, clock, namespace=whose, presence_ms=1000 * settings.ring_seconds)


def _options(settings: Settings) -> Options:
    return Options(
        default_level=settings.default_level.upper(),
        mode_mutability=settings.mode_mutability,
        strict_reference_versions=settings.strict_reference_versions,
        schema_bytes=settings.schema_bytes,
        retrying_seconds=settings.retrying_seconds,
    )
