"""What clients see while one release of `sigla serve` takes the place of another: docs/upgrade.md.

Confluent's clients write and read on a kept store of the first release, and do not try again by themselves. In one
measurement systemd keeps the socket (imitated, by the same protocol), in the other the port is closed meanwhile. Beside
them stands a start alone. The old release is that of the tag, where this clone has it; else the code that is here takes
its own place.

It may mislead: clients and server share the machine, and all clients one interpreter.
"""

from pathlib import Path
from time import perf_counter

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, main, median_of, serving, sigla
from tests.kept.stores import BASE, OLDEST, restore_directory
from tests.protocol.restarts import OURS, Machine, Seen, released, upgraded

SOON = Goal(3, "s")


def lines(*, quick: bool = False) -> Lines:
    rounds = 1 if quick else 5
    kept: list[Seen] = []
    closed: list[Seen] = []
    with filled.workspace() as path:
        old = released(OLDEST.name, path) or OURS

        def waiting() -> float:
            kept.append(_upgrade(old, path / f"kept{len(kept)}", keeps_socket=True))
            return kept[-1].longest_s

        def refused() -> float:
            closed.append(_upgrade(old, path / f"closed{len(closed)}", keeps_socket=False))
            return closed[-1].refused_s

        waits, refusals, least = median_of(rounds, waiting, refused, _start)
    changed = sum(len(seen.changed) for seen in (*kept, *closed))
    failed = sum(len(seen.failed) for seen in kept)
    yield Line("reads changed, writes lost", changed, "of them", goal=Goal(0, "of them"))
    yield Line("calls that failed, systemd keeps the socket", failed, "calls", goal=Goal(0, "calls"))
    yield Line("the longest call, systemd keeps the socket", waits, "s", least, "a start", SOON)
    yield Line("clients are refused for, the port is closed", refusals, "s", least, "a start", SOON)


def _upgrade(old: Path, data: Path, *, keeps_socket: bool) -> Seen:
    restore_directory(OLDEST, data)
    return upgraded(Machine(data, keeps_socket=keeps_socket), old, {1: BASE}).seen


def _start() -> float:
    begun = perf_counter()
    with serving(sigla("--memory")):
        return perf_counter() - begun


if __name__ == "__main__":
    main(lines, __doc__)
