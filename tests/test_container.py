"""The container: what it is filled with runs as another user, on a root that nothing can write to.

The root is put together by the two scripts that `Containerfile` runs, from Debian's packages and the locked libraries.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from sigla.cli import _parser
from sigla.web.local.server import LONGEST_FAREWELL_S
from tests.protocol.clients.server import environment
from tests.servers import two_free_ports
from tests.waiting import eventually

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "container"
USER = 65532
LARGEST = 105_000_000

MOUNTED = """
mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"
mount -t tmpfs -o uid={user},mode=700 data "$0/data"
exec chroot --userspec={user}:{user} "$0" /usr/bin/python3 -m sigla serve --auth --port "$1" --data /data
"""


def instructions(name: str) -> list[str]:
    text = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text())
    return re.findall(rf"^{name} (.*)$", text, re.MULTILINE)


def test_what_the_container_runs_is_what_the_command_knows() -> None:
    """An option that was renamed would show when an image is pulled."""
    (words,) = map(json.loads, instructions("CMD"))
    args = _parser().parse_args(words)
    assert (args.command, args.auth, args.host, str(args.data)) == ("serve", True, "0.0.0.0", "/data")
    (volume,) = instructions("VOLUME")
    (port,) = instructions("EXPOSE")
    assert (volume, int(port)) == (str(args.data), args.port)
    composed = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["sigla"]
    assert composed["command"] == words
    assert composed["read_only"]
    assert int(composed["stop_grace_period"].removesuffix("s")) > LONGEST_FAREWELL_S + 10


def test_what_is_copied_is_let_into_the_build() -> None:
    """What .dockerignore leaves out is missing in the middle of a build."""
    ignored, *kept = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] != "#"]
    assert ignored == "*"
    copied = {word for line in instructions("COPY") if "--from" not in line for word in line.split()[:-1]}
    let_in = {line.removeprefix("!") for line in kept}
    assert {word for word in copied if "$" not in word} == {word for word in let_in if not word.startswith("dist/")}
    assert all((ROOT / word).exists() for word in let_in if "*" not in word)


def run(*words: str | Path, cwd: Path | None = None, **variables: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A root as an image has it, filled as the build fills it."""
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is not here, which puts a root together: apt-get install mmdebstrap")
    if sys.version_info[:2] != (3, 13):
        pytest.skip("the root has Python 3.13, and libraries are fetched by the same: run the tests with it")
    if os.getuid() or subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root makes a root with another user, and namespaces have to be allowed")
    made: Path = tmp_path_factory.mktemp("container") / "root"
    run(FOLDER / "root.sh", made)
    parts = made.parent / "parts"
    parts.mkdir()
    shutil.copy(ROOT / "requirements" / "container.txt", parts)
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", parts, cwd=ROOT)
    run(sys.executable, "-m", "venv", parts / "venv")
    run(FOLDER / "fill.sh", parts, made / "app", PYTHON=str(parts / "venv" / "bin" / "python"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def size(folder: Path) -> int:
    return int(run("du", "--summarize", "--bytes", folder).split()[0])


@pytest.mark.soak
def test_it_serves_as_another_user_on_a_root_that_nothing_can_write_to(root: Path) -> None:
    """And ends when it is told to; it keeps what it keeps in /data alone."""
    print(f"root {size(root) / 1e6:.1f} MB, of which Sigla and libraries {size(root / 'app') / 1e6:.1f} MB")
    assert size(root) < LARGEST
    port = two_free_ports()
    said = MOUNTED.format(user=USER)
    process = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-ec", said, str(root), str(port)],
        env={"PYTHONPATH": "/app", "PYTHONUNBUFFERED": "1", "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        eventually(lambda: process.poll() is not None or _is_up(port))
        assert process.poll() is None, process.stderr and process.stderr.read()
        inside = ["nsenter", f"--target={process.pid}", "--mount", f"--root=/proc/{process.pid}/root"]
        as_user = shlex.split(f"--setuid={USER} --setgid={USER}")
        run(*inside, *as_user, "/usr/bin/python3", "/app/healthy.py", HEALTH_PORT=str(port))
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert f"Uid:\t{USER}" in status
        process.terminate()
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()
    assert not list((root / "data").iterdir())


def _is_up(port: int) -> bool:
    with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/health/ready") as answer:
        return bool(answer.status == 200)
    return False
