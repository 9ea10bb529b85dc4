"""Which texts are schemas (contract D.1 and D.2, A.5)."""

import pytest

from sigla.errors import Malformed
from sigla.languages.protobuf import LANGUAGE as PROTOBUF
from sigla.languages.protobuf import parse
from sigla.languages.protobuf.tree import MAX_TAG, Listed, MapType, Message, MessageValue, Range, Text, Value, Word
from sigla.model import Parsed, Resolved


def new(text: str, *references: Resolved, fields: bool = False) -> Parsed:
    schema = PROTOBUF.parse(text, references, True)
    PROTOBUF.validate(schema, fields)
    return schema


def refusal(text: str) -> str:
    with pytest.raises(Malformed) as malformed:
        new(text)
    return malformed.value.reason


def message(body: str, syntax: str = "proto3") -> Message:
    return parse.read(f'syntax = "{syntax}"; message M {{ {body} }}').messages[0]


ACCEPTED = {
    "PP-01": "message M { optional int32 a = 1; }",
    "PP-05": 'syntax="proto3"; message M { optional int32 a = 1; }',
    "PP-10": "",
    "PP-11": " \n",
    "PP-12": 'syntax="proto3"; ',
    "PP-13": 'syntax="proto3"; service S {}',
    "PP-14": 'syntax="proto3"; enum E { A = 0; }',
    "PP-15": "// hi",
    "PP-16": 'syntax="proto3"; message M { int32 a = 1; int32 b = 1; }',
    "PP-17": 'syntax="proto3"; message M { int32 a = 1; int32 a = 2; }',
    "PP-18": 'syntax="proto3"; message M { int32 a = 0; }',
    "PP-19": 'syntax="proto3"; message M { int32 a = -1; }',
    "PP-20": 'syntax="proto3"; message M { int32 a = 19000; }',
    "PP-21": 'syntax="proto3"; message M { int32 a = 536870912; }',
    "PP-24": 'syntax="proto3"; message M { int32 a = 0x10; }',
    "PP-25": 'syntax="proto3"; message M { reserved 1 to 5; int32 a = 3; }',
    "PP-26": 'syntax="proto3"; message M { reserved "a"; int32 a = 3; }',
    "PP-27": 'syntax="proto3"; enum E { A = 1; }',
    "PP-28": 'syntax="proto3"; enum E { }',
    "PP-29": 'syntax="proto3"; enum E { A = 0; B = 0; }',
    "PP-30": 'syntax="proto3"; enum E { A = 0; A = 1; }',
    "PP-31": 'syntax="proto3"; enum E { Z = 0; A = -1; }',
    "PP-32": 'syntax="proto3"; message M { int32 a = 1 [default = 4]; }',
    "PP-35": 'syntax="proto3"; message M { message N {} message N {} }',
    "PP-37": 'syntax="proto3"; import "gone.proto"; message M { int32 a = 1; }',
    "PP-40": 'syntax="proto3"; message M { google.protobuf.Timestamp t = 1; }',
    "PP-41": 'syntax="proto3"; message M { google.type.Date d = 1; }',
    "PP-42": 'syntax="proto3"; message M { confluent.type.Decimal d = 1; }',
    "PP-43": 'syntax="proto3"; import weak "google/protobuf/any.proto"; message M {}',
    "PP-46": 'syntax="proto3"; package a; package b; message M {}',
    "PP-52": 'syntax="proto3"; message M { oneof o { } }',
    "PP-53": 'syntax="proto3"; message M { oneof o { int32 a=1; } oneof o { int32 b=2; } }',
    "PP-55": 'syntax="proto3"; message M {;};;',
    "PP-55 in extends": "message M { extensions 5; } extend M {; optional int32 a = 5;; }",
    "PP-57": "message M { optional group G = 1 { optional int32 x = 1; } }",
    "PP-58": 'syntax="proto3"; message M { repeated group G = 1 { int32 x = 1; } }',
    "PP-59": 'syntax="proto3"; message M { extensions 100 to 200; }',
    "PP-60": 'syntax="proto3"; message M { int32 a = 1 [(no.such) = true]; }',
    "PP-62": 'syntax="proto3"; message M { string message = 1; int32 enum = 2; string reserved = 3; }',
    "PP-65": 'syntax="proto3"; message M {} service S { rpc R(stream M) returns (stream M) {} }',
    "PP-67": 'syntax="proto3"; package p; message M { .p.M m = 1; }',
    "LO-2 between fields": "message M { optional int32 a = 1; /* x */ optional int32 b = 2; }",
    "LO-2 between constants": "enum E { A = 0; /* x */ B = 1; }",
    "LO-7": "message M { optional group G = 1 [deprecated = true] { optional int32 x = 1; } }",
    "odd names of types": 'syntax="proto3"; message 2 {} enum a-b { A = 0; }',
    "types that are keywords elsewhere": 'syntax="proto3"; message M { rpc a = 1; package b = 2; message rpc {} } '
    "message package {}",
    "values of maps that nobody declares": 'syntax="proto3"; message M { map<int32, no.Such> a = 1; }',
    "extension of a group": "message M { extensions 5; } extend M { optional group G = 5 { optional G g = 1; } }",
    "nested and outer scopes": "package a.b; message M { message N { message O { optional M m = 1; optional b.M n = 2; "
    "optional a.b.M.N o = 3; optional N p = 4; } } }",
}

