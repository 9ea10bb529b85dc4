"""Functions in zones, each with a ring of real caches: what is read from S3, what everybody sees, what may fail."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from sigla.aws.clients import Clients
from sigla.cache.servers import CacheServer
from sigla.functions.lifecycle import Renewed
from sigla.settings import InvalidSetting, Settings
from sigla.stores.s3.objects import Objects, Stored
from tests.caches import a_cache
from tests.contract.aws import make_table
from tests.contract.engines import REGION
from tests.functions.deployed import Client, Deployment, deployed
from tests.functions.test_read_your_writes import sees_at_once

A, B = "use1-az1", "use1-az2"
SCHEMAS = 10


@dataclass
class Zones:
    """A deployment with two zones, two members in the ring of each. reads: of bodies in S3, by their names."""

    deployment: Deployment
    rings: dict[str, list[CacheServer]]
    reads: Counter[str]

    def instance(self, zone: str, **settings: str) -> Renewed:
        addresses = ",".join(f"valkey://127.0.0.1:{member.port}" for member in self.rings[zone])
        return self.deployment.instance(SIGLA_ZONE=zone, SIGLA_RING=addresses, **settings)

    def client(self, zone: str, **settings: str) -> Client:
        """A client of an instance that has just begun."""
        return Client(self.instance(zone, **settings), "function_url")


@pytest.fixture
def zones(monkeypatch: pytest.MonkeyPatch, dynamodb_local: str) -> Iterator[Zones]:
    reads: Counter[str] = Counter()
    uncounted = Objects.read

    def counted(self: Objects, name: str) -> Stored | None:
        reads[name] += "/schemas/" in name
        return uncounted(self, name)

    monkeypatch.setattr(Objects, "read", counted)
    with ExitStack() as opened:
        rings = {zone: [opened.enter_context(a_cache("valkey")) for _ in range(2)] for zone in (A, B)}
        yield Zones(opened.enter_context(deployed(monkeypatch, dynamodb_local)), rings, reads)


def registered(client: Client, count: int) -> None:
    for number in range(count):
        text = f'{{"type":"record","name":"R{number}","fields":[]}}'
        assert client("POST", f"/subjects/s{number}/versions", {"schema": text}).status == 200


def read(client: Client, count: int) -> None:
    for id in range(1, count + 1):
        reply = client.get(f"/schemas/ids/{id}")
        assert reply.status == 200
        assert f'"R{id - 1}"' in reply.body["schema"]


def test_each_zone_reads_each_schema_from_s3_once(zones: Zones) -> None:
    """A new instance in a warm zone answers its first reads by id without one GET."""
    registered(zones.client(A), SCHEMAS)
    zones.reads.clear()
    for zone in (A, B):
        for _ in range(2):
            read(zones.client(zone), SCHEMAS)
    assert len(zones.reads) == SCHEMAS
    assert set(zones.reads.values()) == {2}


def test_another_zone_sees_at_once_what_one_has_done(zones: Zones) -> None:
    """Each question was answered otherwise there a moment before, and never out of a ring."""
    one, other = (zones.client(zone, SIGLA_HOLDERS_SECONDS="0") for zone in (A, B))
    sees_at_once(other, one)


def test_what_is_deleted_for_good_is_gone_at_once_in_its_zone(zones: Zones) -> None:
    """The ring had it; whoever has not asked yet is told what the store tells now."""
    registered(zones.client(A), 1)
    assert zones.client(A).get("/schemas/ids/1").status == 200
    deleting = zones.client(A)
    assert deleting("DELETE", "/subjects/s0").status == 200
    assert deleting("DELETE", "/subjects/s0?permanent=true").status == 200
    assert zones.client(A).get("/schemas/ids/1").body["error_code"] == 40403
    assert deleting.get("/schemas/ids/1").body["error_code"] == 40403


@pytest.mark.parametrize("other", [{"SIGLA_BUCKET": "wrong"}, {"SIGLA_BUCKET": "wrong", "SIGLA_IDENTITY": "a" * 32}])
def test_a_ring_tells_nothing_of_the_bucket_that_the_stack_had_before(zones: Zones, other: dict[str, str]) -> None:
    """It outlives a mistake by an hour: readers would decode with a wrong schema under the right id, and not notice."""
    clients = Clients(region=REGION)
    clients.s3.create_bucket(Bucket="wrong")
    elsewhere = make_table(clients.dynamodb)
    another = Client(zones.deployment.instance(SIGLA_BUCKET="wrong", SIGLA_TABLE=elsewhere))
    assert another("POST", "/subjects/s0/versions", {"schema": '"string"'}).body["id"] == 1
    registered(zones.client(A), 1)
    assert zones.client(A, **other).get("/schemas/ids/1").body["schema"] == '"string"'
    read(zones.client(A), 1)


def test_a_dead_ring_fails_no_request(zones: Zones) -> None:
    """Everything is read from S3 then, once by each instance."""
    registered(zones.client(A), SCHEMAS)
    warm = zones.client(A)
    read(warm, SCHEMAS)
    for member in zones.rings[A]:
        member.stop()
    zones.reads.clear()
    for client in (warm, zones.client(A)):
        read(client, SCHEMAS)
        read(client, SCHEMAS)
    assert zones.reads.total() == SCHEMAS
    assert warm("POST", "/subjects/s0/versions", {"schema": '"string"'}).status == 409


def test_a_probe_tells_where_it_is_and_how_its_ring_is(zones: Zones) -> None:
    """To whoever may invoke the function itself; the same event by the URL is a request like any other."""
    instance = zones.instance(A)
    dead = zones.rings[A][1]
    dead.stop()
    told = instance({"sigla": "probe"}, None)
    assert (told["zone"], told["runs_in"]) == (A, None)
    assert [(one["name"], bool(one["failure"])) for one in told["members"]] == [
        (f"127.0.0.1:{zones.rings[A][0].port}", False),
        (f"127.0.0.1:{dead.port}", True),
    ]


@pytest.mark.parametrize(
    "setting, text",
    [("HOLDERS_SECONDS", "-1"), ("MEMORY_SECONDS", "-1"), ("RING_SECONDS", "0"), ("RING_SECONDS", "1h")],
)
def test_times_that_cannot_be_are_refused(setting: str, text: str) -> None:
    """A ring would refuse every body."""
    with pytest.raises(InvalidSetting, match=f"SIGLA_{setting} is"):
        Settings.read({f"SIGLA_{setting}": text})


def test_a_ring_without_a_bucket_is_refused() -> None:
    """It would keep what is on this machine anyway."""
    with pytest.raises(InvalidSetting, match="SIGLA_RING"):
        Settings.read({"SIGLA_RING": "valkey://127.0.0.1:6379"})


@pytest.mark.parametrize("ring", ["redis://127.0.0.1:1", "valkey://127.0.0.1", ","])
def test_an_address_that_is_none_ends_the_start_with_a_sentence(zones: Zones, ring: str) -> None:
    """A typo must not become a registry without a ring."""
    with pytest.raises(InvalidSetting, match="SIGLA_RING"):
        zones.deployment.instance(SIGLA_RING=ring)
