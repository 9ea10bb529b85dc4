"""Processor time that `sigla serve` spends on one warm `GET /schemas/ids/{id}`, by its own process's account.

Beside it stands a bare Starlette application that returns a constant of the same size from the same server with the
same settings (uvicorn, httptools, uvloop). The servers run side by side and are asked in turns, by a client in a
process of its own with eight kept-alive connections: 20 rounds of 1,000 requests each, the best of which counts. Once
as installed, with a log line for each request, and once without.

It may mislead: the client asks on this machine and never waits, so no time goes into TLS or slow networks.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from random import Random

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, Server, best_of, get, main, serving, sigla
from benchmarks.load import getting, load

CONNECTIONS = 8
GOAL = Goal(1.4)


def lines(*, quick: bool = False) -> Lines:
    rounds, requests = (1, 20) if quick else (20, 1_000)
    one, many = [1], list(range(1, requests + 1))
    Random(0).shuffle(many)
    with filled.workspace() as path, ExitStack() as opened:

        def started(*command: str, **environment: str) -> Server:
            return opened.enter_context(serving(command, **environment))

        data = filled.copy_of(requests, path)
        quiet_data = filled.copy_of(requests, path / "quiet")
        loud = started(*sigla("--data", str(data)))
        quiet = started(*sigla("--data", str(quiet_data)), SIGLA_LOG_REQUESTS="false")
        size = str(len(get(loud.port, "/schemas/ids/1").body))
        bare = started(*_bare("starlette"), "--size", size)
        fast = started(*_bare("fastapi"), "--size", size)
        asked = ((loud, one), (loud, many), (quiet, one), (quiet, many), (bare, many), (fast, many))
        *ours, least, framework = best_of(rounds, *[_asking(server, ids, requests) for server, ids in asked])
    whats = [
        f"GET by id, {how}, {ids}" for how in ("as installed", "no log line") for ids in ("one id", f"{requests:,} ids")
    ]
    for what, figure in zip(whats, ours, strict=True):
        yield Line(what, figure, "s", least, "bare Starlette", GOAL)
    yield Line("bare FastAPI", framework, "s", least, "bare Starlette")


def _bare(app: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.bare", app, "--port", "{port}"]


def _asking(server: Server, ids: Sequence[int], requests: int) -> Callable[[], float]:
    """A work that yields the processor time of a request; the ids take turns, and all were asked for before."""
    load(server.port, [getting(f"/schemas/ids/{number}") for number in ids], connections=CONNECTIONS)
    asked = [getting(f"/schemas/ids/{number}") for number in islice(cycle(ids), requests)]

    def work() -> float:
        begun = server.cpu()
        load(server.port, asked, connections=CONNECTIONS)
        return (server.cpu() - begun) / requests

    return work


if __name__ == "__main__":
    main(lines, __doc__)