REFUSED = {
    "PP-02": "message M { int32 a = 1; }",
    "PP-03": 'syntax="proto2"; message M { int32 a = 1; }',
    "PP-04": 'syntax="proto3"; message M { required int32 a = 1; }',
    "PP-06": 'syntax="proto4"; message M {}',
    "PP-07": 'message M {} syntax="proto3";',
    "PP-08": 'syntax="proto3"; syntax="proto3"; message M {}',
    "PP-09": 'edition="2023"; message M { int32 a = 1; }',
    "PP-22": 'syntax="proto3"; message M { int32 a = 2147483648; }',
    "PP-23": 'syntax="proto3"; message M { int32 a = 1.5; }',
    "PP-33": 'syntax="proto3"; message M {} message M {}',
    "PP-34": 'syntax="proto3"; message M {} enum M { A = 0; }',
    "PP-36": 'syntax="proto3"; message M {} service S {} service S {}',
    "PP-38": 'syntax="proto3"; import "gone.proto"; message M { gone.T a = 1; }',
    "PP-39": 'syntax="proto3"; message M { Nope a = 1; }',
    "PP-44 request": 'syntax="proto3"; message M {} service S { rpc R(X) returns (M); }',
    "PP-44 response": 'syntax="proto3"; message M {} service S { rpc R(M) returns (X); }',
    "PP-45": 'syntax="proto3"; extend X { optional int32 a = 1; }',
    "PP-45 nested": "message M { extend X { optional int32 a = 1; } }",
    "PP-47": 'syntax="proto3"; message M { repeated map<string,int32> m = 1; }',
    "PP-48": 'syntax="proto3"; message M { map<M,int32> m = 1; }',
    "PP-49": 'syntax="proto3"; message M { map<double,int32> m = 1; }',
    "PP-50, DV-16": 'syntax="proto3"; message M { oneof o { map<string,int32> m = 1; } }',
    "PP-51": 'syntax="proto3"; message M { oneof o { repeated int32 a = 1; } }',
    "PP-54": 'syntax="proto3"; message M { int32 a = 1 }',
    "PP-56": 'syntax="proto3"; message M { int32 a = 1;',
    "PP-61": '{"type":"record"}',
    "PP-63": 'syntax="proto3"; message É {}',
    "PP-64": 'syntax="proto3"; message M { int32 a = 1 [deprecated = true,]; }',
    "PP-66": "abc",
    "base64 that is no descriptor": "aGVsbG8gd29ybGQh",
    "byte order mark": '\ufeffsyntax="proto3"; message M {}',
    "name of two parts": 'syntax="proto3"; message M.N {}',
    "field that starts with a digit": 'syntax="proto3"; message M { int32 1a = 1; }',
    "constant that starts with a digit": "enum E { 1A = 0; }",
    "statement at file level": "reserved 1;",
    "options without a value": "option java_package;",
    "import without quotes": "import a;",
    "escape without digits": 'option a = "\\x";',
    "string without an end": 'option a = "b;',
    "comment without an end": "message M {} /* a",
    "service with a field": "service S { int32 a = 1; }",
    "rpc without response": "message M {} service S { rpc R(M); }",
    "reserved word": 'syntax="proto3"; message M { reserved a; }',
    "map without types": 'syntax="proto3"; message M { map a = 1; }',
    "unknown type in a oneof": "message M { oneof o { Nope a = 1; } }",
    "unknown type in a group": "message M { optional group G = 1 { optional Nope a = 1; } }",
    "half of a surrogate pair": 'option a = "\ud800";',
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_schema_is_accepted(text: str) -> None:
    """And its canonical text is one too."""
    schema = new(text)
    assert new(schema.canonical).canonical == schema.canonical


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_schema_is_refused_in_a_sentence(text: str) -> None:
    """A short one, whatever the text."""
    assert 10 < len(refusal(text)) < 200


def test_a_refusal_says_where_and_what() -> None:
    """As seen in an editor."""
    assert refusal('syntax = "proto3";\nmessage M {\n  int32 a = 1\n}') == (
        "Could not parse Protobuf - Syntax error in line 4, column 1: expected ';', found '}'"
    )
    assert refusal("message M {").endswith(
        "expected 'required', 'optional', 'repeated' or a declaration, found the end"
    )
    assert "M is defined twice" in refusal("message M {} enum M { A = 0; }")
    assert refusal("message M { optional Nope a = 1; }") == "Type Nope, which field M.a uses, is not defined"


def test_a_reference_is_found_by_what_it_declares() -> None:
    """Whether it is imported or not (PR-1 to PR-3)."""
    geo = Resolved("geo.proto", 'syntax = "proto3"; package geo; message Point { double x = 1; }')
    for import_ in ("", 'import "geo.proto";'):
        new(f'syntax = "proto3"; {import_} message M {{ geo.Point at = 1; }}', geo)


def test_a_reference_that_is_no_protobuf_is_refused_whether_it_is_needed_or_not() -> None:
    """As the reference reads them all at once; in JSON Schema one that is not needed is let be (JR-18)."""
    broken = Resolved("geo.proto", '{"type": "record"}')
    with pytest.raises(Malformed, match="Could not parse Protobuf"):
        new('syntax = "proto3"; import "geo.proto"; message M { int32 a = 1; }', broken)


def test_lenient_reading_asks_for_no_types() -> None:
    """What is stored may have lost its references (VR-1)."""
    assert PROTOBUF.parse("message M { optional gone.T a = 1; }", (), False).canonical


def test_a_descriptor_in_base64_is_read_as_its_source_would_be() -> None:
    """The example of the contract (D.3.1)."""
    schema = new(
        "Cg5hbnktbmFtZS5wcm90bxIBcCKfAQoBTRIOCgJpZBgBIAEoCVICaWQSIgoEdGFncxgCIAMoCzIOLnAuTS5UYWdzRW50cnlSBHRhZ3MSCwoBcRgDIA"
        "EoBUgAEhAKA29wdBgEIAEoBUgBiAEBGisKCVRhZ3NFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAU6AjgBQgMKAWtCBgoEX29wdEoECAoQ"
        "DUoECBQQFVIBeioKCgFFEgUKAUEQAGIGcHJvdG8z"
    )
    assert new(schema.canonical).canonical == schema.canonical
    assert PROTOBUF.normalise(schema).canonical == (
        'syntax = "proto3";\npackage p;\n\nmessage M {\n  reserved 10 to 12;\n  reserved 20;\n  reserved "z";\n\n'
        '  string id = 1 [json_name = "id"];\n  map<string, int32> tags = 2 [json_name = "tags"];\n'
        "  optional int32 opt = 4;\n\n  oneof k {\n    int32 q = 3;\n  }\n}\nenum E {\n  A = 0;\n}\n"
    )


def test_fields_say_what_was_written() -> None:
    """Nothing is looked up, nothing is filled in."""
    a, b, c = message("repeated .p.T a = 0x10; map < string , p.T > b = 010; grp c = 3;").fields
    assert (a.label, a.type, a.name, a.tag) == ("repeated", ".p.T", "a", 16)
    assert isinstance(b.type, MapType)
    assert (b.label, b.type.key, b.type.value, b.tag) == ("", "string", "p.T", 10)
    assert (c.label, c.type) == ("", "grp")


def test_default_and_json_name_come_last_and_count_once() -> None:
    """The last of each (D.3)."""
    (field,) = message('optional int32 a = 1 [json_name="x", default=1, b=2, default=3, (json_name)="y"];').fields
    assert [(option.name, option.extension) for option in field.options] == [
        ("b", False),
        ("json_name", True),
        ("default", False),
        ("json_name", False),
    ]
    assert said(field.options[2].value) == "3"


def test_ranges_end_where_they_say() -> None:
    """`max` is the largest tag."""
    schema = message('reserved 5, 7 to 9, 20 to max; reserved "a" "b", \'c\'; extensions 100 to 199, 0x100 [a = b];')
    (one, names), (extensions,) = schema.reserved, schema.extensions
    assert [(r.start, r.end) for r in one if isinstance(r, Range)] == [(5, 5), (7, 9), (20, MAX_TAG)]
    assert names == ["ab", "c"]
    assert [(r.start, r.end) for r in extensions.ranges] == [(100, 199), (256, 256)]
    assert extensions.options[0].name == "a"


def said(value: Value) -> object:
    """A value as Python has it."""
    if isinstance(value, (Word, Text)):
        return value.text
    if isinstance(value, Listed):
        return [said(each) for each in value.values]
    assert isinstance(value, MessageValue)
    return {key: said(each) for key, each in value.members}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("true", "true"),
        ("-inf", "-inf"),
        ("'a' \"b\"\n'c'", "abc"),
        ("{}", {}),
        ('{ a: 1, b: "x"; c { d: -1.5 } e: FOO }', {"a": "1", "b": "x", "c": {"d": "-1.5"}, "e": "FOO"}),
        ("< a: 1 b < c: 2 > >", {"a": "1", "b": {"c": "2"}}),
        ("{ a: [1, 2], b: [], c: [{ d: 1 }, < d: 2 >,] }", {"a": ["1", "2"], "b": [], "c": [{"d": "1"}, {"d": "2"}]}),
        ("{ a: 1 a: 2 a: [3, 4] }", {"a": ["1", "2", "3", "4"]}),
        (
            "{ [p.ext]: 1 [type.googleapis.com/p.M] { a: 1 } }",
            {"[p.ext]": "1", "[type.googleapis.com/p.M]": {"a": "1"}},
        ),
        ("[1, 'a']", ["1", "a"]),
    ],
)
def test_values_of_options_are_of_every_kind(text: str, expected: object) -> None:
    """As in protobuf's text format."""
    (option,) = message(f"option (x) = {text};").options
    assert said(option.value) == expected


