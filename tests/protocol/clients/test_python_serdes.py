"""Confluent's own Python serializers and deserializers, in every setting that decides which schema a message gets."""

import json
from typing import Any

import httpx
import pytest
from confluent_kafka.schema_registry import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    header_schema_id_serializer,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.common.schema_registry_client import (
    ConfigCompatibilityLevel,
    ServerConfig,
)
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.protocol.clients.server import Server
from tests.protocol.clients.shop import (
    BROKEN_ORDER,
    CUSTOMER,
    INVOICE,
    NOTED_ORDER,
    ORDER,
    another,
    avro,
    id_in,
    properties,
    value_of,
    written,
)


def test_what_a_producer_wrote_a_consumer_elsewhere_reads(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """The first message registers its schema; another process knows the id alone and asks what it means."""
    message = written(client, topic, ORDER, {"number": 7, "customer": "Ada"}, {})
    with another(server) as consumer:
        read = AvroDeserializer(consumer)(message, value_of(topic))
    assert read == {"number": 7, "customer": "Ada"}
    assert client.get_subjects(subject_prefix=topic) == [f"{topic}-value"]


def test_a_serializer_that_asks_for_associations_is_told_that_there_are_none(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """It asks before the first message of every topic: no failure, in its log or in ours."""
    assert client.get_associations_by_resource_name(topic, "-", "topic", ["value"]) == []
    written(client, topic, ORDER, {"number": 7, "customer": "Ada"}, {"subject.name.strategy.type": "ASSOCIATED"})
    asked = "GET /associations/resources/{namespace}/{resource}"
    server.wait_for(lambda server: server.output.count(asked) > 1)
    told = [json.loads(line) for line in server.lines if asked in line]
    assert {line["status"] for line in told} == {200}
    assert client.get_subjects(subject_prefix=topic) == [f"{topic}-value"]


def test_both_sides_follow_a_topic_to_the_subject_that_it_is_associated_with(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """Its schemas may stand under any name then: the one of the topic is never made, and nothing is refused."""
    shared, settings = f"shared-{topic}", {"subject.name.strategy.type": "ASSOCIATED"}
    id = client.register_schema(shared, avro(ORDER))
    named = {"resourceName": topic, "resourceNamespace": "lkc-1", "resourceId": f"id-{topic}"}
    wanted = {**named, "associations": [{"subject": shared, "associationType": "value", "lifecycle": "WEAK"}]}
    answer = httpx.post(f"{server.url}/associations", json=wanted, headers={"Accept": "application/json"})
    assert answer.json()["associations"][0]["subject"] == shared
    message = written(
        client, topic, ORDER, {"number": 7, "customer": "Ada"}, {**settings, "auto.register.schemas": False}
    )
    with another(server) as consumer:
        assert AvroDeserializer(consumer, conf=settings)(message, value_of(topic)) == {"number": 7, "customer": "Ada"}
    assert id_in(message) == id
    assert client.get_subjects(subject_prefix=topic) == []
    assert f"{topic}-value" not in server.output


def associated(topic: str, **wanted: Any) -> AssociationCreateOrUpdateRequest:
    """The value of a topic."""
    info = AssociationCreateOrUpdateInfo(association_type="value", **wanted)
    return AssociationCreateOrUpdateRequest(topic, "lkc-1", f"id-of-{topic}", "topic", [info])


def test_a_subject_that_belongs_to_a_topic_comes_and_goes_with_it(client: SchemaRegistryClient, topic: str) -> None:
    """As whoever creates and deletes topics does it with Confluent's client."""
    created = client.create_association(associated(topic, lifecycle="STRONG", schema=avro(ORDER)))
    assert created.associations
    own = f":.lkc-1:{topic}-value"
    assert [one.subject for one in created.associations] == [own]
    assert client.get_latest_version(own).version == 1
    with pytest.raises(SchemaRegistryError, match="is frozen"):
        client.delete_associations(f"id-of-{topic}")
    client.delete_associations(f"id-of-{topic}", cascade_lifecycle=True)
    assert client.get_associations_by_resource_name(topic, "-") == []
    assert client.get_subjects(subject_prefix=own, deleted=True) == []


def test_keys_and_values_of_a_topic_are_subjects_of_their_own(client: SchemaRegistryClient, topic: str) -> None:
    key = AvroSerializer(client, '"string"')("k", SerializationContext(topic, MessageField.KEY))
    value = AvroSerializer(client, json.dumps(ORDER))({"number": 1, "customer": "x"}, value_of(topic))
    assert sorted(client.get_subjects(subject_prefix=topic)) == [f"{topic}-key", f"{topic}-value"]
    assert key is not None
    assert value is not None
    assert id_in(key) != id_in(value)


def test_messages_of_all_ages_are_read_with_the_readers_schema(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """Old messages get the default of a field that they never had; new ones lose it for an old reader."""
    old = written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, {})
    new = written(client, topic, NOTED_ORDER, {"number": 2, "customer": "Bob", "note": "fragile"}, {})
    with another(server) as consumer:
        new_reader = AvroDeserializer(consumer, json.dumps(NOTED_ORDER))
        old_reader = AvroDeserializer(consumer, json.dumps(ORDER))
        assert new_reader(old, value_of(topic)) == {"number": 1, "customer": "Ada", "note": "none"}
        assert old_reader(new, value_of(topic)) == {"number": 2, "customer": "Bob"}


def test_a_change_that_old_messages_cannot_survive_stops_the_producer(client: SchemaRegistryClient, topic: str) -> None:
    written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, {})
    with pytest.raises(SchemaRegistryError) as refused:
        written(client, topic, BROKEN_ORDER, {"number": "1", "customer": "Ada"}, {})
    assert refused.value.http_status_code == 409
    assert refused.value.error_code == 40901
    assert "TYPE_MISMATCH" in refused.value.error_message
    assert client.get_versions(f"{topic}-value") == [1]


def test_a_producer_that_may_not_register_uses_what_is_there(client: SchemaRegistryClient, topic: str) -> None:
    """`auto.register.schemas` off: an unknown schema is an error, a registered one is found whatever its spacing."""
    with pytest.raises(SchemaRegistryError) as refused:
        written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, {"auto.register.schemas": False})
    assert refused.value.error_code == 40401
    registered = client.register_schema(f"{topic}-value", Schema(json.dumps(ORDER, indent=4), "AVRO"))
    message = written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, {"auto.register.schemas": False})
    assert id_in(message) == registered


