"""What the jobs bring to EMR Serverless: our code, and the packages it needs, for its processor; without Docker.

    python -m sigla.deployment.pipeline_package      builds both ahead of time, as a synthesis does what is missing

EMR brings Python and Spark. Packages are those of requirements/jobs.txt; they are unpacked beside each worker and found
by PYTHONPATH, so that no interpreter has to be packed and moved.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from sigla.deployment.packages import Package, build_and_print, contents, copy, digest, files, install, product
from sigla.deployment.sources import JOBS, LOCKS

PYTHON: Final = "3.11"
"""The oldest that we promise, and one that every release of EMR with Spark 4 has."""
PLATFORM: Final = "aarch64-manylinux_2_28"
"""Workers are arm64, on a system whose C library is of 2018 or newer, which Arrow wants."""
LOCK: Final = LOCKS / "jobs.txt"
LEFT_OUT: Final = ("__main__.py", "demo/")
"""Left out of the package of the jobs. The first is uploaded by itself: spark-submit begins with a file."""


def code() -> Package:
    """`sigla_pipelines` and `sigla`, for `--py-files`."""
    sources = sorted(_sources())
    return Package("pipelines", digest([*_recipe(), *contents(sources)]), partial(copy, sources))


def packages() -> Package:
    """The packages that `--archives` takes."""
    return Package("pipeline-packages", digest([*_recipe(), LOCK.read_bytes()]), _fill_packages)


def _recipe() -> list[bytes]:
    """How they are made: what is written here, and in the module beside."""
    return [path.read_bytes() for path in (Path(__file__), Path(__file__).with_name("packages.py"))]


def _sources() -> Iterator[tuple[str, Path]]:
    for name, path in files(JOBS):
        if not name.startswith(LEFT_OUT):
            yield f"sigla_pipelines/{name}", path
    yield from product()


def _fill_packages(folder: Path) -> None:
    install(folder, "--require-hashes", "--requirement", str(LOCK), python=PYTHON, platform=PLATFORM)


if __name__ == "__main__":
    argparse.ArgumentParser(
        prog="python -m sigla.deployment.pipeline_package",
        description="Builds the packages of jobs for EMR Serverless, in build/",
    ).parse_args()
    sys.exit(build_and_print([code(), packages()]))
