"""Confluent's own Python client, as a team uses it, against a running registry. It must find nothing unusual."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryError,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.common.schema_registry_client import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    ServerConfig,
)

from tests.protocol.clients.server import Server
from tests.protocol.clients.shop import (
    BROKEN_ORDER,
    NOTED_ORDER,
    ORDER,
    another,
    avro,
    id_in,
    properties,
    value_of,
    written,
)

# --- registering and looking up --------------------------------------------------------------------------------------


def test_the_same_schema_keeps_its_id_wherever_it_is_registered(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    first = client.register_schema(f"{topic}-a", avro(ORDER))
    with another(server) as again:
        assert again.register_schema(f"{topic}-a", avro(ORDER)) == first
        assert again.register_schema(f"{topic}-b", avro(ORDER)) == first
        assert {f"{topic}-a", f"{topic}-b"} <= set(again.get_subjects_by_schema_id(first))
        held = {(one.subject, one.version) for one in again.get_schema_versions(first)}
        assert {(f"{topic}-a", 1), (f"{topic}-b", 1)} <= held


def test_a_full_registration_tells_version_id_and_guid(client: SchemaRegistryClient, topic: str) -> None:
    registered = client.register_schema_full_response(f"{topic}-value", avro(ORDER))
    assert registered.version == 1
    assert registered.guid
    found = client.lookup_schema(f"{topic}-value", avro(ORDER))
    assert (found.version, found.schema_id, found.guid) == (1, registered.schema_id, registered.guid)


def test_normalized_schemas_are_equal_whatever_the_order_of_their_properties(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    """`normalize.schemas` makes one version of two spellings; without it they are two."""
    spelled = avro({**ORDER, "zeta": 1, "alpha": 2})
    other = avro({"alpha": 2, "zeta": 1, **ORDER})
    first = client.register_schema(f"{topic}-value", spelled, normalize_schemas=True)
    with another(server) as producer:
        assert producer.register_schema(f"{topic}-value", other, normalize_schemas=True) == first
        assert producer.get_versions(f"{topic}-value") == [1]
        found = producer.lookup_schema(f"{topic}-value", other, normalize_schemas=True)
        assert found.schema_id == first
        message = written(producer, topic, other, {"number": 1, "customer": "Ada"}, {"normalize.schemas": True})
        assert id_in(message) == first


def test_versions_are_read_one_by_one_and_as_the_latest(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    ids = [client.register_schema(subject, avro(tree)) for tree in (ORDER, NOTED_ORDER)]
    assert client.get_versions(subject) == [1, 2]
    assert [client.get_version(subject, version).schema_id for version in (1, 2)] == ids
    assert client.get_version(subject, "latest").schema_id == ids[1]
    assert client.get_latest_version(subject).version == 2


def test_metadata_and_rules_come_back_as_they_were_sent(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    # Without tags: the client cannot hash a schema that has them, and hashes every schema.
    metadata = Metadata(tags=None, properties=MetadataProperties({"owner": "Ada", "team": "β"}), sensitive=["owner"])
    rule = Rule(
        name="hide",
        doc="keeps names out of logs",
        kind=RuleKind.TRANSFORM,
        mode=RuleMode.WRITEREAD,
        type="ENCRYPT",
        tags=["PII"],
        params=RuleParams({"encrypt.kek.name": "k"}),
        expr=None,
        on_success="NONE",
        on_failure="ERROR",
        disabled=False,
    )
    rules = RuleSet(migration_rules=None, domain_rules=[rule], encoding_rules=None)
    subject = f"{topic}-value"
    id = client.register_schema(subject, avro(ORDER, metadata=metadata, rule_set=rules))
    with another(server) as reader:
        for told in (reader.get_schema(id), reader.get_version(subject, 1).schema):
            assert told.metadata is not None
            assert told.metadata.to_dict() == metadata.to_dict()
            assert told.rule_set is not None
            assert told.rule_set.domain_rules == [rule]
        found = reader.get_latest_with_metadata(subject, {"owner": "Ada"})
        assert (found.version, found.schema_id) == (1, id)


def test_new_rules_for_an_old_schema_are_a_new_version(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    first = client.register_schema(subject, avro(ORDER))
    second = client.register_schema(subject, avro(ORDER, metadata=properties(owner="Ada")))
    assert second != first
    assert client.get_versions(subject) == [1, 2]


def test_a_client_asks_for_an_id_once(server: Server, topic: str) -> None:
    """The client's own caches rely on an id never changing its meaning: a stopped registry does not matter to them."""
    with another(server) as client:
        id = client.register_schema(f"{topic}-value", avro(ORDER))
        client.clear_caches()
        first = client.get_schema(id)
        assert client.get_schema(id) is first


