"""What a rule set must be like to be stored (refused with 42210)."""

from collections.abc import Iterator
from dataclasses import dataclass

from sigla.contract import DATA_MODES, LONGEST_RULE_NAME, MIGRATION_MODES, UPDOWN, WRITEREAD
from sigla.errors import InvalidRuleSet
from sigla.model import Rule, RuleSet


@dataclass(frozen=True, slots=True)
class _Family:
    """One of the three lists: which modes its rules may have, and the sentence otherwise."""

    modes: tuple[str, ...]
    otherwise: str


MIGRATION = _Family(MIGRATION_MODES, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN")
DOMAIN = _Family(DATA_MODES, "Domain rules can only be WRITE, READ, WRITEREAD")
ENCODING = _Family(DATA_MODES, "Encoding rules can only be WRITE, READ, WRITEREAD")
TWO_WAY = frozenset({WRITEREAD, UPDOWN})


def validate(rule_set: RuleSet | None) -> None:
    """Raises InvalidRuleSet for the first problem, in list order. Names are unique across all three lists."""
    if rule_set is None:
        return
    seen: set[str] = set()
    for rule, family in _with_family(rule_set):
        _check_name(rule.name)
        if rule.name in seen:
            raise InvalidRuleSet(reason=f"Found rule with duplicate name '{rule.name}'")
        seen.add(rule.name or "")
        _check_rule(rule, family)


def _with_family(rule_set: RuleSet) -> Iterator[tuple[Rule, _Family]]:
    for rules, family in ((rule_set.migration, MIGRATION), (rule_set.domain, DOMAIN), (rule_set.encoding, ENCODING)):
        for rule in rules:
            yield rule, family


def _check_name(name: str | None) -> None:
    if name is None:
        raise InvalidRuleSet(reason="Missing rule name")
    if not name:
        raise InvalidRuleSet(reason="Empty rule name")
    if len(name) > LONGEST_RULE_NAME:
        raise InvalidRuleSet(reason="Rule name too long")
    if not (name[0].isalpha() or name[0] == "_"):
        raise InvalidRuleSet(reason=f"Illegal initial character in rule name: {name}")
    if not all(letter.isalnum() or letter in "_-" for letter in name):
        raise InvalidRuleSet(reason=f"Illegal character in rule name: {name}")


def _check_rule(rule: Rule, family: _Family) -> None:
    if not rule.type:
        raise InvalidRuleSet(reason="Missing rule type")
    if rule.mode not in family.modes:
        raise InvalidRuleSet(reason=family.otherwise)
    if rule.mode not in TWO_WAY and any("," in action for action in (rule.on_success, rule.on_failure) if action):
        raise InvalidRuleSet(reason="Multiple actions only valid with WRITEREAD and UPDOWN")
