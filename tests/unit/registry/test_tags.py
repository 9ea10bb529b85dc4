"""A new version made from an existing one (TAG-1 to TAG-5)."""

from typing import Any

import pytest

from sigla.errors import (
    InvalidRuleSet,
    InvalidSchema,
    InvalidSubject,
    InvalidVersion,
    NotInReadWriteMode,
    SubjectNotFound,
    VersionNotFound,
    VersionOutOfOrder,
)
from sigla.model import Entity, Metadata, Record, Rule, RuleSet, Tagged, TagRequest
from sigla.registry import Registry
from tests.unit.registry.tell import ONE, TWO, register, s, said

FIELD = Entity("Order.a", "sr_field")
OLD, NEW = Rule(name="old", type="CEL"), Rule(name="new", type="CEL")
BAD = RuleSet(domain=(Rule(name="1", type="CEL"),))


def tag(registry: Registry, subject: str = "a", version: str = "latest", **request: Any) -> Record:
    return registry.tag(s(subject), version, TagRequest(**request))


def test_tags_are_added_then_removed(registry: Registry) -> None:
    """…and the version is stamped with its own number (TAG-2, TAG-3)."""
    register(registry, "a", metadata=said(k="v"))
    record = tag(registry, add=(Tagged(FIELD, ("PII", "X")),), remove=(Tagged(FIELD, ("X",)),))
    assert record.version == 2
    assert '"confluent:tags":["PII"]' in record.schema.text
    assert record.schema.metadata == Metadata(properties={"k": "v", "confluent:version": "2"})


def test_the_base_is_the_version_named(registry: Registry) -> None:
    """Not the latest, unless it is."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    record = tag(registry, version="1", add=(Tagged(FIELD, ("PII",)),))
    assert record.version == 3
    assert '"name":"b"' not in record.schema.text


def test_a_new_number_is_a_demand(registry: Registry) -> None:
    """The next or none (TAG-5)."""
    register(registry, "a")
    with pytest.raises(VersionOutOfOrder):
        tag(registry, new_version=3, add=(Tagged(FIELD, ("PII",)),))
    assert tag(registry, new_version=2, metadata=said(k="v")).schema.metadata == Metadata(
        properties={"confluent:version": "2", "k": "v"}
    )


def test_rules_are_inherited_sent_or_merged(registry: Registry) -> None:
    """Silent: the latest version's; else as sent; or merged into those of the version before and weeded (TAG-4)."""
    rules = RuleSet(domain=(OLD,))
    register(registry, "a", rule_set=rules)
    assert tag(registry, metadata=said(n="1")).schema.rule_set == rules
    assert tag(registry, rule_set=RuleSet(domain=(NEW,))).schema.rule_set == RuleSet(domain=(NEW,))
    merged = tag(registry, rules_to_merge=RuleSet(domain=(OLD,)), rules_to_remove=("nobody",))
    assert merged.schema.rule_set == RuleSet(domain=(NEW, OLD))
    assert tag(registry, rules_to_remove=("new",)).schema.rule_set == RuleSet(domain=(OLD,))
    before = tag(registry, new_version=6, rules_to_merge=RuleSet(domain=(NEW,)))
    assert before.schema.rule_set == RuleSet(domain=(OLD, NEW))


def test_the_checks_come_in_order(registry: Registry) -> None:
    """Subject, version grammar, existence, rule sets (TAG-1)."""
    with pytest.raises(InvalidSubject):
        tag(registry, "__EMPTY", "x")
    with pytest.raises(InvalidVersion):
        tag(registry, "nobody", "x", rule_set=BAD)
    with pytest.raises(SubjectNotFound) as refused:
        tag(registry, ":.:nobody", "1", rule_set=BAD)
    assert refused.value.message == "Subject ':.:nobody' not found."
    register(registry, "a")
    with pytest.raises(VersionNotFound):
        tag(registry, "a", "2", rule_set=BAD)
    bad: list[dict[str, Any]] = [
        {"rule_set": BAD},
        {"rules_to_merge": BAD},
        {"rule_set": RuleSet(), "rules_to_remove": ("x",)},
    ]
    for request in bad:
        with pytest.raises(InvalidRuleSet):
            tag(registry, **request)
    with pytest.raises(InvalidSchema):
        tag(registry, add=(Tagged(Entity("Nobody.x", "sr_field"), ("PII",)),))


def test_tags_are_written_in_readwrite_alone(registry: Registry) -> None:
    """§8.1."""
    register(registry, "a")
    registry.change_mode(s("a"), "IMPORT", force=True)
    with pytest.raises(NotInReadWriteMode):
        tag(registry, add=(Tagged(FIELD, ("PII",)),))


def test_an_alias_leads_one_hop_here_too(registry: Registry) -> None:
    """The new version is one of the subject whose version was tagged (ALIAS-3)."""
    register(registry, "b")
    registry.change_config(s("a"), {"alias": "b"})
    registry.change_config(s("b"), {"alias": "c"})
    record = tag(registry, "a", add=(Tagged(FIELD, ("PII",)),))
    assert (str(record.subject), record.version) == ("b", 2)
