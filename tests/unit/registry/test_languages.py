"""JSON Schema and Protobuf through the verbs: what differs from Avro is what the languages ask of the registry."""

import pytest

from sigla.errors import Incompatible, InvalidSchema, OperationNotPermitted
from sigla.model import BodyKey, Draft, OfferedReference, SchemaId, Tagged, Version
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.unit.registry.tell import lookup, refer, register, registered, s

JSON = {"type": "JSON"}
PROTOBUF = {"type": "PROTOBUF"}
SKU = '{"type":"object","properties":{"sku":{"type":"string"}}}'
SKU_AND_QTY = '{"type":"object","properties":{"sku":{"type":"string"},"qty":{"type":"integer"}}}'
TRIP = 'syntax = "proto3";\n\nmessage Trip {\n  int32 id = 1;\n}\n'
STOP = 'syntax = "proto3";\npackage geo;\n\nmessage Stop {\n  double lat = 1;\n}\n'
ROUTE = 'syntax = "proto3";\n\nimport "stop.proto";\n\nmessage Route {\n  repeated geo.Stop stops = 1;\n}\n'


def test_each_text_is_stored_in_the_canonical_form_of_its_language(registry: Registry) -> None:
    """A Protobuf schema is a page of source, a JSON Schema one line in its own order."""
    assert register(registry, "json", '{ "title" : "T", "minimum": 1e5 }', **JSON).schema.text == (
        '{"title":"T","minimum":1E+5}'
    )
    assert register(registry, "proto", 'syntax="proto3"; message Trip{int32 id=1;}', **PROTOBUF).schema.text == TRIP


def test_key_order_makes_another_json_schema_unless_it_is_normalised(registry: Registry) -> None:
    """Normalised texts are one schema."""
    one = register(registry, "a", '{"type":"string","title":"T"}', normalize=True, **JSON)
    assert register(registry, "a", '{"title":"T","type":"string"}', normalize=True, **JSON).id == one.id
    assert one.schema.text == '{"title":"T","type":"string"}'
    assert registered(registry, "b", '{"type":"string","title":"T"}', **JSON) == (1, 2)


def test_what_only_validation_can_tell_is_asked_of_every_schema_but_an_import(registry: Registry) -> None:
    """The sentence begins as clients know it, `Invalid schema {` (VR-3)."""
    for text, kind in (('{"type":"strin"}', JSON), ("message M { optional Gone a = 1; }", PROTOBUF)):
        with pytest.raises(InvalidSchema) as refused:
            register(registry, "a", text, **kind)
        assert str(refused.value.message).startswith("Invalid schema {subject=a,schemaType=")
        with pytest.raises(InvalidSchema):
            lookup(registry, "a", text, **kind)
    registry.change_mode(s("old"), "IMPORT")
    assert registered(registry, "old", '{"type":"strin"}', id=7, **JSON) == (1, 7)
    assert registered(registry, "old", "message M { optional Gone a = 1; }", id=8, **PROTOBUF) == (2, 8)


def test_strict_field_validation_asks_what_a_compiler_asks(registry: Registry) -> None:
    """Duplicate tags and names that begin with `$$` pass by default."""
    twice = "message M { optional int32 a = 1; optional int32 b = 1; }"
    reserved = '{"properties":{"$$a":{}}}'
    register(registry, "proto", twice, **PROTOBUF)
    register(registry, "json", reserved, **JSON)
    registry.change_config(s(""), {"validate_fields": True})
    for subject, text, kind in (("p", twice, PROTOBUF), ("j", reserved, JSON)):
        with pytest.raises(InvalidSchema):
            register(registry, subject, text, **kind)


def test_the_policy_of_a_subject_decides_what_hinders_a_json_schema(registry: Registry) -> None:
    """LENIENT lets an optional property be added to an open object; LOGICAL is as strict as STRICT (GR-6)."""
    register(registry, "a", SKU, **JSON)
    for policy in ("STRICT", "LOGICAL"):
        registry.change_config(s("a"), {"policy": policy})
        with pytest.raises(Incompatible) as refused:
            register(registry, "a", SKU_AND_QTY, **JSON)
        assert "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL" in refused.value.message
    registry.change_config(s("a"), {"policy": "LENIENT"})
    assert registered(registry, "a", SKU_AND_QTY, **JSON) == (2, 2)


