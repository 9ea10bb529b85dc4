"""Confluent's Python client with Protobuf: classes that protoc made, their descriptors in base64 there and back."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    header_schema_id_serializer,
    record_subject_name_strategy,
)
from confluent_kafka.schema_registry.protobuf import AsyncProtobufDeserializer, AsyncProtobufSerializer
from confluent_kafka.schema_registry.rule_registry import RuleRegistry
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from sigla.decoding.frames import Frame, frame
from tests.protocol.clients.protobufs import (
    LETTERS,
    NOTED_TRIP,
    TRIP,
    a_tour,
    compiled,
    kind,
    meaning,
    meaning_of,
    protobuf,
    received,
    sent,
    told,
    trip,
)
from tests.protocol.clients.rules import hiding, hiding_rules
from tests.protocol.clients.server import Server
from tests.protocol.clients.shop import another, id_in, properties, value_of

T = TypeVar("T")

# --- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", LETTERS)
def test_what_a_producer_wrote_a_consumer_elsewhere_reads(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str, letter: str
) -> None:
    """The producer registers descriptors, imported ones first; a consumer gets them again and finds its message."""
    write, _ = LETTERS[letter]
    message = write(bazaar)
    framed = sent(client, topic, message)
    with another(server) as consumer:
        assert received(consumer, topic, type(message), framed) == message


@pytest.mark.parametrize("letter", LETTERS)
def test_the_descriptor_that_is_told_means_what_the_registered_one_meant(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str, letter: str
) -> None:
    """Field by field, option by option; a class made of it reads the payload as the writer's own does."""
    write, indexes = LETTERS[letter]
    message = write(bazaar)
    framed = frame(sent(client, topic, message), indexed=True)
    assert isinstance(framed, Frame)
    assert framed.indexes == indexes
    with another(server) as consumer:
        pool = DescriptorPool()
        schema = consumer.get_schema(cast("int", framed.schema), fmt="serialized")
        add_imports(consumer, schema, pool, message.DESCRIPTOR.file, set())
        read = told(schema)
        assert read.name == "default", "clients look their file up by this name"
        assert meaning(read, pool) == meaning_of(message.DESCRIPTOR.file)
        found = GetMessageClass(pool.FindMessageTypeByName(message.DESCRIPTOR.full_name))
        assert str(found.FromString(framed.payload)) == str(message)


def add_imports(
    client: SchemaRegistryClient, schema: Schema, pool: DescriptorPool, file: Any, added: set[str | None]
) -> None:
    """References from the registry, each once; everybody's types from this machine."""
    for imported in file.dependencies:
        if not imported.name.startswith("bazaar/"):
            add_all(pool, imported)
    for reference in schema.references or []:
        if reference.name not in added:
            added.add(reference.name)
            held = client.get_version(reference.subject or "", reference.version or 0, fmt="serialized").schema
            [dependency] = [each for each in file.dependencies if each.name == reference.name]
            add_imports(client, held, pool, dependency, added)
            proto = told(held)
            proto.name = reference.name or ""
            pool.Add(proto)


def add_all(pool: DescriptorPool, file: Any) -> None:
    for imported in file.dependencies:
        add_all(pool, imported)
    pool.AddSerializedFile(file.serialized_pb)


def test_key_and_value_are_subjects_of_their_own_and_may_be_of_different_languages(
    client: SchemaRegistryClient, bazaar: Any, topic: str
) -> None:
    client.register_schema(f"{topic}-key", Schema('{"type": "string"}', "JSON"))
    sent(client, topic, bazaar.geo.Point(latitude=1.0))
    assert sorted(client.get_subjects(subject_prefix=topic)) == [f"{topic}-key", f"{topic}-value"]
    types = [client.get_latest_version(f"{topic}-{part}").schema.schema_type for part in ("key", "value")]
    assert types == ["JSON", "PROTOBUF"]
    assert {"AVRO", "JSON", "PROTOBUF"} <= set(client.get_schema_types())


