"""Topics of schemas that people publish: values of generators that are not ours, written by Confluent's own clients."""

import io
import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from random import Random
from typing import Any, Final

import fastavro
import jsonschema_rs
import pyarrow as pa
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import SerializationError
from fastavro.utils import generate_many
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.generation.jsonschema.builder import build

from sigla.decoding.avro import understood
from sigla.decoding.decoder import Source
from tests.pipelines.land.test_avro_kinds_properties import as_column
from tests.pipelines.land.test_json_schema_rest import joined, without_nulls
from tests.pipelines.land.test_public_messages import OPEN, messages, row
from tests.protocol.clients.shop import value_of
from tests.unit.decoding.avro_schemas import bare

MESSAGES_DEEP: Final = 4
"""Of Protobuf messages within each other that are filled."""

DRAFTS: Final = {
    "http://json-schema.org/draft-04/schema#": jsonschema_rs.Draft4,
    "http://json-schema.org/draft-06/schema#": jsonschema_rs.Draft6,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012,
}
"""By `$schema`; any other is read as draft 7."""

EXTENSIONS: Final = {"traceparent": "00-4bf92f35-01", "partitionkey": "eu", "sampledrate": 30, "sequence": "7"}


@dataclass(frozen=True)
class Topic:
    """tables: by name the values that are to land in it, by the numbers of their records.

    read: a value out of a table's row, whose type it is told.
    """

    name: str
    records: list[bytes]
    tables: Mapping[str, Mapping[int, Any]]
    read: Callable[[pa.DataType, Any], Any]


def topic_name(path: str) -> str:
    """The topic of a schema's file."""
    return "".join(letter if letter.isalnum() else "." for letter in path)


def avro_topic(client: SchemaRegistryClient, path: str, text: str, count: int, by: Random) -> Topic | None:
    """None where fastavro's generator has no end: of a record that is within itself by more than a chance."""
    name, schema = topic_name(path), json.loads(text)
    serialize: Any = AvroSerializer(client, text)
    parsed, tree = fastavro.parse_schema(schema), understood(Source("AVRO", text))
    import_module("random").seed(by.random())  # the generator has no other
    try:
        values = list(generate_many(schema, count))
    except RecursionError:
        return None
    records = [serialize(value, value_of(name)) for value in values]
    rows = [as_column(fastavro.schemaless_reader(io.BytesIO(record[5:]), parsed, None), tree) for record in records]
    return Topic(name, records, {name: dict(enumerate(rows))}, lambda _, row: bare(row, tree))


def json_topic(
    client: SchemaRegistryClient, path: str, schema: Any, count: int, extensions: dict[str, Any] | None = None
) -> Topic:
    """Raises what the generator raises of a schema that it does not understand. extensions: of each other value."""
    name = topic_name(path)
    values = [value | (extensions or {}) if number % 2 else value for number, value in enumerate(drawn(schema, count))]
    # The client's own way with JSON takes no integer of more than 64 bits, and other clients do.
    serialize: Any = JSONSerializer(json.dumps({"title": name} | schema), client, json_encode=json.dumps)
    records = []
    for value in values:
        with suppress(SerializationError):  # of a draft's finer points the client has a mind of its own
            records.append(serialize(value, value_of(name)))
    rows = {number: without_nulls(json.loads(record[5:])) for number, record in enumerate(records)}

    def read(kind: pa.DataType, row: Any) -> Any:
        found = without_nulls(joined(kind, row))
        return found.get("value") if kind.names == ["value"] and "value" not in schema.get("properties", ()) else found

    return Topic(name, records, {name: rows}, read)


def drawn(schema: Any, count: int) -> list[dict[str, Any]]:
    """Objects of a schema, the same ones each time; of a few values there are fewer."""
    found: list[Any] = []

    @seed(18)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(build(schema, draft=DRAFTS.get(schema.get("$schema", ""), jsonschema_rs.Draft7), formats={}))
    def draw(value: Any) -> None:
        found.append(value)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draw()
    return [each for each in found if isinstance(each, dict)]


