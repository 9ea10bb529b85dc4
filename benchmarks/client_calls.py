"""Processor time that `sigla serve` spends on the calls that clients make all day, by its own process's account.

A consumer asks what an id means, and its deserializer names the subject, too. A producer registers at each start what
is registered already, and a build checks a new schema. One server answers them all, as
installed, from 1,000 schemas of 500 characters, each in its turn; beside it stands a bare Starlette application that
reads the same requests and returns constants. Then ids that were never read before, among 1,000 and among 100,000.

It may mislead: the client asks on this machine and never waits, so no time goes into TLS or slow networks.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from random import Random

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, Server, best_of, get, main, serving, sigla
from benchmarks.load import getting, load, posting

CONNECTIONS = 8
BY_ID = "GET by id"
FIRST_READS = 50


def lines(*, quick: bool = False) -> Lines:
    rounds, schemas = (1, 20) if quick else (20, 1_000)
    sizes = (20, 30) if quick else (1_000, 100_000)
    with filled.workspace() as path:
        yield from _calls(rounds, schemas, path / "calls")
        yield from _first_reads(rounds, sizes, path / "reads")


def _calls(rounds: int, schemas: int, path: Path) -> Lines:
    with ExitStack() as opened:
        ours = opened.enter_context(serving(sigla("--data", str(filled.copy_of(schemas, path)))))
        answer = get(ours.port, "/schemas/ids/1").body
        command = [sys.executable, "-m", "benchmarks.bare", "starlette", "--port", "{port}", "--size", str(len(answer))]
        bare = opened.enter_context(serving(command))
        ids = list(range(1, schemas + 1))
        Random(0).shuffle(ids)
        texts = {number: str(json.loads(get(ours.port, f"/schemas/ids/{number}").body)["schema"]) for number in ids}
        goals = {BY_ID: None, **{what: goal for what, goal, _ in CALLS}}
        asked = {BY_ID: _by_id(ids), **{what: make(ids, texts) for what, _, make in CALLS}}
        read, posted = _by_id(ids), _checks(ids, texts)
        works = [_asking(ours, requests, schemas) for requests in asked.values()]
        *figures, least, taken = best_of(rounds, *works, _asking(bare, read, schemas), _asking(bare, posted, schemas))
    by_id = figures[0]
    for what, figure in zip(asked, figures, strict=True):
        if what == BY_ID:
            yield Line(what, figure, "s", least, "bare Starlette")
            continue
        yield Line(what, figure, "s", by_id, BY_ID, goals[what])
        alone = (least, "bare Starlette") if what.startswith("GET") else (taken, "bare Starlette, reading it")
        yield Line(what, figure, "s", *alone)


Requests = Iterator[str]


def _by_id(ids: Sequence[int]) -> Requests:
    return _again(getting(f"/schemas/ids/{number}") for number in ids)


def _by_id_and_subject(ids: Sequence[int], _: dict[int, str]) -> Requests:
    return _again(getting(f"/schemas/ids/{number}?fetchMaxId=false&subject={_subject(number)}") for number in ids)


def _known(ids: Sequence[int], texts: dict[int, str]) -> Requests:
    return _again(_posting(f"/subjects/{_subject(number)}/versions", texts[number]) for number in ids)


def _lookups(ids: Sequence[int], texts: dict[int, str]) -> Requests:
    return _again(_posting(f"/subjects/{_subject(number)}", texts[number]) for number in ids)


def _checks(ids: Sequence[int], texts: dict[int, str]) -> Requests:
    return _again(_posting(_checking(number), texts[number]) for number in ids)


def _new_checks(ids: Sequence[int], _: dict[int, str]) -> Requests:
    """Each text is another one, with one more optional field."""
    for round_ in count(1_000):
        for number in ids:
            yield _posting(_checking(number), filled.text(_owner(number), round_))


CALLS: tuple[tuple[str, Goal | None, Callable[[Sequence[int], dict[int, str]], Requests]], ...] = (
    ("GET by id and subject", Goal(1.15), _by_id_and_subject),
    ("POST of a known schema", Goal(2), _known),
    ("POST of a lookup", None, _lookups),
    ("POST of a check, of a text that was seen before", Goal(3), _checks),
    ("POST of a check, of a new text", Goal(3), _new_checks),
)


def _owner(number: int) -> int:
    return (number - 1) // filled.VERSIONS


def _subject(number: int) -> str:
    return filled.subject(_owner(number)).name


def _checking(number: int) -> str:
    return f"/compatibility/subjects/{_subject(number)}/versions/latest"


def _posting(path: str, text: str) -> str:
    return posting(path, json.dumps({"schema": text}))


def _again(requests: Iterator[str]) -> Requests:
    """The same requests for ever."""
    every = list(requests)
    while True:
        yield from every


def _asking(server: Server, requests: Requests, number: int) -> Callable[[], float]:
    """A work that yields the processor time of a request; as many were made before the first one that counts."""

    def work() -> float:
        asked = list(islice(requests, number))
        begun = server.cpu()
        load(server.port, asked, connections=CONNECTIONS)
        return (server.cpu() - begun) / number

    work()
    return work


def _first_reads(rounds: int, sizes: tuple[int, int], path: Path) -> Lines:
    with ExitStack() as opened:

        def reading(schemas: int) -> Callable[[], float]:
            data = filled.copy_of(schemas, path)
            server = opened.enter_context(serving(sigla("--data", str(data)), SIGLA_MEMORY_SECONDS="86400"))
            reads = min(FIRST_READS, schemas // (rounds + 1))
            ids = Random(schemas).sample(range(1, schemas + 1), reads * (rounds + 1))
            for place in data.rglob("*.json"):  # what the system has to fetch from the disk first is not ours
                place.read_bytes()
            return _asking(server, (getting(f"/schemas/ids/{number}") for number in ids), reads)

        few, many = best_of(rounds, *map(reading, sizes))
    yield Line(f"first read by id, among {sizes[0]:,}", few, "s")
    yield Line(f"first read by id, among {sizes[1]:,}", many, "s", few, f"among {sizes[0]:,}", Goal(1.2))


if __name__ == "__main__":
    main(lines, __doc__)
