"""Whether the time of a refusal tells which keys there are: a wrong secret of a known name beside an unknown name.

Both come in a random order to the application of `sigla serve`, whose keys are in a directory: without a network and
without a client, which would hide more than they show. Slow ones are left out, a twentieth of each kind: the machine
was at something else. The difference of the means is told in standard errors; of two equal things it is beyond 3.3 once
in a thousand runs.

It may mislead: what wrong secrets wait for each other (`auth/guesses.py`) is switched off, and is the same for both.
"""

import asyncio
import base64
import gc
import math
import random
import time
from pathlib import Path
from statistics import fmean, median, variance
from typing import Any

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, main
from sigla.auth import api_keys, rotation
from sigla.auth.credentials import SETTLED_MS, BasicKeys
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app

SAMPLES = 10_000
KINDS = {"known": "orders", "rotated": "ordert", "unknown": "orderz"}


def lines(*, quick: bool = False) -> Lines:
    samples = 100 if quick else SAMPLES
    with filled.workspace() as path, EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        application = app.build(registry, options=app.HttpOptions(authenticate=BasicKeys(keys(path), SystemClock())))
        took = asyncio.run(measured(application, samples))
    unknown = took["unknown"]
    for kind, what in (("known", "a wrong secret"), ("rotated", "a wrong secret of a key that is being rotated")):
        yield Line(f"refusal of {what}", median(took[kind]), "s", median(unknown), "a name without a key")
        error = standard_errors(took[kind], unknown)
        yield Line(
            f"  their difference, {samples:,} of each", error, "standard errors", goal=Goal(3.3, "standard errors")
        )


def keys(path: Path) -> EmbeddedKeys:
    made = EmbeddedKeys(path)
    now = SystemClock().now()
    for name in (KINDS["known"], KINDS["rotated"]):
        api_keys.create(made, name, "reader", (), now=now)
    rotation.rotate(made, KINDS["rotated"], now=now, lasts_ms=3_600_000)
    return made


async def measured(application: Any, samples: int) -> dict[str, list[float]]:
    """Seconds of each kind, the slowest left out."""
    drawn = random.Random(1)
    begun = time.monotonic()
    while time.monotonic() - begun < SETTLED_MS / 1000 + 0.5:  # what was read before is not believed later on
        for name in KINDS.values():
            await refused(application, name, drawn)
    order = [kind for kind in KINDS for _ in range(samples)]
    drawn.shuffle(order)
    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    gc.disable()
    try:
        for kind in order:
            took[kind].append(await refused(application, KINDS[kind], drawn))
    finally:
        gc.enable()
    return {kind: sorted(each)[: samples * 19 // 20] for kind, each in took.items()}


async def refused(application: Any, name: str, drawn: random.Random) -> float:
    said = base64.b64encode(f"{name}:{drawn.randbytes(32).hex()}".encode())
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/subjects",
        "raw_path": b"/subjects",
        "query_string": b"",
        "headers": [(b"authorization", b"Basic " + said)],
    }
    status = 0

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    begun = time.perf_counter()
    await application(scope, receive, send)
    took = time.perf_counter() - begun
    if status != 401:
        raise RuntimeError(f"a guess was answered {status}")
    return took


def standard_errors(one: list[float], other: list[float]) -> float:
    """By how many of them the means differ (Welch)."""
    error = math.sqrt(variance(one) / len(one) + variance(other) / len(other))
    return abs(fmean(one) - fmean(other)) / error


if __name__ == "__main__":
    main(lines, __doc__)
