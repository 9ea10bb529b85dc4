"""The JSON Schema corpus: examples that a person can read, and what a Confluent registry answered to generated schemas.

json_schema/ holds a folder for each rule of the checker (before, after, expected) and one for each table of examples.
recorded/ holds a line for each answer. Where ours differs on purpose, the line is marked `divergent`, and DIVERGENT
says what is promised instead.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from sigla.errors import Malformed
from sigla.languages import json_schema
from sigla.languages.json_schema import load as loader
from sigla.languages.json_schema.nodes import Combined, Conditional, Const, Node, Reference, Schema
from sigla.languages.json_schema.rules import RULES
from sigla.model import Finding, Parsed
from tests.corpus.reading import (
    DIRECTIONS,
    HERE,
    Difference,
    Line,
    assert_same,
    examples,
    exchanged,
    load,
    pairs,
    recorded,
    resolved,
    rule_folders,
    shown,
)

JSON = json_schema.LANGUAGE
CORPUS = HERE / "json_schema"


def parsed(text: str, references: list[dict[str, str]] | None = None, *, strict_fields: bool = False) -> Parsed:
    """As a schema that is offered as new."""
    schema = JSON.parse(text, resolved(references or []), True)
    JSON.validate(schema, strict_fields)
    return schema


def accepted(text: str, references: list[dict[str, str]] | None = None, *, strict_fields: bool = False) -> bool:
    try:
        parsed(text, references, strict_fields=strict_fields)
    except Malformed:
        return False
    return True


@pytest.mark.parametrize("example", examples(CORPUS / "parse"))
def test_a_text_is_accepted_or_refused(example: dict[str, Any]) -> None:
    """What a draft does not know is not looked at; what it knows has to be readable."""
    for each in example["texts"]:
        assert accepted(each["text"]) is (each["expected"] == "accept"), each
        if "strict_fields" in example:
            assert accepted(each["text"], strict_fields=True) is (example["strict_fields"] == "accept"), each


@pytest.mark.parametrize("example", examples(CORPUS / "canonical"))
def test_a_schema_has_one_canonical_and_one_normal_text(example: dict[str, Any]) -> None:
    """The canonical text is what is stored and hashed. There is no other form."""
    schema = parsed(example["text"])
    assert schema.canonical == example["canonical"]
    assert JSON.normalise(schema).canonical == example["normalised"]
    assert JSON.render(schema, "resolved") == example["canonical"]


@pytest.mark.parametrize("example", examples(CORPUS / "equality"))
def test_spelling_makes_no_difference_and_content_does(example: dict[str, Any]) -> None:
    """Equivalence is what lookup asks; equal digests find the candidates."""
    a, b = parsed(example["a"]), parsed(example["b"])
    assert (a.canonical == b.canonical) is example["same_canonical"]
    assert JSON.equivalent(a, b) is example["equivalent"]
    assert (JSON.digest(a) == JSON.digest(b)) is example["equivalent"]
    assert (JSON.normalise(a).canonical == JSON.normalise(b).canonical) is example["same_normalised"]


@pytest.mark.parametrize("example", examples(CORPUS / "references"))
def test_a_reference_is_found_or_the_schema_refused(example: dict[str, Any]) -> None:
    """What is found is what is meant: the schema says the same as one with the target written in its place."""
    for each in example["examples"]:
        references = each["references"]
        for draft, text in each["texts"].items():
            assert accepted(text, references) is (example["expected"][draft] == "resolves"), text
        for draft, text in each.get("means", {}).items():
            written, meant = parsed(each["texts"][draft], references), parsed(text)
            assert json_schema.differences(written, meant) == ()
            assert json_schema.differences(meant, written) == ()


def one_of_several(shared: str, left: str, right: str) -> bool:
    """F: the order of differences of different properties is free."""
    return shared in {"properties", "required", "dependencies"} and bool(left and right)


def without_index(path: str) -> str:
    """JL-1: the index of a conjunct in a conjunction that the loader made is free."""
    return re.sub(r"/allOf/\d+(?=/|$)", "/allOf/*", path)


def listed(findings: tuple[Finding, ...], expected: list[Difference]) -> list[Difference]:
    free_index = any("*" in path for _, path in expected)
    return [(item.rule, without_index(item.path) if free_index else item.path) for item in findings]


@pytest.mark.parametrize("folder", pairs(rule_folders(CORPUS)))
def test_a_change_makes_the_differences_it_makes(folder: Path) -> None:
    """before.json is stored, after.json is offered at the level and policy of expected.json."""
    expected = load(folder / "expected.json")
    schemas = {
        "old": parsed((folder / "before.json").read_text("utf-8")),
        "new": parsed((folder / "after.json").read_text("utf-8")),
    }
    policy = expected["policy"]
    for reader, writer in DIRECTIONS[expected["level"]]:
        awaited = [item for item in expected["differences"] if item["reader"] == reader]
        listing = [(item["rule"], item["path"]) for item in awaited]
        breaking = [(item["rule"], item["path"]) for item in awaited if not item["compatible"]]
        found = json_schema.differences(schemas[reader], schemas[writer], None, policy)
        hindering = JSON.compare(schemas[reader], schemas[writer], None, policy)
        if expected.get("recursive"):  # C.9: the same defect appears at several depths, however often
            assert {item.rule for item in found} == {rule for rule, _ in listing}
            assert {item.rule for item in hindering} == {rule for rule, _ in breaking}
            assert set(listing) <= set(listed(found, listing))
        else:
            assert_same(listed(found, listing), listing, one_of_several)
            assert_same(listed(hindering, breaking), breaking, one_of_several)
    assert all(item["compatible"] for item in expected["differences"]) is expected["compatible"]


@pytest.mark.parametrize("rule", sorted(rule.id for rule in RULES))
def test_a_folder_shows_its_rule_and_a_sentence_names_the_place(rule: str) -> None:
    """A.4: kind and path stand in the sentence as they are, and who is the reader can be told."""
    for finding in shown(CORPUS / rule):
        sentence = JSON.sentence(finding, "new", "old")
        assert sentence.startswith(f'{{errorType:"{rule}", description:"')
        assert sentence.endswith("'}")
        assert f"'{finding.path}'" in sentence
        assert JSON.sentence(finding, "old", "new") == exchanged(sentence) != sentence


# --- recorded answers -------------------------------------------------------------------------------------------------

DIVERGENT = {
    "DV-6": "unknown keywords hide nothing: Confluent's answer follows from ours once they do",
    "DV-7": "a conjunction stays one branch: Confluent's answer follows from ours once it is taken apart",
    "DV-8": "references are followed to their end: Confluent's answer follows from ours once they end after one hop",
    "DV-9": "a lowered exclusiveMaximum is seen as such: none of these lines has one that Confluent does not see",
    "DV-15": "a reference may be spelt in the way of any draft: none of these texts would have a target even so",
}
"""What is promised on marked lines. Marks go by the look of a schema, so that most of these lines agree anyway."""


HIDING = {"$defs", "definitions", "x-note"}
HIDDEN = {"unevaluatedProperties", "unevaluatedItems", "contains"}


def without_hidden(value: Any) -> Any:
    """DV-6: beside an unknown keyword, or definitions, some keywords are not read."""
    if isinstance(value, list):
        return [without_hidden(item) for item in value]
    if not isinstance(value, dict):
        return value
    hidden = HIDDEN if HIDING & value.keys() else set()
    return {word: without_hidden(item) for word, item in value.items() if word not in hidden}


def tree(schema: Parsed) -> Schema:
    return loader.root(cast("loader.Document", schema.tree))


def nodes(root: Schema) -> Iterator[Schema]:
    """Every node that can be reached, once."""
    met: dict[int, Schema] = {}
    waiting: list[Any] = [root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, Node) and id(item) not in met:
            node = met[id(item)] = cast("Schema", item)
            yield node
            waiting += (getattr(node, slot, None) for kind in type(node).__mro__ for slot in slots(kind))


def slots(kind: type) -> tuple[str, ...]:
    return getattr(kind, "__slots__", ())


def take_apart(node: Schema) -> None:
    """DV-7: the conjuncts of a branch become branches themselves."""
    if isinstance(node, Combined) and not node.synthetic:
        node.members = [part for member in node.members for part in conjuncts(member)]


def conjuncts(member: Schema) -> list[Schema]:
    return member.members if isinstance(member, Combined) and member.synthetic else [member]


def end_after_one_hop(node: Schema) -> None:
    """DV-8: where a reference leads to another, that one is all there is to see."""
    if isinstance(node, Reference) and isinstance(node.target, Reference):
        node.target = Conditional(Const(node.target.name), None, None)


def spoiled(text: str) -> Parsed:
    """The schema as Confluent reads it, with its defects."""
    value = json.loads(text)
    modern = "/draft/20" in value.get("$schema", "")
    schema = parsed(json.dumps(without_hidden(value)) if modern else text)
    for node in list(nodes(tree(schema))):
        end_after_one_hop(node)
        if modern:
            take_apart(node)
    return schema


def recursive(schema: Parsed) -> bool:
    every = nodes(tree(schema))
    return any(isinstance(node, Reference) and any(met is node for met in nodes(node.target)) for node in every)


def answers(reader: Parsed, writer: Parsed, line: dict[str, Any]) -> bool:
    """The recorded verdict and kinds; how often a kind is met in recursive schemas is free (C.9)."""
    kinds = [finding.rule for finding in JSON.compare(reader, writer)]
    if (not kinds) is not line["compatible"] or set(kinds) != set(line["kinds"]):
        return False
    return Counter(kinds) == Counter(line["kinds"]) or (recursive(reader) and recursive(writer))


@recorded("pairs_json")
def test_a_recorded_check_comes_out_the_same(line: Line) -> None:
    """Verdict and kinds; on marked lines perhaps only once Confluent's defects were put into the schemas."""
    mark = line.get("divergent")
    assert mark is None or mark in DIVERGENT
    same = answers(parsed(line["new"]), parsed(line["old"]), line)
    assert same or (mark and answers(spoiled(line["new"]), spoiled(line["old"]), line))


@recorded("canon_json")
def test_a_recorded_text_is_read_and_printed_the_same(line: Line) -> None:
    """Acceptance, canonical text, normal form."""
    mark = line.get("divergent")
    assert mark is None or mark in DIVERGENT
    try:
        schema = parsed(line["in"])
    except Malformed:
        assert not line["ok"]
        return
    assert line["ok"]
    assert schema.canonical == line["canonical"]
    assert JSON.normalise(schema).canonical == line["normalized"]
