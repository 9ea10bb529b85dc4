"""One function for several registries: what is each one's own, what waits until it is asked, and what is shared."""

import json
import os
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from sigla import cli, instances, pooling
from sigla.aws.clients import Clients
from sigla.cache.members.local import LocalMember
from sigla.cache.ring import Ring
from sigla.functions.pool import Pool
from sigla.instances import TableAndBucket
from sigla.ports.zones import Zone
from sigla.settings import InvalidSetting
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from sigla.stores.ownership import EVENT
from tests.contract.engines import REGION
from tests.functions.deployed import Client, Deployment, deployed
from tests.issuer import Issuer
from tests.unit.web.test_gateway import function_url

IDENTITY = "0123456789abcdef" * 2
SCHEMA = {"schema": '"string"'}
MANY = tuple(f"r{number}" for number in range(50))
NAMES = ("default", "ads", "pay")
SETTINGS = {"SIGLA_AUTH": "keys", "SIGLA_REGISTRIES": ",".join(NAMES), "SIGLA_REGISTRY_DOMAIN": "sr.example"}

Written = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    with deployed(monkeypatch, **SETTINGS) as made:
        yield made


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Written:
    """The lines since one last looked, without those for people."""
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]


def admins(deployment: Deployment, function: Any, *names: str) -> dict[str, Client]:
    """A client of each registry, whose key names it."""
    return {
        name: Client(function, "function_url", f"etl@{name}", deployment.key_of(name, "etl")) for name in names or NAMES
    }


# --- the function -------------------------------------------------------------------------------------------------


def test_each_registry_has_ids_subjects_and_keys_of_its_own(deployment: Deployment) -> None:
    """Behind one URL; and one that has nothing has never heard of the others."""
    clients = admins(deployment, deployment.instance())
    for number, name in enumerate(("ads", "pay")):
        for subject in ["first", *["other"] * number]:
            schema = {"schema": json.dumps({"type": "fixed", "name": f"{name}_{subject}", "size": 4})}
            assert clients[name]("POST", f"/subjects/{name}-{subject}/versions", schema).status == 200
    assert {name: client.get("/subjects").body for name, client in clients.items()} == {
        "default": [],
        "ads": ["ads-first"],
        "pay": ["pay-first", "pay-other"],
    }
    assert [clients[name].get("/schemas/ids/2").status for name in ("pay", "ads")] == [200, 404]
    for name, other in (("ads", "pay"), ("pay", "default")):
        assert replace(clients[name], name=f"etl@{other}").get("/subjects").status == 401


def test_none_of_them_carries_out_what_a_region_sends_on(deployment: Deployment) -> None:
    """None has another region: the URL of the pool stands by mistake where that of a primary should."""
    client = admins(deployment, deployment.instance(), "ads")["ads"]
    shown = b64encode(f"{client.name}:{client.secret}".encode()).decode()
    headers = {"Authorization": f"Basic {shown}", "X-Sigla-Pair": "0123456789abcdef"}
    told = client.handler(function_url("POST", "/subjects/ads/versions", "", json.dumps(SCHEMA), headers=headers), None)
    assert (json.loads(told["body"])["error_code"], told["headers"]["x-sigla-pair"]) == (50003, "another")
    assert client.get("/subjects").body == []


def test_the_host_name_goes_before_the_user_at_both_doors(deployment: Deployment) -> None:
    """With a wildcard domain, each registry has a name of its own; there its keys need say nothing."""
    function = deployment.instance()
    clients = admins(deployment, function, "ads")
    assert clients["ads"]("POST", "/subjects/of-ads/versions", SCHEMA).status == 200
    for door in ("rest", "function_url"):
        plain = replace(clients["ads"], name="etl", door=door)
        assert replace(plain, host="ads.sr.example").get("/subjects").body == ["of-ads"]
        assert replace(plain, host="pay.sr.example").get("/subjects").status == 401
        told = plain.get("/subjects")
        assert told.status == 401
        assert "name the registry behind the user, as NAME@REGISTRY" in told.body["message"]


