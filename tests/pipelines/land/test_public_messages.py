"""Every message of the Protobuf files that everybody uses: written by Google's classes, landed by our schemas."""

import re
from collections.abc import Iterator
from datetime import UTC
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import wrappers_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

from sigla.model import Draft, OfferedReference, Subject, Version
from sigla.opening import embedded
from sigla.registry import Registry
from sigla.settings import Settings
from tests.corpus.test_public_protobuf import in_folder
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.world import framed, raw

pytestmark = pytest.mark.usefixtures("unsynced")

GOOGLES: Final = "google.protobuf."
OPEN: Final = {f"{GOOGLES}{name}" for name in ("Any", "ListValue", "Struct", "Value")}
WRAPPERS: Final = {each.full_name for each in wrappers_pb2.DESCRIPTOR.message_types_by_name.values()}
WIDE: Final = (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64)


def messages(of: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Descriptor]]:
    """All of a file, or within a message, with the paths by which frames call them."""
    declared = of.nested_types if path else of.message_types_by_name.values()
    for index, each in enumerate(each for each in declared if not each.GetOptions().map_entry):
        yield (*path, index), each
        yield from messages(each, (*path, index))


def zigzag(number: int) -> bytes:
    assert number < 64
    return bytes([2 * number])


def record(id: int, path: tuple[int, ...], payload: bytes) -> bytes:
    return framed(id, b"".join(map(zigzag, (len(path), *path))) + payload)


def fill(message: Any, around: tuple[str, ...] = ()) -> Any:
    """Something in every field, and in fields of fields; of a oneof in the last. around: messages that hold it."""
    around = (*around, message.DESCRIPTOR.full_name)
    for field in message.DESCRIPTOR.fields:
        inner = field.message_type
        if inner and (inner.full_name in OPEN or inner.full_name in around[:-1] or len(around) > 2):
            continue
        if inner and inner.GetOptions().map_entry:
            value = inner.fields_by_name["value"]
            if not value.message_type:
                getattr(message, field.name)[scalar(inner.fields_by_name["key"])] = scalar(value)
        elif inner:
            found = getattr(message, field.name)
            fill(found.add() if field.is_repeated else found, around)
            if not field.is_repeated:
                found.SetInParent()
        elif field.is_repeated:
            getattr(message, field.name).extend([scalar(field), scalar(field)])
        else:
            setattr(message, field.name, scalar(field))
    return message


def scalar(field: FieldDescriptor) -> Any:
    if field.enum_type:
        return field.enum_type.values[-1].number
    if field.type == FieldDescriptor.TYPE_BYTES:
        return b"\0\xff"
    kinds = {
        FieldDescriptor.CPPTYPE_BOOL: True,
        FieldDescriptor.CPPTYPE_STRING: f"{field.name} ü",
        FieldDescriptor.CPPTYPE_FLOAT: 0.5,
        FieldDescriptor.CPPTYPE_DOUBLE: 0.25,
    }
    return kinds.get(field.cpp_type, field.number)


def row(message: Any) -> dict[str, Any]:
    """What Google's runtime has in its fields, as a table says it."""
    return {field.name: cell(message, field) for field in message.DESCRIPTOR.fields}


def cell(message: Any, field: FieldDescriptor) -> Any:
    found = getattr(message, field.name)
    if field.message_type and field.message_type.GetOptions().map_entry:
        kind = field.message_type.fields_by_name["value"]
        return [(key, one(kind, found[key])) for key in sorted(found)]
    if field.is_repeated:
        return [one(field, each) for each in found]
    return one(field, found) if not field.has_presence or message.HasField(field.name) else None


def one(field: FieldDescriptor, value: Any) -> Any:
    if field.enum_type:
        names = {each.number: each.name for each in reversed(field.enum_type.values)}
        return names[value]
    if not field.message_type:
        return Decimal(value) if field.type in WIDE else value
    if field.message_type.full_name == f"{GOOGLES}Timestamp":
        return value.ToDatetime(UTC)
    if field.message_type.full_name in WRAPPERS:
        return value.value
    return row(value) if field.message_type.fields else "{}"


