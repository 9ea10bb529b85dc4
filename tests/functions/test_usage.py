"""Reads by id are counted in functions: an environment may never be woken again, so nothing is left in its memory."""

import json
from collections.abc import Iterator

import pytest

from sigla.errors import StoreError
from sigla.stores.dynamodb.reads import AwsReads
from sigla.stores.dynamodb.table import Table
from tests.functions.deployed import Client, Deployment, deployed
from tests.functions.test_pool import SETTINGS, admins

VERSIONS = "/subjects/orders-value/versions"
ORDERS = {"schema": '"string"'}


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    with deployed(monkeypatch) as deployment:
        Client(deployment.instance())("POST", VERSIONS, ORDERS)
        yield deployment


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls to the table, in order."""
    calls: list[str] = []
    call = Table._call

    def counted(table: Table, operation: str, **parameters: object) -> object:
        calls.append(operation)
        return call(table, operation, **parameters)

    monkeypatch.setattr(Table, "_call", counted)
    return calls


def readers(client: Client) -> list[str]:
    told = client.get("/subjects/orders-value/usage").body
    return [read["by"] for version in told["versions"] for read in version["reads"]]


def test_what_an_environment_read_is_known_to_another_one_at_once(deployment: Deployment) -> None:
    """The first is frozen after its answer, and never closed."""
    assert Client(deployment.instance()).get("/schemas/ids/1").status == 200
    assert readers(Client(deployment.instance())) == ["anyone"]


def test_a_read_that_is_noted_asks_nothing_more(deployment: Deployment, asked: list[str]) -> None:
    """The same read costs what it costs without a count; the first of a day in an environment is looked up."""
    client, other = Client(deployment.instance()), Client(deployment.instance(SIGLA_USAGE="false"))
    told: dict[str, list[list[str]]] = {"counting": [], "not": []}
    for name, one in (("counting", client), ("not", other)):
        for _ in range(3):
            asked.clear()
            one.get("/schemas/ids/1?subject=orders-value")
            told[name].append(list(asked))
    assert told["counting"][1:] == told["not"][1:] == [[], []]
    first, without = told["counting"][0], told["not"][0]
    assert first[: len(without)] == without
    assert first[len(without) :] == ["batch_get_item", "update_item", "update_item"]  # once: since when it is counted
    asked.clear()
    Client(deployment.instance()).get("/schemas/ids/1?subject=orders-value")
    assert asked == [*without, "batch_get_item"], "it was noted today already"


def test_a_table_that_takes_no_note_fails_no_read(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(*_: object) -> None:
        raise StoreError("the table does not answer")

    client = Client(deployment.instance())
    with monkeypatch.context() as patched:
        patched.setattr(AwsReads, "note", silent)
        for _ in range(3):
            assert client.get("/schemas/ids/1").status == 200
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"usage"' in line]
    assert [line["message"] for line in lines] == [
        "Reads by id are not noted for now, because the table does not answer."
    ]


def test_each_registry_of_a_pool_counts_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with deployed(monkeypatch, **SETTINGS) as deployment:
        clients = admins(deployment, deployment.instance(), "ads", "pay")
        for client in clients.values():
            assert client("POST", VERSIONS, ORDERS).status == 200
        assert clients["ads"].get("/schemas/ids/1").status == 200
        assert len(readers(clients["ads"])) == 1
        assert readers(clients["pay"]) == []
