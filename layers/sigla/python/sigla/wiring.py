"""The only file that reads the environment: settings in, a running registry out."""

import codecs
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sigla import __version__, authentication, languages, observe
from sigla.auth.api_keys import Keys
from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.auth.tokens.bearer import BearerTokens
from sigla.authentication import NowhereForKeys, OpenToOthers
from sigla.cache.counts import Farthest
from sigla.cache.ring import Ring
from sigla.effort import Limits
from sigla.errors import StoreError
from sigla.exporters.nouns import Exporter
from sigla.instances import beside, instance, owning, table_and_bucket
from sigla.opening import directory
from sigla.ports.clock import Clock
from sigla.ports.store import Store
from sigla.ports.zones import Zones
from sigla.settings import AUTO, KEYS, NONE, PREFIX, Address, InvalidSetting, Settings, listed
from sigla.stores.clock import SystemClock
from sigla.stores.kinds import bodies_kind, store_row
from sigla.stores.not_opened import DataNotOpened
from sigla.stores.ownership import OwnZones
from sigla.web import app
from sigla.web.http.guard import Guard, is_loopback

if TYPE_CHECKING:  # a function has no use for SQLite, `sigla serve` none for AWS: each is imported where it is chosen
    from sigla.aws.zone import Where
    from sigla.functions.lifecycle import Handler, Renewed
    from sigla.remote.destination import HttpDestination


STARTUP_PROBLEMS = (InvalidSetting, OpenToOthers, NowhereForKeys, DataNotOpened, StoreError, OSError)
"""What can be wrong before the first request, each with a sentence."""


class Started(NamedTuple):
    """What `sigla serve` answers for now.

    urls: its own, or one for each zone. access: who may ask. closed: only those with a key. zones: their ids.
    rings: what they are made of. writable: whether the disk takes writes. certificate: its file, and until when it is
    valid; empty without TLS. trusted: that file, where clients have to trust the certificate itself; else empty.
    """

    urls: tuple[str, ...]
    access: str
    closed: bool
    zones: tuple[str, ...]
    rings: str
    writable: bool
    certificate: str
    trusted: str


