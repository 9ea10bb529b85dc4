"""What holds for every pair of JSON Schemas, whatever they are."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sigla.contract import STRICT
from sigla.languages.json_schema import compare
from sigla.languages.json_schema.nodes import Reference, Schema
from sigla.languages.json_schema.outcome import Check, Outcome, spelt
from sigla.languages.json_schema.rules import LENIENT, compatible
from sigla.languages.language import Budget
from tests.unit.languages.json_schema_pairs import (
    differences,
    incompatibilities,
    is_compatible,
    kinds_and_paths,
    node,
    recursive,
    schemas,
)

SCHEMAS = schemas()
PLAIN = schemas(negations=False)
RECURSIVE = recursive()
POLICIES = st.sampled_from([STRICT, LENIENT])


def sorted_keys(schema: Any) -> str:
    return json.dumps(schema, sort_keys=True)


@given(PLAIN)
def test_a_schema_does_not_differ_from_itself(schema: Any) -> None:
    """Nor from an equal copy, nor from itself under another order of its keys."""
    same = node(schema)
    assert compare.differences(same, same, Budget(), STRICT) == ()
    assert differences(schema, json.loads(json.dumps(schema))) == []
    assert differences(schema, sorted_keys(schema)) == []


@given(SCHEMAS | RECURSIVE)
def test_every_schema_reads_its_own_data(schema: Any) -> None:
    """With `not`, something may be told, but nothing that does harm."""
    assert incompatibilities(schema, schema) == []


@given(SCHEMAS, SCHEMAS, POLICIES)
def test_the_order_of_keys_changes_no_verdict(old: Any, new: Any, policy: str) -> None:
    """Nor do the kinds change; findings may come in another order."""
    plain = sorted(incompatibilities(old, new, policy))
    assert sorted(kind for kind, _ in incompatibilities(sorted_keys(old), sorted_keys(new), policy)) == [
        kind for kind, _ in plain
    ]


@given(PLAIN, PLAIN)
def test_lenient_accepts_what_strict_accepts(old: Any, new: Any) -> None:
    """More kinds are harmless, and no fewer members pair off. Only `not` turns that round."""
    assert not is_compatible(old, new, STRICT) or is_compatible(old, new, LENIENT)


@given(SCHEMAS | RECURSIVE, SCHEMAS | RECURSIVE, POLICIES)
def test_what_hinders_is_what_differs_and_does_harm(old: Any, new: Any, policy: str) -> None:
    harmful = [found for found in differences(old, new, policy) if found[0] not in compatible(policy)]
    assert incompatibilities(old, new, policy) == harmful


def compared_without_memory(reader: Schema, writer: Schema, check: Check) -> Outcome:
    """The same walks, each pair walked anew each time: what the differ does, without its driver."""
    reader, writer = (each.target if isinstance(each, Reference) else each for each in (reader, writer))
    if reader.kind not in compare.WALKS and writer.kind not in compare.WALKS:
        return compare.judged(reader, writer, check)
    walk = compare.walked(reader, writer, check)
    try:
        asked = next(walk)
        while True:
            asked = walk.send(compared_without_memory(*asked, check))
    except StopIteration as finished:
        outcome: Outcome = finished.value
        return outcome


@given(SCHEMAS, SCHEMAS, SCHEMAS, POLICIES)
def test_what_is_remembered_changes_nothing(old: Any, new: Any, shared: Any, policy: str) -> None:
    """Neither verdicts nor findings: references bring the same pairs up again and again."""

    def twice(schema: Any) -> Any:
        return {
            "properties": {"a": {"$ref": "#/definitions/S"}, "b": {"$ref": "#/definitions/S"}, "c": schema},
            "oneOf": [{"$ref": "#/definitions/S"}, {"properties": {"c": {"$ref": "#/definitions/S"}}}, schema],
            "definitions": {"S": schema, "T": shared},
        }

    reader, writer = node(twice(new)), node(twice(old))
    check = Check(compatible(policy), Budget().spend)
    naive = tuple(spelt(compared_without_memory(reader, writer, check), check, harmful_only=False))
    assert differences(twice(old), twice(new), policy) == kinds_and_paths(naive)


@given(RECURSIVE, RECURSIVE, POLICIES)
def test_recursive_schemas_come_to_an_end(old: Any, new: Any, policy: str) -> None:
    """Well before the budget does."""
    reader, writer = node(new), node(old)
    budget = Budget(100_000)
    compare.incompatibilities(reader, writer, budget, policy)
    assert budget.left > 0


@given(RECURSIVE, RECURSIVE)
def test_the_verdict_on_recursive_schemas_is_that_on_their_unfolding(old: Any, new: Any) -> None:
    """One copy of the schema outside, which then goes on as before: the same data."""

    def unfolded(schema: Any) -> Any:
        definitions = {**schema["definitions"], "Root": {**schema, "definitions": {}}}
        inner = json.loads(json.dumps(definitions).replace('"$ref": "#"', '"$ref": "#/definitions/Root"'))
        return {**schema, **{key: inner["Root"][key] for key in schema if key != "definitions"}, "definitions": inner}

    assert is_compatible(unfolded(old), new) == is_compatible(old, unfolded(new)) == is_compatible(old, new)
