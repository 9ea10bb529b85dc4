"""Exporters in AWS that would write to where they read: what each function answers, and what writes nothing."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from sigla import wiring
from sigla.aws.clients import Clients
from sigla.exporters import recognition
from sigla.exporters.nouns import ExporterDraft
from sigla.exporters.verbs.changing import create_exporter
from sigla.regions.nouns import RegionKind, Role
from sigla.registry import Registry
from sigla.remote import connections
from sigla.settings import EXPORTERS_HERE
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from tests.contract.engines import BUCKET, REGION
from tests.functions.deployed import Client, Deployment, deployed
from tests.functions.test_two_regions import Region, answering

TEXT = {"schema": '"string"'}
COPIES = {"subjects": [":*:*"], "contextType": "CUSTOM", "context": "ex"}


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """Its functions may reach this machine, as if it stood elsewhere."""
    monkeypatch.setattr(connections, "may_reach_others", connections.may_reach_all)
    with deployed(monkeypatch, SIGLA_EXPORTERS=EXPORTERS_HERE) as made:
        yield made


@pytest.fixture
def store() -> Iterator[AwsStore]:
    """The same registry, as another process has opened it."""
    with closing(Clients(region=REGION)) as clients, closing(of_clients(clients)) as made:
        yield made


def of_clients(clients: Clients, bucket: str = BUCKET, registry: str = "default") -> AwsStore:
    return AwsStore(clients, os.environ["SIGLA_TABLE"], bucket, SystemClock(), registry=registry)


def knows(client: Client, mark: str) -> bool:
    """Whether it proves that it has the mark."""
    question = recognition.new_question(mark)
    said = client.get(f"/?exporter={question}").body
    assert set(said) <= {"exporter"}
    return recognition.is_answered(question, mark, said.get("exporter"))


@pytest.mark.parametrize("door", ["rest", "function_url"])
def test_each_instance_knows_its_registry_and_no_other(deployment: Deployment, door: str) -> None:
    """By the names of its table and its bucket, of which no two registries have the same; two regions by their pair."""
    clients = [Client(deployment.instance(), door) for _ in range(2)]
    with closing(Clients(region=REGION)) as opened, ExitStack() as stack:
        own, *others = (
            stack.enter_context(closing(of_clients(opened, **named)))
            for named in ({}, {"bucket": "another"}, {"registry": "other"})
        )
        marks = [store.mark() for store in (own, *others)]
        assert len(set(marks)) == 3
        for client in clients:
            assert [knows(client, mark) for mark in marks] == [True, False, False]
        assert own.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="pair"))
        assert own.mark() == "pair"
        assert all(knows(client, "pair") and not knows(client, marks[0]) for client in clients)


def test_each_registry_of_a_pool_is_one_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What chooses none of them is told nothing."""
    named = {"SIGLA_REGISTRIES": "default,ads", "SIGLA_REGISTRY_DOMAIN": "sr.example"}
    with deployed(monkeypatch, **named) as made, closing(Clients(region=REGION)) as opened:
        function = made.instance()
        clients = [Client(function, host=host) for host in ("default.sr.example", "ads.sr.example", "h")]
        for number, name in enumerate(("default", "ads")):
            with closing(of_clients(opened, registry=name)) as store:
                assert [knows(client, store.mark()) for client in clients] == [at == number for at in range(3)]


def test_a_stranger_costs_no_question_to_the_table(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """The role is read for what has the form of a question, and for nothing else."""
    read: list[AwsStore] = []
    plain = AwsStore.mark

    def mark(store: AwsStore) -> str:
        read.append(store)
        return plain(store)

    monkeypatch.setattr(AwsStore, "mark", mark)
    client = Client(deployment.instance())
    for said in ("", "x", "0" * 97):
        assert client.get(f"/?exporter={said}").body == {}
    assert not read
    assert client.get(f"/?exporter={'0' * 32}.{'0' * 64}").body == {}
    assert len(read) == 1


def test_one_instance_asks_another_one_and_the_function_of_exporters_asks_as_well(
    deployment: Deployment, store: AwsStore
) -> None:
    """Each answers one request at a time. What was let through, because none answered, writes nothing."""
    client = Client(deployment.instance())
    client("POST", "/subjects/orders/versions", TEXT)
    another = Region(REGION, store, {}, deployment.opened, handler=deployment.instance())
    with answering(another) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        form = {"name": "line", "config": {"schema.registry.url": url}}
        told = client("POST", "/exporters", form | COPIES)
        assert (told.status, told.code) == (409, 40951)
        assert f"{url} is this registry itself" in told.body["message"]
        assert client.get("/exporters").body == []
        assert [each.partition("=")[0] for each in another.asked] == ["GET /?exporter"]
        elsewhere = Registry(store.catalog, store.bodies, store.clock)
        create_exporter(elsewhere, ExporterDraft("line", subjects=(":*:*",), config={"schema.registry.url": url}))
        with closing(wiring.exporters_handler()) as handler:
            done = handler({}, None)
        assert (done["failing"], done["written"]) == (1, 0)
        status = client.get("/exporters/line/status").body
        assert status["state"] == "STARTING"
        assert status["trace"].startswith(f"{url} is this registry itself, ")
        assert client.get("/subjects?subjectPrefix=:*:").body == ["orders"]
        client("PUT", "/exporters/line/pause")
        assert client("PUT", "/exporters/line", {"subjects": [":*:"]}).code == 40951
        assert client("PUT", "/exporters/line", {"subjects": ["*"]}).status == 200
