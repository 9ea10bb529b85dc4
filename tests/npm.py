"""Packages of npm for tests: those of a lock file, in the user's cache, installed once per machine."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

OLDEST_NODE = 20
"""What the packages' own dependencies ask for."""


def node_program() -> str:
    """Skips where there is no Node that is young enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("Node is not installed here: node and npm are needed")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node is too old here: {version}, and the client needs {OLDEST_NODE}")
    return node


def installed(source: Path) -> Path:
    """A folder with the packages that the lock file of `source` names."""
    lock = (source / "package-lock.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sigla-tests"
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"node-{hashlib.sha256(lock).hexdigest()[:16]}"
    with (cache / "node.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # several test workers may arrive at once
        if not folder.exists():
            _install(source, folder)
    return folder


def _install(source: Path, folder: Path) -> None:
    """All or nothing: a folder that has its final name is complete. Skips where the packages cannot be had."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "client"
        made.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(source / name, made)
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]
        done = subprocess.run(["npm", "ci", *quiet], cwd=made, capture_output=True, text=True, check=False)
        if done.returncode and re.search(r"E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT)\b", done.stderr):
            pytest.skip("The JavaScript client cannot be had here: the package registry was not reached")
        assert done.returncode == 0, done.stderr
        made.rename(folder)
