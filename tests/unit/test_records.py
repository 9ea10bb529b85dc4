"""What is stored reads back as it was, in Confluent's spelling."""

import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla import records
from sigla.model import Body, BodyKey, Config, Metadata, Reference, Row, Rule, RuleSet, SchemaId, Subject, Version
from tests.build import a_body, a_row, a_schema, a_target, in_the_former_form

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
MAYBE = st.none() | TEXTS
NUMBERS = st.integers(0, 2**31 - 1)
TAGS = st.lists(TEXTS, max_size=3).map(tuple)
METADATA = st.builds(
    Metadata, st.dictionaries(TEXTS, TAGS, max_size=3), st.dictionaries(TEXTS, TEXTS, max_size=3), TAGS
)
RULE = st.builds(
    Rule, MAYBE, MAYBE, TEXTS, TEXTS, MAYBE, st.none() | TAGS, st.none() | st.dictionaries(TEXTS, TEXTS, max_size=2),
    MAYBE, MAYBE, MAYBE, st.booleans(),
)  # fmt: skip
RULES = st.lists(RULE, max_size=2).map(tuple)
RULE_SET = st.builds(RuleSet, RULES, RULES, RULES, st.none() | st.sampled_from(["ALL", "NONE"]))
REFERENCES = st.lists(st.builds(Reference, TEXTS, TEXTS, NUMBERS), max_size=3).map(tuple)
SUBJECT = st.builds(Subject, TEXTS.map(lambda name: "." + name), TEXTS)
TARGETS = st.lists(st.builds(a_target, SUBJECT, st.builds(a_row, NUMBERS, NUMBERS)), max_size=3).map(tuple)
SCHEMA = st.builds(a_schema, TEXTS, references=REFERENCES, metadata=st.none() | METADATA, rule_set=st.none() | RULE_SET)
BODY = st.builds(
    a_body, schema=SCHEMA, targets=TARGETS, subject=SUBJECT, version=NUMBERS, gone=st.booleans(),
    compiled=st.none() | st.binary(max_size=9), epoch=st.none() | NUMBERS,
)  # fmt: skip
ROW = st.builds(a_row, NUMBERS, NUMBERS, references=REFERENCES, deleted=st.booleans(), ts=NUMBERS, revision=NUMBERS)
FLAG = st.none() | st.booleans()
CONFIG = st.builds(
    Config, MAYBE, MAYBE, FLAG, FLAG, FLAG, FLAG, MAYBE, MAYBE, MAYBE, st.none() | METADATA, st.none() | METADATA,
    st.none() | RULE_SET, st.none() | RULE_SET,
)  # fmt: skip


KEY = BodyKey(".", SchemaId(1))


def former(body: Body) -> records.Json:
    form: records.Json = orjson.loads(in_the_former_form(body))
    return form


def through_json(form: records.Json) -> records.Json:
    read: records.Json = orjson.loads(orjson.dumps(form))
    return read


@given(BODY)
def test_a_body_reads_back_as_it_was(body: Body) -> None:
    """What an id means must survive to the letter."""
    assert records.body(KEY, records.body_bytes(KEY, body)) == body


@given(ROW)
def test_a_row_reads_back_as_it_was(row: Row) -> None:
    """References too, in text and in form."""
    assert records.row(through_json(records.row_json(row))) == row
    assert records.references(records.references_text(row.references)) == row.references


@given(CONFIG)
def test_settings_read_back_as_they_were(config: Config) -> None:
    """What is not set stays unset; what is set to nothing stays set."""
    assert records.config(through_json(records.config_json(config))) == config


