"""Records of one topic, written with seven versions of a schema that are mixed all through: what `land` is measured on.

The newest of them, said as Protobuf and as JSON Schema, is what landing those is measured on.

145 bytes a record, 12 fields, 20 leaves: nested and nullable records, an array of records, a map, an enum, a timestamp.
The newest version reads the others with all that Avro's resolution has: defaults, an alias, int as long, an enum's
default, another order, a field that is skipped.
"""

import io
import json
import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from google.protobuf import json_format

from sigla.decoding.decoder import Source
from sigla.decoding.protobuf import message_class
from sigla.languages import LANGUAGES
from sigla_pipelines.land.raw import RAW

Schema = dict[str, Any]

VARIANTS: Final = 2_000
"""Records that are drawn and encoded for each version."""
WEIGHTS: Final = (5, 10, 15, 10, 20, 35, 5)
"""How many of a hundred records each version wrote."""

_OPTIONAL_TEXT: Final = ["null", "string"]
_GEO: Final = {
    "type": "record",
    "name": "Geo",
    "fields": [{"name": "lat", "type": "double"}, {"name": "lon", "type": "double"}],
}
_ADDRESS: Final = {
    "type": "record",
    "name": "Address",
    "fields": [
        {"name": "street", "type": "string"},
        {"name": "city", "type": "string"},
        {"name": "zip", "type": _OPTIONAL_TEXT, "default": None},
        {"name": "geo", "type": ["null", _GEO], "default": None},
    ],
}
_ITEM: Final = {
    "type": "record",
    "name": "Item",
    "fields": [
        {"name": "sku", "type": "string"},
        {"name": "qty", "type": "int"},
        {"name": "price", "type": "double"},
    ],
}
_NOTE: Final = {"name": "note", "type": _OPTIONAL_TEXT, "default": None}
_ATTRIBUTES: Final = {"name": "attributes", "type": {"type": "map", "values": "string"}, "default": {}}
_DEBUG: Final = {"name": "debug", "type": ["null", "string", {"type": "array", "items": "long"}], "default": None}
_CITIES: Final = ("Lisbon", "Porto", "Wroclaw", "Kraków", "München", "Austin", "Osaka", "São Paulo")


def versions() -> list[Schema]:
    """In the order of their registration; the one before the last is the reader's."""
    old, new = ("NEW", "PAID", "SHIPPED"), ("NEW", "PAID", "SHIPPED", "UNKNOWN")
    customer = {"name": "customer_id", "type": "long", "aliases": ["cust_id"]}
    status: Schema = {"type": "enum", "name": "Status", "symbols": [*new], "default": "UNKNOWN"}
    reader = _fields("long", customer, status)
    return [
        _order(_fields("int", {"name": "customer_id", "type": "long"}, _status(old))),
        _order([*_fields("int", {"name": "customer_id", "type": "long"}, _status(old)), _NOTE]),
        _order([*_fields("long", {"name": "customer_id", "type": "long"}, _status(old)), _NOTE]),
        _order([*_fields("long", {"name": "cust_id", "type": "long"}, _status(old)), _NOTE, _ATTRIBUTES]),
        _order([*_fields("long", {"name": "customer_id", "type": "long"}, _status(new)), _NOTE, _ATTRIBUTES]),
        _order([*reader, _NOTE, _ATTRIBUTES]),
        _order([*reversed(reader), _ATTRIBUTES, _NOTE, _DEBUG]),
    ]


PROTOBUF: Final = "protobuf"
JSON: Final = "json"
"""Topics in these languages."""

PROTOBUF_TEXT: Final = """
syntax = "proto3";
package acme;
import "google/protobuf/timestamp.proto";
message Order {
  string order_id = 1;
  int64 customer_id = 2;
  Status status = 3;
  google.protobuf.Timestamp created_at = 4;
  double amount = 5;
  string currency = 6;
  int64 quantity = 7;
  bool paid = 8;
  Address address = 9;
  repeated Item items = 10;
  optional string note = 11;
  map<string, string> attributes = 12;
  enum Status { NEW = 0; PAID = 1; SHIPPED = 2; }
  message Geo { double lat = 1; double lon = 2; }
  message Address { string street = 1; string city = 2; optional string zip = 3; Geo geo = 4; }
  message Item { string sku = 1; int32 qty = 2; double price = 3; }
}
"""


def _object(*required: str, **properties: Any) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT, _NUMBER, _WHOLE = ({"type": kind} for kind in ("string", "number", "integer"))
JSON_SCHEMA: Final = _object(
    "order_id",
    "customer_id",
    order_id=_TEXT,
    customer_id=_WHOLE,
    status={"enum": ["NEW", "PAID", "SHIPPED"]},
    created_at=_WHOLE,
    amount=_NUMBER,
    currency=_TEXT,
    quantity=_WHOLE,
    paid={"type": "boolean"},
    address=_object(street=_TEXT, city=_TEXT, zip=_TEXT, geo=_object(lat=_NUMBER, lon=_NUMBER)),
    items={"type": "array", "items": _object(sku=_TEXT, qty=_WHOLE, price=_NUMBER)},
    note=_TEXT,
    attributes={"type": "object", "additionalProperties": _TEXT},
)

READER: Final = 5
"""Its place among the versions."""