def test_a_guid_in_a_header_tells_as_much_as_an_id_in_the_payload(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str
) -> None:
    """The index path moves into the header with it."""
    write, indexes = LETTERS["hop"]
    message = write(bazaar)
    headers: list[tuple[str, Any]] = []
    payload = sent(client, topic, message, {"schema.id.serializer": header_schema_id_serializer}, headers=headers)
    assert payload == message.SerializeToString()
    framed = frame(payload, headers, indexed=True)
    assert isinstance(framed, Frame)
    assert framed.indexes == indexes
    assert str(framed.schema) == client.get_latest_version(f"{topic}-value").guid
    with another(server) as consumer:
        assert received(consumer, topic, type(message), payload, headers=headers) == message


# --- imports ---------------------------------------------------------------------------------------------------------


def test_imported_files_are_subjects_and_references(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str
) -> None:
    """As deep as they go; the types that are always available are not among them."""
    framed = sent(client, topic, a_tour(bazaar))
    address, order, geo = (f"bazaar/{name}.proto" for name in ("address", "order", "geo"))
    with another(server) as reader:
        imports = [SchemaReference(address, address, 1), SchemaReference(order, order, 1)]
        assert reader.get_schema(id_in(framed)).references == imports
        for file in (address, order):
            assert reader.get_latest_version(file).schema.references == [SchemaReference(geo, geo, 1)]
        assert reader.get_latest_version(geo).schema.references in (None, [])
        assert id_in(framed) in reader.get_referenced_by(order, 1)
        with pytest.raises(SchemaRegistryError) as refused:
            reader.delete_version(geo, 1)
        assert (refused.value.http_status_code, refused.value.error_code) == (422, 42206)


def test_references_may_be_named_by_the_producer(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str
) -> None:
    conf = {"reference.subject.name.strategy": lambda ctx, file: f"{ctx.topic}/{file.name}"}
    message = a_tour(bazaar)
    framed = sent(client, topic, message, conf)
    files = [f"{topic}/bazaar/{name}.proto" for name in ("address", "geo", "order")]
    assert sorted(client.get_subjects(subject_prefix=f"{topic}/")) == files
    with another(server) as consumer:
        assert received(consumer, topic, type(message), framed) == message


@pytest.mark.parametrize("letter", ["tour", "known types"])
def test_known_types_may_be_registered_like_any_others(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str, letter: str
) -> None:
    """`skip.known.types` off: google's files become subjects too, and the same types are then there twice."""
    write, _ = LETTERS[letter]
    message = write(bazaar)
    conf = {
        "skip.known.types": False,
        "reference.subject.name.strategy": lambda ctx, file: f"{ctx.topic}/{file.name}",
    }
    framed = sent(client, topic, message, conf)
    assert f"{topic}/google/protobuf/timestamp.proto" in client.get_subjects(subject_prefix=f"{topic}/google")
    with another(server) as consumer:
        assert received(consumer, topic, type(message), framed) == message


def test_a_missing_import_is_refused(client: SchemaRegistryClient, topic: str) -> None:
    text = 'syntax = "proto3"; import "gone.proto"; message Trip { gone.Place to = 1; }'
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(f"{topic}-value", protobuf(text))
    assert (refused.value.http_status_code, refused.value.error_code) == (422, 42201)
    reference = SchemaReference("gone.proto", f"{topic}-gone", 1)
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(f"{topic}-value", protobuf(text, references=[reference]))
    assert f'No schema reference found for subject "{topic}-gone" and version 1' in refused.value.error_message


# --- one schema, one id ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("normalize", [False, True])
def test_the_same_class_has_the_same_id_wherever_it_is_sent_from(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str, *, letter: str, normalize: bool
) -> None:
    """By registering again, and by looking up; imported files included."""
    message = LETTERS[letter][0](bazaar)
    conf = {"normalize.schemas": normalize}
    first = sent(client, topic, message, conf)
    with another(server) as producer:
        assert sent(producer, topic, message, conf) == first
    with another(server) as producer:
        assert sent(producer, topic, message, {**conf, "auto.register.schemas": False}) == first
        assert producer.get_versions(f"{topic}-value") == [1]


