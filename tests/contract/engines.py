"""What the adapters of AWS are run on: S3 and DynamoDB in this process (moto), DynamoDB's own engine, LocalStack."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from moto import mock_aws

from localstack import dynamodb
from localstack.installation import Unavailable, installed
from localstack.server import CREDENTIALS, Server, running
from sigla.aws.clients import Clients

REGION = "us-east-1"
BUCKET = "bodies"


class OneAtATime:
    """A client whose calls wait for each other: moto copies and restores its tables without a lock."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        return self._locked(found) if callable(found) else found

    def _locked(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def locked(*args: Any, **parameters: Any) -> Any:
            with self._lock:
                return call(*args, **parameters)

        return locked


@contextmanager
def in_process(*, dynamodb_endpoint: str | None = None) -> Iterator[Clients]:
    """Clients of an account in this process, with an empty bucket; with an endpoint, DynamoDB is the one there."""
    with mock_aws():
        clients = Clients(region=REGION, dynamodb_endpoint=dynamodb_endpoint)
        try:
            clients.s3.create_bucket(Bucket=BUCKET)
            yield clients
        finally:
            clients.close()


@pytest.fixture(scope="session")
def dynamodb_local() -> Iterator[str]:
    """The endpoint of one engine for all tests of this process: each makes a table of its own name."""
    try:
        with dynamodb.running() as endpoint:
            yield endpoint
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def localstack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of one LocalStack for all tests of this process; whoever speaks to it is who it takes him for."""
    if not installed():
        pytest.skip("LocalStack is not installed here: python -m localstack.installation")
    server = Server(two_free_ports(), tmp_path_factory.mktemp("localstack") / "run")
    with running(os.environ, server) as endpoint, pytest.MonkeyPatch.context() as environ:
        for name, value in CREDENTIALS.items():
            environ.setenv(name, value)
        yield endpoint


def two_free_ports() -> int:
    """The first of two neighbours: LocalStack wants them both."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            number = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", number + 1))
            except (OSError, OverflowError):
                continue
            return number