@pytest.mark.parametrize(
    "name, extension, base, path",
    [
        ("a", False, "a", ""),
        ("features.x", False, "features.x", ""),
        ("(a.b)", True, "a.b", ""),
        ("(.a.b).c.d", True, ".a.b", ".c.d"),
        ("(a).(b.c).d", True, "a", ".(b.c).d"),
        ("( a ) . b", True, "a", ".b"),
    ],
)
def test_names_of_options_have_parts(name: str, extension: bool, base: str, path: str) -> None:
    """The first may be an extension, and any other too."""
    (option,) = message(f"option {name} = 1;").options
    assert (option.extension, option.name, option.path) == (extension, base, path)


def test_services_say_who_streams() -> None:
    """In both directions."""
    (service,) = parse.read(
        "service S { option a = b; rpc A (stream p.M) returns (.N) { ; option c = d; } "
        "rpc B (streams) returns (stream X);; }"
    ).services
    assert [(r.name, r.request_streams, r.request, r.response_streams, r.response) for r in service.rpcs] == [
        ("A", True, "p.M", False, ".N"),
        ("B", False, "streams", True, "X"),
    ]
    assert [option.name for option in (*service.options, *service.rpcs[0].options)] == ["a", "c"]


def test_top_level_fields_are_plain_fields_of_all_messages() -> None:
    """Members of oneofs are not among them (A.3)."""
    schema = new(
        'syntax = "proto3"; message M { int32 a = 1; oneof o { int32 b = 2; } message N { int32 c = 3; } } '
        "message O { int32 d = 1; }"
    )
    assert PROTOBUF.top_level_fields(schema) == {"a", "d"}
