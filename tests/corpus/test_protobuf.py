"""The Protobuf corpus: examples that a person can read, and what a Confluent registry answered to generated schemas.

protobuf/ holds a folder for each rule of the checker (before, after, expected) and one for each table of examples.
recorded/ holds a line for each answer. Where ours differs on purpose, the line is marked `divergent`, and DIVERGENT
says what is promised instead.
"""

import re
from collections import Counter
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import Malformed
from sigla.languages import protobuf
from sigla.languages.protobuf.rules import RULES
from sigla.model import Finding, Parsed, Resolved
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
    text_of,
)

PROTOBUF = protobuf.LANGUAGE
CORPUS = HERE / "protobuf"


def parsed(text: str, references: list[Resolved] | None = None, *, strict_fields: bool = False) -> Parsed:
    """As a schema that is offered as new."""
    schema = PROTOBUF.parse(text, references or [], True)
    PROTOBUF.validate(schema, strict_fields)
    return schema


def accepted(text: str, references: list[Resolved] | None = None, *, strict_fields: bool = False) -> str:
    try:
        parsed(text, references, strict_fields=strict_fields)
    except Malformed:
        return "reject"
    return "accept"


@pytest.mark.parametrize("example", examples(CORPUS / "parse"))
def test_a_text_is_accepted_or_refused(example: dict[str, Any]) -> None:
    """Names must be found; what only a compiler would mind is refused where fields are validated strictly."""
    assert accepted(example["text"]) == example["default"]
    assert accepted(example["text"], strict_fields=True) == example["strict_fields"]


@pytest.mark.parametrize("example", examples(CORPUS / "canonical"))
def test_a_schema_has_one_canonical_and_one_normal_text(example: dict[str, Any]) -> None:
    """The canonical text is what is stored and hashed; reading it again changes nothing."""
    schema = parsed(text_of(example["text"]))
    assert schema.canonical == text_of(example["canonical"])
    normal = PROTOBUF.normalise(schema)
    assert normal.canonical == text_of(example["normalised"])
    assert parsed(schema.canonical).canonical == schema.canonical
    assert PROTOBUF.normalise(normal).canonical == normal.canonical


@pytest.mark.parametrize("example", examples(CORPUS / "formats"))
def test_a_schema_can_be_had_in_other_forms(example: dict[str, Any]) -> None:
    assert PROTOBUF.render(parsed(example["text"]), example["format"]) == text_of(example["rendered"])


@pytest.mark.parametrize("example", examples(CORPUS / "references"))
def test_names_are_found_in_the_file_and_in_what_it_references(example: dict[str, Any]) -> None:
    """The normal form says what a name was found to mean."""
    for each in example["examples"]:
        references = resolved(each["references"])
        assert accepted(each["text"], references) == each["default"], each["text"]
        assert accepted(each["text"], references, strict_fields=True) == each["strict_fields"], each["text"]
        if "normalised" in each:
            assert PROTOBUF.normalise(parsed(each["text"], references)).canonical == text_of(each["normalised"])


@pytest.mark.parametrize("example", examples(CORPUS / "equality"))
def test_spelling_makes_no_difference_and_content_does(example: dict[str, Any]) -> None:
    """Equivalence is what lookup asks; equal digests find the candidates."""
    a, b = parsed(example["a"]), parsed(example["b"])
    assert (a.canonical == b.canonical) is example["same_canonical"]
    assert PROTOBUF.equivalent(a, b) is example["equivalent"]
    assert (PROTOBUF.digest(a) == PROTOBUF.digest(b)) is example["equivalent"]
    assert (PROTOBUF.normalise(a).canonical == PROTOBUF.normalise(b).canonical) is example["same_normalised"]


def different_definitions(_shared: str, left: str, right: str) -> bool:
    """F: the order of differences of different messages is free. Here their names, and no others, begin in capitals."""
    return bool(left and right) and (left[0].isupper() or right[0].isupper())


def listed(findings: tuple[Finding, ...]) -> list[Difference]:
    return [(item.rule, item.path) for item in findings]


def side(folder: Path, name: str, expected: dict[str, Any]) -> Parsed:
    """`before.proto`, and what it references, in resolution order, from the folder `before`. So for `after`."""
    names = expected.get("references", {}).get(name, ())
    references = [Resolved(each, (folder / name / each).read_text("utf-8")) for each in names]
    return parsed((folder / f"{name}.proto").read_text("utf-8"), references)


