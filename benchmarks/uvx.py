"""`uvx --from dist/….whl sigla serve` to the first registered schema, with a warm cache of uv.

Once with an environment that uv makes anew of what it has in its cache, and once with the one it remembers. Beside it
stands `sigla serve` of this environment, in turns with it. The first run, which is not counted, fetches what is
missing, so this one needs the network.

It may mislead: uv asks the package registry again about what it has not asked for ten minutes.
"""

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from benchmarks import filled
from benchmarks.harness import ROOT, Goal, Line, Lines, NotHere, ask, best_of, main, serving, sigla

UVX = Path(sysconfig.get_path("scripts")) / "uvx"
SCHEMA = b'{"schema": "\\"string\\""}'


def lines(*, quick: bool = False) -> Lines:
    rounds = 1 if quick else 5
    with filled.workspace() as path:
        run = [str(UVX), "--quiet", "--from", str(_wheel(path))]
        serve = ["sigla", "serve", "--memory", "--port", "{port}"]
        try:
            _first_schema([*run, *serve])()
        except RuntimeError as problem:
            raise NotHere(f"uvx could not install the wheel: {problem}") from None
        isolated = [run[0], "--isolated", *run[1:], *serve]
        works = map(_first_schema, (isolated, [*run, *serve], sigla("--memory")))
        anew, again, least = best_of(rounds, *works)
    yield Line("uvx to the first schema, a new environment", anew, "s", least, "sigla serve", Goal(10, "s"))
    yield Line("uvx to the first schema, once more", again, "s", least, "sigla serve", Goal(10, "s"))


def _wheel(folder: Path) -> Path:
    building = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / "dist")]
    subprocess.run(building, cwd=ROOT, check=True, capture_output=True)
    return next((folder / "dist").glob("*.whl"))


def _first_schema(command: list[str]) -> Callable[[], float]:
    def work() -> float:
        begun = perf_counter()
        with serving(command) as server:
            ask(server.port, "POST", "/subjects/first-value/versions", SCHEMA)
            return perf_counter() - begun

    return work


if __name__ == "__main__":
    main(lines, __doc__)
