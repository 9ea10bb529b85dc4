"""The text that is stored (contract D.3, LO-1)."""

from textwrap import dedent

import pytest

from sigla.languages.protobuf import LANGUAGE as PROTOBUF
from sigla.languages.protobuf.canonical import without_extensions, written
from sigla.languages.protobuf.parse import read


def canonical(text: str) -> str:
    return written(read(text))


def as_shown(text: str) -> str:
    """`·` marks spaces at the end of a line."""
    return dedent(text).lstrip("\n").replace("·", " ")


ORDERS = (
    """\
syntax="proto3"; package shop.v1; import "google/protobuf/timestamp.proto"; import public "google/protobuf/any.proto";
option java_package = "x"; option java_multiple_files = true;
enum Top { T0 = 0; }
message Order { // note
 oneof pay { string card = 7; int64 cash = 5; } string id = 2; google.protobuf.Timestamp at = 1 [deprecated = true,
 json_name = "AT"]; map<string, Line> lines = 4; optional int32 qty = 9; Top t = 10; reserved 100 to 105, 20;
 reserved "old", "older"; option deprecated = true; message Line { repeated int32 x = 1 [packed = true];
 enum K { A = 0; B = 2; C = 1; } } }
service S { rpc Get (Order) returns (stream Order.Line) { option deprecated = true; } rpc Put (Order) returns (Order); }
""",
    """
    syntax = "proto3";
    package shop.v1;

    import "google/protobuf/timestamp.proto";
    import public "google/protobuf/any.proto";

    option java_package = "x";
    option java_multiple_files = true;

    message Order {
      reserved 100 to 105, 20;
      reserved "old", "older";

      option deprecated = true;

      string id = 2;
      google.protobuf.Timestamp at = 1 [
        deprecated = true,
        json_name = "AT"
      ];
      map<string, Line> lines = 4;
      optional int32 qty = 9;
      Top t = 10;

      oneof pay {
        string card = 7;
        int64 cash = 5;
      }

      message Line {
        repeated int32 x = 1 [packed = true];
    ··
        enum K {
          A = 0;
          B = 2;
          C = 1;
        }
      }
    }
    enum Top {
      T0 = 0;
    }

    service S {
      rpc Get (Order) returns (stream Order.Line) {
        option deprecated = true;
      };
      rpc Put (Order) returns (Order);
    }
    """,
)
PROTO2 = (
    """\
package q; message M { required int32 a = 2; optional string b = 1 [default = "x\\"y"]; repeated group G = 3 {
optional int32 z = 1; } extensions 100 to 199, 500 to max; optional E e = 5 [default = X]; enum E {
option allow_alias = true; X = 0; Y = 1; Z = 1; reserved 5, 7 to 9; reserved "W"; } }
extend M { optional int32 ext = 120; }
""",
    r"""
    package q;

    message M {
      required int32 a = 2;
      optional string b = 1 [default = "x\"y"];
      optional E e = 5 [default = X];

      repeated group G = 3 {
        optional int32 z = 1;
      }

      extensions 100 to 199, 500 to max;

      enum E {
        reserved 5, 7 to 9;
        reserved "W";
        option allow_alias = true;
        X = 0;
        Y = 1;
        Z = 1;
      }
    }

    extend M {
      optional int32 ext = 120;
    }
    """,
)
VALUES = (
    """\
syntax = "proto3"; message M { int32 a = 1 [(one) = { x: 1, y: [ "a", { z: TRUE } ], e: [], n {} }];
int32 b = 2 [(two).p.q = "it's", (three) = [1, 2]]; option (four) = { a: "1" a: "2" };
oneof o { option (five) = 0x1F; int32 c = 3; } }
enum E { A = 0 [deprecated = true, (six) = {}]; }
service S { option (seven) = { a: 1 }; }
""",
    r"""
    syntax = "proto3";

    message M {
      option (four) = {
        a: [
          "1",
          "2"
        ]
      };

      int32 a = 1 [(one) = {
        x: 1,
        y: [
          "a",
          {
            z: TRUE
          }
        ],
        e: [
        ],
        n: {
        }
      }];
      int32 b = 2 [
        (two).p.q = "it\'s",
        (three) = [
          1,
          2
        ]
      ];

      oneof o {
        option (five) = 0x1F;
    ··
        int32 c = 3;
      }
    }
    enum E {
      A = 0 [
        deprecated = true,
        (six) = {
        }
      ];
    }

    service S {
      option (seven) = {
        a: 1
      };
    }
    """,
)


