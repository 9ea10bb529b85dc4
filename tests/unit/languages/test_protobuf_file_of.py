"""Descriptors become schemas, and other bytes are refused (contract D.1 PI-3, D.3.1)."""

import base64
import random
import time
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, text_format

from sigla.errors import Malformed
from sigla.languages.protobuf import canonical, descriptors, parse
from sigla.languages.protobuf.tree import Document
from tests.unit.languages.protobuf_files import (
    EVERYTHING,
    FILES,
    Proto,
    a_document,
    comparable,
    protocs_own,
    run_protoc,
)


def the_text(data: bytes) -> str:
    return canonical.written(descriptors.file_of(data))


VECTOR = (
    "Cg5hbnktbmFtZS5wcm90bxIBcCKfAQoBTRIOCgJpZBgBIAEoCVICaWQSIgoEdGFncxgCIAMoCzIOLnAuTS5UYWdzRW50cnlSBHRhZ3MSCwoBcRgD"
    "IAEoBUgAEhAKA29wdBgEIAEoBUgBiAEBGisKCVRhZ3NFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAU6AjgBQgMKAWtCBgoEX29wdEoE"
    "CAoQDUoECBQQFVIBeioKCgFFEgUKAUEQAGIGcHJvdG8z"
)
VECTOR_TEXT = """syntax = "proto3";
package p;

message M {
  reserved 10 to 12;
  reserved 20;
  reserved "z";

  string id = 1 [json_name = "id"];
  repeated .p.M.TagsEntry tags = 2 [json_name = "tags"];
  optional int32 opt = 4;

  oneof k {
    int32 q = 3;
  }

  message TagsEntry {
    option map_entry = true;
··
    string key = 1;
    int32 value = 2;
  }
}
enum E {
  A = 0;
}
""".replace("·", " ")


def test_the_vector_of_the_contract() -> None:
    """D.3.1."""
    assert the_text(base64.b64decode(VECTOR)) == VECTOR_TEXT


@pytest.mark.parametrize("path", ["main.proto", "geo.proto", "google/protobuf/descriptor.proto"])
def test_a_descriptor_that_was_read_and_built_again_is_what_it_was(path: str) -> None:
    """But for what the reference leaves out: most options, and the options of oneofs and extension ranges."""
    data = protocs_own()[path].SerializeToString()
    once = descriptors.file_of(data)
    document = Document(once, a_document(FILES).imported)
    assert comparable(without_options(descriptors.descriptor(document))) == comparable(
        without_options(Proto.FromString(data))
    )
    assert canonical.written(parse.read(canonical.written(once))) == canonical.written(once)


def without_options(message: Any) -> Any:
    for field, value in message.ListFields():
        if field.name == "options" and not (value.DESCRIPTOR.name == "MessageOptions" and value.map_entry):
            message.ClearField("options")
        elif field.message_type:
            for each in value if field.is_repeated else [value]:
                without_options(each)
    return message


def test_protoc_takes_the_text_of_a_descriptor() -> None:
    """Except maps, which are not printed as such, and strings of odd bytes, which are printed as they are."""
    lines = (line for line in EVERYTHING.splitlines() if " map<" not in line and r"\xff\000" not in line)
    files = FILES | {"main.proto": "\n".join(lines)}
    theirs = run_protoc(files)["main.proto"]
    again = run_protoc(files | {"main.proto": the_text(theirs.SerializeToString())})["main.proto"]
    assert comparable(without_options(again)) == comparable(without_options(theirs))


def test_options_are_printed_as_far_as_the_reference_prints_them() -> None:
    text = the_text(protocs_own()["main.proto"].SerializeToString())
    assert 'option java_package = "com.x";\noption optimize_for = CODE_SIZE;\n' in text
    assert "X = 0 [deprecated = true];" in text
    assert "option idempotency_level = IDEMPOTENT;" in text
    assert "file_tag) =" not in text


def test_tags_of_a_descriptor_are_kept() -> None:
    """They decide who may read a field, and clients that send descriptors send them there."""
    text = the_text(protocs_own()["main.proto"].SerializeToString())
    assert '(confluent.field_meta) = {\n      doc: "who",\n      tags: [\n        "PII"\n      ]\n    }' in text
    assert 'params: [\n      {\n        key: "k",\n        value: "v"\n      }\n    ]' in text


def test_rules_of_a_descriptor_are_kept() -> None:
    text = 'message M { option (confluent.message_meta) = { rules: [{ name: "r", expr: "a > 1" }] }; }'
    printed = the_text(descriptors.descriptor(a_document({"own": text})).SerializeToString())
    assert 'rules: [\n      {\n        name: "r",\n        expr: "a > 1"\n      }\n    ]' in printed


