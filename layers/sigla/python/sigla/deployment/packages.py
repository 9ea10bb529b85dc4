"""What Lambda unpacks: the third-party layer and the code of a function, built without Docker and named by content.

    make layer        builds the layer ahead of time; a synthesis builds what is missing by itself

A package is named by all that decides its content (lock, sources, this file), so equal inputs make equal templates, on
any machine and with any Python. Bytecode is built in: /opt and /var/task are read-only, and what Python cannot keep it
compiles again at every cold start (1.5 s instead of 0.7 s until the first request, measured). It is never checked
against its source, which cannot change there. Only Lambda's own Python compiles for it: if the machine lacks it, uv
brings it, so that no deployment has slower packages under the same name.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from sigla.deployment.sources import BUILD, FUNCTIONS, LOCKS, SIGLA
from sigla.deployment.uv import NotInstalled, python_of, uv

LOCK = LOCKS / "aws.txt"

PYTHON = "3.13"
PLATFORMS = {"arm64": "aarch64-manylinux2014", "x86_64": "x86_64-manylinux2014"}

KEPT_UNUSED_S = 3600
"""How long a package stays that was built, and that no synthesis asks for any more."""

# The services that functions talk to. The descriptions of the other four hundred are half of the layer.
SERVICES = ("dynamodb", "events", "kms", "lambda", "s3", "ssm")


@dataclass(frozen=True, slots=True)
class Package:
    """A folder that becomes one zip. fill: writes the content into an empty folder."""

    name: str
    digest: str
    fill: Callable[[Path], None]

    @property
    def folder(self) -> Path:
        return BUILD / f"{self.name}-{self.digest[:16]}"


def built(package: Package) -> Path:
    """The package's folder, filled now if it is not there; a build that breaks off leaves none.

    Those of the same name that were last used an hour ago go. A synthesis copies what it is given in minutes, and
    another one, of another version, may be at it at the same time.
    """
    if not package.folder.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
            content = Path(scratch) / package.name
            content.mkdir()
            package.fill(content)
            try:
                content.rename(package.folder)
            except OSError:  # another process was quicker, with the same
                if not package.folder.exists():
                    raise
    package.folder.touch()
    used = package.folder.stat().st_mtime
    for former in BUILD.glob(f"{package.name}-*"):
        with suppress(FileNotFoundError):  # another synthesis was quicker, with the same
            if former.stat().st_mtime < used - KEPT_UNUSED_S:
                shutil.rmtree(former, ignore_errors=True)
    return package.folder


def host() -> str:
    """The processor of this machine, in Lambda's words."""
    return "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x86_64"


def layer(architecture: str, lock: Path = LOCK) -> Package:
    """The packages of requirements/aws.txt, for one of PLATFORMS."""
    recipe = [_recipe(), lock.read_bytes(), architecture.encode()]
    return Package(f"layer-{architecture}", digest(recipe), partial(_fill_layer, architecture, lock))


def code(function: str) -> Package:
    """The folder of one of functions/ with the package sigla beside its handler, without what is NOT_IN_FUNCTIONS."""
    of_sigla = ((name, path) for name, path in product() if not name.startswith(NOT_IN_FUNCTIONS))
    sources = sorted([*files(FUNCTIONS / function), *of_sigla])
    return Package(function, digest([_recipe(), *contents(sources)]), partial(_fill_code, sources))


def digest(parts: Iterable[bytes]) -> str:
    """SHA-256 over parts of which each is told from the next: equal only when all are."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "big") + part)
    return state.hexdigest()


@cache
def compiler() -> str:
    """The interpreter that compiles for Lambda: this one, the machine's, or one that uv brings. Raises NotInstalled."""
    asked = f"import sys; sys.exit(sys.version_info[:2] != ({PYTHON.replace('.', ', ')}))"
    for python in _pythons():
        # It has to be run: version managers leave shims that only fail.
        if shutil.which(python) and _runs(python, "-c", asked):
            return python
    return python_of(PYTHON, BUILD / "python")


