"""The directory of zones: each zone's last heartbeat, whoever brings it, in whatever order it arrives."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from sigla.ports.zones import Zone, Zones
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.zones import KEPT_S, AwsZones
from sigla.stores.sqlite.zones import EmbeddedZones
from tests.build import NOW
from tests.contract.aws import Account, AwsStores

A = Zone("use1-az1", "us-east-1a", "https://a.example", healthy=True, checked=NOW)
B = Zone("use1-az10", "us-east-1b", "https://b.example", healthy=False, checked=NOW, reason="its function fails")
C = Zone("use1-az2", "us-east-1c", "https://c.example", healthy=True, checked=NOW)


def embedded(_: pytest.FixtureRequest) -> Iterator[Zones]:
    yield EmbeddedZones()


def in_aws(account: str) -> Callable[[pytest.FixtureRequest], Iterator[Zones]]:
    def made(request: pytest.FixtureRequest) -> Iterator[Zones]:
        with request.getfixturevalue(account).stores() as stores:
            yield of(stores)

    return made


def of(stores: AwsStores, registry: str = "") -> AwsZones:
    return AwsZones(stores.dynamodb, stores.table, SystemClock(), registry=registry or stores.registry)


ADAPTERS = {"embedded": embedded, "aws-moto": in_aws("moto"), "aws-dynamodb": in_aws("engine")}


@pytest.fixture(params=["embedded", "aws-moto", pytest.param("aws-dynamodb", marks=pytest.mark.process)])
def zones(request: pytest.FixtureRequest) -> Iterator[Zones]:
    yield from ADAPTERS[request.param](request)


def test_nobody_has_been_heard_of_at_first(zones: Zones) -> None:
    assert zones.list() == ()


def test_zones_are_listed_by_their_ids_as_they_were_found(zones: Zones) -> None:
    """By the characters of the id: `az10` comes before `az2`."""
    for zone in (C, A, B):
        zones.beat(zone)
    assert zones.list() == (A, B, C)


def test_a_zone_may_be_without_a_name(zones: Zones) -> None:
    """In a subnet that was there before its stack, of which a template knows the id alone."""
    unnamed = replace(A, name="")
    zones.beat(unnamed)
    assert zones.list() == (unnamed,)


def test_a_heartbeat_replaces_the_one_before(zones: Zones) -> None:
    """All of it: a reason that no longer holds is gone."""
    zones.beat(B)
    later = replace(B, name="us-east-1x", url="https://x.example", healthy=True, reason="", checked=NOW + 1)
    zones.beat(later)
    assert zones.list() == (later,)


def test_a_heartbeat_that_was_overtaken_changes_nothing(zones: Zones) -> None:
    """One that waited for a hung zone may arrive after the next one."""
    zones.beat(replace(A, checked=NOW + 1))
    zones.beat(replace(A, healthy=False))
    assert zones.list() == (replace(A, checked=NOW + 1),)


def test_registries_of_one_table_have_zones_of_their_own(moto: Account) -> None:
    with moto.stores() as stores:
        of(stores).beat(A)
        of(stores, "another").beat(B)
        assert of(stores).list() == (A,)


def test_a_row_goes_by_itself(moto: Account) -> None:
    """The attribute that DynamoDB is told to look at, in seconds."""
    with moto.stores() as stores:
        of(stores).beat(A)
        (row,) = stores.dynamodb.scan(TableName=stores.table)["Items"]
        assert row["expires"] == {"N": str(NOW // 1000 + KEPT_S)}
        assert (row["pk"], row["sk"]) == ({"S": f"{stores.registry}#z"}, {"S": "use1-az1"})