def test_clients_of_a_registry_that_is_alone_may_name_it(deployment: Deployment) -> None:
    """So they have the new user before a pool makes it necessary, and keep it where a pool ends."""
    function = deployment.instance(SIGLA_REGISTRIES="")
    secret = deployment.key("etl", "admin")
    for user, status in (("etl", 200), ("etl@default", 200), ("etl@ads", 401), ("etl@default@default", 401)):
        assert Client(function, "rest", user, secret).get("/subjects").status == status


def test_a_registry_costs_nothing_before_it_is_asked(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty of them start as fast as one, and hold no thread, no connection and no memory."""
    opened: list[str] = []
    instance = TableAndBucket.instance

    def noted(place: TableAndBucket, name: str = "", **more: Any) -> Any:
        opened.append(name)
        return instance(place, name, **more)

    monkeypatch.setattr(TableAndBucket, "instance", noted)
    threads = threading.active_count()
    function = deployment.instance(SIGLA_REGISTRIES=",".join(["default", *MANY]))
    assert opened == [""]
    assert threading.active_count() == threads
    client = admins(deployment, function, "r7")["r7"]
    for _ in range(3):
        assert client.get("/subjects").status == 200
    assert Client(function, name="etl@r8", secret="wrong").get("/subjects").status == 401
    assert opened == ["", "r7", "r8"]


def test_any_number_of_registries_is_asked_in_turns(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are open at once: what is closed for another one is opened again, and knows what it knew."""
    monkeypatch.setattr(pooling, "Pool", partial(Pool, most=2))
    function = deployment.instance(SIGLA_REGISTRIES=",".join(["default", *MANY]))
    clients = admins(deployment, function, *MANY[:4])
    for name, client in clients.items():
        assert client("POST", f"/subjects/of-{name}/versions", SCHEMA).body["id"] == 1
    for name, client in clients.items():
        assert client.get("/subjects").body == [f"of-{name}"]


def test_strangers_who_know_all_names_make_no_registry_cold(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    """By keys that are wrong, and on paths that need none: what was read stays at hand."""
    monkeypatch.setattr(pooling, "Pool", partial(Pool, most=2))
    told = {"SIGLA_LOG_REQUESTS": "true", "SIGLA_LOG_READS": "1"}
    function = deployment.instance(SIGLA_REGISTRIES=",".join(["default", *MANY]), **told)
    client = admins(deployment, function, "r0")["r0"]
    assert client("POST", "/subjects/orders/versions", SCHEMA).body["id"] == 1
    assert client.get("/schemas/ids/1").status == 200
    written()
    for name in MANY[1:8]:
        stranger = Client(function, "rest", f"etl@{name}", "wrong")
        assert [stranger.get(path).status for path in ("/subjects", "/schemas/types")] == [401, 200]
        assert client.get("/schemas/ids/1").status == 200
    assert [line["tier"] for line in written() if "tier" in line] == ["memory"] * 7


def test_a_restored_copy_of_a_pool_has_nothing_of_what_was_open(deployment: Deployment) -> None:
    """As for one registry: all is built anew after a snapshot was restored, and closed before it."""
    function = deployment.instance()
    clients = admins(deployment, function)
    assert clients["ads"]("POST", "/subjects/of-ads/versions", SCHEMA).status == 200
    function.renew()
    assert clients["ads"].get("/subjects").body == ["of-ads"]
    assert clients["pay"].get("/subjects").body == []


def test_a_pool_asks_aws_no_more_than_a_registry_that_is_alone(
    monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    """Call for call, for the first request of a registry and for the next ones."""
    counted = {}
    steps = (
        ("POST", "/subjects/orders/versions", SCHEMA),
        ("POST", "/subjects/orders/versions", SCHEMA),
        ("GET", "/schemas/ids/1", None),
        ("GET", "/schemas/ids/1", None),
        ("GET", "/subjects", None),
        ("DELETE", "/subjects/orders", None),
    )
    for registries in ("", "default,ads"):
        logged = {"SIGLA_AUTH": "keys", "SIGLA_LOG_REQUESTS": "true", "SIGLA_LOG_READS": "1"}
        with deployed(monkeypatch, **logged, SIGLA_REGISTRIES=registries, SIGLA_IDENTITY="") as deployment:
            name = "ads" if registries else "default"
            key = deployment.key_of(name, "etl")
            client = Client(deployment.instance(), "rest", f"etl@{name}" if registries else "etl", key)
            assert [client(*step).status for step in steps] == [200] * len(steps)
        counted[registries] = [line["calls"] for line in written() if line.get("event") == "request"]
    assert counted["default,ads"] == counted[""]
    assert len(counted[""]) == len(steps)


def test_registries_of_a_pool_together_keep_no_more_at_hand_than_one_alone(
    monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    """The function's memory does not grow with the pool: each has an equal part, here of room for four schemas."""
    tiers = {}
    for registries in ("", "default,ads"):
        told = {
            "SIGLA_AUTH": "keys",
            "SIGLA_LOG_REQUESTS": "true",
            "SIGLA_LOG_READS": "1",
            "SIGLA_MEMORY_BYTES": "7000",
        }
        with deployed(monkeypatch, **told, SIGLA_REGISTRIES=registries) as deployment:
            function = deployment.instance()
            name, asked = ("ads", "etl@ads") if registries else ("default", "etl")
            client = Client(function, "rest", asked, deployment.key_of(name, "etl"))
            for number in range(1, 5):
                schema = {"schema": json.dumps({"type": "fixed", "name": f"F{number}", "size": number})}
                assert client("POST", f"/subjects/s{number}/versions", schema).body["id"] == number
            written()
            for _ in range(2):
                assert {client.get(f"/schemas/ids/{number}").status for number in range(1, 5)} == {200}
        tiers[registries] = [line["tier"] for line in written() if "tier" in line][4:]
    assert tiers == {"": ["memory"] * 4, "default,ads": ["s3"] * 4}


def test_in_a_zone_registries_share_a_ring_and_no_entry_of_it(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    """Both have an id 1, and each instance of the zone finds its own registry's in the ring."""
    clock = SystemClock()
    ring = LocalMember(clock)
    monkeypatch.setattr(instances, "_ring", lambda *_: Ring({"one": ring}, clock))
    told = {"SIGLA_LOG_REQUESTS": "true", "SIGLA_LOG_READS": "1"}
    clients = admins(deployment, deployment.instance(**told), "ads", "pay")
    texts = {name: json.dumps({"type": "fixed", "name": name, "size": 4}, separators=(",", ":")) for name in clients}
    for name, client in clients.items():
        assert client("POST", "/subjects/orders/versions", {"schema": texts[name]}).body["id"] == 1
        assert client.get("/schemas/ids/1").status == 200
    another = deployment.instance(**told)
    written()
    for name, client in clients.items():
        assert replace(client, handler=another).get("/schemas/ids/1").body["schema"] == texts[name]
    assert [line["tier"] for line in written() if "tier" in line] == ["ring", "ring"]


def test_each_registry_of_a_pool_tells_the_zones_of_the_stage(deployment: Deployment) -> None:
    """Clients look for the endpoint of their zone by the user that they have; the heartbeat knows one directory."""
    there = Zone("use1-az1", "us-east-1a", "https://zone.example", healthy=True, checked=SystemClock().now())
    with closing(Clients(region=REGION)) as clients:
        AwsStore(clients, os.environ["SIGLA_TABLE"], os.environ["SIGLA_BUCKET"], SystemClock()).zones.beat(there)
    function = deployment.instance()
    for client in (Client(function), *admins(deployment, function).values()):
        assert [each["url"] for each in client.get("/zones").body] == [there.url]


def test_who_wants_an_exporter_is_told_what_to_deploy(deployment: Deployment) -> None:
    """What makes exporters possible for a registry that is alone is refused for a pool."""
    client = admins(deployment, deployment.instance(), "ads")["ads"]
    told = client("POST", "/exporters", {"name": "mirror", "config": {"schema.registry.url": "https://there.example"}})
    assert told.status >= 400
    assert "a pool has none. Give this registry a stage of its own" in told.body["message"]


def test_a_flood_in_one_registry_is_no_429_of_another(deployment: Deployment) -> None:
    """Each has the whole quota."""
    clients = admins(deployment, deployment.instance(SIGLA_QUOTA_REQUESTS_PER_SECOND="0.01"))
    assert [clients["ads"].get("/subjects").status for _ in range(2)] == [200, 429]
    assert [clients["pay"].get("/subjects").status for _ in range(2)] == [200, 429]


def test_lines_say_which_registry_was_asked_and_metrics_are_the_pools(
    monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    """Metrics of each would cost $2.40 a month for each, asked or not: their line says how many were of which."""
    with deployed(monkeypatch, **SETTINGS | {"SIGLA_LOG_REQUESTS": "true", "SIGLA_LOG_READS": "1"}) as deployment:
        function = deployment.instance()
        clients = admins(deployment, function)
        clients["ads"].get("/subjects")
        clients["pay"].get("/subjects")
        clients["pay"].get("/schemas/ids/7")
        Client(function).get("/subjects")
        lines = written()
    told = [(line.get("registry"), line["status"]) for line in lines if line.get("event") == "request"]
    assert told == [("ads", 200), ("pay", 200), ("pay", 404), (None, 401)]
    metrics = [line for line in lines if "_aws" in line]
    assert {line["service"] for line in metrics} == {"sigla-default"}
    assert [line["registries"] for line in metrics if "registries" in line] == [{"ads": 1}]


def test_data_of_another_deployment_is_refused_where_it_is_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    """A registry that was added before `sigla init` said whose it is takes no write; its neighbours go on."""
    with deployed(monkeypatch, **SETTINGS, SIGLA_IDENTITY=IDENTITY) as deployment:
        place = ["--bucket", os.environ["SIGLA_BUCKET"], "--table", os.environ["SIGLA_TABLE"], "--identity", IDENTITY]
        for name in ("default", "ads"):
            assert cli.main(["init", *place, "--registry", name]) == 0
        clients = admins(deployment, deployment.instance())
        written()
        statuses = {
            name: client("POST", "/subjects/orders/versions", SCHEMA).status for name, client in clients.items()
        }
    assert statuses == {"default": 200, "ads": 200, "pay": 500}
    lines = [line for line in written() if line.get("event") == EVENT]
    assert {line["registry"] for line in lines} == {"pay"}


# --- what is wrong at the start -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"SIGLA_REGISTRIES": "ads"}, "^SIGLA_REGISTRIES leaves out default, the SIGLA_REGISTRY_NAME"),
        ({"SIGLA_REGISTRIES": "default,Ads"}, "^SIGLA_REGISTRIES: 'Ads' cannot be the name of a registry"),
        ({"SIGLA_REGISTRY_DOMAIN": "*.x"}, r"^SIGLA_REGISTRIES: '\*\.x' names no domain"),
        ({"SIGLA_TABLE": "", "SIGLA_BUCKET": ""}, "^SIGLA_REGISTRIES of a function are in one table and one bucket"),
        (
            {"SIGLA_ISSUERS": json.dumps([Issuer().setting({"when": {"sub": "a"}, "role": "reader"})])},
            'names no "registry"',
        ),
    ],
)
def test_a_pool_that_cannot_be_does_not_start(deployment: Deployment, wrong: dict[str, str], sentence: str) -> None:
    """A client must not be the first to learn it."""
    with pytest.raises(InvalidSetting, match=sentence):
        deployment.instance(**wrong)
