"""Confluent's JavaScript client against a running registry: tests/protocol/node tells the stories, this runs them."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.protocol.clients.server import Server

NODE = Path(__file__).parent.parent / "node"
OLDEST_NODE = 20
"""What the client's own dependencies ask for."""

STORIES = re.findall(r"^  async '(.+)'\(", (NODE / "stories.cjs").read_text(encoding="utf-8"), re.MULTILINE)


def node_program() -> str:
    """Skips where there is no Node that is young enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("Node is not installed here: node and npm are needed")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node is too old here: {version}, and the client needs {OLDEST_NODE}")
    return node


def installed_client() -> Path:
    """A folder with the locked packages, kept in the user's cache: each lock file is installed once per machine."""
    lock = (NODE / "package-lock.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sigla-tests"
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"node-{hashlib.sha256(lock).hexdigest()[:16]}"
    with (cache / "node.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # several test workers may arrive at once
        if not folder.exists():
            install(folder)
    return folder


def install(folder: Path) -> None:
    """All or nothing: a folder that has its final name is complete. Skips where the packages cannot be had."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "client"
        made.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(NODE / name, made)
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]
        done = subprocess.run(["npm", "ci", *quiet], cwd=made, capture_output=True, text=True, check=False)
        if done.returncode and re.search(r"E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT)\b", done.stderr):
            pytest.skip("The JavaScript client cannot be had here: the package registry was not reached")
        assert done.returncode == 0, done.stderr
        made.rename(folder)


@pytest.fixture(scope="module")
def told(server: Server) -> dict[str, str | None]:
    """Every story with what failed in it. One Node for all: it takes longer to start than to tell them."""
    node = node_program()
    run = subprocess.run(
        [node, str(NODE / "stories.cjs"), server.url],
        cwd=installed_client(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return {line["story"]: line["failed"] for line in lines}


@pytest.mark.parametrize("story", STORIES)
def test_story(told: dict[str, str | None], story: str) -> None:
    assert told[story] is None, told[story]


def test_the_lock_file_names_no_host() -> None:
    """Whoever installs it uses the registry of his own configuration, as for everything else."""
    lock = json.loads((NODE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert all("resolved" not in package for package in packages.values())
    assert all("integrity" in package for package in packages.values()), "what is installed is what was locked"
