"""Both stacks of a registry in two regions of one LocalStack, with their clock, which turns each minute."""

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from localstack import up
from localstack.assembly import deploy
from localstack.server import CREDENTIALS, Server, running, session
from sigla.auth import api_keys
from sigla.aws.clients import Clients
from sigla.regions import rules
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from tests.contract.aws import make_table
from tests.localstack.conftest import Door, free_port
from tests.waiting import eventually

FIRST, SECOND = "us-east-1", "eu-central-1"


@dataclass(frozen=True)
class Region:
    """A stack. url: of its stores, as commands and settings have it. function: its function URL.

    It turns by itself each minute, so what a turn of ours finds to do is not known.
    """

    name: str
    account: up.Account
    door: Door
    url: str
    function: str

    def turn(self) -> dict[str, Any]:
        """What the clock does each minute, now."""
        with closing(self.client("lambda")) as functions:
            names = [each["FunctionName"] for each in functions.list_functions()["Functions"]]
            (name,) = [each for each in names if "Replay" in each]
            answer = functions.invoke(FunctionName=name, Payload='{"source": "aws.events"}')
            told: dict[str, Any] = json.load(answer["Payload"])
            assert "FunctionError" not in answer, told
            return told

    def becomes(self, role: str) -> None:
        eventually(lambda: self.turn().get("role") == role, pause_s=1)

    def is_lost(self) -> None:
        """Nothing answers there, neither clients nor calls of AWS."""
        self._outage("PUT")

    def is_back(self) -> None:
        self._outage("DELETE")

    def _outage(self, method: str) -> None:
        request = urllib.request.Request(f"{self.account.endpoint}/_sigla/lost/{self.name}", method=method)
        urllib.request.urlopen(request, timeout=60).close()

    def client(self, service: str) -> Any:
        return session(self.account.endpoint, self.account.environ).client(service)

    def register(self, subject: str, name: str) -> int:
        status, told = self.door.ask("POST", f"/subjects/{subject}/versions", fixed(name))
        assert status == 200, told
        return int(told["id"])

    def sigla(self, *words: str, status: int = 0) -> str:
        done = self.account.sigla(*words)
        assert done.returncode == status, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def reads(self) -> dict[str, Any]:
        """All that clients read of it."""
        _, subjects = self.door.ask("GET", "/subjects?deleted=true")
        found = {subject: self.door.ask("GET", f"/subjects/{subject}/versions?deleted=true") for subject in subjects}
        paths = ["/config", "/mode", "/contexts", *(f"/schemas/ids/{id}" for id in range(1, 8))]
        paths += [f"/subjects/{subject}/versions/latest" for subject in subjects]
        return found | {path: self.door.ask("GET", path) for path in paths}


def fixed(name: str) -> dict[str, str]:
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 4})}


def account_in(server: Server, region: str, *settings: str) -> up.Account:
    environ = CREDENTIALS | {"AWS_DEFAULT_REGION": region, "AWS_REGION": region}
    folder = replace(server, folder=server.folder / region)
    account = up.Account.given(folder, {**os.environ, **environ, "AWS_ENDPOINT_URL": server.endpoint}, settings)
    account.folder.mkdir(exist_ok=True)
    return account


def url_of(region: str, table: str, bucket: str) -> str:
    return f"dynamodb+s3://{table}/{bucket}?region={region}"


def stores_in(server: Server, region: str) -> tuple[str, str]:
    """A table and a bucket that are there before the stack, so that the other stack can be told of them first.

    LocalStack changes no variable of a function that is there, as CloudFormation does.
    """
    clients = session(server.endpoint, account_in(server, region).environ)
    with closing(clients.client("dynamodb")) as dynamodb, closing(clients.client("s3")) as s3:
        bucket = f"registry-in-{region}"
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": region})
        return make_table(dynamodb), bucket


def deployed(server: Server, region: str, *settings: str) -> Region:
    """What `make localstack` does, in a region, but for the key."""
    account = account_in(server, region, *settings)
    assembly = up.synthesise(account.folder / "cdk.out", account.environ, settings)
    told = deploy(assembly, endpoint=account.endpoint, credentials=account.environ)
    account.claim(told["TableName"], told["BucketName"])
    url = url_of(region, told["TableName"], told["BucketName"])
    return Region(region, account, Door(account.rest_url(told), None), url, told["FunctionUrl"].rstrip("/"))


@contextmanager
def two_regions() -> Iterator[tuple[Region, Region]]:
    """A registry that is told of its other region, and that one. One key opens both.

    A request that is sent on goes with its credentials.
    """
    up.need_node()
    server = Server.on(free_port())
    with running(os.environ, server):
        # Function URLs are the ports behind the one of AWS, in the order in which they are made.
        first_url, second_url = (f"http://127.0.0.1:{server.port + number}" for number in (1, 2))
        table, bucket = stores_in(server, SECOND)
        first = deployed(server, FIRST, f"regions.peer={url_of(SECOND, table, bucket)}", f"regions.url={second_url}")
        second = deployed(
            server,
            SECOND,
            *(f"table_name={table}", f"bucket_name={bucket}"),
            *(f"regions.peer={first.url}", f"regions.url={first_url}", "regions.role=follower"),
        )
        assert (first.function, second.function) == (first_url, second_url)
        with opened_store(first) as here, opened_store(second) as there:
            key = "both", api_keys.create(here.keys, "both", "admin", (), now=0)[1]
            record = here.keys.get("both")
            assert record is not None
            there.keys.put("both", record)
        first, second = (replace(each, door=replace(each.door, key=key)) for each in (first, second))
        yield first, second


@contextmanager
def opened_store(region: Region) -> Iterator[AwsStore]:
    address, endpoint = Address.read(region.url), region.account.endpoint
    with ExitStack() as opened:
        for name, value in CREDENTIALS.items():
            opened.enter_context(pytest.MonkeyPatch.context()).setenv(name, value)
        clients = Clients(region=region.name, s3_endpoint=endpoint, dynamodb_endpoint=endpoint)
        opened.enter_context(closing(clients))
        yield opened.enter_context(closing(AwsStore(clients, *address.names, SystemClock())))


def twenty_minutes_later(first: Region) -> None:
    """As if it had its role for so long: every writer has heard of it by then."""
    with opened_store(first) as store:
        role = store.region.role()
        assert role is not None
        assert store.region.set_role(role, replace(role, armed=role.armed - rules.KNOWN_MS))


def in_step(one: Region, other: Region) -> tuple[Region, Region]:
    """The primary and the follower, whatever they were: armed, copied, and followed."""
    one.turn()
    twenty_minutes_later(one)
    eventually(lambda: {one.turn().get("role"), other.turn().get("role")} == {"primary", "follower"}, pause_s=1)
    return (one, other) if one.turn()["role"] == "primary" else (other, one)
