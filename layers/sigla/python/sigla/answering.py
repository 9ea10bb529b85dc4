"""The registry as a Lambda function: what stands between the doors of AWS and a registry; `pooling` has several."""

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

from sigla import __version__, authentication, observe
from sigla.auth.api_keys import Keys
from sigla.auth.credentials import Authenticator
from sigla.auth.tokens.bearer import BearerTokens
from sigla.auth.tokens.issuers import Issuer
from sigla.aws.zone import Environ
from sigla.cache.counts import Farthest
from sigla.functions.extension import Extension, Work
from sigla.functions.lifecycle import Handler
from sigla.functions.probe import Probe, answering
from sigla.functions.telemetry import RequestLog, RequestMetrics
from sigla.instances import Instance, instance, web_options
from sigla.observe import Facts, Teller, Watcher
from sigla.settings import NONE, PREFIX, InvalidSetting, Settings
from sigla.stores.clock import SystemClock
from sigla.stores.ownership import Ownership
from sigla.web import app, gateway
from sigla.web.paired import PairedTable
from sigla.web.registries import OfRegistry
from sigla.web.threads.read_notes import ReadNotes, read_notes

NOTED_S: Final = 2.0
"""So long an environment stays awake for notes of who reads: paid for, but after the answer."""


def function(settings: Settings, environ: Environ, extension: Extension, opened: ExitStack) -> Handler:
    """What Lambda calls. extension: of this process. opened: takes what is to be closed at the end.

    Raises InvalidSetting.
    """
    issuers = authentication.issuers_of(settings)
    own = opened.enter_context(instance(settings))
    edge = Edge.of(settings, issuers, own, more=Farthest(own.counts))
    authenticate = edge.authenticator(settings.registry_name, own, edge.log.tell, opened)
    notes = edge.read_notes(own, edge.log.tell, opened)
    options = edge.options(authenticate, [*notes, edge.metrics], edge.log, edge.log.tell, own.keys)
    handler = gateway.handler(own.registry, options=options, table=_table(settings, own))
    return edge.function(own, handler, environ, extension)


def _table(settings: Settings, own: Instance) -> app.MakeTable:
    """What answers. Raises InvalidSetting."""
    if (other := own.other) is None:
        return partial(PairedTable, own.has_pair)
    from sigla.remote.failures import RemoteMisused
    from sigla.remote.primary import RemotePrimary  # who has one region needs no client of HTTP
    from sigla.web.two_regions import AskedRegion, TwoRegionsTable

    clock = SystemClock()

    @cache
    def there(pair: str) -> RemotePrimary:
        return RemotePrimary(settings.region_url, "", clock, pair=pair)

    if settings.region_url:
        try:
            there("")
        except RemoteMisused as wrong:
            raise InvalidSetting(f"{PREFIX}REGION_URL: {wrong}") from None
    is_marked = other.store.handed_ids.is_marked
    asked = AskedRegion(there if settings.region_url else None, other.standing, clock, other.brought_back, is_marked)
    return partial(TwoRegionsTable, asked, own.has_pair)


def any_foreign(owners: Collection[Ownership]) -> bool:
    """Whether the data of an open registry is another deployment's. A pool closes registries meanwhile, by a thread."""
    return any(each.is_foreign for each in tuple(owners))


@dataclass(frozen=True, slots=True)
class Edge:
    """How callers are recognised in one process, and what it tells.

    owners, notes: of the registries that are open.
    """

    settings: Settings
    auth: str
    tokens: BearerTokens | None
    log: RequestLog
    metrics: RequestMetrics
    owners: set[Ownership]
    notes: set[ReadNotes]

    @classmethod
    def of(
        cls, settings: Settings, issuers: Sequence[Issuer], own: Instance, *, more: Callable[[], Facts] = dict
    ) -> "Edge":
        """own: the registry of the settings, where the keys of issuers are. more: as of `RequestLog`."""
        service, clock, owners = f"sigla-{settings.registry_name}", SystemClock(), set[Ownership]()
        log = RequestLog(
            service, own.calls, clock, release=__version__, reads=settings.log_reads, more=more, zone=settings.zone
        )
        metrics = RequestMetrics(
            service,
            own.calls,
            clock,
            stack=settings.stack,
            is_foreign=lambda: any_foreign(owners),
        )
        auth = authentication.function_auth(settings)
        if auth == NONE:
            log.tell(authentication.openness("the function"))
        tokens = authentication.bearer_tokens(issuers, log.tell, own.issuer_keys, waits=False)
        if tokens:
            tokens.load()  # what is imported now is in the snapshot, and no bearer waits for it
        return cls(settings, auth, tokens, log, metrics, owners, set())

    def authenticator(self, name: str, found: Instance, tell: Teller, opened: ExitStack) -> OfRegistry | None:
        """What recognises a registry's callers, who may name it. tell: takes what it tells. opened: is closed with it.

        Also where it is alone: so clients can name theirs before it has neighbours in a pool.
        """
        if found.ownership is not None:
            found.ownership.tell = tell
            self.owners.add(found.ownership)
            opened.callback(self.owners.discard, found.ownership)
        tokens = self.tokens and self.tokens.of(name)
        made = authentication.authenticator(self.auth, found.keys, tell, opened, tokens, aside=found.calls.aside)
        return OfRegistry(name, made) if made is not None else None

    def read_notes(self, found: Instance, tell: Teller, opened: ExitStack, *, share: int = 1) -> tuple[Watcher, ...]:
        """What counts the reads by id of a registry, if they are counted. The rest as of `authenticator`."""
        reads, clock, aside = found.registry.reads, found.registry.clock, found.calls.aside
        notes = opened.enter_context(
            read_notes(self.settings, reads, clock, tell, gathered_s=None, aside=aside, share=share)
        )
        self.notes.update(notes)
        opened.callback(self.notes.difference_update, notes)
        return notes

    def options(
        self,
        authenticate: Authenticator | None,
        watchers: Sequence[Watcher],
        log: Watcher,
        tell: Teller,
        keys: Keys | None = None,
    ) -> app.HttpOptions:
        """watchers: besides the log. keys: of the registry."""
        watchers = (*watchers, log if self.settings.log_requests else observe.DeniedAlone(log, SystemClock()))
        door = replace(gateway.OPTIONS, watchers=watchers, log_failure=tell)
        return web_options(self.settings, authenticate, door, keys)

    def function(self, own: Instance, handler: Handler, environ: Environ, extension: Extension) -> Handler:
        """The handler, with Lambda's id of each invocation in its lines; it answers the heartbeat's question, too.

        extension: notes who read, after the answer: a process that was asked may never be woken again.
        """
        probe = Probe(self.settings.zone, environ, own.ring.probe, release=__version__)
        return extension.around(answering(self.log.following(handler), probe), self._left, self.log.tell)

    def _left(self) -> Work | None:
        """Notes of who read, if some are to be made."""
        waiting = [notes for notes in tuple(self.notes) if notes.are_waiting]

        def note() -> None:
            for notes in waiting:
                notes.settle(NOTED_S)

        return note if waiting else None
