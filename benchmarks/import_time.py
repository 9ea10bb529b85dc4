"""Importing the Lambda's handler as it is deployed, which is most of a cold start, beside its libraries alone.

The libraries are fastapi, mangum, orjson, boto3 and aws_lambda_powertools, and their part is done when both clients of
AWS are made: the handler makes them, too. Then what each schema language adds when a schema of it is met first. Each
import happens in a fresh process that reads its own clock; the processes take turns, and the medians are compared.

It may mislead: this machine's files are warm and its processor is not Lambda's, and SnapStart restores what was
imported before.
"""

import os
import subprocess
import sys
from collections.abc import Callable

from benchmarks.harness import ROOT, Goal, Line, Lines, main, median_of

TIMED = "import time{}; begun = time.perf_counter(); import {}; print(time.perf_counter() - begun)"
NAMES = "fastapi, mangum, orjson, boto3, aws_lambda_powertools"
LIBRARIES = f"{NAMES}; boto3.client('s3'), boto3.client('dynamodb')"
DEPLOYED = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "SIGLA_TABLE": "table",
    "SIGLA_BUCKET": "bucket",
}
HANDLER = "functions.registry.handler"
LANGUAGES = ("avro", "json_schema", "protobuf")


def lines(*, quick: bool = False) -> Lines:
    handler, libraries = median_of(1 if quick else 25, _importing(HANDLER), _importing(LIBRARIES))
    yield Line("import of the handler", handler, "s", libraries, NAMES, Goal(1.15))
    yield from first_use(quick=quick)


def first_use(*, quick: bool) -> Lines:
    """Languages are imported when a schema of them is met first: what that adds to this request."""
    works = [_importing(HANDLER, then=f"sigla.languages.{name}") for name in LANGUAGES]
    for name, figure in zip(LANGUAGES, median_of(1 if quick else 15, *works), strict=True):
        yield Line(f"import of {name}, after it", figure, "s", None, "", None if quick else Goal(0.010, "s"))


def _importing(modules: str, *, then: str = "") -> Callable[[], float]:
    # What is measured is importing, not compiling: the first run leaves bytecode behind for the others.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= DEPLOYED | {"PYTHONPATH": str(ROOT)}

    def work() -> float:
        ran = subprocess.run(
            [sys.executable, "-c", TIMED.format(f", {modules}" if then else "", then or modules)],
            cwd=ROOT,
            env=environment,
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
