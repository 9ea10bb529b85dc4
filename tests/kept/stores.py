"""Kept stores: what a release wrote, as text, so that later releases can be held to it.

    python -m tests.kept.stores               writes that of this version anew, with the code that is here
    python -m tests.kept.stores FOLDER        writes another one

The folder bears the version's name; what a tagged release wrote is never written again. It holds one registry twice, in
a directory of `sigla serve` and in AWS, with the answers that both gave:

    directory/catalog.sql, files.jsonl        the database as SQL, every other file with its bytes
    aws/table.jsonl, objects.jsonl            the table as DynamoDB exports it, every object of the bucket
    answers.jsonl, aws/answers.jsonl          question, status and text
    export.jsonl                              what `sigla export` wrote of the directory
"""

import json
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sigla import __version__
from sigla.auth.api_keys import ApiKey, Keys, verifier_of
from sigla.aws.secrets import AwsSecrets
from sigla.cli import main
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId, Subject
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.secrets import Secrets
from sigla.ports.zones import Zone
from sigla.registry import Registry
from sigla.registry.steps.numbering import continue_after
from sigla.rules.guid import guid_of
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.journal import AwsJournal
from sigla.stores.dynamodb.marks import BucketMark, TableMark
from sigla.stores.dynamodb.table import MOST_WRITTEN
from sigla.stores.dynamodb.zones import AwsZones
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import NOW, FixedClock, a_body, a_registered, a_row, a_text
from tests.contract.aws import Account, AwsStores, account, make_table
from tests.contract.engines import BUCKET
from tests.unit.aws.journaling import as_streamed, event_of, follower
from tests.unit.web.conftest import Client

OLDEST = Path(__file__).parent / "0.2.0"
"""The store of the first release with a tag."""

REGISTRY = "kept"
IDENTITY = "0123456789abcdef" * 2
NAME, SECRET = "orders", "not-a-secret"

Asked = tuple[str, str, Any]
"""Method, path and query, body."""


def _record(name: str, *fields: str) -> str:
    named = [{"name": field, "type": "int", "default": 0} for field in fields]
    return json.dumps({"type": "record", "name": name, "fields": named}, separators=(",", ":"))


BASE, ONE, TWO, THREE = _record("Base"), _record("Order", "a"), _record("Order", "a", "b"), _record("Order", "c")
USING = '{"type":"record","name":"Using","fields":[{"name":"base","type":"Base"}]}'
ADULTS = '{"type":"object","properties":{"age":{"type":"integer"}}}'
MESSAGE = 'syntax = "proto3";\n\nmessage Pay {\n  int32 cents = 1;\n}\n'


KEKS = "/dek-registry/v1/keks"
TOPIC = {
    "resourceName": "orders",
    "resourceNamespace": "lkc-1",
    "resourceId": "lkc-1-orders",
    "resourceType": "topic",
    "associations": [{"subject": "orders", "associationType": "value", "lifecycle": "WEAK"}],
}


EXPORTER = {
    "name": "elsewhere",
    "contextType": "CUSTOM",
    "context": ".copy",
    "subjects": ["orders", "base*"],
    "subjectRenameFormat": "dc-${subject}",
    "config": {
        "schema.registry.url": "https://there.example",
        "basic.auth.credentials.source": "USER_INFO",
        "basic.auth.user.info": f"{NAME}:{SECRET}",
    },
}


def _register(subject: str, text: str, **more: Any) -> Asked:
    return "POST", f"/subjects/{subject}/versions", {"schema": text, **more}


