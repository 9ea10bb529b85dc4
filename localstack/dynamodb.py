"""DynamoDB's own engine (DynamoDB Local) on this machine, without Docker.

    python -m localstack.dynamodb --install    fetch it by Maven, once
    python -m localstack.dynamodb              run it in memory, print its endpoint, stop it with Ctrl-C

It needs Java 17 or newer, and Maven once. It listens on every interface of the machine and has no option for that: run
it where the network is trusted, with nothing in it but tests. Credentials are not checked; each access key and region
has tables of its own.
"""

import argparse
import contextlib
import hashlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from localstack.installation import HOME as LOCALSTACK
from localstack.installation import Unavailable

POM = Path(__file__).parent / "dynamodb-local" / "pom.xml"
HOME = LOCALSTACK / "dynamodb-local"
MAIN = "software.amazon.dynamodb.services.local.main.ServerRunner"
JAVA = 17
"""The oldest that runs it."""

READY_WITHIN_S = 30.0
STOPS_WITHIN_S = 5.0
INSTALLS_WITHIN_S = 150.0


def installed() -> bool:
    """Whether what the pom says is there."""
    stamp = HOME / "pom"
    return stamp.exists() and stamp.read_text() == _digest()


def install() -> None:
    """Fetches it; nothing to do when it is there. Raises Unavailable."""
    if installed():
        return
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("DynamoDB Local is fetched by Maven, and there is no mvn here: install Maven")
    java()
    HOME.mkdir(parents=True, exist_ok=True)
    print(f"Fetching DynamoDB Local into {HOME} …", file=sys.stderr)
    # Beside its place first: a download that is cut off leaves nothing half done.
    with tempfile.TemporaryDirectory(dir=HOME) as fetched:
        _fetch(maven, Path(fetched) / "lib")
        (HOME / "pom").unlink(missing_ok=True)
        shutil.rmtree(HOME / "lib", ignore_errors=True)
        (Path(fetched) / "lib").rename(HOME / "lib")
    (HOME / "pom").write_text(_digest())


def java() -> str:
    """The Java that runs it. Raises Unavailable."""
    found = shutil.which("java")
    if found is None:
        raise Unavailable(f"DynamoDB Local needs Java {JAVA} or newer, and there is no java here")
    told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version.group(1)) < JAVA:
        raise Unavailable(f"DynamoDB Local needs Java {JAVA} or newer; this one says {told.splitlines()[:1]}")
    return found


@contextlib.contextmanager
def running(port: int | None = None) -> Iterator[str]:
    """An engine with nothing in it, as its endpoint's URL; it ends with the block. Raises Unavailable.

    port: a free one if none is given.
    """
    if not installed():
        raise Unavailable("DynamoDB Local is not installed here: python -m localstack.dynamodb --install")
    port = port or _free_port()
    if _answers(port):
        raise Unavailable(f"port {port} of 127.0.0.1 is taken")
    command = [java(), "-Xmx256m", f"-Djava.library.path={HOME / 'lib'}", "-cp", f"{HOME / 'lib'}/*", MAIN]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [*command, "-inMemory", "-disableTelemetry", "-port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is ours to hear
        )
        try:
            if not _ready(server, port):
                log.seek(0)
                raise Unavailable(f"DynamoDB Local did not come up; it said\n{log.read().decode(errors='replace')}")
            yield f"http://127.0.0.1:{port}"
        finally:
            _stop(server)


def _fetch(maven: str, into: Path) -> None:
    command = [maven, "--quiet", "--batch-mode", "--file", str(POM), "dependency:copy-dependencies"]
    try:
        done = subprocess.run(
            [*command, f"-DoutputDirectory={into}", "-DincludeScope=runtime"],
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALLS_WITHIN_S,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"Maven did not fetch DynamoDB Local within {INSTALLS_WITHIN_S:.0f} s") from None
    if done.returncode:
        raise Unavailable(f"Maven could not fetch DynamoDB Local; it said\n{done.stdout[-2000:]}")


def _digest() -> str:
    return hashlib.sha256(POM.read_bytes()).hexdigest()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    """Whether anything there answers to HTTP; that it refuses a GET is an answer too."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5).close()
    except urllib.error.HTTPError as refused:
        refused.close()
    except OSError:
        return False
    return True


def _ready(server: "subprocess.Popen[bytes]", port: int) -> bool:
    deadline = time.monotonic() + READY_WITHIN_S
    while server.poll() is None and time.monotonic() < deadline:
        if _answers(port):
            return True
        time.sleep(0.05)
    return False


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """Ended politely, or else."""
    server.terminate()
    try:
        server.wait(STOPS_WITHIN_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def main() -> int:
    """The command: 0 after Ctrl-C or SIGTERM, 1 if it cannot run here."""
    options = argparse.ArgumentParser(prog="python -m localstack.dynamodb", description="DynamoDB without Docker")
    options.add_argument("--port", type=int, default=8000)
    options.add_argument("--install", action="store_true", help="fetch it and stop")
    chosen = options.parse_args()

    def asked_to_stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, asked_to_stop)
    try:
        install()
        if not chosen.install:
            with running(chosen.port) as endpoint:
                print(f"DynamoDB answers on {endpoint}; Ctrl-C stops it, and what it held is gone then.", flush=True)
                signal.pause()
    except KeyboardInterrupt:
        return 0
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
