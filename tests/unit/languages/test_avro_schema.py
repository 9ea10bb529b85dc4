"""Promises about single schemas that no table of examples makes."""

import inspect
import json
import sys
from typing import Any

import pytest

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import LANGUAGES
from sigla.languages.avro import compare
from sigla.model import Parsed, Resolved

AVRO = LANGUAGES["AVRO"]


def new(schema: Any, *references: Resolved) -> Parsed:
    return AVRO.parse(json.dumps(schema), references, True)


def stored(schema: Any) -> Parsed:
    return AVRO.parse(json.dumps(schema), (), False)


def field(type_: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": "a", "type": type_, **more}]}


@pytest.mark.parametrize(
    "schema, names",
    [(field("int"), {"a"}), ("int", set()), ([field("int")], set()), ({"type": "map", "values": field("int")}, set())],
    ids=["record", "primitive", "union", "map"],
)
def test_only_a_record_has_top_level_fields(schema: Any, names: set[str]) -> None:
    """Reserved names are looked for among the fields of the schema itself."""
    assert AVRO.top_level_fields(new(schema)) == names


def test_what_is_wrong_is_said_in_avros_words() -> None:
    """Tools look for these sentences."""
    cases = {
        "Undefined schema: n.S": {**field("S"), "namespace": "n"},
        "Undefined schema: m.S": {**field("m.S"), "namespace": "n"},
        "Can't redefine: F": [
            {"type": "fixed", "name": "F", "size": 1},
            field({"type": "fixed", "name": "F", "size": 2}),
        ],
        "Duplicate in union:int": ["int", "int"],
        "Nested union": ["int", ["null"]],
    }
    for reason, schema in cases.items():
        with pytest.raises(Malformed) as malformed:
            new(schema)
        assert malformed.value.reason == reason


def test_a_name_may_read_like_a_template() -> None:
    """Text of users is inserted, never interpreted."""
    reader, writer = (stored({"type": "enum", "name": "E", "namespace": space, "symbols": ["A"]}) for space in "ab")
    assert AVRO.compare(reader, writer) == ()
    (finding,) = AVRO.compare(stored(field("int")), stored({**field("int"), "name": "X", "namespace": "%s{reader}"}))
    assert AVRO.sentence(finding, "new", "old") == (
        "{errorType:'NAME_MISMATCH', description:'The name of the schema has changed (path '/name')', "
        "additionalInfo:'expected: %s{reader}.X'}"
    )


def test_branches_of_a_referenced_union_are_visible() -> None:
    """They count as nested in the reference, so they are printed in full where they are used first."""
    union = Resolved("both", json.dumps([{"type": "fixed", "name": "F", "size": 1}, "null"]))
    assert new(field("F"), union).canonical == json.dumps(
        field({"type": "fixed", "name": "F", "size": 1}), separators=(",", ":")
    )


def test_a_type_without_namespace_is_found_from_within_one_once_it_is_finished() -> None:
    """An enclosing record is not: no text could name it. Apache's parser does the same."""
    inner = {"type": "record", "name": "n.I", "fields": [{"name": "x", "type": "F"}]}
    finished = [{"type": "fixed", "name": "F", "size": 1}, inner]
    assert new(finished).canonical == AVRO.parse(new(finished).canonical, (), True).canonical
    enclosing = {**field({**inner, "fields": [{"name": "x", "type": "R"}]})}
    with pytest.raises(Malformed, match=r"Undefined schema: n\.R"):
        new(enclosing)


def test_normalising_what_is_nested_too_deeply_is_refused_too() -> None:
    """As reading is: a sentence, not a crash; also where the caller left few frames."""
    levels = 60
    type_ = '{"type":"array","items":' * levels + '"int"' + "}" * levels
    parsed = AVRO.parse(f'{{"type":"record","name":"R","fields":[{{"name":"a","type":{type_}}}]}}', (), False)
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + levels)
    try:
        with pytest.raises(Malformed, match="levels deep"):
            AVRO.normalise(parsed)
    finally:
        sys.setrecursionlimit(usual)


@pytest.mark.parametrize("default", ["\\ud800", {}], ids=["string", "object"])
def test_a_long_refused_default_is_cut(default: Any) -> None:
    """A refusal quotes enough to recognise the culprit, and no more."""
    with pytest.raises(Malformed) as malformed:
        new(field("int", default=[default] * 1_000))
    assert len(malformed.value.reason) < 300


@pytest.mark.parametrize("aliases", ["A", None, {}, [None], [["A"]]], ids=str)
def test_aliases_are_a_list_of_strings(aliases: Any) -> None:
    """Aliases of types and of fields."""
    for schema in (field("int", aliases=aliases), {**field("int"), "aliases": aliases}):
        with pytest.raises(Malformed):
            stored(schema)


def test_aliases_count_once() -> None:
    """In the order in which they were first given; an empty list says nothing."""
    schema = new({**field("int", aliases=["x", "y", "x"]), "aliases": []})
    assert schema.canonical.endswith('"aliases":["x","y"]}]}')


def test_a_default_that_does_not_fit_is_kept_where_it_was_stored() -> None:
    """A lenient parse takes it as it is, and normalisation does not touch it."""
    schema = stored(field({"type": "array", "items": "double"}, default={"b": 1, "a": 2}))
    assert AVRO.normalise(schema).canonical == schema.canonical


@pytest.mark.parametrize(
    "type_, default, normal",
    [
        ("double", 1, "1.0"),
        ("float", "NaN", '"NaN"'),
        ("float", 10**400, '"Infinity"'),
        ("double", -(10**400), '"-Infinity"'),
        (["double", "null"], 1, "1.0"),
        (["null", "double"], 1, "1"),
        ({"type": "map", "values": {"type": "array", "items": "float"}}, {"b": [1], "a": []}, '{"a":[],"b":[1.0]}'),
    ],
    ids=str,
)
def test_floating_defaults_have_one_spelling(type_: Any, default: Any, normal: str) -> None:
    """Wherever in the default they stand, unless the default is for a later branch of a union."""
    text = AVRO.normalise(stored(field(type_, default=default))).canonical
    assert text.endswith(f'"default":{normal}}}]}}')
    assert AVRO.normalise(AVRO.parse(text, (), False)).canonical == text


def test_a_second_use_repeats_the_path_of_the_first() -> None:
    """Users see the message twice when a broken type is used twice; the path is where it was met first."""

    def twice(inner: str) -> Parsed:
        shared = {"type": "record", "name": "S", "fields": [{"name": "x", "type": inner}]}
        return new(
            {"type": "record", "name": "R", "fields": [{"name": "a", "type": shared}, {"name": "b", "type": "S"}]}
        )

    found = AVRO.compare(twice("int"), twice("string"))
    assert [finding.path for finding in found] == ["/fields/0/type/fields/0/type"] * 2


def test_a_check_that_runs_out_of_stack_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller deep in its own stack gets a message, not a crash."""

    def exhausted(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(compare.Comparison, "check", exhausted)
    with pytest.raises(CheckAbandoned, match="nested too deeply"):
        AVRO.compare(new("int"), new("int"))
