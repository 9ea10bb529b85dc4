"""Two registries in tables of DynamoDB of which one follows the other: what is told, and what both have then."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

import orjson

from sigla import keys
from sigla.ports.replaying import Shipment
from sigla.stores.dynamodb.actions import Action
from sigla.stores.dynamodb.fence import ROLE_ATTRIBUTES
from sigla.stores.dynamodb.replaying import AwsReplayer, AwsShipper
from sigla.stores.dynamodb.values import Item, read_item
from tests.attack.aws import Store
from tests.attack.replay import EPOCH
from tests.attack.world import World
from tests.contract.aws import Account, AwsStores
from tests.unit.aws.checking import settle

LOCAL: Final = {keys.HOLDERS: {"followed"}, keys.ID: {"at"}, keys.SETTINGS: {*ROLE_ATTRIBUTES, "form"}}
"""Attributes that each side has for itself, by the sort key."""
OWN: Final = {keys.principals_pk(""), keys.aside_pk(""), keys.copying_pk(""), keys.segments_pk("")}
"""Partitions that each side has for itself."""
OWN_OBJECTS: Final = ("journal/", "from/", "guids/handed/", "handed/")
"""Likewise, objects: segments, what the other region has told, and which ids and commits of keys it has handed over."""
TAB: Final = "\t"
OF_EXPORTERS: Final = {"state", "position", "ts", "trace"}


def primary(account: Account) -> World:
    return World(store=Store(account, epoch=EPOCH))


def follower(account: Account) -> World:
    return World(store=Store(account))


def stores(world: World) -> AwsStores:
    assert isinstance(world.store, Store)
    return world.store.stores


def shipped(world: World) -> list[Shipment]:
    return list(AwsShipper(stores(world).journal, stores(world).bodies).shipments())


def replayer(world: World, allowed: Sequence[Action] = (), *, since: int = 0) -> AwsReplayer:
    return stores(world).catalog.replayer(stores(world).bodies, allowed, since=since)


def check_equal(one: World, other: World) -> None:
    """Whatever is asked of either is answered with the same bytes, for it is what both have."""
    for world in (one, other):
        settle(stores(world))
    mine, theirs = contents(one), contents(other)
    for key in sorted({*mine, *theirs}, key=str):
        assert theirs.get(key) == mine.get(key), key
    other.store.check()


def contents(world: World) -> dict[Any, Any]:
    """Items by their keys and objects by their names, but for what each side has for itself."""
    of = stores(world)
    objects = dict(_objects(of))
    return dict[Any, Any](_items(of)) | {name: held for name, held in objects.items() if not _is_astray(name, objects)}


def _is_astray(name: str, objects: Mapping[str, bytes]) -> bool:
    """A pointer is put before its body: where that place was taken, one is left that leads to another content."""
    _, kind, *rest = name.split("/")
    if kind != "guids":
        return False
    guid, context, id = rest
    return guid.encode() not in objects.get(f"/schemas/{context}/{id}.json", b"")


def _items(of: AwsStores) -> Iterator[tuple[tuple[str, str], Item]]:
    arguments: dict[str, Any] = {"TableName": of.table, "ConsistentRead": True}
    numbers = defaultdict[str, Iterator[int]](count)
    while True:
        answer = of.dynamodb.scan(**arguments)
        for item in map(read_item, answer["Items"]):
            pk, sk = item.pop("pk").removeprefix(of.registry), item.pop("sk")
            if sk == keys.NEXT or pk in OWN or pk.startswith("#region#"):
                continue
            if pk == keys.listed_deks_pk(""):  # the end of its key is a hash, of the registry's name as well
                said = f"{sk.partition(TAB)[0]} {item}"
                sk = f"{said} {next(numbers[said])}"
            local = OF_EXPORTERS if pk == keys.exporters_pk("") else LOCAL.get(sk, {"segment"})
            if told := {name: value for name, value in item.items() if name not in local}:
                yield (pk, sk), told
        if "LastEvaluatedKey" not in answer:
            return
        arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _objects(of: AwsStores) -> Iterator[tuple[str, bytes]]:
    for page in of.s3.get_paginator("list_objects_v2").paginate(Bucket=of.bucket, Prefix=f"{of.registry}/"):
        for each in page.get("Contents", ()):
            if each["Key"].removeprefix(f"{of.registry}/").startswith(OWN_OBJECTS):
                continue
            body = of.s3.get_object(Bucket=of.bucket, Key=each["Key"])["Body"].read()
            name = each["Key"].removeprefix(of.registry)
            yield name, _committed(body) if name.startswith("/schemas/") else body


def _committed(body: bytes) -> bytes:
    """Without the mark of an import that may have been refused: a follower that has kept the commit leaves it out."""
    form = orjson.loads(body)
    return orjson.dumps({name: form[name] for name in form if name not in ("brought", "digest")})
