"""Confluent's Python client with JSON Schema: what a producer sends is judged by the schema that the registry tells."""

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    header_schema_id_serializer,
    record_subject_name_strategy,
)
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.rule_registry import RuleRegistry
from confluent_kafka.serialization import SerializationError
from jsonschema_specifications import REGISTRY as SPECIFICATIONS  # type: ignore[import-untyped]  # ships no types

from tests.protocol.clients.json_schemas import COUNTRY, DELIVERY, PARCEL, delivery, json_schema, received, sent
from tests.protocol.clients.rules import hiding, hiding_rules
from tests.protocol.clients.server import Server
from tests.protocol.clients.shop import another, id_in, properties, value_of

DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]
ORDER: dict[str, Any] = {
    "title": "Order",
    "type": "object",
    "properties": {"number": {"type": "integer", "minimum": 1}, "customer": {"type": "string", "maxLength": 20}},
    "required": ["number"],
}
NOTED_ORDER = {**ORDER, "properties": {**ORDER["properties"], "note": {"type": "string"}}}
BROKEN_ORDER = {**ORDER, "required": ["number", "customer"]}
CLOSED_ORDER = {**ORDER, "additionalProperties": False}
NOTED_CLOSED_ORDER = {**NOTED_ORDER, "additionalProperties": False}
ADA = {"number": 7, "customer": "Ada ✓"}


# --- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draft", [None, *DRAFTS])
def test_what_a_producer_wrote_a_consumer_elsewhere_reads(
    server: Server, client: SchemaRegistryClient, topic: str, draft: str | None
) -> None:
    """Whatever draft it is written in; the schema comes back as it was."""
    schema = ORDER if draft is None else {"$schema": draft, **ORDER}
    framed = sent(client, topic, schema, ADA)
    with another(server) as consumer:
        assert received(consumer, topic, framed) == ADA
        told = consumer.get_schema(id_in(framed))
        assert told.schema_type == "JSON"
        assert told.schema_str == json.dumps(schema, separators=(",", ":"))


