"""Whether the time of a refusal tells which keys, and which registries, there are.

Two names come in each round, in a random order, with wrong secrets: to the application of `sigla serve --registry`,
without a network and without a client, which would hide more than they show; then to the server, by HTTP, as a caller
does. How long a name takes has to do with its bytes, too: so each hundred rounds have another two, used once, and
what is judged is the mean of the hundreds' differences, each without a tenth at either end, in standard errors. For two
equal things it is beyond 3.3 once in a thousand runs. Controls are pairs of equal things.

Registries have no goal inside: some tens of nanoseconds are between a table of routes that is chosen and none.

It may mislead: what wrong secrets wait for each other (`auth/guesses.py`) is switched off, and is the same for both.
"""

import asyncio
import base64
import gc
import http.client
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean, median, stdev

from starlette.types import ASGIApp, Message

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, main, serving, shown
from sigla.auth import api_keys, rotation
from sigla.auth.credentials import SETTLED_MS, Authenticator, BasicKeys
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app, registries

BLOCKS = 100
ROUNDS = 100
REGISTRIES = ("payments", "adverts")
KINDS = ("known", "other known", "rotated", "unknown", "other unknown", "elsewhere", "other elsewhere")
WITH_A_KEY = KINDS[:3]
PAIRS = (
    ("a wrong secret", "known", "unknown", "a name without a key"),
    ("a wrong secret while its key is rotated", "rotated", "unknown", "a name without a key"),
    ("a wrong secret", "known", "elsewhere", "a registry that is not there"),
    ("control: a known name", "known", "other known", "another known name"),
    ("control: an unknown name", "unknown", "other unknown", "another unknown name"),
    ("control: an unknown registry", "elsewhere", "other elsewhere", "another unknown registry"),
)
ERRORS = "standard errors"
LEFT_OUT = 0.1
"""At either end."""

SERVE = "import sys; from sigla.auth import guesses; guesses.FREE = 10**9; from sigla.cli import main; sys.exit(main())"

Names = dict[str, list[str]]
Refuse = Callable[[bytes], float]
"""Seconds until credentials are refused."""


def lines(*, quick: bool = False) -> Lines:
    blocks = 2 if quick else BLOCKS
    with filled.workspace() as path:
        names = drawn_names(random.Random(2))
        make_keys(EmbeddedKeys(path / REGISTRIES[0]), names)
        with EmbeddedStore() as store, asyncio.Runner() as runner:
            registry = Registry(store.catalog, store.bodies, SystemClock())
            yield from told(
                inside(runner, pooled(path, registry)), names, blocks, "inside", lambda other: "elsewhere" not in other
            )
        options = [part for name in REGISTRIES for part in ("--registry", name)]
        command = [sys.executable, "-c", SERVE, "serve", "--port", "{port}", "--data", str(path), "--auth", *options]
        with (
            serving(command, ready="/health", SIGLA_LOG_REQUESTS="false") as server,
            closing(http.client.HTTPConnection("127.0.0.1", server.port)) as client,
        ):
            yield from told(partial(asked, client), names, blocks, "by HTTP", lambda _: True)


def drawn_names(drawn: random.Random) -> Names:
    """Users of each kind, each with the registry that it names."""
    users = [drawn.randbytes(4).hex() for _ in range(BLOCKS * len(KINDS))]
    here = {kind: users[at :: len(KINDS)] for at, kind in enumerate(KINDS[:-2])}
    names = {kind: [f"{user}@{REGISTRIES[0]}" for user in each] for kind, each in here.items()}
    for kind in KINDS[-2:]:
        names[kind] = [f"{user}@{drawn.randbytes(4).hex()}" for user in here["known"]]
    return names


def make_keys(kept: EmbeddedKeys, names: Names) -> None:
    now = SystemClock().now()
    for kind in WITH_A_KEY:
        for name in names[kind]:
            user = name.partition("@")[0]
            api_keys.create(kept, user, "reader", (), now=now)
            if kind == "rotated":
                rotation.rotate(kept, user, now=now, lasts_ms=3_600_000)