def test_messages_are_shaped_as_each_language_shapes_them(registry: Registry) -> None:
    """The description of a JSON Schema opens with a double quote and closes with a single one (A.4)."""
    register(registry, "json", SKU, **JSON)
    [first, *_, last] = registry.check(s("json"), Draft(SKU_AND_QTY, "JSON"))
    assert first.startswith('{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", description:"')
    assert first.endswith("'}")
    assert "'#/properties/qty'" in first
    assert last == "{validateFields: 'false', compatibility: 'BACKWARD'}"
    register(registry, "proto", TRIP, **PROTOBUF)
    [first, *_] = registry.check(s("proto"), Draft(TRIP.replace("int32", "string"), "PROTOBUF"))
    assert first.startswith('{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"')
    assert first.endswith('"}')


def test_a_stored_schema_that_does_not_load_is_a_message_and_no_crash(registry: Registry) -> None:
    """It was imported; what it means cannot be told."""
    registry.change_mode(s("a"), "IMPORT")
    register(registry, "a", '{"type":"strin"}', id=7, **JSON)
    registry.change_mode(s("a"), "READWRITE")
    assert registry.check(s("a"), Draft(SKU, "JSON"))[0].startswith("Unexpected exception during compatibility check")


def test_references_of_mixed_depth_resolve_in_every_language(registry: Registry) -> None:
    """What a reference refers to is available as well."""
    register(registry, "zip", '{"type":"string","maxLength":5}', **JSON)
    register(
        registry,
        "address",
        '{"properties":{"zip":{"$ref":"zip.json"}}}',
        references=(refer("zip", 1, "zip.json"),),
        **JSON,
    )
    order = '{"properties":{"to":{"$ref":"address.json"},"zip":{"$ref":"zip.json"}}}'
    assert registered(registry, "order", order, references=(refer("address", 1, "address.json"),), **JSON) == (1, 3)
    register(registry, "stop", STOP, **PROTOBUF)
    register(registry, "route", ROUTE, references=(refer("stop", 1, "stop.proto"),), **PROTOBUF)
    plan = 'syntax = "proto3"; import "route.proto"; message Plan { Route a = 1; geo.Stop b = 2; }'
    assert registered(registry, "plan", plan, references=(refer("route", 1, "route.proto"),), **PROTOBUF) == (1, 6)


