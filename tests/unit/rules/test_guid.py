"""The content hash: equal content has an equal GUID, here and in every other registry (§4.3)."""

from dataclasses import replace

import pytest

from sigla.model import Metadata, Reference, Rule, RuleSet, Schema, Version
from sigla.rules.guid import guid_of

STRING = Schema("AVRO", '"string"')
RECORD = '{"type":"record","name":"myrecord","fields":[{"name":"f1","type":"string"}]}'
REFERRING = '{"type":"record","name":"R","fields":[{"name":"a","type":"n.S"}]}'
N_S_2 = Reference("n", "s", Version(2))
FULL_RULE = Rule(
    name="r", doc="d", type="CEL", tags=("z", "a"), params={"q": "w"}, expr="e", on_success="s", on_failure="f"
)

VECTORS = {
    "095d71cf-1255-6b9d-5e33-0ad575b3df5d": STRING,
    "ef524ea1-b91e-7317-3d93-8ade36c1db32": Schema("AVRO", '"int"'),
    "a3d8f88a-9756-7b65-8ee2-5c9472fa6c7d": Schema("AVRO", RECORD),
    "b38a6dd8-de96-86f1-e056-ac5efc3bf38f": replace(STRING, references=(N_S_2,)),
    "cecc02e2-232b-87f1-1b0c-aa0e70dbb74d": replace(STRING, metadata=Metadata()),
    "27593e84-e584-f2c4-de4b-bc8cccc28a51": replace(STRING, metadata=Metadata(properties={"k": "v"})),
    "b52f5dff-e10d-9c20-2709-716021922cb3": replace(
        STRING, rule_set=RuleSet(domain=(Rule(name="r", type="CEL", disabled=True),))
    ),
    "870d7864-8803-ddf1-2c1c-4f3c6ea4517d": replace(
        STRING,
        references=(N_S_2,),
        metadata=Metadata(tags={"a.b": ("PII",)}, properties={"k": "v", "b": "c"}, sensitive=("k",)),
        rule_set=RuleSet(domain=(FULL_RULE,)),
    ),
    "9d6bbdfb-2515-cbb9-210d-15fa24423355": Schema("AVRO", REFERRING, (Reference("n.S", "s-value", Version(1)),)),
}


@pytest.mark.parametrize("guid, schema", VECTORS.items())
def test_the_reference_computes_the_same(guid: str, schema: Schema) -> None:
    """The vectors of the contract, HQ-5 among them: data written elsewhere names its schemas by these."""
    assert guid_of(schema) == guid


def test_the_type_takes_no_part() -> None:
    """One text that is a schema in two languages has one GUID (HQ-1)."""
    assert guid_of(STRING) == guid_of(replace(STRING, type="JSON"))


def test_metadata_that_says_nothing_is_not_the_same_as_none() -> None:
    """Present but empty differs from absent; an empty list of references does not (HQ-3)."""
    assert guid_of(STRING) != guid_of(replace(STRING, metadata=Metadata()))
    assert guid_of(STRING) != guid_of(replace(STRING, rule_set=RuleSet()))
    assert guid_of(STRING) == guid_of(replace(STRING, references=()))


def test_the_order_in_which_a_client_lists_properties_does_not_matter() -> None:
    """Keys, tags and sensitive names are hashed in the order of their UTF-16 code units."""
    one = Metadata(tags={"x": ("b", "a"), "w": ()}, properties={"\U0001f600": "1", "\uff5e": "2"}, sensitive=("b", "a"))
    other = Metadata(
        tags={"w": (), "x": ("a", "b")}, properties={"\uff5e": "2", "\U0001f600": "1"}, sensitive=("a", "b")
    )
    assert guid_of(replace(STRING, metadata=one)) == guid_of(replace(STRING, metadata=other))


def test_the_order_of_references_and_rules_matters() -> None:
    """Lists keep their order; only normalisation sorts references (HQ-2)."""
    other = Reference("m", "s", Version(1))
    assert guid_of(replace(STRING, references=(N_S_2, other))) != guid_of(replace(STRING, references=(other, N_S_2)))
    a, b = Rule(name="a", type="CEL"), Rule(name="b", type="CEL")
    ab, ba = RuleSet(domain=(a, b)), RuleSet(domain=(b, a))
    assert guid_of(replace(STRING, rule_set=ab)) != guid_of(replace(STRING, rule_set=ba))


def test_every_part_of_a_rule_counts() -> None:
    """A rule that was switched off, or applies at another time, is other content."""
    rules = RuleSet(domain=(FULL_RULE,))
    variants = [
        rules,
        RuleSet(domain=(replace(FULL_RULE, disabled=True),)),
        RuleSet(domain=(replace(FULL_RULE, kind="CONDITION"),)),
        RuleSet(domain=(replace(FULL_RULE, mode="WRITE"),)),
        RuleSet(domain=(replace(FULL_RULE, params={"q": "x"}),)),
        replace(rules, enable_at="SERVER"),
    ]
    assert len({guid_of(replace(STRING, rule_set=variant)) for variant in variants}) == len(variants)


def test_half_a_surrogate_pair_is_hashed_as_a_question_mark() -> None:
    """It has no UTF-8; a request that carries one must still be answered."""
    assert guid_of(Schema("AVRO", "\ud83d")) == guid_of(Schema("AVRO", "?"))
