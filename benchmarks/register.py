"""Registrations of new schemas per second, each durable before it is answered, at 1, 8 and 32 clients.

`sigla serve --data` on a real disk, asked over HTTP. The goal is five times what the Java reference reaches on one core
of another machine (95, 110 and 119 per second: figures quoted, not measured here). Beside that stands the least that
durable registration can cost on this disk, measured in turns with it: a loop, without HTTP and without a schema, that
writes and syncs one file, links it into a directory, syncs that, and commits one row to SQLite with `synchronous=FULL`.

It may mislead: both sides are as fast as the disk syncs, which differs between machines by a factor of a hundred; and
several clients share one sync, which one alone cannot.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, in_turns, main, serving, sigla
from benchmarks.load import load, posting

CLIENTS = (1, 8, 32)
REFERENCE = {1: 95, 8: 110, 32: 119}
"""Registrations per second of the Java reference, quoted."""


def lines(*, quick: bool = False) -> Lines:
    rounds, each = (1, 20) if quick else (5, 300)
    with filled.workspace() as path, serving(sigla("--data", str(path / "data"))) as server:
        offered = _requests()
        bare = _Bare(path)

        def registered(clients: int) -> float:
            requests = list(islice(offered, each))
            return each / load(server.port, requests, connections=clients).seconds

        works = [partial(registered, clients) for clients in CLIENTS]
        *ours, least = map(median, in_turns(rounds, *works, lambda: bare.per_second(each)))
        bare.close()
        disk = filled.kind_of_disk(path)
    for clients, figure in zip(CLIENTS, ours, strict=True):
        what = f"registrations, {clients} client{'s' if clients > 1 else ''}, {disk}"
        goal = Goal(5, least=True)
        yield Line(what, figure, "/s", REFERENCE[clients], "Java reference, quoted", goal)
        yield Line(what, figure, "/s", least, "bare write, fsync, link, fsync, commit")


def _requests() -> Iterator[str]:
    for number in count():
        path = f"/subjects/{filled.subject(number).name}/versions"
        yield posting(path, json.dumps({"schema": filled.text(number)}))


class _Bare:
    """The durable work alone, as one thread can do it."""

    def __init__(self, path: Path) -> None:
        self._pending, self._places = path / "pending", path / "places"
        self._pending.mkdir()
        self._places.mkdir()
        self._database = sqlite3.connect(path / "bare.sqlite", isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute("CREATE TABLE version (number INTEGER PRIMARY KEY, subject TEXT)")
        self._numbers = count(1)

    def per_second(self, registrations: int) -> float:
        begun = time.perf_counter()
        for number in islice(self._numbers, registrations):
            self._register(number, filled.text(number).encode())
        return registrations / (time.perf_counter() - begun)

    def _register(self, number: int, content: bytes) -> None:
        pending = self._pending / str(number)
        with pending.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(pending, self._places / str(number))
        directory = os.open(self._places, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
        self._database.execute("INSERT INTO version VALUES (?, ?)", (number, f"orders-{number}-value"))
        pending.unlink()

    def close(self) -> None:
        self._database.close()


if __name__ == "__main__":
    main(lines, __doc__)
