"""A registry behind a real socket, doors that do it wrong on purpose, and an account that says what a test says."""

import gzip
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from infra.first_day.asking import SERVER, Door, Kind
from infra.first_day.day import PREFIX, Account, Day
from tests.protocol.clients.server import SIGLA, serving


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("first-day") / "data"


def key(data: Path, name: str, *words: str) -> str:
    """A new administrator's key, as clients send it."""
    command = [str(SIGLA), "keys", "create", name, "--role", "admin", *words, "--data", str(data), "--json"]
    made = subprocess.run(command, capture_output=True, check=True)
    return f"{name}:{json.loads(made.stdout)['secret']}"


@pytest.fixture(scope="session")
def served(data: Path) -> Iterator[Door]:
    """One that asks for keys, and an administrator's."""
    with serving(data, "--auth") as server:
        yield Door("url", server.url, SERVER, key(data, "admin"))


@pytest.fixture
def registry(served: Door) -> Iterator[Door]:
    """The same for all tests, and empty for each: half of them break off what they write."""
    yield served
    tidy = a_day(served)
    tidy.wrote = True
    tidy.clear_up()


@pytest.fixture(scope="session")
def limited(served: Door, data: Path) -> str:
    """A key for what a first day writes, and nothing else."""
    return key(data, "first-day", "--subjects", PREFIX)


def a_day(*doors: Door, account: Account | None = None, samples: int = 8, burst: int = 0) -> Day:
    """A run that waits for nothing."""
    return Day(
        doors,
        account,
        samples=samples,
        burst=burst,
        job=True,
        tell=lambda _: None,
        sleep=lambda _: None,
        run="0a1b2c3d",
    )


# --- doors that do it wrong ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """A request, or the answer to one."""

    line: str
    headers: Mapping[str, str]
    body: bytes

    def without(self, *names: str) -> "Sent":
        return replace(self, headers={name: value for name, value in self.headers.items() if name.lower() not in names})


@dataclass(frozen=True)
class Crook:
    """request: what it makes of `METHOD path`. answer: of the request and of `status`."""

    request: Callable[[Sent], Sent] = lambda sent: sent
    answer: Callable[[Sent, Sent], Sent] = lambda _, sent: sent


class _Crooked(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Sent(f"{self.command} {self.path}", dict(self.headers), body)
        bent = self.server.crook.request(asked)
        told = self.server.crook.answer(asked, self.server.forward(bent))
        self.send_response(int(told.line))
        for name, value in told.headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(told.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(told.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any  # noqa: N815 - http.server looks for these names

    def log_message(self, *_: object) -> None:
        """Not here."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, behind: Door, crook: Crook) -> None:
        super().__init__(("127.0.0.1", 0), _Crooked)
        self.behind, self.crook = behind, crook

    def forward(self, sent: Sent) -> Sent:
        connection = HTTPConnection(self.behind.url.removeprefix("http://"), timeout=60)
        method, _, path = sent.line.partition(" ")
        try:
            connection.request(method, path, body=sent.body or None, headers=dict(sent.headers))
            answer = connection.getresponse()
            return Sent(str(answer.status), dict(answer.getheaders()), answer.read())
        finally:
            connection.close()


@contextmanager
def crooked(behind: Door, crook: Crook, kind: Kind = SERVER) -> Iterator[Door]:
    server = _Server(behind, crook)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Door("url", f"http://127.0.0.1:{server.server_port}", kind, behind.key)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def unpacked(sent: Sent) -> Sent:
    """What a gateway makes of a compressed body."""
    if sent.headers.get("Content-Encoding") != "gzip":
        return sent
    body = gzip.decompress(sent.body)
    return replace(sent.without("content-encoding", "content-length"), body=body)


# --- an account ------------------------------------------------------------------------------------------------------

OUTPUTS = {
    "RestApiId": "abc123",
    "FunctionName": "sigla-function",
    "BucketName": "sigla-bodies",
    "TableName": "sigla-catalog",
}


@dataclass
class Aws:
    """AWS's own clients, which check what they are asked against AWS's model of it, and answer as they were told."""

    clients: Callable[[str], Any]
    outputs: dict[str, str] = field(default_factory=lambda: dict(OUTPUTS))
    _stubs: dict[str, tuple[Any, Stubber]] = field(default_factory=dict)

    def client(self, service: str, **_: Any) -> Any:
        return self._stubbed(service)[0]

    def says(self, service: str, method: str, answer: Mapping[str, Any], expected: Any = None) -> None:
        self._stubbed(service)[1].add_response(method, dict(answer), expected)

    def refuses(self, service: str, method: str, code: str, message: str) -> None:
        self._stubbed(service)[1].add_client_error(method, code, message)

    @property
    def account(self) -> Account:
        return Account("sigla", self.outputs, self.client)

    def _stubbed(self, service: str) -> tuple[Any, Stubber]:
        if service not in self._stubs:
            client = self.clients(service)
            stubber = Stubber(client)
            stubber.activate()
            self._stubs[service] = client, stubber
        return self._stubs[service]

    def close(self) -> None:
        for _, stubber in self._stubs.values():
            stubber.deactivate()


@pytest.fixture(scope="session")
def clients() -> Iterator[Callable[[str], Any]]:
    """A client of each service: it takes a while to read what AWS says of one."""
    session = boto3.Session("test", "test", region_name="us-east-1")
    with ExitStack() as opened:
        yield cache(lambda service: opened.enter_context(closing(session.client(service))))


@pytest.fixture
def aws(clients: Callable[[str], Any]) -> Iterator[Aws]:
    account = Aws(clients)
    yield account
    account.close()


def resource(type: str, physical: str) -> dict[str, Any]:
    """A stack of one resource, as `list_stack_resources` tells it."""
    return {
        "StackResourceSummaries": [
            {
                "LogicalResourceId": "A",
                "PhysicalResourceId": physical,
                "ResourceType": type,
                "LastUpdatedTimestamp": datetime.now(UTC),
                "ResourceStatus": "CREATE_COMPLETE",
            }
        ]
    }
