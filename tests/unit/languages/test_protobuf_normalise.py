"""One order and one spelling (contract D.4)."""

import pytest

from sigla.languages.protobuf import LANGUAGE as PROTOBUF
from sigla.model import Parsed, Resolved

CASES: dict[str, tuple[str, str, str | None]] = {
    "PC-01": (
        'syntax="proto3"; message M { reserved "b", "a"; reserved 30, 5 to 7, 9; }',
        'syntax = "proto3";\n\nmessage M {\n  reserved "b", "a";\n  reserved 30, 5 to 7, 9;\n}\n',
        (
            'syntax = "proto3";\n\nmessage M {\n  reserved 5 to 7;\n  reserved 9;\n  reserved 30;\n'
            '  reserved "a";\n  reserved "b";\n}\n'
        ),
    ),
    "PC-02": (
        (
            'syntax="proto3"; import "google/type/date.proto"; import "google/protobuf/any.proto"; '
            'import "google/protobuf/any.proto"; message M {}'
        ),
        (
            'syntax = "proto3";\n\nimport "google/type/date.proto";\nimport "google/protobuf/any.proto";\n'
            'import "google/protobuf/any.proto";\n\nmessage M {}\n'
        ),
        'syntax = "proto3";\n\nimport "google/protobuf/any.proto";\nimport "google/type/date.proto";\n\nmessage M {}\n',
    ),
    "PC-03": (
        'syntax="proto2"; message M { optional int32 a=1; }',
        'syntax = "proto2";\n\nmessage M {\n  optional int32 a = 1;\n}\n',
        "\nmessage M {\n  optional int32 a = 1;\n}\n",
    ),
    "PC-04": (
        (
            "message M { optional int32 a=1 [default=0x1F]; optional double b=2 [default=1.5e3]; "
            "optional double c=3 [default=-inf]; optional float d=4 [default=0.5]; "
            "optional int32 e=5 [default=-7]; optional bool f=6 [default=true]; }"
        ),
        (
            "\nmessage M {\n  optional int32 a = 1 [default = 0x1F];\n"
            "  optional double b = 2 [default = 1.5e3];\n  optional double c = 3 [default = -inf];\n"
            "  optional float d = 4 [default = 0.5];\n  optional int32 e = 5 [default = -7];\n"
            "  optional bool f = 6 [default = true];\n}\n"
        ),
        (
            "\nmessage M {\n  optional int32 a = 1 [default = 31];\n"
            "  optional double b = 2 [default = 1500];\n  optional double c = 3 [default = -inf];\n"
            "  optional float d = 4 [default = 0.5];\n  optional int32 e = 5 [default = -7];\n"
            "  optional bool f = 6 [default = true];\n}\n"
        ),
    ),
    "PC-05": (
        'syntax="proto3"; message B {} message A {} enum Z { Z0=0; } enum Y { Y0=0; }',
        'syntax = "proto3";\n\nmessage B {}\nmessage A {}\nenum Z {\n  Z0 = 0;\n}\nenum Y {\n  Y0 = 0;\n}\n',
        None,
    ),
    "PC-06": (
        "message M { extend M { optional int32 x=101; } extensions 100 to max; }",
        "\nmessage M {\n  extensions 100 to max;\n\n  extend M {\n    optional int32 x = 101;\n  }\n}\n",
        "\nmessage M {\n  extensions 100 to max;\n\n  extend .M {\n    optional int32 x = 101;\n  }\n}\n",
    ),
    "PC-07": (
        'syntax="proto3"; message M { oneof b { int32 x=5; } oneof e { } oneof a { int32 z=3; int32 y=2; } }',
        (
            'syntax = "proto3";\n\nmessage M {\n  oneof b {\n    int32 x = 5;\n  }\n  oneof e {}\n'
            "  oneof a {\n    int32 z = 3;\n    int32 y = 2;\n  }\n}\n"
        ),
        (
            'syntax = "proto3";\n\nmessage M {\n  oneof a {\n    int32 y = 2;\n    int32 z = 3;\n  }\n'
            "  oneof b {\n    int32 x = 5;\n  }\n}\n"
        ),
    ),
    "PC-08": (
        'syntax="proto3"; import public "google/protobuf/any.proto"; import "google/type/date.proto"; message M {}',
        (
            'syntax = "proto3";\n\nimport "google/type/date.proto";\n'
            'import public "google/protobuf/any.proto";\n\nmessage M {}\n'
        ),
        None,
    ),
    "PC-09": (
        'syntax="proto3"; option java_package = "a" "b"; option go_package = \'it\\\'s\\t\\x41\'; message M {}',
        'syntax = "proto3";\n\noption java_package = "ab";\noption go_package = "it\\\'s\\tA";\n\nmessage M {}\n',
        'syntax = "proto3";\n\noption go_package = "it\\\'s\\tA";\noption java_package = "ab";\n\nmessage M {}\n',
    ),
    "PC-10": (
        "message M { repeated group B=4 { } repeated group A=3 { } map<int32,M> m=1; }",
        "\nmessage M {\n  map<int32, M> m = 1;\n\n  repeated group B = 4 {}\n  repeated group A = 3 {}\n}\n",
        "\nmessage M {\n  map<int32, .M> m = 1;\n\n  repeated group A = 3 {}\n  repeated group B = 4 {}\n}\n",
    ),
}
"""Texts, their canonical text, and their normal form where that is another."""


