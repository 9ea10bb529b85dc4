"""A registry that follows another one: how long it takes to begin, to catch up, and what its reads cost.

The primary has 20,000 schemas. A follower begins with a copy of all, and then misses 1,000 registrations. Reads by id
are asked of both in turns, on connections that stay open, and counted as CPU of the process that answers.

How far behind it is: from the answer to a registration at the primary until the follower answers it by itself, while
another client registers there, one after the other. All of it shares this machine, without a network between.
"""

import http.client
import json
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count, islice
from statistics import quantiles
from threading import Event, Thread
from typing import Final

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, Server, ask, best_of, get, main, serving, sigla
from sigla.model import Draft, Subject

SCHEMAS, FEW = 20_000, 400
MISSED, FEW_MISSED = 1_000, 40
TOLD, FEW_TOLD = 500, 20
LAG_GOAL_S: Final = 10
READS: Final = 2_000
ROUNDS: Final = 3
LOOK_S: Final = 0.005


def lines(*, quick: bool) -> Lines:
    schemas, missed, told, rounds = (FEW, FEW_MISSED, FEW_TOLD, 1) if quick else (SCHEMAS, MISSED, TOLD, ROUNDS)
    with filled.workspace() as folder:
        data = filled.copy_of(schemas, folder)
        with serving(sigla("--data", str(data))) as plain:
            alone_s = plain.first_answer
        with serving(sigla("--data", str(data))) as primary:
            words = ("--follow", f"http://127.0.0.1:{primary.port}", "--data", str(folder / "follower"))
            with serving(sigla(*words)) as follower:
                yield Line(
                    f"a follower of {schemas:,} schemas, from its start to its first answer",
                    follower.first_answer,
                    "s",
                    alone_s,
                    "the same registry, which has its data",
                )
                costs = best_of(rounds, _reads(primary), _reads(follower))
                yield Line("a read by id at a follower, CPU", costs[1], "s", costs[0], "at its primary", Goal(1.3))
                yield from _lag(primary, follower, told)
            _register(primary, missed)
            yield _caught_up(words, primary, missed)


def _caught_up(words: tuple[str, ...], primary: Server, missed: int) -> Line:
    wanted = _subjects(primary)
    begun = time.perf_counter()
    with serving(sigla(*words)) as follower:
        up = time.perf_counter()
        while not _behind(follower) or _subjects(follower) != wanted:
            time.sleep(LOOK_S)
        took = time.perf_counter() - up
    what = f"{missed:,} registrations that it has missed, until it has them, after its start of {up - begun:.1f} s"
    return Line(what, took, "s")


def _lag(primary: Server, follower: Server, told: int) -> Lines:
    over, made = Event(), list[int]()

    def write() -> None:
        for number in count(700_000):
            if over.is_set():
                return
            _register_one(primary, filled.subject(number), Draft(filled.text(number)))
            made.append(number)

    writer = Thread(target=write)
    writer.start()
    try:
        lags = [_lag_of(primary, follower, number) for number in range(800_000, 800_000 + told)]
    finally:
        over.set()
        writer.join()
    found = quantiles(lags, n=100, method="inclusive")
    what = "from the primary's answer until the follower has it"
    yield Line(f"{what}, median", found[49], "s", against=f"while another client has registered {len(made):,} schemas")
    yield Line(f"{what}, p99", found[98], "s", goal=Goal(LAG_GOAL_S, "s"))


def _lag_of(primary: Server, follower: Server, number: int) -> float:
    subject = filled.subject(number)
    _register_one(primary, subject, Draft(filled.text(number)))
    begun = time.perf_counter()
    with closing(http.client.HTTPConnection("127.0.0.1", follower.port)) as connection:
        while True:
            connection.request("GET", f"/subjects/{subject.qualified}/versions")
            answer = connection.getresponse()
            answer.read()
            if answer.getheader("X-Sigla-Behind") is not None:  # else the primary was asked
                return time.perf_counter() - begun
            time.sleep(LOOK_S)


def _register(primary: Server, number: int) -> None:
    for subject, draft in islice(filled.fresh(), number):
        _register_one(primary, subject, draft)


def _register_one(primary: Server, subject: Subject, draft: Draft) -> None:
    body = json.dumps({"schema": draft.text}).encode()
    answered = ask(primary.port, "POST", f"/subjects/{subject.qualified}/versions", body)
    if answered.status != 200:
        raise RuntimeError(answered.body.decode())


def _subjects(server: Server) -> int:
    return len(json.loads(get(server.port, "/subjects").body))


def _behind(server: Server) -> bool:
    """Whether it has heard from its primary."""
    return b"sigla_region_behind_seconds" in get(server.port, "/metrics").body


def _reads(server: Server) -> Callable[[], float]:
    """A work: CPU seconds of the server for each read."""

    def work() -> float:
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
            before = server.cpu()
            for number in range(READS):
                connection.request("GET", f"/schemas/ids/{number % 300 + 1}")
                answer = connection.getresponse()
                if answer.status != 200:
                    raise RuntimeError(f"status {answer.status}")
                answer.read()
            return (server.cpu() - before) / READS

    return work


if __name__ == "__main__":
    main(lines, __doc__)
