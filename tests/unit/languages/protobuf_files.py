"""A schema that uses everything, what protoc makes of schemas, and how descriptors are compared."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import grpc_tools
from google.protobuf import descriptor_pb2, text_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

from sigla.languages.protobuf import descriptors, known, parse
from sigla.languages.protobuf.tree import Document

Proto: TypeAlias = descriptor_pb2.FileDescriptorProto

GEO = """
syntax = "proto3";
package geo;
import public "deep.proto";
message Point {
  double lat = 1;
  optional int32 o = 2;
  optional string _u = 3;
  int32 xo = 4 [json_name = "elsewhere"];
  map<string, Point> near = 5;
  oneof k { int32 q = 7; Point other = 6; }
  optional Point p8 = 8;
  message N {}
  N n = 9;
  enum E { A = 0; }
  repeated E e = 10;
}
"""

DEEP = 'syntax = "proto3"; package geo; message Deep { string a = 1; }'

EVERYTHING = r"""
syntax = "proto2";
package p.q;
import "google/protobuf/descriptor.proto";
import "google/protobuf/timestamp.proto";
import "confluent/meta.proto";
import public "geo.proto";
option java_package = "com.x";
option optimize_for = CODE_SIZE;
option (confluent.file_meta).doc = "file";
option (file_tag) = "x\n";
message M {
  option deprecated = true;
  option (confluent.message_meta) = { doc: "d", params: [{ key: "k", value: "v" }], tags: ["t", "u"] };
  required int32 a = 1 [default = 0x1F, json_name = "AA"];
  optional sint64 a2 = 2 [default = -017];
  optional string s = 3 [default = "x\"y\n"];
  optional bytes b = 4 [default = "\xff\000a'\"\\"];
  optional double d = 5 [default = 1.5e3];
  optional float f = 6 [default = 0.1];
  optional double inf = 7 [default = -inf];
  optional double n = 8 [default = nan];
  optional bool t = 9 [default = true];
  optional E e = 10 [default = X];
  repeated int32 r = 11 [
    packed = true, (tag) = "t", (num) = 0x10, (meta).b = "1", (meta).in = { x: 1, y: [X, Y], [p.q.sub]: -5 }
  ];
  optional string pii = 30 [(confluent.field_meta) = { tags: "PII" }, (confluent.field_meta).doc = "who"];
  map<string, Inner> map_field_x = 12;
  map<int32, E> map_2 = 13 [deprecated = true];
  optional group G = 14 { optional int32 z = 1; optional group H = 2 {} }
  oneof o {
    option (oneof_opt) = true;
    string os = 15;
    group OG = 16 { optional int32 q = 1; }
    Inner oi = 17;
  }
  oneof o2 { bool b1 = 18; }
  optional google.protobuf.Timestamp ts = 19;
  optional geo.Point pt = 20;
  optional .geo.Deep deep = 21;
  optional float f2 = 22 [default = 3.4028235e38];
  optional float f3 = 23 [default = 16777216];
  optional double d4 = 24 [default = 0.30000000000000004];
  optional double d5 = 25 [default = 1e100];
  optional float f6 = 26 [default = 3.14159265358979];
  optional uint64 u = 27 [default = 18446744073709551615];
  extensions 100 to 199, 5000 to max;
  extensions 300 [(range_opt) = 7];
  reserved 1000 to 1005, 2000;
  reserved "old", "older";
  message Inner { optional M m = 1; extend M { optional int32 nested_ext = 101; } }
  enum E {
    option allow_alias = true;
    X = 0 [deprecated = true, (val) = 1.5];
    Y = 1;
    Z = 1;
    W = -5;
    reserved 5, 7 to 9, 100 to max;
    reserved "V";
  }
}
extend M { optional int32 ext = 120; repeated group EG = 121 { optional int32 z = 1; } }
message Sub { optional int32 x = 1; repeated M.E y = 2; extensions 10 to 20; }
message Opt { optional string b = 1; optional Sub in = 2; }
extend Sub { optional sint32 sub = 10; }
extend google.protobuf.FileOptions { optional string file_tag = 50000; }
extend google.protobuf.FieldOptions {
  optional string tag = 50000;
  optional int32 num = 50001;
  optional Opt meta = 50002;
}
extend google.protobuf.OneofOptions { optional bool oneof_opt = 50000; }
extend google.protobuf.EnumValueOptions { optional double val = 50000; }
extend google.protobuf.MethodOptions { optional fixed64 mth = 50000; }
extend google.protobuf.ServiceOptions { optional bytes srv = 50000; }
extend google.protobuf.ExtensionRangeOptions { optional int32 range_opt = 50000; }
service S {
  option (srv) = "\001\002";
  rpc A (M) returns (stream M.Inner) {
    option deprecated = true;
    option idempotency_level = IDEMPOTENT;
    option (mth) = 5;
  }
  rpc B (stream .p.q.M) returns (geo.Point);
}
"""

FILES = {"main.proto": EVERYTHING, "geo.proto": GEO, "deep.proto": DEEP}


@cache
def protocs_own() -> dict[str, Proto]:
    """The descriptors that protoc makes of FILES, by path."""
    return run_protoc(FILES)


def run_protoc(files: Mapping[str, str]) -> dict[str, Proto]:
    """The descriptors that protoc makes of the first file and of all that it imports, by path."""
    theirs = Path(grpc_tools.__file__).parent / "_proto"
    ours = {path: text for path, text in known.TEXTS.items() if not path.startswith("google/protobuf/")}
    with TemporaryDirectory() as folder:
        for path, text in {**ours, **files}.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text)
        out = Path(folder) / "out"
        arguments = [f"-I{folder}", f"-I{theirs}", f"--descriptor_set_out={out}", "--include_imports"]
        assert protoc.main(["protoc", *arguments, next(iter(files))]) == 0
        return {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file}


def a_document(files: Mapping[str, str]) -> Document:
    own, *others = files
    return Document(parse.read(files[own]), {path: parse.read(files[path]) for path in others})


def the_files(document: Document) -> list[Proto]:
    return list(descriptor_pb2.FileDescriptorSet.FromString(descriptors.compiled(document)).file)


def a_pool(document: Document) -> DescriptorPool:
    pool = DescriptorPool()
    for file in the_files(document):
        pool.Add(file)
    return pool


def a_class(pool: DescriptorPool, name: str) -> Any:
    return GetMessageClass(pool.FindMessageTypeByName(name))


def comparable(proto: Proto) -> str:
    """A descriptor without what may differ: names in JSON, the order of imports, of nested types and of options.

    And without what says nothing: the label `optional`, the syntax proto2, the empty options of a oneof. Public
    imports stand behind the others in every canonical text, and so do they in our descriptors.
    """

    def plain(field: descriptor_pb2.FieldDescriptorProto) -> None:
        field.ClearField("json_name")
        if field.label == field.LABEL_OPTIONAL:
            field.ClearField("label")

    def order(message: descriptor_pb2.DescriptorProto) -> None:
        message.nested_type.sort(key=lambda nested: nested.name)
        message.field.sort(key=lambda field: field.number)
        for field in (*message.field, *message.extension):
            plain(field)
        for oneof in message.oneof_decl:
            if not oneof.options.ListFields():
                oneof.ClearField("options")
        for nested in message.nested_type:
            order(nested)

    copy = Proto.FromString(proto.SerializeToString())
    public = sorted(copy.dependency[index] for index in copy.public_dependency)
    imports = sorted(copy.dependency)
    for name in ("name", "dependency", "public_dependency", "source_code_info"):
        copy.ClearField(name)
    copy.message_type.sort(key=lambda message: message.name)
    copy.extension.sort(key=lambda field: (field.extendee, field.number))
    for message in copy.message_type:
        order(message)
    for field in copy.extension:
        plain(field)
    if copy.syntax == "proto2":
        copy.ClearField("syntax")
    return f"{imports} {public}\n{text_format.MessageToString(with_their_options(copy))}"


def with_their_options(proto: Proto) -> Any:
    """The same, read with all extensions of EVERYTHING known, so that options have names and an order."""
    kind = a_class(a_pool(a_document(FILES)), "google.protobuf.FileDescriptorProto")
    return kind.FromString(proto.SerializeToString())


def meant(folder: Path, paths: Sequence[str]) -> dict[str, str]:
    """What protoc makes of these files in a folder, as text, with everything sorted whose order we may change."""
    out = folder / "out"
    theirs = Path(grpc_tools.__file__).parent / "_proto"
    assert protoc.main(["protoc", f"-I{folder}", f"-I{theirs}", "--include_imports", f"-o{out}", *paths]) == 0, paths
    files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    pool = DescriptorPool()
    for file in files:
        pool.Add(file)
    # With this pool's own classes, because they know the options that the files declare.
    kind = a_class(pool, "google.protobuf.FileDescriptorProto")
    own = {file.name: kind.FromString(file.SerializeToString()) for file in files if file.name in paths}
    for proto in own.values():
        in_order(proto)
    return {path: str(proto) for path, proto in own.items()}


def in_order(message: Any) -> None:
    """Sorts what canonical text or a normal form may bring into another order."""
    if message.DESCRIPTOR.name == "DescriptorProto":
        names = [oneof.name for oneof in message.oneof_decl]
        message.oneof_decl.sort(key=by_name)
        order = {name: index for index, name in enumerate(sorted(names))}
        for field in message.field:
            if field.HasField("oneof_index"):
                field.oneof_index = order[names[field.oneof_index]]
    for field, value in message.ListFields():
        if field.is_repeated and field.message_type:
            for item in value:
                in_order(item)
            value.sort(key=lambda item: item.SerializeToString(deterministic=True))
        elif field.is_repeated and field.name in {"dependency", "reserved_name", "public_dependency"}:
            value[:] = [] if field.name == "public_dependency" else sorted(value)
        elif field.message_type:
            in_order(value)
            if field.name == "options" and not value.ListFields():
                message.ClearField("options")  # braces of an rpc with nothing between


def by_name(declared: Any) -> str:
    return str(declared.name)