STORY: tuple[Asked, ...] = (
    ("PUT", "/config", {"compatibility": "FULL"}),
    _register("base", BASE),
    _register("using", USING, references=[{"name": "Base", "subject": "base", "version": 1}]),
    _register(
        "orders",
        ONE,
        metadata={"properties": {"owner": "ä"}, "tags": {"Order.a": ["PII"]}, "sensitive": ["owner"]},
        ruleSet={"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]},
    ),
    _register("orders", TWO),
    _register(":.bank:pay", MESSAGE, schemaType="PROTOBUF"),
    _register(":.bank:adults", ADULTS, schemaType="JSON"),
    _register(":.shared:base", BASE),
    _register(":.bank:using", USING, references=[{"name": "Base", "subject": ":.shared:base", "version": 1}]),
    ("PUT", "/config/orders", {"compatibility": "NONE", "defaultMetadata": {"properties": {"team": "a"}}}),
    ("PUT", "/config/also-orders", {"alias": "orders"}),
    ("PUT", "/mode/:.bank:pay", {"mode": "READONLY"}),
    _register("old", THREE),
    ("DELETE", "/subjects/old", None),
    _register("twice", _record("Twice", "a")),
    _register("twice", _record("Twice", "a", "b")),
    ("DELETE", "/subjects/twice/versions/1", None),
    ("DELETE", "/subjects/twice/versions/1?permanent=true", None),
    _register("gone", _record("Gone")),
    ("PUT", "/config/gone", {"compatibility": "FULL"}),
    ("DELETE", "/subjects/gone", None),
    ("DELETE", "/subjects/gone?permanent=true", None),
    ("PUT", "/mode/:.other:", {"mode": "IMPORT"}),
    _register(":.other:orders", ONE, id=70, version=3),
    _register(":.other:orders", TWO, id=71, version=3),
    _register(":.left:x", BASE),
    ("DELETE", "/subjects/:.left:x", None),
    ("DELETE", "/subjects/:.left:x?permanent=true", None),
    ("DELETE", "/contexts/.left", None),
    ("POST", KEKS, {"name": "pii", "kmsType": "local-kms", "kmsKeyId": "id", "kmsProps": {"a": "b"}, "doc": "d"}),
    ("POST", KEKS, {"name": "old", "kmsType": "local-kms", "kmsKeyId": "id"}),
    ("POST", f"{KEKS}/pii/deks", {"subject": "orders", "encryptedKeyMaterial": "bWF0ZXJpYWw="}),
    ("POST", f"{KEKS}/pii/deks", {"subject": "orders", "version": 2, "encryptedKeyMaterial": "bmV3ZXI="}),
    ("DELETE", f"{KEKS}/pii/deks/orders/versions/1", None),
    ("DELETE", f"{KEKS}/old", None),
    ("POST", "/associations", TOPIC),
    ("POST", "/exporters", EXPORTER),
    ("PUT", "/exporters/elsewhere/pause", None),
    ("POST", "/exporters", {"name": "plain", "config": {"schema.registry.url": "https://there.example"}}),
)
"""Every kind of thing that is stored: references, tombstones, settings, a displaced id, keys, a topic, exporters."""

QUESTIONS: tuple[str, ...] = (
    "/subjects?deleted=true&subjectPrefix=:*:",
    "/contexts",
    *(f"/schemas/ids/{id}" for id in (1, 2, 3, 4, 5, 6, 7, 8)),
    *(f"/schemas/ids/{id}?subject=:.bank:" for id in (1, 2, 3)),
    *(f"/schemas/ids/{id}?subject=:.other:" for id in (70, 71)),
    "/schemas/ids/2?format=resolved",
    "/schemas/ids/3/versions",
    "/subjects/base/versions/1/referencedby",
    "/subjects/:.shared:base/versions/1/referencedby",
    "/subjects/orders/versions",
    "/subjects/orders/versions/1",
    "/subjects/also-orders/versions/latest",
    "/subjects/old/versions?deleted=true",
    "/subjects/old/versions/1?deleted=true",
    "/subjects/twice/versions",
    "/subjects/gone/versions?deleted=true",
    "/subjects/:.bank:pay/versions/latest",
    "/subjects/:.bank:using/versions/1",
    "/subjects/:.other:orders/versions/3",
    "/config",
    "/config/orders",
    "/config/gone",
    "/mode/:.bank:pay",
    "/mode/:.other:",
    f"{KEKS}?deleted=true",
    f"{KEKS}/pii",
    f"{KEKS}/pii/deks?deleted=true",
    f"{KEKS}/pii/deks/orders?version=latest",
    f"{KEKS}/pii/deks/orders/versions/1?deleted=true",
    "/associations/subjects/orders",
    "/associations/resources/lkc-1-orders",
    "/associations/resources/-/orders",
    "/exporters",
    "/exporters/elsewhere",
    "/exporters/elsewhere/config",
    "/exporters/elsewhere/status",
    "/exporters/plain/status",
)


def answers(registry: Registry, questions: Iterable[str] = QUESTIONS) -> Iterator[list[Any]]:
    """Each question with the status and the text that a client is answered."""
    client = Client(app.build(registry))
    for question in questions:
        told = client("GET", question)
        yield [question, told.status, told.text]


def write(catalog: Catalog, bodies: Bodies, secrets: Secrets, clock: FixedClock) -> Registry:
    """Tells the story to a fresh registry."""
    registry = Registry(catalog, bodies, clock, secrets=secrets)
    client = Client(app.build(registry))
    for method, target, body in STORY:
        clock.time += 1000
        told = client(method, target, body)
        assert told.status in (200, 204), (method, target, told.status, told.text)
    continue_after(registry, ".bank", SchemaId(40))
    return registry


def keep_second_name(catalog: Catalog, bodies: Bodies) -> None:
    """As releases before 2026-11-22 registered `:.::.bank:ghost`: no verb would write under such a name."""
    subject = Subject(DEFAULT_CONTEXT, ":.bank:ghost")
    body = a_body(a_text("Second"), subject=subject)
    body = replace(body, guid=guid_of(body.schema))
    id = catalog.next_id(subject.context)
    bodies.put(BodyKey(subject.context, id), body)
    head = catalog.snapshot(subject).head
    row = a_row(head.highest + 1, id, guid=body.guid, revision=head.revision + 1)
    catalog.commit(a_registered(head, row=row, ts=NOW))


def put_keys(keys: Keys) -> None:
    key = ApiKey(NAME, "writer", ("orders",), verifier_of(SECRET), NOW)
    keys.put(NAME, key.record())
    keys.put("revoked", replace(key, name="revoked").record())
    keys.remove("revoked")


# --- writing a folder ------------------------------------------------------------------------------------------------


def keep(folder: Path) -> None:
    """Writes a folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "directory").mkdir(parents=True)
    (folder / "aws").mkdir()
    with tempfile.TemporaryDirectory() as temporary:
        _keep_directory(Path(temporary) / "data", folder)
    with account() as made, closing(made.objects):
        _keep_aws(made, folder)


def _keep_directory(data: Path, folder: Path) -> None:
    with EmbeddedStore(data) as store:
        write(store.catalog, store.bodies, store.secrets, FixedClock())
    assert main(["export", str(folder / "export.jsonl"), "--data", str(data)]) == 0
    with EmbeddedStore(data) as store:
        keep_second_name(store.catalog, store.bodies)
        _write(folder / "answers.jsonl", answers(Registry(store.catalog, store.bodies, FixedClock())))
    put_keys(EmbeddedKeys(data))
    with closing(sqlite3.connect(data / "catalog.sqlite")) as database:
        (folder / "directory/catalog.sql").write_text("".join(f"{each}\n" for each in database.iterdump()))
    files = sorted(path for path in data.rglob("*") if path.is_file() and "catalog.sqlite" not in path.name)
    kept = ([str(path.relative_to(data)), path.read_text()] for path in files if path.name != "lock")
    _write(folder / "directory/files.jsonl", kept)


def _keep_aws(made: Account, folder: Path) -> None:
    stores = aws_stores(made)
    clock = FixedClock()
    secrets = AwsSecrets(made.clients, stores.table, registry=REGISTRY)
    registry = write(stores.catalog, stores.bodies, secrets, clock)
    with follower(stores, clock) as follow:
        follow(event_of(as_streamed(stores)))
    keep_second_name(stores.catalog, stores.bodies)
    told = [*answers(registry)]
    assert _drawn_apart(told) == _drawn_apart(read(folder / "answers.jsonl"))
    _write(folder / "aws/answers.jsonl", told)
    put_keys(AwsKeys(made.objects, registry=REGISTRY))
    AwsZones(made.dynamodb, stores.table, clock, registry=REGISTRY).beat(
        Zone("use1-az1", "us-east-1a", "https://a.example", healthy=True, checked=NOW, reason="")
    )
    assert TableMark(made.dynamodb, stores.table, clock, registry=REGISTRY).write(IDENTITY, "")
    assert BucketMark(made.objects, BUCKET, registry=REGISTRY).write(IDENTITY, "")
    items = made.clients.dynamodb.scan(TableName=stores.table)["Items"]
    items.sort(key=lambda item: (item["pk"]["S"], item["sk"]["S"]))
    _write(folder / "aws/table.jsonl", ({"Item": item} for item in items))
    objects = sorted(made.objects.names(f"{REGISTRY}/"))
    stood = ((name, made.s3.get_object(Bucket=BUCKET, Key=name)["Body"].read().decode()) for name in objects)
    _write(folder / "aws/objects.jsonl", stood)


def _drawn_apart(told: Iterable[list[Any]]) -> list[list[Any]]:
    """Answers without those of associations, whose GUIDs are drawn by lot."""
    return [each for each in told if "/associations" not in each[0]]


# --- opening one -----------------------------------------------------------------------------------------------------


def restore_directory(folder: Path, data: Path) -> None:
    """The directory as it was."""
    for name, content in read(folder / "directory/files.jsonl"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(content)
    with closing(sqlite3.connect(data / "catalog.sqlite")) as database:
        database.executescript((folder / "directory/catalog.sql").read_text())


def restore_aws(folder: Path, made: Account) -> AwsStores:
    """Table and bucket as they were, whatever another release has left in this bucket."""
    stores = aws_stores(made)
    for name in [*made.objects.names(f"{REGISTRY}/")]:
        made.s3.delete_object(Bucket=BUCKET, Key=name)
    puts = [{"PutRequest": row} for row in read(folder / "aws/table.jsonl")]
    for at in range(0, len(puts), MOST_WRITTEN):
        made.dynamodb.batch_write_item(RequestItems={stores.table: puts[at : at + MOST_WRITTEN]})
    for name, content in read(folder / "aws/objects.jsonl"):
        made.s3.put_object(Bucket=BUCKET, Key=name, Body=content.encode())
    return stores


def read(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def aws_stores(made: Account) -> AwsStores:
    """Fresh ones of the kept registry's name."""
    table, clock = make_table(made.dynamodb), FixedClock()
    catalog = AwsCatalog(made.dynamodb, table, clock, registry=REGISTRY)
    journal = AwsJournal(made.dynamodb, table, clock, registry=REGISTRY)
    bodies = AwsBodies(made.objects, registry=REGISTRY)
    return AwsStores(catalog, bodies, journal, made.clients, made.dynamodb, made.s3, table, REGISTRY, made.objects)


def _write(file: Path, rows: Iterable[Any]) -> None:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    file.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    keep(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / __version__)
