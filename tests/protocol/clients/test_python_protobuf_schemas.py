"""Confluent's Python client with Protobuf: files as text, as people write them, and how they may change."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
)

from tests.protocol.clients.protobufs import (
    BROKEN_TRIP,
    GOOGLE_TYPES,
    NOTED_TRIP,
    PROTOS,
    TRIP,
    compiled,
    kind,
    protobuf,
    received,
    sent,
    told,
    trip,
)
from tests.protocol.clients.server import Server
from tests.protocol.clients.shop import another, id_in

TOLD_TRIP = """syntax = "proto3";
package trips;

message Trip {
  int32 id = 1;
  string to = 2;
}
"""
EVERYBODYS = ("google/protobuf/", "google/type/")
"""What is there without being registered."""
IMPORTS = re.compile(r'^import (?:public )?"([^"]+)"', re.MULTILINE)
GOOGLES = [f"google/{name}.proto" for name in (
    "api/annotations", "api/auth", "api/backend", "api/client", "api/distribution", "api/log", "api/metric",
    "api/monitoring", "api/quota", "api/resource", "api/service", "logging/type/http_request", "rpc/error_details",
    "rpc/status", "rpc/context/attribute_context",
)]  # fmt: skip


# --- source text -----------------------------------------------------------------------------------------------------


def test_text_comes_back_in_one_spelling_and_as_a_descriptor(
    server: Server, client: SchemaRegistryClient, topic: str
) -> None:
    subject = f"{topic}-value"
    id = client.register_schema(subject, protobuf(f"// a comment\n{TRIP}"))
    with another(server) as reader:
        assert reader.get_schema(id).schema_str == TOLD_TRIP
        assert reader.get_schema(id).schema_type == "PROTOBUF"
        found = reader.lookup_schema(subject, protobuf(TRIP.replace(" ", "\n").replace("1", "0x1")))
        assert (found.schema_id, found.version) == (id, 1)
    with another(server) as reader:
        reads = (
            reader.get_schema(id, fmt="serialized"),
            reader.get_latest_version(subject, fmt="serialized").schema,
            reader.get_schema_by_guid(found.guid or "", fmt="serialized"),
        )
    for read in reads:
        assert [field.name for field in told(read).message_type[0].field] == ["id", "to"]


def test_text_and_the_descriptor_of_it_are_one_schema(
    server: Server, client: SchemaRegistryClient, bazaar: Any, tmp_path: Path, topic: str
) -> None:
    """As far as both say the same: generated Python notes no JSON names. What does note them is another schema."""
    text = (PROTOS / "bazaar" / "geo.proto").read_text(encoding="utf-8")
    id = client.register_schema(f"{topic}-text", protobuf(text))
    assert id_in(sent(client, topic, bazaar.geo.Point())) == id
    framed = sent(client, f"{topic}-noted", trip(tmp_path, TRIP))
    with another(server) as reader:
        noted = reader.get_schema(id_in(framed)).schema_str
    assert noted == TOLD_TRIP.replace("1;", '1 [json_name = "id"];').replace("2;", '2 [json_name = "to"];')


def test_text_with_imports_is_read_by_clients_that_have_its_classes(
    server: Server, client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    """Relative names and maps, as people write them: the client resolves what it is told against its references."""
    geo = """syntax = "proto3"; package trips.geo;
        message Place { string name = 1; Kind kind = 2; enum Kind { X = 0; Y = 1; } }"""
    text = """syntax = "proto3"; package trips; import "geo.proto"; import "google/protobuf/duration.proto";
        message Trip { geo.Place to = 1; map<string, geo.Place> over = 2; Leg leg = 3; geo.Place.Kind kind = 4;
            message Leg { Leg next = 1; google.protobuf.Duration takes = 2; } }"""
    client.register_schema(f"{topic}/geo", protobuf(geo))
    reference = SchemaReference("geo.proto", f"{topic}/geo", 1)
    id = client.register_schema(f"{topic}-value", protobuf(text, references=[reference]))
    message: Any = kind(compiled(tmp_path, geo=geo, trip=text), "trips.Trip")(kind=1)
    message.over["A"].name = "Dover"
    message.leg.next.takes.seconds = 3
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    framed = sent(client, topic, message, conf)
    assert id_in(framed) == id
    with another(server) as consumer:
        assert received(consumer, topic, type(message), framed) == message


def test_names_in_an_imported_file_mean_what_they_meant_there(
    server: Server, client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    """`a.C` in package `a` would be `a.a.C` if it had one. That the importing file has one does not matter there."""
    one = 'syntax = "proto3"; package a; message C { a.C next = 1; }'
    two = 'syntax = "proto3"; package a.a; import "one.proto"; message C { int32 x = 1; } message B { .a.C c = 1; }'
    client.register_schema(f"{topic}/one", protobuf(one))
    reference = SchemaReference("one.proto", f"{topic}/one", 1)
    client.register_schema(f"{topic}-value", protobuf(two, references=[reference]))
    message: Any = kind(compiled(tmp_path, one=one, two=two), "a.a.B")()
    message.c.next.next.SetInParent()
    framed = sent(client, topic, message, {"auto.register.schemas": False, "use.latest.version": True})
    with another(server) as consumer:
        assert received(consumer, topic, type(message), framed) == message


@pytest.mark.parametrize(
    "text",
    [
        "message M {",
        'syntax = "proto3"; message M { Nope a = 1; }',
        'syntax = "proto3"; message M { required int32 a = 1; }',
        '{"type": "record"}',
        "Zm9v",
    ],
)
def test_what_is_no_protobuf_is_refused(client: SchemaRegistryClient, topic: str, text: str) -> None:
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(f"{topic}-value", protobuf(text))
    assert (refused.value.http_status_code, refused.value.error_code) == (422, 42201)
    assert "Invalid schema" in refused.value.error_message


def test_googles_own_files_are_registered_as_they_are(server: Server, client: SchemaRegistryClient, topic: str) -> None:
    """As text, with all that people write into files; and as the descriptors of their modules, with a message."""
    ids: dict[str, int] = {}

    def register(name: str) -> int:
        if name not in ids:
            text = (GOOGLE_TYPES / name).read_text(encoding="utf-8")
            imports = [each for each in IMPORTS.findall(text) if not each.startswith(EVERYBODYS)]
            for each in imports:
                register(each)
            references = [SchemaReference(each, f"{topic}/{each}", 1) for each in imports]
            ids[name] = client.register_schema(f"{topic}/{name}", protobuf(text, references=references))
        return ids[name]

    for name in GOOGLES:
        register(name)
        module = importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
        with another(server) as reader:
            messages = [each.name for each in told(reader.get_schema(ids[name], fmt="serialized")).message_type]
            assert messages == list(module.DESCRIPTOR.message_types_by_name)
            for message in messages[-1:]:
                letter = getattr(module, message)()
                framed = sent(client, f"{topic}.{name}", letter)
                assert received(reader, f"{topic}.{name}", type(letter), framed) == letter


# --- evolution -------------------------------------------------------------------------------------------------------


def test_messages_of_all_ages_are_read(
    server: Server, client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    """A new field has its default in an old message, and an old reader carries it along unseen."""
    old, new = trip(tmp_path, TRIP, id=1), trip(tmp_path, NOTED_TRIP, id=2, note="slow")
    written, noted = sent(client, topic, old), sent(client, topic, new)
    assert client.get_versions(f"{topic}-value") == [1, 2]
    with another(server) as consumer:
        read: Any = received(consumer, topic, type(new), written)
        assert (read.id, read.note) == (1, "")
        read = received(consumer, topic, type(old), noted)
        assert (read.id, read.SerializeToString()) == (2, new.SerializeToString())


def test_a_change_that_old_messages_cannot_survive_stops_the_producer(
    client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    sent(client, topic, trip(tmp_path, TRIP, id=1))
    with pytest.raises(SchemaRegistryError) as refused:
        sent(client, topic, trip(tmp_path, BROKEN_TRIP, id="1"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)
    assert f'incompatible with an earlier schema for subject "{topic}-value"' in refused.value.error_message
    assert '{errorType:"FIELD_SCALAR_KIND_CHANGED"' in refused.value.error_message
    assert "#/Trip/1" in refused.value.error_message
    assert client.get_versions(f"{topic}-value") == [1]


def test_a_change_of_an_imported_file_is_judged_where_it_is_used(
    client: SchemaRegistryClient, tmp_path: Path, topic: str
) -> None:
    """The file's own line refuses it; where that line allows everything, the message that imports it still does."""
    text = 'syntax = "proto3"; package trips; import "geo.proto"; message Trip { geo.Place to = 1; }'
    geo = 'syntax = "proto3"; package geo; message Place { int32 lat = 1; }'
    moved = 'syntax = "proto3"; package geo; message Place { string lat = 1; }'
    conf = {"reference.subject.name.strategy": lambda ctx, file: f"{ctx.topic}/{file.name}"}
    sent(client, topic, kind(compiled(tmp_path, geo=geo, trip=text), "trips.Trip")(), conf)
    changed = kind(compiled(tmp_path, geo=moved, trip=text), "trips.Trip")()
    with pytest.raises(SchemaRegistryError) as refused:
        sent(client, topic, changed, conf)
    assert f'earlier schema for subject "{topic}/geo.proto"' in refused.value.error_message
    client.set_compatibility(f"{topic}/geo.proto", "NONE")
    with pytest.raises(SchemaRegistryError) as refused:
        sent(client, topic, changed, conf)
    assert f'earlier schema for subject "{topic}-value"' in refused.value.error_message
    assert "FIELD_NAMED_TYPE_CHANGED" in refused.value.error_message


