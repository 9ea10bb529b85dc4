"""Protobuf as its users have it: files compiled by protoc itself, classes made of them, messages of every kind."""

import base64
import importlib
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.protocol.clients.shop import value_of

PROTOS = Path(__file__).parent / "protos"
"""Sources alone: what is generated from them lives as long as a test run."""

GOOGLE_TYPES = Path(distribution("googleapis-common-protos").locate_file("")).resolve()  # type: ignore[arg-type]  # a path
"""Where google/type lies. The files of google/protobuf are the compiler's own."""

TRIP = 'syntax = "proto3"; package trips; message Trip { int32 id = 1; string to = 2; }'
NOTED_TRIP = 'syntax = "proto3"; package trips; message Trip { int32 id = 1; string to = 2; string note = 3; }'
BROKEN_TRIP = 'syntax = "proto3"; package trips; message Trip { string id = 1; string to = 2; }'

Headers = list[tuple[str, Any]]


def protoc(*arguments: object) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", *map(str, arguments), f"-I{GOOGLE_TYPES}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def bazaar_files() -> list[Path]:
    return sorted((PROTOS / "bazaar").glob("*.proto"))


def generate(folder: Path) -> Path:
    """What a build makes of the bazaar's files: a module for each, to be imported as `bazaar.order_pb2`."""
    protoc(f"-I{PROTOS}", f"--python_out={folder}", *bazaar_files())
    return folder


def imported() -> SimpleNamespace:
    """The generated modules by the names of their files."""
    names = [path.stem for path in bazaar_files()]
    return SimpleNamespace(**{name: importlib.import_module(f"bazaar.{name}_pb2") for name in names})


def descriptors(target: Path) -> None:
    """The bazaar's files and all that they import as one FileDescriptorSet, for other languages."""
    protoc(f"-I{PROTOS}", f"--descriptor_set_out={target}", "--include_imports", *bazaar_files())


def compiled(folder: Path, **files: str) -> DescriptorPool:
    """Files of one moment, `a=` for `a.proto`, in a pool of their own: elsewhere the same names may mean others."""
    for name, text in files.items():
        (folder / f"{name}.proto").write_text(text, encoding="utf-8")
    made = folder / "made.binpb"
    protoc(f"-I{folder}", f"--descriptor_set_out={made}", "--include_imports", *(f"{name}.proto" for name in files))
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(made.read_bytes()).file:
        pool.Add(file)
    return pool


def kind(pool: DescriptorPool, name: str) -> type[Message]:
    return GetMessageClass(pool.FindMessageTypeByName(name))


def trip(folder: Path, text: str, **values: Any) -> Message:
    """A message of a moment's `trip.proto`."""
    return kind(compiled(folder, trip=text), "trips.Trip")(**values)


def protobuf(text: str, **parts: Any) -> Schema:
    return Schema(text, "PROTOBUF", **parts)


def sent(
    client: SchemaRegistryClient,
    topic: str,
    message: Message,
    conf: Mapping[str, Any] | None = None,
    *,
    headers: Headers | None = None,
    **parts: Any,
) -> bytes:
    """A message as a producer with this configuration sends it."""
    serializer: Any = ProtobufSerializer(type(message), client, dict(conf or {}), **parts)
    framed = serializer(message, value_of(topic, headers))
    assert isinstance(framed, bytes)
    return framed


def received(
    client: SchemaRegistryClient,
    topic: str,
    wanted: type[Message],
    framed: bytes,
    conf: Mapping[str, Any] | None = None,
    *,
    headers: Headers | None = None,
    **parts: Any,
) -> Message:
    """The message as a consumer that knows the class reads it; the registry is asked what wrote it."""
    deserializer: Any = ProtobufDeserializer(wanted, dict(conf or {}), client, **parts)
    message = deserializer(framed, value_of(topic, headers))
    assert isinstance(message, Message)
    return message


def told(schema: Schema) -> FileDescriptorProto:
    """The descriptor in an answer to `format=serialized`."""
    return FileDescriptorProto.FromString(base64.b64decode(schema.schema_str or "", validate=True))


def meaning(file: FileDescriptorProto, pool: DescriptorPool) -> FileDescriptorProto:
    """What a descriptor says once a client has resolved its names."""
    pool.Add(file)
    return meaning_of(pool.FindFileByName(file.name))


