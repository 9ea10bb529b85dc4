"""What holds for everything that is told of two schemas, in all three languages."""

import json
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.largest import SHAPES, text
from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import LANGUAGES
from sigla.languages.language import MAX_STEPS, Budget
from sigla.languages.outline import MOST_CHANGES, changes
from sigla.model import Finding, Metadata, Parsed, Reference, Resolved, Rule, RuleSet, Schema, Version
from sigla.rules.difference import Difference, Sameness, difference
from tests.corpus.reading import recorded_lines
from tests.unit.languages import avro_schemas, json_schema_pairs
from tests.unit.languages.test_protobuf_compare_properties import texts as protobuf_texts

TEXTS = {
    "AVRO": avro_schemas.texts(),
    "JSON": (json_schema_pairs.schemas() | json_schema_pairs.recursive()).map(json.dumps),
    "PROTOBUF": protobuf_texts(complete=True),
}
RECORDED = {"AVRO": "pairs_avro", "JSON": "pairs_json", "PROTOBUF": "pairs_protobuf"}
PAIRS = [pytest.param(name, st.tuples(strategy, strategy), id=name) for name, strategy in TEXTS.items()]


def parsed(language: str, text: str, *references: Resolved) -> Parsed:
    return LANGUAGES[language].parse(text, references, False)


def between(language: str, old: str, new: str) -> Difference:
    return difference(parsed(language, old), parsed(language, new), LANGUAGES)


def normal(language: str, text: str) -> str:
    """Normalised, and read and normalised again: a blank line that stays where Protobuf's empty oneofs were goes."""
    once = LANGUAGES[language].normalise(parsed(language, text))
    return LANGUAGES[language].normalise(parsed(language, once.canonical)).canonical


def unaccounted(told: Difference) -> Iterator[tuple[str, str]]:
    """The findings that no change is marked with."""
    for reading, marks in ((told.backward, "backward"), (told.forward, "forward")):
        marked = {rule for seen in told.changes for rule in getattr(seen, marks)}
        yield from (
            (each.finding.rule, each.finding.path) for each in reading.findings if each.finding.rule not in marked
        )


def check_pair(language: str, old: str, new: str) -> None:
    with suppress(CheckAbandoned):
        told = between(language, old, new)
        is_same = normal(language, old) == normal(language, new)
        assert (not told.changes) is is_same, (old, new)
        assert (told.sameness in (Sameness.IDENTICAL, Sameness.SPELLING)) is is_same
        if told.changes:
            assert list(unaccounted(told)) == [], (old, new)


@pytest.mark.parametrize("language", TEXTS)
@given(data=st.data())
def test_changes_are_told_where_and_only_where_the_schemas_are_not_the_same(language: str, data: st.DataObject) -> None:
    """The same by the registry's own idea: equal once normalised. And whatever hinders a reader is some change."""
    check_pair(language, data.draw(TEXTS[language]), data.draw(TEXTS[language]))


@pytest.mark.parametrize("language", TEXTS)
@given(data=st.data())
def test_between_a_schema_and_its_normal_form_is_nothing(language: str, data: st.DataObject) -> None:
    """What normalising does is spelling."""
    given_ = data.draw(TEXTS[language])
    with suppress(CheckAbandoned, Malformed):
        old = parsed(language, given_)
        told = difference(old, LANGUAGES[language].normalise(old), LANGUAGES)
        assert told.changes == ()
        assert difference(old, old, LANGUAGES).sameness is Sameness.IDENTICAL


@pytest.mark.parametrize("language", RECORDED)
def test_every_recorded_finding_is_put_down_to_a_change(language: str) -> None:
    """A rule without its change would leave the reader of a diff to guess; every tenth pair of a Confluent registry."""
    for line in recorded_lines(RECORDED[language])[::10]:
        check_pair(language, line["old"], line["new"])


@pytest.mark.soak
@pytest.mark.parametrize("language", RECORDED)
def test_every_recorded_pair_can_be_told(language: str) -> None:
    """All of them, in both directions."""
    for line in recorded_lines(RECORDED[language]):
        check_pair(language, line["old"], line["new"])
        check_pair(language, line["new"], line["old"])


@pytest.mark.parametrize("language", TEXTS)
def test_the_verdicts_are_those_of_the_check(language: str) -> None:
    """Whoever reads a diff before registering is told what registering will say."""
    for line in recorded_lines(RECORDED[language])[::25]:
        old, new = parsed(language, line["old"]), parsed(language, line["new"])
        told = difference(old, new, LANGUAGES)
        for reading, reader, writer in ((told.backward, new, old), (told.forward, old, new)):
            findings, given_up = checked(language, reader, writer)
            assert (tuple(each.finding for each in reading.findings), reading.given_up) == (findings, given_up)
            assert reading.compatible is (not findings and given_up is None)