def serve(
    address: Address,
    host: str,
    port: int,
    *,
    zones: int = 0,
    closed: bool = False,
    tls: tuple[Path | None, Path | None] = (None, None),
    announce: Callable[[Started], None] = lambda _: None,
) -> None:
    """Serves until SIGTERM or SIGINT. address: of data on this machine. closed: only for those with keys, always.

    zones: so many endpoints, from this port on, each with a ring; 0: one without. tls: a certificate and its key;
    without them those of the settings. Where a supervisor hands over sockets, host and port are theirs. Raises one of
    STARTUP_PROBLEMS.
    """
    from shlex import quote

    # A Lambda function has no use for them.
    from sigla.web.local import (
        exporting,
        handshakes,
        metrics,
        outlet,
        pair,
        process,
        server,
        start_warnings,
        supervisor,
    )
    from sigla.web.threads.thinkers import Thinkers

    settings = Settings.read(os.environ)
    handed_over = supervisor.handed_over(os.environ)
    host = server.reached_at(handed_over) if handed_over else host
    issuers = authentication.issuers_of(settings)
    auth = KEYS if closed or issuers else authentication.local_auth(settings.auth, host)
    authentication.check_keys(auth, address, issuers)
    ports = [port and port + at for at in range(zones or 1)]
    files = _tls_files(tls, settings)
    with (
        outlet.standard(sys.stdout, sys.stderr, SystemClock()) as out,
        handshakes.securing(pair.Files(*files), out.tell, SystemClock()) if files else nullcontext() as secure,
        server.listening(host, ports, handed_over) as sockets,
        directory(replace(address, registry=settings.registry_name)) as store,
        ExitStack() as opened,
    ):
        kept = store.keys
        guesses = Guesses(SystemClock())
        tokens = authentication.bearer_tokens(issuers, out.tell)
        authenticate = authentication.authenticator(auth, kept, out.tell, opened, tokens)
        guard = _guard(settings, host) if auth == NONE and is_loopback(host) else None

        def options(zone: str = "") -> app.HttpOptions:
            log = observe.Log(out, clock=SystemClock(), release=__version__, zone=zone)
            watchers = (log if settings.log_requests else observe.DeniedAlone(log, SystemClock()),)
            door = app.HttpOptions(watchers=watchers, log_failure=out.tell, guesses=guesses, guard=guard)
            return _web_options(settings, authenticate, door)

        urls = tuple(server.url(each, secure.pair if secure else None) for each in sockets)
        ids: tuple[str, ...] = ()
        rings = ""
        build: server.Build
        if zones:
            from sigla import local_zones
            from sigla.web.local import zones as zoned

            played = opened.enter_context(local_zones.played(urls, partial(beside, store, settings)))
            build = partial(zoned.application, played, [*map(server.port, sockets)], options)
            ids, rings = played.ids, played.made_of
        else:
            registry, _ = beside(store, settings, Ring({}, SystemClock()))
            build = partial(server.application, registry, options=options())
        thinkers = Thinkers()
        around = exporting.Surroundings(store, partial(_destination, store), settings.registry_name, out.tell)
        exporters = opened.enter_context(exporting.exporting(around))
        application = build(
            group=store.group,
            step=store.step,
            stored=store.count,
            dropped=lambda: out.dropped,
            ready=lambda: store.writable,
            thinkers=thinkers,
            more=[
                process.Process(SystemClock()).lines,
                partial(metrics.key_lines, store.count_keys),
                exporters.lines,
                *([secure.lines] if secure else ()),
            ],
        )
        if auth == NONE and not is_loopback(host):
            out.tell(authentication.openness(host))
        writable = store.writable
        for told in start_warnings.of_directory(store.path, writable=writable, readable=store.tells_others):
            out.tell(told)
        access = authentication.access_words(auth, issuers, has_keys=bool(kept.names()), data=quote(address.path))
        certificate = f"{files[0]}, until {secure.pair.day}" if files and secure else ""
        trusted = str(files[0]) if files and secure and secure.pair.signs_itself else ""
        started = Started(urls, access, auth == KEYS, ids, rings, writable, certificate, trusted)
        import_languages()
        server.serve(
            application,
            sockets,
            started=lambda: announce(started),
            stopping=thinkers.close,
            arriving_bytes=settings.arriving_bytes,
            handshakes=secure,
            supervisor=supervisor.telling(os.environ.get("NOTIFY_SOCKET", "")),
            handed_over=bool(handed_over),
        )


def _destination(store: Store, exporter: Exporter, *, beside: bool = True) -> "HttpDestination":
    """Where an exporter writes to. beside: whether that may be this machine, or what stands beside it."""
    from sigla.remote import connections  # who has no exporters needs no client of HTTP
    from sigla.remote.destination import destination

    may_reach = connections.may_reach_all if beside else connections.may_reach_others
    return destination(exporter, store.secrets, store.clock, may_reach=may_reach)


def import_languages() -> None:
    """Imports what otherwise comes with the first schema of a language: by then there may be no descriptor for it.

    It takes 4 MB, which a process that only reads would not have needed.
    """
    for found in pkgutil.walk_packages(languages.__path__, f"{languages.__name__}."):
        importlib.import_module(found.name)
    for library in ("descriptor_pb2", "descriptor_pool", "message_factory", "text_format"):
        importlib.import_module(f"google.protobuf.{library}")
    for codec in ("unicode_escape", "raw_unicode_escape"):  # of protobuf's own
        codecs.lookup(codec)


def lambda_handler() -> "Renewed":
    """The API as a Lambda function, built once, and anew after its snapshot was restored."""
    from sigla.functions.lifecycle import Renewed  # the local server does not need what only a function needs

    settings = Settings.read(os.environ)
    return Renewed(lambda opened: _function(settings, opened))


