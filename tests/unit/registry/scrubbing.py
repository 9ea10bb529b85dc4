"""Registries that can be broken in every way that scrub knows: one in a directory, one in a table and a bucket."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from sigla import keys, records
from sigla.aws.secrets import AwsSecrets
from sigla.model import DEFAULT_CONTEXT, BodyKey, Draft, OfferedReference, SchemaId, Subject, Version
from sigla.ports.marks import Marks
from sigla.ports.store import Store
from sigla.registry import Registry
from sigla.rules.guid import guid_of
from sigla.stores.dynamodb import values
from sigla.stores.dynamodb.inventory import AwsInventory
from sigla.stores.dynamodb.marks import BucketMark, TableMark
from sigla.stores.dynamodb.places import JOURNAL_SHARDS, Places
from sigla.stores.s3.objects import Objects
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, StoreOf, a_body, a_text, tiers_before
from tests.contract.aws import Account, of_two_parts
from tests.contract.engines import BUCKET

ADDRESS, ORDER, GONE = (Subject(DEFAULT_CONTEXT, name) for name in ("address", "order", "gone"))
TEAM = Subject(".team/Ä%", "address")
WITH_ADDRESS = (
    '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"to","type":"Address"}]}'
)


class Broken(Protocol):
    """A registry's parts behind its own back. None of these looks left or right."""

    store: StoreOf

    def remove_object(self, key: BodyKey) -> None: ...
    def write_object(self, key: BodyKey, content: bytes) -> None: ...
    def remove_pointer(self, key: BodyKey, guid: str) -> None: ...
    def set_counter(self, context: str, to: int) -> None: ...
    def remove_version(self, subject: Subject, version: int) -> None:
        """The only one of its subject."""
        ...

    def change_version(self, subject: Subject, version: int, **changes: Any) -> None: ...
    def forget(self, subject: Subject, version: int) -> None:
        """Removes it from the journal."""
        ...


@dataclass
class InADirectory:
    store: StoreOf
    embedded: EmbeddedStore

    def _execute(self, sql: str, *parameters: Any) -> None:
        self.embedded._unit._database.writer.execute(sql, parameters)

    def _path(self, key: BodyKey) -> Path:
        return self.embedded.path / keys.body_file("default", key)

    def remove_object(self, key: BodyKey) -> None:
        self._path(key).unlink()

    def write_object(self, key: BodyKey, content: bytes) -> None:
        self._path(key).write_bytes(content)

    def remove_pointer(self, key: BodyKey, guid: str) -> None:
        self._execute("UPDATE content SET body = FALSE WHERE guid = ? AND context = ? AND id = ?", guid, *key)

    def set_counter(self, context: str, to: int) -> None:
        self._execute("UPDATE context SET given = ? WHERE name = ?", to, context)

    def remove_version(self, subject: Subject, version: int) -> None:
        self._execute(f"DELETE FROM version WHERE {_THIS}", *_these(subject, version))
        head = "UPDATE subject SET highest = 0, newest = NULL WHERE context = ? AND name = ?"
        self._execute(head, subject.context, subject.name)

    def change_version(self, subject: Subject, version: int, **changes: Any) -> None:
        for name, value in changes.items():
            self._execute(f"UPDATE version SET {name} = ? WHERE {_THIS}", value, *_these(subject, version))

    def forget(self, subject: Subject, version: int) -> None:
        entry = f'%"name":"{subject.name}","version":{version}%'
        self._execute("DELETE FROM journal WHERE CAST(form AS TEXT) LIKE ?", entry)


_THIS = "subject = (SELECT num FROM subject WHERE context = ? AND name = ?) AND version = ?"


def _these(subject: Subject, version: int) -> tuple[str, str, int]:
    return subject.context, subject.name, version


