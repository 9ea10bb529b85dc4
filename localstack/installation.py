"""LocalStack's own environment, .localstack/: its pins are not ours, and it needs Python 3.13, which .venv need not be.

Its modules are written for 3.13, and its pins have no solution for 3.14. Beside it stands Lambda's runtime client, in a
folder that functions see and that holds nothing else.

    python -m localstack.installation       installs both
"""

import argparse
import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sigla.deployment.uv import NotInstalled, uv
from sigla_pipelines.connectors.maven import Unavailable

HERE = Path(__file__).parent
HOME = HERE.parent / ".localstack"
LOCK = HERE / "requirements.txt"
RUNTIME_LOCK = HERE / "runtime.txt"

PYTHON = HOME / "venv" / "bin" / "python"
RUNTIME = "3.13"
"""Of Lambda's Pythons the one that functions run on."""


def candidates(environ: Mapping[str, str]) -> Iterator[str]:
    """Where a Python 3.13 may be, likeliest first."""
    if chosen := environ.get("LOCALSTACK_PYTHON"):
        yield chosen
    yield from (sys.executable, "python3.13", "python3")
    versions = Path(environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from (str(python) for python in sorted(versions.glob("3.13.*/bin/python"), reverse=True))


def find_python(tried: Iterable[str]) -> str:
    """The first candidate that runs and is a 3.13. It has to be run: version managers leave shims that only fail.

    Raises Unavailable.
    """
    asked = "import sys; sys.exit(sys.version_info[:2] != (3, 13))"
    for python in tried:
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode == 0:
                return python
    message = "LocalStack needs Python 3.13, which was not found: install it, or set LOCALSTACK_PYTHON to its path"
    raise Unavailable(message)


def installed(lock: Path = LOCK) -> bool:
    """Whether the environment holds what its lock says."""
    stamp = HOME / "lock"
    return stamp.exists() and stamp.read_text() == _digest(lock)


def install(environ: Mapping[str, str]) -> None:
    """The environment as locked, with hashes; nothing to do when it is there. Raises Unavailable."""
    if installed():
        return
    python = find_python(candidates(environ))
    print(f"Installing LocalStack in {HOME} …", file=sys.stderr)
    _run_uv("venv", "--clear", "--python", python, str(HOME / "venv"), environ=environ)
    _run_uv("pip", "sync", "--require-hashes", "--python", str(PYTHON), str(LOCK), environ=environ)
    (HOME / "lock").write_text(_digest(LOCK))


def runtime_client(environ: Mapping[str, str]) -> Path:
    """The folder that holds Lambda's runtime client, installed if need be, with whatever Python. Raises Unavailable."""
    folder = HOME / f"runtime-{_digest(RUNTIME_LOCK)[:16]}"
    if not folder.exists():
        HOME.mkdir(exist_ok=True)
        # Beside its place first: what is cut off leaves nothing half done.
        with tempfile.TemporaryDirectory(dir=HOME) as fetched:
            target = Path(fetched) / "runtime"
            what = ["--require-hashes", "--requirement", str(RUNTIME_LOCK), "--target", str(target)]
            _run_uv("pip", "install", *what, "--python-version", RUNTIME, "--only-binary", ":all:", environ=environ)
            with contextlib.suppress(OSError):  # another process was quicker, with the same
                target.rename(folder)
    return folder


def _run_uv(*arguments: str, environ: Mapping[str, str]) -> None:
    """Raises Unavailable."""
    try:
        uv(*arguments, environ=environ)
    except NotInstalled as reason:
        raise Unavailable(str(reason)) from None


def _digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def main() -> int:
    """The command: 0, or 1 if it cannot be had here."""
    options = argparse.ArgumentParser(
        prog="python -m localstack.installation",
        description="Installs LocalStack and Lambda's runtime client in .localstack",
    )
    options.parse_args()
    try:
        install(os.environ)
        runtime_client(os.environ)
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
