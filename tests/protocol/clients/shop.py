"""A shop that sends orders and invoices through Kafka: its schemas, its clients, its messages."""

import json
from typing import Any

from confluent_kafka.schema_registry import (
    Schema,
    SchemaRegistryClient,
)
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.common.schema_registry_client import (
    Metadata,
    MetadataProperties,
)
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.protocol.clients.server import Server

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [{"name": "number", "type": "long"}, {"name": "customer", "type": "string"}],
}
NOTED_ORDER = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "string", "default": "none"}]}
BROKEN_ORDER = {**ORDER, "fields": [{"name": "number", "type": "string"}, {"name": "customer", "type": "string"}]}
CUSTOMER = {"type": "record", "name": "Customer", "namespace": "shop", "fields": [{"name": "name", "type": "string"}]}
INVOICE = {
    "type": "record",
    "name": "Invoice",
    "namespace": "shop",
    "fields": [{"name": "payer", "type": "shop.Customer"}, {"name": "receiver", "type": "shop.Customer"}],
}


def another(server: Server, **conf: object) -> SchemaRegistryClient:
    """A client that remembers nothing of what the first one saw."""
    return SchemaRegistryClient({"url": server.url, **{name.replace("_", "."): said for name, said in conf.items()}})


def avro(tree: Any, **parts: Any) -> Schema:
    return Schema(json.dumps(tree), "AVRO", **parts)


def value_of(topic: str, headers: list[tuple[str, Any]] | None = None) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, headers)


def properties(**said: str) -> Metadata:
    return Metadata(tags=None, properties=MetadataProperties(said), sensitive=None)


def written(client: SchemaRegistryClient, topic: str, schema: Any, message: object, conf: dict[str, Any]) -> bytes:
    """A message as a producer with this configuration sends it."""
    serializer = AvroSerializer(client, schema if isinstance(schema, Schema) else json.dumps(schema), conf=conf)
    sent = serializer(message, value_of(topic))
    assert isinstance(sent, bytes)
    return sent


def id_in(message: bytes) -> int:
    """The schema id in front of the payload, after the magic byte."""
    assert message[0] == 0
    return int.from_bytes(message[1:5], "big")
