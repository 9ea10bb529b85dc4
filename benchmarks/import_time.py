"""Importing the Lambda's handler, which is most of a cold start, beside importing its libraries alone.

The libraries are fastapi, mangum, boto3 and aws_lambda_powertools. Each import happens in a fresh process that reads
its own clock; the processes take turns, and the medians are compared.

It may mislead: this machine's files are warm and its processor is not Lambda's, and SnapStart restores what was
imported before. A handler that does not need all of those libraries yet is compared with all of them.
"""

import os
import subprocess
import sys
from collections.abc import Callable

from benchmarks.harness import ROOT, Goal, Line, Lines, main, median_of

TIMED = "import time; begun = time.perf_counter(); import {}; print(time.perf_counter() - begun)"
LIBRARIES = "fastapi, mangum, boto3, aws_lambda_powertools"
HANDLER = "functions.registry.handler"
LANGUAGES = "sigla.languages"
BENEATH = "orjson, re, json, decimal, dataclasses, typing, enum, sigla.model, sigla.errors, sigla.keys"
"""What the handler has imported anyway before it comes to the languages."""


def lines(*, quick: bool = False) -> Lines:
    handler, libraries = median_of(1 if quick else 25, _importing(HANDLER), _importing(LIBRARIES))
    yield Line("import of the handler", handler, "s", libraries, LIBRARIES, Goal(1.15))
    beneath, both = median_of(1 if quick else 25, _importing(BENEATH), _importing(f"{BENEATH}, {LANGUAGES}"))
    what = "what importing all schema languages adds to it"
    yield Line(what, max(0.0, both - beneath), "s", beneath, "what they stand on", None if quick else Goal(0.010, "s"))


def _importing(modules: str) -> Callable[[], float]:
    def work() -> float:
        ran = subprocess.run(
            [sys.executable, "-c", TIMED.format(modules)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise RuntimeError(ran.stderr)
        return float(ran.stdout)

    return work


if __name__ == "__main__":
    main(lines, __doc__)
