"""LocalStack in host mode: closed doors, a bucket and a table that keep their promises, and a clean end."""

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from localstack.server import CREDENTIALS, Server, running, session, taken
from sigla_pipelines.connectors.maven import Unavailable
from tests.caches import needs_memcached, needs_valkey
from tests.localstack.conftest import gone, running_as
from tests.servers import two_free_ports
from tests.waiting import eventually

pytestmark = pytest.mark.localstack

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server(port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """It is killed in the end, as by an operator in despair; nothing goes on without it."""
    server = Server(port, tmp_path_factory.mktemp("localstack") / "run")
    with running(os.environ, server):
        process = server.process()
        assert process is not None
        yield server
        invoke_a_function(server)
        begin_a_cache(server)
        started = process.children(recursive=True)
        assert "awslambdaric" in running_as(started)
        assert "memcached" in running_as(started) or not shutil.which("memcached")
        process.send_signal(signal.SIGKILL)
        gone([process, *started])
        assert not taken(port)
    assert not server.folder.exists()


def client(server: Server, service: str) -> Any:
    return closing(session(server.endpoint).client(service))


def invoke_a_function(server: Server) -> None:
    """Its environment stays, as Lambda's do, and waits for the next event."""
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("handler.py", "def handler(event, context):\n    return event\n")
    role = "arn:aws:iam::000000000000:role/any"
    with client(server, "lambda") as lambda_:
        lambda_.create_function(
            FunctionName="echo",
            Runtime="python3.13",
            Role=role,
            Handler="handler.handler",
            Code={"ZipFile": code.getvalue()},
        )
        lambda_.get_waiter("function_active_v2").wait(FunctionName="echo", WaiterConfig={"Delay": 1})
        assert json.load(lambda_.invoke(FunctionName="echo", Payload=b"[1]")["Payload"]) == [1]


def begin_a_cache(server: Server) -> None:
    with client(server, "cloudformation") as cloudformation:
        cloudformation.create_stack(StackName="left", TemplateBody=groups())
        settled(cloudformation, "left")


@pytest.fixture(scope="module")
def dynamodb(server: Server) -> Iterator[Any]:
    """A client of a table called `table`."""
    with client(server, "dynamodb") as dynamodb:
        dynamodb.create_table(
            TableName="table",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
        yield dynamodb


def row(name: str) -> dict[str, Any]:
    return {"TableName": "table", "Key": {"pk": {"S": name}, "sk": {"S": "row"}}}


def one_more(name: str) -> dict[str, Any]:
    """What adds one to the number of a row."""
    return {**row(name), "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}


def number(dynamodb: Any, name: str) -> int:
    return int(dynamodb.get_item(**row(name), ConsistentRead=True).get("Item", {}).get("n", {"N": "0"})["N"])


def test_a_region_that_is_lost_answers_503_until_it_is_back(server: Server) -> None:
    """The others go on."""

    def asked(region: str) -> int:
        told = session(server.endpoint, CREDENTIALS | {"AWS_DEFAULT_REGION": region})
        with closing(told.client("dynamodb", config=Config(retries={"max_attempts": 0}))) as dynamodb:
            try:
                return int(dynamodb.list_tables()["ResponseMetadata"]["HTTPStatusCode"])
            except ClientError as refused:
                return int(refused.response["ResponseMetadata"]["HTTPStatusCode"])

    def outage(method: str) -> list[str]:
        request = urllib.request.Request(f"{server.endpoint}/_sigla/lost/eu-central-1", method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return list(json.load(answer))

    assert outage("PUT") == ["eu-central-1"]
    try:
        assert (asked("eu-central-1"), asked("us-east-1")) == (503, 200)
    finally:
        assert outage("DELETE") == []
    assert asked("eu-central-1") == 200


def test_a_taken_port_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """LocalStack itself would report `Ready.` and hear nothing. The second port is the function URL's."""
    port = two_free_ports()
    server = Server(port, tmp_path / "run")
    for number in (port, port + 1):
        with socket.socket() as other:
            other.bind(("127.0.0.1", number))
            other.listen()
            with pytest.raises(Unavailable, match=f"port {number} of 127.0.0.1 is taken"):
                server.start(os.environ)
    assert not server.folder.exists()


def test_a_localstack_that_does_not_come_up_tells_why(port: int, tmp_path: Path) -> None:
    """In its own words; and it leaves nothing behind. Where it is not installed, this is left out: it would be."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho out of order\n")
    broken.chmod(0o755)
    server = Server(two_free_ports(), tmp_path / "run", python=broken)
    with pytest.raises(Unavailable, match="out of order"):
        server.start(os.environ)
    assert server.process() is None
    assert not server.folder.exists()


def test_it_keeps_its_files_to_itself(tmp_path: Path) -> None:
    """Nothing under /var, nothing in the user's cache, no telemetry."""
    settings = Server(4566, tmp_path / "run").surroundings({"HOME": "kept"}, tmp_path)
    assert settings["HOME"] == "kept"
    assert settings["DISABLE_EVENTS"] == "1"
    assert settings["FILESYSTEM_ROOT"].startswith(str(tmp_path))
    assert ".localstack" in settings["XDG_CACHE_HOME"]


def test_it_is_found_again_by_whoever_knows_its_port(server: Server) -> None:
    """Another command stops what one command has started. A number that another process has now does not count."""
    process = Server(server.port, server.folder).process()
    assert process is not None
    assert process.is_running()
    elsewhere = Server(server.port, server.folder.with_name("elsewhere"))
    assert elsewhere.process() is None
    elsewhere.folder.mkdir()
    (elsewhere.folder / "server.json").write_text(f'{{"pid": {process.pid}, "since": 1.0}}')
    assert elsewhere.process() is None
    assert not elsewhere.stop()
    assert psutil.pid_exists(process.pid)


def test_it_answers_on_this_machine_alone(server: Server) -> None:
    """Another address of this machine stands for every other machine."""
    for number in (server.port, server.port + 1):
        with socket.socket() as elsewhere, pytest.raises(ConnectionRefusedError):
            elsewhere.connect(("127.0.0.2", number))


def test_objects_are_kept_write_once(server: Server) -> None:
    """A conditional put is what bodies rely on."""
    with client(server, "s3") as s3:
        s3.create_bucket(Bucket="bodies")
        s3.put_object(Bucket="bodies", Key="1", Body=b"first", IfNoneMatch="*")
        with pytest.raises(ClientError, match="PreconditionFailed"):
            s3.put_object(Bucket="bodies", Key="1", Body=b"second", IfNoneMatch="*")
        assert s3.get_object(Bucket="bodies", Key="1")["Body"].read() == b"first"


def test_writers_at_the_same_time_lose_nothing(dynamodb: Any) -> None:
    """Moto alone takes calls side by side and loses some."""
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda _: dynamodb.update_item(**one_more("crowd")), range(80)))
    assert number(dynamodb, "crowd") == 80


def test_a_transaction_that_fails_has_done_nothing(dynamodb: Any) -> None:
    """Neither to rows that are there nor to those that are not; an update changes a row where it stands."""
    dynamodb.update_item(**one_more("there"))
    never = {**row("condition"), "ConditionExpression": "attribute_exists(pk)"}
    actions = [{"Update": one_more(name)} for name in ("there", "new")]
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        dynamodb.transact_write_items(TransactItems=[*actions, {"ConditionCheck": never}])
    assert (number(dynamodb, "there"), number(dynamodb, "new")) == (1, 0)
    dynamodb.transact_write_items(TransactItems=actions)
    assert (number(dynamodb, "there"), number(dynamodb, "new")) == (2, 1)


def test_a_transaction_whose_answer_was_lost_can_be_sent_again(dynamodb: Any) -> None:
    """Its token says that it is the same. With other actions it is refused."""
    for _ in range(2):
        dynamodb.transact_write_items(TransactItems=[{"Update": one_more("token")}], ClientRequestToken="token")
    assert number(dynamodb, "token") == 1
    with pytest.raises(dynamodb.exceptions.IdempotentParameterMismatchException):
        dynamodb.transact_write_items(TransactItems=[{"Update": one_more("other")}], ClientRequestToken="token")
    assert number(dynamodb, "other") == 0


def groups(**properties: object) -> str:
    """A template with a group of Valkey and a cluster of Memcached, and their addresses as outputs."""
    valkey = {"Engine": "valkey", "ReplicationGroupDescription": "a ring", **properties}
    memcached = {"Engine": "memcached", "CacheNodeType": "cache.t4g.micro", "NumCacheNodes": 1}
    resources = {
        "Valkey": {"Type": "AWS::ElastiCache::ReplicationGroup", "Properties": valkey},
        "Memcached": {"Type": "AWS::ElastiCache::CacheCluster", "Properties": memcached},
    }
    attributes = {"Valkey": "PrimaryEndPoint", "Memcached": "ConfigurationEndpoint"}
    outputs = {
        name: {
            "Value": {"Fn::Join": [":", [{"Fn::GetAtt": [name, f"{where}.{what}"]} for what in ("Address", "Port")]]}
        }
        for name, where in attributes.items()
    }
    return json.dumps({"Resources": resources, "Outputs": outputs})


def settled(cloudformation: Any, stack: str) -> dict[str, Any]:
    """The stack, once nothing is under way."""
    described: dict[str, Any] = {}

    def idle() -> bool:
        described.update(cloudformation.describe_stacks(StackName=stack)["Stacks"][0])
        return not described["StackStatus"].endswith("IN_PROGRESS")

    eventually(idle)
    return described


def says(address: str, asked: bytes) -> bytes:
    """The beginning of what a cache answers; empty if it does not answer."""
    host, _, port = address.partition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(asked)
            return connection.recv(7)
    except ConnectionError:  # refused, or cut off in the middle
        return b""


@needs_valkey
@needs_memcached
def test_caches_of_a_stack_are_servers_of_this_machine(server: Server) -> None:
    """They answer at their addresses, are replaced where AWS replaces, and go with their stack."""
    with client(server, "cloudformation") as cloudformation:

        def addresses() -> dict[str, str]:
            outputs = settled(cloudformation, "caches")["Outputs"]
            return {output["OutputKey"]: output["OutputValue"] for output in outputs}

        cloudformation.create_stack(StackName="caches", TemplateBody=groups())
        first = addresses()
        assert says(first["Valkey"], b"PING\r\n") == b"+PONG\r\n"
        assert says(first["Memcached"], b"version\r\n") == b"VERSION"
        cloudformation.update_stack(StackName="caches", TemplateBody=groups(CacheNodeType="cache.t4g.small"))
        assert addresses() == first
        cloudformation.update_stack(StackName="caches", TemplateBody=groups(Port=7000))
        second = addresses()
        assert second["Memcached"] == first["Memcached"]
        assert says(second["Valkey"], b"PING\r\n") == b"+PONG\r\n"
        assert says(first["Valkey"], b"PING\r\n") == b""
        cloudformation.delete_stack(StackName="caches")
        eventually(lambda: not any(says(address, b"PING\r\n") for address in second.values()))


@needs_memcached
@pytest.mark.parametrize(
    "asked", [{"TransitEncryptionEnabled": True}, {"UserGroupIds": ["users"]}, {"NumCacheClusters": 2}], ids=str
)
def test_what_is_not_played_of_elasticache_is_refused(server: Server, asked: dict[str, object]) -> None:
    """A stack that asks for TLS would seem to have it."""
    (name,) = asked
    with client(server, "cloudformation") as cloudformation:
        cloudformation.create_stack(StackName=name, TemplateBody=groups(**asked))
        assert settled(cloudformation, name)["StackStatus"] != "CREATE_COMPLETE"
        events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        assert any(f"not emulated here: {name} as" in event.get("ResourceStatusReason", "") for event in events)


def test_it_does_not_outlive_whoever_it_is_tied_to(server: Server, tmp_path: Path) -> None:
    """A test run that is killed leaves no half gigabyte behind."""
    another = Server(two_free_ports(), tmp_path / "run")
    program = f"""
import os, pathlib
from localstack.server import Server
Server({another.port}, pathlib.Path({str(another.folder)!r})).start(os.environ, tied=True)
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 9
    deadline = time.monotonic() + 20
    while taken(another.port) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not taken(another.port)
    assert another.process() is None