def protobuf_topic(client: SchemaRegistryClient, path: str, count: int, by: Random, first: str = "") -> Topic | None:
    """Records of every message of a file, mixed. first: the message of the first records, wherever its file has it.

    None of a file without messages.
    """
    name = topic_name(path)
    declared = list(messages(import_module(f"{path[:-6].replace('/', '.')}_pb2").DESCRIPTOR))
    in_order = [descriptor.full_name for _, descriptor in declared]
    kinds = [descriptor for _, descriptor in declared for _ in range(count)]
    by.shuffle(kinds)
    kinds.sort(key=lambda each: each.full_name != first)
    records, rows = list[bytes](), dict[str, dict[int, Any]]()
    serializers: dict[str, Any] = {}
    for number, descriptor in enumerate(kinds):
        kind, full = GetMessageClass(descriptor), descriptor.full_name
        message = filled(kind(), by)
        if full not in serializers:
            serializers[full] = ProtobufSerializer(kind, client, {"use.deprecated.format": False})
        records.append(serializers[full](message, value_of(name)))
        rows.setdefault(full, {})[number] = row(kind.FromString(message.SerializeToString()))
    # In one batch the message that its file has first has the topic's own table.
    main = next((full for full in in_order if full in rows), "")
    tables = {name if full == main else f"{name}.{full}": values for full, values in rows.items()}
    return Topic(name, records, tables, lambda _, row: row) if records else None


def filled(message: Any, by: Random, around: tuple[str, ...] = ()) -> Any:
    """Something in about half of all fields, and in fields of fields: of a oneof in one at most."""
    around = (*around, message.DESCRIPTOR.full_name)
    for field in message.DESCRIPTOR.fields:
        if by.random() < 0.6 and _may_fill(field.message_type, around):
            _fill(message, field, by, around)
    return message


def _may_fill(inner: Descriptor | None, around: tuple[str, ...]) -> bool:
    """What is within itself is JSON text from the third time on, and what has no shape always: compared elsewhere."""
    if inner is None:
        return True
    held = inner.fields_by_name["value"].message_type if inner.GetOptions().map_entry else inner
    return held is None or (held.full_name not in OPEN and held.full_name not in around and len(around) < MESSAGES_DEEP)


def _fill(message: Message, field: FieldDescriptor, by: Random, around: tuple[str, ...]) -> None:
    inner, found = field.message_type, getattr(message, field.name)
    if inner and inner.GetOptions().map_entry:
        key, value = (inner.fields_by_name[each] for each in ("key", "value"))
        for _ in range(by.randrange(3)):
            at = scalar(key, by)
            if value.message_type:
                filled(found[at], by, around)
            else:
                found[at] = scalar(value, by)
    elif inner and field.is_repeated:
        for _ in range(by.randrange(3)):
            filled(found.add(), by, around)
    elif inner:
        found.SetInParent()
        if inner.full_name == "google.protobuf.Timestamp":
            found.seconds, found.nanos = by.randrange(-(10**9), 10**10), by.randrange(10**9)
        else:
            filled(found, by, around)
    elif field.is_repeated:
        found.extend(scalar(field, by) for _ in range(by.randrange(3)))
    else:
        setattr(message, field.name, scalar(field, by))


BITS: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64),
}


def scalar(field: FieldDescriptor, by: Random) -> Any:
    if field.enum_type:
        return by.choice(field.enum_type.values).number
    if field.cpp_type in BITS:
        least, end = BITS[field.cpp_type]
        return by.choice([least, end - 1, 0, by.randrange(least, end)])
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_BOOL:
            return by.random() < 0.5
        case FieldDescriptor.CPPTYPE_FLOAT:
            return by.randrange(-1000, 1000) / 8
        case FieldDescriptor.CPPTYPE_DOUBLE:
            return by.uniform(-1e9, 1e9)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return by.randbytes(by.randrange(9))
    return "".join(by.choices("aZ ü€𝄞\n\"'", k=by.randrange(9)))


def many(topics: Iterable[Topic | None]) -> list[Topic]:
    return [topic for topic in topics if topic is not None]


CLOUD_EVENT: Final = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "CloudEvent",
    "type": "object",
    "properties": {
        **{name: {"$ref": "#/definitions/attribute"} for name in ("id", "source", "specversion", "type")},
        **{
            name: {"$ref": "#/definitions/optional"}
            for name in ("datacontenttype", "dataschema", "subject", "time", "data_base64")
        },
        "data": {"type": ["object", "string", "number", "array", "boolean", "null"]},
    },
    "required": ["id", "source", "specversion", "type"],
    "definitions": {
        "attribute": {"type": "string", "minLength": 1},
        "optional": {"type": ["string", "null"], "minLength": 1},
    },
}
"""The attributes of CloudEvents 1.0 in their JSON format; others beside them are extensions."""
