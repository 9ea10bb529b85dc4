"""A free place for a LocalStack, `make localstack` in it, and how to speak to a registry without a client's help."""

import http.client
import json
import os
import random
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlsplit

import psutil
import pytest

from localstack import up
from localstack.installation import installed
from localstack.server import ZONES, Server, session, taken
from sigla.cache import servers as cache_servers
from tests.browser.conftest import browser, opened, program  # noqa: F401 - fixtures of files here, too
from tests.waiting import eventually

PORTS = range(20_000, 30_000)
"""Below the ports that a system gives to processes that ask for any: between our look and LocalStack's none is drawn.
"""

ENOUGH_S = 400


THREE_ZONES = ("use1-az1", "use1-az2", "use1-az3")
WORDS = ("--zones", str(len(THREE_ZONES)), "-c", "exporters=true")
"""How the deployment of all files here is asked for."""


def free_port() -> int:
    """One that is free, as are those after it that LocalStack wants. Skips where it is not installed."""
    if not installed():
        pytest.skip("LocalStack is not installed here: python -m localstack.installation")
    while True:
        port = random.choice(PORTS)
        if not any(map(taken, range(port, port + 2 + ZONES))):
            return port


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@dataclass(frozen=True)
class Door:
    """One way into the registry. url: without a slash at the end. key: name and secret, or None."""

    url: str
    key: tuple[str, str] | None

    def without_key(self) -> Self:
        return replace(self, key=None)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON, or None. The path goes as it is written here: no client tidies it up."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        if self.key:
            headers["Authorization"] = f"Basic {b64encode(':'.join(self.key).encode()).decode()}"
        try:
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, parts.path + path, body=content, headers=headers)
            answer = connection.getresponse()
            told = answer.read()
            return answer.status, json.loads(told) if told else None
        finally:
            connection.close()


@dataclass(frozen=True)
class Deployed:
    """What `make localstack` has printed, by name, and what it has started."""

    facts: dict[str, str]
    told: str
    server: Server

    def door(self, name: str) -> Door:
        return Door(self.facts[name], (self.facts["key"], self.facts["secret"]))

    def processes(self) -> list[psutil.Process]:
        """LocalStack, its functions and its caches."""
        process = self.server.process()
        assert process is not None
        return [process, *process.children(recursive=True)]


def command(module: str, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """What `make localstack` and `make localstack-down` run."""
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=up.ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=ENOUGH_S,
    )


@contextmanager
def deployment(port: int, *words: str) -> Iterator[Deployed]:
    """What `make localstack` makes, until the block ends. Skips where CDK cannot run."""
    if not shutil.which("node"):
        pytest.skip("CDK needs Node.js, but node is not on the PATH")
    server = Server.on(port)
    try:
        done = command("localstack.up", "--port", str(port), *words)
        assert done.returncode == 0, done.stderr
        yield Deployed(dict(line.split(": ", 1) for line in done.stdout.splitlines()), done.stderr, server)
    finally:
        server.stop()


def running_as(processes: list[psutil.Process]) -> set[str]:
    """Their names, and all words of their commands."""
    found: set[str] = set()
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # it has just ended
            found.update((process.name(), *process.cmdline()))
    return found


def gone(processes: list[psutil.Process]) -> None:
    """Returns once all of them have ended. Where ended processes are not collected, they stay on the system's list."""

    def ended(process: psutil.Process) -> bool:
        with suppress(psutil.NoSuchProcess):
            return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
        return True

    eventually(lambda: all(map(ended, processes)))


@pytest.fixture(scope="session")
def deployed() -> Iterator[Deployed]:
    """One deployment for all files here: with three zones it has all that one without them has, and exporters besides.

    It is the stack that an account gets, with the same code and layer. The last story of test_zones.py ends it.
    """
    try:
        cache_servers.program("valkey")
    except cache_servers.ServerMissing as missing:
        pytest.skip(f"no cache to test with: {missing}")
    with deployment(free_port(), *WORDS) as deployed:
        yield deployed


@pytest.fixture(scope="module")
def aws(deployed: Deployed) -> Iterator[Callable[[str], Any]]:
    """A client of each service of that account."""
    with ExitStack() as stack:
        clients = session(deployed.server.endpoint)
        yield lambda service: stack.enter_context(closing(clients.client(service)))
