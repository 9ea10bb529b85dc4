"""Servers that tests share: one of each for a worker, begun when the first test wants it.

For tests/conftest.py alone: a fixture that is imported into several places is begun anew for each of them. Every run
imports this; what a server needs is imported when one is begun.
"""

import importlib
import os
import shutil
import socket
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def dynamodb_local() -> Iterator[str]:
    """The endpoint of one engine for all tests of this process: each makes a table of its own name."""
    from localstack import dynamodb
    from sigla_pipelines.connectors.maven import Unavailable

    try:
        with dynamodb.running() as endpoint:
            yield endpoint
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def localstack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of one LocalStack for all tests of this process; it believes what a caller says of itself."""
    from localstack.installation import installed
    from localstack.server import CREDENTIALS, Server, running

    if not installed():
        pytest.skip("LocalStack is not installed here: python -m localstack.installation")
    server = Server(two_free_ports(), tmp_path_factory.mktemp("localstack") / "run")
    with running(os.environ, server) as endpoint, pytest.MonkeyPatch.context() as environ:
        for name, value in CREDENTIALS.items():
            environ.setenv(name, value)
        yield endpoint


@pytest.fixture(scope="session")
def cdk() -> Any:
    """CDK's library, whose constructs live in a Node.js of their own: it takes seconds to import, and none at top."""
    if not shutil.which("node"):
        pytest.skip("CDK needs Node.js on the PATH")
    return importlib.import_module("aws_cdk")


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