def new(text: str, *references: Resolved) -> Parsed:
    return PROTOBUF.parse(text, references, True)


def normal(text: str, *references: Resolved) -> str:
    """The normal form; its own normal form, as a tree and as a text."""
    once = PROTOBUF.normalise(new(text, *references))
    assert PROTOBUF.normalise(once).canonical == once.canonical
    assert PROTOBUF.normalise(new(once.canonical, *references)).canonical == once.canonical
    return once.canonical


def line(text: str, *references: Resolved) -> str:
    """The normal form in one line."""
    return " ".join(normal(text, *references).split())


@pytest.mark.parametrize("text, canonical, expected", CASES.values(), ids=CASES.keys())
def test_a_schema_has_a_normal_form(text: str, canonical: str, expected: str | None) -> None:
    """The examples of the contract."""
    assert new(text).canonical == canonical
    assert normal(text) == (canonical if expected is None else expected)


def test_names_are_written_in_full_wherever_they_stand() -> None:
    """In fields, maps, oneofs, groups, extends, rpcs; undeclared names stay as they are (PN-3)."""
    geo = Resolved("geo.proto", 'syntax = "proto3"; package geo.v1; message Point { message Kind {} }')
    assert line(
        """package geo; import "geo.proto";
        message M { optional v1.Point a = 1; map<int32, N> b = 2; oneof o { M c = 3; int32 d = 4; }
        optional group G = 5 { optional N e = 1; optional Gone f = 2; optional G g = 3; } message N { extensions 9; } }
        extend M.N { optional .geo.v1.Point.Kind h = 9; } service S { rpc R (stream M) returns (M.N); }""",
        geo,
    ) == (
        'package geo; import "geo.proto"; message M { optional .geo.v1.Point a = 1; map<int32, .geo.M.N> b = 2; '
        "oneof o { .geo.M c = 3; int32 d = 4; } optional group G = 5 { optional .geo.M.N e = 1; optional Gone f = 2; "
        "optional .geo.M.G g = 3; } message N { extensions 9; } } "
        "extend .geo.M.N { optional .geo.v1.Point.Kind h = 9; } "
        "service S { rpc R (stream .geo.M) returns (.geo.M.N); }"
    )


def test_messages_services_and_rpcs_keep_their_place() -> None:
    """Serialisers address a message by it (PR-6, PN-10)."""
    text = (
        'syntax = "proto3"; message B {} message A { message D {} message C {} } '
        "service T { rpc Y (.A) returns (.A); rpc X (.B) returns (.B); } service S {}"
    )
    assert line(text) == text


def test_messages_that_are_entries_of_maps_become_maps() -> None:
    """Also where the entry is declared elsewhere; one that no map can have stays a message (PN-9)."""
    entry = "option map_entry = true; K key = 1; V value = 2;"
    assert line(
        f"""syntax = "proto3"; message M {{ repeated E a = 1; repeated F b = 2; repeated N.E c = 3;
        message E {{ {entry.replace("K", "string").replace("V", "E2")} }} message E2 {{}}
        message F {{ {entry.replace("K", "double").replace("V", "M")} }} }}
        message N {{ message E {{ {entry.replace("K", "int32").replace("V", "bytes")} }} }}"""
    ) == (
        'syntax = "proto3"; message M { map<string, .M.E2> a = 1; repeated .M.F b = 2; map<int32, bytes> c = 3; '
        "message E2 {} message F { option map_entry = true; double key = 1; .M value = 2; } } message N {}"
    )


def test_ranges_are_sorted_one_by_one() -> None:
    """Those of extensions keep their options (PN-6)."""
    assert line(
        "message M { extensions 500 to max, 7 [verification = UNVERIFIED]; extensions 5; } "
        'enum E { reserved "b", "a"; reserved 9, 2 to 3; }'
    ) == (
        "message M { extensions 5; extensions 7 [verification = UNVERIFIED]; "
        "extensions 500 to max [verification = UNVERIFIED]; } "
        'enum E { reserved 2 to 3; reserved 9; reserved "a"; reserved "b"; }'
    )


DECLARED = """
message Meta { optional string doc = 1; repeated string tags = 2; optional Meta more = 3; optional int32 n = 5;
  map<string, string> params = 4; oneof o { Meta either = 6; } extensions 100; }
extend google.protobuf.FieldOptions { optional Meta meta = 50205; optional int32 num = 50105;
  repeated string labels = 50305; optional Gone lost = 50405; }
extend Meta { optional int32 ext = 100; }
"""

