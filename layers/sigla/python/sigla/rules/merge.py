"""Putting metadata and rule sets together: default, then specific, then override."""

from collections.abc import Sequence
from dataclasses import replace

from sigla.keys import utf16
from sigla.model import Metadata, Rule, RuleSet
from sigla.rules.names import integer

VERSION_STAMP = "confluent:version"
"""The metadata property in which a schema carries its own version number."""


def merge_metadata(old: Metadata | None, new: Metadata | None) -> Metadata | None:
    """The union; where both speak, `new` does: per property, and per path for a whole set of tags."""
    if old is None or new is None:
        return old if new is None else new
    return Metadata(
        tags={**old.tags, **new.tags},
        properties={**old.properties, **new.properties},
        sensitive=tuple(sorted({*old.sensitive, *new.sensitive}, key=utf16)),
    )


def merge_rule_sets(old: RuleSet | None, new: RuleSet | None) -> RuleSet | None:
    """Per list: the old rules that `new` does not name, then the new ones."""
    if old is None or new is None:
        return old if new is None else new
    return RuleSet(
        migration=_merge_rules(old.migration, new.migration),
        domain=_merge_rules(old.domain, new.domain),
        encoding=_merge_rules(old.encoding, new.encoding),
        enable_at=old.enable_at if new.enable_at is None else new.enable_at,
    )


def without_rules(rule_set: RuleSet | None, names: Sequence[str]) -> RuleSet | None:
    """The rule set without the rules of these names."""
    if rule_set is None:
        return None
    gone = set(names)
    return replace(
        rule_set,
        migration=tuple(rule for rule in rule_set.migration if rule.name not in gone),
        domain=tuple(rule for rule in rule_set.domain if rule.name not in gone),
        encoding=tuple(rule for rule in rule_set.encoding if rule.name not in gone),
    )


def stamped(metadata: Metadata | None, version: int) -> Metadata:
    """The metadata with its version stamp set."""
    metadata = metadata or Metadata()
    return replace(metadata, properties={**metadata.properties, VERSION_STAMP: str(version)})


def stamp_of(metadata: Metadata | None) -> int | None:
    """The version a schema says it has; None if it says nothing that is a number."""
    text = metadata.properties.get(VERSION_STAMP) if metadata else None
    return None if text is None else integer(text)


def unstamped(metadata: Metadata | None) -> Metadata:
    """The metadata without its version stamp; none at all counts as empty."""
    if metadata is None:
        return Metadata()
    return replace(metadata, properties={k: v for k, v in metadata.properties.items() if k != VERSION_STAMP})


def _merge_rules(old: tuple[Rule, ...], new: tuple[Rule, ...]) -> tuple[Rule, ...]:
    named = {rule.name for rule in new}
    return tuple(rule for rule in old if rule.name not in named) + new
