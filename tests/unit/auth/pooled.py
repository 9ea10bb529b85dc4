"""Two registries behind the doors that one has: `a`, which is asked, and `b`, whose principals and data are others'."""

import asyncio
import base64
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from sigla.auth.credentials import BasicKeys
from sigla.auth.tokens import issuers
from sigla.auth.tokens.bearer import BearerTokens, KeysAndTokens
from sigla.auth.tokens.published import AT_ONCE, Published
from sigla.registry import Registry
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app, gateway, registries
from sigla.web.local.several import Served, Several
from tests.build import FixedClock
from tests.unit.auth.guarded import ISSUER, KEYS, PREFIXES, Guarded, Reply, guarded, managed_keys, prepared
from tests.unit.web.conftest import Client
from tests.unit.web.test_gateway import function_url, rest
from tests.unit.web.test_permissions import Row

HOSTS = registries.read(["a=a.example", "b=b.example"])


def rows_of_the_map() -> list[dict[str, Any]]:
    """What is good for a is the token of a principal's name; what is good for b, or for both, has it in its name."""
    rows: list[dict[str, Any]] = []
    for who in KEYS:
        good_for = {"role": who.role, "delete": who.deletes}
        if PREFIXES[who.reach]:
            good_for["subjects"] = list(PREFIXES[who.reach])
        for name, of in ((who.name, "a"), (f"{who.name} in b", "b"), (f"{who.name} in both", ["a", "b"])):
            rows.append({"when": {"sub": name}, "registry": of, **good_for})
    return rows


def tokens() -> BearerTokens:
    known, clock = issuers.read(json.dumps([ISSUER.setting(*rows_of_the_map())])), FixedClock()
    return BearerTokens(known, {ISSUER.url: Published(known[0], ISSUER, clock, AT_ONCE)}, clock, waits=False)


@dataclass
class Pool:
    """a: filled as `guarded` fills it. Its neighbour is empty. keys: of either, by name."""

    a: Guarded
    b: EmbeddedStore
    keys: Mapping[str, EmbeddedKeys]
    secrets: Mapping[str, Mapping[str, str]]
    tokens: BearerTokens = field(default_factory=tokens)

    @property
    def served(self) -> Mapping[str, Registry]:
        return {
            "a": self.a.registry,
            "b": Registry(self.b.catalog, self.b.bodies, FixedClock(), secrets=self.b.secrets),
        }

    @property
    def stores(self) -> Mapping[str, EmbeddedStore]:
        return {"a": self.a.store, "b": self.b}

    def authenticate(self, name: str) -> registries.OfRegistry:
        own = BasicKeys(self.keys[name], FixedClock())
        return registries.OfRegistry(name, KeysAndTokens(own, self.tokens.of(name)))

    @property
    def choice(self) -> registries.Choice:
        return registries.Choice(HOSTS, tuple(self.tokens._issuers.values()))

    @property
    def unchosen(self) -> registries.Unchosen:
        return registries.Unchosen(self.authenticate("a"), self.tokens)

    def basic(self, who: str, of: str, asked: str = "") -> dict[str, str]:
        return basic(self.secrets, who, of, asked)

    @property
    def is_changed(self) -> tuple[bool, bool]:
        return self.a.is_changed, bool(list(self.b.journal.read()))

    def managed(self, name: str) -> EmbeddedKeys | None:
        """The keys that requests may change: those of a alone."""
        return self.a.managed if name == "a" else None

    def target(self, row: Row) -> str:
        return prepared(self.a, row.target)

    def bearer(self, who: str) -> dict[str, str]:
        return {"authorization": "Bearer " + ISSUER.token("ec", sub=who)}


def basic(secrets: Mapping[str, Mapping[str, str]], who: str, of: str, asked: str = "") -> dict[str, str]:
    """The credentials of a principal. of: whose key it is. asked: the registry behind the user; empty: none."""
    said = f"{who}{asked and f'@{asked}'}:{secrets[of].get(who, 'guessed')}"
    return {"authorization": "Basic " + base64.b64encode(said.encode()).decode()}


