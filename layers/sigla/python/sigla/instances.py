"""A registry in front of its store: what is remembered, which ring it reads through, and whose data it believes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, Final, NamedTuple

from sigla import keys
from sigla.auth.api_keys import Keys
from sigla.auth.credentials import Authenticator
from sigla.auth.tokens.key_sets import KeySource
from sigla.authentication import console_logins
from sigla.cache.counts import Counts
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.destinations import itself
from sigla.effort import Limits
from sigla.kms.drivers import Drivers
from sigla.kms.shared import SharedMaterials
from sigla.ports.audits import Audits
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.reads import Reads
from sigla.ports.store import Store
from sigla.ports.tally import VersionTally
from sigla.ports.zones import Zones
from sigla.region_parts import OtherRegionParts, region_views
from sigla.regions.bodies import AdoptedAnew
from sigla.registry import Options, Registry
from sigla.registry.resources import OFFERED_BYTES
from sigla.registry.steps import known, parsed
from sigla.registry.steps.quota import Quota, Quotas, SharedQuota
from sigla.settings import (
    EXPORTERS_ELSEWHERE,
    EXPORTERS_HERE,
    PREFIX,
    Address,
    InvalidSetting,
    Settings,
    listed,
)
from sigla.stores import kinds
from sigla.stores.clock import SystemClock
from sigla.stores.ownership import OwnAudits, OwnBodies, OwnCatalog, Ownership, OwnReads, OwnTally, OwnZones
from sigla.web import app
from sigla.web.http.rate import Rate
from sigla.web.paired import no_pair

if TYPE_CHECKING:  # a function has no use for SQLite, `sigla serve` none for AWS: each is imported where it is chosen
    from sigla.aws.clients import Calls, Clients
    from sigla.stores.dynamodb.store import AwsStore
    from sigla.stores.sqlite.store import EmbeddedStore


NO_EXPORTERS: Final[Mapping[str, str]] = {
    EXPORTERS_HERE: "",
    EXPORTERS_ELSEWHERE: "a zone cannot keep credentials. Send the request to the registry outside of zones",
    "": "nothing would run them. Set exporters = true in the stage file of this registry, and deploy",
}
"""Why a function changes no exporters, by `Settings.exporters`; a server on one machine runs them itself."""

NO_EXPORTERS_OF_SEVERAL: Final = "a pool has none. Give this registry a stage of its own, with exporters = true"


class Instance(NamedTuple):
    """What a function works with. calls: those to AWS. counts: of bodies, from where they came.

    ownership: None where the identity is not compared. issuer_keys: where those of issuers are; None: they are asked.
    other: what is for the other one of two regions; None where a registry has one. has_pair: as of `web.paired`.
    """

    registry: Registry
    keys: Keys
    calls: "Calls"
    ring: Ring
    counts: Counts
    ownership: Ownership | None = None
    issuer_keys: Callable[[], KeySource] | None = None
    other: OtherRegionParts | None = None
    has_pair: Callable[[str], bool] = no_pair


@contextmanager
def instance(settings: Settings) -> Iterator[Instance]:
    """A registry in the store of the settings, with all that a function has beside it. Raises InvalidSetting."""
    with _shared(settings) if kinds.store_row(settings.address).shared else _alone(settings) as opened:
        yield opened


@contextmanager
def _shared(settings: Settings) -> Iterator[Instance]:
    """In a table and a bucket. Any number of instances may share them."""
    with in_table_and_bucket(settings) as place, place.instance() as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class TableAndBucket:
    """Where any number of registries are, with what these have in common in one process: clients, the zone's ring."""

    settings: Settings
    clients: "Clients"
    store: "AwsStore"
    ring: Ring

    @contextmanager
    def instance(self, name: str = "", *, share: int = 1, zones: Zones | None = None) -> Iterator[Instance]:
        """A registry there; without a name that of the settings.

        share: how many of them share out what one may remember. zones: the directory that it tells; None: its own.
        """
        settings = replace(self.settings, registry_name=name) if name else self.settings
        with ExitStack() as opened:
            store = opened.enter_context(closing(self.store.of(name))) if name else self.store
            ownership = opened.enter_context(owning(settings, store))
            other = OtherRegionParts.of(settings, store, store.there) if store.there else None
            if other:
                opened.enter_context(closing(other))
            shared = among_others(
                store,
                settings,
                self.ring,
                ownership,
                clients=lambda: self.clients,
                share=share,
                quotas=shared_quotas(store, settings, ownership),
                bodies=other.in_step if other else None,
                catalog=other.keys if other else None,
            )
            registry, counts = opened.enter_context(shared)
            registry = replace(registry, directory=zones) if zones else registry
            views = partial(region_views, settings, store, self.clients)
            registry = replace(registry, pays_for_reads=True, region_views=views)
            if other:
                registry = replace(registry, catalog=other.catalog(registry))
            calls = self.clients.calls
            has_pair, issuer_keys = store.region.has_pair, lambda: store.issuer_keys
            yield Instance(registry, store.keys, calls, self.ring, counts, ownership, issuer_keys, other, has_pair)


