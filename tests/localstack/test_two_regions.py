"""Both stacks of a registry in two regions of one LocalStack: deployed, in step, promoted, lost, and rejoined."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any

import pytest

from localstack import up
from localstack.server import CREDENTIALS, Server, running, session
from sigla.aws.clients import Clients
from sigla.regions import rules
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from tests.localstack.conftest import Door, free_port

pytestmark = [pytest.mark.localstack, pytest.mark.soak]

FIRST, SECOND = "us-east-1", "eu-central-1"


@dataclass(frozen=True)
class Region:
    """A stack. url: of its stores, as commands and settings have it."""

    name: str
    account: up.Account
    door: Door
    url: str

    def turn(self) -> dict[str, Any]:
        """What the clock does each minute, now."""
        with closing(self.client("lambda")) as functions:
            names = [each["FunctionName"] for each in functions.list_functions()["Functions"]]
            (name,) = [each for each in names if "Replay" in each]
            answer = functions.invoke(FunctionName=name, Payload='{"source": "aws.events"}')
            told: dict[str, Any] = json.load(answer["Payload"])
            assert "FunctionError" not in answer, told
            return told

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


def deployed(server: Server, region: str, *settings: str) -> Region:
    """What `make localstack` does, in a region. Deployed again, it gets what the settings add."""
    environ = CREDENTIALS | {"AWS_DEFAULT_REGION": region, "AWS_REGION": region}
    account = up.Account.given(
        replace(server, folder=server.folder / region),
        {**os.environ, **environ, "AWS_ENDPOINT_URL": server.endpoint},
        settings,
    )
    account.folder.mkdir(exist_ok=True)
    registry = account.bring_up(lambda _: None)
    with closing(session(server.endpoint, account.environ).client("cloudformation")) as client:
        (stack,) = [each for each in client.describe_stacks()["Stacks"] if each["StackStatus"] != "DELETE_COMPLETE"]
    told = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    url = f"dynamodb+s3://{told['TableName']}/{told['BucketName']}?region={region}"
    return Region(region, account, Door(registry.rest, (registry.key, registry.secret)), url)


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[Region, Region]]:
    """A registry that has been alone, and gets a second region while it answers."""
    up.need_node()
    server = Server.on(free_port())
    with running(os.environ, server):
        alone = deployed(server, FIRST)
        alone.register("orders", "Alone")
        second = deployed(server, SECOND, f"regions.peer={alone.url}", "regions.role=follower")
        yield deployed(server, FIRST, f"regions.peer={second.url}"), second


def twenty_minutes_later(first: Region) -> None:
    """As if the role had been there for so long: every writer has heard of it by then."""
    address = Address.read(first.url)
    with ExitStack() as opened:
        endpoint = first.account.endpoint
        clients = opened.enter_context(
            closing(Clients(region=first.name, s3_endpoint=endpoint, dynamodb_endpoint=endpoint))
        )
        store = opened.enter_context(closing(AwsStore(clients, *address.names, SystemClock())))
        role = store.region.role()
        assert role is not None
        assert store.region.set_role(role, replace(role, armed=role.armed - rules.KNOWN_MS))


def test_two_stacks_are_a_registry_in_two_regions(two: tuple[Region, Region], monkeypatch: pytest.MonkeyPatch) -> None:
    """No deployment between them, and no command but those of the run book."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    first, second = two
    # A registry that was alone is armed, and goes on meanwhile.
    assert second.turn()["role"] == "none"
    assert first.turn()["armed"] == 1
    assert first.register("orders-2", "Meanwhile") == 2
    assert second.turn()["copied"] == 0
    twenty_minutes_later(first)
    assert second.turn()["follows"] == 1
    # In step, whatever is done.
    assert first.register("orders", "Alone") == 1
    assert first.register("payments", "InStep") == 3
    assert first.door.ask("PUT", "/config/payments", {"compatibility": "FULL"})[0] == 200
    assert first.door.ask("DELETE", "/subjects/orders-2")[0] == 200
    told = second.turn()
    assert (told["role"], told["carry_out"], told["waiting"], told["stopped"]) == ("follower", 3, 0, 0)
    assert second.reads() == first.reads()
    # A planned promotion: the other one follows by itself.
    told_by = second.sigla("promote", second.url, "--primary", first.url, "--yes")
    assert "epoch 2" in told_by
    given = second.register("after", "Promoted")
    assert given > 100_000
    assert (second.turn()["role"], first.turn()["carry_out"]) == ("primary", 1)
    assert first.reads() == second.reads()
    assert first.door.ask("GET", f"/schemas/ids/{given}")[0] == 200
    # A region that is lost, and acknowledges what the other one never hears of.
    late = second.register("late", "Lost")
    first.sigla("promote", first.url, "--force", "--yes")
    kept = first.register("kept", "Kept")
    assert kept > max(late, given)
    assert second.turn()["closed"] == 1
    assert second.door.ask("POST", "/subjects/later/versions", fixed("Later"))[0] >= 500
    # It comes back, and brings that.
    second.sigla("rejoin", second.url, "--primary", first.url, "--yes", "--report", str(first.account.folder / "r"))
    assert first.door.ask("GET", f"/schemas/ids/{late}")[0] == 200
    assert second.turn()["follows"] == 1
    second.turn()
    assert second.reads() == first.reads()
    assert second.door.ask("GET", f"/schemas/ids/{kept}")[1] == first.door.ask("GET", f"/schemas/ids/{kept}")[1]
