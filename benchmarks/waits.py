"""How long a registration waits while others compute: eight compatibility checks with bad patterns, whose clients stay.

Beside it stands the same registration while no request computes. The event loop's longest hold is the longest answer of
`GET /health/live`, which is made on the loop and asked for again and again. At the end SIGTERM comes in the middle of
eight more checks.

It may mislead: client and server share the machine, so on few cores a wait is also the client's own.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from statistics import median

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, Server, ask, get, main, serving, sigla

CHECKS = 8
PATTERNS = 150
"""As many patterns meet as many names: 22,500 searches, each of which goes back and forth."""
SUBJECT = "patterns"


def lines(*, quick: bool = False) -> Lines:
    size = 10 if quick else PATTERNS
    seconds = 1.0 if quick else 10.0
    with filled.workspace() as path, serving(sigla("--data", str(path / "data")), SIGLA_LOG_REQUESTS="false") as server:
        prepare(server.port, size)
        numbers = count()
        quiet_wait, quiet_hold = _waits(server, numbers, 1.0), _holds(server, 1.0)
        with checking(server.port, size):
            holds: list[float] = []
            beside = threading.Thread(target=lambda: holds.extend(_holds(server, seconds)))
            beside.start()
            busy_wait = _waits(server, numbers, seconds)
            beside.join()
            begun = time.perf_counter()
            server.process.terminate()
            server.process.wait(120)
            ended = time.perf_counter() - begun
    against = "while no request computes"
    yield Line(f"registration, {CHECKS} checks computing: median", median(busy_wait), "s", median(quiet_wait), against)
    longest = max(busy_wait)
    yield Line(
        f"registration, {CHECKS} checks computing: longest", longest, "s", max(quiet_wait), against, Goal(1, "s")
    )
    yield Line("longest hold of the event loop", max(holds), "s", max(quiet_hold), against, Goal(0.1, "s"))
    yield Line(f"from SIGTERM to the end, {CHECKS} checks computing", ended, "s", goal=Goal(30, "s"))


def prepare(port: int, size: int = PATTERNS) -> None:
    """Registers what the checks are made against. Raises RuntimeError."""
    names = {f"{'a' * 12}{number}": {"type": "string"} for number in range(size)}
    offered = json.dumps({"schemaType": "JSON", "schema": json.dumps({"type": "object", "properties": names})})
    answered = ask(port, "POST", f"/subjects/{SUBJECT}/versions", offered.encode())
    if answered.status != 200:
        raise RuntimeError(f"the subject of the checks was refused: {answered.body.decode()}")


def check_of(size: int = PATTERNS) -> bytes:
    """The body of a check that takes seconds: patterns that go back and forth over every name, and are never found."""
    patterns = {f"^(a|aa|b{number})+$": {"type": "string"} for number in range(size)}
    return json.dumps(
        {"schemaType": "JSON", "schema": json.dumps({"type": "object", "patternProperties": patterns})}
    ).encode()


@contextmanager
def checking(port: int, size: int = PATTERNS) -> Iterator[list[tuple[int, float]]]:
    """Eight clients that each have one check on its way at a time, until the server ends or refuses to answer.

    Yields status and seconds of every check that was answered.
    """
    body, ends = check_of(size), threading.Event()
    answered: list[tuple[int, float]] = []

    def client() -> None:
        while not ends.is_set():
            begun = time.perf_counter()
            try:
                status = ask(port, "POST", f"/compatibility/subjects/{SUBJECT}/versions/latest", body).status
            except OSError:
                return
            answered.append((status, time.perf_counter() - begun))

    clients = [threading.Thread(target=client, daemon=True) for _ in range(CHECKS)]
    for each in clients:
        each.start()
    time.sleep(0.5)
    try:
        yield answered
    finally:
        ends.set()


def _waits(server: Server, numbers: Iterator[int], seconds: float) -> list[float]:
    """How long each of some registrations took, one after the other."""

    def register() -> None:
        number = next(numbers)
        path = f"/subjects/{filled.subject(number).name}/versions"
        answered = ask(server.port, "POST", path, json.dumps({"schema": filled.text(number)}).encode())
        if answered.status != 200:
            raise RuntimeError(f"a registration was refused: {answered.body.decode()}")

    return _timed(register, seconds, pause_s=0.05)


def _holds(server: Server, seconds: float) -> list[float]:
    return _timed(lambda: get(server.port, "/health/live"), seconds, pause_s=0.005)


def _timed(work: Callable[[], object], seconds: float, *, pause_s: float) -> list[float]:
    figures = []
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        begun = time.perf_counter()
        work()
        figures.append(time.perf_counter() - begun)
        time.sleep(pause_s)
    return figures


if __name__ == "__main__":
    main(lines, __doc__)
