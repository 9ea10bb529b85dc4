"""Several registries that one Lambda function answers for, chosen for each request as `sigla serve` chooses.

All that one registry has is its own: keys, rows of maps, memories, journal, identity. The process has in common what
costs something by itself: connections to AWS, the zone's ring, metrics. What the function's role may do is not bound to
one registry; that each request reaches its own alone is a matter of this code and of what it is made of.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from sigla import authentication, observe
from sigla.answering import Edge
from sigla.auth.credentials import Authenticator, Slow
from sigla.auth.permissions import Principal
from sigla.auth.tokens.issuers import Issuer
from sigla.aws.zone import Environ
from sigla.cache.counts import Farthest
from sigla.functions.extension import Extension
from sigla.functions.lifecycle import Handler
from sigla.functions.pool import MOST_OPEN, Pool
from sigla.instances import Instance, TableAndBucket, in_table_and_bucket
from sigla.ports.itself import Itself
from sigla.ports.zones import Zones
from sigla.settings import PREFIX, InvalidSetting, Settings, listed
from sigla.stores.kinds import store_row
from sigla.web import app, gateway, registries
from sigla.web.api.beside import DESCRIPTION, description
from sigla.web.paired import PairedTable

BESIDE = frozenset([DESCRIPTION])
"""Paths of what is of no registry."""


def function(settings: Settings, environ: Environ, extension: Extension, opened: ExitStack) -> Handler:
    """What Lambda calls; as of `answering`."""
    issuers = authentication.issuers_of(settings)
    hosts = _hosts(settings, issuers)
    place = opened.enter_context(in_table_and_bucket(settings))
    share = min(len(hosts), MOST_OPEN + 1)
    own = opened.enter_context(place.instance(share=share))
    edge = Edge.of(settings, issuers, own)
    # Zones are of the stage, and its own registry has their directory.
    tables = _RouteTables(edge, place, share, own.registry.directory)
    authenticate = tables.authenticator(settings.registry_name, own, opened)
    own_options = tables.options(settings.registry_name, own, authenticate, opened)
    # It stays open: whoever names no registry that is here is judged as by this one.
    unchosen = registries.Unchosen(authenticate, edge.tokens)
    options = edge.options(unchosen, [edge.metrics], edge.log, edge.log.tell)
    unknown = own._replace(registry=replace(own.registry, itself=Itself()))
    own_table, nowhere = tables.table(own, own_options), tables.table(unknown, options)
    others = opened.enter_context(Pool(tables.open))

    def table(name: str) -> app.RouteTable:
        return own_table if name == settings.registry_name else others(name)

    by_registry = registries.ByRegistry(registries.Choice(hosts, issuers), table, nowhere)
    beside = [description(authenticate, for_everybody=True)]  # it tells nothing of a registry
    application = app.Application(by_registry, options, beside, None)
    return edge.function(own, gateway.handler_of(application), environ, extension)


class _RouteTables:
    """Makes the table of routes of each registry. share, zones: as of `TableAndBucket.instance`."""

    def __init__(self, edge: Edge, place: TableAndBucket, share: int, zones: Zones | None) -> None:
        self._edge = edge
        self._place = place
        self._share = share
        self._zones = zones

    def open(self, name: str, opened: ExitStack, let_in: Callable[[], None]) -> app.RouteTable:
        """Opens what one registry needs, as `Pool` asks for it."""
        found = opened.enter_context(self._place.instance(name, share=self._share, zones=self._zones))
        known = self.authenticator(name, found, opened)
        authenticate = LettingIn(known, let_in) if known is not None else None
        return self.table(found, self.options(name, found, authenticate, opened))

    def authenticator(self, name: str, found: Instance, opened: ExitStack) -> registries.OfRegistry | None:
        """opened: takes what is to be closed with the registry."""
        return self._edge.authenticator(name, found, observe.telling_of(name, self._edge.log.tell), opened)

    def options(
        self, name: str, found: Instance, authenticate: Authenticator | None, opened: ExitStack
    ) -> app.HttpOptions:
        """opened: takes what is to be closed with the registry."""
        edge, tell = self._edge, observe.telling_of(name, self._edge.log.tell)
        watchers = (*edge.read_notes(found, tell, opened, share=self._share), edge.metrics.of(name))
        return edge.options(authenticate, watchers, edge.log.of(name, Farthest(found.counts)), tell, found.keys)

    def table(self, found: Instance, options: app.HttpOptions) -> app.RouteTable:
        share = replace(options, rendered_bytes=options.rendered_bytes // self._share)
        return PairedTable(found.has_pair, found.registry, None, share, BESIDE)


class LettingIn:
    """An `Authenticator` that tells of each caller whom it lets in. tell: is called by the thread of the answer."""

    def __init__(self, authenticate: Authenticator, tell: Callable[[], None]) -> None:
        self._authenticate = authenticate
        self._tell = tell

    @property
    def schemes(self) -> tuple[str, ...]:
        return self._authenticate.schemes

    def __call__(self, header: bytes | None) -> Principal | None:
        try:
            return self._told(self._authenticate(header))
        except Slow as slow:
            answer = slow.answer
            raise Slow(lambda: self._told(answer())) from None

    def _told(self, principal: Principal | None) -> Principal | None:
        if principal is not None and principal.may:
            self._tell()
        return principal


def _hosts(settings: Settings, issuers: Sequence[Issuer]) -> Mapping[str, tuple[str, ...]]:
    """The host names of each registry. Raises InvalidSetting."""
    if not store_row(settings.address).shared:
        raise InvalidSetting(
            f"{PREFIX}REGISTRIES of a function are in one table and one bucket: set {PREFIX}TABLE and {PREFIX}BUCKET."
        )
    try:
        hosts = registries.read(listed(settings.registries), settings.registry_domain)
    except registries.InvalidRegistries as problem:
        raise InvalidSetting(f"{PREFIX}REGISTRIES: {problem}") from None
    if settings.registry_name not in hosts:
        raise InvalidSetting(f"{PREFIX}REGISTRIES leaves out {settings.registry_name}, the {PREFIX}REGISTRY_NAME.")
    try:
        registries.check_rows(issuers, hosts, elsewhere=True)
    except registries.InvalidRegistries as problem:
        raise InvalidSetting(f"{PREFIX}ISSUERS: {problem}") from None
    return hosts