OPTIONS = {
    "sorted by name": (
        'deprecated = true, (b) = 1, a = 2, json_name = "x"',
        'a = 2, (b) = 1, deprecated = true, json_name = "x"',
    ),
    "names in full": ("(num) = 1", "(p.num) = 1"),
    "full names without a dot": ("(.p.num) = 1", "(p.num) = 1"),
    "unknown ones as they are": ("(gone).b = 1, (gone).a = 2", "(gone).b = 1, (gone).a = 2"),
    "parts become one": ('(meta).n = 1, (meta).doc = "d"', '(p.meta) = { doc: "d", n: 1 }'),
    "parts of parts too": (
        '(meta).more.n = 1, (meta).more.doc = "d"',
        '(p.meta) = { more: { doc: "d", n: 1 } }',
    ),
    "parts join the whole": ('(meta) = { doc: "d" }, (meta).n = 0x10', '(p.meta) = { doc: "d", n: 16 }'),
    "repeated members are joined": (
        '(meta).tags = "b", (meta).tags = "a", (meta) = { tags: ["b", "c"] }',
        '(p.meta) = { tags: [ "b", "a", "c" ] }',
    ),
    "entries of maps are joined": (
        '(meta).params = { key: "a" }, (meta).params = { key: "b" }',
        '(p.meta) = { params: [ { key: "a" }, { key: "b" } ] }',
    ),
    "of other members the last one counts": ("(meta).n = 1, (meta).n = 2", "(p.meta) = { n: 2 }"),
    "messages in oneofs are messages": (
        "(meta).either.n = 1, (meta).either.doc = 'd'",
        '(p.meta) = { either: { doc: "d", n: 1 } }',
    ),
    "of two values of a scalar the last one counts": ("(num) = 1, (num) = 2", "(p.num) = 2"),
    "a word ends a message": ("(meta).n = 1, (meta) = X, (meta).doc = 'd'", '(p.meta) = { doc: "d" }'),
    "what is no message has members all the same": (
        "(num).b = 1, (num).b = 2, (num).a = 3",
        "(p.num) = { a: 3, b: 2 }",
    ),
    "and so has what nobody declares": ("(lost).b = 1, (lost).a = 2", "(p.lost) = { a: 2, b: 1 }"),
    "repeated extensions stay apart": ('(labels) = "b", (labels) = "a"', '(p.labels) = "b", (p.labels) = "a"'),
    "lists of one are unwrapped": (
        '(meta) = { tags: ["a"], more { tags: [] } }',
        '(p.meta) = { more: { }, tags: "a" }',
    ),
    "lists of none are left out": ("(gone) = [], a = 1", "a = 1"),
    "keys are sorted": ("(gone) = { b: 1, a: { d: 1, c: 1 } }", "(gone) = { a: { c: 1, d: 1 }, b: 1 }"),
    "keys that are extensions": ("(meta) = { [ext]: 1, [gone.x]: 2 }", "(p.meta) = { [gone.x]: 2, [p.ext]: 1 }"),
    "parts that are extensions": ("(meta).(ext) = 1", "(p.meta) = { [p.ext]: 1 }"),
    "those of confluent are known": (
        '(confluent.field_meta).tags = "PII", (confluent.field_meta).tags = "GDPR"',
        '(confluent.field_meta) = { tags: [ "PII", "GDPR" ] }',
    ),
}


@pytest.mark.parametrize("options, expected", OPTIONS.values(), ids=OPTIONS.keys())
def test_options_are_said_once_and_in_order(options: str, expected: str) -> None:
    """PN-7."""
    text = f"package p; message M {{ optional int32 a = 1 [{options}]; }} {DECLARED}"
    (field,) = [part for part in line(text).split(";") if "int32 a = 1" in part]
    assert field.partition("[")[2].removesuffix("]").strip() == expected


def test_options_of_everything_are_sorted() -> None:
    """Options of files, messages, oneofs, enums, constants, services, rpcs, groups."""
    pair, brackets = "option b = 1; option a = 1;", "[b = 1, a = 1]"
    text = (
        f"{pair} message M {{ {pair} oneof o {{ {pair} int32 x = 1; }} optional group G = 2 {brackets} {{ {pair} }} }} "
        f"enum E {{ {pair} A = 0 {brackets}; }} "
        f"service S {{ {pair} rpc R (.M) returns (.M) {{ {pair} }} }}"
    )
    assert line(text) == line(text.replace(pair, "option a = 1; option b = 1;").replace(brackets, "[a = 1, b = 1]"))
    assert "b = 1 option a" not in line(text).replace(";", "")


def test_messages_whose_oneofs_are_all_empty_keep_their_section() -> None:
    """As a blank line: the reference leaves it, and a text is what ids are made of. Reading it drops the line."""
    once = PROTOBUF.normalise(new('syntax = "proto3"; message M { int32 a = 1; oneof o {} message N { oneof p {} } }'))
    assert once.canonical == ('syntax = "proto3";\n\nmessage M {\n  int32 a = 1;\n\n\n  message N {\n  }\n}\n')
    assert PROTOBUF.normalise(once).canonical == once.canonical
