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
from localstack.installation import Unavailable
from sigla.aws.clients import Clients
from tests.conftest import ALLOWED_SKIPS

OLD_JAVA = 'openjdk version "11.0.20" 2023-07-18'
OLDEST_JAVA_NAMES = 'java version "1.8.0_392"'


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where nothing is installed."""
    monkeypatch.setattr(dynamodb, "HOME", tmp_path / "home")
    return tmp_path / "home"


def a_program(path: Path, name: str, script: str) -> None:
    (path / name).write_text(f"#!/bin/sh\n{script}\n")
    (path / name).chmod(0o755)


def a_java(path: Path, says: str) -> None:
    a_program(path, "java", f"echo '{says}' >&2")


def test_without_maven_it_says_what_to_do(path: Path, home: Path) -> None:
    """The reason is a sentence; a test that is left out for it repeats it."""
    with pytest.raises(Unavailable, match="no mvn here"):
        dynamodb.install()


@pytest.mark.parametrize("says", [OLD_JAVA, OLDEST_JAVA_NAMES, "not a Java"])
def test_a_java_that_is_too_old_is_refused_before_anything_is_fetched(path: Path, home: Path, says: str) -> None:
    """So is what only calls itself Java."""
    a_program(path, "mvn", "exit 1")
    a_java(path, says)
    with pytest.raises(Unavailable, match="needs Java 17 or newer"):
        dynamodb.install()


def test_without_java_it_says_what_to_do(path: Path) -> None:
    """As long as there is none."""
    with pytest.raises(Unavailable, match="no java here"):
        dynamodb.java()


def test_what_maven_says_when_it_fails_is_told_and_nothing_is_left(path: Path, home: Path) -> None:
    """The next attempt begins anew."""
    a_java(path, 'openjdk version "21.0.1" 2023-10-17')
    a_program(path, "mvn", "echo '[ERROR] no such host'; exit 1")
    with pytest.raises(Unavailable, match="no such host"):
        dynamodb.install()
    assert not dynamodb.installed()
    assert list(home.iterdir()) == []


def test_what_is_not_installed_is_not_started(home: Path) -> None:
    """Tests that want it are left out with this reason, and CI leaves out nothing for it: .ci/run installs it."""
    with pytest.raises(Unavailable) as reason, dynamodb.running():
        pass
    assert "python -m localstack.dynamodb --install" in str(reason.value)
    assert not any(re.fullmatch(allowed, str(reason.value)) for allowed in ALLOWED_SKIPS)


def test_a_changed_pom_wants_a_new_installation(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that is pinned is the one that runs."""
    home.mkdir()
    (home / "pom").write_text(dynamodb._digest())
    assert dynamodb.installed()
    other = home / "other.xml"
    other.write_text("<project/>")
    monkeypatch.setattr(dynamodb, "POM", other)
    assert not dynamodb.installed()


@pytest.fixture
def port() -> int:
    if not dynamodb.installed():
        pytest.skip("DynamoDB Local is not installed here: python -m localstack.dynamodb --install")
    return dynamodb._free_port()


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


def test_an_engine_that_does_not_come_up_tells_why(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own words; here Java finds no such class."""
    monkeypatch.setattr(dynamodb, "MAIN", "no.such.Engine")
    with pytest.raises(Unavailable, match=r"no\.such\.Engine"), dynamodb.running(port):
        pass


def test_a_block_that_fails_leaves_no_engine(port: int) -> None:
    """Whatever happens in it."""
    with pytest.raises(ZeroDivisionError), dynamodb.running(port):
        raise ZeroDivisionError
    assert not dynamodb._answers(port)


@pytest.mark.parametrize("ends_by", [signal.SIGTERM, signal.SIGINT])
def test_the_command_runs_until_it_is_told_to_stop(port: int, ends_by: signal.Signals) -> None:
    """It says where it answers; afterwards nobody listens."""
    command = [sys.executable, "-m", "localstack.dynamodb", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True, env=os.environ
    ) as server:
        assert server.stdout is not None
        assert f"http://127.0.0.1:{port}" in server.stdout.readline()
        server.send_signal(ends_by)
        assert server.wait(20) == 0
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port))
