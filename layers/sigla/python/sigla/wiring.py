"""Settings in, a running registry out: what starts reads the environment here, and nowhere else."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sigla import __version__, authentication, destinations
from sigla.auth.api_keys import Keys
from sigla.auth.tokens.bearer import BearerTokens
from sigla.authentication import NowhereForKeys, OpenToOthers
from sigla.errors import StoreError
from sigla.instances import owning, table_and_bucket
from sigla.ports.clock import Clock
from sigla.ports.zones import Zones
from sigla.settings import PREFIX, Address, InvalidSetting, Settings
from sigla.stores.clock import SystemClock
from sigla.stores.kinds import bodies_kind, store_row
from sigla.stores.not_opened import DataNotOpened
from sigla.stores.ownership import OwnZones

if TYPE_CHECKING:  # a function has no use for SQLite, `sigla serve` none for AWS: each is imported where it is chosen
    from sigla.aws.zone import Where
    from sigla.functions.lifecycle import Handler, Renewed
    from sigla.second_region import OtherRegion
    from sigla.serving import Started


STARTUP_PROBLEMS = (InvalidSetting, OpenToOthers, NowhereForKeys, DataNotOpened, StoreError, OSError)
"""What can be wrong before the first request, each with a sentence."""


def serve(
    address: Address,
    host: str,
    port: int,
    *,
    zones: int = 0,
    registries: Sequence[str] = (),
    closed: bool = False,
    tls: tuple[Path | None, Path | None] = (None, None),
    region: "OtherRegion | None" = None,
    announce: "Callable[[Started], None]" = lambda _: None,
) -> None:
    """Serves until SIGTERM or SIGINT. address: of data on this machine. closed: only for those with keys, always.

    zones: so many endpoints, from this port on, each with a ring; 0: one without. registries: `NAME` or `NAME=HOST`,
    each in a directory of its name; none of them: those of the settings, or the one of the address. tls: a certificate
    and its key; without them those of the settings. region: of another one that follows, or is followed. Where a
    supervisor hands over sockets, host and port are theirs.
    Raises one of STARTUP_PROBLEMS, BeginsAnew.
    """
    from sigla import second_region, serving  # a Lambda function has no use for them

    settings = Settings.read(os.environ)
    asked = serving.Serving(address, host, port, zones, tuple(registries), closed, tls, region)
    try:
        serving.serve(settings, asked, os.environ, announce)
    except second_region.BeginsAnew as anew:
        anew.handed_over = os.environ.get("LISTEN_PID") == str(os.getpid())
        raise


def lambda_handler() -> "Renewed":
    """The API as a Lambda function, built once, and anew after its snapshot was restored. Raises InvalidSetting."""
    from sigla import answering  # the local server does not need what only a function needs
    from sigla.functions.extension import Extension
    from sigla.functions.lifecycle import Renewed

    settings, function = Settings.read(os.environ), answering.function
    if settings.registries:
        from sigla import pooling

        function = pooling.function
    # Without what it would do it is not there: Lambda tells it of each invocation.
    extension = Extension(os.environ.get("AWS_LAMBDA_RUNTIME_API", "") if settings.usage else "")
    return Renewed(lambda opened: function(settings, os.environ, extension, opened))


def journal_handler() -> "Renewed":
    """What follows a table, for all registries that it serves, as a Lambda function: its stream and a schedule.

    Raises InvalidSetting.
    """
    from sigla.functions.journal import following
    from sigla.functions.lifecycle import Renewed
    from sigla.functions.registries import ManyRegistries

    settings = Settings.read(os.environ)
    table = _table_of(settings, "The journal function")

    def build(opened: ExitStack) -> "Handler":
        clients, store = opened.enter_context(table_and_bucket(settings))

        def begin(name: str, identity: str) -> "Handler":
            of_it = replace(settings, registry_name=name, identity=identity)
            kept = store if name == settings.registry_name else opened.enter_context(closing(store.of(name)))
            follow: Handler = opened.enter_context(
                following(clients.dynamodb, table, store.objects, store.clock, registry=name)
            )
            # Exporters of other registries have their clock alone: this function knows none of theirs.
            if name == settings.registry_name and settings.exporters_function:
                from sigla.functions.waking import Waking

                follow = Waking(follow, clients.functions, settings.exporters_function)
            if settings.events_bus:
                from sigla.functions.event_bus import EventBus
                from sigla.functions.events import DeliveryProgress, EventDelivery

                progress = DeliveryProgress(clients.dynamodb, table, store.clock, registry=name)
                bus = EventBus(clients.events, settings.events_bus, store.clock)
                follow = EventDelivery(
                    follow, progress, store.objects, bus, store.clock, registry=name, identity=identity
                )
            ownership = opened.enter_context(owning(of_it, kept))
            return ownership.doing(follow) if ownership else follow

        own = settings.registry_name, settings.identity
        return ManyRegistries(own, begin, store.clock, served=store.served.list)

    return Renewed(build)


def exporters_handler() -> "Renewed":
    """What writes to the destinations of exporters, as a Lambda function. Raises InvalidSetting."""
    from sigla.functions.exporters import ExporterTurns
    from sigla.functions.lifecycle import Renewed

    settings = Settings.read(os.environ)
    _table_of(settings, "The function of exporters")

    def build(opened: ExitStack) -> "Handler":
        _, store = opened.enter_context(table_and_bucket(settings))
        # An AWS that is played on one machine has its destinations there.
        enter = partial(destinations.of, store, beside="AWS_ENDPOINT_URL" in os.environ)
        turns: Handler = ExporterTurns(store, enter, source=settings.registry_name)
        if settings.region_peer:
            from sigla.functions.primary_alone import PrimaryAlone

            turns = PrimaryAlone(turns, store.region, "exporters")
        ownership = opened.enter_context(owning(settings, store))
        return ownership.doing(turns) if ownership else turns

    return Renewed(build)


def replay_handler() -> "Renewed":
    """What a registry does for its other region, as a Lambda function. Raises InvalidSetting."""
    from sigla.functions.lifecycle import Renewed
    from sigla.functions.replay import OtherRegionTold, Replaying
    from sigla.instances import table_and_bucket_of
    from sigla.regions.installed_here import installed_here
    from sigla.regions.nouns import RegionKind

    settings = Settings.read(os.environ)
    _table_of(settings, "The function of two regions")
    peer = settings.peer

    def build(opened: ExitStack) -> "Handler":
        _, here = opened.enter_context(table_and_bucket(settings))
        others, there = opened.enter_context(table_and_bucket_of(peer))
        turns = Replaying(
            here,
            there,
            OtherRegionTold(others.events, peer.names[0], settings.registry_name),
            registry=settings.registry_name,
            becomes=RegionKind(settings.region_role),
            installed=installed_here(__version__, settings, authentication.function_auth(settings), there.url),
        )
        ownership = opened.enter_context(owning(settings, here))
        return ownership.doing(turns) if ownership else turns

    return Renewed(build)


def issuers_handler() -> "Renewed":
    """What puts the keys of issuers into the bucket, as a Lambda function. Raises InvalidSetting."""
    from sigla.functions.issuers import IssuerTurns
    from sigla.functions.lifecycle import Renewed
    from sigla.remote.issuer_keys import IssuerKeys

    settings = Settings.read(os.environ)
    _table_of(settings, "The function of issuers")
    issuers = authentication.issuers_of(settings)

    def build(opened: ExitStack) -> "Handler":
        _, store = opened.enter_context(table_and_bucket(settings))
        turns = IssuerTurns(issuers, IssuerKeys(store.clock).document, store.issuer_keys.put, store.clock)
        ownership = opened.enter_context(owning(settings, store))
        return ownership.doing(turns) if ownership else turns

    return Renewed(build)


def heartbeat_handler() -> "Renewed":
    """What asks each zone how it is, as a Lambda function. Raises InvalidSetting."""
    from sigla.functions.heartbeat import Heartbeat
    from sigla.functions.lifecycle import Renewed

    settings = Settings.read(os.environ)
    _table_of(settings, "The directory of zones")

    def build(opened: ExitStack) -> "Handler":
        clients, store = opened.enter_context(table_and_bucket(settings))
        zones: Zones = store.zones
        if ownership := opened.enter_context(owning(settings, store)):
            zones = OwnZones(zones, ownership)
        service = f"sigla-{settings.registry_name}"
        return Heartbeat(clients.functions, zones, store.clock, service=service, stack=settings.stack)

    return Renewed(build)


def own_zone(given: str = "") -> "Where | None":
    """The zone of this machine, as far as it is known here. given: an id or a name that is believed."""
    from sigla.aws import zone  # of the standard library alone: a client machine has nothing of AWS

    return zone.located(given or os.environ.get(f"{PREFIX}ZONE", ""), os.environ)


def _table_of(settings: Settings, what: str) -> str:
    """Raises InvalidSetting where functions cannot share the store."""
    if not store_row(settings.address).shared:
        raise InvalidSetting(f"{what} needs a table and a bucket: set {PREFIX}TABLE and {PREFIX}BUCKET.")
    table, _ = settings.address.names
    return table


@contextmanager
def keys(address: Address, registry: str = "") -> Iterator[tuple[Keys, Clock]]:
    """Where keys are kept, and what dates them.

    registry: whose; empty for that of the settings. Raises InvalidSetting, ImportError.
    """
    settings = Settings.read({**os.environ, **({"SIGLA_REGISTRY_NAME": registry} if registry else {})})
    address = replace(address, registry=settings.registry_name)
    with bodies_kind(address).keys(address) as kept:
        yield kept, SystemClock()


def explaining(issuers: str, registry: str = "") -> BearerTokens:
    """What says of a token what it would be. issuers: as the setting has them; empty: those of the environment.

    registry: the one that it is shown to; empty: whichever its row of the map is for.

    Raises InvalidSetting.
    """
    settings = Settings.read({**os.environ, **({f"{PREFIX}ISSUERS": issuers} if issuers else {})})
    tokens = authentication.bearer_tokens(authentication.issuers_of(settings), lambda _: None, waits=False)
    if tokens is None:
        raise InvalidSetting(f"No issuer is known here: set {PREFIX}ISSUERS as the registry has it.")
    return tokens.of(registry)
