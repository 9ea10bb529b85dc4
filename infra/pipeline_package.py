"""What the jobs bring to EMR Serverless: our code, and the packages it needs, for its processor; without Docker.

    python -m infra.pipeline_package      builds both ahead of time; a synthesis builds what is missing by itself

EMR brings Python and Spark. Packages are those of the extra `pipelines`, at the versions of requirements/dev.txt; they
are unpacked beside each worker and found by PYTHONPATH, so that no interpreter has to be packed and moved.
"""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from infra import packages as mirrors
from infra.packages import ROOT, Package, built, digest

PYTHON: Final = "3.11"
"""The oldest that we promise, and one that every release of EMR with Spark 4 has."""
PLATFORM: Final = "aarch64-manylinux_2_28"
"""Workers are arm64, on a system whose C library is of 2018 or newer, which Arrow wants."""
LOCK: Final = ROOT / "requirements" / "dev.txt"
CORE: Final = ("orjson", "protobuf", "regex")
"""What `sigla` needs where no HTTP is spoken; pydantic beside them reads land.yaml."""
OF_THE_COMMAND: Final = ("confluent-kafka",)
"""For `sigla explain`. Jobs speak to Kafka through Spark."""
LEFT_OUT: Final = {"pipelines/__main__.py", "pipelines/demo"}
"""The first is uploaded by itself: spark-submit begins with a file."""


def code() -> Package:
    """`pipelines` and `sigla`, for `--py-files`."""
    recipe = [Path(__file__).read_bytes()]
    recipe += [part for name, path in _sources() for part in (name.encode(), path.read_bytes())]
    return Package("pipelines", digest(recipe), _fill_code)


def packages() -> Package:
    """For `--archives`."""
    recipe = [Path(__file__).read_bytes(), LOCK.read_bytes(), *map(str.encode, _wanted())]
    return Package("pipeline-packages", digest(recipe), _fill_packages)


def _sources() -> Iterator[tuple[str, Path]]:
    for root in (ROOT, ROOT / "layers" / "sigla" / "python"):
        for path in sorted((root / ("pipelines" if root == ROOT else "sigla")).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not name.startswith(tuple(LEFT_OUT)):
                yield name, path


def _wanted() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = [each for each in project["dependencies"] if each.startswith(CORE)]
    extra = project["optional-dependencies"]["pipelines"]
    return [*core, "pydantic", *(each for each in extra if not each.startswith(OF_THE_COMMAND))]


def _fill_code(folder: Path) -> None:
    for name, path in _sources():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def _fill_packages(folder: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    command = [str(uv), "pip", "install", "--quiet", "--target", str(folder), "--only-binary", ":all:"]
    command += ["--constraint", str(LOCK), "--python-version", PYTHON]
    command += ["--python-platform", PLATFORM, *_wanted()]
    environ = mirrors._with_mirror()  # noqa: SLF001 - one way to the index for all that we pack
    subprocess.run(command, check=True, env=environ)  # noqa: S603 - fixed words and our own list
    shutil.rmtree(folder / "bin", ignore_errors=True)


if __name__ == "__main__":
    for each in (code(), packages()):
        sys.stdout.write(f"{built(each)}\n")