def write(folder: Path, records: int, ids: list[int], topic: str, *, files: int = 8, seed: int = 7) -> None:
    """Files of raw records. ids: of the versions, in their order, as many of each; one alone: all records are its."""
    random, drawn = Random(seed), np.random.default_rng(seed)
    schemas = versions() if len(ids) > 1 else [versions()[READER]]
    weights = np.array(WEIGHTS if len(ids) > 1 else (100,)) / 100
    written = [encode_variants(topic, schema, random) for schema in schemas]
    variants = pa.array([value for values in written for value in values], pa.binary())
    frames = pa.array([b"\0" + struct.pack(">I", id) for id in ids], pa.binary())
    copies = len(ids) // len(schemas)
    keys = pa.array([b"ord-%07d" % number for number in range(len(variants))], pa.binary())
    folder.mkdir(parents=True)
    for number in range(files):
        count = records // files
        version = drawn.choice(len(schemas), count, p=weights)
        taken = pa.array(version * VARIANTS + drawn.integers(VARIANTS, size=count))
        frame = frames.take(pa.array(version * copies + drawn.integers(copies, size=count)))
        columns = {
            "topic": pa.repeat(topic, count),
            "partition": pa.array(np.full(count, number, np.int32)),
            "offset": pa.array(np.arange(count)),
            "timestamp": pa.array(np.full(count, 1_767_225_600_000_000)),
            "key": keys.take(taken),
            "value": pc.binary_join_element_wise(frame, variants.take(taken), b""),
            "headers": pa.nulls(count, RAW.field("headers").type),
        }
        arrays = [columns[field.name].cast(field.type) for field in RAW]
        pq.write_table(pa.Table.from_arrays(arrays, schema=RAW), folder / f"part-{number:04}.parquet")


def encode_variants(topic: str, schema: Schema, random: Random) -> list[bytes]:
    """Payloads without frames. topic: PROTOBUF or JSON; any other is Avro's."""
    records = [_drawn(random) for _ in range(VARIANTS)]
    if topic == PROTOBUF:
        order = message_class(protobuf_source(), "acme.Order")
        return [b"\0" + json_format.ParseDict(_as_message(record), order()).SerializeToString() for record in records]
    if topic == JSON:
        return [json.dumps(_as_json(record), ensure_ascii=False).encode() for record in records]
    parsed = fastavro.parse_schema(schema)
    names = [field["name"] for field in schema["fields"]]
    values = []
    for record in records:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, parsed, {name: record[name] for name in names})
        values.append(stream.getvalue())
    return values


def protobuf_source() -> Source:
    language = LANGUAGES["PROTOBUF"]
    parsed = language.parse(PROTOBUF_TEXT, (), False)  # noqa: FBT003 - leniently; Language's signature
    return Source("PROTOBUF", PROTOBUF_TEXT, (), language.compiled(parsed))


def _as_json(record: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the schema does not name, and without nulls."""
    kept = {name: value for name, value in record.items() if name not in ("cust_id", "debug") and value is not None}
    return kept | {"address": {name: value for name, value in record["address"].items() if value is not None}}


def _as_message(record: Mapping[str, Any]) -> dict[str, Any]:
    moment = datetime.fromtimestamp(record["created_at"] // 10**6, UTC).isoformat().replace("+00:00", "Z")
    return {**_as_json(record), "created_at": moment}


def _drawn(random: Random) -> dict[str, Any]:
    customer = random.randrange(10**9)
    return {
        "order_id": f"ord-{random.randrange(10**10):010}",
        "customer_id": customer,
        "cust_id": customer,
        "status": random.choice(("NEW", "PAID", "SHIPPED")),
        "created_at": 1_700_000_000_000_000 + random.randrange(10**13),
        "amount": random.random() * 1000,
        "currency": random.choice(("EUR", "USD", "PLN")),
        "quantity": random.randrange(1, 50),
        "paid": random.random() < 0.5,
        "address": {
            "street": f"{random.randrange(1, 9999)} Main Street",
            "city": random.choice(_CITIES),
            "zip": None if random.random() < 0.3 else f"{random.randrange(99999):05}",
            "geo": None
            if random.random() < 0.5
            else {"lat": random.random() * 180 - 90, "lon": random.random() * 360 - 180},
        },
        "items": [
            {"sku": f"SKU{random.randrange(10**6):06}", "qty": random.randrange(1, 9), "price": random.random() * 99}
            for _ in range(random.randrange(1, 4))
        ],
        "note": None if random.random() < 0.7 else "leave at the door please",
        "attributes": {"src": "web", "ab": str(random.randrange(9))},
        "debug": None,
    }


def _fields(quantity: str, customer: Schema, status: Schema) -> list[Schema]:
    return [
        {"name": "order_id", "type": "string"},
        customer,
        {"name": "status", "type": status},
        {"name": "created_at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "amount", "type": "double"},
        {"name": "currency", "type": "string"},
        {"name": "quantity", "type": quantity},
        {"name": "paid", "type": "boolean"},
        {"name": "address", "type": _ADDRESS},
        {"name": "items", "type": {"type": "array", "items": _ITEM}},
    ]


def _status(symbols: tuple[str, ...]) -> Schema:
    return {"type": "enum", "name": "Status", "symbols": [*symbols]}


def _order(fields: list[Schema]) -> Schema:
    return {"type": "record", "name": "OrderEvent", "namespace": "com.acme.orders", "fields": fields}
