"""From starting the process to the first answered `GET /subjects`, and memory after 1,000 reads, however full it is.

`sigla serve --data` on directories with 0, 10,000 and 100,000 schemas (ten versions to a subject). Beside it a bare
FastAPI application under uvicorn starts, in turns with it: what the libraries alone take. The Java reference needs 9 to
13 s and 350 MB at 10,000 schemas (quoted, not measured here).

It may mislead: the first answer names every subject, so with 100,000 schemas it is a list of 10,000; and Python's own
files are in the memory of the operating system after the first round.
"""

import sys
from collections.abc import Callable
from random import Random

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, best_of, main, serving, sigla
from benchmarks.load import getting, load

READS = 1_000
FLAT = Goal(1.2)


def lines(*, quick: bool = False) -> Lines:
    sizes = (0, 50) if quick else (0, 10_000, 100_000)
    rounds, reads = (1, 20) if quick else (5, READS)
    bare = [sys.executable, "-m", "benchmarks.bare", "fastapi", "--port", "{port}"]
    with filled.workspace() as path:
        commands = [sigla("--data", str(filled.copy_of(size, path))) for size in sizes]
        *starts, least = best_of(rounds, *map(_starting, commands), _starting(bare))
        memories = [_memory(command, size, reads) for command, size in zip(commands, sizes, strict=True)]
    for size, figure in zip(sizes, starts, strict=True):
        yield Line(f"start-up to first answer, {size:,} schemas", figure, "s", least, "bare FastAPI", Goal(1, "s"))
        if size:
            yield Line(f"start-up to first answer, {size:,} schemas", figure, "s", starts[0], "empty", FLAT)
    for size, memory in zip(sizes, memories, strict=True):
        what = f"resident after {reads:,} reads, {size:,} schemas"
        yield Line(what, memory, "B", memories[0] if size else None, "empty" if size else "", Goal(120e6, "B"))
        if size > sizes[1]:
            yield Line(what, memory, "B", memories[1], f"{sizes[1]:,} schemas", FLAT)


def _starting(command: list[str]) -> Callable[[], float]:
    def work() -> float:
        with serving(command) as server:
            return server.first_answer

    return work


def _memory(command: list[str], schemas: int, reads: int) -> int:
    """Bytes after reads of ids drawn at random, or of the list of subjects if there are no ids."""
    drawn = Random(schemas)
    paths = [f"/schemas/ids/{drawn.randint(1, schemas)}" if schemas else "/subjects" for _ in range(reads)]
    with serving(command) as server:
        load(server.port, [getting(path) for path in paths], connections=8)
        return server.memory()


if __name__ == "__main__":
    main(lines, __doc__)