def _function(settings: Settings, opened: ExitStack) -> "Handler":
    """opened: takes what is to be closed at the end."""
    from sigla.functions.probe import Probe, answering
    from sigla.functions.telemetry import RequestLog, RequestMetrics
    from sigla.web import gateway

    issuers = authentication.issuers_of(settings)
    registry, keys, calls, ring, counts, ownership, issuer_keys = opened.enter_context(instance(settings))
    service = f"sigla-{settings.registry_name}"
    clock = SystemClock()
    log = RequestLog(
        service, calls, clock, release=__version__, reads=settings.log_reads, more=Farthest(counts), zone=settings.zone
    )
    metrics = RequestMetrics(
        service,
        calls,
        clock,
        stack=settings.stack,
        is_foreign=lambda: ownership is not None and ownership.is_foreign,
    )
    if ownership is not None:
        ownership.tell = log.tell
    auth = KEYS if settings.auth == AUTO else settings.auth
    if auth == NONE:
        log.tell(authentication.openness("the function"))
    watchers = (metrics, log if settings.log_requests else observe.DeniedAlone(log, clock))
    door = replace(gateway.OPTIONS, watchers=watchers, log_failure=log.tell)
    tokens = authentication.bearer_tokens(issuers, log.tell, issuer_keys, waits=False)
    if tokens:
        tokens.load()  # what is imported now is in the snapshot, and no bearer waits for it
    authenticate = authentication.authenticator(auth, keys, log.tell, opened, tokens, aside=calls.aside)
    handler = gateway.handler(registry, options=_web_options(settings, authenticate, door))
    return answering(log.following(handler), Probe(settings.zone, os.environ, ring.probe, release=__version__))


def journal_handler() -> "Renewed":
    """What follows the registry's table, as a Lambda function: its stream and a schedule. Raises InvalidSetting."""
    from sigla.functions.journal import following
    from sigla.functions.lifecycle import Renewed

    settings = Settings.read(os.environ)
    table = _table_of(settings, "The journal function")

    def build(opened: ExitStack) -> "Handler":
        clients, store = opened.enter_context(table_and_bucket(settings))
        name = settings.registry_name
        follow = opened.enter_context(following(clients.dynamodb, table, store.objects, store.clock, registry=name))
        ownership = opened.enter_context(owning(settings, store))
        handler = ownership.doing(follow) if ownership else follow
        if not settings.exporters_function:
            return handler
        from sigla.functions.waking import Waking

        return Waking(handler, clients.functions, settings.exporters_function)

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
        enter = partial(_destination, store, beside="AWS_ENDPOINT_URL" in os.environ)
        turns = ExporterTurns(store, enter, source=settings.registry_name)
        ownership = opened.enter_context(owning(settings, store))
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


def registry_url() -> str:
    """Where clients on this machine find their registry, by the name that many of them know."""
    return os.environ.get("SCHEMA_REGISTRY_URL", "")


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


def explaining(issuers: str) -> BearerTokens:
    """What says of a token what it would be. issuers: as the setting has them; empty: those of the environment.

    Raises InvalidSetting.
    """
    settings = Settings.read({**os.environ, **({f"{PREFIX}ISSUERS": issuers} if issuers else {})})
    tokens = authentication.bearer_tokens(authentication.issuers_of(settings), lambda _: None, waits=False)
    if tokens is None:
        raise InvalidSetting(f"No issuer is known here: set {PREFIX}ISSUERS as the registry has it.")
    return tokens


def _tls_files(given: tuple[Path | None, Path | None], settings: Settings) -> tuple[Path, Path] | None:
    """The certificate and its key; None without TLS. Raises InvalidSetting."""
    cert, key = (
        str(option or setting) for option, setting in zip(given, (settings.tls_cert, settings.tls_key), strict=True)
    )
    if bool(cert) != bool(key):
        raise InvalidSetting(
            f"TLS needs a certificate and its key: give both --tls-cert and --tls-key, or both {PREFIX}TLS_CERT and "
            f"{PREFIX}TLS_KEY."
        )
    return (Path(cert), Path(key)) if cert else None


def _web_options(settings: Settings, authenticate: Authenticator | None, door: app.HttpOptions) -> app.HttpOptions:
    """door: what the front door is like, the watchers behind it included."""
    return replace(
        door,
        body_bytes=settings.request_bytes,
        cors_origins=listed(settings.cors_origins),
        authenticate=authenticate,
        limits=Limits(settings.computing_seconds, settings.waiting_seconds),
    )


def _guard(settings: Settings, host: str) -> Guard:
    """Raises InvalidSetting."""
    try:
        return Guard((host, *listed(settings.hosts)), listed(settings.cors_origins))
    except ValueError as problem:
        raise InvalidSetting(f"{PREFIX}HOSTS: {problem}.") from None
