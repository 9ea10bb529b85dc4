"""Names over several lines: blanks, line breaks and comments are free around every dot, as clang-format writes them."""

import re

import pytest

from sigla.errors import Malformed
from sigla.languages.protobuf import LANGUAGE as PROTOBUF
from sigla.languages.protobuf import parse
from sigla.languages.protobuf.tokens import tokens
from sigla.model import Resolved
from tests.unit.languages.protobuf_files import DEEP, FILES, GEO, comparable, run_protoc

REFERENCES = (Resolved("deep.proto", DEEP), Resolved("geo.proto", GEO))
NAME = re.compile(r"[A-Za-z_.]")
GAPS = [" ", "\n    ", "/* a.b */", "// a.b\n"]


def canonical(text: str) -> str:
    return PROTOBUF.parse(text, REFERENCES, True).canonical


PLACES = {
    "a package": 'syntax = "proto3"; package p.q.r;',
    "a field": 'syntax = "proto3"; import "geo.proto"; message M { geo.Point.E a = 1; .geo.Point b = 2 [c = true]; }',
    "a field with a label": 'import "geo.proto"; message M { required geo.Point a = 1; repeated .geo.Point b = 2; }',
    "a member of a oneof": 'import "geo.proto"; message M { oneof o { geo.Point.N a = 1; .geo.Point b = 2; } }',
    "the values of a map": "message M { map<string, geo.Point.N> a = 1; map<int32, .geo.Point> b = 2; }",
    "an rpc": 'import "geo.proto"; service S { rpc R (geo.Point) returns (stream .geo.Point.N); }',
    "what is extended": "extend google.protobuf.FieldOptions { optional int32 a = 50000; }",
    "an option of an option": "message M { option features.field_presence.x = EXPLICIT; }",
    "an extension": "message M { option (p.q.r).s.(t.u).v = 1; }",
    "an extension of a feature": "option features.(pb.go).api_level = API_OPAQUE;",
    "an option of a field": "message M { optional int32 a = 1 [(p.q).r = 2, features.(x.y) = {}]; }",
    "a key in a value": "message M { option (a) = { [p.q.r]: 1 [type.googleapis.com/p.q.M] { a: 1 } }; }",
}


@pytest.mark.parametrize("gap", GAPS, ids=repr)
@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES.keys())
def test_a_name_may_be_wrapped_around_each_of_its_dots(text: str, gap: str) -> None:
    """What protoc reads is a schema; and it is the same schema, however an editor broke its lines."""
    assert canonical(wrapped(text, gap)) == canonical(text)


@pytest.mark.parametrize("gap", GAPS, ids=repr)
def test_a_minus_may_stand_apart(gap: str) -> None:
    """Before numbers of constants, ranges, defaults and other options."""
    text = (
        "enum E { A = -1; reserved -5 to -2; } message M { optional int32 a = 1 [default = -1]; "
        "optional double b = 2 [default = -inf]; option (x) = { a: -1.5 b: [-1, -nan] }; }"
    )
    assert canonical(text.replace("-", f"-{gap}")) == canonical(text)


@pytest.mark.parametrize("gap", GAPS, ids=repr)
def test_a_file_that_uses_everything_is_the_same_with_each_name_wrapped(gap: str) -> None:
    """To us and to protoc, which reads it so as well."""
    files = {path: wrapped(text, gap) for path, text in FILES.items()}
    assert [canonical(text) for text in files.values()] == [canonical(text) for text in FILES.values()]
    assert comparable(run_protoc(files)["main.proto"]) == comparable(run_protoc(FILES)["main.proto"])


@pytest.mark.parametrize("text", ["message M { optional a. b = 1; }", "option a. = 1;", "option (a). = 1;"])
def test_a_dot_joins_names_and_nothing_else(text: str) -> None:
    """Behind the last one there has to be a name."""
    with pytest.raises(Malformed):
        parse.read(text)


def test_a_type_may_be_called_map() -> None:
    """Only before `<` is it the word for maps."""
    schema = PROTOBUF.parse('syntax = "proto3"; message map {} message M { map map = 1; }', (), True)
    PROTOBUF.validate(schema, True)
    assert "  map map = 1;" in schema.canonical


def wrapped(text: str, gap: str) -> str:
    """The text with a gap on both sides of each dot that stands in a name."""
    words = tokens(text)[:-1]
    return " ".join(re.sub(r"\.", f"{gap}.{gap}", word) if NAME.match(word) else word for word in words)
