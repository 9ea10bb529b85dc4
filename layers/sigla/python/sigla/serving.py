"""`sigla serve`: one registry of this machine, or several beside each other, opened, put together and served."""

import codecs
import importlib
import pkgutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from sigla import __version__, authentication, destinations, languages, observe, second_region
from sigla.auth.api_keys import Keys, is_revoked
from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.auth.tokens.bearer import BearerTokens
from sigla.auth.tokens.issuers import Issuer
from sigla.cache.ring import Ring
from sigla.instances import beside, quotas_of, web_options
from sigla.opening import directory
from sigla.second_region import OtherRegion
from sigla.settings import KEYS, NONE, PREFIX, REQUIRED, Address, InvalidSetting, Settings, listed
from sigla.stores.clock import SystemClock
from sigla.stores.not_opened import DataNotOpened
from sigla.stores.sqlite.reading import CATALOG
from sigla.stores.sqlite.store import LOCK, EmbeddedStore
from sigla.web import app, registries
from sigla.web.http.guard import Guard, is_loopback
from sigla.web.local import (
    crowd,
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
from sigla.web.threads.read_notes import read_notes
from sigla.web.threads.thinkers import Thinkers


class Serving(NamedTuple):
    """What the command says; the rest is in the settings. tls: a certificate and its key."""

    address: Address
    host: str
    port: int
    zones: int = 0
    registries: tuple[str, ...] = ()
    closed: bool = False
    tls: tuple[Path | None, Path | None] = (None, None)
    region: OtherRegion | None = None


class Started(NamedTuple):
    """What `sigla serve` answers for now.

    urls: its own, or one for each zone. access: who may ask. closed: only those with a key. zones: their ids.
    rings: what they are made of. writable: whether the disk takes writes. certificate: its file, and until when it is
    valid; empty without TLS. trusted: that file, where clients have to trust the certificate itself; else empty.
    registries: the host names of each, where there are several. console: whether there are pages at /console/.
    """

    urls: tuple[str, ...]
    access: str
    closed: bool
    zones: tuple[str, ...]
    rings: str
    writable: bool
    certificate: str
    trusted: str
    registries: Mapping[str, tuple[str, ...]]
    console: bool


class _Opened(NamedTuple):
    """A registry of this process. name: empty for one alone. tell: takes what is told of it. notes: count who reads."""

    name: str
    address: Address
    store: EmbeddedStore
    authenticate: Authenticator | None
    exporters: exporting.Exporting
    tell: observe.Teller
    notes: tuple[observe.Watcher, ...]

    def watched(self, options: app.HttpOptions) -> app.HttpOptions:
        return replace(options, watchers=(*options.watchers, *self.notes))

    @property
    def sources(self) -> tuple[metrics.Source, ...]:
        return partial(metrics.key_lines, self.store.count_keys), self.exporters.lines


class _Made(NamedTuple):
    """An application over what was opened. stopping: gives up what still computes. zones, rings: as in Started.

    begins_anew: as of `RegionOfServer`.
    """

    application: server.Application
    stopping: Callable[[], None]
    zones: tuple[str, ...] = ()
    rings: str = ""
    begins_anew: Callable[[], str] = str


class _Surroundings(NamedTuple):
    """What all registries of a process work with. opened: takes what is to be closed at the end.

    guesses: one wait for all of them. With one for each a guess at a registry that exists would not wait where one that
    does not exist has been asked for, and so tell that it is there.
    """

    settings: Settings
    auth: str
    tokens: BearerTokens | None
    guard: Guard | None
    guesses: Guesses
    out: outlet.Outlet
    opened: ExitStack

    def open(self, address: Address, name: str = "") -> _Opened:
        """Raises DataNotOpened."""
        settings, opened = self.settings, self.opened
        tell = observe.telling_of(name, self.out.tell) if name else self.out.tell
        try:
            store = opened.enter_context(directory(address))
        except DataNotOpened as problem:
            if not name:
                raise
            raise DataNotOpened(f"The registry {name} does not open, so none is served. {problem}") from problem
        tokens = self.tokens and self.tokens.of(name or settings.registry_name)
        authenticate = authentication.authenticator(self.auth, store.keys, tell, opened, tokens)
        if name and authenticate is not None:
            authenticate = registries.OfRegistry(name, authenticate)
        around = exporting.Surroundings(store, partial(destinations.of, store), name or settings.registry_name, tell)
        exporters = opened.enter_context(exporting.exporting(around, begin=False))
        notes = opened.enter_context(read_notes(settings, store.reads, store.clock, tell))
        return _Opened(name, address, store, authenticate, exporters, tell, notes)

    def options(
        self, authenticate: Authenticator | None, keys: Keys | None, tell: observe.Teller, **named: str
    ) -> app.HttpOptions:
        """keys: of the registry. named: a zone, a registry, as the log calls them."""
        clock = SystemClock()
        log = observe.Log(self.out, clock=clock, release=__version__, **named)
        watchers = (log if self.settings.log_requests else observe.DeniedAlone(log, clock),)
        door = app.HttpOptions(watchers=watchers, log_failure=tell, guesses=self.guesses, guard=self.guard)
        return web_options(self.settings, authenticate, door, keys)


def serve(settings: Settings, asked: Serving, environ: Mapping[str, str], announce: Callable[[Started], None]) -> None:
    """Serves until SIGTERM or SIGINT, as `wiring.serve` says. Raises BeginsAnew where the data are to be replaced."""
    handed_over = supervisor.handed_over(environ)
    host = server.reached_at(handed_over) if handed_over else asked.host
    issuers = authentication.issuers_of(settings)
    auth = KEYS if asked.closed or issuers else authentication.local_auth(settings.auth, host)
    authentication.check_keys(auth, asked.address, issuers)
    named = _registry_hosts(settings, asked, issuers)
    files = pair.tls_files(asked.tls, settings)
    ports = [asked.port and asked.port + at for at in range(asked.zones or 1)]
    with (
        outlet.standard(sys.stdout, sys.stderr, SystemClock()) as out,
        handshakes.securing(pair.Files(*files), out.tell, SystemClock()) if files else nullcontext() as secure,
        server.listening(host, ports, handed_over) as sockets,
        ExitStack() as opened,
    ):
        guard = _guard(settings, host, named) if auth == NONE else None
        tokens = authentication.bearer_tokens(issuers, out.tell)
        around = _Surroundings(settings, auth, tokens, guard, Guesses(SystemClock()), out, opened)
        members = [around.open(place, name) for name, place in _places(asked.address, settings, named).items()]
        for each in members:
            opened.callback(each.exporters.begin_to_stop)  # before the first of them is waited for
            second_region.begin_exporters(each.store, each.exporters, is_kept=asked.region is not None)
        urls = tuple(server.url(each, secure.pair if secure else None) for each in sockets)
        served = server.told_url(sockets[0], secure.pair if secure else None)
        process_lines = [process.Process(SystemClock()).lines, *([secure.lines] if secure else ())]
        if named:
            made = _several(around, members, registries.Choice(named, issuers), process_lines)
        else:
            zone_ports = [*map(server.port, sockets)] if asked.zones else []
            made = _one(around, members[0], urls, zone_ports, process_lines, region=asked.region, served=served)
        if auth == NONE and not is_loopback(host):
            out.tell(authentication.openness(host))
        started = Started(
            urls,
            _access(auth, issuers, members),
            auth == KEYS,
            made.zones,
            made.rings,
            _warn(members),
            f"{files[0]}, until {secure.pair.day}" if files and secure else "",
            str(files[0]) if files and secure and secure.pair.signs_itself else "",
            named,
            settings.console,
        )
        import_languages()
        server.serve(
            made.application,
            sockets,
            started=lambda: announce(started),
            stopping=made.stopping,
            arriving_bytes=settings.arriving_bytes,
            connections=crowd.most_connections(len(members)),
            handshakes=secure,
            supervisor=supervisor.telling(environ.get("NOTIFY_SOCKET", "")),
            handed_over=bool(handed_over),
            is_over=lambda: bool(made.begins_anew()),
        )
        if url := made.begins_anew():
            raise second_region.BeginsAnew(url)


def _one(
    around: _Surroundings,
    member: _Opened,
    urls: Sequence[str],
    ports: Sequence[int],
    process_lines: Sequence[metrics.Source],
    *,
    region: OtherRegion | None,
    served: str,
) -> _Made:
    """ports: of zones; none for a registry without. served: the URL by which others may reach it."""
    settings, store, thinkers = around.settings, member.store, Thinkers()
    zones: tuple[str, ...] = ()
    rings, stopping = "", thinkers.close
    begins_anew: Callable[[], str] = str

    def options(zone: str = "") -> app.HttpOptions:
        return member.watched(around.options(member.authenticate, store.keys, member.tell, zone=zone))

    build: server.Build
    if ports:
        from sigla import local_zones
        from sigla.web.local import zones as zoned

        instance = partial(beside, store, settings, quotas=quotas_of(store, settings))
        played = around.opened.enter_context(local_zones.played(urls, instance))
        build = partial(zoned.application, played, ports, options)
        zones, rings = played.ids, played.made_of
    else:
        other, chosen = None, options()
        if region:
            other = second_region.region_of_server(
                store,
                region,
                chosen.authenticate,
                chosen.guesses,
                exporters=member.exporters,
                served=served,
                tell=member.tell,
                installed=second_region.installed_here(__version__, settings, around.auth),
                until=around.opened,
                required=settings.region_bodies == REQUIRED,
            )
        registry, _ = beside(store, settings, Ring({}, SystemClock()), quotas=quotas_of(store, settings))
        if other:
            registry = replace(registry, control=other.control, region_views=other.views)
        build = partial(server.application, registry, options=chosen)
        if other:
            build = partial(build, table=other.table, routes=other.routes)
            process_lines = [*process_lines, other.lines]
            stopping = partial(_all, other.stopping, thinkers.close)
            begins_anew = other.begins_anew
    application = build(
        group=store.group,
        step=store.step,
        stored=store.count,
        dropped=lambda: around.out.dropped,
        ready=lambda: store.writable,
        thinkers=thinkers,
        more=[*member.sources, *process_lines],
    )
    return _Made(application, stopping, zones, rings, begins_anew)


def _all(*each: Callable[[], None]) -> None:
    for one in each:
        one()


def _several(
    around: _Surroundings,
    members: Sequence[_Opened],
    choice: registries.Choice,
    process_lines: Sequence[metrics.Source],
) -> _Made:
    from sigla.web.local import several

    def served(member: _Opened) -> several.Served:
        store, settings = member.store, replace(around.settings, registry_name=member.name)
        return several.Served(
            member.name,
            beside(store, settings, Ring({}, SystemClock()), quotas=quotas_of(store, settings))[0],
            member.watched(around.options(member.authenticate, store.keys, member.tell, registry=member.name)),
            group=store.group,
            step=store.step,
            stored=store.count,
            ready=lambda: store.writable,
            more=member.sources,
        )

    first = members[0].authenticate
    unchosen = registries.Unchosen(first if isinstance(first, registries.OfRegistry) else None, around.tokens)
    made = several.Several(
        [served(each) for each in members],
        choice,
        around.options(unchosen, None, around.out.tell),
        is_open=around.auth == NONE,
        dropped=lambda: around.out.dropped,
        more=process_lines,
    )
    return _Made(made.application, made.close)


def _registry_hosts(settings: Settings, asked: Serving, issuers: Sequence[Issuer]) -> Mapping[str, tuple[str, ...]]:
    """The host names of each registry; none where one is served alone. Raises InvalidSetting."""
    listing, where = (
        (asked.registries, "--registry") if asked.registries else (listed(settings.registries), f"{PREFIX}REGISTRIES")
    )
    if not listing:
        return {}
    if asked.zones:
        raise InvalidSetting(f"Zones are of one registry: leave out --zones, or {where}.")
    try:
        named = registries.read(listing, settings.registry_domain)
    except registries.InvalidRegistries as problem:
        raise InvalidSetting(f"{where}: {problem}") from None
    try:
        registries.check_rows(issuers, named)
    except registries.InvalidRegistries as problem:
        raise InvalidSetting(f"{PREFIX}ISSUERS: {problem}") from None
    return named


def _places(address: Address, settings: Settings, names: Collection[str]) -> Mapping[str, Address]:
    """Where each registry is: in a directory of its name below the one of the address. Raises InvalidSetting.

    Within its directory each is the one that the settings name: whatever works on one directory works on that.
    """
    if not names:
        return {"": replace(address, registry=settings.registry_name)}
    if address.scheme == "memory":
        return {name: Address.of(registry=settings.registry_name) for name in names}
    root = Path(address.path)
    if (root / LOCK).exists() or (root / CATALOG).exists():
        raise InvalidSetting(
            f"{root} is the directory of one registry: move it to {root / 'NAME'}, or choose another with --data."
        )
    return {name: Address.of(str(root / name), registry=settings.registry_name) for name in names}


def _access(auth: str, issuers: Sequence[Issuer], members: Sequence[_Opened]) -> str:
    """Who may ask, for people."""
    keyless = [each for each in members if all(is_revoked(*kept) for kept in each.store.keys.list())]
    data = quote((keyless or members)[0].address.path)
    name = ", ".join(each.name for each in keyless)
    return authentication.access_words(auth, issuers, has_keys=not keyless, data=data, keyless=name)


def _warn(members: Sequence[_Opened]) -> bool:
    """Tells what an operator has to know of the directories. Whether all take writes."""
    all_writable = True
    for each in members:
        writable = each.store.writable
        all_writable &= writable
        warnings = start_warnings.of_directory(each.store.path, writable=writable, readable=each.store.tells_others)
        for told in warnings:
            each.tell(told)
    return all_writable


def _guard(settings: Settings, host: str, named: Mapping[str, tuple[str, ...]]) -> Guard:
    """Looks at what comes to an open registry. Raises InvalidSetting."""
    ours = (host, *(each for hosts in named.values() for each in hosts), *listed(settings.hosts))
    try:
        return Guard(ours if is_loopback(host) else None, listed(settings.cors_origins))
    except ValueError as problem:
        raise InvalidSetting(f"{PREFIX}HOSTS: {problem}.") from None


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