def registered(registry: Registry, path: str, files: dict[str, str], known: dict[str, int]) -> int:
    """The id of a file, whose subject has its name, and of all that it imports before it."""
    if path not in known:
        needed = [
            each for each in re.findall(r'^import (?:public )?"(.*)";', files[path], re.MULTILINE) if each in files
        ]
        for each in needed:
            registered(registry, each, files, known)
        references = tuple(OfferedReference(each, subject(each), Version(1)) for each in needed)
        draft = Draft(text=files[path], type="PROTOBUF", references=references)
        known[path] = int(registry.register(Subject(".", subject(path)), draft).id or 0)
    return known[path]


def topic(path: str) -> str:
    return path.replace("/", ".")


def subject(path: str) -> str:
    return f"{topic(path)}-value"


def test_every_message_that_google_publishes_lands_as_its_own_classes_have_it(tmp_path: Path) -> None:
    """Whichever of its file it is, top or nested: in = landed, and every value is the same."""
    landings, files = Landings(tmp_path), in_folder("googleapis-common-protos")
    batches, expected = [], dict[tuple[str, str], dict[str, Any]]()
    known: dict[str, int] = {}
    with embedded(Settings(default_level="NONE"), landings.home / "data") as (registry, _):
        for path in sorted(files):
            id = registered(registry, path, files, known)
            records = []
            for indexes, descriptor in messages(import_module(f"{topic(path)[:-6]}_pb2").DESCRIPTOR):
                message = fill(GetMessageClass(descriptor)())
                expected[topic(path), descriptor.full_name] = row(type(message).FromString(message.SerializeToString()))
                records.append(record(id, indexes, message.SerializeToString()))
            if records:
                batches.append(raw(records, topic(path)))
    manifest = landings.land_batches([{"topic": batch["topic"][0].as_py()} for batch in batches], batches)
    assert (manifest.counts.read, manifest.counts.landed) == (len(expected), len(expected)), landings.quarantined()
    assert len(expected) > 130
    tables = {}
    for name, full in expected:
        first = next(each for topic_, each in expected if topic_ == name)
        tables[name, full] = name if full == first else f"{name}.{full}"
    assert {whose: landings.rows(table) for whose, table in tables.items()} == {
        whose: [values] for whose, values in expected.items()
    }


BESIDE_MAPS: Final = """
syntax = "proto3";
message Order {
  map<string, int32> stock = 1;
  message Line { string sku = 1; }
  message Note { string text = 1; int64 at = 2; }
  map<string, Note> notes = 2;
  message Tax { double rate = 1; }
}
"""


def test_what_confluents_client_writes_of_messages_beside_maps_is_what_lands(tmp_path: Path) -> None:
    """Its paths count the entries of maps, which the descriptor that it registers declares."""
    (tmp_path / "order.proto").write_text(BESIDE_MAPS)
    assert protoc.main(["", f"-I{tmp_path}", f"--descriptor_set_out={tmp_path}/order", "order.proto"]) == 0
    pool = DescriptorPool()
    pool.Add(FileDescriptorSet.FromString((tmp_path / "order").read_bytes()).file[0])
    client: Any = SchemaRegistryClient.new_client({"url": "mock://"})
    context = SerializationContext("orders", MessageField.VALUE)
    records = []
    for name, values in (("Line", {"sku": "s"}), ("Note", {"text": "t", "at": 7}), ("Tax", {"rate": 0.5})):
        kind = GetMessageClass(pool.FindMessageTypeByName(f"Order.{name}"))
        serializer: Any = ProtobufSerializer(kind, client, {"use.deprecated.format": False})
        records.append(serializer(kind(**values), context))
    landings = Landings(tmp_path)
    assert landings.register(client.get_schema(1).schema_str) == 1
    manifest = landings.land(*records)
    assert manifest.counts.landed == 3, landings.quarantined()
    assert landings.rows("orders") == [{"sku": "s"}]
    assert landings.rows("orders.Order.Note") == [{"text": "t", "at": 7}]
    assert landings.rows("orders.Order.Tax") == [{"rate": 0.5}]