def test_a_body_can_be_read_by_a_person() -> None:
    """And by any program that knows the reference's words."""
    reference = Reference("money", "base", Version(2))
    row = a_row(2, 9)
    schema = a_schema('"x"', references=(reference,), metadata=Metadata(properties={"owner": "me"}))
    body = a_body(schema=schema, targets=(a_target(Subject(".eu", "base"), row),), nonce="n", ts=5, guid="g")
    stored = orjson.loads(records.body_bytes(BodyKey(".eu", SchemaId(7)), body))
    assert re.fullmatch("[0-9a-f]{32}", stored.pop("digest"))
    assert stored == {
        "form": 1,
        "context": ".eu",
        "id": 7,
        "schemaType": "AVRO",
        "references": [
            {
                "name": "money",
                "subject": "base",
                "version": 2,
                "resolved": {"context": ".eu", "subject": "base", "version": 2, "id": 9},
            }
        ],
        "metadata": {"properties": {"owner": "me"}},
        "schema": '"x"',
        "guid": "g",
        "subject": {"context": ".", "name": "orders-value"},
        "version": 1,
        "ts": 5,
        "nonce": "n",
        "gone": False,
    }


WRONG: dict[str, object] = {
    "references": 5, "schemaType": None, "schema": 5, "metadata": 5, "ruleSet": [5], "guid": 5, "subject": "s",
    "version": True, "ts": "x", "nonce": None, "gone": 0, "fileDescriptorSet": 5, "epoch": "2",
}  # fmt: skip
TARGET = {"context": ".", "subject": "s", "version": 1, "id": 1}
USES = {"name": "n", "subject": "s", "version": 1, "resolved": TARGET}
NO_REFERENCES: list[object] = [
    "abc", {}, [None], [[]], [USES | {"version": "1"}], [USES | {"resolved": 5}], [USES | {"resolved": {}}],
]  # fmt: skip
FORMS: list[object] = [
    [], None, 5, "text", {},
    *({name: wrong} for name, wrong in WRONG.items()),
    *({"references": wrong} for wrong in NO_REFERENCES),
    {"metadata": {"tags": 5}}, {"metadata": {"properties": {"a": 5}}}, {"metadata": {"sensitive": 5}},
    {"ruleSet": {"domainRules": 5}}, {"ruleSet": {"domainRules": [{"name": 5}]}},
    {"subject": {"context": ".", "name": 5}},
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_json_of_another_shape_is_no_body(form: object) -> None:
    """Whoever reads it is told so, and never meets a number where a text should be."""
    plain = former(a_body())
    with pytest.raises(ValueError):
        records.body(KEY, orjson.dumps(plain | form if isinstance(form, dict) and form else form))


@pytest.mark.parametrize("id", ["1", 1.5, None, [1], 2])
def test_an_id_of_another_shape_is_that_of_another_body(id: object) -> None:
    """Whoever has sealed it."""
    form = former(a_body()) | {"context": ".", "id": id}
    with pytest.raises(ValueError):
        records.body(KEY, records.sealed(orjson.dumps(form)))


def test_a_body_of_a_former_release_is_read() -> None:
    """It neither names its id nor bears a digest."""
    body = a_body()
    assert records.body(KEY, in_the_former_form(body)) == body


def test_a_body_that_names_its_id_bears_a_digest() -> None:
    """Or whoever changes it takes it away."""
    with pytest.raises(ValueError):
        records.body(KEY, orjson.dumps(former(a_body()) | {"context": ".", "id": 1}))


def test_a_compiled_schema_is_base64_in_its_body() -> None:
    """As every JSON reader can take it out again; a schema that is not compiled has no such member."""
    assert former(a_body(compiled=b"\n\x00"))["fileDescriptorSet"] == "CgA="
    assert "fileDescriptorSet" not in former(a_body())


def test_maps_are_written_in_utf16_order() -> None:
    """As the reference sorts them."""
    metadata = Metadata(properties={"\uff5e": "1", "\U0001f600": "2", "b": "3"})
    assert list(records.metadata_json(metadata)["properties"]) == ["b", "\U0001f600", "\uff5e"]


def test_what_is_empty_is_left_out_of_metadata_and_rule_sets() -> None:
    """Metadata with nothing in it is still metadata."""
    assert records.metadata_json(Metadata()) == {}
    assert records.rule_set_json(RuleSet(domain=(Rule("r", disabled=True),))) == {
        "domainRules": [{"name": "r", "kind": "TRANSFORM", "mode": "WRITEREAD", "disabled": True}]
    }
