"""A REST catalog of Iceberg, a process of its own: the server with which Iceberg tests its clients, over SQLite.

It is in a jar of Iceberg's tests, without a `main`: that is in RestCatalog.java, which Java compiles as it starts.

python -m tests.pipelines.rest_catalog --install     fetches it by Maven, once
python -m tests.pipelines.rest_catalog               runs one until Ctrl-C and prints where
"""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pyspark

from localstack import foreground
from sigla_pipelines.connectors.installation import HOME
from sigla_pipelines.connectors.maven import Unavailable, class_path, fetch_jars, is_fetched, java

POM = Path(__file__).parent / "rest_catalog.pom.xml"
PLACE = HOME / "rest-catalog"
SERVER = Path(__file__).parent / "RestCatalog.java"
HADOOP = f"{Path(pyspark.__file__).parent}/jars/*"
SMALL = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
READY_WITHIN_S = 60.0
STOPS_WITHIN_S = 5.0


def install() -> None:
    """Fetches the server; nothing to do when it is there. Raises Unavailable."""
    fetch_jars(POM, PLACE)


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The URI of an empty catalog; it ends with the block, and what it held is gone. Raises Unavailable."""
    if not is_fetched(POM, PLACE):
        raise Unavailable("The REST catalog is not installed here: python -m tests.pipelines.rest_catalog --install")
    with tempfile.TemporaryDirectory(prefix="rest-catalog-") as home, Path(home, "log").open("wb+") as log:
        port = _free_port()
        said = [str(port), f"jdbc:sqlite:{home}/catalog.db", f"file://{home}/warehouse"]
        command = [java(), *SMALL, "-cp", os.pathsep.join([class_path(PLACE), HADOOP]), str(SERVER), *said]
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            if not _ready(server, port):
                log.seek(0)
                raise Unavailable(f"The REST catalog did not come up; it said\n{log.read().decode(errors='replace')}")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()
            server.wait(STOPS_WITHIN_S)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _ready(server: "subprocess.Popen[bytes]", port: int) -> bool:
    deadline = time.monotonic() + READY_WITHIN_S
    while server.poll() is None and time.monotonic() < deadline:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.suppress(OSError), contextlib.closing(connection):
            connection.request("GET", "/v1/config")
            return connection.getresponse().status == 200
        time.sleep(0.05)
    return False


@contextlib.contextmanager
def _told() -> Iterator[str]:
    with running() as uri:
        yield f"A REST catalog answers on {uri}; Ctrl-C stops it."


if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m tests.pipelines.rest_catalog", description="A REST catalog")
    options.add_argument("--install", action="store_true", help="fetch it and stop")
    sys.exit(foreground.run(install, None if options.parse_args().install else _told))