@pytest.mark.parametrize("text, expected", [ORDERS, PROTO2, VALUES], ids=["orders", "proto2", "values"])
def test_a_file_has_one_layout(text: str, expected: str) -> None:
    """The examples of the contract, and one with values of every kind."""
    assert canonical(text) == as_shown(expected)


def test_every_section_of_a_message_has_its_place() -> None:
    """With a blank line between them that is as deep as the message."""
    body = """
    message A { } extend M { optional int32 x = 9; } enum E { } extensions 9; optional group G = 3 [a = b] { }
    oneof o { group H = 4 { optional int32 y = 1; } } optional int32 f = 1; option a = b; reserved 5;
    """
    sections = """
    {head} {{
      reserved 5;
    {blank}
      option a = b;
    {blank}
      optional int32 f = 1;
    {blank}
      oneof o {{
        group H = 4 {{
          optional int32 y = 1;
        }}
      }}
    {blank}
      optional group G = 3 [a = b] {{}}
    {blank}
      extensions 9;
    {blank}
      extend M {{
        optional int32 x = 9;
      }}
    {blank}
      message A {{}}
      enum E {{}}
    }}
    """
    alone = as_shown(sections).format(head="message M", blank="")
    assert canonical(f"message M {{ {body} }}") == "\n" + alone
    inside = as_shown(sections).format(head="message N", blank="").splitlines()
    assert canonical(f"message M {{ message N {{ {body} }} }}").splitlines()[2:-1] == ["  " + line for line in inside]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", ""),
        ("// nothing", ""),
        ('syntax = "proto3";', 'syntax = "proto3";\n'),
        ("package p; package q;", "package q;\n"),
        ("message M {}", "\nmessage M {}\n"),
        ("extend M {}", "\nextend M {}\n"),
        ("service S {}", "\nservice S {}\n"),
        ("enum E {} message M {}", "\nmessage M {}\nenum E {}\n"),
        ('import weak "a"; import public "b"; import "c";', '\nimport "c";\nimport public "b";\n'),
        ('option a = "\\x41\\t\'\\"";', '\noption a = "A\\t\\\'\\"";\n'),
        ("enum E { reserved 536870911, 5 to 536870912; }", "\nenum E {\n  reserved 536870911 to max, 5 to max;\n}\n"),
    ],
)
def test_what_is_not_there_leaves_no_line(text: str, expected: str) -> None:
    """But without syntax and package the first line is empty."""
    assert canonical(text) == expected


def test_defaults_of_bytes_are_quoted() -> None:
    """They are strings (LO-1, DV-11)."""
    assert 'default = "xy"' in canonical('message M { optional bytes a = 1 [default = "xy"]; }')


def test_without_extensions_only_those_of_confluent_stay() -> None:
    """Options in parentheses, extends and extension ranges are left out, and their sections with them (D.3.2)."""
    text = """
    option (a) = 1; option java_package = "p";
    message M { option (b) = 1; extensions 100 to 200; extend M { optional int32 e = 100; }
      optional int32 a = 1 [(c) = 1, (confluent.field_meta).doc = "d", deprecated = true];
      optional int32 b = 2 [(d) = 1];
      oneof o { option (e) = 1; int32 c = 3; } }
    message N { option (f) = 1; extensions 9; }
    enum E { option (g) = 1; A = 0 [(h) = 1, (.confluent.enum_value_meta).doc = "d"]; }
    extend M { optional int32 f = 101; }
    service S { option (i) = 1; rpc R (M) returns (M) { option (j) = 1; } }
    """
    expected = as_shown("""

    option java_package = "p";

    message M {
      optional int32 a = 1 [
        (confluent.field_meta).doc = "d",
        deprecated = true
      ];
      optional int32 b = 2;

      oneof o {
        int32 c = 3;
      }
    }
    message N {}
    enum E {
      A = 0 [(.confluent.enum_value_meta).doc = "d"];
    }

    service S {
      rpc R (M) returns (M);
    }
    """)
    assert without_extensions(read(text)) == "\n" + expected
    schema = PROTOBUF.parse(text, (), True)
    assert PROTOBUF.render(schema, "ignore_extensions") == "\n" + expected
    assert PROTOBUF.render(schema, "") == PROTOBUF.render(schema, "no such form") == schema.canonical


