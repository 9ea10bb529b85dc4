"""Where in a file a finding is: a reviewer looks at a line, not at a path."""

from textwrap import dedent

import pytest

from sigla.rules.positions import Counterparts, Position, Positions, told_position

AVRO = """\
{
  // a person's own words
  "type": "record", "name": "Order",
  "fields": [
    {"name": "id", "type": "long"},
    {
      "name": "lines",
      "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
        {"name": "s,k:u", "type": ["null", "string"]}
      ]}}
    }
  ]
}
"""

PROTO = """\
syntax = "proto3"; // message Not { int32 a = 1; }
package shop;
message Order {
  option deprecated = true;
  message Line { string sku = 1; }
  oneof price {
    int64 cents = 3 [deprecated = true];
  }
  repeated
    Line lines = 0x10;
  enum State { NEW = 0; }
}
"""


def of_path(text: str, schema_type: str, path: str) -> Position:
    return Positions(text, schema_type).of(path)


@pytest.mark.parametrize(
    "path, position",
    [
        ("/", (1, 1)),
        ("/fields/0", (5, 5)),
        ("/fields/0/type", (5, 20)),
        ("/fields/1/type/items/fields/0/type/1", (9, 44)),
        ("/fields/0/type/fields/7", (5, 20)),
        ("/nothing/of/it", (1, 1)),
    ],
)
def test_a_path_leads_into_json_as_far_as_something_is_written(path: str, position: tuple[int, int]) -> None:
    """Where a name stands for a type, the name is the place: what it names stands elsewhere, or in another file."""
    assert of_path(AVRO, "AVRO", path) == position


@pytest.mark.parametrize(
    "path, position",
    [
        ("#/", (2, 1)),
        ("#/Order", (3, 9)),
        ("#/Order/Line/1", (5, 25)),
        ("#/Order/price/3", (7, 11)),
        ("#/Order/16", (10, 10)),
        ("#/Order/State/0", (11, 16)),
        ("#/Order/99", (3, 9)),
        ("#/Gone", (2, 1)),
    ],
)
def test_a_path_leads_to_a_field_of_protobuf_by_its_number(path: str, position: tuple[int, int]) -> None:
    """Comments, options and line ends are passed by."""
    assert of_path(PROTO, "PROTOBUF", path) == position


def test_what_is_not_there_is_shown_at_the_beginning() -> None:
    """A file that cannot be followed at all has a first line."""
    assert of_path("{{{", "JSON", "#/properties/a") == (1, 1)
    assert of_path("", "JSON", "#/") == (1, 1)
    assert of_path("text", "THRIFT", "#/a") == (1, 1)


@pytest.mark.parametrize(
    "sentence, position",
    [
        ("Syntax error in line 3, column 14: expected a name", (3, 14)),
        ("The text is not JSON: Expecting value at line 2 column 7", (2, 7)),
        ("Unexpected text after the end of the schema, at character 6", (2, 1)),
        ("Empty schema", (1, 1)),
    ],
)
def test_a_parser_says_itself_where_it_failed(sentence: str, position: tuple[int, int]) -> None:
    """Its place is the one that counts."""
    assert told_position(dedent("12345\n67"), sentence) == position


OLD = """{"name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "zip", "type": "string"},
  {"name": "lines", "type": ["null", {"type": "array", "items": {"name": "Line", "fields": [{"name": "sku"}]}}]}]}"""
NEW = """{"name": "Order", "fields": [{"name": "note", "type": "string"}, {"name": "lines", "type": [
  {"type": "array", "items": {"name": "Line", "fields": [{"name": "at"}, {"name": "sku"}]}}, "null"]},
  {"name": "id"}]}"""


@pytest.mark.parametrize(
    "path, found",
    [
        ("/", ""),
        ("/fields/0", "/fields/2"),
        ("/fields/0/type", "/fields/2"),
        ("/fields/1", "/fields"),
        ("/fields/1/type", "/fields"),
        ("/fields/2/type/1/items/fields/0", "/fields/1/type/0/items/fields/1"),
        ("/fields/2/type/0", "/fields/1/type/1"),
        ("/fields/9", "/fields"),
        ("/fields/x", "/fields"),
        ("/name/0", "/name"),
    ],
)
def test_a_path_through_an_older_schema_leads_to_the_same_field_of_a_newer_one(path: str, found: str) -> None:
    assert Counterparts(OLD, NEW).of(path) == found


def test_a_path_through_what_cannot_be_read_stays_as_it_is() -> None:
    assert Counterparts(OLD, "// a person's own words\n{}").of("/fields/1") == "/fields/1"
    assert Counterparts("[" * 100_000, NEW).of("/fields/1") == "/fields/1"
