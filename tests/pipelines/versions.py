"""The jobs under the versions of Spark that they promise to run on.

    python -m tests.pipelines.versions [VERSION … | --ours]

Kafka's connector is not to be had for every version: with the newest one, files alone are landed. Each version is a
PySpark without its dependencies, below build/, before ours on the path of a pytest of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

from sigla.deployment.uv import NotInstalled, uv
from sigla_pipelines.connectors.installation import HOME, install
from sigla_pipelines.connectors.maven import Unavailable
from tests.pipelines import broker

ROOT = Path(__file__).parent.parent.parent
OURS = metadata.version("pyspark")
VERSIONS = ("4.0.2", OURS, "4.3.0")
LANDING = tuple(f"tests/pipelines/spark/test_{name}.py" for name in ("land", "peer", "states"))
"""What is run with each; the rest with ours alone. Where Iceberg has no runtime for it, there are no states."""
FILES_ALONE = ("4.3.0",)
"""No connector of theirs is in Maven Central."""


def main() -> int:
    """0 if all pass; a line for each version."""
    options = argparse.ArgumentParser(prog="make spark", description="The pipelines on every PySpark we promise")
    options.add_argument("version", nargs="*", default=VERSIONS, help=f"some of them alone: ARGS={VERSIONS[0]}")
    options.add_argument("--ours", action="store_true", help=f"{OURS} alone, which is installed here: what CI runs")
    asked = options.parse_args()
    chosen = (OURS,) if asked.ours else asked.version
    if unknown := set(chosen) - set(VERSIONS):
        options.error(f"Unknown version {', '.join(sorted(unknown))}. Valid versions: {', '.join(VERSIONS)}")
    lines, worst = [], 0
    for version in chosen:
        begun = time.monotonic()
        try:
            code = tried(version)
        except (NotInstalled, Unavailable) as reason:
            print(reason, file=sys.stderr)
            code = 1
        lines.append(f"Spark {version:<6} {'passes' if not code else 'FAILS'}  ({time.monotonic() - begun:.0f} s)")
        worst = max(worst, code)
    print(*lines, sep="\n")
    return worst


def tried(version: str) -> int:
    """The exit code of the tests. Raises NotInstalled, Unavailable."""
    paths = [str(ROOT)] if version == OURS else [str(package(version)), str(ROOT)]
    # With ours, what `make test` runs is not run again: it starts no Spark.
    what = ["-m", "spark and not soak", "tests/pipelines"] if version == OURS else ["-m", "not soak", *LANDING]
    if version in FILES_ALONE:
        what += ["-k", "not kafka"]
    else:
        install(version)
        broker.install()
    # Two sessions: each waits for its broker and for jobs that it has started a good part of the time.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", *what]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SPARK_VERSION": version}
    return subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode


def package(version: str) -> Path:
    """The folder that holds a PySpark, installed if need be. Raises NotInstalled."""
    folder = HOME / f"pyspark-{version}"
    if folder.exists():
        return folder
    HOME.mkdir(parents=True, exist_ok=True)
    print(f"Installing PySpark {version} in {folder} …", file=sys.stderr)
    # Beside its place first: what is cut off leaves nothing half done.
    with tempfile.TemporaryDirectory(dir=HOME) as beside:
        target = Path(beside) / "pyspark"
        uv("pip", "install", "--no-deps", "--python", sys.executable, "--target", str(target), f"pyspark=={version}")
        target.rename(folder)
    return folder


if __name__ == "__main__":
    sys.exit(main())
