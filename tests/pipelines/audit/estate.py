"""A registry with something of everything that an audit tells, and data that some of its ids occur in."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sigla import keys
from sigla.model import BodyKey, Draft, Metadata, OfferedReference, SchemaId, Subject
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla_pipelines.land import quarantine
from sigla_pipelines.land.raw import RAW
from tests.build import NOW, FixedClock, a_body, a_subject, a_text, tiers_before

USER = {"type": "record", "name": "User", "namespace": "shop", "fields": [{"name": "id", "type": "string"}]}


def with_field(name: str, type: object, **more: object) -> str:
    return json.dumps({**USER, "fields": [*USER["fields"], {"name": name, "type": type, **more}]})


class Estate:
    """Ids of the default context, in the order of registration."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ids: dict[str, int] = {}
        with EmbeddedStore(path) as store:
            self._registry = Registry(store.catalog, tiers_before(store.bodies), FixedClock())
            self._fill()
            orphan = BodyKey(".", store.catalog.next_id("."))
            store.bodies.put(orphan, a_body(a_text("Orphan")))
            self.ids["orphan"] = orphan.id
        (path / keys.body_file("default", BodyKey(".", SchemaId(self.ids["base"])))).unlink()

    def _fill(self) -> None:
        # A field that is required came, then went: the one step breaks BACKWARD, the other FORWARD.
        self._add("orders-value", json.dumps(USER), "orders 1")
        self._add("orders-value", with_field("total", "long"), "orders 2")
        self._add("orders-value", with_field("note", "string", default=""), "orders 3")
        # A good neighbour of each, and not of the one before.
        self._add("users-value", with_field("mail", ["null", "string"], default=None), "users 1")
        self._add("users-value", with_field("mail", ["null", "string", "int"], default=None), "users 2")
        self._add("copied-value", with_field("mail", ["null", "string"], default=None), "users 1")
        self._add("renamed-value", json.dumps({**USER, "b": 1, "a": 2}), "attributes 1")
        self._add("spelt-value", json.dumps({**USER, "a": 2, "b": 1}), "attributes 2")
        # Both are versions of one subject, and of different groups: they are never compared.
        self._registry.change_config(a_subject("grouped-value"), {"group": "major", "level": "FULL"})
        for number, type in ((1, "int"), (2, "string")):
            described = Metadata(properties={"major": str(number)})
            self._add("grouped-value", with_field("x", type), f"grouped {number}", metadata=described)
        self._add("base", '{"type":"record","name":"Base","fields":[]}', "base")
        used = (OfferedReference("Base", "base", 1),)
        self._add(
            "uses-base",
            '{"type":"record","name":"Uses","fields":[{"name":"b","type":"Base"}]}',
            "uses",
            references=used,
        )
        self._add("old-value", a_text("Old"), "old")
        self._registry.delete_subject(a_subject("old-value"))
        self._add("counted-value", '{"type":"object"}', "json", type="JSON")

    def _add(self, subject: str, text: str, name: str, **more: object) -> None:
        draft = replace(Draft(text), **more)  # type: ignore[arg-type]  # by name
        record = self._registry.register(Subject(".", subject), draft, force=True)
        self.ids[name] = record.id or 0


def landed(path: Path, uses: Sequence[tuple[str, int | None, int]]) -> None:
    """A typed table's file. uses: topic, id (None: a tombstone), milliseconds of its time after NOW."""
    rows = [
        {"amount": 1, "_sr_topic": topic, "_sr_schema_id": id, "_sr_ts": (NOW + ms) * 1_000} for topic, id, ms in uses
    ]
    schema = pa.schema(
        [
            pa.field("amount", pa.int64()),
            pa.field("_sr_topic", pa.string()),
            pa.field("_sr_schema_id", pa.int32()),
            pa.field("_sr_ts", pa.timestamp("us", tz="UTC")),
        ]
    )
    _written(path, pa.Table.from_pylist(rows, schema))


def raw(path: Path, values: Sequence[bytes | None], headers: Sequence[tuple[str, bytes]] = ()) -> None:
    rows = [
        {
            "topic": "raw",
            "partition": 0,
            "offset": at,
            "timestamp": datetime.fromtimestamp(NOW / 1000, UTC),
            "key": b"plain",
            "value": value,
            "headers": [{"key": name, "value": content} for name, content in headers],
        }
        for at, value in enumerate(values)
    ]
    _written(path, pa.Table.from_pylist(rows, RAW))


def quarantined(path: Path, values: Sequence[bytes]) -> None:
    """A file of the quarantine, as a landing job writes it."""
    rows = [
        {"topic": "bad", "partition": 0, "offset": at, "timestamp": datetime.fromtimestamp(NOW / 1000, UTC)}
        | {"value": value, "headers": [], "_sr_query": "q", "_sr_batch": 0}
        for at, value in enumerate(values)
    ]
    _written(path, pa.Table.from_pylist(rows, quarantine.SCHEMA))


def framed(id: int) -> bytes:
    return b"\x00" + id.to_bytes(4, "big") + b"payload"


def _written(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