def test_a_protobuf_body_carries_what_readers_without_a_parser_need(registry: Registry, store: EmbeddedStore) -> None:
    """The FileDescriptorSet of the schema and of all that it imports, dependencies first."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    register(registry, "stop", STOP, **PROTOBUF)
    record = register(registry, "route", ROUTE, references=(refer("stop", 1, "stop.proto"),), **PROTOBUF)
    compiled = store.bodies.get(BodyKey(".", record.id or SchemaId(0))).compiled
    assert compiled is not None
    files = FileDescriptorSet.FromString(compiled).file
    assert [file.name for file in files] == ["stop.proto", "default"]
    assert files[1].message_type[0].field[0].type_name == ".geo.Stop"
    register(registry, "json", SKU, **JSON)
    assert store.bodies.get(BodyKey(".", SchemaId(3))).compiled is None


def test_a_protobuf_schema_is_rendered_in_its_other_forms(registry: Registry) -> None:
    """Clients of some languages parse the serialized form."""
    from base64 import b64decode

    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    extended = 'import "confluent/meta.proto"; message M { optional int32 a = 1 [(x) = 1]; extensions 100; }'
    register(registry, "a", extended, **PROTOBUF)
    record = registry.version(s("a"), Version(1), form="serialized")
    file = FileDescriptorProto.FromString(b64decode(record.schema.text))
    assert (file.name, file.message_type[0].name) == ("default", "M")
    assert "extensions" not in registry.version(s("a"), Version(1), form="ignore_extensions").schema.text
    # What was rendered can be offered again: the text of a Protobuf schema may be a descriptor.
    again = register(registry, "b", record.schema.text, **PROTOBUF)
    assert again.schema.text.splitlines()[0] == ""
    assert "message M {" in again.schema.text


@pytest.mark.parametrize(
    "kind, text, path, tagged",
    [
        (
            JSON,
            '{"title":"Order","type":"object","properties":{"a":{"type":"string"}}}',
            "object.a",
            '"confluent:tags"',
        ),
        (PROTOBUF, TRIP, ".Trip.id", "(confluent.field_meta)"),
    ],
)
def test_tags_become_part_of_the_text(
    registry: Registry, kind: dict[str, str], text: str, path: str, tagged: str
) -> None:
    """And go from it again."""
    from sigla.model import Entity, TagRequest

    register(registry, "a", text, **kind)
    item = Tagged(Entity(path, "sr_field"), ("PII",))
    after = registry.tag(s("a"), "1", TagRequest(add=(item,)))
    assert tagged in after.schema.text
    assert "PII" in after.schema.text
    found = registry.version(s("a"), Version(2), find_tags=["PII"]).tags or ()
    assert [entity.tags for entity in found] == [("PII",)]
    assert "PII" not in registry.tag(s("a"), "2", TagRequest(remove=(item,))).schema.text


def test_a_json_schema_means_nothing_in_a_protobuf_file(registry: Registry) -> None:
    """A `$ref` that leads there is refused by name; a reference that nothing uses is let be (JR-18)."""
    register(registry, "trip", TRIP, **PROTOBUF)
    uses = (OfferedReference("trip.proto", "trip", 1),)
    for draft in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"):
        with pytest.raises(InvalidSchema, match=r"The reference 'trip\.proto' is not a JSON Schema"):
            register(registry, "a", f'{{"$schema":"{draft}","$ref":"trip.proto"}}', references=uses, **JSON)
        register(registry, draft, f'{{"$schema":"{draft}","title":"T"}}', references=uses, **JSON)


def test_one_text_of_two_languages_is_two_schemas_that_share_a_hash(registry: Registry) -> None:
    """An id means one thing: the second language is refused in the same context (HQ-1, REG-12)."""
    both = '{"type":"string","x":1}'
    register(registry, "avro", both)
    with pytest.raises(OperationNotPermitted):
        register(registry, "json", both, **JSON)
    assert registered(registry, ":.c:json", both, **JSON) == (1, 1)


def test_a_missing_type_is_avro_and_another_type_changes_nothing_but_at_none(registry: Registry) -> None:
    """VR-2, LV-7."""
    register(registry, "a", '"string"')
    assert registry.check(s("a"), Draft(SKU, "JSON"))[0] == "Incompatible because of different schema type"
    registry.change_config(s("a"), {"level": "NONE"})
    assert registered(registry, "a", SKU, **JSON) == (2, 2)
    assert registered(registry, "a", TRIP, **PROTOBUF) == (3, 3)


def test_normalising_a_protobuf_schema_sorts_its_references_too(registry: Registry) -> None:
    """VR-8, PN-2, PN-11."""
    register(registry, "b", STOP, **PROTOBUF)
    register(registry, "a", TRIP, **PROTOBUF)
    text = 'syntax = "proto3"; import "b.proto"; import "a.proto"; message M { Trip t = 2; geo.Stop s = 1; }'
    uses: tuple[OfferedReference, ...] = (refer("b", 1, "b.proto"), refer("a", 1, "a.proto"), refer("b", 1, "b.proto"))
    record = register(registry, "m", text, references=uses, normalize=True, **PROTOBUF)
    assert [ref.subject for ref in record.schema.references] == ["a", "b"]
    assert record.schema.text == (
        'syntax = "proto3";\n\nimport "a.proto";\nimport "b.proto";\n\n'
        "message M {\n  .geo.Stop s = 1;\n  .Trip t = 2;\n}\n"
    )
