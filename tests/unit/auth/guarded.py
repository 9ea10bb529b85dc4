"""A registry with the schemas of two teams, people with and without keys, and the doors they come to."""

import asyncio
import atexit
import base64
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol, Self

from sigla.associations.nouns import CREATE, Request, Wanted
from sigla.associations.verbs import writing
from sigla.associations.verbs.writing import Manner
from sigla.auth import api_keys
from sigla.auth.credentials import Authenticator, BasicKeys
from sigla.auth.permissions import ADMIN, DELETE, READ, WRITE, Access
from sigla.auth.tokens import issuers
from sigla.auth.tokens.bearer import BearerTokens, KeysAndTokens
from sigla.auth.tokens.published import AT_ONCE, Published
from sigla.exporters.nouns import ExporterDraft
from sigla.exporters.verbs import changing
from sigla.keks.nouns import DEFAULT_ALGORITHM, DekDraft, KekDraft
from sigla.keks.refusals import KeyExists
from sigla.keks.verbs import deks, keks
from sigla.model import Metadata, OfferedReference, SchemaId, Subject
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app, gateway
from sigla.web.local import server
from tests.build import NOW, FixedClock, a_draft, a_text
from tests.issuer import AUDIENCE, Issuer
from tests.unit.web.conftest import Client
from tests.unit.web.test_gateway import function_url, rest

NOBODY, STRANGER = "nobody", "stranger"
KINDS: Mapping[str, tuple[Access, ...]] = {
    "reader": (READ,),
    "writer": (READ, WRITE),
    "deleter": (READ, WRITE, DELETE),
    "admin": (READ, WRITE, DELETE, ADMIN),
}
"""What each kind of principal may. A deleter is a writer of whom its key, or a map, says so."""

EVERYWHERE = ""
PREFIXES: Mapping[str, tuple[str, ...]] = {EVERYWHERE: (), "a": ("a-",), "z": ("z-",), "team": (":.team:",)}
"""By reach: what a key is good for. The last one is a context as a whole."""


@dataclass(frozen=True)
class Who:
    """A principal, or none: then it is of no kind."""

    name: str
    kind: str = ""
    reach: str = EVERYWHERE

    @property
    def may(self) -> tuple[Access, ...]:
        return KINDS.get(self.kind, ())

    @property
    def deletes(self) -> bool:
        """Whether its key, or its row of a map, says so."""
        return self.kind == "deleter"

    @property
    def role(self) -> str:
        return "writer" if self.deletes else self.kind

    def __str__(self) -> str:
        return self.name


KEYS = tuple(Who(f"{kind}-of-{reach}" if reach else kind, kind, reach) for reach in PREFIXES for kind in KINDS)
WHO = (Who(NOBODY), Who(STRANGER), *KEYS)
"""Everybody: without a key, with a bad one, of each kind and each reach."""

MANAGED = api_keys.ApiKey("old", "reader", (), api_keys.verifier_of("old"), NOW)
"""A key that may be changed by requests."""

ISSUER = Issuer()
"""Whose tokens are good for what the keys of their names are good for."""

SUBJECTS = {
    "a-one": "A",
    "b-one": "B",
    "a-shared": "Shared",
    "b-shared": "Shared",
    "A-low": "Low",
    "a-low": "Low",
    ":.team:a-team": "Team",
    "a-gone": "Gone",
}
"""What is registered under what, in this order: ids 1 to 5 in the default context, `Gone` last, `Team` in its own."""


TOPICS = {"a-topic": "a-noted", "b-topic": "b-shared"}
"""The topics that are associated, weakly, with a subject."""


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    json: Any


class Filled(Protocol):
    """Has what `fill` registers."""

    @property
    def registry(self) -> Registry: ...


GUID_A, GUID_B = "{guid of A}", "{guid of B}"


def prepared(world: Filled, target: str) -> str:
    """The target with the GUIDs filled in."""
    for guid, id in ((GUID_A, SchemaId(1)), (GUID_B, SchemaId(2))):
        if guid in target:
            target = target.replace(guid, str(world.registry.schema_by_id(id).guid))
    return target


