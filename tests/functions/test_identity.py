"""A deployment whose table was forgotten, as its clients meet it; and how a person puts it right."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from sigla import wiring
from sigla.aws.clients import Clients
from sigla.cli import main
from sigla.errors import ForeignData
from sigla.functions.telemetry import FOREIGN
from sigla.stores import ownership
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION
from tests.functions.deployed import Client, Deployment, Reply, deployed
from tests.functions.lambda_api import lambda_api
from tests.functions.test_heartbeat import a_zone
from tests.functions.unwell import FAILING, unwell

DOORS = ("rest", "function_url")
OURS, THEIRS = "a" * 32, "b" * 32
ORDERS, CUSTOMERS = ({"schema": f'{{"type":"record","name":"{name}","fields":[]}}'} for name in ("Order", "Customer"))

Captured = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Account:
    """table: the right one, in which `orders` has id 1. forgotten: the empty one that came in its place."""

    deployment: Deployment
    table: str
    forgotten: str

    def client(self, table: str, door: str = "rest", **settings: str) -> Client:
        """A client before a function that has just been deployed."""
        return Client(self.deployment.instance(SIGLA_IDENTITY=OURS, SIGLA_TABLE=table, **settings), door)


def init(table: str, identity: str, *more: str) -> None:
    assert main(["init", "--bucket", BUCKET, "--table", table, "--identity", identity, *more]) == 0


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Iterator[Account]:
    monkeypatch.setattr(ownership, "AGAIN_MS", 0)
    with deployed(monkeypatch) as deployment:
        dynamodb = Clients(region=REGION).dynamodb
        account = Account(deployment, make_table(dynamodb), make_table(dynamodb))
        init(account.table, OURS)
        ask = account.client(account.table)
        assert ask("POST", "/subjects/orders/versions", ORDERS).body["id"] == 1
        capsys.readouterr()
        yield account


def check_refused(reply: Reply, store: str, borne: str) -> None:
    assert (reply.status, reply.code) == (500, 50002)
    assert reply.body["message"].endswith(
        f" was refused: the registry's {store} has {borne}, so its ids may be those of another registry; an operator "
        f"deploys with the right {store}, or says with sigla init that it is this one"
    )


@pytest.mark.parametrize("door", DOORS)
def test_a_forgotten_table_gives_no_id_away_twice(account: Account, door: str) -> None:
    """Writes are refused, ids are told on, and no empty list says that there never was anything."""
    ask = account.client(account.forgotten, door)
    check_refused(ask("POST", "/subjects/customers/versions", CUSTOMERS), "table", "no identity")
    check_refused(ask("PUT", "/config", {"compatibility": "NONE"}), "table", "no identity")
    read = ask.get("/schemas/ids/1")
    assert (read.status, read.body["subject"], read.body["schema"]) == (200, "orders", ORDERS["schema"])
    for target in (
        "/subjects",
        "/subjects/orders/versions/latest",
        "/config",
        "/contexts",
        "/schemas",
        "/schemas/ids/9",
    ):
        check_refused(ask.get(target), "table", "no identity")
    assert ask.get(f"/schemas/guids/{read.body['guid']}").body["schema"] == ORDERS["schema"]
    assert ask.get("/zones").body == []
    assert account.client(account.table, door).get("/subjects").body == ["orders"]


@pytest.mark.parametrize("door", DOORS)
def test_anothers_table_is_as_bad(account: Account, door: str) -> None:
    """A stage that was mixed up with another one."""
    init(account.forgotten, THEIRS, "--i-mean-it")  # and the bucket with it
    init(account.table, OURS, "--i-mean-it")
    ask = account.client(account.forgotten, door)
    check_refused(ask("POST", "/subjects/customers/versions", CUSTOMERS), "table", "the identity of another deployment")
    assert ask.get("/schemas/ids/1").status == 200


def test_a_person_claims_it_and_nothing_is_deployed_again(account: Account) -> None:
    """A registry of an earlier release is read on until then."""
    ask = account.client(account.forgotten)
    assert ask("POST", "/subjects/customers/versions", CUSTOMERS).code == 50002
    init(account.forgotten, OURS, "--i-mean-it")
    assert ask("POST", "/subjects/customers/versions", CUSTOMERS).status == 200


def test_a_silent_table_is_silent_and_not_foreign(account: Account) -> None:
    """50001 passes by itself; no operator is told to claim anything."""
    with unwell(FAILING) as dynamodb:
        ask = account.client(account.table, AWS_ENDPOINT_URL_DYNAMODB=dynamodb.endpoint)
        assert ask("POST", "/subjects/customers/versions", CUSTOMERS).code == 50001
        assert ask.get("/subjects").code == 50001
        assert ask.get("/schemas/ids/1").status == 200


def lines(capsys: Captured) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_it_is_told_and_counted_with_every_request(account: Account, capsys: Captured) -> None:
    """Also where only ids are read, whose answers are all right: an alarm rings before a client registers."""
    ask = account.client(account.forgotten, SIGLA_LOG_REQUESTS="true", SIGLA_LOG_READS="1")
    ask.get("/schemas/ids/1")
    told = lines(capsys)
    (event,) = [line for line in told if line.get("event") == "foreign-data"]
    assert (event["level"], event["store"], event["found"]) == ("ERROR", "table", "")
    assert f"the table {account.forgotten} has no identity, and this deployment is {OURS}" in event["message"]
    assert [line[FOREIGN] for line in told if FOREIGN in line] == [[1.0]]
    init(account.forgotten, OURS, "--i-mean-it")
    ask.get("/schemas/ids/1")
    capsys.readouterr()
    ask.get("/subjects")
    assert not [line for line in lines(capsys) if FOREIGN in line or line.get("event") == "foreign-data"]


def test_an_environment_looks_once(account: Account, capsys: Captured) -> None:
    """With its first request, two calls beside what that asks itself; afterwards nothing is asked besides."""

    def calls(**settings: str) -> list[int]:
        ask = Client(account.deployment.instance(SIGLA_TABLE=account.table, SIGLA_LOG_REQUESTS="true", **settings))
        capsys.readouterr()
        for _ in range(3):
            assert ask("POST", "/subjects/orders/versions", ORDERS).status == 200
        return [line["calls"] for line in lines(capsys) if line.get("event") == "request"]

    first, *others = calls()
    assert calls(SIGLA_IDENTITY=OURS) == [first + 2, *others]


def test_the_journal_of_anothers_table_is_not_written(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows would be marked as told, in a bucket where they are not looked for."""

    def catch_up(table: str) -> Any:
        monkeypatch.setenv("SIGLA_TABLE", table)
        with closing(wiring.journal_handler()) as journal:
            return journal({"source": "aws.events"}, None)

    monkeypatch.setenv("SIGLA_IDENTITY", OURS)
    with pytest.raises(ForeignData):
        catch_up(account.forgotten)
    assert catch_up(account.table)["rows"] == 1


def test_no_zone_of_ours_is_told_in_anothers_table(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its clients would come to us, where ids mean something else."""

    def beat(table: str) -> Any:
        monkeypatch.setenv("SIGLA_TABLE", table)
        with closing(wiring.heartbeat_handler()) as heartbeat:
            return heartbeat(a_zone("use1-az1"), None)

    monkeypatch.setenv("SIGLA_IDENTITY", OURS)
    with lambda_api({}) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", endpoint)
        with pytest.raises(ForeignData):
            beat(account.forgotten)
        assert beat(account.table)["zone"] == "use1-az1"
    assert [zone["id"] for zone in account.client(account.table).get("/zones").body] == ["use1-az1"]
