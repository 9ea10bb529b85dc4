"""What follows a registry's table, and the journal in its bucket as a reader finds it."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from sigla import keys, records
from sigla.functions.journal import Follower, following
from sigla.observe import Facts
from sigla.ports.clock import Clock
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.values import read_item
from sigla.stores.s3.objects import Objects
from sigla.upkeep.chain import verify
from tests.attack.aws import Store
from tests.attack.ports import Between, client
from tests.attack.world import World
from tests.contract.aws import Account, AwsStores
from tests.contract.engines import BUCKET
from tests.unit.aws.faults import Fault

Line = dict[str, Any]


# --- a registry ------------------------------------------------------------------------------------------------------


@pytest.fixture
def world(moto: Account) -> Iterator[World]:
    """A registry in this process."""
    with World(store=Store(moto)) as world:
        yield world


def stores_of(world: World) -> AwsStores:
    assert isinstance(world.store, Store)
    return world.store.stores


@pytest.fixture
def stores(world: World) -> AwsStores:
    return stores_of(world)


def do(world: World, *verbs: Callable[[Any], Any]) -> None:
    for verb in verbs:
        verb(world.registry)


# --- who follows it --------------------------------------------------------------------------------------------------


def untouched(_: Any, carry_out: Any) -> Any:
    return carry_out()


@contextmanager
def follower(
    stores: AwsStores,
    clock: Clock | None = None,
    *,
    between: Between = untouched,
    told: list[Facts] | None = None,
    **options: Any,
) -> Iterator[Follower]:
    """A fresh instance. between: stands before its clients. told: gets its lines. options: of `following`."""
    clock = clock or SystemClock()
    heard: list[Facts] = [] if told is None else told
    with closing(Objects(client("s3", stores.s3, between), BUCKET, clock=clock)) as objects:
        dynamodb = client("dynamodb", stores.dynamodb, between)
        whose: dict[str, Any] = {"registry": stores.registry, "tell": heard.append}
        with following(dynamodb, stores.table, objects, clock, **whose, **options) as made:
            yield made


def follow(stores: AwsStores, **options: Any) -> dict[str, Any]:
    """One invocation by a fresh instance, with every journal row of the table in its batch."""
    with follower(stores, **options) as one:
        return one(event_of(rows_of(as_streamed(stores))))


def at_any_call(*quick: Fault) -> list[Any]:
    """All faults as parameters; those that are not quick are for `make soak`."""
    return [pytest.param(fault, marks=[] if fault in quick else pytest.mark.soak) for fault in Fault]


# --- events ----------------------------------------------------------------------------------------------------------


def event_of(records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A batch of a stream as Lambda hands it over: plain JSON, bytes in base64."""
    batch = {"Records": list(records)}
    event: dict[str, Any] = json.loads(json.dumps(batch, default=_plain))
    return event


def _plain(value: Any) -> Any:
    return b64encode(value).decode() if isinstance(value, bytes) else str(value)


def as_streamed(stores: AwsStores) -> list[dict[str, Any]]:
    """Every row of the table as if it had been written now, without a stream."""
    pages = stores.clients.dynamodb.get_paginator("scan").paginate(TableName=stores.table)
    items = [item for page in pages for item in page["Items"]]
    return [
        {
            "eventName": "INSERT" if _is_journal(item) else "MODIFY",
            "dynamodb": {"Keys": {"pk": item["pk"], "sk": item["sk"]}, "NewImage": item},
        }
        for item in items
    ]


def rows_of(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The journal rows among them."""
    return [record for record in records if _is_journal(record["dynamodb"].get("NewImage", {"pk": {"S": ""}}))]


def _is_journal(item: dict[str, Any]) -> bool:
    return "#j#" in item["pk"]["S"]


# --- what there is ---------------------------------------------------------------------------------------------------


def journal_rows(stores: AwsStores) -> dict[tuple[int, str], dict[str, Any]]:
    """The rows of the registry's journal by time and nonce."""
    found = {}
    for record in rows_of(as_streamed(stores)):
        item = read_item(record["dynamodb"]["NewImage"])
        if keys.registry_of(item["pk"]) != stores.registry:
            continue
        at, _, nonce = item["sk"].partition("#")
        found[int(at), nonce] = item
    return found


def segments(stores: AwsStores) -> dict[str, list[Line]]:
    """Every segment by its name, in the order of names."""
    prefix, found = f"{stores.registry}/journal/", {}
    for page in stores.clients.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix):
        for each in page.get("Contents", ()):
            content = stores.s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read()
            found[each["Key"].removeprefix(prefix)] = [json.loads(line) for line in content.splitlines()]
    return found