def test_a_modern_schema_keeps_all_that_its_draft_can_say(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """The consumer judges by what it is told: not one keyword may get lost on the way."""
    schema = {
        "$schema": DRAFTS[-1],
        "$defs": {
            "point": {"$anchor": "point", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": False}
        },
        "type": "object",
        "properties": {
            "route": {"type": "array", "items": {"$ref": "#point"}, "minItems": 1, "uniqueItems": True},
            "kind": {"const": "trip"},
            "phone": {"type": ["string", "null"], "pattern": "^[+0-9]*$"},
        },
        "dependentRequired": {"phone": ["kind"]},
        "unevaluatedProperties": False,
    }
    good = {"route": [[1.5, 2], [0, -1]], "kind": "trip", "phone": None}
    framed = sent(client, topic, schema, good)
    with another(server) as consumer:
        assert received(consumer, topic, framed) == good
        wrongs: list[object] = [{"route": [[1, 2, 3]]}, {"route": []}, {"kind": "walk"}, {"phone": "1"}, {"other": 1}]
        for bad in wrongs:
            unchecked = sent(client, topic, schema, bad, {"validate": False})
            with pytest.raises(SerializationError):
                received(consumer, topic, unchecked)


def test_a_key_may_be_any_text_and_a_value_anything(server: Server, client: SchemaRegistryClient, topic: str) -> None:
    """Schemas of other types than objects: a bare type, and the one that allows everything."""
    key = sent(client, f"{topic}-k", {"type": "string"}, "a key")
    anything = sent(client, f"{topic}-v", {}, [1, {"a": None}])
    assert received(client, f"{topic}-k", key) == "a key"
    assert received(client, f"{topic}-v", anything) == [1, {"a": None}]
    id = client.register_schema(f"{topic}-true", Schema(" true ", "JSON"))
    with another(server) as reader:
        assert reader.get_schema(id).schema_str == "true"


def test_numbers_are_told_as_exactly_as_they_were_written(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    text = '{"type":"number","multipleOf":0.10,"maximum":12345678901234567890123.5,"enum":[1.0,1]}'
    id = client.register_schema(f"{topic}-value", Schema(text, "JSON"))
    with another(server) as reader:
        assert reader.get_schema(id).schema_str == text


def test_a_guid_in_a_header_tells_as_much_as_an_id_in_the_payload(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    headers: list[tuple[str, Any]] = []
    serializer = JSONSerializer(json_schema(ORDER), client, conf={"schema.id.serializer": header_schema_id_serializer})
    message = serializer(ADA, value_of(topic, headers))
    assert [name for name, _ in headers] == ["__value_schema_id"]
    assert json.loads(message or b"") == ADA
    with another(server) as consumer:
        assert JSONDeserializer(None, schema_registry_client=consumer)(message, value_of(topic, headers)) == ADA


# --- references ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [False, True])
def test_a_schema_made_of_others_is_written_and_read_through_its_references(
    server: Server, client: SchemaRegistryClient, topic: str, *, normalize: bool
) -> None:
    schema = delivery(client, topic)
    conf = {"normalize.schemas": normalize}
    framed = sent(client, topic, schema, PARCEL, conf)
    with another(server) as consumer:
        assert received(consumer, topic, framed) == PARCEL
        told = consumer.get_schema(id_in(framed)).references or []
        assert sorted(one.name or "" for one in told) == ["address.json", "country.json", "customer.json"]
        assert id_in(framed) in consumer.get_referenced_by(f"{topic}.country", 1)
        unchecked = sent(client, topic, schema, {"to": {"home": {"country": "gb"}}}, {**conf, "validate": False})
        with pytest.raises(SerializationError):
            received(consumer, topic, unchecked)
    with another(server) as producer:
        assert sent(producer, topic, schema, PARCEL, {**conf, "auto.register.schemas": False}) == framed


def test_references_may_be_whole_addresses(server: Server, client: SchemaRegistryClient, topic: str) -> None:
    """Names like those on the web, of documents that need not be fetched."""
    base = "https://example.com/schemas"
    client.register_schema(f"{topic}.country", json_schema({"$id": f"{base}/country.json", **COUNTRY}))
    reference = SchemaReference(f"{base}/country.json", f"{topic}.country", 1)
    for draft in (DRAFTS[2], DRAFTS[4]):
        tree = {"$schema": draft, "$id": f"{base}/home.json", "properties": {"in": {"$ref": "country.json"}}}
        framed = sent(client, f"{topic}-{draft[-8:-6]}", json_schema(tree, references=[reference]), {"in": "GB"})
        with another(server) as consumer:
            assert received(consumer, f"{topic}-{draft[-8:-6]}", framed) == {"in": "GB"}


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_schema_of_schemas_is_a_schema(
    server: Server, client: SchemaRegistryClient, topic: str, draft: str
) -> None:
    """The modern ones are made of several documents. What is sent is then a schema, and a wrong one is found out."""
    home = draft.rstrip("#")
    references = []
    for uri in SPECIFICATIONS:
        if uri.startswith(home.removesuffix("schema") + "meta/"):
            client.register_schema(f"{topic}.{uri}", json_schema(SPECIFICATIONS.contents(uri)))
            references.append(SchemaReference(uri, f"{topic}.{uri}", 1))
    schema = json_schema(SPECIFICATIONS.contents(home), references=references)
    framed = sent(client, topic, schema, ORDER)
    wrong = sent(client, topic, schema, {"properties": {"a": {"type": "strin"}}}, {"validate": False})
    with another(server) as consumer:
        assert received(consumer, topic, framed) == ORDER
        with pytest.raises(SerializationError):
            received(consumer, topic, wrong)


def test_a_reference_to_nothing_is_refused(client: SchemaRegistryClient, topic: str) -> None:
    """Named and not there, or used and not named."""
    schema = delivery(client, topic)
    missing = SchemaReference("planet.json", f"{topic}.planet", 1)
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(f"{topic}-value", json_schema(DELIVERY, references=[missing]))
    assert f'No schema reference found for subject "{topic}.planet" and version 1' in refused.value.error_message
    for references in ([], (schema.references or [])[:1]):
        with pytest.raises(SchemaRegistryError) as refused:
            client.register_schema(f"{topic}-value", json_schema({"$ref": "planet.json"}, references=references))
        assert (refused.value.http_status_code, refused.value.error_code) == (422, 42201)


def test_what_others_are_made_of_cannot_be_deleted(client: SchemaRegistryClient, topic: str) -> None:
    delivery(client, topic)
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_version(f"{topic}.country", 1)
    assert (refused.value.http_status_code, refused.value.error_code) == (422, 42206)


# --- one schema, one id ----------------------------------------------------------------------------------------------


def test_normalized_schemas_are_equal_whatever_the_order_of_their_properties(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """`normalize.schemas` makes one version of two spellings; without it they are two."""
    turned = dict(reversed(ORDER.items()))
    first = sent(client, f"{topic}-n", ORDER, ADA, {"normalize.schemas": True})
    with another(server) as producer:
        assert sent(producer, f"{topic}-n", turned, ADA, {"normalize.schemas": True}) == first
        assert producer.get_versions(f"{topic}-n-value") == [1]
        assert sent(client, topic, ORDER, ADA) != sent(producer, topic, turned, ADA)
        assert producer.get_versions(f"{topic}-value") == [1, 2]


def test_a_producer_that_may_not_register_uses_what_is_there(client: SchemaRegistryClient, topic: str) -> None:
    """`auto.register.schemas` off: an unknown schema is an error, a registered one is found whatever its spacing."""
    with pytest.raises(SchemaRegistryError) as refused:
        sent(client, topic, ORDER, ADA, {"auto.register.schemas": False})
    assert refused.value.error_code == 40401
    registered = client.register_schema(f"{topic}-value", Schema(json.dumps(ORDER, indent=4), "JSON"))
    assert id_in(sent(client, topic, ORDER, ADA, {"auto.register.schemas": False})) == registered


def test_a_producer_that_uses_the_latest_version_is_judged_by_it(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    client.register_schema(subject, json_schema(CLOSED_ORDER))
    newest = client.register_schema(subject, json_schema(NOTED_CLOSED_ORDER))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    framed = sent(client, topic, CLOSED_ORDER, {"number": 1, "note": "fragile"}, conf)
    assert id_in(framed) == newest
    assert received(client, topic, framed) == {"number": 1, "note": "fragile"}
    with pytest.raises(SerializationError):
        sent(client, topic, CLOSED_ORDER, {"number": 1, "color": "red"}, conf)


def test_a_producer_may_be_pinned_to_an_id(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    oldest = client.register_schema(subject, json_schema(CLOSED_ORDER))
    client.register_schema(subject, json_schema(NOTED_CLOSED_ORDER))
    conf = {"auto.register.schemas": False, "use.schema.id": oldest}
    assert id_in(sent(client, topic, CLOSED_ORDER, ADA, conf)) == oldest


def test_a_producer_may_choose_the_latest_version_of_its_kind(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    first = client.register_schema(subject, json_schema(CLOSED_ORDER, metadata=properties(line="1")))
    client.register_schema(subject, json_schema(NOTED_CLOSED_ORDER, metadata=properties(line="2")))
    conf = {"auto.register.schemas": False, "use.latest.with.metadata": {"line": "1"}}
    assert id_in(sent(client, topic, CLOSED_ORDER, ADA, conf)) == first


def test_subjects_may_be_named_after_titles(client: SchemaRegistryClient, topic: str) -> None:
    schema = {**ORDER, "title": f"{topic}.Order"}
    framed = sent(client, topic, schema, ADA, {"subject.name.strategy": record_subject_name_strategy})
    assert client.get_latest_version(f"{topic}.Order").schema_id == id_in(framed)


# --- evolution -------------------------------------------------------------------------------------------------------


def test_messages_of_all_ages_are_read(server: Server, client: SchemaRegistryClient, topic: str) -> None:
    old = sent(client, topic, CLOSED_ORDER, ADA)
    new = sent(client, topic, NOTED_CLOSED_ORDER, {**ADA, "note": "fragile"})
    assert client.get_versions(f"{topic}-value") == [1, 2]
    with another(server) as consumer:
        assert received(consumer, topic, old, NOTED_CLOSED_ORDER) == ADA
        assert received(consumer, topic, new) == {**ADA, "note": "fragile"}
        assert received(consumer, topic, old, conf={"use.latest.version": True}) == ADA
        with pytest.raises(SerializationError):
            received(consumer, topic, new, CLOSED_ORDER)


def test_a_change_that_old_messages_cannot_survive_stops_the_producer(client: SchemaRegistryClient, topic: str) -> None:
    sent(client, topic, ORDER, ADA)
    with pytest.raises(SchemaRegistryError) as refused:
        sent(client, topic, BROKEN_ORDER, ADA)
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)
    assert f'incompatible with an earlier schema for subject "{topic}-value"' in refused.value.error_message
    assert '{errorType:"REQUIRED_ATTRIBUTE_ADDED"' in refused.value.error_message
    assert "#/required/customer" in refused.value.error_message
    assert client.get_versions(f"{topic}-value") == [1]


def test_a_new_property_is_refused_until_the_subject_is_lenient(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """Strictly, old messages may hold anything under its name. Most teams know that theirs do not."""
    subject = f"{topic}-value"
    sent(client, topic, ORDER, ADA)
    with pytest.raises(SchemaRegistryError) as refused:
        sent(client, topic, NOTED_ORDER, ADA)
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)
    assert '{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"' in refused.value.error_message
    set_policy = server.ask("PUT", f"/config/{subject}", {"compatibilityPolicy": "LENIENT"})
    assert (set_policy.status, set_policy.json) == (200, {"compatibilityPolicy": "LENIENT"})
    assert client.test_compatibility(subject, json_schema(NOTED_ORDER)) is True
    assert client.test_compatibility(subject, json_schema(BROKEN_ORDER)) is False
    framed = sent(client, topic, NOTED_ORDER, {**ADA, "note": "fragile"})
    assert received(client, topic, framed) == {**ADA, "note": "fragile"}
    assert client.get_versions(subject) == [1, 2]


CHANGES = [
    (CLOSED_ORDER, NOTED_CLOSED_ORDER, None),
    (NOTED_ORDER, ORDER, None),
    ({"type": "integer"}, {"type": "number"}, None),
    ({"type": "string"}, {"type": ["string", "null"]}, None),
    ({"enum": ["a"]}, {"enum": ["a", "b"]}, None),
    ({"oneOf": [{"type": "string"}]}, {"oneOf": [{"type": "string"}, {"type": "integer"}]}, None),
    ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 4}, None),
    ({"type": "string", "title": "a"}, {"type": "string", "title": "b", "format": "date"}, None),
    ({"$schema": DRAFTS[2], "type": "integer"}, {"$schema": DRAFTS[4], "type": "number"}, None),
    (ORDER, CLOSED_ORDER, "ADDITIONAL_PROPERTIES_REMOVED"),
    ({"type": "number"}, {"type": "integer"}, "TYPE_NARROWED"),
    ({"type": "string"}, {"type": "integer"}, "TYPE_CHANGED"),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}, "ENUM_ARRAY_NARROWED"),
    ({"type": "string", "maxLength": 4}, {"type": "string", "maxLength": 3}, "MAX_LENGTH_DECREASED"),
    ({"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "null"}}, "TYPE_CHANGED"),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"oneOf": [{"type": "string"}, {"type": "array"}]},
     "COMBINED_TYPE_SUBSCHEMAS_CHANGED"),
]  # fmt: skip
"""Two versions and what is wrong with the second, None if nothing."""


@pytest.mark.parametrize("old, new, wrong", CHANGES)
def test_changes_are_judged_before_and_when_they_are_made(
    client: SchemaRegistryClient, topic: str, old: Any, new: Any, wrong: str | None
) -> None:
    subject = f"{topic}-value"
    client.register_schema(subject, json_schema(old))
    assert client.test_compatibility(subject, json_schema(new)) is (wrong is None)
    if wrong is None:
        client.register_schema(subject, json_schema(new))
        assert client.get_versions(subject) == [1, 2]
        return
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(subject, json_schema(new))
    assert refused.value.error_code == 40901
    assert f'errorType:"{wrong}"' in refused.value.error_message


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "strin"}',
        '{"type": "object"',
        "[]",
        '{"$ref": "#/definitions/gone"}',
        '{"pattern": "("}',
        "message M {}",
    ],
)
def test_what_is_no_json_schema_is_refused(client: SchemaRegistryClient, topic: str, text: str) -> None:
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(f"{topic}-value", Schema(text, "JSON"))
    assert (refused.value.http_status_code, refused.value.error_code) == (422, 42201)
    assert "Invalid schema" in refused.value.error_message


# --- rules -----------------------------------------------------------------------------------------------------------


TAGGED_ORDER: dict[str, Any] = {
    **ORDER,
    "properties": {**ORDER["properties"], "customer": {"type": "string", "confluent:tags": ["PII"]}},
}


def test_tags_in_the_schema_tell_a_rule_where_it_applies(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """The producer's own schema knows of no tags and no rules: both come from the registry."""
    client.register_schema(f"{topic}-value", json_schema(TAGGED_ORDER, rule_set=hiding_rules("PII")))
    rules: RuleRegistry = hiding()
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    framed = sent(client, topic, ORDER, {"number": 7, "customer": "Ada"}, conf, rule_registry=rules)
    assert json.loads(framed[5:]) == {"number": 7, "customer": "adA"}
    with another(server) as consumer:
        assert received(consumer, topic, framed, rule_registry=rules) == {"number": 7, "customer": "Ada"}
        told = consumer.get_schema(id_in(framed))
        assert json.loads(told.schema_str or "") == TAGGED_ORDER


def test_tags_may_be_added_to_a_schema_that_is_there(server: Server, client: SchemaRegistryClient, topic: str) -> None:
    """As a catalog does it: the registry writes the tag into the text of a new version."""
    subject = f"{topic}-value"
    client.register_schema(subject, json_schema(ORDER))
    tag = {"schemaEntity": {"entityPath": "object.customer", "entityType": "sr_field"}, "tags": ["PII"]}
    answer = server.ask("POST", f"/subjects/{subject}/versions/latest/tags", {"newVersion": 2, "tagsToAdd": [tag]})
    assert answer.status == 200, answer.json
    with another(server) as reader:
        told = reader.get_latest_version(subject)
        assert told.version == 2
        assert json.loads(told.schema.schema_str or "")["properties"]["customer"]["confluent:tags"] == ["PII"]
