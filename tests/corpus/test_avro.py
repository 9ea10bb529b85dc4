"""The Avro corpus: examples that a person can read, and what a Confluent registry answered to generated schemas.

avro/ holds a folder for each rule of the checker (before, after, expected) and one for each table of examples.
recorded/ holds a line for each answer. Where ours differs on purpose, the line is marked `divergent`, and DIVERGENT
says what is promised instead.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import LANGUAGES
from sigla.languages.avro import canonical, tags
from sigla.languages.avro.defaults import Fitting
from sigla.languages.avro.parse import read
from sigla.languages.avro.rules import RULES
from sigla.languages.avro.tree import ABSENT, Document, Field, Record, Type, Union
from sigla.model import Finding, Parsed
from tests.corpus.reading import DIRECTIONS, HERE, Line, examples, load, pairs, recorded, resolved

AVRO = LANGUAGES["AVRO"]
CORPUS = HERE / "avro"
RULE_IDS = sorted({rule.id for rule in RULES})


def parsed(text: str, references: list[dict[str, str]] | None = None, *, strict: bool = True) -> Parsed:
    return AVRO.parse(text, resolved(references or []), strict)


def accepted(text: str, *, strict: bool) -> str:
    try:
        parsed(text, strict=strict)
    except Malformed:
        return "reject"
    return "accept"


@pytest.mark.parametrize("example", examples(CORPUS / "parse"))
def test_a_text_is_accepted_or_refused(example: dict[str, Any]) -> None:
    """New schemas are read strictly, stored ones leniently."""
    assert accepted(example["text"], strict=True) == example["strict"]
    assert accepted(example["text"], strict=False) == example["lenient"]


@pytest.mark.parametrize("example", examples(CORPUS / "canonical"))
def test_a_schema_has_one_canonical_and_one_normal_text(example: dict[str, Any]) -> None:
    """The canonical text is what is stored and hashed."""
    schema = parsed(example["text"])
    assert schema.canonical == example["canonical"]
    assert AVRO.normalise(schema).canonical == example["normalised"]


@pytest.mark.parametrize("example", examples(CORPUS / "references"))
def test_references_are_names_until_they_are_resolved(example: dict[str, Any]) -> None:
    """What a reference defines is stored as a name, and inlined on demand."""
    if example.get("refused"):
        with pytest.raises(Malformed):
            parsed(example["text"], example["references"])
        return
    schema = parsed(example["text"], example["references"])
    assert schema.canonical == example["canonical"]
    assert AVRO.render(schema, "resolved") == example["resolved"]
    assert AVRO.render(schema, "anything") == example["canonical"]


@pytest.mark.parametrize("example", examples(CORPUS / "equality"))
def test_spelling_makes_no_difference_and_content_does(example: dict[str, Any]) -> None:
    """Equivalence is what lookup asks; equal digests find the candidates."""
    a, b = parsed(example["a"]), parsed(example["b"])
    assert (a.canonical == b.canonical) is example["same_canonical"]
    assert AVRO.equivalent(a, b) is example["equivalent"]
    assert (AVRO.digest(a) == AVRO.digest(b)) is example["equivalent"]
    assert (AVRO.normalise(a).canonical == AVRO.normalise(b).canonical) is example["same_normalised"]


@pytest.mark.parametrize("folder", pairs(CORPUS / name for name in (*RULE_IDS, "compatible")))
def test_a_change_breaks_the_rules_it_breaks(folder: Path) -> None:
    """before.json is stored, after.json is offered at the level of expected.json."""
    expected = load(folder / "expected.json")
    schemas = {"old": (folder / "before.json").read_text("utf-8"), "new": (folder / "after.json").read_text("utf-8")}
    found = [
        {"rule": finding.rule, "path": finding.path, "detail": finding.detail, "reader": reader}
        for reader, writer in DIRECTIONS[expected["level"]]
        for finding in AVRO.compare(parsed(schemas[reader]), parsed(schemas[writer]))
    ]
    assert found == expected["findings"]
    assert (not found) is expected["compatible"]


@pytest.mark.parametrize("example", examples(CORPUS / "messages"))
def test_findings_are_worded_to_the_letter(example: dict[str, Any]) -> None:
    """Clients match on these sentences; facts are inserted as they are."""
    reader, writer = (parsed(json.dumps(example[role])) for role in ("reader", "writer"))
    if "abandoned" in example:
        with pytest.raises(CheckAbandoned) as abandoned:
            AVRO.compare(reader, writer)
        assert abandoned.value.message == example["abandoned"]
        return
    labels = example["labels"]
    found = [AVRO.sentence(item, labels["reader"], labels["writer"]) for item in AVRO.compare(reader, writer)]
    assert found == example["messages"]


def checked(reader: Parsed, writer: Parsed) -> tuple[tuple[Finding, ...], list[str]]:
    try:
        found = AVRO.compare(reader, writer)
    except CheckAbandoned as abandoned:
        return (), [abandoned.message]
    return found, [AVRO.sentence(finding, "new", "old") for finding in found]


@recorded("pairs_avro")
def test_a_recorded_check_comes_out_the_same(line: Line) -> None:
    """Verdict, kinds in order, and every message to the letter."""
    found, messages = checked(parsed(line["new"]), parsed(line["old"]))
    assert (not messages) is line["compatible"]
    assert [finding.rule for finding in found] == line["kinds"]
    assert messages == line["messages"]


def nodes(document: Document) -> Iterator[Record | Field]:
    return (way[-1] for way in tags.places(document))


def spoil_structure(document: Document) -> None:
    """NZ-8: `error` becomes `record`; a default that fits a later branch of a union is lost.

    Not true and false: those are kept whatever the first branch is.
    """
    fitting = Fitting()
    for node in nodes(document):
        if isinstance(node, Record):
            node.word = "record"
        elif isinstance(node.type, Union) and node.default is not ABSENT:
            default: Any = node.default
            if not isinstance(default, bool) and not fitting.fits(default, node.type.branches[0]):
                node.default = ABSENT


def spoil_bytes(document: Document) -> None:
    """LO-4: what is not Latin-1 in a default of bytes becomes a question mark."""
    for node in nodes(document):
        if isinstance(node, Field):
            default: Any = node.default
            node.default = as_latin(default, node.type)


def as_latin(value: Any, type_: Type) -> Any:
    if isinstance(type_, Union):
        return as_latin(value, type_.branches[0])
    if isinstance(type_, Record) and isinstance(value, dict):
        return {key: as_latin(member, type_.by_name[key].type) for key, member in value.items()}
    if isinstance(value, list):
        return [as_latin(item, getattr(type_, "items", type_)) for item in value]
    if isinstance(value, dict):
        return {key: as_latin(member, getattr(type_, "values", type_)) for key, member in value.items()}
    latin = isinstance(value, str) and type_.kind in ("bytes", "fixed")
    return value.encode("latin-1", "replace").decode("latin-1") if latin else value


def spoiled(text: str) -> str:
    """Our normal form with Confluent's defects put into it. A null namespace within another gets lost too."""
    document = read(text, (), strict=False)
    spoil_structure(document)
    spoil_bytes(document)
    return canonical.canonical(document).replace(',"namespace":""', "")


DIVERGENT = {
    "DV-2": "integers beyond 64 bits are kept: the text is accepted, and has a normal form",
    "DV-3": "nothing is lost in normalisation: Confluent's form follows from ours by its defects",
    "Q-2": "a record's default may be for the record being defined: the text is accepted",
    "Q-3": "characters are kept in normalisation: Confluent's form follows from ours by its defects",
}
"""What is promised on marked lines. A marked text can be wrong for another reason too: then it is refused as well."""


@recorded("canon_avro")
def test_a_recorded_text_is_read_and_printed_the_same(line: Line) -> None:
    """Acceptance, canonical text, normal form; on marked lines what is promised instead."""
    mark = line.get("divergent")
    assert mark is None or mark in DIVERGENT
    try:
        schema = parsed(line["in"])
    except Malformed:
        assert not line["ok"]
        return
    assert line["ok"] or mark in ("DV-2", "Q-2")
    normal = AVRO.normalise(schema).canonical
    assert line["canonical"] in (schema.canonical, None)
    if line["normalized"] not in (normal, None):
        assert mark in ("DV-3", "Q-3")
        assert spoiled(normal) == line["normalized"]
