"""JSON Schema as its users have it: producers and consumers, and a delivery that is described in four documents."""

import json
from typing import Any

from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer

from tests.protocol.clients.shop import value_of

COUNTRY = {"type": "string", "pattern": "^[A-Z]{2}$"}
ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "country": {"$ref": "country.json"}},
    "required": ["country"],
}
CUSTOMER = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "home": {"$ref": "address.json"}},
    "definitions": {"vip": {"type": "boolean"}},
}
DELIVERY = {
    "type": "object",
    "properties": {
        "to": {"$ref": "customer.json"},
        "by": {"$ref": "address.json"},
        "passport": {"$ref": "country.json"},
        "fast": {"$ref": "customer.json#/definitions/vip"},
    },
}
PARCEL = {"to": {"name": "Ada", "home": {"country": "GB"}}, "by": {"country": "FR"}, "passport": "IT", "fast": True}


def json_schema(tree: Any, **parts: Any) -> Schema:
    return Schema(json.dumps(tree), "JSON", **parts)


def sent(
    client: SchemaRegistryClient,
    topic: str,
    schema: Any,
    message: Any,
    conf: dict[str, Any] | None = None,
    **parts: Any,
) -> bytes:
    """A message as a producer with this configuration sends it."""
    schema = schema if isinstance(schema, Schema) else json_schema(schema)
    framed = JSONSerializer(schema, client, conf=conf, **parts)(message, value_of(topic))
    assert isinstance(framed, bytes)
    return framed


def received(client: SchemaRegistryClient, topic: str, framed: bytes, schema: Any = None, **parts: Any) -> Any:
    """A message as a consumer reads it: by its own schema, or else by the one that wrote it."""
    own = None if schema is None else json_schema(schema)
    return JSONDeserializer(own, schema_registry_client=client, **parts)(framed, value_of(topic))


def delivery(client: SchemaRegistryClient, topic: str) -> Schema:
    """Four documents: one is referred to from three depths, and the others from two."""

    def reference(name: str) -> SchemaReference:
        return SchemaReference(f"{name}.json", f"{topic}.{name}", 1)

    country, address, customer = (reference(name) for name in ("country", "address", "customer"))
    client.register_schema(f"{topic}.country", json_schema(COUNTRY))
    client.register_schema(f"{topic}.address", json_schema(ADDRESS, references=[country]))
    client.register_schema(f"{topic}.customer", json_schema(CUSTOMER, references=[address]))
    return json_schema(DELIVERY, references=[customer, address, country])
