"""What the jobs bring to EMR Serverless: our code, and the packages it needs, for its processor; without Docker.

    python -m sigla.deployment.pipeline_package      builds both ahead of time, as a synthesis does what is missing
        --architecture x86_64 --native               for these processors, and with the extension of native/

EMR brings Python and Spark. Packages are those of requirements/jobs.txt; they are unpacked beside each worker and found
by PYTHONPATH, so that no interpreter has to be packed and moved.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from sigla import __version__
from sigla.deployment.packages import (
    Package,
    build_and_print,
    contents,
    copy,
    digest,
    files,
    install,
    product,
)
from sigla.deployment.sources import JOBS, LOCKS, ROOT
from sigla.deployment.uv import NotInstalled

PYTHON: Final = "3.11"
"""The oldest that we promise, and one that every release of EMR with Spark 4 has."""
PLATFORMS: Final = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
"""Workers run a system whose C library is of 2018 or newer, which Arrow wants."""
WHEELS: Final = {"arm64": "aarch64", "x86_64": "x86_64"}
"""How wheels call a processor."""
DIST: Final = ROOT / "dist"
"""Where native/build.sh puts wheels of the extension."""
LOCK: Final = LOCKS / "jobs.txt"
LEFT_OUT: Final = ("__main__.py", "demo/")
"""Left out of the package of the jobs. The first is uploaded by itself: spark-submit begins with a file."""


def code() -> Package:
    """`sigla_pipelines` and `sigla`, for `--py-files`."""
    sources = sorted(_sources())
    return Package("pipelines", digest([*_recipe(), *contents(sources)]), partial(copy, sources))


def packages(architecture: str = "arm64", *, native: bool = False) -> Package:
    """The packages that `--archives` takes. native: with the extension. Raises NotInstalled where its wheel is missing.

    That wheel is on no index, so it does not depend on what a machine happens to have: it is asked for, or left out.
    """
    wheels = [_wheel(architecture)] if native else []
    decided = [*_recipe(), LOCK.read_bytes(), architecture.encode(), *(wheel.read_bytes() for wheel in wheels)]
    fill = partial(_fill_packages, PLATFORMS[architecture], wheels)
    return Package(f"pipeline-packages-{architecture}", digest(decided), fill)


def _wheel(architecture: str) -> Path:
    found = sorted(DIST.glob(f"sigla_registry_native-{__version__}-*manylinux*_{WHEELS[architecture]}.whl"))
    if not found:
        option = " --arm64" if architecture == "arm64" else ""
        raise NotInstalled(
            f"The wheel of the extension for {architecture} is not in {DIST}: `native/build.sh{option}` builds it, or "
            "leave the extension out (`pipelines.native = false`)."
        )
    return found[-1]


def _recipe() -> list[bytes]:
    """How they are made: what is written here, and in the module beside."""
    return [path.read_bytes() for path in (Path(__file__), Path(__file__).with_name("packages.py"))]


def _sources() -> Iterator[tuple[str, Path]]:
    for name, path in files(JOBS):
        if not name.startswith(LEFT_OUT):
            yield f"sigla_pipelines/{name}", path
    yield from product()


def _fill_packages(platform: str, wheels: Iterable[Path], folder: Path) -> None:
    install(folder, "--require-hashes", "--requirement", str(LOCK), python=PYTHON, platform=platform)
    for wheel in wheels:
        install(folder, "--no-deps", str(wheel), python=PYTHON, platform=platform)


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        prog="python -m sigla.deployment.pipeline_package",
        description="Builds the packages of jobs for EMR Serverless, in build/",
    )
    options.add_argument("--architecture", choices=sorted(PLATFORMS), default="arm64", help="of the processors: arm64")
    options.add_argument("--native", action="store_true", help="with the extension of native/, from dist/")
    asked = options.parse_args()
    sys.exit(build_and_print(made() for made in (code, partial(packages, asked.architecture, native=asked.native))))