@pytest.mark.parametrize("folder", pairs(rule_folders(CORPUS)))
def test_a_change_makes_the_differences_it_makes(folder: Path) -> None:
    """before.proto is stored, after.proto is offered at the level of expected.json."""
    expected = load(folder / "expected.json")
    schemas = {"old": side(folder, "before", expected), "new": side(folder, "after", expected)}
    for reader, writer in DIRECTIONS[expected["level"]]:
        awaited = [item for item in expected["differences"] if item["reader"] == reader]
        listing = [(item["rule"], item["path"]) for item in awaited]
        breaking = [(item["rule"], item["path"]) for item in awaited if not item["compatible"]]
        found = protobuf.differences(schemas[reader], schemas[writer])
        assert_same(listed(found), listing, different_definitions)
        hindering = PROTOBUF.compare(schemas[reader], schemas[writer])
        assert_same(listed(hindering), breaking, different_definitions)
    assert all(item["compatible"] for item in expected["differences"]) is expected["compatible"]


@pytest.mark.parametrize("rule", sorted(rule.id for rule in RULES))
def test_a_folder_shows_its_rule_and_a_sentence_names_the_place(rule: str) -> None:
    """A.4: kind and path stand in the sentence as they are, and who is the reader can be told."""
    for finding in shown(CORPUS / rule):
        sentence = PROTOBUF.sentence(finding, "new", "old")
        assert sentence.startswith(f'{{errorType:"{rule}", description:"')
        assert sentence.endswith('"}')
        assert f"'{finding.path}'" in sentence
        assert PROTOBUF.sentence(finding, "old", "new") == exchanged(sentence) != sentence


# --- recorded answers -------------------------------------------------------------------------------------------------

DIVERGENT = {
    "DV-11": "defaults of bytes are quoted: Confluent's text follows from ours without the quotes, if it has one",
    "DV-12": "numbers keep all their digits: Confluent's normal form follows from ours by rounding",
    "LO-7": "a group may have options in brackets: the text is accepted, and its canonical text too",
    "Q-1": "a comment may stand anywhere: the text is accepted, and its canonical text too",
}
"""What is promised on marked lines. A marked text can be wrong for another reason too: then it is refused as well."""


@recorded("pairs_protobuf")
def test_a_recorded_check_comes_out_the_same(line: Line) -> None:
    """Verdict and kinds."""
    found = PROTOBUF.compare(parsed(line["new"]), parsed(line["old"]))
    assert Counter(finding.rule for finding in found) == Counter(line["kinds"])
    assert (not found) is line["compatible"]


DEFAULT_OF_BYTES = re.compile(r'( bytes \w+ = \d+ \[(?:[^"\]]|"(?:[^"\\]|\\.)*")*?default = )"((?:[^"\\]|\\.)*)"')
LONG_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{4,}(?![\w.])")


def unquoted(text: str) -> str:
    """DV-11: a default of bytes as its bare characters; what follows a line's end in it is indented."""
    return DEFAULT_OF_BYTES.sub(lambda found: found[1] + bare(found[2]).replace("\n", f"\n{margin(found)}"), text)


def bare(written: str) -> str:
    return re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), written)


def margin(found: re.Match[str]) -> str:
    line = found.string[: found.end(1)].rpartition("\n")[2]
    return " " * (len(line) - len(line.lstrip()))


def rounded(text: str) -> str:
    """DV-12: three decimals at most."""
    return LONG_NUMBER.sub(lambda number: three_decimals(Decimal(number[0])), text)


def three_decimals(number: Decimal) -> str:
    text = str(number.quantize(Decimal("0.001"), ROUND_HALF_EVEN))
    return text.rstrip("0").rstrip(".")


@recorded("canon_protobuf")
def test_a_recorded_text_is_read_and_printed_the_same(line: Line) -> None:
    """Acceptance, canonical text, normal form; on marked lines what is promised instead."""
    mark = line.get("divergent")
    assert mark is None or mark in DIVERGENT
    try:
        schema = parsed(line["in"])
    except Malformed:
        assert not line["ok"]
        return
    assert line["ok"] or mark
    normal = PROTOBUF.normalise(schema)
    assert parsed(schema.canonical).canonical == schema.canonical
    assert PROTOBUF.normalise(normal).canonical == normal.canonical
    if line["ok"]:
        bare_bytes = unquoted if mark == "DV-11" else str
        short = rounded if mark == "DV-12" else str
        assert bare_bytes(schema.canonical) == line["canonical"]
        assert bare_bytes(short(normal.canonical)) == line["normalized"]