@contextmanager
def in_table_and_bucket(settings: Settings) -> Iterator[TableAndBucket]:
    """Raises InvalidSetting."""
    if settings.quota_bytes:
        raise InvalidSetting(
            f"{PREFIX}QUOTA_BYTES is of directories: a bucket does not say at once how much it holds. In a table and a "
            f"bucket set {PREFIX}QUOTA_VERSIONS."
        )
    with table_and_bucket(settings) as (clients, store), closing(_ring(settings, clients, store.clock)) as ring:
        yield TableAndBucket(settings, clients, store, ring)


@contextmanager
def _alone(settings: Settings) -> Iterator[Instance]:
    """On this machine."""
    from sigla.aws.clients import Calls
    from sigla.stores.sqlite import opening

    with opening.writing(settings.address) as store:
        ring = Ring({}, store.clock)
        registry, counts = beside(store, settings, ring, quotas=quotas_of(store, settings))
        yield Instance(registry, store.keys, Calls(), ring, counts)


@contextmanager
def table_and_bucket(settings: Settings) -> "Iterator[tuple[Clients, AwsStore]]":
    """Those of the settings, and the clients through which they are spoken to."""
    with ExitStack() as opened:
        there = opened.enter_context(table_and_bucket_of(settings.peer))[1] if settings.region_peer else None
        key, address = settings.exporters_key, settings.address
        yield opened.enter_context(table_and_bucket_of(address, there=there, secrets_key=key))


@contextmanager
def table_and_bucket_of(
    address: Address, *, there: "AwsStore | None" = None, secrets_key: str = ""
) -> "Iterator[tuple[Clients, AwsStore]]":
    """Those of an address, in the region that it names, or that of the process."""
    from sigla.aws.clients import Clients
    from sigla.stores.dynamodb.store import AwsStore

    (table, bucket), registry = address.names, address.registry
    with (
        closing(Clients(region=address.region)) as clients,
        closing(
            AwsStore(clients, table, bucket, SystemClock(), registry=registry, secrets_key=secrets_key, there=there)
        ) as store,
    ):
        yield clients, store


@contextmanager
def owning(settings: Settings, store: "AwsStore") -> Iterator[Ownership | None]:
    """Whether table and bucket bear the identity of settings; None where that is not compared."""
    if not settings.identity:
        yield None
        return
    patience_s = _patience_s(settings)
    with closing(Ownership(settings.identity, store.marks, store.clock, patience_s=patience_s)) as ownership:
        yield ownership


def beside(
    store: Store, settings: Settings, ring: Ring, zones: Zones | None = None, quotas: Quotas | None = None
) -> tuple[Registry, Counts]:
    """A registry with a memory of its own; any number of them may share a store in one process, and no other writes."""
    bodies, counts = _remembered(store, store.bodies, settings, ring)
    registry = Registry(
        store.catalog,
        bodies,
        store.clock,
        _options(settings),
        directory=zones,
        materials=_materials(settings),
        secrets=store.secrets,
        itself=itself(store, settings.registry_name, beside=True),
        quotas=quotas or Quotas(),
        principals=store.principals,
        reads=store.reads,
        recent_log=store.recent_log,
        audits=store.audits,
    )
    return registry, counts


def quotas_of(store: "EmbeddedStore", settings: Settings) -> Quotas:
    """What may be registered in a directory."""
    versions, size, clock = settings.quota_versions, settings.quota_bytes, store.clock
    return Quotas(
        Quota(versions, "versions", store.count, clock) if versions else None,
        Quota(size, "bytes of schemas", store.count_bytes, clock) if size else None,
    )


def shared_quotas(store: "AwsStore", settings: Settings, ownership: Ownership | None = None) -> Quotas:
    """What may be registered in a table and a bucket, by all instances together."""
    if not settings.quota_versions:
        return Quotas()
    tally: VersionTally = store.tally if ownership is None else OwnTally(store.tally, ownership)
    return Quotas(SharedQuota(settings.quota_versions, "versions", tally, store.clock))


