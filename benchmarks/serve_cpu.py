"""Processor time that `sigla serve` spends on one warm `GET /schemas/ids/{id}`, by its own process's account.

Beside it stands a bare Starlette application that returns a constant of the same size from the same server with the
same settings (uvicorn, httptools, uvloop). The servers run side by side and are asked in turns, by a client in a
process of its own with eight kept-alive connections. Once as installed, with a log line for each request, and once
without.

It may mislead: the client asks on this machine and waits for nobody, so no time goes into TLS or slow networks.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice
from random import Random

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, Server, get, in_turns, main, serving, sigla
from benchmarks.load import getting, load

ROUNDS = 10
CONNECTIONS = 8
GOAL = Goal(1.4)


def lines(*, quick: bool = False) -> Lines:
    requests, schemas = (200, 50) if quick else (20_000, 1_000)
    one, many = [1], list(range(1, schemas + 1))
    Random(0).shuffle(many)
    with filled.workspace() as path, ExitStack() as opened:
        serve = sigla("--data", str(filled.copy_of(schemas, path)))
        loud = opened.enter_context(serving(serve))
        size = len(get(loud.port, "/schemas/ids/1").body)
        bare = opened.enter_context(serving([*_bare("starlette"), "--size", str(size)]))
        fast = opened.enter_context(serving([*_bare("fastapi"), "--size", str(size)]))
        servers = ((loud, one), (loud, many), (bare, many), (fast, many))
        as_installed = _per_request(requests, [_asking(server, ids) for server, ids in servers])
    with filled.workspace() as path, ExitStack() as opened:
        serve = sigla("--data", str(filled.copy_of(schemas, path)))
        quiet = opened.enter_context(serving(serve, SIGLA_LOG_REQUESTS="false"))
        bare = opened.enter_context(serving([*_bare("starlette"), "--size", str(size)]))
        without_log = _per_request(requests, [_asking(quiet, one), _asking(quiet, many), _asking(bare, many)])
    for name, figures in (("as installed", as_installed), ("no log line", without_log)):
        yield Line(f"GET by id, {name}, one id", figures[0], "s", figures[2], "bare Starlette", GOAL)
        yield Line(f"GET by id, {name}, {schemas:,} ids", figures[1], "s", figures[2], "bare Starlette", GOAL)
    yield Line("bare FastAPI", as_installed[3], "s", as_installed[2], "bare Starlette")


def _bare(app: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.bare", app, "--port", "{port}"]


def _asking(server: Server, ids: Sequence[int]) -> Callable[[int], float]:
    """A work that yields the processor time of so many requests; the ids take turns, and all were asked for before."""
    load(server.port, [getting(f"/schemas/ids/{number}") for number in ids], connections=CONNECTIONS)
    taken = cycle(ids)

    def work(requests: int) -> float:
        asked = [getting(f"/schemas/ids/{number}") for number in islice(taken, requests)]
        begun = server.cpu()
        load(server.port, asked, connections=CONNECTIONS)
        return server.cpu() - begun

    return work


def _per_request(requests: int, works: Sequence[Callable[[int], float]]) -> list[float]:
    """Seconds per request over all rounds of each work."""
    share = requests // ROUNDS
    figures = in_turns(ROUNDS, *[partial(work, share) for work in works])
    return [sum(seconds) / (share * ROUNDS) for seconds in figures]


if __name__ == "__main__":
    main(lines, __doc__)