@dataclass(frozen=True)
class Guarded:
    """A filled registry. secrets: by who has them. filled: the last commit of its filling, in the journal.

    managed: keys that requests may change, MANAGED among them; they open nothing here.
    """

    registry: Registry
    store: EmbeddedStore
    secrets: Mapping[str, str]
    authenticate: Authenticator
    filled: int
    managed: EmbeddedKeys
    by_token: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether anything is another than when it was filled."""
        return bool(self.commits) or dict(self.managed.list()) != {MANAGED.name: MANAGED.record()}

    @property
    def commits(self) -> int:
        """How many there were since it was filled."""
        return self.store.journal.end() - self.filled

    def authors(self) -> set[str]:
        """The authors in the rows that were written since it was filled; a token without a name stays one."""
        if not self.commits:
            return set()
        names = {kept.token: kept.name for kept in self.store.principals.names(0)}
        said = {str(row["by"]) for _, row in self.store.journal.read(self.filled)}
        return {names.get(token, token) for token in said}

    def called(self, who: str) -> str:
        """The name of the principal, in logs and in the journal."""
        return f"{who}@{ISSUER.url.removeprefix('https://')}" if self.by_token else who

    def authorization(self, who: str) -> dict[str, str]:
        """The header of one of WHO, or a header as it is."""
        if who == NOBODY:
            return {}
        if who.startswith("Bearer "):
            return {"authorization": who}
        if self.by_token:
            return {"authorization": f"Bearer {_token_of(who)}"}
        said = f"{who}:{self.secrets.get(who, 'guessed')}"
        return {"authorization": "Basic " + base64.b64encode(said.encode()).decode()}


@cache
def _token_of(who: str) -> str:
    return ISSUER.token("ec", sub=who, aud="another" if who == STRANGER else AUDIENCE)


def cut(folder: Path) -> tuple[EmbeddedKeys, dict[str, str]]:
    """A key for everybody who has one, and their secrets."""
    keys = EmbeddedKeys(folder)
    return keys, {who.name: _key_of(keys, who) for who in KEYS}


def _key_of(keys: EmbeddedKeys, who: Who) -> str:
    """Its secret."""
    return api_keys.create(keys, who.name, who.role, PREFIXES[who.reach], now=NOW, deletes=who.deletes)[1]


def fill(registry: Registry) -> None:
    noted = a_draft(a_text("Noted"), metadata=Metadata(properties={"owner": "Ada"}))
    for subject, name in SUBJECTS.items():
        registry.register(names.subject(subject), a_draft(a_text(name)))
    for subject in ("a-ref", "b-ref"):
        text = f'{{"type":"record","name":"{subject[0]}Ref","fields":[{{"name":"f","type":"A"}}]}}'
        refers = (OfferedReference("A", "a-one", 1),)
        registry.register(Subject(".", subject), a_draft(text, references=refers))
    registry.delete_subject(Subject(".", "a-gone"))
    registry.register(Subject(".", "a-noted"), noted)
    for kek, subject in (("k", "a-one"), ("k", "b-one"), ("k", "a-gone"), ("kb", "b-one")):
        with suppress(KeyExists):
            keks.create_kek(registry, KekDraft(kek, "local-kms", kek, {"secret": "s", "namespace": "n"}))
        deks.create_dek(registry, kek, Subject(".", subject), DekDraft(material="m"))
    deks.delete_deks(registry, "k", Subject(".", "a-gone"), None, DEFAULT_ALGORITHM)
    keks.create_kek(registry, KekDraft("unused", "local-kms", "id"))
    keks.create_kek(registry, KekDraft("gone", "local-kms", "id", deleted=True))
    registry.change_config(Subject(".", "a-alias"), {"alias": "a-one"})
    registry.change_config(Subject(".", "a-out"), {"alias": "b-one"})
    registry.change_config(Subject(".", "a-one"), {"level": "FULL"})
    registry.change_mode(Subject(".", "a-one"), "READWRITE")
    for exporter in ("running", "paused"):
        changing.create_exporter(registry, ExporterDraft(exporter, config={"schema.registry.url": "http://there"}))
    changing.pause_exporter(registry, "paused")
    for topic, subject in TOPICS.items():
        wanted = (Wanted(CREATE, subject=subject),)
        writing.write(registry, Request(topic, "lkc", f"id-{topic}", None, wanted), Manner())


@cache
def filled() -> tuple[Path, int]:
    """The data of a registry that is filled, for copies of one's own: filling takes ten times as long; its commits."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with EmbeddedStore(folder / "data") as store:
        fill(Registry(store.catalog, store.bodies, FixedClock()))
        return folder / "data", store.journal.end()


def tokens() -> BearerTokens:
    """What accepts tokens of ISSUER, without a way to it."""
    rows = [
        {"when": {"sub": who.name}, "role": who.role, "delete": who.deletes}
        | ({"subjects": list(PREFIXES[who.reach])} if PREFIXES[who.reach] else {})
        for who in KEYS
    ]
    known, clock = issuers.read(json.dumps([ISSUER.setting(*rows)])), FixedClock()
    return BearerTokens(known, {ISSUER.url: Published(known[0], ISSUER, clock, AT_ONCE)}, clock, waits=False)


