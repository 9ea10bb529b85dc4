"""The plan in words: what becomes of each field of a writer."""

import json
from typing import Any

import pytest

from sigla.decoding.avro import understood
from sigla.decoding.avro_outline import outline
from sigla.decoding.decoder import Source
from sigla.model import Resolved
from tests.unit.decoding.avro_builders import DECIMAL, a_record, a_source, logical, of_fields

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}


def told(writer: Any, reader: Any) -> dict[str, str]:
    """By path: how."""
    return {line.path: line.how for line in outline(understood(a_source(writer)), understood(a_source(reader)))}


@pytest.mark.parametrize(
    "writer, reader, how",
    [
        ("int", "int", "same"),
        ("int", "double", "promoted"),
        ("int", ["null", "int"], "same"),
        (["null", "int"], "long", "promoted, null is unreadable"),
        ("null", "null", "same"),
        (logical("timestamp-millis"), logical("timestamp-micros"), "converted"),
        (logical("timestamp-millis"), "long", "same"),
        ("bytes", DECIMAL, "converted"),
        (ENUM, ENUM, "same"),
        (ENUM, {**ENUM, "symbols": ["B"]}, "symbols"),
        ("string", "int", "unreadable: the reader's int cannot be made of string"),
        ("int", ["string", "long"], "promoted, as long"),
        ("int", ["string", "bytes"], "unreadable: no branch for int"),
    ],
)
def test_each_field_is_told_by_a_word(writer: Any, reader: Any, how: str) -> None:
    assert told(a_record(writer), a_record(reader)) == {"f0": how}
    assert told(writer, reader) == {"": how}


def test_fields_are_told_by_name_alias_default_or_not_at_all() -> None:
    writer = of_fields({"name": "a", "type": "int"}, {"name": "b", "type": "int"}, {"name": "c", "type": "int"})
    reader = of_fields(
        {"name": "b", "type": "int"},
        {"name": "z", "type": "int", "aliases": ["a"]},
        {"name": "d", "type": "string", "default": "x"},
        {"name": "e", "type": ["null", "int"], "default": None},
        {"name": "f", "type": "int"},
    )
    assert told(writer, reader) == {
        "a": "same, as z",
        "b": "same",
        "c": "skipped",
        "d": 'default "x"',
        "e": "default null",
        "f": "unreadable: no default",
    }


def test_what_is_inside_is_told_by_its_path() -> None:
    def nested(inner: Any) -> dict[str, Any]:
        lists = {"type": "array", "items": of_fields({"name": "x", "type": inner}, name="I")}
        return of_fields({"name": "of", "type": {"type": "map", "values": lists}})

    assert told(nested("int"), nested("long")) == {"of{}[].x": "promoted"}


def test_each_branch_of_a_wider_union_is_told() -> None:
    """Whatever the reader has for it."""
    writer = ["int", "string", "null"]
    assert told(writer, ["null", "string", "long"]) == {
        "<int>": "promoted, as long",
        "<string>": "same, as string",
        "<null>": "same",
    }
    assert told(writer, "double") == {
        "<int>": "promoted",
        "<string>": "unreadable: the reader's double cannot be made of string",
        "<null>": "unreadable: the reader's double cannot be made of null",
    }


def test_a_record_that_was_renamed_or_may_be_null_is_a_line_of_its_own() -> None:
    old, new = a_record("int", name="I"), a_record("int", name="I")
    writer = of_fields({"name": "a", "type": ["null", old]})
    assert told(writer, of_fields({"name": "b", "type": new, "aliases": ["a"]})) == {
        "a": "same, as b, null is unreadable",
        "a.f0": "same",
    }


def test_types_are_told_in_a_word_or_two() -> None:
    fixed = {"type": "fixed", "name": "t.F", "size": 2}
    writer = a_record({"type": "array", "items": ["null", fixed]}, {"type": "map", "values": logical("date", "int")})
    lines = outline(understood(a_source(writer)), understood(a_source(of_fields())))
    assert [line.written for line in lines] == ["array of null | t.F", "map of int (date)"]


def test_a_record_within_itself_is_told_once() -> None:
    node = of_fields({"name": "v", "type": "int"}, {"name": "next", "type": ["null", "R"]})
    assert told(node, node) == {"v": "same"}


def test_what_is_nested_too_deeply_to_be_told_is_not_told() -> None:
    links = [a_record(f"C{at - 1}" if at else "int", name=f"C{at}") for at in range(900)]
    source = Source("AVRO", '"C899"', tuple(Resolved(link["name"], json.dumps(link)) for link in links))
    assert outline(understood(source), understood(source)) == ()