HEAD = 'syntax = "proto3"; '

CHANGES = [
    ("message T { int32 a = 1; }", "message T { int32 a = 1; string b = 2; }", None),
    ("message T { int32 a = 1; string b = 2; }", "message T { int32 a = 1; }", None),
    ("message T { int32 a = 1; }", "message T { int64 b = 1; }", None),
    ("message T { string a = 1; }", "message T { bytes a = 1; }", None),
    ("message T { int32 a = 1; }", "message T { int32 a = 1; } message U {}", None),
    ("message T { int32 a = 1; }", "message T { oneof k { int32 a = 1; int32 b = 2; } }", None),
    ("message T { E e = 1; } enum E { A = 0; }", "message T { E e = 1; } enum E { B = 0; C = 1; }", None),
    ("message T { int32 a = 1; }", "message T { sint32 a = 1; }", "FIELD_SCALAR_KIND_CHANGED"),
    ("message T { bytes a = 1; }", "message T { T a = 1; }", "FIELD_KIND_CHANGED"),
    ("message T { optional int32 a = 1; }", "message T { repeated int32 a = 1; }", "FIELD_NUMERIC_LABEL_CHANGED"),
    ("message T {} message U {}", "message T {}", "MESSAGE_REMOVED"),
    ("package p; message T {}", "package q; message T {}", "PACKAGE_CHANGED"),
    ("message T { map<string, int32> m = 1; }", "message T { map<int32, int32> m = 1; }", "FIELD_SCALAR_KIND_CHANGED"),
    ("message T { int32 a = 1; int32 b = 2; }", "message T { oneof k { int32 a = 1; int32 b = 2; } }",
     "MULTIPLE_FIELDS_MOVED_TO_ONEOF"),
    ("message T { oneof k { int32 a = 1; int32 b = 2; } }", "message T { oneof k { int32 a = 1; } }",
     "ONEOF_FIELD_REMOVED"),
]  # fmt: skip
"""Two versions and what is wrong with the second, None if nothing."""


@pytest.mark.parametrize("old, new, wrong", CHANGES)
def test_changes_are_judged_before_and_when_they_are_made(
    client: SchemaRegistryClient, topic: str, old: str, new: str, wrong: str | None
) -> None:
    subject = f"{topic}-value"
    client.register_schema(subject, protobuf(HEAD + old))
    assert client.test_compatibility(subject, protobuf(HEAD + new)) is (wrong is None)
    assert client.test_compatibility_all_versions(subject, protobuf(HEAD + new)) is (wrong is None)
    if wrong is None:
        client.register_schema(subject, protobuf(HEAD + new))
        assert client.get_versions(subject) == [1, 2]
        return
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(subject, protobuf(HEAD + new))
    assert refused.value.error_code == 40901
    assert f'errorType:"{wrong}"' in refused.value.error_message