def managed_keys(folder: Path) -> EmbeddedKeys:
    keys = EmbeddedKeys(folder / "managed")
    keys.put(MANAGED.name, MANAGED.record())
    return keys


@contextmanager
def guarded(keys: EmbeddedKeys, secrets: Mapping[str, str], *, by_token: bool = False) -> Iterator[Guarded]:
    """by_token: everybody shows a token; keys are taken beside them."""
    data, commits = filled()
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedStore(shutil.copytree(data, Path(folder, "data"))) as store,
    ):
        registry = Registry(
            store.catalog, store.bodies, FixedClock(), secrets=store.secrets, recent_log=store.recent_log
        )
        authenticate: Authenticator = BasicKeys(keys, FixedClock())
        if by_token:
            authenticate = KeysAndTokens(authenticate, tokens())
        yield Guarded(registry, store, secrets, authenticate, commits, managed_keys(Path(folder)), by_token)


# --- doors -----------------------------------------------------------------------------------------------------------

Ask = Callable[..., Reply]
"""who, method, target, body=None → Reply."""


@dataclass
class Local:
    """The application of `sigla serve`, with its writing thread."""

    world: Guarded
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def __call__(self, who: str, method: str, target: str, body: Any = None) -> Reply:
        content = b"" if body is None else json.dumps(body).encode()
        sent = self.client.send(method, target, [content], self.world.authorization(who))
        told = self.loop.run_until_complete(sent)
        return Reply(told.status, told.headers, json.loads(told.body) if told.body else None)

    def __enter__(self) -> Self:
        options = app.HttpOptions(authenticate=self.world.authenticate, keys=self.world.managed)
        application = server.application(
            self.world.registry, group=self.world.store.group, step=self.world.store.step, options=options
        )
        self.client = Client(application)
        self.life = application.router.lifespan_context(application)
        self.loop.run_until_complete(self.life.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.run_until_complete(self.life.__aexit__(None, None, None))
        self.loop.close()


@dataclass
class Aws:
    """A door of AWS: `rest` or `function_url`, whose events the handler gets."""

    world: Guarded
    event: Callable[..., dict[str, Any]]

    def __enter__(self) -> Self:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)  # Mangum takes the thread's own, and leaves it open
        options = replace(gateway.OPTIONS, authenticate=self.world.authenticate, keys=self.world.managed)
        self.handler = gateway.handler(self.world.registry, options=options)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.close()
        asyncio.set_event_loop(None)

    def __call__(self, who: str, method: str, target: str, body: Any = None) -> Reply:
        path, _, query = target.partition("?")
        text, headers = None if body is None else json.dumps(body), self.world.authorization(who)
        if self.event is rest:
            pairs = [pair.partition("=") for pair in query.split("&") if pair]
            asked = {name: [value] for name, _, value in pairs} or None
            event = rest(method, path, asked, text, multiValueHeaders={name: [one] for name, one in headers.items()})
        else:
            event = function_url(method, path, query, text, headers=headers)
        told = self.handler(event, None)  # type: ignore[arg-type]  # the doors do not look at the context
        sent = told.get("headers") or {name: one[0] for name, one in told["multiValueHeaders"].items()}
        return Reply(told["statusCode"], sent, json.loads(told["body"]) if told["body"] else None)


DOORS: Mapping[str, Callable[[Guarded], Any]] = {
    "local": Local,
    "rest": lambda world: Aws(world, rest),
    "function-url": lambda world: Aws(world, function_url),
}


class Unchanged:
    """A filled world behind a door: the same one until a request has changed it, then another."""

    def __init__(
        self, keys: tuple[EmbeddedKeys, Mapping[str, str]], door: Callable[[Guarded], Any], *, by_token: bool = False
    ) -> None:
        self._by_token = by_token
        self._keys = keys
        self._door = door
        self._opened = ExitStack()
        self._world: tuple[Guarded, Ask] | None = None

    def __call__(self) -> tuple[Guarded, Ask]:
        if self._world and self._world[0].is_changed:
            self.close()
        if not self._world:
            world = self._opened.enter_context(guarded(*self._keys, by_token=self._by_token))
            self._world = world, self._opened.enter_context(self._door(world))
        return self._world

    def close(self) -> None:
        self._world = None
        self._opened.close()
