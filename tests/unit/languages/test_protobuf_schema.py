"""What the registry asks of Protobuf, from end to end (contract D, A.3, A.5)."""

import base64

import pytest
from google.protobuf import descriptor_pb2

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import protobuf
from sigla.languages.language import Budget
from sigla.languages.protobuf import LANGUAGE as PROTOBUF
from sigla.model import Entity, Parsed, Resolved, Tagged

TEXT = 'syntax = "proto3"; package shop; import "geo.proto"; message Order { string id = 1; geo.Point at = 2; }'
GEO = Resolved("geo.proto", 'syntax = "proto3"; package geo; message Point { double x = 1; }')


def new(text: str, *references: Resolved) -> Parsed:
    return PROTOBUF.parse(text, references, True)


def test_strict_validation_asks_what_protoc_would() -> None:
    """A number used twice does not matter otherwise (PP-16)."""
    twice = new('syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }')
    PROTOBUF.validate(twice, False)
    with pytest.raises(Malformed):
        PROTOBUF.validate(twice, True)
    PROTOBUF.validate(new(TEXT, GEO), True)


def test_only_what_hinders_is_found() -> None:
    """A field more is a harmless difference; another type does harm (D.5.5)."""
    old, new_ = new(TEXT, GEO), new(TEXT.replace("string id = 1;", "int32 id = 1; string name = 3;"), GEO)
    assert [finding.rule for finding in PROTOBUF.compare(new_, old)] == ["FIELD_SCALAR_KIND_CHANGED"]
    assert {finding.rule for finding in protobuf.differences(new_, old)} > {"FIELD_SCALAR_KIND_CHANGED"}
    with pytest.raises(CheckAbandoned):
        PROTOBUF.compare(new_, old, Budget(0), "STRICT")


def test_a_schema_is_given_out_as_a_descriptor() -> None:
    """By itself in base64, and with all that it needs (D.3.2)."""
    schema = new(TEXT, GEO)
    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(PROTOBUF.render(schema, "serialized")))
    assert [message.name for message in file.message_type] == ["Order"]
    compiled = PROTOBUF.compiled(schema)
    assert compiled is not None
    assert [file.package for file in descriptor_pb2.FileDescriptorSet.FromString(compiled).file] == ["geo", "shop"]


def test_what_is_given_out_can_be_offered_again() -> None:
    """As base64 with its padding, or without, as Java takes it (PI-1, PI-4)."""
    serialized = PROTOBUF.render(new(TEXT, GEO), "serialized")
    again = new(serialized, GEO)
    assert again.canonical.startswith('syntax = "proto3";\npackage shop;\n')
    assert new(serialized.rstrip("="), GEO).canonical == again.canonical
    assert PROTOBUF.compare(again, new(TEXT, GEO)) == ()


def test_a_descriptor_cannot_say_what_its_text_does_not() -> None:
    """Invalid names, and more levels than a text may have."""
    tricky = descriptor_pb2.FileDescriptorProto(name="a", syntax="proto3")
    tricky.message_type.add(name="M {} message N")
    deep = descriptor_pb2.FileDescriptorProto(name="a", syntax="proto3")
    message = deep.message_type.add(name="M")
    for _ in range(70):
        message = message.nested_type.add(name="M")
    for descriptor in (tricky, deep):
        with pytest.raises(Malformed, match="Could not parse Protobuf - "):
            new(base64.b64encode(descriptor.SerializeToString()).decode())


def test_tags_are_found_and_changed() -> None:
    """The text is new, the schema stays as it was."""
    schema = new(TEXT, GEO)
    field = Tagged(Entity("Order.id", "sr_field"), ("PII",))
    tagged = new(PROTOBUF.retag(schema, (field,), ()), GEO)
    assert schema.canonical == new(TEXT, GEO).canonical
    (found,) = PROTOBUF.tagged(tagged)
    assert found.tags == ("PII",)
    assert PROTOBUF.tagged(new(PROTOBUF.retag(tagged, (), (found,)), GEO)) == ()


def test_text_beyond_ascii_is_kept() -> None:
    """In strings, wherever they are."""
    assert 'option java_package = "é😀";' in new('option java_package = "é😀";').canonical
