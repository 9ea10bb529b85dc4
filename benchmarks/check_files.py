"""`sigla check`: processor seconds of the command for 1,000 files against 1,000 subjects, and for one of them.

The registry is `sigla serve --data` with three versions of each subject; its own processor time is not counted. Half of
the files are registered already, the others are new versions. Beside each stands `sigla --version`, which is Python's
start and the command's own imports.

It may mislead: the registry answers at once, so waiting for one that is far away is not in it. How many requests it
takes is tested (tests/unit/cli/test_check_set.py).
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import filled
from benchmarks.harness import Goal, Line, Lines, best_of, main, serving, sigla
from sigla.model import Draft
from sigla.stores.sqlite.store import EmbeddedStore

VERSIONS = 3
DECLARATION = "schemas: [{files: '*.avsc', subject: '{stem}'}]"


def lines(*, quick: bool = False) -> Lines:
    subjects, rounds = (20, 1) if quick else (1_000, 5)
    with tempfile.TemporaryDirectory(prefix="sigla-bench-") as made:
        data, files = Path(made, "data"), Path(made, "files")
        _fill(data, files, subjects)
        with serving(sigla("--data", str(data))) as server:
            against = ["check", "--registry", f"http://127.0.0.1:{server.port}"]
            every, one, start = best_of(
                rounds,
                _running([*against], files),
                _running([*against, f"{filled.subject(1).name}.avsc"], files),
                _running(["--version"], files),
            )
    yield Line(f"check of {subjects:,} files", every, "s", start, "--version", None if quick else Goal(5, "s"))
    yield Line(f"check of one file of {subjects:,}", one, "s", start, "--version", None if quick else Goal(0.5, "s"))


def _fill(data: Path, files: Path, subjects: int) -> None:
    files.mkdir()
    (files / "sigla.yaml").write_text(DECLARATION)
    with EmbeddedStore(data) as store, store.group():
        registry = filled.registry_over(store)
        for number in range(subjects):
            for version in range(1, VERSIONS + 1):
                registry.register(filled.subject(number), Draft(filled.text(number, version)))
            text = filled.text(number, VERSIONS + number % 2)
            (files / f"{filled.subject(number).name}.avsc").write_text(text)


def _running(words: list[str], folder: Path) -> Callable[[], float]:
    """Processor seconds of the command, user and system."""

    def work() -> float:
        before = os.times()
        subprocess.run([sys.executable, "-m", "sigla", *words], cwd=folder, check=True, capture_output=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    return work


if __name__ == "__main__":
    main(lines, __doc__)