def _pythons() -> Iterator[str]:
    """Where it may be on this machine."""
    yield from (sys.executable, f"python{PYTHON}")
    managed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from map(str, sorted(managed.glob(f"{PYTHON}.*/bin/python"), reverse=True))


def _recipe() -> bytes:
    """What decides the content of every package beside its sources: how it is made."""
    return Path(__file__).read_bytes()


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file below, what Python leaves behind left out, with its name in the package."""
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path


LEFT_OUT = ("cdk/", "delivery/", "deployment/", "web/console/swagger_ui/")
"""What runs on a deployer's machine alone, and what the page `/docs` of `sigla serve` is made of."""

NOT_IN_FUNCTIONS = tuple(
    f"sigla/{room}"
    for room in ("backups/", "cli/", "local_zones.py", "second_region/", "serving.py", "terminal/", "web/local/")
)
"""What a command line needs, on a machine or a cluster; the jobs on EMR have it."""


def product() -> Iterator[tuple[str, Path]]:
    """The package sigla, as it runs in AWS."""
    return ((f"sigla/{name}", path) for name, path in files(SIGLA) if not name.startswith(LEFT_OUT))


def contents(sources: Iterable[tuple[str, Path]]) -> Iterator[bytes]:
    """What of them decides a package's content: names and bytes."""
    for name, path in sources:
        yield from (name.encode(), path.read_bytes())


def copy(sources: Iterable[tuple[str, Path]], folder: Path) -> None:
    """Puts them below a folder, under their names."""
    for name, path in sources:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def install(folder: Path, *what: str, python: str, platform: str) -> None:
    """Wheels from pip's index, for a Python and a platform that need not be ours. Raises NotInstalled.

    what: as `uv pip install` takes it: requirements, and options about them.
    """
    target = ["--target", str(folder), "--python-version", python, "--python-platform", platform]
    uv("pip", "install", *target, "--only-binary", ":all:", *what)
    shutil.rmtree(folder / "bin", ignore_errors=True)  # commands, which are of no use without a shell
    for record in folder.glob("*.dist-info/RECORD"):
        # Their sums are of this machine: a command says where the Python is that installed it.
        lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
        record.write_text("".join(line for line in lines if not line.startswith("bin/")), encoding="utf-8")


def _fill_code(sources: Iterable[tuple[str, Path]], folder: Path) -> None:
    copy(sources, folder)
    _compile(folder, "/var/task")


def _fill_layer(architecture: str, lock: Path, folder: Path) -> None:
    packages = folder / "python"
    locked = ("--require-hashes", "--requirement", str(lock))
    install(packages, *locked, python=PYTHON, platform=PLATFORMS[architecture])
    for service in (packages / "botocore" / "data").iterdir():
        if service.is_dir() and service.name not in SERVICES:
            shutil.rmtree(service)
    _compile(packages, "/opt/python")


def _compile(folder: Path, place: str) -> None:
    """Bytecode for every module, which says `place` where a traceback names a file.

    Files that cannot be compiled stay as they are: packages ship templates that only look like Python.
    """
    modes = ["--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", place]
    _runs(compiler(), "-m", "compileall", "-qq", *modes, str(folder))


def _runs(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> int:
    """The command: 0, or 1 if it cannot be built here."""
    options = argparse.ArgumentParser(
        prog="make layer", description="Builds the third-party layer for Lambda, in build/"
    )
    options.add_argument(
        "architecture", nargs="*", default=["arm64"], help=f"{' or '.join(PLATFORMS)}: make layer ARGS=x86_64"
    )
    chosen = options.parse_args().architecture
    for unknown in set(chosen) - set(PLATFORMS):
        options.error(f"Unknown architecture {unknown}. Valid architectures: {', '.join(PLATFORMS)}")
    return build_and_print(layer(architecture) for architecture in chosen)


def build_and_print(packages: Iterable[Package]) -> int:
    """Builds them, and prints where; the exit code: 0, or 1 with a sentence if one cannot be had."""
    try:
        for package in packages:
            folder = built(package)
            print(folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)
    except NotInstalled as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
