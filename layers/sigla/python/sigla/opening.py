"""A registry's stores, opened: the only file that chooses adapters. Knows neither HTTP nor the environment."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from errno import errorcode
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sigla import keys
from sigla.auth.api_keys import Keys
from sigla.cache.counts import Counts
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.errors import StoreError
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.marks import Marks
from sigla.ports.zones import Zones
from sigla.registry import Options, Registry, Stores
from sigla.settings import PREFIX, Address, InvalidSetting, Settings
from sigla.stores.clock import SystemClock
from sigla.stores.ownership import OwnBodies, OwnCatalog, Ownership, OwnZones
from sigla.upkeep.claiming import differing
from sigla.upkeep.holdings import Holdings

if TYPE_CHECKING:  # a function has no use for SQLite, `sigla serve` none for AWS: each is imported where it is chosen
    from sigla.aws.clients import Calls, Clients
    from sigla.stores.s3.objects import Objects
    from sigla.stores.sqlite.store import EmbeddedStore
    from sigla.upkeep.importing import Group


class DataNotOpened(Exception):
    """Another process has it, a newer release wrote it, its catalog is gone, or it is another registry's.

    The sentence says which.
    """


class NoRegistry(DataNotOpened):
    """There is none in the directory yet."""


class Opened(NamedTuple):
    """What a function works with. calls: those to AWS. counts: of bodies, from where they came.

    ownership: None where nobody looks whose data it is.
    """

    registry: Registry
    keys: Keys
    calls: "Calls"
    ring: Ring
    counts: Counts
    ownership: Ownership | None = None


@contextmanager
def embedded(settings: Settings, data: Path | None) -> "Iterator[tuple[Registry, EmbeddedStore]]":
    """A registry on this machine. data: a directory, made if need be; None for memory. Raises DataNotOpened."""
    with directory(settings, data) as store:
        yield beside(store, settings, Ring({}, SystemClock()))[0], store


def beside(
    store: "EmbeddedStore", settings: Settings, ring: Ring, zones: Zones | None = None
) -> tuple[Registry, Counts]:
    """A registry with a memory of its own; any number of them may share a store."""
    clock = SystemClock()
    flight = _flight(settings, ring, clock)
    bodies = Tiers(_memory(settings, clock), flight, store.bodies, unsettled=store.bodies.unsettled)
    store.on_replaced(bodies.forget)
    return Registry(store.catalog, bodies, clock, _options(settings), directory=zones), flight.counts


@contextmanager
def directory(settings: Settings, data: Path | None) -> "Iterator[EmbeddedStore]":
    from sigla.stores.sqlite.database import CatalogLost, OtherRegistry, TooNew
    from sigla.stores.sqlite.store import DataInUse, EmbeddedStore

    try:
        opened = EmbeddedStore(data, registry=settings.registry_name)
    except (DataInUse, CatalogLost, TooNew, OtherRegistry) as problem:
        raise DataNotOpened(str(problem)) from problem
    except (StoreError, OSError) as problem:
        raise _unusable(f"in {data}" if data else "in memory", problem) from problem
    with opened as store:
        yield store


@contextmanager
def aws(settings: Settings) -> Iterator[Opened]:
    """A registry in a DynamoDB table and an S3 bucket. Any number of instances may share them."""
    from sigla.aws.clients import Clients
    from sigla.cache.speakers import Speakers
    from sigla.stores.dynamodb.catalog import AwsCatalog
    from sigla.stores.dynamodb.zones import AwsZones
    from sigla.stores.s3.api_keys import AwsKeys
    from sigla.stores.s3.bodies import AwsBodies
    from sigla.stores.s3.objects import Objects

    clock, name = SystemClock(), settings.registry_name
    with ExitStack() as opened:
        clients = opened.enter_context(closing(Clients()))
        objects = opened.enter_context(closing(Objects(clients.s3, settings.bucket, clock=clock)))
        ring = opened.enter_context(closing(_ring(settings, clients, clock)))
        stored: Bodies = AwsBodies(objects, registry=name)
        catalog: Catalog = opened.enter_context(
            closing(AwsCatalog(clients.dynamodb, settings.table, clock, registry=name))
        )
        zones: Zones = AwsZones(clients.dynamodb, settings.table, clock, registry=name)
        ownership = None
        if settings.identity:
            ownership = opened.enter_context(closing(owning(settings, clients, objects, clock)))
            catalog, stored, zones = (
                OwnCatalog(catalog, ownership),
                OwnBodies(stored, ownership),
                OwnZones(zones, ownership),
            )
        flight = _flight(settings, ring, clock)
        bodies = Tiers(_memory(settings, clock), flight, stored)
        speakers = opened.enter_context(
            closing(Speakers(catalog, bodies, clock, remembered_ms=1000 * settings.holders_seconds))
        )
        registry = Registry(speakers, bodies, clock, _options(settings), directory=zones)
        yield Opened(registry, AwsKeys(objects, registry=name), clients.calls, ring, flight.counts, ownership)


def owning(settings: Settings, clients: "Clients", objects: "Objects", clock: Clock) -> Ownership:
    """Whether table and bucket bear the identity of settings, for who writes there."""
    where = Address(bucket=settings.bucket, table=settings.table, registry=settings.registry_name)
    return Ownership(settings.identity, _marks(where, clients, objects, clock), clock)


def _marks(where: Address, clients: "Clients", objects: "Objects", clock: Clock) -> Marks:
    from sigla.stores.dynamodb.marks import BucketMark, TableMark

    return Marks(
        TableMark(clients.dynamodb, where.table, clock, registry=where.registry),
        BucketMark(objects, where.bucket, registry=where.registry),
    )


@contextmanager
def bodies(address: Address) -> Iterator[Bodies]:
    """All that decoding needs: no table is asked, nor need one be named. Raises as `reading` does."""
    if not address.bucket:
        with reading(address) as held:
            yield held.bodies
        return
    from sigla.aws.clients import Clients
    from sigla.stores.s3.bodies import AwsBodies
    from sigla.stores.s3.objects import Objects

    with closing(Clients()) as clients, closing(Objects(clients.s3, address.bucket, clock=SystemClock())) as objects:
        yield AwsBodies(objects, registry=address.registry)


@contextmanager
def lookup(address: Address) -> Iterator[tuple[Bodies, Catalog | None]]:
    """What an id means and, where the address names a catalog, whose it is. Raises as `reading` does."""
    if address.data or address.table:
        with reading(address) as held:
            yield held.bodies, held.catalog
    else:
        with bodies(address) as found:
            yield found, None


@contextmanager
def reading(address: Address) -> Iterator[Holdings]:
    """Without a server, and also while one writes there. Raises DataNotOpened, ImportError where boto3 is missing."""
    clock, name = SystemClock(), address.registry
    if not address.bucket:
        from sigla.stores.sqlite.database import CatalogLost, NoData, OtherRegistry, TooNew
        from sigla.stores.sqlite.reading import ReadingStore

        try:
            store = ReadingStore(Path(address.data), registry=name)
        except NoData as nothing:
            raise NoRegistry(str(nothing)) from nothing
        except (CatalogLost, TooNew, OtherRegistry) as problem:
            raise DataNotOpened(str(problem)) from problem
        except (StoreError, OSError) as problem:
            raise _unusable(f"in {address}", problem) from problem
        with closing(store):
            yield Holdings(store.catalog, store.bodies, store.journal, store.inventory, clock)
        return
    if not address.table:
        raise DataNotOpened(f"The table of the registry in {address} is not named.")
    from sigla.aws.clients import Clients
    from sigla.stores.dynamodb.catalog import AwsCatalog
    from sigla.stores.dynamodb.inventory import AwsInventory
    from sigla.stores.dynamodb.journal import AwsJournal
    from sigla.stores.s3.bodies import AwsBodies
    from sigla.stores.s3.objects import Objects

    with (
        closing(Clients()) as clients,
        closing(Objects(clients.s3, address.bucket, clock=clock)) as objects,
        closing(AwsCatalog(clients.dynamodb, address.table, clock, registry=name)) as catalog,
    ):
        journal = AwsJournal(clients.dynamodb, address.table, clock, registry=name)
        inventory = AwsInventory(objects, catalog, clock, registry=name)
        marks = _marks(address, clients, objects, clock)
        yield Holdings(catalog, AwsBodies(objects, registry=name), journal, inventory, clock, marks)


class Writing(NamedTuple):
    """A registry for who writes much. group: what is written inside becomes durable together, where a store can."""

    registry: Registry
    holdings: Holdings
    group: Callable[[], AbstractContextManager[None]]


@contextmanager
def writing(address: Address) -> Iterator[Writing]:
    """Without a server; a directory is made if need be. Raises DataNotOpened, ImportError where boto3 is missing."""
    settings = Settings(registry_name=address.registry, table=address.table, bucket=address.bucket)
    if address.bucket:
        with aws(settings) as opened, reading(address) as held:
            if held.marks and (wrong := differing(held.marks)):
                raise DataNotOpened(f"{wrong} Name those that belong together.")
            yield Writing(opened.registry, held, nullcontext)
    else:
        with embedded(settings, Path(address.data)) as (registry, store):
            held = Holdings(store.catalog, store.bodies, store.journal, store.inventory, registry.clock)
            yield Writing(registry, held, store.group)


@contextmanager
def rehearsing(address: Address) -> "Iterator[tuple[Stores, Group]]":
    """A registry as it stands, and a group, for an import that writes nothing. Raises as `reading` does.

    Nothing is made and nothing is locked: it may be tried while a server runs, and where nothing is yet. Bodies that
    would be put lie in a temporary directory, so that they need not fit into memory.
    """
    from sigla.upkeep.importing import rehearsal

    with directory(Settings(), None) as imagined, ExitStack() as opened:
        held: Holdings | EmbeddedStore = imagined
        try:
            held = opened.enter_context(reading(address))
        except NoRegistry:
            if Path(address.data).is_file():
                raise
        stores = Stores(held.catalog, held.bodies, SystemClock())
        yield rehearsal(stores, imagined.bodies), imagined.group


def _unusable(where: str, problem: Exception) -> DataNotOpened:
    """What hinders, and what to do about it."""
    cause = problem.__cause__ or problem
    reason = f"{cause.filename}: {cause.strerror}" if isinstance(cause, OSError) and cause.strerror else str(problem)
    kind = errorcode.get(getattr(cause, "errno", None) or 0, "") or getattr(cause, "sqlite_errorname", "")
    advice = next((advice for kinds, advice in _ADVICE if kind.startswith(kinds)), _RESTORE)
    return DataNotOpened(f"The data {where} cannot be opened ({reason}); {advice}.")


_RESTORE = "restore the directory from a backup, or choose another one with --data"
_ADVICE = (
    (("EMFILE", "ENFILE"), "let the process open more files (ulimit -n), or stop what holds so many"),
    (("ENAMETOOLONG", "EEXIST", "ENOTDIR"), "choose another directory with --data"),
    (("ENOSPC", "EDQUOT", "EFBIG", "SQLITE_FULL"), "make room on the disk, or choose another directory with --data"),
    (
        ("EACCES", "EPERM", "EROFS", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM"),
        "see that all in it is yours to read and to write, or choose another directory with --data",
    ),
)
"""By how the system or SQLite call what went wrong."""


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
    )
