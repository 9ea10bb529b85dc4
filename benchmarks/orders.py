"""Records of one topic, written with seven versions of a schema that are mixed all through: what `land` is measured on.

145 bytes a record, 12 fields, 20 leaves: nested and nullable records, an array of records, a map, an enum, a timestamp.
The newest version reads the others with all that Avro's resolution has: defaults, an alias, int as long, an enum's
default, another order, a field that is skipped.
"""

import io
import struct
from pathlib import Path
from random import Random
from typing import Any, Final

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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


READER: Final = 5
"""Its place among the versions."""


def write(folder: Path, records: int, ids: list[int], topic: str, *, files: int = 8, seed: int = 7) -> None:
    """Files of raw records. ids: of the versions, in their order; one alone: all records are its."""
    random, drawn = Random(seed), np.random.default_rng(seed)
    schemas = versions() if len(ids) > 1 else [versions()[READER]]
    weights = np.array(WEIGHTS if len(ids) > 1 else (100,)) / 100
    written = [_encoded(schema, id, random) for schema, id in zip(schemas, ids, strict=True)]
    variants = pa.array([value for values in written for value in values], pa.binary())
    keys = pa.array([b"ord-%07d" % number for number in range(len(variants))], pa.binary())
    folder.mkdir(parents=True)
    for number in range(files):
        count = records // files
        chosen = drawn.choice(len(ids), count, p=weights) * VARIANTS + drawn.integers(VARIANTS, size=count)
        taken = pa.array(chosen)
        columns = {
            "topic": pa.repeat(topic, count),
            "partition": pa.array(np.full(count, number, np.int32)),
            "offset": pa.array(np.arange(count)),
            "timestamp": pa.array(np.full(count, 1_767_225_600_000_000)),
            "key": keys.take(taken),
            "value": variants.take(taken),
            "headers": pa.nulls(count, RAW.field("headers").type),
        }
        arrays = [columns[field.name].cast(field.type) for field in RAW]
        pq.write_table(pa.Table.from_arrays(arrays, schema=RAW), folder / f"part-{number:04}.parquet")


def _encoded(schema: Schema, id: int, random: Random) -> list[bytes]:
    parsed = fastavro.parse_schema(schema)
    names = [field["name"] for field in schema["fields"]]
    values = []
    for _ in range(VARIANTS):
        record, stream = _drawn(random), io.BytesIO()
        stream.write(b"\0" + struct.pack(">I", id))
        fastavro.schemaless_writer(stream, parsed, {name: record[name] for name in names})
        values.append(stream.getvalue())
    return values


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
