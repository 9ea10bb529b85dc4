"""`make playground` in a fresh copy of the repository, to the first answered request: cold, then installed.

Cold means that no cache of pip or uv helps: everything is fetched from the package registries, so that this one runs on
demand only (`--with-playground`). Beside it stands making an empty virtual environment, where every set-up begins.
Installed, it stands beside `sigla serve` without make.

It may mislead: the network of this machine decides most of the cold time.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks import filled
from benchmarks.harness import ROOT, Goal, Line, Lines, best_of, main, serving, sigla


def lines(*, quick: bool = False) -> Lines:
    with filled.workspace() as path:
        copy = copied(path / "sigla")
        cold_start = {"PIP_NO_CACHE_DIR": "1", "UV_CACHE_DIR": str(path / "cache"), "VENV": ".venv"}
        cold = _playground(copy, **cold_start)
        least = _empty_environment(path / "empty")
        warm, direct = best_of(
            1 if quick else 5,
            lambda: _playground(copy, **cold_start),
            lambda: _answering(sigla("--data", str(path / "direct"))),
        )
    yield Line("make playground, fresh copy, empty caches", cold, "s", least, "an empty environment", Goal(60, "s"))
    yield Line("make playground, installed", warm, "s", direct, "sigla serve", Goal(1.5, "s"))


def copied(to: Path) -> Path:
    """What a clone with today's changes would hold: all that git knows or would not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)
    return to


def _playground(copy: Path, **environment: str) -> float:
    return _answering(["make", "-C", str(copy), "playground", "PORT={port}"], **environment)


def _answering(command: list[str], **environment: str) -> float:
    with serving(command, **environment) as server:
        return server.first_answer


def _empty_environment(path: Path) -> float:
    begun = perf_counter()
    subprocess.run([sys.executable, "-m", "venv", str(path)], check=True)
    return perf_counter() - begun


if __name__ == "__main__":
    main(lines, __doc__)