SAME = {
    "EP-01": ('syntax="proto3"; message M { int32 a=1; }', 'syntax="proto3"; // c\nmessage M{int32 a=0x1;}'),
    "EP-02": (
        'syntax="proto3"; enum E { A=0; } message M { E e=1; }',
        'syntax="proto3"; message M { E e=1; } enum E { A=0; }',
    ),
    "EP-03": (
        'syntax="proto3"; message M { oneof o { int32 b=2; } int32 a=1; }',
        'syntax="proto3"; message M { int32 a=1; oneof o { int32 b=2; } }',
    ),
    "EP-15": (
        "syntax=\"proto3\"; option java_package='a'; message M {}",
        'syntax="proto3"; option java_package="a"; message M {}',
    ),
}
OTHER = {
    "EP-04": (
        'syntax="proto3"; message M { int32 a=1; int32 b=2; }',
        'syntax="proto3"; message M { int32 b=2; int32 a=1; }',
    ),
    "EP-05": (
        'syntax="proto3"; package p; message M { M m=1; }',
        'syntax="proto3"; package p; message M { .p.M m=1; }',
    ),
    "EP-07": ('syntax="proto2"; message M {}', "message M {}"),
    "EP-09": (
        'syntax="proto3"; import "google/protobuf/any.proto"; import "google/protobuf/api.proto"; message M {}',
        'syntax="proto3"; import "google/protobuf/api.proto"; import "google/protobuf/any.proto"; message M {}',
    ),
    "EP-11": (
        'syntax="proto3"; option java_package="a"; option go_package="b"; message M {}',
        'syntax="proto3"; option go_package="b"; option java_package="a"; message M {}',
    ),
    "EP-12": ('syntax="proto3"; enum E { A=0; B=1; }', 'syntax="proto3"; enum E { B=1; A=0; }'),
    "EP-14": (
        'syntax="proto3"; message M { reserved 1, 2; }',
        'syntax="proto3"; message M { reserved 1; reserved 2; }',
    ),
}
NEVER = {
    "EP-06": ('syntax="proto3"; message A {} message B {}', 'syntax="proto3"; message B {} message A {}'),
    "EP-08": ("message M {}", 'syntax="proto3"; message M {}'),
    "EP-10": (
        'syntax="proto3"; import "google/protobuf/any.proto"; message M {}',
        'syntax="proto3"; message M {}',
    ),
    "EP-13": ('syntax="proto3"; message M { int32 a=1 [json_name="a"]; }', 'syntax="proto3"; message M { int32 a=1; }'),
}


@pytest.mark.parametrize(
    "texts, same, when_normalised",
    [
        *[(texts, True, True) for texts in SAME.values()],
        *[(texts, False, True) for texts in OTHER.values()],
        *[(texts, False, False) for texts in NEVER.values()],
    ],
    ids=[*SAME, *OTHER, *NEVER],
)
def test_equal_schemas_have_equal_texts(texts: tuple[str, str], same: bool, when_normalised: bool) -> None:
    """And some more have, once they are normalised (D.4)."""
    one, other = (PROTOBUF.parse(text, (), True) for text in texts)
    assert PROTOBUF.equivalent(one, other) == same
    assert (PROTOBUF.digest(one) == PROTOBUF.digest(other)) == same
    assert PROTOBUF.equivalent(PROTOBUF.normalise(one), PROTOBUF.normalise(other)) == when_normalised
