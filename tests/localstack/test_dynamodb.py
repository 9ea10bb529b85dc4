"""DynamoDB's own engine: found or refused with a reason, alone in its place, and gone afterwards."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localstack import dynamodb
from sigla.aws.clients import Clients
from sigla.cache.servers import free_port
from sigla_pipelines.connectors.maven import Unavailable
from tests.conftest import ALLOWED_SKIPS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where nothing is installed."""
    monkeypatch.setattr(dynamodb, "HOME", tmp_path / "home")
    return tmp_path / "home"


def test_what_is_not_installed_is_not_started(home: Path) -> None:
    """Tests that want it are left out with this reason, and CI leaves out nothing for it: .ci/run installs it."""
    with pytest.raises(Unavailable) as reason, dynamodb.running():
        pass
    assert "python -m localstack.dynamodb --install" in str(reason.value)
    assert not any(re.fullmatch(allowed, str(reason.value)) for allowed in ALLOWED_SKIPS)


@pytest.fixture
def port() -> int:
    if not dynamodb.installed():
        pytest.skip("DynamoDB Local is not installed: run python -m localstack.dynamodb --install")
    return free_port()


@pytest.fixture
def client(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with dynamodb.running(port) as endpoint:
        assert endpoint == f"http://127.0.0.1:{port}"
        clients = Clients(region="us-east-1", dynamodb_endpoint=endpoint)
        yield clients.dynamodb
        clients.close()
    assert not dynamodb._answers(port), "it has not stopped"


def test_it_is_dynamodb(client: Any, port: int) -> None:
    """It honours a transaction's token, which the stand-in in process does not; and it is alone on its port."""
    # Its first call may take longer than the client waits, which then asks again.
    with contextlib.suppress(client.exceptions.ResourceInUseException):
        client.create_table(
            TableName="table",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    add = {
        "TableName": "table",
        "Key": {"pk": {"S": "counter"}},
        "UpdateExpression": "ADD given :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    for _ in range(2):
        client.transact_write_items(TransactItems=[{"Update": add}], ClientRequestToken="token")
    (counter,) = client.scan(TableName="table")["Items"]
    assert counter["given"] == {"N": "1"}
    with pytest.raises(Unavailable, match="taken"), dynamodb.running(port):
        pass


def test_an_engine_that_does_not_come_up_tells_why(port: int) -> None:
    """Its own words; here Java finds no such class."""
    with pytest.raises(Unavailable, match=r"no\.such\.Engine"), dynamodb.running(port, main="no.such.Engine"):
        pass


def test_a_block_that_fails_leaves_no_engine(port: int) -> None:
    """Whatever happens in it."""
    with pytest.raises(ZeroDivisionError), dynamodb.running(port):
        raise ZeroDivisionError
    assert not dynamodb._answers(port)


def test_the_command_runs_until_it_is_told_to_stop(port: int) -> None:
    """It says where it answers; afterwards nothing listens. Ctrl-C: tests/localstack/test_foreground.py."""
    command = [sys.executable, "-m", "localstack.dynamodb", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True, env=os.environ
    ) as server:
        assert server.stdout is not None
        assert f"http://127.0.0.1:{port}" in server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        try:
            assert server.wait(20) == 0
        finally:
            server.kill()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port))