# --- checking --------------------------------------------------------------------------------------------------------


def test_compatibility_is_asked_before_anything_is_registered(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    assert client.test_compatibility(subject, avro(ORDER)), "nothing is there that it could be incompatible with"
    client.register_schema(subject, avro(ORDER))
    assert client.test_compatibility(subject, avro(NOTED_ORDER))
    assert not client.test_compatibility(subject, avro(BROKEN_ORDER))
    assert not client.test_compatibility(subject, avro(BROKEN_ORDER), version=1, verbose=True)
    assert client.test_compatibility_all_versions(subject, avro(NOTED_ORDER))
    assert client.get_versions(subject) == [1]


def test_a_level_decides_what_is_compatible(client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    client.register_schema(subject, avro(ORDER))
    client.set_compatibility(subject, "NONE")
    assert client.get_compatibility(subject) == "NONE"
    assert client.test_compatibility(subject, avro(BROKEN_ORDER))
    client.register_schema(subject, avro(BROKEN_ORDER))
    assert client.get_versions(subject) == [1, 2]


# --- config and mode -------------------------------------------------------------------------------------------------


def test_the_global_level_is_changed_read_and_forgotten(client: SchemaRegistryClient) -> None:
    assert client.get_compatibility() == "BACKWARD"
    client.set_compatibility(level="full_transitive")
    try:
        assert client.get_compatibility() == "FULL_TRANSITIVE"
    finally:
        client.delete_config()
    assert client.get_compatibility() == "BACKWARD"


def test_config_of_a_subject_goes_round_whole(client: SchemaRegistryClient, topic: str) -> None:
    config = ServerConfig(
        compatibility=ConfigCompatibilityLevel.FORWARD,
        compatibility_group="line",
        default_metadata=properties(owner="nobody"),
        override_metadata=properties(checked="yes"),
    )
    client.set_config(f"{topic}-value", config)
    told = client.get_config(f"{topic}-value")
    assert told.compatibility_level == ConfigCompatibilityLevel.FORWARD
    assert told.compatibility_group == "line"
    assert told.default_metadata is not None
    assert told.default_metadata.properties == MetadataProperties({"owner": "nobody"})
    assert told.override_metadata is not None
    assert told.override_metadata.properties == MetadataProperties({"checked": "yes"})
    assert client.delete_config(f"{topic}-value").compatibility_level == ConfigCompatibilityLevel.FORWARD
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_config(f"{topic}-value")
    assert (refused.value.http_status_code, refused.value.error_code) == (404, 40408)


def test_default_metadata_joins_what_is_registered(server: Server, client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    client.set_config(subject, ServerConfig(default_metadata=properties(owner="platform")))
    client.register_schema(subject, avro(ORDER))
    with another(server) as reader:
        metadata = reader.get_latest_version(subject).schema.metadata
    assert metadata is not None
    assert metadata.properties == MetadataProperties({"owner": "platform"})


def test_a_read_only_subject_takes_nothing_new_and_still_knows_what_it_has(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    subject = f"{topic}-value"
    known = client.register_schema(subject, avro(ORDER))
    assert client.update_mode(subject, "READONLY") == "READONLY"
    assert client.get_mode(subject) == "READONLY"
    with another(server) as producer:
        assert producer.register_schema(subject, avro(ORDER)) == known
        with pytest.raises(SchemaRegistryError) as refused:
            producer.register_schema(subject, avro(NOTED_ORDER))
        assert (refused.value.http_status_code, refused.value.error_code) == (422, 42205)
        assert producer.delete_mode(subject) == "READONLY"
        producer.register_schema(subject, avro(NOTED_ORDER))


def test_the_global_mode_is_read(client: SchemaRegistryClient) -> None:
    assert client.get_global_mode() == "READWRITE"


# --- deleting --------------------------------------------------------------------------------------------------------


def test_a_deleted_subject_is_hidden_then_gone(server: Server, client: SchemaRegistryClient, topic: str) -> None:
    subject = f"{topic}-value"
    id = client.register_schema(subject, avro({**ORDER, "name": f"Order_{topic}"}))
    assert client.delete_subject(subject) == [1]
    assert subject not in client.get_subjects()
    assert subject in client.get_subjects(deleted=True)
    with another(server) as consumer:
        assert consumer.get_schema(id).schema_str, "messages written before must stay readable"
        assert consumer.get_version(subject, 1, deleted=True).schema_id == id
    assert client.delete_subject(subject, permanent=True) == [1]
    assert subject not in client.get_subjects(deleted=True)
    with another(server) as consumer, pytest.raises(SchemaRegistryError) as refused:
        consumer.get_schema(id)
    assert (refused.value.http_status_code, refused.value.error_code) == (404, 40403)


def test_a_version_is_deleted_softly_before_it_may_be_deleted_for_good(
    client: SchemaRegistryClient, topic: str
) -> None:
    subject = f"{topic}-value"
    client.register_schema(subject, avro(ORDER))
    client.register_schema(subject, avro(NOTED_ORDER))
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_version(subject, 1, permanent=True)
    assert (refused.value.http_status_code, refused.value.error_code) == (404, 40407)
    assert client.delete_version(subject, 1) == 1
    assert client.get_versions(subject) == [2]
    assert client.get_versions(subject, deleted=True) == [1, 2]
    assert client.delete_version(subject, 1, permanent=True) == 1
    assert client.get_versions(subject, deleted=True) == [2]


def test_what_was_deleted_may_come_back_and_keeps_its_id(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    subject = f"{topic}-value"
    id = client.register_schema(subject, avro(ORDER))
    client.delete_subject(subject)
    with another(server) as producer:
        assert producer.register_schema(subject, avro(ORDER)) == id
        assert producer.get_versions(subject) == [2]


# --- contexts --------------------------------------------------------------------------------------------------------


def test_a_context_is_a_registry_of_its_own(client: SchemaRegistryClient, topic: str) -> None:
    """Ids are per context: a consumer there names the subject, so that the id means what it means there."""
    subject = f":.{topic}:orders-value"
    assert client.register_schema(subject, avro(ORDER)) == 1
    assert f".{topic}" in client.get_contexts()
    assert client.get_subjects(subject_prefix=f":.{topic}:") == [subject]
    told = client.get_schema(1, subject_name=subject).schema_str
    assert json.loads(told or "") == ORDER


def test_a_context_in_the_url_is_all_that_its_clients_see(server: Server, topic: str) -> None:
    with SchemaRegistryClient({"url": f"{server.url}/contexts/.{topic}"}) as client:
        message = written(client, "orders", ORDER, {"number": 1, "customer": "Ada"}, {})
        assert id_in(message) == 1
        assert client.get_subjects() == [f":.{topic}:orders-value"]
        assert client.get_versions("orders-value") == [1]
        assert AvroDeserializer(client)(message, value_of("orders")) == {"number": 1, "customer": "Ada"}


# --- names and errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a/b", "a b", "a:b", "ä-ω-✓", "100%", "a+b", "a;b", "a?b#c", "😀", "a%2Fb"])
def test_every_name_that_a_topic_could_have_is_a_subject(
    server: Server, client: SchemaRegistryClient, topic: str, name: str
) -> None:
    """The client percent-encodes; what it meant must arrive."""
    subject = f"{topic}/{name}"
    id = client.register_schema(subject, avro(ORDER))
    assert subject in client.get_subjects()
    with another(server) as reader:
        assert reader.get_latest_version(subject).schema_id == id
        assert reader.get_latest_version(subject).subject == subject
    assert client.delete_subject(subject) == [1]


def refusals(client: SchemaRegistryClient, topic: str) -> Iterator[tuple[Any, int, int, str]]:
    """(what is asked, status, number, words) of what a client may get wrong."""
    subject = f"{topic}-value"
    unknown = f"{topic}-unknown"
    yield lambda: client.get_latest_version(unknown), 404, 40401, f"Subject '{unknown}' not found."
    yield lambda: client.get_versions(unknown), 404, 40401, f"Subject '{unknown}' not found."
    yield lambda: client.delete_subject(unknown), 404, 40401, f"Subject '{unknown}' not found."
    yield lambda: client.get_version(subject, 9), 404, 40402, "Version 9 not found."
    yield lambda: client.get_version(subject, cast("Any", "newest")), 422, 42202, "'newest' is not a valid version id"
    yield lambda: client.get_schema(2_000_000_000), 404, 40403, "Schema 2000000000 not found"
    yield lambda: client.get_schema_by_guid("no-guid"), 404, 40403, "Schema no-guid not found"
    yield lambda: client.lookup_schema(subject, avro(NOTED_ORDER)), 404, 40403, "Schema not found"
    yield lambda: client.register_schema(subject, Schema('{"type": "recor"}', "AVRO")), 422, 42201, "Invalid schema"
    yield lambda: client.register_schema(subject, Schema("{}", "XML")), 422, 42201, "Invalid schema type XML"
    yield lambda: client.set_compatibility(subject, "SIDEWAYS"), 422, 42203, "Invalid compatibility level."
    yield lambda: client.update_mode(subject, "SLEEPING"), 422, 42204, "Invalid mode."
    yield lambda: client.get_mode(unknown), 404, 40409, "does not have subject-level mode configured"
    yield lambda: client.register_schema("a\nb", avro(ORDER)), 422, 42208, "is not a valid."


def test_errors_reach_the_client_with_status_number_and_words(client: SchemaRegistryClient, topic: str) -> None:
    client.register_schema(f"{topic}-value", avro(ORDER))
    for asked, status, number, words in refusals(client, topic):
        with pytest.raises(SchemaRegistryError) as refused:
            asked()
        assert (refused.value.http_status_code, refused.value.error_code) == (status, number)
        assert words in refused.value.error_message


# --- the asynchronous client -----------------------------------------------------------------------------------------


def test_the_asynchronous_client_finds_the_same_registry(server: Server, topic: str) -> None:
    async def story() -> None:
        client = AsyncSchemaRegistryClient({"url": server.url})
        try:
            subjects = [f"{topic}-{number}" for number in range(10)]
            ids = await asyncio.gather(*(client.register_schema(subject, avro(ORDER)) for subject in subjects))
            assert len(set(ids)) == 1, "one text, one id, however many ask at once"
            assert sorted(await client.get_subjects(subject_prefix=topic)) == sorted(subjects)
            assert json.loads((await client.get_schema(ids[0])).schema_str or "") == ORDER
            with pytest.raises(SchemaRegistryError) as refused:
                await client.register_schema(subjects[0], avro(BROKEN_ORDER))
            assert refused.value.error_code == 40901
        finally:
            await client._rest_client.session.aclose()

    asyncio.run(story())
