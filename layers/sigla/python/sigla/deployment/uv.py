"""uv, which installs what is not for .venv.

That is what Lambda and EMR unpack, the Python that compiles it, LocalStack's own environment, another Spark.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


class NotInstalled(Exception):
    """Why what packages need could not be installed on this machine, in a sentence."""


def uv(*arguments: str, environ: Mapping[str, str] = os.environ) -> None:
    """Runs it, with the index that pip has been given: it does not read pip's configuration. Raises NotInstalled."""
    program, settings = _program(environ), {**environ, "UV_NO_CONFIG": "1"}
    mirror = environ.get("UV_DEFAULT_INDEX") or environ.get("PIP_INDEX_URL") or _index_of_pip(environ)
    if mirror:
        settings["UV_DEFAULT_INDEX"] = mirror
    # What it complains of, it says on standard error itself.
    if subprocess.run([program, "--quiet", *arguments], check=False, env=settings).returncode:
        raise NotInstalled("Packages could not be installed: see the output of uv above. No incomplete folder was kept")


def python_of(version: str, folder: Path, environ: Mapping[str, str] = os.environ) -> str:
    """A Python of this version, such as 3.13: one that uv finds, or installs into the folder. Raises NotInstalled.

    What it installs is a release whose checksum is in uv, and so in our lock.
    """
    settings = {**environ, "UV_NO_CONFIG": "1", "UV_PYTHON_INSTALL_DIR": str(folder)}

    def asked(*words: str) -> str:
        run = [_program(environ), "python", *words, version]
        return subprocess.run(run, capture_output=True, text=True, check=False, env=settings).stdout.strip()

    found = asked("find", "--no-python-downloads")
    if not found:
        asked("install", "--no-bin")
        found = asked("find", "--no-python-downloads")
    if found:
        return found
    message = (
        f"Compiling packages for Lambda needs Python {version}, which is not installed and could not be fetched by "
        f"`uv python install {version}`: install it, so that python{version} is on the PATH."
    )
    raise NotInstalled(message)


def _program(environ: Mapping[str, str]) -> str:
    """Raises NotInstalled."""
    program = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv", path=environ.get("PATH"))
    if program is None:
        raise NotInstalled(
            "Installing packages needs uv, which was not found: make setup brings it, and so does the extra `cdk`"
        )
    return program


def _index_of_pip(environ: Mapping[str, str]) -> str:
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    return subprocess.run(asked, capture_output=True, text=True, check=False, env=dict(environ)).stdout.strip()