@dataclass
class InAWS:
    store: StoreOf
    s3: Any
    dynamodb: Any
    table: str
    registry: str

    @property
    def _places(self) -> Places:
        return Places(self.registry)

    def remove_object(self, key: BodyKey) -> None:
        self.s3.delete_object(Bucket=BUCKET, Key=keys.body_object(self.registry, key))

    def write_object(self, key: BodyKey, content: bytes) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=keys.body_object(self.registry, key), Body=content)

    def remove_pointer(self, key: BodyKey, guid: str) -> None:
        self.s3.delete_object(Bucket=BUCKET, Key=keys.guid_object(self.registry, guid, key))  # type: ignore[arg-type]  # text does

    def set_counter(self, context: str, to: int) -> None:
        self._change(self._places.counter(context), lambda item: item | {"next": to})

    def remove_version(self, subject: Subject, version: int) -> None:
        pk, sk = self._places.version(subject, 0, Version(version))
        self.dynamodb.delete_item(TableName=self.table, Key={"pk": {"S": pk}, "sk": {"S": sk}})

    def change_version(self, subject: Subject, version: int, **changes: Any) -> None:
        def changed(item: dict[str, Any]) -> dict[str, Any]:
            row = replace(records.row(values.unpacked(item["row"])), **changes)
            return item | {"row": values.packed(records.row_json(row))}

        self._change(self._places.version(subject, 0, Version(version)), changed)

    def forget(self, subject: Subject, version: int) -> None:
        for shard in range(JOURNAL_SHARDS):
            condition = {
                "KeyConditionExpression": "pk = :pk",
                "ExpressionAttributeValues": {":pk": {"S": keys.journal_pk(self.registry, shard)}},
            }
            for raw in self.dynamodb.query(TableName=self.table, **condition)["Items"]:
                for entry in values.unpacked(values.read_item(raw)["form"])["entries"]:
                    if (entry.get("name"), entry.get("version")) == (subject.name, version):
                        self.dynamodb.delete_item(TableName=self.table, Key={"pk": raw["pk"], "sk": raw["sk"]})

    def _change(self, key: tuple[str, str], change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        place = {"pk": {"S": key[0]}, "sk": {"S": key[1]}}
        raw = self.dynamodb.get_item(TableName=self.table, Key=place, ConsistentRead=True)["Item"]
        self.dynamodb.put_item(TableName=self.table, Item=values.written_item(change(values.read_item(raw))))


@contextmanager
def in_a_directory(path: Path) -> Iterator[Broken]:
    with EmbeddedStore(path) as opened:
        store = StoreOf(
            opened.catalog, opened.bodies, opened.journal, opened.inventory, FixedClock(), secrets=opened.secrets
        )
        fill(store)
        yield InADirectory(store, opened)


@contextmanager
def in_aws(account: Account) -> Iterator[Broken]:
    with pytest.MonkeyPatch.context() as patched, account.stores() as opened:
        of_two_parts(patched)
        clock = FixedClock()
        objects = Objects(opened.s3, BUCKET, clock=clock)
        inventory = AwsInventory(objects, opened.catalog, clock, registry=opened.registry)
        marks = Marks(
            TableMark(opened.dynamodb, opened.table, clock, registry=opened.registry),
            BucketMark(objects, BUCKET, registry=opened.registry),
        )
        secrets = AwsSecrets(opened.clients, opened.table, registry=opened.registry)
        store = StoreOf(opened.catalog, opened.bodies, opened.journal, inventory, clock, marks, secrets=secrets)
        fill(store)
        yield InAWS(store, opened.s3, opened.dynamodb, opened.table, opened.registry)
        objects.close()


def fill(store: Store) -> None:
    """Ids of the default context: 1 address, 2 order, which references it, 3 was deleted for good, 4 address again."""
    registry = registry_of(store)
    registry.register(ADDRESS, Draft(a_text("Address")))
    reference = OfferedReference("Address", "address", 1)
    registry.register(ORDER, Draft(WITH_ADDRESS, references=(reference,)))
    registry.register(GONE, Draft(a_text("Gone")))
    registry.delete_version(GONE, Version(1))
    registry.delete_version(GONE, Version(1), permanent=True)
    registry.register(ADDRESS, Draft(a_text("Address").replace("[]", '[{"name":"f","type":"int","default":0}]')))
    registry.register(TEAM, Draft(a_text("Team")))


def registry_of(store: Store) -> Registry:
    return Registry(store.catalog, tiers_before(store.bodies), store.clock, secrets=store.secrets)


def of_id(id: int) -> BodyKey:
    return BodyKey(DEFAULT_CONTEXT, SchemaId(id))


def an_orphan(broken: Broken, *, ts: int) -> BodyKey:
    """A body whose registration was cut off."""
    key = BodyKey(DEFAULT_CONTEXT, broken.store.catalog.next_id(DEFAULT_CONTEXT))
    body = a_body(a_text("Orphan"), ts=ts)
    broken.store.bodies.put(key, replace(body, guid=guid_of(body.schema)))
    return key