@contextmanager
def among_others(
    store: Store,
    settings: Settings,
    ring: Ring,
    ownership: Ownership | None = None,
    *,
    clients: "Callable[[], Clients] | None" = None,
    share: int = 1,
    quotas: Quotas | None = None,
    bodies: Bodies | None = None,
    catalog: Catalog | None = None,
) -> Iterator[tuple[Registry, Counts]]:
    """The same where other processes write, too: what the catalog said of an id is remembered for a while only.

    ownership: what is not of this deployment is neither believed nor written to. clients: of AWS, for keys of KMS;
    None: they are made when such a key is used. share: as of `TableAndBucket.instance`. bodies, catalog:
    what stands in front of those of the store.
    """
    from sigla.cache.speakers import Speakers

    catalog, stored, zones = catalog or store.catalog, bodies or AdoptedAnew(store.bodies, store.region), store.zones
    reads: Reads = store.reads
    audits: Audits = store.audits
    if ownership is not None:
        catalog, stored = OwnCatalog(catalog, ownership), OwnBodies(stored, ownership)
        zones = zones and OwnZones(zones, ownership)
        reads, audits = OwnReads(reads, ownership), OwnAudits(audits, ownership)
    remembering, counts = _remembered(store, stored, settings, ring, share)
    remembered_ms, patience_s = 1000 * settings.holders_seconds, _patience_s(settings)
    speakers = Speakers(catalog, remembering, store.clock, remembered_ms=remembered_ms, patience_s=patience_s)
    with closing(speakers):
        registry = Registry(
            speakers,
            remembering,
            store.clock,
            replace(_options(settings), no_exporters=_no_exporters(settings)),
            parsed=parsed.Understood(parsed.MOST_BYTES // share),
            offered=parsed.Understood(OFFERED_BYTES // share),
            known=known.Known(known.MOST_BYTES // share),
            directory=zones,
            materials=_materials(settings, clients),
            secrets=store.secrets,
            itself=itself(store, settings.registry_name, beside=False),
            quotas=quotas or Quotas(),
            principals=store.principals,
            reads=reads,
            audits=audits,
        )
        yield registry, counts


def _no_exporters(settings: Settings) -> str:
    several = settings.registries and not settings.exporters
    return NO_EXPORTERS_OF_SEVERAL if several else NO_EXPORTERS[settings.exporters]


def _materials(settings: Settings, clients: "Callable[[], Clients] | None" = None) -> SharedMaterials:
    """Those of shared KEKs. Nothing is asked, and no library is imported, before such a key is used."""
    return SharedMaterials(Drivers(clients or cache(_own_clients), secret=settings.local_secret))


def _own_clients() -> "Clients":
    from sigla.aws.clients import Clients

    return Clients()


def _remembered(store: Store, behind: Bodies, settings: Settings, ring: Ring, share: int = 1) -> tuple[Tiers, Counts]:
    """behind: the store's bodies, or what stands in front of them."""
    flight = _flight(settings, ring, store.clock)
    bodies = Tiers(_memory(settings, store.clock, share), flight, behind, unsettled=store.unsettled)
    store.on_replaced(bodies.forget)
    return bodies, flight.counts


def _patience_s(settings: Settings) -> float:
    return min(settings.catalog_seconds, TIMEOUT_MAX)


def _memory(settings: Settings, clock: Clock, share: int) -> Memory:
    return Memory(settings.memory_bytes // share, clock, presence_ms=1000 * settings.memory_seconds)


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
    whose = keys.ring_namespace(settings.registry_name, bucket=settings.address.names[1], identity=settings.identity)
    return SingleFlight(ring, clock, namespace=whose, presence_ms=1000 * settings.ring_seconds)


def _options(settings: Settings) -> Options:
    return Options(
        default_level=settings.default_level.upper(),
        mode_mutability=settings.mode_mutability,
        strict_reference_versions=settings.strict_reference_versions,
        schema_bytes=settings.schema_bytes,
        retrying_seconds=settings.retrying_seconds,
        names_days=settings.names_days,
        counts_reads=settings.usage,
    )


def web_options(
    settings: Settings, authenticate: Authenticator | None, door: app.HttpOptions, keys: Keys | None = None
) -> app.HttpOptions:
    """door: what the front door is like, the watchers behind it included. keys: of the registry."""
    has_key_pages = authenticate is not None and settings.console and settings.console_keys
    return replace(
        door,
        body_bytes=settings.request_bytes,
        cors_origins=listed(settings.cors_origins),
        authenticate=authenticate,
        console=settings.console,
        keys=keys if has_key_pages else None,
        logins=console_logins(settings) if authenticate is not None and settings.console else (),
        limits=Limits(settings.computing_seconds, settings.waiting_seconds),
        rate=Rate(per_second, SystemClock()) if (per_second := settings.quota_requests_per_second) else None,
    )
