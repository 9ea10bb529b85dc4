"""Strict field validation refuses what cannot be made a descriptor, and nothing else (contract D.2, last column)."""

import pytest
from google.protobuf.internal import api_implementation

from sigla.errors import Malformed
from sigla.languages.protobuf import descriptors, parse
from sigla.languages.protobuf.tree import Document

PROTO3 = 'syntax="proto3"; '

ACCEPTED = {
    "PP-01": "message M { optional int32 a = 1; }",
    "PP-05": PROTO3 + "message M { optional int32 a = 1; }",
    "PP-10": "",
    "PP-12": PROTO3,
    "PP-13": PROTO3 + "service S {}",
    "PP-14": PROTO3 + "enum E { A = 0; }",
    "PP-15": "// hi",
    "PP-20": PROTO3 + "message M { int32 a = 19000; }",
    "PP-21": PROTO3 + "message M { int32 a = 536870912; }",
    "PP-24": PROTO3 + "message M { int32 a = 0x10; }",
    "PP-25": PROTO3 + "message M { reserved 1 to 5; int32 a = 3; }",
    "PP-26": PROTO3 + 'message M { reserved "a"; int32 a = 3; }',
    "PP-27": PROTO3 + "enum E { A = 1; }",
    "an enum in a map that does not begin with 0": "enum E { A = 1; } message M { map<string, E> a = 1; }",
    "PP-27 in a map": PROTO3 + "enum E { A = 1; } message M { map<string, E> a = 1; }",
    "PP-29": PROTO3 + "enum E { A = 0; B = 0; }",
    "PP-31": PROTO3 + "enum E { Z = 0; A = -1; }",
    "PP-32": PROTO3 + "message M { int32 a = 1 [default = 4]; }",
    "PP-37": PROTO3 + 'import "gone.proto"; message M { int32 a = 1; }',
    "PP-43": PROTO3 + 'import weak "google/protobuf/any.proto"; message M {}',
    "PP-46": PROTO3 + "package a; package b; message M {}",
    "PP-52": PROTO3 + "message M { oneof o { } }",
    "PP-53": PROTO3 + "message M { oneof o { int32 a=1; } oneof o { int32 b=2; } }",
    "PP-55": PROTO3 + "message M {;};;",
    "PP-57": "message M { optional group G = 1 { optional int32 x = 1; } }",
    "PP-58": PROTO3 + "message M { repeated group G = 1 { int32 x = 1; } }",
    "PP-59": PROTO3 + "message M { extensions 100 to 200; }",
    "PP-60": PROTO3 + "message M { int32 a = 1 [(no.such) = true]; }",
    "PP-62": PROTO3 + "message M { string message = 1; int32 enum = 2; string reserved = 3; }",
    "PP-65": PROTO3 + "message M {} service S { rpc R(stream M) returns (stream M) {} }",
    "PP-67": PROTO3 + "package p; message M { .p.M m = 1; }",
    "names that clash in JSON": PROTO3 + "message M { int32 foo_bar = 1; int32 fooBar = 2; }",
    "json_name used twice": PROTO3 + 'message M { int32 a = 1 [json_name = "x"]; int32 b = 2 [json_name = "x"]; }',
    "an optional of proto3 beside a oneof": PROTO3 + "message M { oneof o { int32 a = 1; } optional int32 b = 2; }",
    "an enum of proto2 in a field of proto3": PROTO3 + 'import "two.proto"; message M { Two t = 1; }',
    "a public import of an import": PROTO3 + 'import "public.proto"; message M { Two t = 1; }',
    "features without an edition": "message M { option features.field_presence = EXPLICIT; }",
    "a well-known type, imported": PROTO3
    + 'import "google/protobuf/any.proto"; message M { google.protobuf.Any a = 1; }',
}

REFUSED = {
    "PP-16": PROTO3 + "message M { int32 a = 1; int32 b = 1; }",
    "PP-17": PROTO3 + "message M { int32 a = 1; int32 a = 2; }",
    "PP-18": PROTO3 + "message M { int32 a = 0; }",
    "PP-19": PROTO3 + "message M { int32 a = -1; }",
    "PP-28": PROTO3 + "enum E { }",
    "PP-30": PROTO3 + "enum E { A = 0; A = 1; }",
    "PP-35": PROTO3 + "message M { message N {} message N {} }",
    "PP-38": PROTO3 + 'import "gone.proto"; message M { gone.T a = 1; }',
    "PP-39": PROTO3 + "message M { Nope a = 1; }",
    "PP-40": PROTO3 + "message M { google.protobuf.Timestamp t = 1; }",
    "PP-41": PROTO3 + "message M { google.type.Date d = 1; }",
    "PP-42": PROTO3 + "message M { confluent.type.Decimal d = 1; }",
    "PP-44": PROTO3 + "message M {} service S { rpc R(X) returns (M); }",
    "PP-45": PROTO3 + "extend X { optional int32 a = 1; }",
    "a reference that is not imported": PROTO3 + "message M { Two t = 1; }",
    "an import of an import": PROTO3 + 'import "private.proto"; message M { Two t = 1; }',
    "one tag beyond the largest, twice": PROTO3 + "message M { int32 a = 536870912; int32 b = 536870912; }",
    "a default that does not fit": 'message M { optional int32 a = 1 [default = "x"]; }',
    "constants of one name in two enums": PROTO3 + "enum E { A = 0; } enum F { A = 0; }",
    "an extension without a range": "message M {} extend M { optional int32 a = 100; }",
    "a reference that is broken itself": PROTO3 + 'import "broken.proto"; message M {}',
}

REFERENCES = {
    "two.proto": "enum Two { ONE = 1; }",
    "public.proto": 'import public "two.proto";',
    "private.proto": 'import "two.proto";',
    "broken.proto": "message B { optional int32 a = 1; optional int32 b = 1; }",
}


def a_document(text: str) -> Document:
    return Document(parse.read(text), {path: parse.read(each) for path, each in REFERENCES.items()})


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_the_reference_can_build_passes(text: str) -> None:
    descriptors.check(a_document(text))


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_the_reference_cannot_build_is_refused(text: str) -> None:
    with pytest.raises(Malformed) as refusal:
        descriptors.check(a_document(text))
    assert "default" in refusal.value.reason or "broken.proto" in refusal.value.reason


def test_a_refusal_names_the_file_and_the_reason() -> None:
    with pytest.raises(Malformed) as refusal:
        descriptors.check(a_document(REFUSED["PP-41"]))
    assert refusal.value.reason == '"default" uses types of "google/type/date.proto" and does not import it'


def test_without_the_compiled_library_nothing_is_called_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool in pure Python takes almost anything."""
    monkeypatch.setattr(api_implementation, "Type", lambda: "python")
    with pytest.raises(Malformed) as refusal:
        descriptors.check(a_document(ACCEPTED["PP-01"]))
    assert "cannot be validated" in refusal.value.reason