def lines(stores: AwsStores) -> list[Line]:
    return [line for told in segments(stores).values() for line in told]


def told_rows(stores: AwsStores) -> list[tuple[int, str]]:
    """Time and nonce of each row that is told, as often as it is, in order."""
    return sorted((line["at"], line["nonce"]) for line in lines(stores) if line["part"] == 0)


def check_told_once(stores: AwsStores) -> None:
    """Each journal row stands in one segment, whole, and each segment names the one before."""
    rows = journal_rows(stores)
    assert told_rows(stores) == sorted(rows), "rows told twice, or not at all"
    assert all(item["segment"] for item in rows.values())
    parts = sorted((line["at"], line["nonce"], line["part"]) for line in lines(stores))
    assert len(parts) == len(set(parts))
    found = verify(stores.log)
    assert not found.flaws
    assert found.links == len(segments(stores))
    assert not found.unchained


# --- replay ----------------------------------------------------------------------------------------------------------


def replayed(told: Iterable[Line]) -> dict[str, Any]:
    """What the lines of segments add up to, in the form of `World.catalogued`."""
    state = _State()
    for line in sorted({_place(line): line for line in told}.values(), key=_place):
        key, value = json.loads(line["key"]), json.loads(line["value"] or "null")
        getattr(state, key["keytype"].lower() if "keytype" in key else "key")(key, value)
    return {
        "versions": state.versions,
        "configs": state.configs,
        "modes": state.modes,
        "contexts": state.contexts,
        "associations": state.associations,
        "keys": state.keys,
    }


def _place(line: Line) -> tuple[int, str, int]:
    return line["at"], line["nonce"], line["part"]


class _State:
    """A method for each type of record."""

    def __init__(self) -> None:
        self.versions: dict[tuple[str, int], tuple[int, bool]] = {}
        self.configs: dict[str, Any] = {}
        self.modes: dict[str, str] = {}
        self.contexts: set[str] = set()
        self.associations: dict[str, Any] = {}
        self.keys: dict[str, Any] = {}

    def assoc(self, key: Any, value: Any) -> None:
        self.associations.pop(str(key), None)
        if value is not None:
            self.associations[str(key)] = value

    def key(self, key: Any, value: Any) -> None:
        """A KEK or a DEK, of the topic `_dek_registry_keys`."""
        self.keys.pop(str(key), None)
        if value is not None:
            assert value["type"] == key["type"]
            self.keys[str(key)] = value

    def schema(self, key: Any, value: Any) -> None:
        place = key["subject"], key["version"]
        self.versions.pop(place, None)
        if value is not None:
            assert (value["subject"], value["version"]) == place
            assert value["schema"]
            self.versions[place] = value["id"], value["deleted"]

    def delete_subject(self, key: Any, value: Any) -> None:
        for (subject, version), (id, _) in list(self.versions.items()):
            if subject == key["subject"] and version <= value["version"]:
                self.versions[subject, version] = id, True

    def clear_subject(self, key: Any, value: Any) -> None:
        """What it clears, tombstones have said."""

    def config(self, key: Any, value: Any) -> None:
        self.configs.pop(key.get("subject", ""), None)
        if value is not None:
            self.configs[key.get("subject", "")] = records.config(value)

    def mode(self, key: Any, value: Any) -> None:
        self.modes.pop(key.get("subject", ""), None)
        if value is not None:
            self.modes[key.get("subject", "")] = value["mode"]

    def context(self, key: Any, value: Any) -> None:
        (self.contexts.discard if value is None else self.contexts.add)(key["context"])