def test_params_of_decimals_have_their_value_first() -> None:
    text = 'message M { optional bytes a = 1 [(confluent.field_meta).params = { key: "scale", value: "2" }]; }'
    printed = the_text(descriptors.descriptor(a_document({"own": text})).SerializeToString())
    assert printed.index("value:") < printed.index("key:")


def test_a_default_of_bytes_is_quoted() -> None:
    """DV-11."""
    text = the_text(protocs_own()["main.proto"].SerializeToString())
    assert """optional bytes b = 4 [\n    default = "\xff\\000a\\'\\"\\\\",\n    json_name = "b"\n  ];""" in text


def test_an_edition_is_read_with_the_labels_of_proto2() -> None:
    """PI-3."""
    source = 'edition = "2023"; message M { int32 a = 1; repeated M m = 2; map<int32, M> n = 3; }'
    file = descriptors.file_of(run_protoc({"main.proto": source})["main.proto"].SerializeToString())
    assert file.edition == "2023"
    lines = canonical.written(file).splitlines()
    assert lines[:5] == [
        "",
        "message M {",
        '  optional int32 a = 1 [json_name = "a"];',
        '  repeated .M m = 2 [json_name = "m"];',
        '  repeated .M.NEntry n = 3 [json_name = "n"];',
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name: 'x' message_type { name: 'a b' }",
        "name: 'x' message_type { name: 'A; } message B {' }",
        "name: 'x' package: 'a..b'",
        "name: 'x' message_type { name: 'M' field { name: 'a' number: 1 type: TYPE_MESSAGE } }",
        "name: 'x' message_type { name: 'M' field { name: 'a' number: 1 type_name: 'p q' } }",
        "name: 'x' message_type { name: 'M' field { name: 'a' number: 1 type: TYPE_BOOL oneof_index: 0 } }",
        "message_type { name: 'M' oneof_decl { name: 'o' } field { name: 'a' type: TYPE_BOOL oneof_index: -1 } }",
        "name: 'x' message_type { name: 'M' field { name: 'a' type: TYPE_INT32 default_value: '1]; } x' } }",
        "name: 'x' message_type { name: 'M' reserved_range { start: 5 end: 5 } }",
        "name: 'x' message_type { name: 'M' extension { name: 'a' type: TYPE_BOOL } }",
        "name: 'x' enum_type { name: 'E' value { name: '1' number: 1 } }",
        "name: 'x' service { name: 'S' method { name: 'R' input_type: '' output_type: '.M' } }",
    ],
)
def test_a_descriptor_that_could_not_be_read_again_is_refused(text: str) -> None:
    proto = text_format.Parse(text, Proto())
    with pytest.raises(Malformed):
        descriptors.file_of(proto.SerializeToString())


@pytest.mark.parametrize(
    "data",
    [
        b"i\xb7",  # PP-66
        b"\x00",
        b"\x7b\x7c",  # an unknown group, opened and closed
        b"\xa8\x06\x01",  # an unknown number
        b"\x12\x02\xff\xfe",  # a package that is not UTF-8
        b"\x1a\x02\xff\xfe",  # an import that is not UTF-8 either
        b"\x22\x02\x0a\x05",  # a message that ends too early
    ],
)
def test_bytes_that_are_no_descriptor_are_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        descriptors.file_of(data)


def test_random_bytes_are_refused_or_read_and_never_break_anything() -> None:
    draw = random.Random(7)
    good = protocs_own()["main.proto"].SerializeToString()
    for _ in range(1500):
        data = bytearray(good)
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        for each in (bytes(data), draw.randbytes(draw.randint(1, 40))):
            try:
                file = descriptors.file_of(each)
            except Malformed:
                continue
            text = canonical.written(file)
            assert canonical.written(parse.read(text)) == text


def nested(depth: int) -> bytes:
    """Written by hand: the library refuses to write what it would not read."""
    name = b"\x0a\x01M"
    inner = name
    for _ in range(depth):
        inner = name + b"\x1a" + length(inner) + inner
    return name + b"\x22" + length(inner) + inner


def length(data: bytes) -> bytes:
    size, digits = len(data), bytearray()
    while size > 0x7F:
        digits.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*digits, size])


@pytest.mark.parametrize("depth", [70, 99, 2000])
def test_a_descriptor_that_is_nested_too_deep_is_refused(depth: int) -> None:
    with pytest.raises(Malformed):
        descriptors.file_of(nested(depth))


def test_a_huge_descriptor_is_read_in_a_moment() -> None:
    field = descriptor_pb2.FieldDescriptorProto(name="a", number=1, label=1, type=5)  # type: ignore[arg-type]  # the stub wants types that exist in stubs alone
    proto = Proto(name="x", message_type=[descriptor_pb2.DescriptorProto(name="M", field=[field] * 60_000)])
    data = proto.SerializeToString()
    before = time.process_time()
    descriptors.file_of(data)
    assert time.process_time() - before < 2