@contextmanager
def bare(keys: EmbeddedKeys, secrets: Mapping[str, str]) -> Iterator[Guarded]:
    """As `guarded`, without anything in it."""
    with EmbeddedStore() as store, tempfile.TemporaryDirectory() as folder:
        registry = Registry(store.catalog, store.bodies, FixedClock(), secrets=store.secrets)
        yield Guarded(registry, store, secrets, BasicKeys(keys, FixedClock()), 0, managed_keys(Path(folder)))


@contextmanager
def pool(keys: Mapping[str, tuple[EmbeddedKeys, Mapping[str, str]]], *, filled: bool = True) -> Iterator[Pool]:
    """filled: whether a has anything."""
    with (guarded if filled else bare)(*keys["a"]) as a, EmbeddedStore() as b:
        yield Pool(
            a, b, {name: kept for name, (kept, _) in keys.items()}, {name: own for name, (_, own) in keys.items()}
        )


Ask = Callable[..., Reply]
"""method, target, headers, body=None → Reply."""


@dataclass
class Local:
    """The application of `sigla serve --registry a --registry b`."""

    world: Pool
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def __enter__(self) -> Self:
        world = self.world
        served = [
            Served(
                name,
                registry,
                app.HttpOptions(authenticate=world.authenticate(name), keys=world.managed(name)),
                group=world.stores[name].group,
                step=world.stores[name].step,
                stored=world.stores[name].count,
            )
            for name, registry in world.served.items()
        ]
        self.made = Several(served, world.choice, app.HttpOptions(authenticate=world.unchosen), is_open=False)
        self.client = Client(self.made.application)
        self.life = self.made.application.router.lifespan_context(self.made.application)
        self.loop.run_until_complete(self.life.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.run_until_complete(self.life.__aexit__(None, None, None))
        self.made.close()
        self.loop.close()

    def __call__(self, method: str, target: str, headers: Mapping[str, str], body: Any = None) -> Reply:
        content = b"" if body is None else json.dumps(body).encode()
        told = self.loop.run_until_complete(self.client.send(method, target, [content], headers))
        return Reply(told.status, told.headers, json.loads(told.body) if told.body.startswith((b"{", b"[")) else None)


@dataclass
class Aws:
    """What chooses, behind a door of AWS: `rest` or `function_url`, whose events say host and credentials otherwise."""

    world: Pool
    event: Callable[..., dict[str, Any]]

    def __enter__(self) -> Self:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)  # Mangum takes the thread's own, and leaves it open
        world = self.world

        def options(authenticate: Any, name: str = "") -> app.HttpOptions:
            return replace(gateway.OPTIONS, authenticate=authenticate, keys=world.managed(name))

        tables = {
            name: app.RouteTable(registry, None, options(world.authenticate(name), name))
            for name, registry in world.served.items()
        }
        unchosen = options(world.unchosen)
        nowhere = app.RouteTable(world.a.registry, None, unchosen)
        by_registry = registries.ByRegistry(world.choice, tables.__getitem__, nowhere)
        self.handler = gateway.handler_of(app.Application(by_registry, unchosen, [], None))
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.close()
        asyncio.set_event_loop(None)

    def __call__(self, method: str, target: str, headers: Mapping[str, str], body: Any = None) -> Reply:
        return ask_by_event(self.handler, self.event, method, target, headers=headers, body=body)


def ask_by_event(
    handler: Callable[..., dict[str, Any]],
    event: Callable[..., dict[str, Any]],
    method: str,
    target: str,
    *,
    headers: Mapping[str, str],
    body: Any,
) -> Reply:
    """What a function answers. event: makes those of a door, `rest` or `function_url`."""
    path, _, query = target.partition("?")
    text = None if body is None else json.dumps(body)
    if event is rest:
        pairs = [pair.partition("=") for pair in query.split("&") if pair]
        asked = {name: [value] for name, _, value in pairs} or None
        said = rest(method, path, asked, text, multiValueHeaders={name: [one] for name, one in headers.items()})
    else:
        said = function_url(method, path, query, text, headers=dict(headers))
    told = handler(said, None)
    sent = told.get("headers") or {name: one[0] for name, one in told["multiValueHeaders"].items()}
    return Reply(told["statusCode"], sent, json.loads(told["body"]) if told["body"] else None)


DOORS: Mapping[str, Callable[[Pool], Any]] = {
    "local": Local,
    "rest": lambda world: Aws(world, rest),
    "function-url": lambda world: Aws(world, function_url),
}