def meaning_of(file: FileDescriptor) -> FileDescriptorProto:
    """Without the file's name, the order of fields, and options that are there and say nothing."""
    plain = FileDescriptorProto()
    file.CopyToProto(plain)
    plain.ClearField("name")
    for message in plain.message_type:
        _tidy(message)
    return plain


def _tidy(message: DescriptorProto) -> None:
    message.field.sort(key=lambda field: field.number)
    for oneof in message.oneof_decl:
        if not oneof.options.ListFields():
            oneof.ClearField("options")
    for nested in message.nested_type:
        _tidy(nested)


# --- messages --------------------------------------------------------------------------------------------------------


def an_address(bazaar: Any) -> Message:
    address = bazaar.address.Address(lines=["1 Long Lane", "London"], where={"latitude": 51.5, "longitude": -0.125})
    address.kind = address.WORK
    address.floor.value = 0
    return address  # type: ignore[no-any-return]  # generated


def an_order(bazaar: Any) -> Message:
    Order = bazaar.order.Order  # noqa: N806 - a class
    order = Order(number=2**53 + 1, customer="Ada ✓", door={"latitude": 51.5}, note="", wanted=Order.NEW)
    order.card.number = "4000"
    order.card.expires.month = 12
    order.lines["tea"].count = 3
    order.lines["tea"].weights.extend([0.5, 0.25])
    order.lines[""].cents = 2**64 - 1
    order.history.update({-1: Order.NEW, 7: Order.LOST})
    order.marks.extend([-1, 0, 2**63 - 1])
    order.route.add(latitude=1.5)
    order.placed.FromDatetime(datetime(2024, 2, 29, 12, tzinfo=UTC))
    order.replaces.voucher = "V"
    return order  # type: ignore[no-any-return]  # generated


def a_tour(bazaar: Any) -> Message:
    tour = bazaar.tour.Tour(
        start={"longitude": 1.5}, orders=[an_order(bazaar), bazaar.order.Order()], end=an_address(bazaar)
    )
    tour.paid["tea"].number = "4000"
    return tour  # type: ignore[no-any-return]  # generated


def a_known(bazaar: Any) -> Message:
    known = bazaar.known.Known(took={"seconds": 3, "nanos": 5}, nothing={}, maybe={"value": False}, at={"seconds": -1})
    known.anything.Pack(bazaar.geo.Point(latitude=1.0))
    known.mask.paths.extend(["at", "row"])
    known.tree.update({"a": [1, None, {"b": True}], "c": "d"})
    known.leaf.null_value = 0
    known.row.extend(["x", 2.5])
    known.measures["width"].value = 0.5
    known.day.year = 2024
    known.price.currency_code = "EUR"
    return known  # type: ignore[no-any-return]  # generated


def a_hop(bazaar: Any) -> Message:
    """Three messages deep, and itself in itself."""
    return bazaar.envelope.Envelope.Header.Hop(host="a", before={"host": "b"})  # type: ignore[no-any-return]  # generated


def a_shipment(bazaar: Any) -> Message:
    legacy = bazaar.legacy
    shipment = legacy.Shipment(number=1, seal=b"\x00\xff", stops=[1, 300])
    shipment.parcel.add(grams=500)
    shipment.parcel.add(grams=1, content="stamps")
    shipment.Extensions[legacy.customs] = "cleared"
    shipment.Extensions[legacy.stamps].add(country="FR")
    shipment.Extensions[legacy.Stamp.first].country = "UK"
    return shipment  # type: ignore[no-any-return]  # generated


LETTERS = {
    "order": (an_order, (0,)),
    "cancellation": (lambda bazaar: bazaar.order.Cancellation(number=1, before=-1), (1,)),
    "card": (lambda bazaar: bazaar.order.Order.Card(number="1"), (0, 0)),
    "hop": (a_hop, (1, 2, 0)),  # not (1, 1, 0): to protoc the entries of a map are a message as well
    "tour": (a_tour, (0,)),
    "address": (an_address, (0,)),
    "known types": (a_known, (0,)),
    "shipment": (a_shipment, (0,)),
    "ping": (lambda bazaar: bazaar.envelope.Ping(), (0,)),
}
"""Messages to send, with the index path that tells which message of their file they are."""