def test_a_producer_that_may_not_register_is_stopped_by_an_unknown_schema(
    client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    with pytest.raises(SchemaRegistryError) as refused:
        sent(client, topic, trip(tmp_path, TRIP), {"auto.register.schemas": False})
    assert (refused.value.http_status_code, refused.value.error_code) == (404, 40401)


def test_normalized_schemas_are_equal_whatever_the_order_of_their_fields(
    server: Server, client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    """`normalize.schemas` makes one version of two spellings; without it they are two."""
    turned = 'syntax = "proto3"; package trips; message Trip { string to = 2; int32 id = 1; }'
    one, other = trip(tmp_path, TRIP, id=1), trip(tmp_path, turned, id=1)
    first = sent(client, f"{topic}-n", one, {"normalize.schemas": True})
    with another(server) as producer:
        assert sent(producer, f"{topic}-n", other, {"normalize.schemas": True}) == first
        assert producer.get_versions(f"{topic}-n-value") == [1]
        assert sent(client, topic, one) != sent(producer, topic, other)
        assert producer.get_versions(f"{topic}-value") == [1, 2]


def test_a_producer_that_uses_the_latest_version_names_it(
    server: Server, client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    subject = f"{topic}-value"
    client.register_schema(subject, protobuf(TRIP))
    newest = client.register_schema(subject, protobuf(NOTED_TRIP))
    message = trip(tmp_path, TRIP, id=1, to="London")
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    framed = sent(client, topic, message, conf)
    assert id_in(framed) == newest
    with another(server) as consumer:
        assert received(consumer, topic, type(message), framed) == message


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("text", [False, True])
def test_what_the_registry_tells_it_knows_again(
    server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str, *, letter: str, text: bool
) -> None:
    """A client that wants to know which version a schema is asks with the descriptor it was told, or with the text."""
    id = id_in(sent(client, topic, LETTERS[letter][0](bazaar)))
    with another(server) as reader:
        schema = reader.get_schema(id, fmt=None if text else "serialized")
        found = reader.lookup_schema(f"{topic}-value", schema, deleted=True)
        assert (found.schema_id, found.version) == (id, 1)


def test_a_producer_may_choose_the_latest_version_of_its_kind(
    client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    subject = f"{topic}-value"
    first = client.register_schema(subject, protobuf(TRIP, metadata=properties(line="1")))
    client.register_schema(subject, protobuf(NOTED_TRIP, metadata=properties(line="2")))
    conf = {"auto.register.schemas": False, "use.latest.with.metadata": {"line": "1"}}
    assert id_in(sent(client, topic, trip(tmp_path, TRIP, id=1), conf)) == first


def test_a_consumer_that_wants_the_latest_version_finds_the_writers_again(
    server: Server, client: SchemaRegistryClient, bazaar: Any, tmp_path: Path, topic: str
) -> None:
    """It asks which version the writer's schema is, with the descriptor it was told."""
    message = trip(tmp_path, TRIP, id=1, to="London")
    framed = sent(client, topic, message)
    client.register_schema(f"{topic}-value", protobuf(NOTED_TRIP))
    tour = a_tour(bazaar)
    toured = sent(client, f"{topic}-t", tour)
    with another(server) as consumer:
        wanted = kind(compiled(tmp_path, trip=NOTED_TRIP), "trips.Trip")
        read = received(consumer, topic, wanted, framed, {"use.latest.version": True})
        assert str(read) == str(message)
        assert received(consumer, f"{topic}-t", type(tour), toured, {"use.latest.version": True}) == tour


def test_subjects_may_be_named_after_messages(client: SchemaRegistryClient, bazaar: Any, topic: str) -> None:
    message = bazaar.order.Cancellation(number=1)
    framed = sent(client, topic, message, {"subject.name.strategy": record_subject_name_strategy})
    assert client.get_latest_version("bazaar.Cancellation").schema_id == id_in(framed)


# --- elsewhere, later, and all at once ------------------------------------------------------------------------------


def test_a_context_in_the_url_is_all_that_its_clients_see(server: Server, bazaar: Any, topic: str) -> None:
    """Imported files as well: they are registered and found in the same context."""
    message = a_tour(bazaar)
    with (
        SchemaRegistryClient({"url": f"{server.url}/contexts/.{topic}"}) as producer,
        SchemaRegistryClient({"url": f"{server.url}/contexts/.{topic}"}) as consumer,
    ):
        framed = sent(producer, "tours", message)
        assert received(consumer, "tours", type(message), framed) == message
        subjects = ["bazaar/address.proto", "bazaar/geo.proto", "bazaar/order.proto", "tours-value"]
        assert sorted(consumer.get_subjects()) == [f":.{topic}:{subject}" for subject in subjects]


def test_a_message_outlives_its_subject(server: Server, client: SchemaRegistryClient, bazaar: Any, topic: str) -> None:
    """What was deleted, and not for good, is still told to those who hold messages."""
    message = a_tour(bazaar)
    conf = {"reference.subject.name.strategy": lambda ctx, file: f"{ctx.topic}/{file.name}"}
    framed = sent(client, topic, message, conf)
    client.delete_subject(f"{topic}-value")
    for name in ("order", "address", "geo"):
        client.delete_subject(f"{topic}/bazaar/{name}.proto")
    with another(server) as consumer:
        assert consumer.get_subjects(subject_prefix=topic) == []
        assert received(consumer, topic, type(message), framed) == message


def test_asynchronous_producers_that_start_together_agree(server: Server, bazaar: Any, topic: str) -> None:
    """They all register the same files at the same moment. The readers are others: producers keep texts in mind."""
    message = a_tour(bazaar)

    async def asked(story: Callable[[AsyncSchemaRegistryClient], Awaitable[T]]) -> T:
        client = AsyncSchemaRegistryClient({"url": server.url})
        try:
            return await story(client)
        finally:
            await client._rest_client.session.aclose()

    async def produce(client: AsyncSchemaRegistryClient) -> bytes:
        conf = {"reference.subject.name.strategy": lambda ctx, file: f"{ctx.topic}/{file.name}"}
        serializer = await AsyncProtobufSerializer(type(message), client, conf)
        return cast("bytes", await serializer(message, value_of(topic)))

    async def consume(client: AsyncSchemaRegistryClient) -> Message:
        deserializer = await AsyncProtobufDeserializer(type(message), {}, client)
        return cast("Message", await deserializer(framed, value_of(topic)))

    async def together() -> set[bytes]:
        return set(await asyncio.gather(*(asked(produce) for _ in range(5))))

    [framed] = asyncio.run(together())
    assert asyncio.run(asked(consume)) == message
    with another(server) as reader:
        assert reader.get_versions(f"{topic}-value") == [1]


# --- rules -----------------------------------------------------------------------------------------------------------


def test_tags_in_the_schema_tell_a_rule_where_it_applies(
    server: Server, client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    """The producer's class knows of no tags: it finds them in the options of the descriptor that it is told."""
    tagged = """syntax = "proto3"; package trips; import "confluent/meta.proto"; message Trip { int32 id = 1;
        string to = 2 [(confluent.field_meta).tags = "PII", (confluent.field_meta).doc = "where"]; }"""
    client.register_schema(f"{topic}-value", protobuf(tagged, rule_set=hiding_rules("PII")))
    message = trip(tmp_path, TRIP, id=1, to="London")
    rules: RuleRegistry = hiding()
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    framed = sent(client, topic, message, conf, rule_registry=rules)
    assert b"nodnoL" in framed
    with another(server) as consumer:
        read = received(consumer, topic, type(message), framed, rule_registry=rules)
        assert str(read) == str(trip(tmp_path, TRIP, id=1, to="London"))
