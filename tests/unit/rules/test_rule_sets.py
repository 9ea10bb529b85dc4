"""A rule set is stored only if clients can run it (42210)."""

import pytest

from sigla.errors import InvalidRuleSet
from sigla.model import Rule, RuleSet
from sigla.rules import rule_sets

GOOD = Rule(name="good", type="CEL")
UP = Rule(name="up", type="JSONATA", mode="UPGRADE")

BAD = {
    "Missing rule name": RuleSet(domain=(Rule(type="CEL"),)),
    "Empty rule name": RuleSet(domain=(Rule(name="", type="CEL"),)),
    "Rule name too long": RuleSet(domain=(Rule(name="x" * 257, type="CEL"),)),
    "Illegal initial character in rule name: 1x": RuleSet(domain=(Rule(name="1x", type="CEL"),)),
    "Illegal initial character in rule name: -x": RuleSet(domain=(Rule(name="-x", type="CEL"),)),
    "Illegal character in rule name: a b": RuleSet(domain=(Rule(name="a b", type="CEL"),)),
    "Missing rule type": RuleSet(domain=(Rule(name="x"),)),
    "Found rule with duplicate name 'good'": RuleSet(domain=(GOOD,), encoding=(GOOD,)),
    "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN": RuleSet(migration=(GOOD,)),
    "Domain rules can only be WRITE, READ, WRITEREAD": RuleSet(domain=(UP,)),
    "Encoding rules can only be WRITE, READ, WRITEREAD": RuleSet(encoding=(UP,)),
    "Multiple actions only valid with WRITEREAD and UPDOWN": RuleSet(
        domain=(Rule(name="x", type="CEL", mode="WRITE", on_success="NONE,ERROR"),)
    ),
}


@pytest.mark.parametrize("reason, rules", BAD.items())
def test_what_clients_could_not_run_is_refused_by_name(reason: str, rules: RuleSet) -> None:
    """Each problem has its own sentence."""
    with pytest.raises(InvalidRuleSet) as refused:
        rule_sets.validate(rules)
    assert refused.value.message == reason
    assert refused.value.code == 42210


@pytest.mark.parametrize(
    "rules",
    [
        None,
        RuleSet(),
        RuleSet(domain=(GOOD, Rule(name="_x-1", type="CEL"), Rule(name="é" * 256, type="CEL")), migration=(UP,)),
        RuleSet(domain=(Rule(name="x", type="CEL", on_success="NONE,ERROR", on_failure="DLQ,NONE"),)),
        RuleSet(migration=(Rule(name="x", type="CEL", mode="UPDOWN", on_failure="NONE,ERROR"),)),
        RuleSet(encoding=(Rule(name="x", type="ENCRYPT", mode="READ", on_failure="ERROR"),)),
    ],
)
def test_good_rules_pass(rules: RuleSet | None) -> None:
    """Two actions for the two ways of WRITEREAD and UPDOWN; letters of any alphabet."""
    rule_sets.validate(rules)


def test_the_first_problem_is_told() -> None:
    """In the order of the lists: migration, domain, encoding."""
    with pytest.raises(InvalidRuleSet) as refused:
        rule_sets.validate(RuleSet(migration=(GOOD,), domain=(Rule(type="CEL"),)))
    assert refused.value.message == "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"