def test_a_producer_that_uses_the_latest_version_writes_with_it(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    client.register_schema(subject, avro(ORDER))
    newest = client.register_schema(subject, avro(NOTED_ORDER))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    message = written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, conf)
    assert id_in(message) == newest
    assert AvroDeserializer(client)(message, value_of(topic)) == {"number": 1, "customer": "Ada", "note": "none"}


def test_a_producer_may_be_pinned_to_an_id(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    oldest = client.register_schema(subject, avro(ORDER))
    client.register_schema(subject, avro(NOTED_ORDER))
    conf = {"auto.register.schemas": False, "use.schema.id": oldest}
    message = written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, conf)
    assert id_in(message) == oldest


def test_a_producer_may_choose_the_latest_version_of_its_kind(client: SchemaRegistryClient, topic: str) -> None:
    """Two lines of versions in one subject, told apart by metadata: each producer gets the newest of its own."""
    subject = f"{topic}-value"
    client.set_config(
        subject, ServerConfig(compatibility=ConfigCompatibilityLevel.BACKWARD, compatibility_group="line")
    )
    first = client.register_schema(subject, avro(ORDER, metadata=properties(line="1")))
    second = client.register_schema(subject, avro(BROKEN_ORDER, metadata=properties(line="2")))
    of_line_1 = {"auto.register.schemas": False, "use.latest.with.metadata": {"line": "1"}}
    of_line_2 = {"auto.register.schemas": False, "use.latest.with.metadata": {"line": "2"}}
    assert id_in(written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, of_line_1)) == first
    assert id_in(written(client, topic, BROKEN_ORDER, {"number": "1", "customer": "Ada"}, of_line_2)) == second


@pytest.mark.parametrize(
    "strategy, subject",
    [
        (record_subject_name_strategy, "shop.Order"),
        (topic_record_subject_name_strategy, "{topic}-shop.Order"),
    ],
)
def test_subjects_may_be_named_after_records(
    client: SchemaRegistryClient, topic: str, strategy: object, subject: str
) -> None:
    message = written(client, topic, ORDER, {"number": 1, "customer": "Ada"}, {"subject.name.strategy": strategy})
    latest = client.get_latest_version(subject.format(topic=topic))
    assert latest.schema_id == id_in(message)
    assert latest.schema.schema_str is not None
    assert json.loads(latest.schema.schema_str) == ORDER


def test_a_guid_in_a_header_tells_as_much_as_an_id_in_the_payload(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """The client puts the GUID of the registration into a header; a consumer asks the registry what it means."""
    headers: list[tuple[str, Any]] = []
    serializer = AvroSerializer(client, json.dumps(ORDER), conf={"schema.id.serializer": header_schema_id_serializer})
    message = serializer({"number": 3, "customer": "Ada Lovelace"}, value_of(topic, headers))
    assert [name for name, _ in headers] == ["__value_schema_id"]
    with another(server) as consumer:
        read = AvroDeserializer(consumer)(message, value_of(topic, headers))
        guid = consumer.get_latest_version(f"{topic}-value").guid
        assert guid is not None
        assert json.loads(consumer.get_schema_by_guid(guid).schema_str or "") == ORDER
    assert read == {"number": 3, "customer": "Ada Lovelace"}


def test_a_schema_made_of_others_is_written_and_read_through_its_references(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    client.register_schema(f"{topic}.Customer", avro(CUSTOMER))
    reference = SchemaReference(name="shop.Customer", subject=f"{topic}.Customer", version=1)
    invoice = avro(INVOICE, references=[reference])
    sent = {"payer": {"name": "Ada"}, "receiver": {"name": "Bob"}}
    message = written(client, topic, invoice, sent, {})
    with another(server) as consumer:
        assert AvroDeserializer(consumer)(message, value_of(topic)) == sent
        assert consumer.get_schema(id_in(message)).references == [reference]
        assert consumer.get_referenced_by(f"{topic}.Customer", 1) == [id_in(message)]


def test_what_others_are_made_of_cannot_be_deleted(client: SchemaRegistryClient, topic: str) -> None:
    client.register_schema(f"{topic}.Customer", avro(CUSTOMER))
    reference = SchemaReference(name="shop.Customer", subject=f"{topic}.Customer", version=1)
    client.register_schema(f"{topic}-value", avro(INVOICE, references=[reference]))
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_version(f"{topic}.Customer", 1)
    assert (refused.value.http_status_code, refused.value.error_code) == (422, 42206)


def test_a_reference_to_nothing_is_refused(client: SchemaRegistryClient, topic: str) -> None:
    reference = SchemaReference(name="shop.Customer", subject=f"{topic}.Customer", version=1)
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(f"{topic}-value", avro(INVOICE, references=[reference]))
    assert (refused.value.http_status_code, refused.value.error_code) == (422, 42201)
    assert f'No schema reference found for subject "{topic}.Customer" and version 1' in refused.value.error_message
