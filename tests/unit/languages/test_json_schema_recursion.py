"""Schemas that contain themselves, chains of references, and how deep and how long a comparison may go."""

from typing import Any

import pytest

from sigla.contract import STRICT
from sigla.errors import CheckAbandoned
from sigla.languages.json_schema import compare
from sigla.languages.json_schema.nodes import Reference
from sigla.languages.json_schema.outcome import Check
from sigla.languages.language import Budget
from tests.unit.languages.json_schema_pairs import differences, incompatibilities, is_compatible, node


def listed(value: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "v": {"type": value}},
        "additionalProperties": False,
    }


def chain(length: int, last: Any) -> dict[str, Any]:
    """Each definition refers to the next one, twice."""
    links = {
        f"D{i}": {"properties": {"n": {"$ref": f"#/definitions/D{i + 1}"}, "m": {"$ref": f"#/definitions/D{i + 1}"}}}
        for i in range(length)
    }
    return {"$ref": "#/definitions/D0", "definitions": {**links, f"D{length}": last}}


def test_a_recursive_schema_is_compatible_with_itself() -> None:
    assert differences(listed("integer"), listed("integer")) == []


def test_what_is_safe_at_one_depth_is_safe_at_all() -> None:
    assert is_compatible(listed("integer"), listed("number"))


def test_what_harms_at_one_depth_harms_at_all() -> None:
    """It is told where it is, and may be told again further down."""
    found = incompatibilities(listed("number"), listed("integer"))
    assert ("TYPE_NARROWED", "#/properties/v") in found
    assert {kind for kind, _ in found} == {"TYPE_NARROWED"}


def test_an_assumption_that_proves_wrong_is_not_kept() -> None:
    """A first look at `peer` relies on the root being compatible; the root is not, so the member does not match it."""

    def schema(value: str) -> dict[str, Any]:
        return {
            "properties": {
                "first": {"oneOf": [{"type": "string"}, {"properties": {"up": {"$ref": "#"}}}]},
                "value": {"type": value},
            }
        }

    found = incompatibilities(schema("number"), schema("integer"))
    assert ("TYPE_NARROWED", "#/properties/value") in found
    assert ("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/properties/first") in found


def test_definitions_that_refer_to_each_other() -> None:
    def schema(value: str) -> dict[str, Any]:
        return {
            "$ref": "#/definitions/A",
            "definitions": {
                "A": {"properties": {"b": {"$ref": "#/definitions/B"}}},
                "B": {"properties": {"a": {"$ref": "#/definitions/A"}, "v": {"type": value}}},
            },
        }

    assert is_compatible(schema("integer"), schema("number"))
    assert ("TYPE_NARROWED", "#/properties/b/properties/v") in incompatibilities(schema("number"), schema("integer"))


def test_a_schema_that_is_not_itself_comes_to_an_end() -> None:
    """It means nothing, and must not keep a worker."""
    liar = {"not": {"$ref": "#"}}
    assert is_compatible(liar, liar)
    assert not is_compatible(liar, {"not": {"properties": {"a": {"$ref": "#"}}}})


def test_cycles_of_different_lengths_meet() -> None:
    """A list written as pairs of links, and one written link by link."""
    single = {"properties": {"n": {"$ref": "#"}, "v": {"type": "string"}}}
    double = {
        "properties": {"n": {"properties": {"n": {"$ref": "#"}, "v": {"type": "string"}}}, "v": {"type": "string"}}
    }
    assert differences(single, double) == differences(double, single) == []


def test_a_reference_is_followed_to_its_end() -> None:
    """DV-8: through other references, on one side or both."""

    def via(value: str) -> dict[str, Any]:
        return {"$ref": "#/definitions/A", "definitions": {"A": {"$ref": "#/definitions/B"}, "B": {"type": value}}}

    assert differences(via("string"), via("integer")) == [("TYPE_CHANGED", "#/")]
    assert differences(via("string"), {"type": "string"}) == differences({"type": "string"}, via("string")) == []


def test_references_that_reach_only_each_other_are_anything() -> None:
    """`{"$ref": "#"}` says nothing at all (C.6, step 2)."""
    circle = {
        "$ref": "#/definitions/A",
        "definitions": {"A": {"$ref": "#/definitions/B"}, "B": {"$ref": "#/definitions/A"}},
    }
    assert differences({"type": "string"}, circle) == []
    assert differences(circle, {"type": "string"}) == [("TYPE_CHANGED", "#/")]
    assert differences(circle, {}) == differences({"$ref": "#"}, circle) == []


def test_what_is_known_of_a_pair_is_not_found_out_again() -> None:
    """2^300 paths lead to the end of the chain."""
    assert differences(chain(300, {"type": "string"}), chain(300, {"type": "string"})) == []


def test_where_too_many_paths_lead_to_harm_the_first_are_told() -> None:
    """One is enough to refuse; all of them would take for ever."""
    found = incompatibilities(chain(300, {"type": "number"}), chain(300, {"type": "integer"}))
    assert found[0] == ("TYPE_NARROWED", "#" + "/properties/m" * 300)
    assert 1 < len(found) < 10_000


def test_paths_to_what_does_no_harm_are_not_even_counted() -> None:
    assert incompatibilities(chain(300, {"type": "integer"}), chain(300, {"type": "number"})) == []


def test_a_list_of_all_differences_is_complete_or_abandoned() -> None:
    """Cut off, it could lack the one that decides."""
    with pytest.raises(CheckAbandoned):
        differences(chain(300, {"type": "integer"}), chain(300, {"type": "number"}))


def test_references_may_reach_deeper_than_the_stack() -> None:
    """3,000 definitions, each inside the one before."""
    assert incompatibilities(chain(3000, {"type": "integer"}), chain(3000, {"type": "string"}))
    assert is_compatible(chain(3000, {"type": "string"}), chain(3000, {"type": "string"}))


def test_two_cycles_that_hardly_ever_meet_are_abandoned() -> None:
    """Of 701 and 700 definitions: 490,700 pairs within each other."""

    def cycle(length: int) -> dict[str, Any]:
        names = [f"D{i}" for i in range(length)]
        after = dict(zip(names, [*names[1:], names[0]], strict=True))
        links = {name: {"properties": {"n": {"$ref": f"#/definitions/{after[name]}"}}} for name in names}
        return {"$ref": "#/definitions/D0", "definitions": links}

    with pytest.raises(CheckAbandoned, match="nested more than"):
        incompatibilities(cycle(701), cycle(700))


def test_work_is_paid_for() -> None:
    """A check has so many steps, and no more."""
    reader, writer = node(listed("integer")), node(listed("number"))
    with pytest.raises(CheckAbandoned, match="steps"):
        compare.differences(reader, writer, Budget(5), STRICT)
    budget = Budget()
    compare.differences(reader, writer, budget, STRICT)
    assert budget.left < Budget().left


def test_a_long_chain_of_bare_references_is_walked_once() -> None:
    """Each link is remembered where it ends, however often it is met."""
    links = [Reference(f"#/definitions/D{i}") for i in range(1000)]
    end = node({"type": "string"})
    for link, following in zip(links, [*links[1:], end], strict=True):
        link.target = following
    budget = Budget()
    comparison = compare.Comparison(Check(frozenset(), budget.spend))
    for link in links:
        assert comparison.end(link) is end
    assert Budget().left - budget.left <= 2 * len(links)