def pooled(path: Path, registry: Registry) -> ASGIApp:
    """As `sigla serve --registry` puts it together."""
    callers = {
        name: registries.OfRegistry(name, BasicKeys(EmbeddedKeys(path / name), SystemClock())) for name in REGISTRIES
    }
    tables = {name: table(registry, caller) for name, caller in callers.items()}
    nowhere = table(registry, registries.Unchosen(callers[REGISTRIES[0]]))
    choice = registries.Choice(registries.read(REGISTRIES))
    return registries.ByRegistry(choice, tables.__getitem__, nowhere)


def table(registry: Registry, authenticate: Authenticator) -> app.RouteTable:
    return app.RouteTable(registry, None, app.HttpOptions(authenticate=authenticate))


def inside(runner: asyncio.Runner, application: ASGIApp) -> Refuse:
    def refuse(said: bytes) -> float:
        return runner.run(refused(application, said))

    return refuse


async def refused(application: ASGIApp, said: bytes) -> float:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/subjects",
        "raw_path": b"/subjects",
        "query_string": b"",
        "headers": [(b"authorization", said)],
    }
    status = 0

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    begun = time.perf_counter()
    await application(scope, receive, send)
    took = time.perf_counter() - begun
    check(status)
    return took


def asked(client: http.client.HTTPConnection, said: bytes) -> float:
    begun = time.perf_counter()
    client.request("GET", "/subjects", headers={"Authorization": said.decode()})
    answer = client.getresponse()
    answer.read()
    took = time.perf_counter() - begun
    check(answer.status)
    return took


def check(status: int) -> None:
    if status != 401:
        raise RuntimeError(f"A guess was answered {status}.")


def settle(refuse: Refuse, names: Names, drawn: random.Random) -> None:
    """What was read before is not believed later on."""
    begun = time.monotonic()
    while time.monotonic() - begun < SETTLED_MS / 1000 + 0.5:
        for name in chain.from_iterable(names.values()):
            refuse(guess(name, drawn))


def measured(refuse: Refuse, pair: Sequence[str], drawn: random.Random) -> tuple[list[float], list[float]]:
    """Seconds of each of the two, round by round."""
    took: tuple[list[float], list[float]] = ([], [])
    order = [0, 1]
    gc.disable()
    try:
        for _ in range(ROUNDS):
            drawn.shuffle(order)
            for which in order:
                took[which].append(refuse(guess(pair[which], drawn)))
    finally:
        gc.enable()
    return took


def guess(name: str, drawn: random.Random) -> bytes:
    return b"Basic " + base64.b64encode(f"{name}:{drawn.randbytes(32).hex()}".encode())


def told(refuse: Refuse, names: Names, blocks: int, where: str, bound: Callable[[str], bool]) -> Lines:
    """bound: whether a pair with this other one has to hold."""
    drawn = random.Random(1)
    settle(refuse, names, drawn)
    for what, one, other, against in PAIRS:
        pairs = list(zip(names[one], names[other], strict=True))[:blocks]
        took = [measured(refuse, pair, drawn) for pair in pairs]
        here, beside = (median(chain.from_iterable(each[at] for each in took)) for at in (0, 1))
        yield Line(f"{where}, {what}", here, "s", beside, against)
        differences = [difference(*each) for each in took]
        error = stdev(differences) / math.sqrt(blocks)
        goal = Goal(3.3, ERRORS) if bound(other) else None
        seen_from = shown(3.3 * error, "s")
        yield Line(
            f"  their difference; from {seen_from} on it is seen", abs(fmean(differences)) / error, ERRORS, goal=goal
        )


def difference(one: list[float], other: list[float]) -> float:
    """The mean of the differences in pairs, without those at either end."""
    found = sorted(a - b for a, b in zip(one, other, strict=True))
    cut = int(len(found) * LEFT_OUT)
    return fmean(found[cut : len(found) - cut])


if __name__ == "__main__":
    main(lines, __doc__)