def checked(language: str, reader: Parsed, writer: Parsed) -> tuple[tuple[Finding, ...], str | None]:
    try:
        return LANGUAGES[language].compare(reader, writer), None
    except CheckAbandoned as given_up:
        return (), given_up.message


def test_two_languages_have_one_change_between_them() -> None:
    """No reader of one reads the other, so nothing else is worth a line."""
    told = difference(parsed("AVRO", '"string"'), parsed("JSON", '{"type":"string"}'), LANGUAGES)
    assert [(seen.change.was, seen.change.now) for seen in told.changes] == [("AVRO", "JSON")]
    assert not told.backward.compatible
    assert not told.forward.compatible


REFERENCED = '{{"type":"record","name":"Money","fields":[{{"name":"cents","type":"{}"}}]}}'


def test_what_changed_in_a_reference_is_told_as_well() -> None:
    """The text may be the same to the letter, and its readers break."""
    using = '{"type":"record","name":"Order","fields":[{"name":"total","type":"Money"}]}'
    old, new = (parsed("AVRO", using, Resolved("m", REFERENCED.format(type_))) for type_ in ("long", "int"))
    assert old.canonical == new.canonical
    (seen,) = difference(old, new, LANGUAGES).changes
    assert (seen.change.path, seen.change.was, seen.change.now) == ("Money/fields/cents/type", "long", "int")
    assert seen.backward == ("TYPE_MISMATCH",)


def test_a_document_that_is_referenced_stands_beside_the_one_that_uses_it() -> None:
    """Paths of changes begin with the name of the reference."""
    using = '{"properties":{"total":{"$ref":"money.json"}}}'
    old, new = (
        parsed("JSON", using, Resolved("money.json", json.dumps({"type": kind}))) for kind in ("integer", "null")
    )
    (seen,) = difference(old, new, LANGUAGES).changes
    assert (seen.change.path, seen.backward, seen.forward) == ("money.json/type", ("TYPE_CHANGED",), ("TYPE_CHANGED",))


def test_what_versions_say_beside_their_text_is_told_behind_it() -> None:
    """Versions that differ in their metadata or rules alone have the same schema, and are not the same."""
    text_ = parsed("AVRO", '"string"')
    rule = Rule(name="mask", type="CEL", on_failure="DLQ")
    old = Schema("AVRO", '"string"', (Reference("m", "money", Version(1)),), Metadata(properties={"owner": "ada"}))
    new = Schema(
        "AVRO",
        '"string"',
        (Reference("m", "money", Version(2)),),
        Metadata(properties={"owner": "bob"}),
        RuleSet(domain=(rule,)),
    )
    told = difference(text_, text_, LANGUAGES, versions=(old, new))
    assert told.sameness is Sameness.IDENTICAL
    assert [(seen.change.kind, seen.change.path) for seen in told.changes] == [
        ("changed", "(references)/m"),
        ("changed", "(metadata)/properties/owner"),
        ("added", "(rules)/domain/mask"),
    ]
    shown = told.changes[-1].change.now
    assert shown is not None
    assert shown.endswith('"type": "CEL", "onFailure": "DLQ", "disabled": false}'), "in the words of the API"


@pytest.mark.parametrize("language, shape", [(name, shape) for name, shapes in SHAPES.items() for shape in shapes])
def test_large_schemas_are_told_or_given_up(language: str, shape: str) -> None:
    """Changes have a budget of steps, and a number of which more are another schema."""
    large = text(SHAPES[language][shape], 40_000)
    half = text(SHAPES[language][shape], 20_000)
    budget = Budget()
    try:
        outlines = LANGUAGES[language].outlines(parsed(language, half), parsed(language, large))
        assert len(changes(outlines.old, outlines.new, budget)) <= MOST_CHANGES
    except (CheckAbandoned, Malformed):
        return
    assert 0 <= budget.left <= MAX_STEPS


def test_more_changes_than_anyone_reads_are_refused() -> None:
    """In one sentence, as the check gives up."""
    old, new = (
        json.dumps({"type": "enum", "name": "E", "symbols": [f"{letter}{n}" for n in range(MOST_CHANGES // 2 + 1)]})
        for letter in "AB"
    )
    with pytest.raises(CheckAbandoned) as given_up:
        between("AVRO", old, new)
    assert given_up.value.message == "There are more than 10000 changes between the schemas"
    outlines = LANGUAGES["AVRO"].outlines(parsed("AVRO", old), parsed("AVRO", new))
    with pytest.raises(CheckAbandoned):
        changes(outlines.old, outlines.new, Budget(left=1_000))
