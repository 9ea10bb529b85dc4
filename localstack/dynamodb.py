"""DynamoDB's own engine (DynamoDB Local) on this machine, without Docker.

    python -m localstack.dynamodb --install    fetch it by Maven, once
    python -m localstack.dynamodb              run it in memory, print its endpoint, stop it with Ctrl-C

It needs Java 17 or newer, and Maven once. It listens on every interface of the machine and has no option for that: run
it where the network is trusted, with nothing in it but tests. Credentials are not checked; each access key and region
has tables of its own.
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from localstack import foreground
from localstack.installation import HOME as LOCALSTACK
from sigla.cache.servers import free_port
from sigla_pipelines.connectors.maven import Unavailable, class_path, fetch_jars, is_fetched, java

POM = Path(__file__).parent / "dynamodb-local" / "pom.xml"
HOME = LOCALSTACK / "dynamodb-local"
MAIN = "software.amazon.dynamodb.services.local.main.ServerRunner"

READY_WITHIN_S = 30.0
STOPS_WITHIN_S = 5.0


def installed() -> bool:
    """Whether what the pom says is there."""
    return is_fetched(POM, HOME)


def install() -> None:
    """Fetches it; nothing to do when it is there. Raises Unavailable."""
    fetch_jars(POM, HOME)


@contextlib.contextmanager
def running(port: int | None = None, *, main: str = MAIN) -> Iterator[str]:
    """An engine with nothing in it, as its endpoint's URL; it ends with the block. Raises Unavailable.

    port: a free one if none is given. main: the class that Java starts.
    """
    if not installed():
        raise Unavailable("DynamoDB Local is not installed: run python -m localstack.dynamodb --install")
    port = port or free_port()
    if _answers(port):
        raise Unavailable(f"port {port} of 127.0.0.1 is taken")
    command = [java(), "-Xmx256m", f"-Djava.library.path={HOME / 'lib'}", "-cp", class_path(HOME), main]
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
                raise Unavailable(f"DynamoDB Local did not start. Its output:\n{log.read().decode(errors='replace')}")
            yield f"http://127.0.0.1:{port}"
        finally:
            _stop(server)


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


@contextlib.contextmanager
def _told(port: int) -> Iterator[str]:
    with running(port) as endpoint:
        yield f"DynamoDB answers on {endpoint}; Ctrl-C stops it and removes its data."


def main() -> int:
    """The command: 0 after Ctrl-C or SIGTERM, 1 if it cannot run here."""
    options = argparse.ArgumentParser(prog="python -m localstack.dynamodb", description="Runs DynamoDB without Docker")
    options.add_argument("--port", type=int, default=8000)
    options.add_argument("--install", action="store_true", help="fetch it, then end")
    chosen = options.parse_args()
    return foreground.run(install, None if chosen.install else partial(_told, chosen.port))


if __name__ == "__main__":
    sys.exit(main())
